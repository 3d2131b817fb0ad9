#pragma once
// Discrete Fourier transforms as products with a table of cosines and sines, in
// full precision. Long ones of n = n1 n2 elements are products with tables of
// n1 and of n2, and a factor for each element in between; the second of these
// is done in two steps again where it is long itself. Cooley and Tukey, "An
// Algorithm for the Machine Calculation of Complex Fourier Series", 1965; as
// products of matrices, Bailey, "FFTs in External or Hierarchical Memory",
// 1990.
#include "complex.h"

namespace dl::fft::detail {
using namespace dl::detail;

/// The sign of the exponent.
enum Direction { Forward = -1, Inverse = 1 };

/// cos and sin of 2 pi row column / n.
struct Table {
  Tensor cos, sin;
  Table(i64 rows, i64 columns, i64 n, double scale = 1) {
    Tensor turns = (arange(rows).unsqueeze(1) * arange(columns)).remainder(n);
    // From -1/2 to 1/2 of a turn, in two parts: a factor that is rounded would
    // be off in one direction for all.
    Tensor part = where(turns.gt(n / 2), turns - n, turns).to(kFloat) /
                  static_cast<double>(n);
    Tensor angle = part * 6.28125 + part * 0.0019353071795864769;
    cos = angle.cos();
    sin = where((turns * 2).remainder(n).eq(0), 0.0, angle.sin());
    if (scale != 1)
      cos = cos * scale, sin = sin * scale;
  }
};

/// Dims by letters, of which `dim` is called so: two letters are two dims in
/// its place.
inline Labels letters(int rank, int dim, const char *called) {
  Labels labels;
  char name[2] = "A";
  for (int i = 0; i < rank; ++i, ++name[0])
    labels = labels + (i == dim ? called : name);
  return labels;
}

/// A complex tensor, or a real one: without `imag`.
struct Parts {
  Tensor real, imag;
};

/// The sum over a dim of x e^(direction i angle), or the real part of it alone.
inline Parts turned(const Parts &x, const Labels &in_x, const Table &table,
                    const char *in_table, const Labels &in_result,
                    Direction direction, bool real_alone = false) {
  auto product = [&](const Tensor &a, const Tensor &b) {
    return contract(a, in_x, b, in_table, in_result, true);
  };
  Tensor sin = direction == Forward ? -table.sin : table.sin;
  Parts y{product(x.real, table.cos), {}};
  if (!real_alone)
    y.imag = product(x.real, sin);
  if (!x.imag.defined())
    return y;
  y.real = y.real - product(x.imag, sin);
  if (!real_alone)
    y.imag = y.imag + product(x.imag, table.cos);
  return y;
}

/// From so many elements on there are three steps.
inline constexpr i64 kThreeSteps = 4096;

/// The greatest factor up to the root of n, where two steps are less work, or
/// up to about its third root.
inline i64 first_factor(i64 n) {
  i64 best = 1;
  for (i64 i = 2; i * i <= n && (n < kThreeSteps || i * i * i <= 2 * n); ++i)
    if (n % i == 0)
      best = i;
  return best + n / best <= n / 8 ? best : 1;
}

/// The first n elements, or zeros behind them.
inline Tensor resized(const Tensor &x, int dim, i64 n) {
  i64 size = x.size(dim);
  if (n <= size)
    return n == size ? x : x.narrow(dim, 0, n);
  Shape padding;
  for (int i = x.dim() - 1; i > dim; --i)
    padding.push_back(0), padding.push_back(0);
  padding.push_back(0), padding.push_back(n - size);
  return nn::functional::pad(x, padding);
}

/// Of n1 n2 factors: element [k1, j2], with ones for the dims around.
inline Parts between_steps(const Parts &x, int dim, i64 n1, i64 n2,
                           Direction direction) {
  Table table(n1, n2, n1 * n2);
  Shape shape;
  for (int i = 0; i < x.real.dim(); ++i)
    shape.push_back(i == dim ? n1 : i == dim + 1 ? n2 : 1);
  Tensor cos = table.cos.reshape(shape), sin = table.sin.reshape(shape);
  sin = direction == Forward ? -sin : sin;
  return {x.real * cos - x.imag * sin, x.real * sin + x.imag * cos};
}

/// Another shape of a dim: two in its place, or one in place of two.
inline Parts reshaped(const Parts &x, int dim, int count, list<i64> sizes) {
  Shape shape;
  for (int i = 0; i < x.real.dim(); ++i) {
    for (i64 size : sizes)
      if (i == dim)
        shape.push_back(size);
    if (i < dim || i >= dim + count)
      shape.push_back(x.real.size(i));
  }
  Parts y{x.real.reshape(shape), {}};
  if (x.imag.defined())
    y.imag = x.imag.reshape(shape);
  return y;
}

/// A dim and the next one change places.
inline Parts swapped(const Parts &x, int dim) {
  return {x.real.transpose(dim, dim + 1), x.imag.transpose(dim, dim + 1)};
}

/// Tables are of all pairs of elements: up to so many bytes are no question.
inline void require_factors(const char *what, i64 n) {
  i64 longest = n;
  while (first_factor(longest) > 1)
    longest /= first_factor(longest);
  if (longest > 8192)
    fail("{}: of {} elements, whose factors are {} and {}: in this version the "
         "greater one is at most 8192; more zeros behind them, .n = ..., make "
         "a number with smaller factors",
         what, n, n / longest, longest);
}

/// The first `wanted` numbers of the transform.
inline Parts transform(Parts x, int dim, i64 wanted, Direction direction,
                       double scale) {
  int rank = x.real.dim();
  i64 n = x.real.size(dim), n1 = first_factor(n), n2 = n / n1;
  auto dims = [&](const char *called) { return letters(rank, dim, called); };
  if (n1 == 1)
    return turned(x, dims("j"), Table(n, wanted, n, scale), "jk", dims("k"),
                  direction);
  // Of element j1 n2 + j2 to number k1 + n1 k2.
  i64 most = (wanted + n1 - 1) / n1;
  x = reshaped(x, dim, 1, {n1, n2});
  x = turned(x, dims("jJ"), Table(n1, n1, n1, scale), "jk", dims("kJ"),
             direction);
  x = between_steps(x, dim, n1, n2, direction);
  if (first_factor(n2) == 1)
    x = turned(x, dims("kJ"), Table(n2, most, n2), "JK", dims("Kk"), direction);
  else
    x = swapped(transform(x, dim + 1, most, direction, 1), dim);
  x = reshaped(x, dim, 2, {most * n1});
  return {x.real.narrow(dim, 0, wanted), x.imag.narrow(dim, 0, wanted)};
}

/// Of the first n / 2 + 1 numbers of a real tensor's transform: it. The steps
/// of transform(), the other way round.
inline Tensor real_inverse(Parts x, int dim, i64 n, double scale) {
  int rank = x.real.dim();
  i64 given = x.real.size(dim), n1 = first_factor(n), n2 = n / n1;
  auto dims = [&](const char *called) { return letters(rank, dim, called); };
  // Numbers from n / 2 + 1 on are the conjugates of these.
  Tensor k = arange(given);
  Tensor once = k.eq(0).logical_or(k.eq(n - k));
  Shape shape;
  for (int i = 0; i < rank; ++i)
    shape.push_back(i == dim ? given : 1);
  Tensor times = where(once, 1.0, 2.0).reshape(shape);
  x = {x.real * times, x.imag * times};
  if (n1 == 1)
    return turned(x, dims("k"), Table(given, n, n, scale), "kj", dims("j"),
                  Inverse, true)
        .real;
  i64 most = (given + n1 - 1) / n1;
  x = {resized(x.real, dim, most * n1), resized(x.imag, dim, most * n1)};
  x = reshaped(x, dim, 1, {most, n1});
  if (first_factor(n2) == 1)
    x = turned(x, dims("Kk"), Table(most, n2, n2), "KJ", dims("kJ"), Inverse);
  else
    x = swapped(transform({resized(x.real, dim, n2), resized(x.imag, dim, n2)},
                          dim, n2, Inverse, 1),
                dim);
  x = between_steps(x, dim, n1, n2, Inverse);
  x = turned(x, dims("kJ"), Table(n1, n1, n1, scale), "kj", dims("jJ"), Inverse,
             true);
  return reshaped(x, dim, 2, {n}).real;
}

} // namespace dl::fft::detail
