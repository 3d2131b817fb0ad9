// What a C++ program with PyTorch writes, and what stands for it here.
#include "compiler/frontend/CxxDiagnostics.h"
#include "compiler/frontend/PyTorchNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace dl::frontend;
using llvm::StringRef;

static void replace(CxxProblem &problem, std::string text) {
  problem.message.text = std::move(text);
  problem.notes.clear();
}

static bool isWordChar(char c) { return llvm::isAlnum(c) || c == '_'; }

/// The text between the bracket that `text` begins with and the one that
/// closes it; consumes both. None where there is no such pair.
static std::optional<StringRef> consumeBrackets(StringRef &text) {
  if (!text.starts_with("("))
    return std::nullopt;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '{';
    depth -= text[i] == ')' || text[i] == '}';
    if (depth == 0) {
      StringRef between = text.substr(1, i - 1);
      text = text.drop_front(i + 1);
      return between.trim();
    }
  }
  return std::nullopt;
}

static bool isClass(StringRef name) {
  size_t last = name.rfind(':');
  StringRef own = last == StringRef::npos ? name : name.drop_front(last + 1);
  return !own.empty() && llvm::isUpper(own.front());
}

/// The layer in nn::BatchNorm2d(nn::BatchNormOptions(8)) and, with its name, in
/// nn::BatchNorm2d norm(nn::BatchNormOptions(8)), where several have one kind
/// of options; "" if what is in front is neither.
static StringRef outerOf(StringRef before) {
  if (!before.consume_back("("))
    return "";
  size_t begin = before.find_last_of(" \t\n({,=");
  StringRef outer =
      begin == StringRef::npos ? before : before.drop_front(begin + 1);
  if (isClass(outer) || begin == StringRef::npos)
    return isClass(outer) ? outer : "";
  StringRef type = before.take_front(begin).rtrim();
  size_t typeBegin = type.find_last_of(" \t\n({,=");
  typeBegin = typeBegin == StringRef::npos ? 0 : typeBegin + 1;
  return isClass(type.drop_front(typeBegin)) ? before.drop_front(typeBegin)
                                             : "";
}

/// nn::Conv2dOptions(1, 8, 3).stride(2).padding(1), as it is written here, and
/// how many lines it goes over; "" if the text has none.
static std::string inBraces(StringRef text, unsigned &lines) {
  size_t at = text.find("Options(");
  StringRef statement = text.take_front(text.find(';'));
  if (at >= statement.size())
    return "";
  StringRef name = statement.take_front(at);
  size_t begin = name.find_last_of(" \t\n({,=");
  name = begin == StringRef::npos ? name : name.drop_front(begin + 1);
  StringRef outer = outerOf(statement.take_front(at - name.size()));
  StringRef behind = statement.drop_front(at + StringRef("Options").size());
  std::optional<StringRef> given = consumeBrackets(behind);
  if (!given || name.empty())
    return "";
  llvm::SmallVector<std::string> options;
  while (behind.ltrim().starts_with(".")) {
    StringRef rest = behind.ltrim().drop_front();
    StringRef option = rest.take_while(isWordChar);
    rest = rest.drop_front(option.size());
    std::optional<StringRef> value = consumeBrackets(rest);
    if (!value)
      break;
    options.push_back("." + option.str() + " = " + value->str());
    behind = rest;
  }
  lines = static_cast<unsigned>(
      statement.take_front(statement.size() - behind.size()).count('\n'));
  bool ofLayer =
      !name.contains("optim::") && !name.ends_with("Func") && !given->empty();
  if (!ofLayer && !given->empty()) // optim::SGDOptions(0.1)
    options.insert(options.begin(), ".lr = " + given->str());
  std::string braces = "{" + llvm::join(options, ", ") + "}";
  if (!ofLayer)
    return braces;
  return ((outer.empty() ? name : outer) + "(" + *given +
          (options.empty() ? "" : ", " + braces) + ")")
      .str();
}

static bool explainBuilder(CxxProblem &problem,
                           std::vector<CxxProblem> &problems) {
  StringRef text = problem.message.text;
  if (problem.isConsequence)
    return false;
  if (!text.contains("ByName'") && !text.starts_with("excess elements in") &&
      !text.starts_with("called object type") &&
      !text.ends_with("does not provide a call operator") &&
      !(text.starts_with("no member named") && text.contains("Options'")) &&
      !(text.starts_with("no match") && text.contains("Options")))
    return false;
  unsigned lines = 0;
  std::string instead = inBraces(problem.line, lines);
  if (instead.empty())
    return false;
  replace(problem, "options are written by name in braces: " + instead);
  const Frame &here = problem.message.at;
  for (CxxProblem &other : problems) {
    const Frame &there = other.message.at;
    other.isConsequence |= &other != &problem && there.file == here.file &&
                           there.line >= here.line &&
                           there.line <= here.line + lines;
  }
  return true;
}

