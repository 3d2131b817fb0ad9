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
/// only one of the three has is of size 1.
inline Tensor contract(const Tensor &a, const Labels &in_a, const Tensor &b,
                       const Labels &in_b, const Labels &in_result) {
  char spec[6 * Shape::kMaxRank + 4]{};
  char *end = spec;
  auto append = [&](const char *text) {
    while (*text)
      *end++ = *text++;
  };
  append(in_a.text), append(","), append(in_b.text), append("->");
  append(in_result.text);
  return emit("matmul", a, b, {{"spec", static_cast<const char *>(spec)}});
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

namespace detail {

/// An equation of einsum, and what is wrong with it.
struct Equation {
  const char *text;
  Labels operands[2], result;

  explicit Equation(const char *text) : text(text) {
    if (!text)
      fail("einsum: the equation is null");
    const char *at = text;
    read(operands[0], at);
    if (*at != ',')
      wrong("names 1 operand, got 2");
    read(operands[1], ++at);
    if (*at == ',')
      wrong("names more than the 2 operands that there may be");
    if (!*at) {
      implicit();
      return;
    }
    read(result, at += 2);
    if (*at)
      wrong("goes on behind the result");
    for (const char *label = result.text; *label; ++label)
      if (!operands[0].has(*label) && !operands[1].has(*label))
        wrong("names '{}' in the result, which neither operand has", *label);
  }

  template <class... Args>
  [[noreturn]] void wrong(const char *problem, const Args &...arguments) const {
    char format[128] = "einsum: \"{}\" ";
    char *end = format;
    while (*end)
      ++end;
    while (*problem)
      *end++ = *problem++;
    fail(format, text, printed(arguments)...);
  }

  /// A letter that the equation does not have.
  char unused() const {
    for (char label = 'A'; label <= 'z'; ++label)
      if (isLetter(label) && !operands[0].has(label) &&
          !operands[1].has(label) && !result.has(label))
        return label;
    wrong("has too many names");
  }

private:
  struct Letter {
    char text[2]{};
    operator const char *() const { return text; }
  };
  static Letter printed(char label) { return {{label, 0}}; }
  template <class T> static const T &printed(const T &value) { return value; }
  static bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  void read(Labels &labels, const char *&at) {
    for (;; ++at) {
      if (*at == ' ')
        continue;
      if (!*at || *at == ',' || (at[0] == '-' && at[1] == '>'))
        return;
      if (*at == '.')
        unsupported("einsum: \"{}\": an ellipsis is not in this version; name "
                    "the dims",
                    text);
      if (!isLetter(*at))
        wrong("has '{}', which is no letter", *at);
      if (labels.has(*at) && &labels == &result)
        wrong("names '{}' twice in the result", *at);
      if (labels.has(*at))
        unsupported("einsum: \"{}\" names two dims of one operand '{}': "
                    "diagonals are not in this version",
                    text, printed(*at));
      labels.add(*at);
    }
  }

  /// Without "->": what only one operand has, in alphabetical order.
  void implicit() {
    for (char label = 'A'; label <= 'z'; ++label)
      if (operands[0].has(label) != operands[1].has(label))
        result.add(label);
  }
};

} // namespace detail

/// torch.einsum of two operands: "bthd,bshd->bhts".
inline Tensor einsum(const char *equation, Tensor a, Tensor b) {
  detail::Called called("einsum");
  detail::Equation names(equation);
  Tensor operands[] = {a, b};
  for (int i = 0; i < 2; ++i)
    if (Shape shape = operands[i].sizes();
        shape.rank != names.operands[i].count)
      names.wrong("names {} dims of operand {}, which is {}",
                  names.operands[i].count, i, shape);
  detail::Labels used[] = {names.operands[0], names.operands[1]};
  for (int i = 0; i < used[0].count; ++i) {
    char label = used[0].text[i];
    int j = names.operands[1].find(label);
    i64 da = a.size(i), db = j < 0 ? da : b.size(j);
    if (da == db)
      continue;
    if (da != 1 && db != 1)
      names.wrong("has '{}', which is {} in {} and {} in {}", label, da,
                  a.sizes(), db, b.sizes());
    // Repeated for the other operand's: a name of its own.
    char &repeated = da == 1 ? used[0].text[i] : used[1].text[j];
    repeated = names.unused();
    (da == 1 ? names.operands[0] : names.operands[1]).add(repeated);
  }
  // What only one operand has and the result has not is summed first.
  for (int i = 0; i < 2; ++i) {
    Shape shape = operands[i].sizes(), dims;
    detail::Labels kept;
    for (int d = 0; d < shape.rank; ++d) {
      char label = used[i].text[d];
      bool alone = !used[1 - i].has(label) && !names.result.has(label);
      if (alone && shape[d] != 1)
        dims.push_back(d);
      else
        kept.add(label);
    }
    if (dims.rank)
      operands[i] = operands[i].sum(dims);
    used[i] = kept;
  }
  return detail::contract(operands[0], used[0], operands[1], used[1],
                          names.result);
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
