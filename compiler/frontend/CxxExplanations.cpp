// The rules behind explain(): what users of PyTorch get wrong in C++.
#include "compiler/frontend/ClangInvocation.h"
#include "compiler/frontend/CxxDiagnostics.h"
#include "compiler/frontend/PyTorchNames.h"
#include "compiler/frontend/Suggest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace dl::frontend;
using llvm::StringRef;

/// What stands behind `marker` in the text or in a note.
static std::string textBehind(const CxxProblem &problem, StringRef marker) {
  auto behind = [&](StringRef text) {
    size_t at = text.find(marker);
    return at == StringRef::npos ? std::string()
                                 : text.drop_front(at + marker.size()).str();
  };
  std::string found = behind(problem.message.text);
  for (const CxxNote &note : problem.notes)
    if (found.empty())
      found = behind(note.message.text);
  return found;
}

static void replace(CxxProblem &problem, std::string text) {
  problem.message.text = std::move(text);
  problem.notes.clear();
}

/// = delete("dl: ...") in <dl/dl.h>.
static bool explainDeleted(CxxProblem &problem) {
  std::string reason = textBehind(problem, "dl: ");
  if (reason.empty())
    return false;
  problem.notInThisVersion = StringRef(reason).ends_with("not in this version");
  if (problem.inUserFile)
    replace(problem, reason);
  else
    problem.message.text = reason;
  return true;
}

/// const char *kind = p.arg("kind", "relu"); if (kind == "relu")
static bool explainStringCompare(CxxProblem &problem) {
  if (!StringRef(problem.message.text)
           .contains("comparison against a string literal"))
    return false;
  replace(problem, "this compares where the letters lie, not the letters; what "
                   "p.arg() gives for a word is compared by them: auto kind = "
                   "p.arg(\"kind\", \"relu\")");
  return true;
}

/// printf("%f\n", loss);
static bool explainPrinted(CxxProblem &problem) {
  StringRef text = problem.message.text;
  if (!text.contains("format specifies type") || !text.contains("Tensor'"))
    return false;
  replace(problem, "a tensor has its numbers when the plan runs, the model is "
                   "read before: return it as a metric, {\"loss\", loss}, and "
                   "dlrun prints it");
  return true;
}

/// Is the problem at a name between the brackets of a lambda, or at its [=]?
static bool isCapture(const CxxProblem &problem) {
  if (problem.token == "=")
    return true;
  StringRef behind =
      StringRef(problem.following).drop_front(problem.token.size());
  size_t end = behind.find_first_of("[](){};=");
  return end != StringRef::npos && behind[end] == ']';
}

/// Net other = model;
static bool explainCopy(CxxProblem &problem,
                        std::vector<CxxProblem> &problems) {
  StringRef text = problem.message.text;
  bool copied = text.contains("implicitly-deleted") ||
                text.contains("implicitly deleted");
  auto noted = [&](StringRef base) {
    return llvm::any_of(problem.notes, [&](const CxxNote &note) {
      StringRef said = note.message.text;
      return said.contains(base) && said.contains("has a deleted copy");
    });
  };
  bool ofModule = noted("Module'");
  if (!copied || (!ofModule && !noted("Optimizer<")))
    return false;
  std::string what = ofModule ? "a module" : "an optimizer";
  if (!isCapture(problem) || text.contains("assigned")) {
    replace(problem, what + " is not copied; pass it by reference" +
                         (ofModule ? ", or std::move it" : "") +
                         (ofModule && text.contains("assigned")
                              ? "; two that share weights: b.weight = a.weight"
                              : ""));
    return true;
  }
  replace(problem, what + " is not copied; capture it by reference, with [&]");
  // What else the lambda captures, and uses of copies, which are const.
  for (CxxProblem &other : problems) {
    const Frame &here = problem.message.at, &there = other.message.at;
    StringRef said = other.message.text;
    bool alsoCaptured = &other > &problem &&
                        said.contains("implicitly-deleted") &&
                        there.file == here.file && there.line == here.line &&
                        there.column == here.column;
    bool ofCopy =
        there.file == here.file && there.line >= here.line &&
        (said.contains("not marked const") ||
         llvm::any_of(other.notes, [](const CxxNote &note) {
           return StringRef(note.message.text).ends_with("for object argument");
         }));
    other.isConsequence |= alsoCaptured || ofCopy;
  }
  return true;
}

static bool explainPython(CxxProblem &problem) {
  std::string instead = insteadOfPython(problem);
  if (!instead.empty())
    replace(problem, instead);
  return !instead.empty();
}

