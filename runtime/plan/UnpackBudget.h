// What unpacking a FlatBuffer relies on, beyond what its verifier knows.
#ifndef DLRT_PLAN_UNPACKBUDGET_H
#define DLRT_PLAN_UNPACKBUDGET_H

#include "runtime/plan/plan_generated.h"

#include <cstddef>

namespace dlrt {

/// Whether all vectors are aligned, and what unpacking copies is at most
/// `bytes`. A FlatBuffer may refer to one vector from many tables; a small
/// hostile file could so ask for terabytes. Fields are found by the schema's
/// own tables: a new one needs nothing here.
bool mayUnpack(const fb::Plan &plan, size_t bytes);

} // namespace dlrt

#endif
