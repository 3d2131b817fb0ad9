// Writes JSON text, compact or indented.
#ifndef DLRT_BASE_JSONWRITER_H
#define DLRT_BASE_JSONWRITER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dlrt {

/// Calls nest as the document does; keys are given before the value they name.
/// Non-finite floats become the strings "nan", "inf" and "-inf".
class JsonWriter {
public:
  explicit JsonWriter(bool indent = false) : indented(indent) {}

  JsonWriter &beginObject() { return open('{'); }
  JsonWriter &endObject() { return close('}'); }
  JsonWriter &beginArray() { return open('['); }
  JsonWriter &endArray() { return close(']'); }
  JsonWriter &key(std::string_view name);

  JsonWriter &value(std::string_view text);
  JsonWriter &value(const char *text) { return value(std::string_view(text)); }
  JsonWriter &value(float number);
  JsonWriter &value(double number);
  JsonWriter &value(bool truth);
  template <typename Int>
    requires(std::is_integral_v<Int> && !std::is_same_v<Int, bool>)
  JsonWriter &value(Int number) {
    return raw(std::to_string(number));
  }

  template <typename T> JsonWriter &field(std::string_view name, T &&content) {
    key(name);
    return value(std::forward<T>(content));
  }
  template <typename Range>
  JsonWriter &array(std::string_view name, const Range &items) {
    key(name);
    inlineDepth = levels.size() + 1;
    beginArray();
    for (const auto &item : items)
      value(item);
    endArray();
    inlineDepth = 0;
    return *this;
  }

  /// The document so far; `clear` keeps the memory for the next one.
  const std::string &text() const { return out; }
  void clear() {
    out.clear();
    levels.clear();
    afterKey = false;
  }

private:
  JsonWriter &open(char bracket);
  JsonWriter &close(char bracket);
  JsonWriter &raw(std::string_view text);
  void separate();
  void newLine();
  void quote(std::string_view text);

  std::string out;
  std::vector<bool> levels; ///< per open bracket: something stands in it
  size_t inlineDepth = 0;   ///< arrays of scalars stay on one line
  bool indented;
  bool afterKey = false;
};

} // namespace dlrt

#endif
