#include "compiler/pictures/SvgText.h"
#include "compiler/pictures/Style.h"
#include "compiler/pictures/Text.h"

namespace dl::pictures::svg {

std::string attribute(const char *name, double value) {
  return std::string(" ") + name + "=\"" + number(value) + "\"";
}

std::string rect(double x, double y, double width, double height,
                 const std::string &rest) {
  return "<rect" + attribute("x", x) + attribute("y", y) +
         attribute("width", width) + attribute("height", height) + rest;
}

std::string text(double x, double y, const std::string &content, double size,
                 const std::string &rest) {
  return "<text" + attribute("x", x) + attribute("y", y) +
         attribute("font-size", size) +
         (rest.find("fill=") == std::string::npos ? " fill=\"#323F4B\"" : "") +
         rest + ">" + escaped(content) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2,
                 const std::string &rest) {
  return "<line" + attribute("x1", x1) + attribute("y1", y1) +
         attribute("x2", x2) + attribute("y2", y2) + rest + "/>\n";
}

std::string document(const std::string &title, double width, double height,
                     const std::string &body) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<svg xmlns=\"http://www.w3.org/2000/svg\"" +
         attribute("width", width) + attribute("height", height) +
         " viewBox=\"0 0 " + number(width) + " " + number(height) +
         "\" font-family=\"" + fontFamily + "\">\n<title>" + escaped(title) +
         "</title>\n" + rect(0, 0, width, height, " fill=\"white\"/>\n") +
         body + "</svg>\n";
}

} // namespace dl::pictures::svg
