// What an op is to the grouping.
#include "dialects/graph/Inference.h"
#include "dialects/graph/LibraryCall.h"
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "passes/fuse/KernelGroups.h"

using namespace mlir;
using dl::graph::LoopNest;
using dl::graph::LoopNestOpInterface;

namespace dl {

/// One number that follows from settings alone, in a few instructions: it is
/// computed where it is read. (What is made of the counts of steps and items is
/// computed once.)
bool KernelGroups::isStepNumber(Operation *op) const {
  return op->getNumResults() == 1 &&
         graph::numElements(op->getResult(0)) == 1 &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) {
                        return graph::isScalars(operand) ||
                               (isa<FloatType>(graph::elementOf(operand)) &&
                                stepNumbers.contains(operand.getDefiningOp()));
                      }) &&
         !graph::payloadFacts(cast<LoopNestOpInterface>(op)).isExpensive;
}

/// What follows from the places of elements alone, with little work: which
/// scores a mask hides. Chains of rows compute it where it is read, and see
/// which blocks of columns are nothing.
bool KernelGroups::isOfPlaces(Operation *op) const {
  auto loops = cast<LoopNestOpInterface>(op);
  return machine.chainRows > 0 && op->getNumResults() == 1 &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) {
                        return ofPlaces.contains(operand.getDefiningOp());
                      }) &&
         !loops.getLoopNest().isIndirect() &&
         !graph::payloadFacts(loops).isExpensive;
}

/// Zeros around what is in memory and only products read, which leave them out.
bool KernelGroups::isPadOfProducts(Operation *op) const {
  if (machine.padsInProducts == 0 ||
      !graph::payloadFacts(cast<LoopNestOpInterface>(op)).isZeroPaddedView)
    return false;
  // What is made where it is read would be made again for each of its zeros.
  Operation *maker = op->getOperand(0).getDefiningOp();
  if (maker && kind(maker) == OpKind::Free)
    return false;
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    auto reader = dyn_cast<LoopNestOpInterface>(user);
    return reader && reader.getLoopNest().contraction &&
           !user->hasAttr(graph::kLibraryCall);
  });
}

/// As it is, or widened.
static bool isReadByProduct(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto reader = dyn_cast<LoopNestOpInterface>(user);
    return reader &&
           (reader.getLoopNest().contraction ||
            (graph::payloadFacts(reader).isWidening && isReadByProduct(user)));
  });
}

/// One element after the other then, in no lanes.
static bool isReadBySort(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto reader = dyn_cast<LoopNestOpInterface>(user);
    return reader &&
           (reader.getLoopNest().ordered ||
            (graph::payloadFacts(reader).isView && isReadBySort(user)));
  });
}

OpKind KernelGroups::classify(Operation *op) const {
  if (isa<graph::AliasOpInterface>(op))
    return OpKind::Alias;
  if (isa<graph::CommunicationOpInterface>(op))
    return OpKind::Communication;
  auto loops = cast<LoopNestOpInterface>(op);
  LoopNest nest = loops.getLoopNest();
  if (nest.contraction)
    return OpKind::Contraction;
  if (nest.combine != graph::Combine::None)
    return OpKind::Reduction;
  bool view = graph::payloadFacts(loops).isView &&
              !graph::storageOrder(op->getOpResult(0)); // a copy to that order
  bool isMadeOfScalars =
      llvm::all_of(op->getOperands(), graph::isScalars) &&
      !(graph::payloadFacts(loops).isExpensive && isReadBySort(op));
  if (view || isMadeOfScalars || isStepNumber(op) || isOfPlaces(op) ||
      isPadOfProducts(op))
    return OpKind::Free;
  // Made again by each of its readers, if none of them is a product.
  if (op->hasAttr(graph::kMadeAgain) && !isReadByProduct(op))
    return OpKind::Free;
  return OpKind::Elementwise;
}

} // namespace dl
