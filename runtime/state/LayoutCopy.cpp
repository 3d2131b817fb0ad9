#include "runtime/state/LayoutCopy.h"

#include "runtime/plan/DTypes.h"

#include <cstring>
#include <type_traits>

using namespace dlrt;

LayoutWalker::LayoutWalker(const std::vector<uint64_t> &shape,
                           const Layout &layout) {
  isEmpty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (uint64_t extent : shape)
    dims.push_back({extent, extent, 0, {}});
  for (const fb::PhysicalDim &d : layout) {
    Dim &dim = dims[d.dim()];
    if (d.extent() == 1)
      continue; // says nothing
    dim.digits.push_back(d);
    if (d.divisor() == 1) {
      dim.run = d.extent();
      dim.stride = d.stride();
    }
  }
}

template <bool store>
static void copy(const std::vector<uint64_t> &shape, const Layout &layout,
                 uint64_t elementBytes, uint8_t *rowMajor, uint8_t *stored) {
  LayoutWalker walker(shape, layout);
  auto with = [&](auto size) {
    walker.forEach([&](uint64_t position) {
      uint8_t *place = stored + position * size;
      if constexpr (store)
        std::memcpy(place, rowMajor, size);
      else
        std::memcpy(rowMajor, place, size);
      rowMajor += size;
    });
  };
  switch (elementBytes) {
  case 8:
    return with(std::integral_constant<size_t, 8>());
  case 4:
    return with(std::integral_constant<size_t, 4>());
  case 2:
    return with(std::integral_constant<size_t, 2>());
  case 1:
    return with(std::integral_constant<size_t, 1>());
  default:
    return with(elementBytes);
  }
}

void dlrt::storeElements(const std::vector<uint64_t> &shape,
                         const Layout &layout, uint64_t elementBytes,
                         const uint8_t *rowMajor, uint8_t *stored) {
  copy<true>(shape, layout, elementBytes, const_cast<uint8_t *>(rowMajor),
             stored);
}

void dlrt::loadElements(const std::vector<uint64_t> &shape,
                        const Layout &layout, uint64_t elementBytes,
                        const uint8_t *stored, uint8_t *rowMajor) {
  copy<false>(shape, layout, elementBytes, rowMajor,
              const_cast<uint8_t *>(stored));
}

std::vector<uint8_t> dlrt::rowMajorElements(const std::vector<uint64_t> &shape,
                                            const Layout &layout,
                                            fb::DType dtype,
                                            const uint8_t *stored) {
  uint64_t count = 1;
  for (uint64_t extent : shape)
    count *= extent;
  std::vector<uint8_t> data(count * sizeOf(dtype));
  loadElements(shape, layout, sizeOf(dtype), stored, data.data());
  return data;
}
