#include "runtime/base/JsonReader.h"

#include "runtime/base/MappedFile.h"

#include <fmt/format.h>

#include <unordered_set>

using namespace dlrt;

const JsonValue *JsonValue::find(std::string_view name) const {
  for (const auto &[key, value] : members)
    if (key == name)
      return &value;
  return nullptr;
}

namespace {

class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  Expected<JsonValue> document() {
    JsonValue value;
    if (!parseValue(value, 0))
      return error();
    skipSpace();
    if (at != text.size()) {
      fail("something follows the end");
      return error();
    }
    return value;
  }

private:
  static constexpr int maxDepth = 32;

  Status error() const {
    return {Code::Io, fmt::format("JSON: {} at byte {}", reason, at)};
  }
  bool fail(const char *why) {
    reason = why;
    return false;
  }
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' ||
                                text[at] == '\n' || text[at] == '\r'))
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool takeWord(std::string_view word) {
    if (text.substr(at, word.size()) != word)
      return false;
    at += word.size();
    return true;
  }

  bool parseValue(JsonValue &value, int depth);
  bool parseObject(JsonValue &value, int depth);
  bool parseArray(JsonValue &value, int depth);
  bool parseString(std::string &out);
  bool parseEscape(std::string &out);
  bool parseHex(uint32_t &code);
  bool parseNumber(std::string &out);
  bool digits();

  std::string_view text;
  size_t at = 0;
  const char *reason = "";
};

bool Parser::parseValue(JsonValue &value, int depth) {
  if (depth > maxDepth)
    return fail("too deeply nested");
  skipSpace();
  if (at >= text.size())
    return fail("a value is missing");
  switch (text[at]) {
  case '{':
    return parseObject(value, depth);
  case '[':
    return parseArray(value, depth);
  case '"':
    value.kind = JsonValue::Kind::String;
    return parseString(value.text);
  case 't':
  case 'f':
    value.kind = JsonValue::Kind::Bool;
    value.truth = text[at] == 't';
    return takeWord(value.truth ? "true" : "false") || fail("unknown word");
  case 'n':
    return takeWord("null") || fail("unknown word");
  default:
    value.kind = JsonValue::Kind::Number;
    return parseNumber(value.text);
  }
}

bool Parser::parseObject(JsonValue &value, int depth) {
  value.kind = JsonValue::Kind::Object;
  ++at;
  if (take('}'))
    return true;
  std::unordered_set<std::string> seen;
  do {
    skipSpace();
    std::string key;
    if (!parseString(key))
      return false;
    if (!seen.insert(key).second)
      return fail("duplicate key");
    if (!take(':'))
      return fail("':' expected");
    value.members.push_back({std::move(key), JsonValue()});
    if (!parseValue(value.members.back().value, depth + 1))
      return false;
  } while (take(','));
  return take('}') || fail("',' or '}' expected");
}

bool Parser::parseArray(JsonValue &value, int depth) {
  value.kind = JsonValue::Kind::Array;
  ++at;
  if (take(']'))
    return true;
  do {
    value.items.emplace_back();
    if (!parseValue(value.items.back(), depth + 1))
      return false;
  } while (take(','));
  return take(']') || fail("',' or ']' expected");
}

bool Parser::parseString(std::string &out) {
  if (at >= text.size() || text[at] != '"')
    return fail("a string was expected");
  ++at;
  while (at < text.size()) {
    char c = text[at++];
    if (c == '"')
      return true;
    if (static_cast<unsigned char>(c) < 0x20)
      return fail("control character in a string");
    if (c != '\\')
      out += c;
    else if (!parseEscape(out))
      return false;
  }
  return fail("a string does not end");
}

bool Parser::parseHex(uint32_t &code) {
  code = 0;
  for (int i = 0; i < 4; ++i) {
    if (at >= text.size())
      return fail("a string does not end");
    char c = text[at++];
    uint32_t digit = c >= '0' && c <= '9'   ? c - '0'
                     : c >= 'a' && c <= 'f' ? c - 'a' + 10
                     : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                            : 16;
    if (digit == 16)
      return fail("wrong \\u escape");
    code = code * 16 + digit;
  }
  return true;
}

bool Parser::parseEscape(std::string &out) {
  static constexpr std::string_view names = "\"\\/bfnrt";
  static constexpr std::string_view values = "\"\\/\b\f\n\r\t";
  if (at >= text.size())
    return fail("a string does not end");
  char c = text[at++];
  if (size_t found = names.find(c); found != std::string_view::npos) {
    out += values[found];
    return true;
  }
  uint32_t code = 0;
  if (c != 'u')
    return fail("unknown escape");
  if (!parseHex(code))
    return false;
  if (code >= 0xd800 && code < 0xdc00) {
    uint32_t low = 0;
    if (!takeWord("\\u") || !parseHex(low) || low < 0xdc00 || low > 0xdfff)
      return fail("lone surrogate");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code < 0xe000) {
    return fail("lone surrogate");
  }
  auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 63));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 63));
    put(0x80 | (code & 63));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 63));
    put(0x80 | (code >> 6 & 63));
    put(0x80 | (code & 63));
  }
  return true;
}

bool Parser::digits() {
  size_t from = at;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9')
    ++at;
  return at != from;
}

bool Parser::parseNumber(std::string &out) {
  size_t from = at;
  takeWord("-");
  bool leadingZero = at < text.size() && text[at] == '0';
  size_t integer = at;
  if (!digits())
    return fail("a value was expected");
  if (leadingZero && at - integer > 1)
    return fail("a number starts with 0");
  if (takeWord(".") && !digits())
    return fail("digits are missing after '.'");
  if (takeWord("e") || takeWord("E")) {
    if (!takeWord("+"))
      takeWord("-");
    if (!digits())
      return fail("digits are missing in the exponent");
  }
  out = text.substr(from, at - from);
  return true;
}

} // namespace

Expected<JsonValue> dlrt::parseJson(std::string_view text) {
  return Parser(text).document();
}

Expected<JsonValue> dlrt::readJson(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  std::span<const uint8_t> bytes = file->bytes();
  auto json =
      parseJson({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  if (!json)
    return Status(Code::Io, json.takeError().message()).within(path);
  return json;
}
