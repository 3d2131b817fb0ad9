#include "runtime/state/InitialMatrix.h"

#include "runtime/state/Distribution.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace dlrt;

static double product(const double *a, const double *b, size_t count) {
  double sums[4] = {};
  for (size_t i = 0; i < count; ++i)
    sums[i % 4] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Gram and Schmidt's, each row against those before it and, for the sake of
/// rounding, against them again: the Q of a QR decomposition of the columns
/// whose R has a positive diagonal.
static void orthonormalise(std::vector<double> &rows, size_t count,
                           size_t length) {
  for (size_t i = 0; i < count; ++i) {
    double *row = &rows[i * length];
    for (int round = 0; round < 2; ++round)
      for (size_t j = 0; j < i; ++j) {
        const double *before = &rows[j * length];
        double share = product(row, before, length);
        for (size_t k = 0; k < length; ++k)
          row[k] -= share * before[k];
      }
    double size = std::sqrt(product(row, row, length));
    for (size_t k = 0; k < length && size > 0; ++k)
      row[k] /= size;
  }
}

static std::vector<double> orthogonal(const fb::InitT &init, size_t rows,
                                      size_t columns, uint64_t seed) {
  std::vector<double> drawn(rows * columns), values(rows * columns);
  // A tall matrix has orthonormal columns: the rows of its transpose.
  bool tall = rows > columns;
  auto place = [&](size_t row, size_t column) {
    return tall ? column * rows + row : row * columns + column;
  };
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      drawn[place(row, column)] =
          normalElement(seed, init.key, row * columns + column, 0, 1);
  orthonormalise(drawn, tall ? columns : rows, tall ? rows : columns);
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      values[row * columns + column] = init.a * drawn[place(row, column)];
  return values;
}

static std::vector<double> sparse(const fb::InitT &init, size_t rows,
                                  size_t columns, uint64_t seed) {
  std::vector<double> values(rows * columns), order(rows);
  std::vector<size_t> chosen(rows);
  size_t zeros =
      static_cast<size_t>(std::ceil(init.a * static_cast<double>(rows)));
  for (size_t column = 0; column < columns; ++column) {
    for (size_t row = 0; row < rows; ++row) {
      uint64_t index = row * columns + column;
      values[index] = normalElement(seed, init.key, index, 0, init.b);
      order[row] = uniformElement(seed, init.key + 1, index, 0, 1);
    }
    std::iota(chosen.begin(), chosen.end(), 0);
    std::sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) {
      return std::pair(order[a], a) < std::pair(order[b], b);
    });
    for (size_t i = 0; i < zeros && i < rows; ++i)
      values[chosen[i] * columns + column] = 0;
  }
  return values;
}

/// Output channel d of a group is its input channel d, at the kernel's middle.
static std::vector<double> dirac(const fb::InitT &init,
                                 const std::vector<uint64_t> &shape,
                                 size_t rows, size_t columns) {
  std::vector<double> values(rows * columns);
  size_t groups = static_cast<size_t>(init.a), middle = 0, window = 1;
  for (size_t d = 2; d < shape.size(); ++d) {
    middle = middle * shape[d] + shape[d] / 2;
    window *= shape[d];
  }
  size_t outputs = rows / groups,
         channels = std::min<size_t>(outputs, shape[1]);
  for (size_t group = 0; group < groups; ++group)
    for (size_t d = 0; d < channels; ++d)
      values[(group * outputs + d) * columns + d * window + middle] = 1;
  return values;
}

std::vector<double> dlrt::initialMatrix(const fb::InitT &init,
                                        const std::vector<uint64_t> &shape,
                                        uint64_t seed) {
  size_t rows = shape.empty() ? 1 : shape[0], columns = 1;
  for (size_t d = 1; d < shape.size(); ++d)
    columns *= shape[d];
  switch (init.kind) {
  case fb::InitKind::Orthogonal:
    return orthogonal(init, rows, columns, seed);
  case fb::InitKind::Sparse:
    return sparse(init, rows, columns, seed);
  case fb::InitKind::Dirac:
    return dirac(init, shape, rows, columns);
  default:
    return {};
  }
}
