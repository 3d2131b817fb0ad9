// What is right in Python and no C++: explain() says what to write instead.
#include "compiler/frontend/CxxDiagnostics.h"

using namespace dl::frontend;
using llvm::StringRef;

/// conv(1, 8, stride=2): the text begins at the name. An argument ends at a
/// comma or a bracket, a statement at a semicolon.
static bool isNamedArgument(StringRef name, StringRef following) {
  StringRef behind = following.drop_front(name.size()).ltrim();
  if (!behind.consume_front("=") || behind.starts_with("="))
    return false;
  int depth = 0;
  for (char c : behind) {
    bool opens = c == '(' || c == '[' || c == '{';
    bool closes = c == ')' || c == ']' || c == '}';
    if (depth == 0 && (closes || c == ',' || c == ';'))
      return c != ';';
    depth += opens - closes;
  }
  return false;
}

std::string dl::frontend::insteadOfPython(const CxxProblem &problem) {
  StringRef text = problem.message.text, token = problem.token;
  if (text.starts_with("indirection requires pointer") && token == "*")
    return "x ** y is x.pow(y), or dl::pow(x, y)";
  if (text.starts_with("unexpected namespace name"))
    return token.str() + " is a namespace; its names stand behind ::, as in "
                         "F::relu(x)";
  if (text.starts_with("expected") && token.starts_with(":"))
    return "x[:, 0] is x[dl::Slice(), 0], and x[1:3] is x[dl::Slice(1, 3)]";
  if (text.starts_with("expected") &&
      StringRef(problem.following).ltrim().starts_with("@"))
    return "x @ y is dl::matmul(x, y)";
  if (text.starts_with("use of undeclared identifier") &&
      isNamedArgument(token, problem.following))
    return "options stand by name in braces, behind the other arguments: {." +
           token.str() + " = ...}";
  if (text.starts_with("use of undeclared identifier 'range'"))
    return "range(50) of a data set is dl::Slice(0, 50)";
  if (text.starts_with("type 'dl::Batch' binds to"))
    return "two names get the two tensors of a batch; of more they are b[0], "
           "b[1] and so on";
  // auto [B, T, C] = x.sizes(); auto [q, k, v] = x.chunk(3, -1);
  auto [type, names] = text.split("' binds to");
  bool sizes = type == "type 'Shape" || type == "type 'dl::Shape";
  if (sizes || type == "type 'TensorList" || type == "type 'dl::TensorList") {
    unsigned count = 0;
    names = names.split(", but ").second;
    names.consumeInteger(10, count);
    std::string number = std::to_string(count);
    return sizes ? "how many sizes there are is said in the call: x.sizes<" +
                       number + ">()"
                 : "how many tensors there are is said in the call, beside its "
                   "arguments: x.chunk<" +
                       number + ">(" + number + ", -1), and so split<" +
                       number + "> and unbind<" + number +
                       ">; of others they are list[0], list[1] and so on: "
                       "dl::autograd::grad(loss, x)[0]";
  }
  return "";
}