/// std::vector<int> sizes; in a model that does not include <vector>.
static bool explainHeader(CxxProblem &problem,
                          std::vector<CxxProblem> &problems) {
  std::string header = missingHeader(problem);
  if (header.empty())
    return false;
  replace(problem, header);
  for (CxxProblem &other : problems)
    other.isConsequence |= &other > &problem && missingHeader(other).empty();
  return true;
}

/// Names of PyTorch that <dl/dl.h> lacks.
static bool explainMissingName(CxxProblem &problem) {
  StringRef text = problem.message.text;
  bool lookup = text.starts_with("no member named") ||
                text.starts_with("no type named") ||
                text.starts_with("no template named") ||
                text.starts_with("use of undeclared identifier") ||
                text.starts_with("unknown type name") ||
                text.starts_with("unknown class name") ||
                text.starts_with("reference to non-static member") ||
                text.starts_with("expected class name") ||
                text.starts_with("expected namespace name") ||
                text.starts_with("expected a class or namespace");
  if (!lookup)
    return false;
  const PyTorchName *name = findPyTorchName(problem.token);
  if (!name) // Clang points at what is before it, where it has a suggestion
    name = findPyTorchName(text.split('\'').second.split('\'').first);
  if (!name)
    return false;
  // `index` without a namespace is a forgotten variable; `BatchNorm2d` is not.
  bool qualified = text.contains("dl::") || text.contains("namespace");
  if (!qualified && !name->instead && !llvm::isUpper(problem.token.front()))
    return false;
  problem.notInThisVersion = name->isMissing;
  std::string said = name->isMissing ? "not in this version" : "";
  if (name->instead)
    said += (said.empty() ? "" : "; ") + std::string(name->instead);
  replace(problem, name->name.str() + ": " + said);
  return true;
}

/// x.max(1).sum(), x.sort(1).mean().
static bool explainPair(CxxProblem &problem) {
  StringRef text = problem.message.text;
  if (!text.consume_front("no member named '") ||
      !text.ends_with("' in 'dl::ValuesAndIndices'"))
    return false;
  std::string name = text.split('\'').first.str();
  replace(problem, "these are values and indices, of which one is meant: "
                   ".values." +
                       name + " or .indices." + name);
  return true;
}

/// x.float(): a keyword here.
static bool explainKeyword(CxxProblem &problem) {
  const char *type = llvm::StringSwitch<const char *>(problem.token)
                         .Case("float", "dl::kFloat")
                         .Case("double", "dl::kFloat64")
                         .Case("long", "dl::kInt64")
                         .Case("int", "dl::kInt32")
                         .Case("bool", "dl::kBool")
                         .Default(nullptr);
  StringRef behind =
      StringRef(problem.following)
          .drop_front(std::min(problem.following.size(), problem.token.size()));
  if (!type || !behind.starts_with("()") ||
      problem.message.text != "expected unqualified-id")
    return false;
  replace(problem, problem.token + ": write .to(" + type + ")");
  return true;
}

/// The designators of the call that starts the text: ".lr" in "opt(p, {.lr =
/// 1})". Those of groups are one brace further in.
static std::vector<std::pair<std::string, size_t>> designators(StringRef text,
                                                               bool ofGroups) {
  std::vector<std::pair<std::string, size_t>> found;
  int depth = 0;
  char before = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ';' && depth <= 0)
      break;
    depth += c == '(' || c == '{' ? 1 : c == ')' || c == '}' ? -1 : 0;
    if (c == '.' && (before == '{' || before == ',') &&
        (ofGroups ? depth == 3 : depth <= 2)) {
      StringRef name = text.substr(i + 1).take_while(
          [](char d) { return llvm::isAlnum(d) || d == '_'; });
      if (!name.empty() && !llvm::isDigit(name[0])) // (.1 is a number)
        found.emplace_back(name.str(), i + 1);
    }
    if (!llvm::isSpace(c))
      before = c;
  }
  return found;
}

static void moveTo(Message &message, StringRef passed) {
  for (char c : passed) {
    message.at.column = c == '\n' ? 1 : message.at.column + 1;
    message.at.line += c == '\n';
  }
}

