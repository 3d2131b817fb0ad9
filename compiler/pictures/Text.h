// Text in pictures: its size, and how it is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dl::pictures {

/// The width of a line, in pixels, in the widest of the fonts that a picture
/// asks for.
double textWidth(std::string_view text, double size, bool bold = false);

/// Without what does not fit, "…" in its place.
std::string shortened(const std::string &text, double size, double width);

/// For XML's text and attributes.
std::string escaped(std::string_view text);

/// A coordinate: at most two decimals, the same on every machine.
std::string number(double value);

/// "12.5 kB"; units of 1000.
std::string byteText(int64_t bytes);
/// "124,439,808".
std::string countText(int64_t count);

} // namespace dl::pictures
