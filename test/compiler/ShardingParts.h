// Splitting tensors and putting results together again, written apart from the
// compiler's own idea of parts.
#pragma once

#include "dialects/graph/Evaluate.h"
#include "mlir/IR/MLIRContext.h"
#include <random>

namespace dl::test {

using Tensors = llvm::SmallVector<graph::HostTensor>;

/// Writes ops that compute results from operands; nothing on an error.
using Build =
    llvm::function_ref<mlir::FailureOr<llvm::SmallVector<mlir::Value>>(
        mlir::OpBuilder &, mlir::ValueRange)>;

/// What the ops compute; optimizers are expanded. On an error nothing, and
/// `error` has the diagnostics.
std::optional<Tensors> evaluateBuilt(mlir::MLIRContext &context,
                                     llvm::ArrayRef<graph::HostTensor> operands,
                                     Build build, std::string &error);

/// Block `index` of the `count` blocks of a dim, along one dim after the other.
struct DimBlock {
  int64_t count = 1, index = 0;
  /// Or, where there are some, those whose digits are in such blocks, the
  /// outermost digit first.
  struct Digit {
    int64_t size, count, index;
  };
  std::vector<Digit> digits = {};
};
using Blocks = llvm::SmallVector<DimBlock, 4>;

graph::HostTensor takeBlock(const graph::HostTensor &whole,
                            const Blocks &blocks);

enum class Merge { Same, Sum, Max };

/// A result that parts are added to.
class Gathered {
public:
  explicit Gathered(mlir::Type type);
  /// What does not fit is an error.
  std::string add(const graph::HostTensor &part, const Blocks &blocks,
                  Merge merge);
  /// Empty if each element has come and is the expected one.
  std::string compare(const graph::HostTensor &expected) const;

private:
  graph::HostTensor tensor;
  std::vector<bool> written;
};

/// `count` tensors whose sum or maximum is the whole.
Tensors partialTensors(const graph::HostTensor &whole, Merge merge,
                       int64_t count, std::mt19937 &random);

/// Bit for bit, but for the sign of 0 and for which NaN.
bool sameTensor(const graph::HostTensor &a, const graph::HostTensor &b);

} // namespace dl::test
