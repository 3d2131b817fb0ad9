// Initial values whose elements depend on each other.
#ifndef DLRT_STATE_INITIALMATRIX_H
#define DLRT_STATE_INITIALMATRIX_H

#include "runtime/state/StateInit.h"

#include <cstdint>
#include <vector>

namespace dlrt {

/// All elements of an orthogonal, sparse or dirac state, row by row, or nothing
/// if it is none of these. The same bits on every machine.
std::vector<double> initialMatrix(const fb::StateT &state, uint64_t seed);

} // namespace dlrt

#endif
