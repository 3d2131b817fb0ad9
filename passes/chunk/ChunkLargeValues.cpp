#include "dialects/graph/Inference.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/chunk/ChunkRegion.h"
#include "passes/chunk/Passes.h"
#include "passes/fuse/StreamedProducts.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_CHUNKLARGEVALUES
#include "passes/chunk/Passes.h.inc"
} // namespace dl

using namespace dl;
using chunk::ChunkRegion;

namespace {

/// The values of one step.
class StepChunks {
public:
  explicit StepChunks(const plan::MachineModel &machine) : machine(machine) {}

  LogicalResult run(graph::StepOp step) {
    for (Operation &op : step.getOps()) {
      lastPart = std::max(lastPart, graph::batchPartOf(op.getLoc()));
      if (isCandidate(&op))
        products.push_back(&op);
    }
    // What is largest is done first: it may be a part of what another one
    // needs.
    llvm::stable_sort(products, [](Operation *a, Operation *b) {
      return bytesOf(a) > bytesOf(b);
    });
    for (size_t i = 0, count = products.size(); i < count; ++i)
      if (!done.contains(products[i]) && failed(chunk(products[i])))
        return failure();
    return success();
  }

private:
  static int64_t bytesOf(Operation *op) {
    return graph::tensorBytes(op->getResult(0).getType());
  }

  /// A large value that a product makes of smaller ones.
  bool isCandidate(Operation *op) const {
    auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
    if (!loops || op->getNumResults() != 1 || graph::isComposite(op) ||
        bytesOf(op) < machine.chunkLeastBytes)
      return false;
    graph::LoopNest nest = loops.getLoopNest();
    return nest.contraction &&
           llvm::all_of(op->getOperands(),
                        [&](Value operand) {
                          return 2 * graph::tensorBytes(operand.getType()) <=
                                 bytesOf(op);
                        }) &&
           !isChained(op, nest);
  }

  /// form-kernels makes one kernel of what is done in slices of the batch, or
  /// rows of them.
  bool isChained(Operation *op, const graph::LoopNest &nest) const {
    int64_t slices = batchItems(nest);
    if (machine.chainRows > 0)
      return slices > 1 &&
             (nest.extents[nest.numParallel - 1] * machine.chainRows *
                      int64_t(sizeof(float)) <=
                  machine.chainScratchBytes ||
              streams(op, machine));
    // Scores, their softmax and two gradients.
    return slices >= machine.minFusedRows &&
           4 * graph::numElements(op->getResult(0)) / slices *
                   int64_t(sizeof(float)) <=
               machine.chainScratchBytes;
  }

  /// The fewest chunks that are small enough, or else those of the fewest rows
  /// that are worth a product; 0: none. Equal ones, unless that takes chunks
  /// of twice the size.
  int64_t countFor(const ChunkRegion &region, Operation *product) const {
    ArrayRef<int64_t> shape = graph::shapeOf(product->getResult(0));
    int64_t rows = graph::numElements(product->getResult(0)) / shape.back();
    int64_t most = (rows + machine.chunkRows / 2) / machine.chunkRows;
    int64_t wanted = std::min<int64_t>(
        most, llvm::divideCeil(bytesOf(product), machine.chunkBytes));
    int64_t equal = 0;
    for (int64_t count = 2; count <= most && equal < wanted; ++count)
      if (region.dividesInto(count) && region.isEqualIn(count))
        equal = count;
    if (2 * equal <= wanted && wanted > 1 && region.dividesInto(wanted))
      return wanted;
    return equal;
  }

  /// Along the outermost dim that gives chunks. What they still have too much
  /// of, two items of long rows, say, is cut along the next one.
  LogicalResult chunk(Operation *product, bool isPart = false) {
    StringRef why; // of the outermost rows
    ArrayRef<int64_t> shape = graph::shapeOf(product->getResult(0));
    for (unsigned dim = 0; dim + 1 < shape.size(); ++dim) {
      if (shape[dim] == 1)
        continue;
      ChunkRegion region(product, dim);
      int64_t count = region.whyNot().empty() ? countFor(region, product) : 0;
      if (count == 0) {
        StringRef reason =
            region.whyNot().empty() ? "its rows are too few" : region.whyNot();
        why = why.empty() ? reason : why;
        continue;
      }
      remark(product) << "are computed in " << count
                      << " chunks, one after the other";
      for (Operation *other : products)
        if (region.contains(other))
          done.insert(other);
      unsigned first = lastPart + 1;
      lastPart += count;
      SmallVector<Operation *> parts;
      if (failed(region.build(count, first, parts)))
        return failure();
      llvm::erase_if(parts,
                     [&](Operation *part) { return !isCandidate(part); });
      for (Operation *part : parts) {
        products.push_back(part);
        done.erase(part); // another one may have been at its address
      }
      // One may be a part of what another one needs.
      for (Operation *part : parts)
        if (!done.contains(part) && failed(chunk(part, /*isPart=*/true)))
          return failure();
      return success();
    }
    if (!isPart)
      remark(product) << "are computed as a whole: "
                      << (why.empty() ? "it has no rows" : why);
    return success();
  }

  static InFlightDiagnostic remark(Operation *product) {
    return emitRemark(product->getLoc())
           << product->getName().stripDialect() << ": " << bytesOf(product)
           << " bytes ";
  }

  unsigned lastPart = 0;
  SmallVector<Operation *> products; // and those that chunks have made of them
  llvm::DenseSet<Operation *> done;  // they are no more

  const plan::MachineModel &machine;
};

struct ChunkLargeValues : dl::impl::ChunkLargeValuesBase<ChunkLargeValues> {
  using Base::Base;

  void runOnOperation() override {
    if (machine.chunkLeastBytes != 0 &&
        failed(StepChunks(machine).run(getOperation())))
      signalPassFailure();
  }
};

} // namespace
