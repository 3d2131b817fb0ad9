#include "runtime/plan/SourceText.h"

#include <fmt/format.h>

using namespace dlrt;

std::string dlrt::sourceText(const fb::SourceT &source) {
  std::string text = source.op;
  if (!source.module_.empty())
    text += fmt::format(" in '{}'", source.module_);
  if (!source.location.empty())
    text += " at " + source.location;
  return text;
}
