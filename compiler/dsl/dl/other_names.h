#pragma once
// Second names that PyTorch has for a function.
#include "order.h"
#include "tensordot.h"
#include "trigonometry.h"

namespace dl {

#define DL_NAME(name, op)                                                      \
  inline Tensor Tensor::name() const { return op(); }                          \
  inline Tensor name(Tensor x) { return x.op(); }
DL_UNARY_NAMES(DL_NAME)
#undef DL_NAME
#define DL_NAME(name, op)                                                      \
  inline Tensor Tensor::name(const Operand &other) const { return op(other); } \
  inline Tensor name(Tensor x, const Operand &other) { return x.op(other); }
DL_BINARY_NAMES(DL_NAME)
#undef DL_NAME

inline Shape Tensor::size() const { return sizes(); }
inline i64 Tensor::nelement() const { return numel(); }
inline i64 Tensor::ndimension() const { return dim(); }
inline Tensor Tensor::fliplr() const { return flip({1}); }
inline Tensor Tensor::flipud() const { return flip({0}); }
inline Tensor Tensor::swapdims(i64 a, i64 b) const { return transpose(a, b); }
inline Tensor Tensor::moveaxis(const Dims &source,
                               const Dims &destination) const {
  return movedim(source, destination);
}
inline Tensor Tensor::moveaxis(i64 source, i64 destination) const {
  return movedim(source, destination);
}
inline Tensor Tensor::reshape_as(Tensor other) const {
  return reshape(other.sizes());
}
inline Tensor Tensor::vdot(Tensor other) const { return dot(other); }
inline Tensor Tensor::msort() const { return sort(0).values; }
inline TensorList Tensor::split_with_sizes(const Shape &sizes, i64 dim) const {
  return split(sizes, dim);
}
/// Of the other one's dtype: there is one device.
inline Tensor Tensor::to(Tensor other) const { return to(other.dtype()); }
inline Tensor fliplr(Tensor x) { return x.fliplr(); }
inline Tensor flipud(Tensor x) { return x.flipud(); }
inline Tensor swapdims(Tensor x, i64 a, i64 b) { return x.swapdims(a, b); }
inline Tensor moveaxis(Tensor x, const Dims &source, const Dims &destination) {
  return x.movedim(source, destination);
}
inline Tensor moveaxis(Tensor x, i64 source, i64 destination) {
  return x.movedim(source, destination);
}
inline Tensor vdot(Tensor a, Tensor b) { return a.vdot(b); }
inline Tensor msort(Tensor x) { return x.msort(); }
inline Tensor concatenate(const TensorList &tensors, i64 dim = 0) {
  return cat(tensors, dim);
}
inline Tensor row_stack(const TensorList &tensors) { return vstack(tensors); }

} // namespace dl
