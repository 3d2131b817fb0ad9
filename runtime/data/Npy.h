// NumPy's .npy files.
#ifndef DLRT_DATA_NPY_H
#define DLRT_DATA_NPY_H

#include "runtime/base/MappedFile.h"
#include "runtime/base/Status.h"
#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

struct NpyArray {
  fb::DType dtype;
  std::vector<uint64_t> shape;
  std::span<const uint8_t> data;
};

/// Versions 1 to 3, little-endian, C order, with a dtype that plans have.
Expected<NpyArray> parseNpy(std::span<const uint8_t> bytes);

} // namespace dlrt

#endif
