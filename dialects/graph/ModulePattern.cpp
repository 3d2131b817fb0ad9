#include "dialects/graph/ModulePattern.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dl::graph {
namespace {

SmallVector<StringRef> namesOf(StringRef path) {
  SmallVector<StringRef> names;
  path.split(names, '.');
  return names;
}

} // namespace

std::optional<StringRef> matchedPrefix(StringRef pattern, StringRef path) {
  auto wanted = namesOf(pattern), names = namesOf(path);
  if (names.size() < wanted.size())
    return std::nullopt;
  size_t length = 0;
  for (auto [part, name] : zip(wanted, names)) {
    if (part != "*" && part != name)
      return std::nullopt;
    length += name.size() + 1;
  }
  return path.take_front(length - 1);
}

bool namesModule(StringRef pattern, StringRef path) {
  return matchedPrefix(pattern, path) == path;
}

std::string inFormOf(StringRef pattern, StringRef path) {
  auto wanted = namesOf(pattern), names = namesOf(path);
  names.truncate(std::min(names.size(), wanted.size()));
  for (auto [part, name] : zip(wanted, names))
    if (part == "*")
      name = part;
  return join(names, ".");
}

} // namespace dl::graph
