#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "passes/layout/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using dl::graph::LoopNest;
using dl::graph::LoopNestOpInterface;

namespace dl {

#define GEN_PASS_DEF_BATCHINNERMOST
#include "passes/layout/Passes.h.inc"

namespace {

class BatchInnermostPass : public impl::BatchInnermostBase<BatchInnermostPass> {
public:
  using Base::Base;
  void runOnOperation() override;
};

/// Chooses for the values of one step.
class Chooser {
public:
  explicit Chooser(graph::StepOp function) : function(function) {}
  void run();

private:
  void findImages();
  Value imagesOf(Value value) const;
  void start(LoopNestOpInterface op);
  void want(Value value);
  void linkTo(Value root);
  void leaveToTokens();
  void spreadToUsers(Value root);
  void spreadToOperands(Operation *maker);
  bool canReorder(Value root) const;
  Value copyOf(Value value, DenseI64ArrayAttr order, OpBuilder &builder);

  graph::StepOp function;
  /// Of each alias: see `imagesOf`.
  llvm::DenseMap<Value, Value> images;
  /// Values that are no aliases, whose images are to be innermost.
  llvm::SetVector<Value> chosen;
  /// Asked for; views whose operands, and values whose users, were seen.
  llvm::DenseSet<Value> wanted, seenDown;
  llvm::DenseSet<Operation *> seenUp;
  /// The value that is spread from, and those that get the same order.
  Value current;
  llvm::EquivalenceClasses<void *> together;
  llvm::DenseMap<Value, Value> copies;
  llvm::DenseSet<Operation *> windowed;
};

} // namespace

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static int64_t batchOf(Value value) {
  RankedTensorType type = typeOf(value);
  return type.getRank() == 0 ? 1 : type.getDimSize(0);
}

/// The iteration dim that is the batch of a convolution: the first of its
/// images, operand 0, which it reads in windows. Matrix products have none.
static std::optional<unsigned> batchDim(const LoopNest &nest) {
  if (!nest.contraction)
    return std::nullopt;
  AffineMap images = nest.accesses[0].map;
  bool windows = llvm::any_of(images.getResults(), [](AffineExpr expr) {
    return isa<AffineBinaryOpExpr>(expr);
  });
  auto dim = dyn_cast<AffineDimExpr>(images.getResult(0));
  return windows && dim ? std::optional(dim.getPosition()) : std::nullopt;
}

static bool readsAt(const graph::Access &access, unsigned dim) {
  if (access.map.getNumResults() == 0)
    return false;
  auto first = dyn_cast<AffineDimExpr>(access.map.getResult(0));
  return first && first.getPosition() == dim;
}

/// The result's images are made one by one from the operand's: true for rows of
/// a matrix product too, but not where each image has a matrix of its own.
static bool isImageByImage(const LoopNest &nest, unsigned operand) {
  if (nest.numParallel == 0 || !readsAt(nest.accesses[operand], 0))
    return false;
  if (!nest.contraction)
    return true;
  return !batchDim(nest) && !nest.accesses[1 - operand].map.isFunctionOfDim(0);
}

/// Constants and random numbers are made where they are read, in any order.
static bool isMadeAnywhere(Operation *op) {
  return llvm::all_of(op->getOperands(), graph::isScalars);
}

/// Each image has a matrix of its own on both sides: vectors cannot run along
/// the images.
static bool isProductPerImage(LoopNestOpInterface op) {
  LoopNest nest = op.getLoopNest();
  return nest.contraction && nest.numParallel > 0 &&
         llvm::all_of(nest.accesses, [](const graph::Access &access) {
           return access.map.isFunctionOfDim(0);
         });
}

/// Of an alias after what it views: no chain of views is walked twice.
void Chooser::findImages() {
  for (auto alias : function.getOps<graph::AliasOpInterface>()) {
    Value value = alias->getResult(0), source = alias.getViewed();
    images[value] =
        batchOf(source) == batchOf(value) ? imagesOf(source) : Value();
  }
}

/// The value that lies in the same memory; null where the images of the batch
/// are no dim of it.
Value Chooser::imagesOf(Value value) const {
  auto it = images.find(value);
  return it == images.end() ? value : it->second;
}

/// A kernel makes it, and all that see it in another shape see its images too.
bool Chooser::canReorder(Value root) const {
  auto loops = root.getDefiningOp<LoopNestOpInterface>();
  if (!loops || graph::isView(loops) || isMadeAnywhere(loops) ||
      isProductPerImage(loops) || typeOf(root).getRank() < 2)
    return false;
  SmallVector<Value> aliases{root};
  while (!aliases.empty()) {
    for (Operation *user : aliases.pop_back_val().getUsers()) {
      if (isa<graph::ReturnOp, graph::CommunicationOpInterface>(user))
        return false;
      if (!isa<graph::AliasOpInterface>(user))
        continue;
      if (batchOf(user->getResult(0)) != batchOf(root))
        return false;
      aliases.push_back(user->getResult(0));
    }
  }
  return true;
}

void Chooser::want(Value value) {
  Value root = imagesOf(value);
  if (root && wanted.insert(root).second && canReorder(root))
    chosen.insert(root);
  if (root && chosen.contains(root))
    linkTo(root);
}

void Chooser::linkTo(Value root) {
  if (current)
    together.unionSets(current.getAsOpaquePointer(), root.getAsOpaquePointer());
  else
    together.insert(root.getAsOpaquePointer());
}

/// A product of tokens, [B,T,K] times a matrix: rows of all images and tokens
/// are one dim where they lie one behind the other, and vectors run along what
/// it makes of each. Images innermost leave one vector of a few images.
static bool multipliesTokens(LoopNestOpInterface op) {
  LoopNest nest = op.getLoopNest();
  if (!nest.contraction || batchDim(nest))
    return false;
  auto isSummed = [&](AffineExpr expr) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim && dim.getPosition() >= nest.numParallel;
  };
  for (auto [i, access] : llvm::enumerate(nest.accesses)) {
    ArrayRef<AffineExpr> index = access.map.getResults();
    if (index.size() < 3)
      continue;
    // (The matrix's gradient sums over images and tokens.)
    bool isGradient = isSummed(index[0]) && !isSummed(index.back());
    if (isGradient || (isImageByImage(nest, i) && isSummed(index.back())))
      return true;
  }
  return false;
}

