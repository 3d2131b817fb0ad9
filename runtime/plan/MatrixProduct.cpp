#include "runtime/plan/MatrixProduct.h"

#include "runtime/plan/DTypes.h"

#include <fmt/format.h>

using namespace dlrt;

std::array<MatrixShape, 4> dlrt::storedShapes(const fb::MultiplyT &product) {
  std::array<MatrixShape, 4> shapes = {{{product.m, product.k},
                                        {product.k, product.n},
                                        {product.m, product.n},
                                        {product.m, product.n}}};
  for (size_t i = 0; i < product.matrices.size(); ++i)
    if (product.matrices[i].transposed())
      std::swap(shapes[i].rows, shapes[i].columns);
  return shapes;
}

std::string_view dlrt::nameOf(fb::Arithmetic arithmetic) {
  constexpr std::string_view names[] = {"f32", "tf32", "f64", "bf16",
                                        "bf16 to f32"};
  return names[static_cast<size_t>(arithmetic)];
}

fb::DType dlrt::elementOf(fb::Arithmetic arithmetic, size_t which) {
  switch (arithmetic) {
  case fb::Arithmetic::F64:
    return fb::DType::F64;
  case fb::Arithmetic::BF16:
    return fb::DType::BF16;
  case fb::Arithmetic::BF16ToF32:
    return which < 2 ? fb::DType::BF16 : fb::DType::F32;
  case fb::Arithmetic::F32:
  case fb::Arithmetic::TF32:
    break;
  }
  return fb::DType::F32;
}

uint64_t dlrt::offsetOf(const fb::MultiplyT &product, size_t which) {
  return product.matrices[which].offset() *
         sizeOf(elementOf(product.arithmetic, which));
}

/// Behind the last element, counted in elements; false if that is no number.
static bool elementsOf(const fb::MatrixPlace &matrix, const MatrixShape &shape,
                       uint64_t batch, uint64_t &elements) {
  uint64_t rows, batches;
  return !__builtin_mul_overflow(shape.rows - 1, matrix.stride(), &rows) &&
         !__builtin_mul_overflow(batch - 1, matrix.batch_stride(), &batches) &&
         !__builtin_add_overflow(rows, batches, &elements) &&
         !__builtin_add_overflow(elements, matrix.offset(), &elements) &&
         !__builtin_add_overflow(elements, shape.columns, &elements);
}

/// Each element of the result has a place of its own: matrices stand one behind
/// the other, or rows of all of them within a row.
static bool areApart(const fb::MatrixPlace &d, const MatrixShape &shape,
                     uint64_t batch) {
  return batch == 1 ||
         d.batch_stride() >= (shape.rows - 1) * d.stride() + shape.columns ||
         (d.batch_stride() >= shape.columns &&
          (shape.rows == 1 ||
           d.stride() >= (batch - 1) * d.batch_stride() + shape.columns));
}

std::string dlrt::checkProduct(const fb::MultiplyT &product,
                               const fb::KernelT &kernel) {
  constexpr uint64_t most = (uint64_t(1) << 31) - 1; // as libraries count
  if (product.arithmetic > fb::Arithmetic::MAX)
    return "unknown arithmetic";
  for (uint64_t extent : {product.batch, product.m, product.n, product.k})
    if (extent == 0 || extent > most)
      return fmt::format("it multiplies {} times {}x{} and {}x{}",
                         product.batch, product.m, product.k, product.k,
                         product.n);
  if (product.matrices.size() != 3 && product.matrices.size() != 4)
    return fmt::format("it has {} matrices", product.matrices.size());
  bool isNarrow = product.arithmetic == fb::Arithmetic::BF16;
  if (isNarrow && (product.matrices.size() > 3 || product.bias != -1))
    return "something is added to a result that is rounded to bf16";
  std::array<MatrixShape, 4> shapes = storedShapes(product);
  for (size_t i = 0; i < product.matrices.size(); ++i) {
    const fb::MatrixPlace &matrix = product.matrices[i];
    uint64_t each = sizeOf(elementOf(product.arithmetic, i));
    std::string_view name = std::string_view("abdc").substr(i, 1);
    bool isResult = i == 2;
    uint64_t binding = matrix.binding(), elements;
    if (binding >= kernel.writes.size() || kernel.writes[binding] != isResult)
      return fmt::format("matrix {} is not what its launch {}", name,
                         isResult ? "writes" : "reads");
    if (i >= 2 && matrix.transposed())
      return isResult ? "its result is transposed"
                      : "what is added to it is transposed";
    if (matrix.stride() < shapes[i].columns || matrix.stride() > most)
      return fmt::format("rows of {} elements of matrix {} are {} apart",
                         shapes[i].columns, name, matrix.stride());
    if (!elementsOf(matrix, shapes[i], product.batch, elements) ||
        elements > kernel.binding_bytes[binding] / each)
      return fmt::format("matrix {} leaves the {} bytes of binding {}", name,
                         kernel.binding_bytes[binding], binding);
    if (kernel.binding_aligns[binding] % each != 0)
      return fmt::format("matrix {} does not begin at an element", name);
  }
  if (!areApart(product.matrices[2], shapes[2], product.batch))
    return "matrices of its result share bytes";
  if (product.bias != -1) {
    auto binding = static_cast<uint32_t>(product.bias);
    uint64_t each = sizeOf(elementOf(product.arithmetic, 4));
    if (binding >= kernel.writes.size() || kernel.writes[binding])
      return "its bias is not what its launch reads";
    if (kernel.binding_bytes[binding] / each < product.n ||
        kernel.binding_aligns[binding] % each != 0)
      return fmt::format("its bias of {} numbers is not in the {} bytes of "
                         "binding {}",
                         product.n, kernel.binding_bytes[binding], binding);
    if (product.arithmetic == fb::Arithmetic::F64)
      return "no library adds a bias in f64";
  }
  return {};
}