/// A misspelt option: {.momentun = 0.9}.
static bool explainOptions(CxxProblem &problem) {
  StringRef text = problem.message.text;
  if (problem.optionsType.empty())
    return false;
  bool direct = text.starts_with("field designator");
  if (!direct && !text.starts_with("no matching"))
    return false;
  auto given =
      direct ? std::vector<std::pair<std::string, size_t>>{{problem.token, 0}}
             : designators(problem.following,
                           StringRef(problem.optionsType).ends_with("Group"));
  for (const auto &[name, offset] : given) {
    if (llvm::is_contained(problem.optionsFields, name))
      continue;
    moveTo(problem.message, StringRef(problem.following).take_front(offset));
    std::string better = nearest(name, problem.optionsFields);
    std::string said = problem.optionsType + " has no field `" + name + "`";
    // What reads ahead has no knobs.
    StringRef type = problem.optionsType;
    bool isOfData = type.contains("Loader") || type.contains("Dataset") ||
                    type.contains("Picture") || type.contains("Folder");
    bool isOfWorkers =
        isOfData && llvm::StringSwitch<bool>(name)
                        .Cases({"num_workers", "pin_memory", "timeout",
                                "prefetch_factor", "persistent_workers"},
                               true)
                        .Default(false);
    said += isOfWorkers ? "; it is not needed: batches are read ahead"
            : better.empty()
                ? "; it has " + llvm::join(problem.optionsFields, ", ")
                : "; did you mean `" + better + "`?";
    replace(problem, said);
    return true;
  }
  return false;
}

/// model(x, {h, c}): the text begins at the name.
static bool hasListArgument(StringRef call) {
  int depth = 0;
  char before = 0;
  for (char c : call) {
    if (c == '{' && depth == 1 && (before == '(' || before == ','))
      return true;
    depth += c == '(' || c == '{' ? 1 : c == ')' || c == '}' ? -1 : 0;
    if (c == ';' || (c == ')' && depth == 0))
      return false;
    if (!llvm::isSpace(c))
      before = c;
  }
  return false;
}

/// model(x, y), where forward takes other arguments.
static bool explainCall(CxxProblem &problem) {
  StringRef text = problem.message.text;
  if (text.starts_with("no matching function for call to object of type") &&
      hasListArgument(problem.following) &&
      llvm::none_of(problem.notes, [](const CxxNote &note) {
        return StringRef(note.declaration).contains("Options");
      })) {
    replace(problem, "an argument in braces has no type on its way to forward; "
                     "write the type in front, as in model(x, "
                     "nn::LSTMState{h, c}); no tensor is dl::Tensor()");
    return true;
  }
  std::string reason = textBehind(problem, "would be invalid: ");
  if (reason.empty())
    return false;
  StringRef why = reason;
  if (text.consume_front("no matching function for call to object of type '")) {
    std::string type =
        text.take_until([](char c) { return c == '\''; }).rtrim(" &").str();
    if (!why.starts_with("no member named 'forward'"))
      replace(problem,
              type + "::forward cannot be called like this: " + reason);
    else if (why.contains("in 'dl::nn::Module'"))
      replace(problem,
              "nn::Module has no function forward; an nn::AnyModule, which "
              "holds a module of any type, calls the one of what it holds");
    else
      replace(problem, type + " has no function forward");
    return true;
  }
  if (text.starts_with("no matching member function for call to 'train'") ||
      text.starts_with("no matching member function for call to 'eval'")) {
    replace(problem, "the step cannot be called with a dl::Batch; it begins "
                     "with [&](dl::Batch b)");
    return true;
  }
  return false;
}

static bool explainOutput(CxxProblem &problem) {
  StringRef text = problem.message.text;
  if (!text.starts_with("invalid operands to binary expression") ||
      !text.contains("stream") ||
      !(text.contains("dl::Tensor") || text.contains("'Tensor'")))
    return false;
  replace(problem, "a tensor has no value while the graph is being built; "
                   "return it in dl::Metrics to see it");
  return true;
}

/// A declaration under the name that the user called.
static std::string underName(StringRef declaration, StringRef name) {
  StringRef own = declaration.take_until([](char c) { return c == '('; });
  return name.rsplit("::").second.empty()
             ? (name + declaration.drop_front(own.size())).str()
             : (name.rsplit("::").second + declaration.drop_front(own.size()))
                   .str();
}

