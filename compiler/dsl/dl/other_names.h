#pragma once
// Second names that PyTorch has for a function.
#include "tensordot.h"

namespace dl {

inline Shape Tensor::size() const { return sizes(); }
inline Tensor Tensor::fliplr() const { return flip({1}); }
inline Tensor Tensor::flipud() const { return flip({0}); }
inline Tensor Tensor::swapdims(i64 a, i64 b) const { return transpose(a, b); }
inline Tensor Tensor::reshape_as(Tensor other) const {
  return reshape(other.sizes());
}
inline Tensor Tensor::vdot(Tensor other) const { return dot(other); }
inline Tensor fliplr(Tensor x) { return x.fliplr(); }
inline Tensor flipud(Tensor x) { return x.flipud(); }
inline Tensor swapdims(Tensor x, i64 a, i64 b) { return x.swapdims(a, b); }
inline Tensor vdot(Tensor a, Tensor b) { return a.vdot(b); }

} // namespace dl