/// nn::Linear fc{nullptr}; which a constructor of C++ programs assigns.
static bool explainEmpty(CxxProblem &problem) {
  StringRef text = problem.message.text, line = problem.line;
  line = line.take_until([](char c) { return c == ';' || c == '\n'; }).trim();
  bool made = text.starts_with("no matching constructor") ||
              text.starts_with("no viable conversion from 'std::nullptr_t'");
  if (!made || !line.contains("nullptr"))
    return false;
  auto [type, member] = line.split(' ');
  std::string name = member.ltrim().take_while(isWordChar).str();
  replace(problem, "a layer is made where its member stands, as " + type.str() +
                       " " + name +
                       "{...}, or by the constructor's list, "
                       "as Net() : " +
                       name +
                       "(...) {}; one that is made later, or not at all, "
                       "is an nn::AnyModule");
  return true;
}

/// dl::normalize(x)
static bool explainFunctional(CxxProblem &problem) {
  StringRef text = problem.message.text;
  if (!text.consume_front("no member named '"))
    return false;
  auto [name, rest] = text.split('\'');
  if (!rest.starts_with(" in namespace 'dl'") || !isFunctional(name))
    return false;
  std::string function = name.str(); // (the text goes)
  replace(problem, function + ": write F::" + function +
                       ", with namespace F = dl::nn::functional");
  return true;
}

/// auto loss = 0.0; loss += F::mse_loss(x, y);
static bool explainSum(CxxProblem &problem, std::vector<CxxProblem> &problems) {
  StringRef text = problem.message.text, sign = problem.following;
  if (!text.consume_front("invalid operands to binary expression ('") ||
      !(text.ends_with("' and 'Tensor')") ||
        text.ends_with("' and 'dl::Tensor')")) ||
      !(sign.starts_with("+=") || sign.starts_with("-=")))
    return false;
  std::string type = text.split('\'').first.str();
  replace(problem, "this is a variable of type " + type +
                       ", which no tensor can be added to; a sum of tensors "
                       "begins with dl::Tensor sum = dl::zeros({})");
  for (CxxProblem &other : problems) {
    StringRef said = other.message.text;
    other.isConsequence |=
        &other > &problem &&
        (said.starts_with("no viable conversion from returned value of type '" +
                          type + "'") ||
         said.starts_with("member reference base type '" + type + "'"));
  }
  return true;
}

/// The types in "no viable conversion from 'int' to 'IndexAddOptions'" and
/// "reference to type 'const LossOptions' could not bind to an lvalue of type
/// 'const char[4]'"; empty in other messages.
static std::pair<StringRef, StringRef> conversionOf(StringRef text) {
  llvm::SmallVector<StringRef> parts; // text, type, text, type, ...
  text.split(parts, '\'');
  if (parts.size() < 4)
    return {};
  if (parts[0] == "no viable conversion from ")
    return {parts[1], parts[3]};
  bool binds = parts[0] == "reference to type " &&
               parts[2].starts_with(" could not bind to an ");
  return binds ? std::pair(parts[3], parts[1])
               : std::pair<StringRef, StringRef>();
}

/// x.index_add(0, index, y, 2): PyTorch for C++ has options by position.
static bool explainPosition(CxxProblem &problem) {
  auto [from, to] = conversionOf(problem.message.text);
  bool isText = from.starts_with("const char");
  bool plain = isText || from == "int" || from == "double" || from == "bool" ||
               from == "float" || from == "long" || from.ends_with("i64") ||
               from.starts_with("int64_t");
  if (!plain || !to.ends_with("Options") || problem.optionsFields.empty())
    return false;
  int depth = 0;
  std::string value = StringRef(problem.following)
                          .take_until([&](char c) {
                            depth += c == '(' || c == '{';
                            depth -= c == ')' || c == '}';
                            return depth < 0 || (!depth && c == ',');
                          })
                          .trim()
                          .str();
  bool isReduction =
      isText && llvm::is_contained(problem.optionsFields, "reduction");
  bool one = problem.optionsFields.size() == 1 || isReduction;
  std::string option =
      "{." + (isReduction ? "reduction" : problem.optionsFields.front()) +
      " = " + (one ? value : "...") + "}";
  replace(problem,
          "this is an option, which is written by name in braces: " + option +
              (one ? ""
                   : "; there are " + llvm::join(problem.optionsFields, ", ")));
  return true;
}

bool dl::frontend::explainLibTorch(CxxProblem &problem,
                                   std::vector<CxxProblem> &problems) {
  return explainBuilder(problem, problems) || explainEmpty(problem) ||
         explainFunctional(problem) || explainSum(problem, problems) ||
         explainPosition(problem);
}
