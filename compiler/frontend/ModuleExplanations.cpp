// Clang's words about members that are modules, in the user's terms.
#include "compiler/frontend/CxxDiagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace dl::frontend;
using llvm::StringRef;

static std::string quoted(StringRef text) {
  return text.take_until([](char c) { return c == '\''; }).rtrim(" &").str();
}

/// net[0].weight of an nn::Sequential.
static bool explainMember(CxxProblem &problem) {
  StringRef text = problem.message.text;
  if (!text.consume_front("no member named '") ||
      !text.ends_with("' in 'dl::nn::AnyModule'"))
    return false;
  std::string name = quoted(text);
  problem.notes.clear();
  problem.message.text =
      "an nn::AnyModule, as containers hold them, is a module of any type, and "
      "has no member '" +
      name + "'; one that is known does: nn::as<nn::Linear>(net[0])->" + name;
  return true;
}

/// parameter.requires_grad = false.
static bool explainFreezing(CxxProblem &problem,
                            std::vector<CxxProblem> &problems) {
  if (!StringRef(problem.message.text)
           .starts_with("reference to non-static member function") ||
      problem.token != "requires_grad")
    return false;
  problem.notes.clear();
  problem.message.text = "requires_grad() asks; requires_grad_(false) freezes "
                         "a parameter or a module";
  for (CxxProblem &other : problems)
    other.isConsequence |= other.message.at.line == problem.message.at.line &&
                           other.message.text == "expression is not assignable";
  return true;
}

/// shortcut = nn::Conv2d(1, 4, 3), where the member is another layer.
static bool explainAssignment(CxxProblem &problem) {
  StringRef text = problem.message.text;
  if (!text.starts_with("no viable overloaded '='"))
    return false;
  for (const CxxNote &note : problem.notes) {
    StringRef why = note.message.text;
    StringRef to = why.split("no known conversion from '").second;
    std::string given = quoted(to);
    StringRef member = to.split("' to '").second;
    member.consume_front("const ");
    member.consume_front("dl::");
    std::string type = quoted(member);
    bool isModule = member.starts_with("nn::") || type == "Sequential" ||
                    StringRef(given).contains("nn::");
    if (type.empty() || !isModule)
      continue;
    problem.notes.clear();
    problem.message.text = given + " is not " + type +
                           ", which the member is; one of type nn::AnyModule "
                           "takes a layer of any type";
    return true;
  }
  return false;
}

/// nn::ModuleList<Block> layers;
static bool explainBrackets(CxxProblem &problem,
                            std::vector<CxxProblem> &problems) {
  StringRef behind = problem.following, list = problem.preceding;
  bool isList =
      list == "ModuleList" || list == "ModuleDict" || list == "Sequential";
  if (!isList || !behind.consume_front("<"))
    return false;
  auto [type, rest] = behind.split('>');
  std::string name =
      rest.ltrim()
          .take_while([](char c) { return llvm::isAlnum(c) || c == '_'; })
          .str();
  problem.message.text = "an nn::" + list.str() +
                         " holds modules of any type, and takes none in angle "
                         "brackets; a std::vector<" +
                         type.str() + "> holds those of one";
  for (CxxProblem &other : problems)
    other.isConsequence |=
        other.message.text == "use of undeclared identifier '" + name + "'";
  return true;
}

/// auto [y, s] = layers[0](x), or std::tie(y, s) = ...
static bool explainSeveral(CxxProblem &problem) {
  StringRef text = problem.message.text;
  bool names = text.starts_with("type 'Tensor' binds to 1 element") ||
               text.starts_with("type 'dl::Tensor' binds to 1 element");
  bool tied =
      text.starts_with("no viable overloaded '='") &&
      llvm::any_of(problem.notes, [](const CxxNote &note) {
        return StringRef(note.message.text).contains("tuple<dl::Tensor &");
      });
  if (!names && !tied)
    return false;
  problem.notes.clear();
  problem.message.text =
      "one tensor comes out here, and several names are given; a module of any "
      "type, as in nn::ModuleList and nn::Sequential, gives one: those that "
      "give several are members, or in a std::vector<Block>";
  return true;
}

/// std::vector<nn::Linear> layers{nn::Linear(6, 6), nn::Linear(6, 6)};
static bool explainVector(CxxProblem &problem,
                          std::vector<CxxProblem> &problems) {
  auto ofCopies = [](const CxxProblem &one) {
    StringRef text = one.message.text;
    return text.contains("'construct_at'") ||
           text.contains("is_constructible<") ||
           (!one.inUserFile && text.contains("deleted copy constructor"));
  };
  auto ofVector = [](const CxxNote &note) {
    return note.inUserFile && StringRef(note.message.text)
                                  .contains("member function 'std::vector<");
  };
  if (!ofCopies(problem) || llvm::none_of(problem.notes, ofVector))
    return false;
  for (CxxProblem &other : problems)
    other.isConsequence |= &other != &problem && ofCopies(other);
  problem.message.at = llvm::find_if(problem.notes, ofVector)->message.at;
  problem.inUserFile = true;
  problem.notes.clear();
  problem.message.text =
      "a std::vector copies what its braces hold, and a module is not copied; "
      "an nn::ModuleList takes it, and layers.emplace_back(6, 6) in a "
      "constructor makes it in the vector";
  return true;
}

/// nn::Linear fc(6, 3); as a member.
static bool explainParentheses(CxxProblem &problem,
                               std::vector<CxxProblem> &problems) {
  StringRef text = problem.message.text, line = problem.line;
  line = line.take_until([](char c) { return c == ';' || c == '\n'; }).trim();
  if ((text != "expected parameter declarator" &&
       !text.starts_with("unknown type name")) ||
      !(line.starts_with("nn::") || line.starts_with("dl::nn::")) ||
      !line.consume_back(")") || line.contains("{"))
    return false;
  auto [declared, arguments] = line.split('(');
  problem.notes.clear();
  problem.message.text =
      "what a member begins with stands in braces: " + declared.str() + "{" +
      arguments.str() + "};";
  for (CxxProblem &other : problems)
    other.isConsequence |= &other > &problem &&
                           other.message.at.file == problem.message.at.file &&
                           other.message.at.line == problem.message.at.line;
  return true;
}

bool dl::frontend::explainModule(CxxProblem &problem,
                                 std::vector<CxxProblem> &problems) {
  if (problem.isConsequence)
    return true;
  return explainVector(problem, problems) ||
         explainParentheses(problem, problems) || explainMember(problem) ||
         explainAssignment(problem) || explainFreezing(problem, problems) ||
         explainBrackets(problem, problems) || explainSeveral(problem);
}
