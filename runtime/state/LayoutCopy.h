// Copies between a tensor's logical row-major order and its stored layout.
#ifndef DLRT_STATE_LAYOUTCOPY_H
#define DLRT_STATE_LAYOUTCOPY_H

#include "runtime/plan/Layout.h"

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
    if (count == 0)
      return;
    if (shape.empty())
      return visit(uint64_t(0));
    std::vector<uint64_t> row(shape.size() - 1, 0);
    do {
      uint64_t begin = 0;
      for (size_t d = 0; d < row.size(); ++d)
        begin += offsets[d][row[d]];
      for (uint64_t offset : offsets.back())
        visit(begin + offset);
    } while (advance(row));
  }

private:
  /// The next index of all dims but the last; false after the end.
  bool advance(std::vector<uint64_t> &row) const {
    for (size_t d = row.size(); d-- > 0;) {
      if (++row[d] != shape[d])
        return true;
      row[d] = 0;
    }
    return false;
  }

  std::vector<uint64_t> shape;
  uint64_t count = 1;
  /// A position is a sum of one term per dim; the terms are tabulated.
  std::vector<std::vector<uint64_t>> offsets;
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