/// Of values that get one order together, products of tokens may be the most of
/// the work: a transformer on patches, which a convolution has made.
void Chooser::leaveToTokens() {
  struct Work {
    double windows = 0, tokens = 0;
  };
  llvm::DenseMap<void *, Work> work;
  auto keyOf = [&](Value root) {
    return together.getLeaderValue(root.getAsOpaquePointer());
  };
  for (Value root : chosen)
    work[keyOf(root)] = {};
  for (auto op : function.getOps<LoopNestOpInterface>()) {
    bool isWindowed = windowed.contains(op);
    if (!isWindowed && !multipliesTokens(op))
      continue;
    llvm::SmallPtrSet<Work *, 4> seen;
    auto points = double(op.getLoopNest().points());
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    for (Value value : values)
      if (Value root = imagesOf(value); root && chosen.contains(root))
        if (Work *of = &work[keyOf(root)]; seen.insert(of).second)
          (isWindowed ? of->windows : of->tokens) += points;
  }
  chosen.remove_if([&](Value root) {
    const Work &of = work[keyOf(root)];
    return of.tokens > of.windows;
  });
}

/// What a chosen value is computed from image by image is best stored the same
/// way.
void Chooser::spreadToOperands(Operation *maker) {
  SmallVector<Operation *> open{maker};
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    auto loops = dyn_cast_or_null<LoopNestOpInterface>(op);
    if (!loops || !seenUp.insert(op).second)
      continue;
    LoopNest nest = loops.getLoopNest();
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      if (!isImageByImage(nest, i) || batchOf(operand) != nest.extents[0])
        continue;
      if (graph::isView(operand.getDefiningOp()))
        open.push_back(operand.getDefiningOp());
      else
        want(operand);
    }
    for (Value result : op->getResults())
      want(result);
  }
}

