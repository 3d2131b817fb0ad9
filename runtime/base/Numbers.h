// Numbers as text: shortest floats, sizes, durations.
#ifndef DLRT_BASE_NUMBERS_H
#define DLRT_BASE_NUMBERS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dlrt {

/// The shortest text that reads back as the same value in that type; "nan",
/// "inf" and "-inf" for the rest.
std::string shortest(float value);
std::string shortest(double value);

/// "21,840"
std::string withCommas(uint64_t number);

/// "46.9 MB" (decimal units, as disks and datasheets use them).
std::string humanBytes(uint64_t bytes);

/// "850 ms", "42 s", "3m05s", "2h10m".
std::string humanSeconds(double seconds);

/// The whole text as a number, or nothing.
std::optional<uint64_t> parseUnsigned(std::string_view text);
std::optional<double> parseDouble(std::string_view text);

} // namespace dlrt

#endif
