// Pieces of SVG text, for pictures that are not graphs.
#pragma once

#include <string>

namespace dl::pictures::svg {

/// " x=\"1.5\"".
std::string attribute(const char *name, double value);
/// An element that `rest` ends: "/>", or ">…</rect>".
std::string rect(double x, double y, double width, double height,
                 const std::string &rest);
/// Dark grey where `rest` says nothing else.
std::string text(double x, double y, const std::string &content, double size,
                 const std::string &rest = "");
std::string line(double x1, double y1, double x2, double y2,
                 const std::string &rest);
/// A whole file on white ground.
std::string document(const std::string &title, double width, double height,
                     const std::string &body);

} // namespace dl::pictures::svg
