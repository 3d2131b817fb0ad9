// Functions of kernels/*.mlir, what they are called with and what is expected
// of their results. For every target.
#pragma once

#include "dialects/graph/Evaluate.h"
#include "mlir/IR/BuiltinOps.h"
#include <random>
#include <string>
#include <vector>

namespace dl::test {

struct KernelCase {
  std::string file, function;
  std::string name() const; ///< of its test
};
std::vector<KernelCase> allKernelCases();

graph::HostTensor randomTensor(mlir::RankedTensorType type,
                               std::mt19937 &random);

/// As elements lie in memory.
size_t elementBytes(mlir::RankedTensorType type);
std::vector<char> bytesOf(const graph::HostTensor &tensor);
std::vector<double> elementsOf(mlir::RankedTensorType type, const char *memory);

/// Fails where `got` is not what the reference evaluation says, up to this part
/// of the largest number; 0: what the type's rounding needs.
void expectEqual(const std::vector<double> &got, const graph::HostTensor &want,
                 const std::string &what, double tolerance = 0);
/// The same bits, but for those of NaN.
bool equalBits(const std::vector<double> &x, const std::vector<double> &y);

} // namespace dl::test