/// A call with the wrong arguments: what could have been called, and why not.
static bool explainCandidates(CxxProblem &problem) {
  StringRef text = problem.message.text;
  if (!text.starts_with("no matching"))
    return false;
  bool constructor = text.starts_with("no matching constructor");
  std::string name = text.split('\'').second.split('\'').first.str();
  bool isNamed =
      constructor || (text.starts_with("no matching function for call to") &&
                      !text.contains("object of type"));
  std::vector<std::string> lines;
  // If the options are what does not fit, the other ways of calling are noise.
  bool optionsOnly = false;
  for (const CxxNote &note : problem.notes) {
    auto [what, reason] = StringRef(note.message.text).split("not viable: ");
    StringRef declared = note.declaration;
    StringRef first = declared.split('(').second;
    bool copies = first.ltrim("const ").starts_with(
        declared.take_until([](char c) { return c == '('; }).str() + " &");
    bool byName = declared.contains("Arguments &o)") && // all of them
                  !reason.contains("initializer list");
    if (reason.empty() || what.contains("implicit") || declared.empty() ||
        copies || byName ||
        (constructor && reason.starts_with("requires 0 arguments")))
      continue;
    // F::relu(fc)
    auto [from, to] = reason.split("' to 'const Operand' for ");
    if (from.consume_front("no known conversion from '") && !to.empty()) {
      replace(problem, from.str() + " is neither a dl::Tensor nor a number");
      return true;
    }
    bool ofOptions = reason.contains("initializer list argument to") &&
                     reason.contains("Options'");
    if (ofOptions && !optionsOnly)
      lines.clear();
    if (optionsOnly && !ofOptions)
      continue;
    optionsOnly |= ofOptions;
    lines.push_back((isNamed ? underName(declared, name) : declared.str()) +
                    ": " + reason.str());
  }
  if (lines.empty())
    return false;
  problem.message.help = llvm::join(lines, "\n        ");
  StringRef made = StringRef(name).rsplit("::").second;
  if (constructor && (made == "Parameter" || made == "Buffer"))
    problem.message.help =
        "a tensor is what it begins with: nn::" + made.str() +
        " weight{dl::zeros({3, 4})}";
  if (constructor)
    problem.message.text = name + " cannot be made from these arguments";
  else if (text.contains("function for call to"))
    problem.message.text = name + " cannot be called with these arguments";
  return true;
}

static void moveToUser(CxxProblem &problem) {
  for (const CxxNote &note : problem.notes)
    if (!problem.inUserFile && note.inUserFile) {
      problem.message.at = note.message.at;
      problem.inUserFile = true;
    }
}

static bool isNumber(StringRef type) {
  for (StringRef word : {"float", "double", "int", "long", "short", "bool",
                         "unsigned", "i64", "size_t", "int64_t"})
    if (type == word || type == "dl::" + word.str() ||
        type == "std::" + word.str() || type.starts_with(word.str() + " "))
      return true;
  return false;
}

/// double lr = p.setting("lr", 0.1); or that as a size.
static bool explainScalar(CxxProblem &problem) {
  auto isScalar = [](StringRef text) {
    llvm::SmallVector<StringRef> parts; // text, type, text, type, ...
    text.split(parts, '\'');
    for (size_t i = 0; i + 3 < parts.size(); ++i)
      if (parts[i].ends_with("conversion from ") &&
          (parts[i + 1] == "Scalar" || parts[i + 1] == "dl::Scalar") &&
          isNumber(parts[i + 3]))
        return true;
    return false;
  };
  if (!isScalar(problem.message.text) &&
      llvm::none_of(problem.notes, [&](const CxxNote &note) {
        return isScalar(note.message.text);
      }))
    return false;
  replace(problem, "a setting has its value when the plan runs: it is no "
                   "number for a shape or a variable; p.arg() is");
  return true;
}

/// double x = loss; and, in a step, return loss;
static bool explainConversion(CxxProblem &problem) {
  llvm::SmallVector<StringRef> parts; // text, type, text, type, ...
  StringRef(problem.message.text).split(parts, '\'');
  if (parts.size() < 4)
    return false;
  bool returned = parts[0].starts_with("no viable conversion from returned");
  bool assigned = parts[0].starts_with("assigning to ");
  bool cast = parts[0] == "cannot convert ";
  if (!returned && !assigned && !cast &&
      parts[0] != "no viable conversion from ")
    return false;
  StringRef from = parts[assigned ? 3 : 1], to = parts[assigned ? 1 : 3];
  bool ofTensor = from == "Tensor" || from == "dl::Tensor";
  if (to.ends_with("Operand")) {
    replace(problem, from.str() + " is neither a dl::Tensor nor a number");
    return true;
  }
  if (isNumber(from) && (to == "dl::Tensor" || to == "Tensor") &&
      problem.inUserFile && !returned) {
    replace(problem, "a number is no dl::Tensor: dl::zeros({}) is a zero to "
                     "begin with, s = s + x, dl::tensor(x) one of any value");
    return true;
  }
  if (ofTensor && isNumber(to)) {
    replace(problem, "a tensor has no value while the graph is being built; "
                     "return it in dl::Metrics to see it");
    return true;
  }
  if (returned ? to == "dl::Metrics" : to == "Metrics" && !problem.inUserFile) {
    moveToUser(problem);
    replace(problem,
            std::string(returned ? "this" : "the step") + " returns " +
                (ofTensor ? "a Tensor" : "`" + from.str() + "`") +
                "; return dl::Metrics, as dl::Metrics{{\"loss\", loss}}");
    return true;
  }
  return false;
}

