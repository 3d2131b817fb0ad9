#pragma once
// Products of matrices and of any other dims. All of them are one op, whose
// dims have names: see detail::contract.
#include "reductions.h"

namespace dl {

namespace detail {

/// The names of a tensor's dims, one letter each.
struct Labels {
  char text[2 * Shape::kMaxRank + 1]{};
  int count = 0;

  Labels(const char *labels = "") {
    while (*labels)
      add(*labels++);
  }
  void add(char label) {
    if (count == 2 * Shape::kMaxRank)
      fail("a tensor has at most {} dimensions", Shape::kMaxRank);
    text[count++] = label;
  }
  /// The position, or -1.
  int find(char label) const {
    for (int i = 0; i < count; ++i)
      if (text[i] == label)
        return i;
    return -1;
  }
  bool has(char label) const { return find(label) >= 0; }
};
inline Labels operator+(Labels labels, const char *more) {
  while (*more)
    labels.add(*more++);
  return labels;
}

/// The sum over all dims that a and b have and the result has not. A dim that
/// only one of the three has is of size 1. In full precision nothing is rounded
/// to bf16 or tf32.
inline Tensor contract(const Tensor &a, const Labels &in_a, const Tensor &b,
                       const Labels &in_b, const Labels &in_result,
                       bool full_precision = false) {
  char spec[6 * Shape::kMaxRank + 4]{};
  char *end = spec;
  auto append = [&](const char *text) {
    while (*text)
      *end++ = *text++;
  };
  append(in_a.text), append(","), append(in_b.text), append("->");
  append(in_result.text);
  return emit("matmul", a, b,
              {{"spec", static_cast<const char *>(spec)},
               {"full_precision", full_precision}});
}

} // namespace detail

namespace detail {
/// Integers are exact in sums of products as they are, [...,m,k,n].
inline Tensor product_of_integers(Tensor a, Tensor b) {
  DType dtype = a.dtype();
  if (dtype == kBool)
    fail("matmul: needs numbers, got booleans; use .to(dl::kInt64)");
  bool row = a.dim() == 1, column = b.dim() == 1;
  a = row ? a.unsqueeze(0) : a;
  b = column ? b.unsqueeze(1) : b;
  Tensor sums = (a.unsqueeze(-1) * b.unsqueeze(-3)).sum(-2).to(dtype);
  sums = column ? sums.squeeze(-1) : sums;
  return row ? sums.squeeze(column ? -1 : -2) : sums;
}
} // namespace detail

/// torch.matmul: vectors, matrices, and stacks of matrices whose leading dims
/// are broadcast.
inline Tensor matmul(Tensor a, Tensor b) {
  detail::Called called("matmul");
  Shape sa = a.sizes(), sb = b.sizes();
  if (sa.rank == 0 || sb.rank == 0)
    detail::fail("matmul: {} and {}: both need at least 1 dim", sa, sb);
  if (i64 inner = sb.rank == 1 ? sb[0] : sb[-2]; sa[-1] != inner)
    detail::fail("matmul: {} and {} do not fit: the left one has {} columns, "
                 "the right one {} rows",
                 sa, sb, sa[-1], inner);
  if (!a.is_floating_point() && a.dtype() == b.dtype())
    return detail::product_of_integers(a, b);
  if (!a.is_floating_point() && !b.is_floating_point())
    detail::fail("matmul: the two have integers of different dtypes; use "
                 "a.to(b.dtype())");
  // A dim of size 1 beside a larger one has a name of its own.
  detail::Labels left, right, result;
  int rank = (sa.rank > sb.rank ? sa.rank : sb.rank) - 2;
  for (int i = 0; i < rank; ++i) {
    int ia = i - (rank - (sa.rank - 2)), ib = i - (rank - (sb.rank - 2));
    i64 da = ia < 0 ? 1 : sa[ia], db = ib < 0 ? 1 : sb[ib];
    if (da != db && da != 1 && db != 1)
      detail::fail("matmul: {} and {} do not fit: {} and {} matrices cannot be "
                   "broadcast",
                   sa, sb, da, db);
    if (ia >= 0)
      left.add(da < db ? 'A' + i : 'a' + i);
    if (ib >= 0)
      right.add(db < da ? 'A' + i : 'a' + i);
    result.add('a' + i);
  }
  if (sa.rank > 1)
    left.add('m'), result.add('m');
  if (sb.rank > 1)
    result.add('n');
  return detail::contract(a, left + "k", b, right + (sb.rank > 1 ? "kn" : "k"),
                          result);
}

inline Tensor Tensor::matmul(Tensor other) const {
  return dl::matmul(*this, other);
}
inline Tensor Tensor::mm(Tensor other) const {
  detail::Called called("mm");
  return matmul(other);
}
inline Tensor Tensor::bmm(Tensor other) const {
  detail::Called called("bmm");
  return matmul(other);
}
inline Tensor mm(Tensor a, Tensor b) { return a.mm(b); }
inline Tensor bmm(Tensor a, Tensor b) { return a.bmm(b); }

} // namespace dl
