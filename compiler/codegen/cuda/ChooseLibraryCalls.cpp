// choose-library-calls: which products a library computes faster.
#include "compiler/codegen/cuda/LibraryProduct.h"
#include "compiler/codegen/cuda/Passes.h"
#include "compiler/codegen/cuda/ProductAlone.h"
#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/LibraryCall.h"
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/graph/TensorBytes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_CHOOSELIBRARYCALLS
#include "compiler/codegen/cuda/Passes.h.inc"
} // namespace dl

namespace dl::cuda {
namespace {

/// Whether a value, and what it is a view of, lie row by row in memory.
bool liesRowByRow(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    FlatSymbolRefAttr name = graph::stateOf(argument);
    auto state = name ? SymbolTable::lookupNearestSymbolFrom<graph::StateOp>(
                            argument.getOwner()->getParentOp(), name)
                      : graph::StateOp();
    return !state || !state.getLayout();
  }
  if (graph::storageOrder(cast<OpResult>(value)))
    return false;
  auto view = value.getDefiningOp<graph::LoopNestOpInterface>();
  return !view || !isSeenThrough(view) || liesRowByRow(view->getOperand(0));
}

/// What fusion does not compute within whoever reads it, as it does constants,
/// random numbers and what is made again.
bool isInMemory(Value value) {
  while (auto maker = value.getDefiningOp<graph::LoopNestOpInterface>()) {
    if (maker->hasAttr(graph::kMadeAgain) ||
        llvm::all_of(maker->getOperands(), graph::isScalars))
      return false;
    if (!graph::payloadFacts(maker).isView)
      return true;
    value = maker->getOperand(0);
  }
  return true;
}

/// What the one reader of a value may be for a library to compute it, too, with
/// operands that fusion leaves in memory.
Operation *addedTo(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  auto add = dyn_cast<graph::LoopNestOpInterface>(*value.getUsers().begin());
  if (!add || add->hasAttr(graph::kLibraryCall) ||
      add->getBlock() != value.getParentBlock() ||
      !graph::payloadFacts(add).isAddition ||
      add->getResult(0).getType() != value.getType())
    return nullptr;
  // Of two products the later one adds the other: nothing has to wait for it.
  bool isLast = llvm::all_of(add->getOperands(), [&](Value operand) {
    auto maker = operand.getDefiningOp<graph::LoopNestOpInterface>();
    return !maker || !maker.getLoopNest().contraction ||
           !value.getDefiningOp()->isBeforeInBlock(maker);
  });
  return isLast && llvm::all_of(add->getOperands(), isInMemory)
             ? add.getOperation()
             : nullptr;
}

/// Something that a kernel of ours would compute on its sums.
bool hasEpilogue(Operation *product) {
  Type type = product->getResult(0).getType();
  return llvm::any_of(product->getUsers(), [&](Operation *user) {
    auto reader = dyn_cast<graph::LoopNestOpInterface>(user);
    if (reader && graph::payloadFacts(reader).isWidening)
      return hasEpilogue(reader);
    if (!reader || user->getResult(0).getType() != type ||
        graph::payloadFacts(reader).isView)
      return false;
    graph::LoopNest nest = reader.getLoopNest();
    for (auto [operand, access] : llvm::zip(user->getOperands(), nest.accesses))
      if (operand == product->getResult(0) &&
          nest.combine == graph::Combine::None && access.map.isIdentity())
        return true;
    return false;
  });
}

/// More parts of sums than these are not tried.
constexpr int64_t kMostParts = 16;
/// Parts are of a multiple of so many terms, so that they begin, where terms
/// are neighbours, at 16 bytes of bf16, as the library's fast kernels want it.
constexpr int64_t kTermsTogether = 8;

/// How long the library computes, and a kernel of ours what it does not.
struct Seconds {
  double library, after = 0;

  double sum() const { return library + after; }
};

struct ChooseLibraryCalls : impl::ChooseLibraryCallsBase<ChooseLibraryCalls> {
  using Base::Base;

  void runOnOperation() override {
    calls = 0;
    getOperation().walk([&](graph::StepOp step) {
      for (Operation &op : llvm::make_early_inc_range(
               step.getBody().front().without_terminator()))
        if (auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
            loops && loops.getLoopNest().contraction)
          choose(&op);
    });
  }

private:
  int64_t calls = 0;

  /// With all that can be part of the call. The product first.
  FailureOr<LibraryCall> longestCallOf(SmallVector<Operation *> &chain,
                                       StringRef &why) {
    Operation *round = roundingOf(chain.front());
    if (round)
      chain.push_back(round);
    FailureOr<LibraryCall> call = libraryCallOf(chain, tf32, why);
    while (succeeded(call) && call->product && !round) {
      Operation *next = addedTo(chain.back()->getResult(0));
      if (!next)
        break;
      chain.push_back(next);
      FailureOr<LibraryCall> longer = libraryCallOf(chain, tf32, why);
      if (failed(longer))
        return failure();
      if (!longer->product) {
        chain.pop_back();
        break;
      }
      call = longer;
    }
    return call;
  }

  double secondsToMove(int64_t bytes) const {
    return double(bytes) / machine.bytesPerSecond;
  }

