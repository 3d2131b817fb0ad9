#include "runtime/base/Numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

using namespace dlrt;

template <typename Float> static std::string shortestText(Float value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  char text[40];
  auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return {text, end};
}

std::string dlrt::shortest(float value) { return shortestText(value); }
std::string dlrt::shortest(double value) { return shortestText(value); }

std::string dlrt::withCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string dlrt::humanBytes(uint64_t bytes) {
  if (bytes < 1000)
    return fmt::format("{} B", bytes);
  const char *units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string dlrt::humanSeconds(double seconds) {
  if (seconds < 1)
    return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 10)
    return fmt::format("{:.1f} s", seconds);
  uint64_t whole = static_cast<uint64_t>(std::min(seconds + 0.5, 1e15));
  if (whole < 60)
    return fmt::format("{} s", whole);
  if (whole < 3600)
    return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
}

std::optional<uint64_t> dlrt::parseUnsigned(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<double> dlrt::parseDouble(std::string_view text) {
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}