/// F::softmax(x, {.dim = 1})
static bool explainPlace(CxxProblem &problem) {
  StringRef text = problem.message.text;
  if (!text.starts_with("initialization of non-aggregate type") ||
      !text.contains("designated initializer list"))
    return false;
  replace(problem, "this argument has no options by name: write its value "
                   "alone, at its place, as in F::softmax(x, 1)");
  return true;
}

/// Tensor searchsorted(Tensor, Tensor, double = 1e-6); of the user's, beside
/// dl::searchsorted, which is looked for where its arguments are from.
static bool explainAmbiguous(CxxProblem &problem) {
  StringRef text = problem.message.text;
  auto isOurs = [](const CxxNote &note) {
    return StringRef(note.message.at.file).starts_with(kHeaderFolder);
  };
  if (!text.consume_front("call to '") || !text.consume_back("' is ambiguous"))
    return false;
  if (llvm::any_of(problem.notes, isOurs) &&
      !llvm::all_of(problem.notes, isOurs))
    replace(problem, "there is a dl::" + text.str() + ", too: write ::" +
                         text.str() + "(...), or call yours by another name");
  return true;
}

/// A static_assert of <dl/dl.h>.
static bool explainAssertion(CxxProblem &problem) {
  StringRef text = problem.message.text;
  if (!StringRef(problem.message.at.file).starts_with(kHeaderFolder) ||
      !text.consume_front("static assertion failed"))
    return false;
  StringRef marker = text.starts_with(":") ? ": " : "': ";
  moveToUser(problem);
  replace(problem, text.split(marker).second.str());
  return true;
}

/// dl::Tensors encode(dl::Tensor x) { return {mu, logvar}; }
static bool explainTensors(CxxProblem &problem,
                           std::vector<CxxProblem> &problems) {
  StringRef text = problem.message.text;
  if (!text.starts_with("use of class template") ||
      !text.contains("Tensors' requires template arguments"))
    return false;
  replace(problem, "how many tensors there are belongs to the type: "
                   "dl::Tensors<2>; or write auto, and return "
                   "dl::Tensors{a, b}");
  for (CxxProblem &other : problems) {
    StringRef said = other.message.text;
    other.isConsequence |=
        &other > &problem &&
        (said.starts_with("excess elements in scalar") ||
         said.starts_with("no matching function for call to object") ||
         (said.starts_with("no viable conversion from returned") &&
          said.contains("dl::Tensors<")));
  }
  return true;
}

/// return {{"loss", loss}}; in a lambda that does not say what it returns.
static bool explainReturn(CxxProblem &problem,
                          std::vector<CxxProblem> &problems) {
  if (!StringRef(problem.message.text)
           .starts_with("cannot deduce lambda return type from"))
    return false;
  replace(problem, "the type of what is returned is not known here; begin the "
                   "step with [&](dl::Batch b) -> dl::Metrics");
  for (CxxProblem &other : problems)
    other.isConsequence |= StringRef(other.message.text)
                               .starts_with("no matching member function");
  return true;
}

void dl::frontend::explain(std::vector<CxxProblem> &problems) {
  for (CxxProblem &problem : problems) {
    if (problem.message.severity != Message::Error) {
      explainPrinted(problem);
      continue;
    }
    llvm::erase_if(problem.notes, [](const CxxNote &note) {
      return StringRef(note.message.text)
          .starts_with("insert an explicit cast");
    });
    explainModule(problem, problems) || explainDeleted(problem) ||
        explainCopy(problem, problems) || explainPlace(problem) ||
        explainAmbiguous(problem) || explainLibTorch(problem, problems) ||
        explainPair(problem) || explainPython(problem) ||
        explainHeader(problem, problems) || explainMissingName(problem) ||
        explainKeyword(problem) || explainOptions(problem) ||
        explainCall(problem) || explainOutput(problem) ||
        explainScalar(problem) || explainConversion(problem) ||
        explainStringCompare(problem) || explainAssertion(problem) ||
        explainReturn(problem, problems) || explainTensors(problem, problems) ||
        explainCandidates(problem);
  }
}
