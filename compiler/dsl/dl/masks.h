#pragma once
// Elements that a mask chooses, and masks that change in place.
#include "bitwise.h"
#include "in_place.h"
#include "scans.h"

namespace dl {

/// x with the elements of `source`, one after the other, where the mask says;
/// it broadcasts to x. There have to be as many.
inline Tensor Tensor::masked_scatter(Tensor mask, Tensor source) const {
  detail::Called called("masked_scatter");
  if (mask.dtype() != kBool)
    detail::fail("masked_scatter: the mask holds numbers; booleans are wanted");
  if (source.dtype() != dtype())
    detail::fail("masked_scatter: the tensor and the source have different "
                 "dtypes; use .to(x.dtype())");
  i64 count = source.numel();
  Tensor chosen = mask.expand(sizes());
  Tensor place = chosen.reshape(-1).to(kInt64).cumsum(0).sub(1).clamp_min(0);
  const dl_text texts[] = {detail::Text(count)};
  detail::flag_indices(place, count,
                       "masked_scatter: the mask chooses more elements than "
                       "the {} of source",
                       texts, 1);
  return dl::where(chosen,
                   detail::rows(source.reshape(-1), 0, place).reshape(sizes()),
                   *this);
}
inline Tensor Tensor::masked_scatter_(Tensor mask, Tensor source) const {
  return copy_(masked_scatter(mask, source));
}
inline Tensor masked_scatter(Tensor x, Tensor mask, Tensor source) {
  return x.masked_scatter(mask, source);
}

#define DL_METHOD(sign, op)                                                    \
  inline Tensor &Tensor::operator sign(const Operand &other) & {               \
    detail::in_place("operator" #sign, *this, *this op other);                 \
    return *this;                                                              \
  }                                                                            \
  inline void Tensor::operator sign(const Operand &other) && {                 \
    dl_copied_part(id, DL_COPIED_ASSIGNED);                                    \
    detail::in_place("operator" #sign, *this, *this op other);                 \
  }
DL_METHOD(&=, &)
DL_METHOD(|=, |)
DL_METHOD(^=, ^)
#undef DL_METHOD

} // namespace dl
