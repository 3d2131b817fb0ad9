// What unpacking a FlatBuffer relies on, beyond what its verifier knows.
#ifndef DLRT_PLAN_UNPACKBUDGET_H
#define DLRT_PLAN_UNPACKBUDGET_H

#include "runtime/plan/plan_generated.h"

#include <cstddef>
#include <optional>

namespace dlrt {

/// The bytes that unpacking copies; nothing if a vector is misaligned, or if
/// they are more than `most`. A FlatBuffer may refer to one vector from many
/// tables; a small hostile file could so ask for terabytes. Fields are found by
/// the schema's own tables: a new one needs nothing here.
std::optional<size_t> unpackedBytes(const fb::PlanFile &file, size_t most);

} // namespace dlrt

#endif