/// And what is computed image by image from it.
void Chooser::spreadToUsers(Value root) {
  SmallVector<Value> open{root};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seenDown.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<graph::AliasOpInterface>(user)) {
        open.push_back(user->getResult(0));
        continue;
      }
      auto loops = dyn_cast<LoopNestOpInterface>(user);
      if (!loops)
        continue;
      LoopNest nest = loops.getLoopNest();
      if (!isImageByImage(nest, use.getOperandNumber()) ||
          nest.extents[0] != batchOf(value))
        continue;
      if (graph::isView(user))
        open.push_back(user->getResult(0));
      else
        for (Value result : user->getResults())
          want(result);
    }
  }
}

/// The first choices: what a convolution reads and makes image by image.
void Chooser::start(LoopNestOpInterface op) {
  LoopNest nest = op.getLoopNest();
  std::optional<unsigned> batch = batchDim(nest);
  if (!batch || nest.extents[*batch] < graph::kLeastInnerBatch)
    return;
  windowed.insert(op);
  for (auto [operand, access] : llvm::zip(op->getOperands(), nest.accesses))
    if (readsAt(access, *batch))
      want(operand);
  if (*batch == 0)
    want(op->getResult(0));
}

/// The same value in another order: a kernel of its own.
Value Chooser::copyOf(Value value, DenseI64ArrayAttr order,
                      OpBuilder &builder) {
  auto copy =
      graph::CopyOp::create(builder, value.getLoc(), typeOf(value), value);
  graph::setStorageOrder(copy->getOpResult(0), order);
  return copy;
}

void Chooser::run() {
  findImages();
  for (auto op : function.getOps<LoopNestOpInterface>())
    start(op);
  for (size_t i = 0; i < chosen.size(); ++i) {
    current = chosen[i];
    spreadToOperands(current.getDefiningOp());
    spreadToUsers(current);
  }
  leaveToTokens();
  for (Value value : chosen)
    graph::setStorageOrder(cast<OpResult>(value),
                           graph::batchInnermost(typeOf(value)));

  OpBuilder builder(function.getContext());
  for (auto op :
       llvm::make_early_inc_range(function.getOps<LoopNestOpInterface>())) {
    if (!windowed.contains(op))
      continue;
    LoopNest nest = op.getLoopNest();
    unsigned batch = *batchDim(nest);
    for (auto [i, access] : llvm::enumerate(nest.accesses)) {
      Value operand = op->getOperand(i), root = imagesOf(operand);
      if (!readsAt(access, batch) || (root && chosen.contains(root)))
        continue;
      Value &copy = copies[operand];
      if (!copy) {
        builder.setInsertionPointAfterValue(operand);
        copy = copyOf(operand, graph::batchInnermost(typeOf(operand)), builder);
        emitRemark(op->getLoc())
            << "operand " << i
            << " is copied, images innermost, once for all "
               "convolutions that read it";
      }
      op->setOperand(i, copy);
    }
    Value result = op->getResult(0);
    if (batch != 0 || chosen.contains(result))
      continue;
    // Somebody needs it row by row.
    auto rowMajor = DenseI64ArrayAttr::get(
        op->getContext(),
        llvm::to_vector(llvm::seq<int64_t>(0, typeOf(result).getRank())));
    builder.setInsertionPointAfterValue(result);
    graph::setStorageOrder(cast<OpResult>(result),
                           graph::batchInnermost(typeOf(result)));
    Value copy = copyOf(result, rowMajor, builder);
    result.replaceAllUsesExcept(copy, copy.getDefiningOp());
  }
}

void BatchInnermostPass::runOnOperation() {
  for (auto function : getOperation().getOps<graph::StepOp>())
    Chooser(function).run();
}

} // namespace dl
