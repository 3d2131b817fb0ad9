#include "tools/dlrun/OptionValues.h"

#include "runtime/base/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

using namespace dlrun;
using namespace dlrt;

Status dlrun::usage(std::string message) {
  return {Code::Usage, std::move(message)};
}

Status dlrun::setUnsigned(const std::string &value, uint64_t &out,
                          uint64_t least, uint64_t most) {
  auto number = parseUnsigned(value);
  if (!number || *number < least || *number > most)
    return {Code::Usage, fmt::format("'{}' is not a whole number from {} to {}",
                                     value, least, most)};
  out = *number;
  return {};
}

std::vector<std::string> dlrun::splitAtCommas(const std::string &text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// A number with one of the units: "20us".
static std::optional<double>
numberWithUnit(const std::string &text,
               std::initializer_list<std::pair<const char *, double>> units) {
  for (auto [unit, factor] : units) {
    std::string_view end = unit;
    if (!text.ends_with(end))
      continue;
    auto number =
        parseDouble(std::string_view(text).substr(0, text.size() - end.size()));
    if (number && *number >= 0 && *number <= 1e9)
      return *number * factor;
  }
  return std::nullopt;
}

std::optional<double> dlrun::parseSeconds(const std::string &text) {
  return numberWithUnit(text, {{"min", 60}, {"h", 3600}, {"s", 1}});
}

Expected<LinkSpeed> dlrun::parseLink(const std::string &text) {
  LinkSpeed link;
  for (const std::string &part : splitAtCommas(text)) {
    size_t equals = std::min(part.find('='), part.size());
    std::string name = part.substr(0, equals);
    std::string value = part.substr(std::min(equals + 1, part.size()));
    std::optional<double> number;
    if (name == "latency")
      number = numberWithUnit(
          value, {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}});
    else if (name == "bandwidth")
      number = numberWithUnit(
          value, {{"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"B/s", 1}});
    if (!number || (name == "bandwidth" && *number == 0))
      return Status(Code::Usage, fmt::format("'{}' is none of latency=20us, "
                                             "bandwidth=1GB/s",
                                             part));
    (name == "latency" ? link.latency : link.bandwidth) = *number;
  }
  return link;
}
