// Initial values whose elements depend on each other.
#ifndef DLRT_STATE_INITIALMATRIX_H
#define DLRT_STATE_INITIALMATRIX_H

#include "runtime/plan/Mesh.h"

#include <cstdint>
#include <vector>

namespace dlrt {

/// All elements of an orthogonal, sparse or dirac tensor, row by row, or
/// nothing if it is none of these. The same bits on every machine.
std::vector<double> initialMatrix(const fb::InitT &init,
                                  const std::vector<uint64_t> &shape,
                                  uint64_t seed);

} // namespace dlrt

#endif
