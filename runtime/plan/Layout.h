// Physical layouts: where a logical element of a stored tensor lies.
#ifndef DLRT_PLAN_LAYOUT_H
#define DLRT_PLAN_LAYOUT_H

#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrt {

using Layout = std::vector<fb::PhysicalDim>;

/// The row-major layout of a shape.
Layout rowMajorLayout(const std::vector<uint64_t> &shape);
bool isRowMajor(const std::vector<uint64_t> &shape, const Layout &layout);

/// Checks that every logical element has its own place inside `bytes` bytes of
/// elements of `elementBytes`. Returns what is wrong, or an empty string.
std::string checkLayout(const std::vector<uint64_t> &shape,
                        const Layout &layout, uint64_t elementBytes,
                        uint64_t bytes);

/// Elements from the first to behind the last place of a checked layout.

/// "d1:320 d0:64", outermost first; "row-major" where it is. A split dim shows
/// its divisor: "d0/16:4 d1:320 d0:16".
std::string layoutText(const std::vector<uint64_t> &shape,
                       const Layout &layout);

} // namespace dlrt

#endif
