// Instances of every op for the tests of sharding rules, with values that are
// exact in sums and products.
#pragma once

#include "dialects/graph/HostTensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace dl::test {

enum class Domain {
  Quarters,  ///< multiples of 1/4 in [-3, 3]; whole numbers for integers
  Positive,  ///< multiples of 1/4 in [1/4, 4]
  Powers,    ///< what divides exactly: +-1/2, +-1, +-2, +-4
  Positions, ///< 0 to 3
  Rare,      ///< 0 to 2, and now and then 4
  Scalars,   ///< the step's scalars
};

struct ShardingCase {
  std::string op;
  std::vector<std::string> operands;
  std::string attributes = "{}";
  /// Of the operands; missing ones are Quarters.
  std::vector<Domain> domains = {};
};

std::string caseText(const ShardingCase &shardingCase);

/// All cases of all ops of the dialect: those listed here, and for ops that
/// take one, two or three tensors and no attributes, made ones. Ops that have
/// neither, and are not among the ops without a rule, are named in `missing`.
std::vector<ShardingCase> shardingCases(mlir::MLIRContext &context,
                                        std::vector<std::string> &missing);

/// Ops that never meet a partitioner, and have no case.
const std::set<std::string> &opsWithoutRule();

/// The op alone in a block of `scratch`; null, with the error emitted, if the
/// case is wrong.
mlir::Operation *createCase(mlir::MLIRContext &context,
                            const ShardingCase &shardingCase,
                            mlir::Block &scratch);

/// How many random values tell right from wrong: more where a result says
/// little.
int trialsFor(mlir::Operation *op);

/// Values for the operands.
llvm::SmallVector<graph::HostTensor>
caseValues(const ShardingCase &shardingCase, mlir::Operation *op,
           std::mt19937 &random);
/// Small values of any sign, whole for integers.
graph::HostTensor smallValues(mlir::Type type, std::mt19937 &random);

} // namespace dl::test
