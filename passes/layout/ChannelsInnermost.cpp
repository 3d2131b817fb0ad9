#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "passes/layout/Passes.h"
#include "passes/layout/StateOrders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using dl::graph::LoopNest;
using dl::graph::LoopNestOpInterface;

namespace dl {

#define GEN_PASS_DEF_CHANNELSINNERMOST
#include "passes/layout/Passes.h.inc"

namespace {

/// Dims of images [B,C,H,W] and of filters [O,I,kH,kW].
constexpr int64_t kRank = 4, kChannels = 1;
/// With fewer, or no whole vectors of four, neighbours are not worth it.
constexpr int64_t kLeastChannels = 16;

class ChannelsInnermostPass
    : public impl::ChannelsInnermostBase<ChannelsInnermostPass> {
public:
  using Base::Base;
  void runOnOperation() override;
};

/// Chooses for the values of one step.
class ChannelsChooser {
public:
  ChannelsChooser(graph::StepOp function, bool fewImages)
      : function(function), fewImages(fewImages) {}
  void run();
  /// Names of states that are read or made like chosen values.
  void addStates(llvm::StringMap<layout::Order> &states);

private:
  void want(Value value);
  void spread(Value value);

  graph::StepOp function;
  bool fewImages;
  /// Values to be stored so, and views, which are not stored, between them.
  llvm::SetVector<Value> reached;
  SmallVector<Value> read; // operands of convolutions
};

} // namespace

static RankedTensorType imagesType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool hasChannels(Value value) {
  return imagesType(value).getRank() == kRank;
}

static bool areEnough(Value value) {
  int64_t channels = imagesType(value).getDimSize(kChannels);
  return channels >= kLeastChannels && channels % 4 == 0;
}

/// A convolution, or one of its gradients.
static bool hasWindows(LoopNestOpInterface op) {
  LoopNest nest = op.getLoopNest();
  if (!nest.contraction || nest.numParallel != kRank ||
      !llvm::all_of(op->getOperands(), hasChannels))
    return false;
  ArrayRef<AffineExpr> image = nest.accesses[0].map.getResults();
  return isa<AffineDimExpr>(image[kChannels]) &&
         llvm::any_of(image, [](AffineExpr expr) {
           return isa<AffineBinaryOpExpr>(expr);
         });
}

/// It has a filter for each channel.
static bool isPerChannel(LoopNestOpInterface op) {
  LoopNest nest = op.getLoopNest();
  unsigned channel =
      cast<AffineDimExpr>(nest.accesses[0].map.getResult(kChannels))
          .getPosition();
  return channel < nest.numParallel &&
         nest.accesses[1].map.isFunctionOfDim(channel);
}

/// Its sums or results go over all channels.
static bool isConvolution(LoopNestOpInterface op) {
  return hasWindows(op) && !isPerChannel(op) && areEnough(op->getOperand(0)) &&
         areEnough(op->getResult(0));
}

/// Each element of the result is made of elements of the operand with the same
/// channel.
static bool keepsChannels(const LoopNest &nest, unsigned operand) {
  if (nest.contraction || nest.numParallel != kRank)
    return false;
  AffineMap map = nest.accesses[operand].map;
  if (map.getNumResults() != kRank)
    return false;
  for (unsigned d = 0; d < kRank; ++d)
    if (map.getResult(kChannels).isFunctionOfDim(d) != (d == kChannels))
      return false;
  return true;
}

/// A kernel makes it or its readers do, and nobody sees it in another shape or
/// elsewhere.
static bool canReorder(Value value) {
  auto loops = value.getDefiningOp<LoopNestOpInterface>();
  if (!loops || llvm::all_of(loops->getOperands(), graph::isScalars))
    return false; // constants and random numbers are made where they are read
  return llvm::none_of(value.getUsers(), [](Operation *user) {
    return isa<graph::ReturnOp, graph::CommunicationOpInterface,
               graph::AliasOpInterface>(user);
  });
}

/// A state with rows of channels, or what keeps them.
static bool isFilter(Value value) {
  while (hasChannels(value)) {
    if (graph::stateOf(value))
      return true;
    auto maker = value.getDefiningOp<LoopNestOpInterface>();
    if (!maker || maker->getNumOperands() == 0 || // a constant
        !keepsChannels(maker.getLoopNest(), 0))
      return false;
    value = maker->getOperand(0);
  }
  return false;
}

/// Whatever reads the gradient takes it as rows of channels.
static bool isFilterGradient(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto user = dyn_cast<LoopNestOpInterface>(use.getOwner());
    return user ? keepsChannels(user.getLoopNest(), use.getOperandNumber())
                : isa<graph::ReturnOp>(use.getOwner());
  });
}

/// Both sides go over the images: it is the gradient of a weight.
static bool sumsImages(LoopNestOpInterface op) {
  return imagesType(op->getOperand(0)).getDimSize(0) ==
             imagesType(op->getOperand(1)).getDimSize(0) &&
         op.getLoopNest().accesses[0].map.getResult(0) ==
             op.getLoopNest().accesses[1].map.getResult(0);
}

