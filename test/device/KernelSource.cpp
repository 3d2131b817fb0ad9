#include "test/device/KernelSource.h"

#include <cctype>
#include <vector>

namespace emulated {

namespace {
struct Token {
  std::string_view text;
  size_t at;
};

bool isWord(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Words and marks; no comments, literals and preprocessor lines.
class Tokens {
public:
  explicit Tokens(std::string_view source) : source(source) {
    bool lineBegins = true;
    for (size_t i = 0; i < source.size();) {
      char c = source[i];
      if (c == '\n' || isspace(static_cast<unsigned char>(c))) {
        lineBegins |= c == '\n';
        ++i;
      } else if (c == '#' && lineBegins) {
        i = endOfDirective(i);
      } else if (source.substr(i, 2) == "//") {
        i = std::min(source.find('\n', i), source.size());
      } else if (source.substr(i, 2) == "/*") {
        i = after("*/", i + 2);
      } else if (c == '"' || c == '\'') {
        size_t end = endOfLiteral(i);
        list.push_back({source.substr(i, end - i), i});
        i = end;
      } else {
        lineBegins = false;
        size_t end = i + 1;
        if (isWord(c))
          while (end < source.size() &&
                 (isWord(source[end]) || source[end] == '\''))
            ++end;
        list.push_back({source.substr(i, end - i), i});
        i = end;
      }
    }
  }
  std::vector<Token> list;

private:
  size_t after(std::string_view what, size_t from) const {
    size_t found = source.find(what, from);
    return found == source.npos ? source.size() : found + what.size();
  }
  size_t endOfDirective(size_t i) const {
    while (i < source.size() && source[i] != '\n')
      i += source[i] == '\\' && i + 1 < source.size() ? 2 : 1;
    return i;
  }
  size_t endOfLiteral(size_t i) const {
    char quote = source[i++];
    while (i < source.size() && source[i] != quote)
      i += source[i] == '\\' ? 2 : 1;
    return std::min(i + 1, source.size());
  }
  std::string_view source;
};

struct KernelName {
  std::string_view name, bounds;
};

/// Of `__global__ ... name(`: the name, and what __launch_bounds__ has in it.
KernelName kernelAt(std::string_view source, const std::vector<Token> &tokens,
                    size_t &i) {
  KernelName kernel;
  for (++i; i + 1 < tokens.size(); ++i) {
    std::string_view word = tokens[i].text;
    if (word == "__launch_bounds__") {
      size_t open = tokens[i + 1].at + 1, depth = 1;
      for (i += 2; i < tokens.size(); ++i) {
        depth += tokens[i].text == "(";
        depth -= tokens[i].text == ")";
        if (depth == 0)
          break;
      }
      if (i < tokens.size())
        kernel.bounds = source.substr(open, tokens[i].at - open);
    } else if (isWord(word[0]) && tokens[i + 1].text == "(") {
      kernel.name = word;
      return kernel;
    } else if (word == ";" || word == "{") {
      return kernel;
    }
  }
  return kernel;
}
} // namespace

/// `extern __shared__ T name[];` as a pointer to the block's dynamic memory.
static bool rewriteShared(std::string_view source,
                          const std::vector<Token> &tokens, size_t &i,
                          std::string &out, size_t &copied) {
  size_t first = i + 2, bracket = first;
  while (bracket < tokens.size() && tokens[bracket].text != "[" &&
         tokens[bracket].text != ";")
    ++bracket;
  if (bracket + 2 >= tokens.size() || tokens[bracket].text != "[" ||
      tokens[bracket + 1].text != "]" || tokens[bracket + 2].text != ";" ||
      bracket < first + 2)
    return false;
  const Token &name = tokens[bracket - 1];
  if (tokens[first].text == "__align__" || tokens[first].text == "alignas")
    while (tokens[first].text != ")" && first < bracket)
      ++first;
  first += tokens[first].text == ")";
  std::string type(source.substr(tokens[first].at, name.at - tokens[first].at));
  out += source.substr(copied, tokens[i].at - copied);
  out += type + "*const " + std::string(name.text) + " = reinterpret_cast<" +
         type + "*>(dlsimt::machine->dynamicShared)";
  copied = tokens[bracket + 2].at;
  i = bracket + 2;
  return true;
}

std::string hostSource(std::string_view cuda, std::string &error) {
  Tokens tokens(cuda);
  const std::vector<Token> &list = tokens.list;
  std::vector<KernelName> kernels;
  std::string out = "#line 1 \"kernels.cu\"\n";
  size_t copied = 0, depth = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    depth += list[i].text == "{";
    depth -= list[i].text == "}" && depth;
    if (list[i].text == "__global__") {
      KernelName kernel = kernelAt(cuda, list, i);
      if (kernel.name.empty()) {
        error = "a __global__ function without a name";
        return "";
      }
      bool known = false; // a declaration before it
      for (const KernelName &other : kernels)
        known |= other.name == kernel.name;
      if (!known)
        kernels.push_back(kernel);
    } else if (list[i].text == "extern" && i + 1 < list.size() &&
               list[i + 1].text == "__shared__") {
      if (depth == 0 || !rewriteShared(cuda, list, i, out, copied)) {
        error = "dynamic shared memory is declared as `extern __shared__ T "
                "name[];` in a function";
        return "";
      }
    }
  }
  out += cuda.substr(copied);
  out += "\n#line 1 \"table of kernels\"\nstatic constexpr dlsimt::Kernel "
         "dl_simt_kernels[] = {\n";
  for (const KernelName &kernel : kernels) {
    std::string name(kernel.name);
    out += "    dlsimt::Entry<&" + name + ">::named(\"" + name + "\"";
    if (!kernel.bounds.empty())
      out += ", " + std::string(kernel.bounds);
    out += "),\n";
  }
  out += "    {}};\nDL_SIMT_EXPORT(dl_simt_kernels, " +
         std::to_string(kernels.size()) + ")\n";
  return out;
}

} // namespace emulated
