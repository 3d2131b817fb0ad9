#pragma once
// Ops in place, as PyTorch's: x.add_(y), x += y, x[0] = y. The tensor stands
// for the result from here on, and with it what it is a view of: index(),
// narrow(), view(), transpose() and the like give views.
//
//   auto pe = dl::zeros({length, dim});
//   pe[dl::Slice(), dl::Slice(0, dl::None, 2)] = dl::sin(position * factor);
//
// A parameter's part is set outside of steps, too: it begins so.
//
//   cell.bias_hh.data().narrow(0, hidden, hidden).fill_(1);
#include "math.h"
#include "scatter.h"

namespace dl {

namespace detail {

/// x stands for the result, in its dtype.
inline Tensor in_place(const char *what, const Tensor &x, Tensor result) {
  DType dtype = x.dtype();
  if (result.sizes() != x.sizes())
    fail("{}: a tensor {} cannot hold a result {}", what, x.sizes(),
         result.sizes());
  if (result.is_floating_point() && !x.is_floating_point())
    fail("{}: a tensor of whole numbers cannot hold fractions; make it one of "
         "floats, or write x = ...",
         what);
  if (dtype == kBool && result.dtype() != kBool)
    fail("{}: a tensor of booleans cannot hold numbers; make it one of "
         "numbers, or write x = ...",
         what);
  result = result.to(dtype);
  dl_become(x.id, result.id);
  return x;
}

/// The value for all elements of x, in its dtype.
inline Tensor filling(const char *what, const Tensor &x, const Operand &value) {
  if (value.kind != DL_PROMOTED)
    return full(x.sizes(), value, x.dtype());
  Tensor source;
  source.id = value.tensor;
  Shape from = source.sizes(), to = x.sizes();
  if (from.rank > to.rank && from.numel() == 1) {
    source = source.reshape(Shape());
    from = Shape();
  }
  bool fits = from.rank <= to.rank;
  for (int i = 1; fits && i <= from.rank; ++i)
    fits = from[from.rank - i] == 1 || from[from.rank - i] == to[to.rank - i];
  if (!fits)
    fail("{}: a tensor {} cannot hold {}", what, to, from);
  return source.to(x.dtype()).expand(to);
}

} // namespace detail

#define DL_METHOD(op, declared, given)                                         \
  inline Tensor Tensor::op##_ declared const {                                 \
    detail::Called called(#op "_");                                            \
    return detail::in_place(#op "_", *this, op given);                         \
  }
#define DL_UNARY(op) DL_METHOD(op, (), ())
DL_IN_PLACE_OPS(DL_METHOD)
DL_UNARY_IN_PLACE_OPS(DL_UNARY)
#undef DL_UNARY
#undef DL_METHOD

inline Tensor Tensor::addcmul_(Tensor a, Tensor b, ScaledOptions o) const {
  return detail::in_place("addcmul_", *this, dl::addcmul(*this, a, b, o));
}
inline Tensor Tensor::addcdiv_(Tensor a, Tensor b, ScaledOptions o) const {
  return detail::in_place("addcdiv_", *this, dl::addcdiv(*this, a, b, o));
}
inline Tensor Tensor::fill_(const Operand &value) const {
  detail::Called called("fill_");
  return detail::in_place("fill_", *this,
                          detail::filling("fill_", *this, value));
}
inline Tensor Tensor::zero_() const { return fill_(0); }
inline Tensor Tensor::renorm_(double p, i64 dim, double maxnorm) const {
  return detail::in_place("renorm_", *this, renorm(p, dim, maxnorm));
}
inline Tensor Tensor::copy_(const Tensor &source) const {
  detail::Called called("copy_");
  return detail::in_place("copy_", *this,
                          detail::filling("copy_", *this, source));
}
namespace detail {
/// Outside of steps, of a state or a part of one: what it begins with.
inline bool begins(const Tensor &x, dl_initial_kind kind, double a, double b) {
  if (dl_in_step() || !dl_is_state(x.id))
    return false;
  dl_parameter_initial(x.id, kind, a, b, 0, 0);
  return true;
}
} // namespace detail
inline Tensor Tensor::uniform_(double from, double to) const {
  detail::Called called("uniform_");
  if (detail::begins(*this, DL_UNIFORM, from, to))
    return *this;
  return detail::in_place("uniform_", *this,
                          rand_like(*this) * (to - from) + from);
}
inline Tensor Tensor::bernoulli_(Tensor p) const {
  detail::Called called("bernoulli_");
  return detail::in_place("bernoulli_", *this,
                          rand_like(*this).lt(p).to(dtype()));
}
inline Tensor Tensor::bernoulli_(double p) const {
  detail::Called called("bernoulli_");
  if (!(p >= 0 && p <= 1))
    detail::fail("bernoulli_: p = {}; from 0 to 1 is wanted", p);
  return bernoulli_(full({}, p));
}
inline Tensor Tensor::normal_(double mean, double std) const {
  detail::Called called("normal_");
  if (!(std >= 0))
    detail::fail("normal_: the standard deviation is {}", std);
  if (detail::begins(*this, DL_NORMAL, mean, std))
    return *this;
  return detail::in_place("normal_", *this, randn_like(*this) * std + mean);
}

inline void Tensor::operator=(const Operand &value) && {
  detail::Called called("assignment");
  if (id <= DL_NO_GRADIENT) { // w.grad() = value; of a loss's own making
    Tensor parameter;
    parameter.id = DL_NO_GRADIENT - id;
    Tensor gradient = detail::filling("grad", parameter, value);
    dl_set_grad(parameter.id, gradient.id);
    return;
  }
  dl_copied_part(id, DL_COPIED_ASSIGNED);
  Operand given = value;
  if (value.kind == DL_PROMOTED) { // without dims of one element in front
    Tensor source;
    source.id = value.tensor;
    Shape from = source.sizes(), shape;
    int extra = from.rank - dim();
    for (int i = 0; i < from.rank; ++i)
      if (i >= extra || from[i] != 1)
        shape.push_back(from[i]);
    if (extra > 0)
      given = source.reshape(shape);
  }
  detail::in_place("assignment", *this,
                   detail::filling("assignment", *this, given));
}
#define DL_METHOD(sign, op)                                                    \
  inline Tensor &Tensor::operator sign(const Operand &other) & {               \
    op##_(other);                                                              \
    return *this;                                                              \
  }                                                                            \
  inline void Tensor::operator sign(const Operand &other) && {                 \
    dl_copied_part(id, DL_COPIED_ASSIGNED);                                    \
    op##_(other);                                                              \
  }
DL_METHOD(+=, add)
DL_METHOD(-=, sub)
DL_METHOD(*=, mul)
DL_METHOD(/=, div)
#undef DL_METHOD

/// x with the slices of `source` where the list of indices says, the last one
/// of those for one place.
inline Tensor Tensor::index_copy(i64 dim, Tensor index, Tensor source) const {
  detail::Called called("index_copy");
  Shape from = sizes(), expected = from;
  int at = static_cast<int>(detail::wrap("index_copy", dim, from.rank, from));
  expected[at] = index.numel();
  if (from.rank == 0 || index.dim() > 1 || source.sizes() != expected)
    detail::fail("index_copy: index {} for dim {} of {} needs a source {}, got "
                 "{}",
                 index.sizes(), dim, from, expected, source.sizes());
  detail::require_dtype("index_copy", *this, source);
  Tensor indices = detail::as_indices("index_copy", index.reshape(-1));
  detail::check_indices("index_copy", indices, from[at]);
  Tensor last = detail::last_named(indices, 0, from[at]);
  Tensor chosen = detail::rows(source, at, last.clamp_min(0));
  return dl::where(detail::along(last, at, from.rank).ge(0), chosen, *this);
}
/// x with the value in the slices that the list of indices names.
inline Tensor Tensor::index_fill(i64 dim, Tensor index,
                                 const Operand &value) const {
  detail::Called called("index_fill");
  Shape from = sizes(), expected = from, flat;
  int at = static_cast<int>(detail::wrap("index_fill", dim, from.rank, from));
  if (from.rank == 0 || index.dim() > 1)
    detail::fail("index_fill: index {} of {}: a list of indices, of one dim, "
                 "and a dim are wanted",
                 index.sizes(), from);
  expected[at] = index.numel();
  for (int i = 0; i < from.rank; ++i)
    flat.push_back(i == at ? index.numel() : 1);
  return scatter(at, index.reshape(flat).expand(expected), value);
}

namespace detail {

/// x with the value where a mask of its first dims says.
inline void put_by_mask(const Tensor &x, Tensor mask, const Operand &value,
                        bool accumulate) {
  Shape from = x.sizes(), shape = mask.sizes();
  for (int i = 0; i < shape.rank; ++i)
    if (shape.rank > from.rank || shape[i] != from[i])
      fail("index_put_: the mask {} does not fit the tensor {}", shape, from);
  Shape rest;
  for (int i = shape.rank; i < from.rank; ++i) {
    rest.push_back(from[i]);
    shape.push_back(1);
  }
  if (value.kind == DL_PROMOTED) {
    Tensor source;
    source.id = value.tensor;
    if (source.dim() > rest.rank && source.numel() > 1)
      unsupported("index_put_: a mask and values {} that would be taken one "
                  "after the other: not in this version; write dl::where(mask, "
                  "values, x), with a value for each element",
                  source.sizes());
  }
  Tensor filled = filling("index_put_", x, value);
  in_place("index_put_", x,
           where(mask.reshape(shape), accumulate ? x.add(filled) : filled, x));
}

} // namespace detail

/// x[indices] = value; of several values for one element the last one stays,
/// but where they accumulate.
inline Tensor Tensor::index_put_(list<Index> indices, const Operand &value,
                                 bool accumulate) const {
  detail::Called called("index_put_");
  if (indices.size() == 1 && indices.begin()->kind == Index::kTensor &&
      indices.begin()->tensor.dtype() == kBool) {
    detail::put_by_mask(*this, indices.begin()->tensor, value, accumulate);
    return *this;
  }
  detail::Chosen chosen;
  Tensor part = detail::part_of(*this, indices, chosen);
  if (chosen.count == 0) {
    Tensor filled = detail::filling("index_put_", part, value);
    detail::in_place("index_put_", part,
                     accumulate ? part.add(filled) : filled);
    return *this;
  }
  detail::Merged merged = detail::merged_dims(part, chosen);
  Shape from = merged.x.sizes(), named = merged.places.sizes(), to, flat;
  for (int i = 0; i < from.rank; ++i) {
    flat.push_back(i == merged.at ? named.numel() : from[i]);
    if (i != merged.at)
      to.push_back(from[i]);
    else
      for (i64 size : named)
        to.push_back(size);
  }
  Tensor values =
      detail::filling("index_put_", zeros(to, dtype()), value).reshape(flat);
  Tensor index = merged.places.reshape(-1);
  Tensor result = accumulate ? merged.x.index_add(merged.at, index, values)
                             : merged.x.index_copy(merged.at, index, values);
  detail::in_place("index_put_", merged.x, result);
  return *this;
}
inline Tensor Tensor::index_put(list<Index> indices, const Operand &value,
                                bool accumulate) const {
  return clone().index_put_(indices, value, accumulate);
}

inline Tensor Tensor::slice_scatter(Tensor src, i64 dim, i64 start, i64 end,
                                    i64 step) const {
  detail::Called called("slice_scatter");
  Tensor result = clone(), part = result.slice(dim, start, end, step);
  if (src.sizes() != part.sizes())
    detail::fail("slice_scatter: src {} for a slice {}", src.sizes(),
                 part.sizes());
  part.copy_(src);
  return result;
}
inline Tensor Tensor::select_scatter(Tensor src, i64 dim, i64 index) const {
  detail::Called called("select_scatter");
  Tensor result = clone(), part = result.select(dim, index);
  if (src.sizes() != part.sizes())
    detail::fail("select_scatter: src {} for a part {}", src.sizes(),
                 part.sizes());
  part.copy_(src);
  return result;
}

} // namespace dl
