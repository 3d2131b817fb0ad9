// Names of C++'s own library whose header the model does not include.
#include "compiler/frontend/CxxDiagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace dl::frontend;
using llvm::StringRef;

/// Headers and the names that models take from them, separated by blanks.
static constexpr std::pair<const char *, const char *> kHeaders[] = {
    {"cmath",
     "M_PI M_E abs acos asin atan atan2 cbrt ceil cos cosh erf exp exp2 expm1 "
     "fabs floor fmod hypot isfinite isinf isnan log log10 log1p log2 lround "
     "pow round sin sinh sqrt tan tanh trunc"},
    {"algorithm", "clamp copy fill find for_each max min reverse sort swap"},
    {"array", "array to_array"},
    {"cassert", "assert"},
    {"cstdint", "int32_t int64_t uint32_t uint64_t int8_t uint8_t"},
    {"cstdio", "fprintf printf snprintf sprintf stderr stdout"},
    {"cstdlib", "getenv"},
    {"cstring", "memcpy memset strcmp strlen"},
    {"filesystem", "filesystem"},
    {"format", "format"},
    {"fstream", "ifstream ofstream"},
    {"functional", "function"},
    {"iostream", "cerr cout endl"},
    {"limits", "numeric_limits"},
    {"map", "map multimap"},
    {"memory", "make_shared make_unique shared_ptr unique_ptr"},
    {"numbers", "numbers"},
    {"numeric", "accumulate gcd iota lcm reduce"},
    {"optional", "make_optional nullopt optional"},
    {"random", "mt19937 normal_distribution uniform_real_distribution"},
    {"set", "set"},
    {"sstream", "istringstream ostringstream stringstream"},
    {"stdexcept", "invalid_argument logic_error runtime_error"},
    {"string", "getline stod stoi string to_string"},
    {"string_view", "string_view"},
    {"tuple", "make_tuple tie tuple"},
    {"unordered_map", "unordered_map"},
    {"utility", "exchange make_pair move pair"},
    {"variant", "variant"},
    {"vector", "vector"}};

std::string dl::frontend::missingHeader(const CxxProblem &problem) {
  static const llvm::StringMap<const char *> headers = [] {
    llvm::StringMap<const char *> map;
    for (auto [header, names] : kHeaders) {
      llvm::SmallVector<StringRef> words;
      StringRef(names).split(words, ' ');
      for (StringRef name : words)
        map[name] = header;
    }
    return map;
  }();
  StringRef text = problem.message.text, token = problem.token;
  bool inStd = text.contains("in namespace 'std'");
  // std::log(2.0), in a model that includes nothing: std itself may be unknown.
  if (token == "std" && StringRef(problem.following).starts_with("std::")) {
    token = StringRef(problem.following).drop_front(5).take_while([](char c) {
      return llvm::isAlnum(c) || c == '_';
    });
    inStd |= text.starts_with("use of undeclared identifier");
  }
  bool macro = text.starts_with("use of undeclared identifier") &&
               (token.starts_with("M_") || token == "assert");
  auto found = headers.find(token);
  if (found == headers.end() || (!inStd && !macro))
    return "";
  return (inStd ? "std::" : "") + token.str() + ": add #include <" +
         found->second + ">";
}
