#include "dialects/graph/Inference.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/chunk/ChunkRegion.h"
#include "passes/chunk/Passes.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_CHUNKLARGEVALUES
#include "passes/chunk/Passes.h.inc"
} // namespace dl

using namespace dl;
using chunk::ChunkRegion;

namespace {

struct ChunkLargeValues : dl::impl::ChunkLargeValuesBase<ChunkLargeValues> {
  using Base::Base;

  void runOnOperation() override {
    if (machine.chunkLeastBytes == 0)
      return;
    SmallVector<Operation *> products;
    for (Operation &op : getOperation().getOps()) {
      lastPart = std::max(lastPart, graph::batchPartOf(op.getLoc()));
      if (isCandidate(&op))
        products.push_back(&op);
    }
    // What is largest is done first: it may be a part of what another one
    // needs.
    llvm::stable_sort(products, [](Operation *a, Operation *b) {
      return bytesOf(a) > bytesOf(b);
    });
    for (Operation *product : products)
      if (!done.contains(product) && failed(chunk(product, products)))
        return signalPassFailure();
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
           !isChained(nest);
  }

  /// form-kernels makes one kernel of what is done in slices of the batch.
  bool isChained(const graph::LoopNest &nest) const {
    int64_t elements = 1, slices = 1;
    bool isBatch = true;
    for (unsigned dim = 0; dim < nest.numParallel; ++dim) {
      elements *= nest.extents[dim];
      isBatch &= llvm::all_of(nest.accesses, [&](const graph::Access &access) {
        return access.map.isFunctionOfDim(dim);
      });
      slices *= isBatch ? nest.extents[dim] : 1;
    }
    // Scores, their softmax and two gradients.
    return slices >= machine.minFusedRows &&
           4 * elements / slices * int64_t(sizeof(float)) <=
               machine.chainScratchBytes;
  }

  /// The fewest chunks that are small enough, or else those of the fewest rows
  /// that are worth a product; 0: none.
  int64_t countFor(const ChunkRegion &region, Operation *product) const {
    ArrayRef<int64_t> shape = graph::shapeOf(product->getResult(0));
    int64_t rows = graph::numElements(product->getResult(0)) / shape.back();
    int64_t best = 0;
    for (int64_t count = 2; rows / count >= machine.chunkRows; ++count) {
      if (!region.dividesInto(count))
        continue;
      best = count;
      if (bytesOf(product) / count <= machine.chunkBytes)
        break;
    }
    return best;
  }

  LogicalResult chunk(Operation *product, ArrayRef<Operation *> products) {
    auto remark = [&] {
      return emitRemark(product->getLoc())
             << product->getName().stripDialect() << ": " << bytesOf(product)
             << " bytes ";
    };
    StringRef why; // of the outermost rows
    ArrayRef<int64_t> shape = graph::shapeOf(product->getResult(0));
    for (unsigned dim = 0; dim + 1 < shape.size(); ++dim) {
      ChunkRegion region(product, dim);
      if (!region.whyNot().empty()) {
        why = why.empty() ? region.whyNot() : why;
        continue;
      }
      int64_t count = countFor(region, product);
      if (count == 0) {
        why = why.empty() ? "its rows are too few" : why;
        continue;
      }
      remark() << "are computed in " << count << " chunks, one after the other";
      unsigned first = lastPart + 1;
      lastPart += count;
      for (Operation *other : products)
        if (region.contains(other))
          done.insert(other);
      return region.build(count, first);
    }
    remark() << "are computed as a whole: " << why;
    return success();
  }

  unsigned lastPart = 0;
  llvm::DenseSet<Operation *> done; // they are no more
};

} // namespace
