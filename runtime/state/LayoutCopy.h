// Copies between a tensor's logical row-major order and its stored layout.
#ifndef DLRT_STATE_LAYOUTCOPY_H
#define DLRT_STATE_LAYOUTCOPY_H

#include "runtime/plan/Layout.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dlrt {

/// Visits the elements of a shape in row-major order and tells where each lies
/// in a (checked) layout, counted in elements.
class LayoutWalker {
public:
  LayoutWalker(const std::vector<uint64_t> &shape, const Layout &layout);

  /// Calls visit(position) for each element.
  template <typename Visit> void forEach(Visit visit) const {
    if (isEmpty)
      return;
    if (dims.empty())
      return visit(uint64_t(0));
    const Dim &last = dims.back();
    // The index of all dims but the last, and what each adds to the position.
    std::vector<uint64_t> index(dims.size() - 1, 0), terms(index);
    do {
      uint64_t begin = 0;
      for (uint64_t term : terms)
        begin += term;
      for (uint64_t i = 0; i < last.extent; i += last.run) {
        uint64_t position = begin + last.term(i);
        uint64_t count = std::min(last.run, last.extent - i);
        for (uint64_t k = 0; k < count; ++k, position += last.stride)
          visit(position);
      }
    } while (advance(index, terms));
  }

private:
  /// A logical dim: `run` elements are `stride` apart, the next run is where
  /// the digits say.
  struct Dim {
    uint64_t extent, run, stride = 0;
    Layout digits;

    uint64_t term(uint64_t index) const {
      uint64_t sum = 0;
      for (const fb::PhysicalDim &d : digits)
        sum += index / d.divisor() % d.extent() * d.stride();
      return sum;
    }
  };

  /// The next index of all dims but the last; false after the end.
  bool advance(std::vector<uint64_t> &index,
               std::vector<uint64_t> &terms) const {
    for (size_t d = index.size(); d-- > 0;) {
      bool isNext = ++index[d] != dims[d].extent;
      if (!isNext)
        index[d] = 0;
      terms[d] = dims[d].term(index[d]);
      if (isNext)
        return true;
    }
    return false;
  }

  bool isEmpty = false;
  std::vector<Dim> dims;
};

/// Row-major elements -> stored. Places that hold no element (padding) are
/// left alone.
void storeElements(const std::vector<uint64_t> &shape, const Layout &layout,
                   uint64_t elementBytes, const uint8_t *rowMajor,
                   uint8_t *stored);

/// Stored elements -> row-major.
void loadElements(const std::vector<uint64_t> &shape, const Layout &layout,
                  uint64_t elementBytes, const uint8_t *stored,
                  uint8_t *rowMajor);

/// The same into new memory.
std::vector<uint8_t> rowMajorElements(const std::vector<uint64_t> &shape,
                                      const Layout &layout, fb::DType dtype,
                                      const uint8_t *stored);

} // namespace dlrt

#endif
