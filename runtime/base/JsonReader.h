// Reads small JSON documents (headers of weight files).
#ifndef DLRT_BASE_JSONREADER_H
#define DLRT_BASE_JSONREADER_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

struct JsonMember;

struct JsonValue {
  enum class Kind { Null, Bool, Number, String, Array, Object };

  Kind kind = Kind::Null;
  bool truth = false;
  std::string text; ///< a string's content, or a number as it was written
  std::vector<JsonValue> items;
  std::vector<JsonMember> members; ///< file order

  /// The member of that name, or null.
  const JsonValue *find(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

/// Strict RFC 8259 except that duplicate keys are an error, too. Depth is
/// limited, so that hostile input cannot exhaust the stack.
Expected<JsonValue> parseJson(std::string_view text);
/// Of a whole file, which errors name.
Expected<JsonValue> readJson(const std::string &path);

} // namespace dlrt

#endif
