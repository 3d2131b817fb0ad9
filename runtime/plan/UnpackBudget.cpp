#include "runtime/plan/UnpackBudget.h"

#include <flatbuffers/minireflect.h>

#include <algorithm>

using namespace dlrt;

namespace {

using flatbuffers::TypeCode;
using flatbuffers::TypeTable;
using flatbuffers::uoffset_t;

const TypeTable *referred(const TypeTable &in, TypeCode code) {
  return code.sequence_ref < 0 ? nullptr : in.type_refs[code.sequence_ref]();
}

/// Visits the tables below one.
class UnpackBudget {
public:
  explicit UnpackBudget(size_t bytes) : left(bytes) {}

  bool table(const uint8_t *at, const TypeTable &type) {
    const auto &table = *reinterpret_cast<const flatbuffers::Table *>(at);
    uint8_t unionType = 0; // stands before its union
    for (size_t f = 0; f < type.num_elems; ++f) {
      TypeCode code = type.type_codes[f];
      const uint8_t *field = table.GetAddressOf(flatbuffers::FieldIndexToOffset(
          static_cast<flatbuffers::voffset_t>(f)));
      if (code.base_type == flatbuffers::ET_UTYPE)
        unionType = field ? *field : 0;
      else if (field && !value(field, code, referred(type, code), unionType))
        return false;
    }
    return true;
  }

  size_t unspent() const { return left; }

private:
  static const uint8_t *followed(const uint8_t *field) {
    return field + flatbuffers::ReadScalar<uoffset_t>(field);
  }

  bool spend(size_t count, size_t bytesEach) {
    if (count > left / bytesEach)
      return false;
    left -= count * bytesEach;
    return true;
  }

  bool value(const uint8_t *field, TypeCode code, const TypeTable *type,
             uint8_t unionType) {
    if (code.is_repeating)
      return vector(followed(field), code, type);
    if (code.base_type == flatbuffers::ET_STRING)
      return text(followed(field));
    if (code.base_type != flatbuffers::ET_SEQUENCE ||
        type->st == flatbuffers::ST_STRUCT)
      return true;
    if (type->st == flatbuffers::ST_TABLE)
      return table(followed(field), *type);
    // Unpacking leaves out what is of no known kind.
    if (unionType == 0 || unionType >= type->num_elems)
      return true;
    return table(followed(field),
                 *referred(*type, type->type_codes[unionType]));
  }

  bool text(const uint8_t *at) {
    return spend(flatbuffers::ReadScalar<uoffset_t>(at), 1);
  }

  bool vector(const uint8_t *at, TypeCode code, const TypeTable *type) {
    auto base = static_cast<flatbuffers::ElementaryType>(code.base_type);
    size_t count = flatbuffers::ReadScalar<uoffset_t>(at);
    const uint8_t *data = at + sizeof(uoffset_t);
    size_t bytesEach = flatbuffers::InlineSize(base, type);
    // The verifier looks at the alignment of a vector's length only.
    if (reinterpret_cast<uintptr_t>(data) % alignmentOf(base, type) != 0 ||
        !spend(count, bytesEach))
      return false;
    bool isText = base == flatbuffers::ET_STRING;
    if (!isText &&
        (base != flatbuffers::ET_SEQUENCE || type->st != flatbuffers::ST_TABLE))
      return true;
    for (size_t i = 0; i < count; ++i) {
      const uint8_t *element = followed(data + i * bytesEach);
      if (!(isText ? text(element) : table(element, *type)))
        return false;
    }
    return true;
  }

  /// A struct's is the largest of its fields'.
  static size_t alignmentOf(flatbuffers::ElementaryType base,
                            const TypeTable *type) {
    if (base != flatbuffers::ET_SEQUENCE || type->st != flatbuffers::ST_STRUCT)
      return flatbuffers::InlineSize(base, type);
    size_t largest = 1;
    for (size_t f = 0; f < type->num_elems; ++f) {
      TypeCode code = type->type_codes[f];
      largest = std::max(
          largest,
          alignmentOf(static_cast<flatbuffers::ElementaryType>(code.base_type),
                      referred(*type, code)));
    }
    return largest;
  }

  size_t left;
};

} // namespace

std::optional<size_t> dlrt::unpackedBytes(const fb::PlanFile &file,
                                          size_t most) {
  UnpackBudget budget(most);
  if (!budget.table(reinterpret_cast<const uint8_t *>(&file),
                    *fb::PlanFileTypeTable()))
    return std::nullopt;
  return most - budget.unspent();
}