  /// The last op's result is stored once more and loaded again, where there is
  /// something to compute on it.
  Seconds secondsOf(const LibraryCall &call, Operation *last) const {
    // More than one launch: where several blocks share sums, another one adds.
    Seconds result{std::max(librarySeconds(call.product, machine),
                            secondsToMove(call.bytes)) +
                   machine.serialSeconds};
    if (hasEpilogue(last))
      result.after =
          machine.serialSeconds +
          2 * secondsToMove(graph::tensorBytes(last->getResult(0).getType()));
    return result;
  }

  /// The library stores the product of each part of the sums.
  Seconds secondsInParts(const LibraryCall &call, Operation *op,
                         int64_t parts) const {
    int64_t sums = graph::tensorBytes(op->getResult(0).getType());
    return {std::max(librarySeconds(call.product, machine, parts),
                     secondsToMove(call.bytes + (parts - 1) * sums)) +
                machine.serialSeconds,
            machine.serialSeconds + secondsToMove((parts + 1) * sums)};
  }

  /// The same product as the sum of a batch of them, where that takes less than
  /// `seconds`: the library has been seen to leave long sums whole, however few
  /// blocks there are. Gives the batch, null where there is none.
  FailureOr<Operation *> splitSums(graph::SplitSumOpInterface op,
                                   Seconds &seconds, int64_t &parts) {
    StringRef why;
    FailureOr<LibraryCall> call = libraryCallOf(op.getOperation(), tf32, why);
    if (failed(call))
      return failure();
    if (!call->product || call->product.getBatch() != 1)
      return nullptr;
    // Its operands are seen in another shape then.
    if (!liesRowByRow(op->getResult(0)) ||
        !llvm::all_of(op->getOperands(), liesRowByRow))
      return nullptr;
    SmallVector<std::pair<double, int64_t>> choices;
    for (int64_t count = 2; count <= kMostParts; ++count)
      if (call->product.getK() % (count * kTermsTogether) == 0)
        if (double time = secondsInParts(*call, op, count).sum();
            time < seconds.sum())
          choices.emplace_back(time, count);
    llvm::sort(choices);
    OpBuilder builder(op);
    for (auto [time, count] : choices) {
      Value sums = op.buildSplitSum(builder, count);
      if (!sums)
        continue;
      seconds = secondsInParts(*call, op, count);
      parts = count;
      Value batch = sums;
      while (auto view = batch.getDefiningOp<graph::AliasOpInterface>())
        batch = view.getViewed();
      graph::GraphBuilder g(builder, op.getLoc());
      op->replaceAllUsesWith(ValueRange{g.sum(sums, {0}, /*keepdim=*/false)});
      llvm::SetVector<Value> operands(llvm::from_range, op->getOperands());
      op->erase();
      for (Value operand : operands) // what was widened for it alone
        if (Operation *widened = operand.getDefiningOp();
            widened && isOpTriviallyDead(widened))
          widened->erase();
      return batch.getDefiningOp();
    }
    return nullptr;
  }

  void mark(ArrayRef<Operation *> chain) {
    auto number = IntegerAttr::get(IntegerType::get(&getContext(), 64), calls);
    ++calls;
    for (Operation *part : chain)
      part->setAttr(graph::kLibraryCall, number);
  }

  void choose(Operation *op) {
    Location loc = op->getLoc();
    StringRef name = op->getName().stripDialect(), why;
    if (op->hasAttr(graph::kChained)) {
      emitRemark(loc) << name
                      << ": on a kernel of our own: it is part of a "
                         "chain of products";
      return;
    }
    SmallVector<Operation *> chain{op};
    FailureOr<LibraryCall> call = longestCallOf(chain, why);
    if (failed(call))
      return signalPassFailure();
    plan::ProductAttr product = call->product;
    if (!product) {
      emitRemark(loc) << name << ": on a kernel of our own: " << why;
      return;
    }
    double flops = 2.0 * double(product.getBatch()) * double(product.getM()) *
                   double(product.getN()) * double(product.getK());
    double own = std::max(flops / productRate(product.getArithmetic(), machine),
                          secondsToMove(call->bytes));
    Seconds library = secondsOf(*call, chain.back());
    int64_t parts = 1;
    if (auto split = dyn_cast<graph::SplitSumOpInterface>(op)) {
      Seconds least = library.sum() < own ? library : Seconds{own};
      FailureOr<Operation *> batch = splitSums(split, least, parts);
      if (failed(batch))
        return signalPassFailure();
      if (*batch) {
        chain = {*batch};
        library = least;
      }
    }
    bool isFaster = library.sum() < own;
    if (isFaster)
      mark(chain);
    InFlightDiagnostic remark = emitRemark(loc);
    remark << name << (isFaster ? ": by cuBLASLt" : ": not by cuBLASLt");
    if (parts > 1) {
      remark << " in " << parts << " parts of its sums";
    } else {
      remark << (product.getBias() != -1 ? " with the bias" : "")
             << (product.getC() ? " with a matrix that is added" : "");
    }
    remark
        << llvm::formatv(": it takes {0:f1} us", library.library * 1e6).str();
    if (library.after != 0)
      remark << llvm::formatv(" and {0:f1} us for what is computed on it",
                              library.after * 1e6)
                    .str();
    remark << llvm::formatv(", and {0:f1} us on a kernel of our own", own * 1e6)
                  .str();
  }
};

} // namespace
} // namespace dl::cuda
