// NumPy's .npy files.
#ifndef DLRT_DATA_NPY_H
#define DLRT_DATA_NPY_H

#include "runtime/base/MappedFile.h"
#include "runtime/base/Status.h"
#include "runtime/data/ItemConversion.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

struct NpyArray {
  FileElement element;
  std::vector<uint64_t> shape;
  std::span<const uint8_t> data;
};

/// Versions 1 to 3, little-endian, C order.
Expected<NpyArray> parseNpy(std::span<const uint8_t> bytes);

} // namespace dlrt

#endif