/// On a CPU it is worth to have channels innermost.
static bool isOfFewImages(LoopNestOpInterface op) {
  RankedTensorType images = imagesType(op->getOperand(0));
  return images.getDimSize(0) < graph::kLeastInnerBatch &&
         images.getDimSize(2) > 1 && images.getDimSize(3) > 1 &&
         (sumsImages(op) ? isFilterGradient(op->getResult(0))
                         : isFilter(op->getOperand(1)));
}

/// On a CPU the step would lose by it.
static bool wantsOtherOrders(graph::StepOp step) {
  return llvm::any_of(step.getOps<LoopNestOpInterface>(), [](auto op) {
    return hasWindows(op) &&
           (isPerChannel(op) || imagesType(op->getOperand(0)).getDimSize(0) >=
                                    graph::kLeastInnerBatch);
  });
}

void ChannelsChooser::want(Value value) {
  if (hasChannels(value) && canReorder(value))
    reached.insert(value);
}

/// What is computed from a value channel by channel, and what it is computed
/// from.
void ChannelsChooser::spread(Value value) {
  if (auto maker = value.getDefiningOp<LoopNestOpInterface>()) {
    LoopNest nest = maker.getLoopNest();
    for (auto [i, operand] : llvm::enumerate(maker->getOperands()))
      if (keepsChannels(nest, i))
        want(operand);
    for (Value result : maker->getResults())
      want(result);
  }
  for (OpOperand &use : value.getUses())
    if (auto user = dyn_cast<LoopNestOpInterface>(use.getOwner());
        user && keepsChannels(user.getLoopNest(), use.getOperandNumber()))
      for (Value result : user->getResults())
        want(result);
}

void ChannelsChooser::run() {
  for (auto op : function.getOps<LoopNestOpInterface>()) {
    if (!isConvolution(op) || (fewImages && !isOfFewImages(op)))
      continue;
    for (Value operand : op->getOperands()) {
      want(operand);
      read.push_back(operand);
    }
    want(op->getResult(0));
  }
  for (size_t i = 0; i < reached.size(); ++i)
    spread(reached[i]);
  for (Value value : reached)
    if (!graph::isView(value.getDefiningOp()))
      graph::setStorageOrder(cast<OpResult>(value),
                             graph::channelsInnermost(imagesType(value)));
}

void ChannelsChooser::addStates(llvm::StringMap<layout::Order> &states) {
  auto add = [&](FlatSymbolRefAttr state, Value value) {
    if (state)
      states[state.getValue()] = layout::orderWithInnermost(
          cast<RankedTensorType>(value.getType()).getRank(), kChannels);
  };
  for (Value operand : read)
    add(graph::stateOf(operand), operand);
  // States that are updated by chosen values.
  for (OpOperand &made : function.getReturn()->getOpOperands()) {
    auto maker = made.get().getDefiningOp<LoopNestOpInterface>();
    if (!maker || !hasChannels(made.get()))
      continue;
    LoopNest nest = maker.getLoopNest();
    for (auto [i, operand] : llvm::enumerate(maker->getOperands()))
      if (keepsChannels(nest, i) && reached.contains(operand))
        add(graph::stateOf(made), made.get());
  }
}

static bool updatesParameters(graph::StepOp step) {
  return llvm::any_of(step.getReturn()->getOpOperands(), [&](OpOperand &made) {
    FlatSymbolRefAttr name = graph::stateOf(made);
    auto state =
        name ? SymbolTable::lookupNearestSymbolFrom<graph::StateOp>(step, name)
             : graph::StateOp();
    return state && state.getRole() == "parameter";
  });
}

void ChannelsInnermostPass::runOnOperation() {
  ModuleOp module = getOperation();
  llvm::StringMap<layout::Order> states;
  SmallVector<graph::StepOp> steps(module.getOps<graph::StepOp>());
  if (fewImages) {
    // Filters lie as steps that train want them.
    bool isWanted = llvm::none_of(steps, [](graph::StepOp step) {
      return updatesParameters(step) && wantsOtherOrders(step);
    });
    llvm::erase_if(steps, [&](graph::StepOp step) {
      return !isWanted || wantsOtherOrders(step);
    });
  }
  for (graph::StepOp function : steps) {
    ChannelsChooser chooser(function, fewImages);
    chooser.run();
    chooser.addStates(states);
  }
  // Only parameters and what is updated with them.
  for (auto state : module.getOps<graph::StateOp>())
    if (state.getRole() != "parameter")
      states.erase(state.getSymName());
  llvm::StringMap<std::string> rowByRow =
      layout::reasonsForRows(module, layout::Views::AnyOrder);
  for (auto &[name, reason] : rowByRow)
    states.erase(name);
  layout::storeInOrder(module, states, rowByRow);
}

} // namespace dl
