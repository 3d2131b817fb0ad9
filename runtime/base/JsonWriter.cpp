#include "runtime/base/JsonWriter.h"

#include "runtime/base/Numbers.h"
#include "runtime/base/Utf8.h"

#include <cmath>

using namespace dlrt;

void JsonWriter::newLine() {
  if (!indented || (inlineDepth != 0 && levels.size() >= inlineDepth))
    return;
  out += '\n';
  out.append(2 * levels.size(), ' ');
}

void JsonWriter::separate() {
  if (afterKey) {
    afterKey = false;
    return;
  }
  if (levels.empty())
    return;
  if (levels.back())
    out += ',';
  levels.back() = true;
  newLine();
}

JsonWriter &JsonWriter::open(char bracket) {
  separate();
  out += bracket;
  levels.push_back(false);
  return *this;
}

JsonWriter &JsonWriter::close(char bracket) {
  bool filled = levels.back();
  bool inlined = inlineDepth != 0 && levels.size() >= inlineDepth;
  levels.pop_back();
  if (filled && !inlined)
    newLine();
  out += bracket;
  return *this;
}

JsonWriter &JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out += indented ? ": " : ":";
  afterKey = true;
  return *this;
}

JsonWriter &JsonWriter::raw(std::string_view text) {
  separate();
  out += text;
  return *this;
}

JsonWriter &JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter &JsonWriter::value(float number) {
  return std::isfinite(number) ? raw(shortest(number))
                               : value(std::string_view(shortest(number)));
}

JsonWriter &JsonWriter::value(double number) {
  return std::isfinite(number) ? raw(shortest(number))
                               : value(std::string_view(shortest(number)));
}

JsonWriter &JsonWriter::value(bool truth) {
  return raw(truth ? "true" : "false");
}

void JsonWriter::quote(std::string_view text) {
  static const char digits[] = "0123456789abcdef";
  out += '"';
  for (size_t at = 0, length = 0; at < text.size(); at += length) {
    // A file's name may be any bytes, JSON may not.
    length = utf8Length(text.substr(at));
    if (length != 1) {
      out += length == 0 ? "\xef\xbf\xbd" : text.substr(at, length);
      length += length == 0;
      continue;
    }
    unsigned char c = static_cast<unsigned char>(text[at]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20) {
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    } else {
      out += static_cast<char>(c);
    }
  }
  out += '"';
}
