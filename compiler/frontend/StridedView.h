#pragma once
// Where the elements of a view lie in the memory that it is a view of.
#include "mlir/IR/BuiltinAttributes.h"
#include <optional>
#include <vector>

namespace dl::frontend {

/// As the strides of PyTorch's tensors, in elements.
struct StridedView {
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;

  bool operator==(const StridedView &) const = default;

  static StridedView rowMajor(llvm::ArrayRef<int64_t> shape);
  bool isRowMajor() const;
  /// Whether two of its elements lie in one place.
  bool repeats() const;
  /// By an op of the graph with these attributes; nothing where PyTorch's has
  /// memory of its own.
  std::optional<StridedView> by(llvm::StringRef op,
                                mlir::DictionaryAttr attributes) const;
  /// Of all elements, row by row.
  std::vector<int64_t> places() const;

private:
  std::optional<StridedView> reshaped(llvm::ArrayRef<int64_t> to) const;
};

} // namespace dl::frontend
