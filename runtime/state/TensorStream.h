// Tensors that are written while they are computed, item after item.
#ifndef DLRT_STATE_TENSORSTREAM_H
#define DLRT_STATE_TENSORSTREAM_H

#include "runtime/base/GrowingFile.h"
#include "runtime/base/Status.h"
#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

struct StreamedTensor {
  std::string name;
  fb::DType dtype;
  std::vector<uint64_t> shape; ///< of the whole, items first
};

/// A .safetensors file with the tensors under their names, or a .npy file with
/// the only one. Its length is known from the start, its memory that of a
/// batch.
class TensorStream {
public:
  /// Another ending, or .npy for several tensors, is wrong use.
  static Status checkName(const std::string &path,
                          const std::vector<StreamedTensor> &tensors);

  static Expected<TensorStream> create(const std::string &path,
                                       std::vector<StreamedTensor> tensors);

  /// The next rows of a tensor, row-major.
  Status append(size_t tensor, std::span<const uint8_t> rows);
  /// All rows must be there.
  Status finish();

private:
  TensorStream(GrowingFile file, std::vector<StreamedTensor> tensors)
      : file(std::move(file)), tensors(std::move(tensors)) {}

  GrowingFile file;
  std::vector<StreamedTensor> tensors;
  std::vector<uint64_t> next, end; ///< offsets in the file, by tensor
};

/// The header of a NumPy file of version 1, its length a multiple of 64.
std::string npyHeader(fb::DType dtype, const std::vector<uint64_t> &shape);

} // namespace dlrt

#endif
