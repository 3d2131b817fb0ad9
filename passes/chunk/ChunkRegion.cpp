#include "passes/chunk/ChunkRegion.h"
#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/LaunchConstants.h"
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/StepRole.h"
#include <numeric>

using namespace mlir;

namespace dl::chunk {

using graph::CommunicationOpInterface;
using graph::Splitting;

/// So much is looked at around one product: a softmax, a loss and their
/// gradients are some thirty ops, and one step may have thousands of products.
static constexpr size_t maxMembers = 256, maxBetween = 1024;

ChunkRegion::ChunkRegion(Operation *product, unsigned dim)
    : product(product), elements(graph::numElements(product->getResult(0))),
      first(product), last(product) {
  if (addAll(dim))
    findPlace();
}

bool ChunkRegion::isLarge(Value value) const {
  return 2 * graph::numElements(value) > elements;
}

/// The dim in which a factor is.
static std::optional<unsigned> dimOf(unsigned factor,
                                     const graph::TensorFactors &dims) {
  for (auto [d, dim] : llvm::enumerate(dims))
    if (llvm::is_contained(dim, factor))
      return d;
  return std::nullopt;
}

bool ChunkRegion::addAll(unsigned dim) {
  graph::ShardingRule rule = graph::shardingRule(product);
  const graph::DimFactors &factors = rule.results[0][dim];
  if (factors.empty())
    return refuse("it has no rows");
  if (!add(product, factors.front()))
    return false;
  for (size_t known = 0; known != members.size();) {
    known = members.size();
    if (!addLarge() || !addBetween())
      return false;
  }
  // A member may have become one after those that read it.
  for (auto &[op, member] : members)
    for (auto [operand, dims] :
         llvm::zip(op->getOperands(), member.rule.operands)) {
      if (!members.contains(operand.getDefiningOp()))
        continue;
      if (!rowDim.contains(operand))
        return refuse("a total over all rows is needed to go on");
      if (dimOf(member.factor, dims) != rowDim.lookup(operand))
        return refuse("it is read along two dims");
    }
  return true;
}

/// Whether the rows are blocks of the dim in which the factor is.
bool ChunkRegion::note(Value value, const graph::TensorFactors &dims,
                       unsigned factor, bool isResult) {
  std::optional<unsigned> found = dimOf(factor, dims);
  if (found && dims[*found].front() != factor)
    return false;
  auto known = rowDim.find(value);
  if (known != rowDim.end())
    return found == known->second;
  if (found && isResult)
    rowDim[value] = *found;
  return true;
}

bool ChunkRegion::add(Operation *op, unsigned factor) {
  auto known = members.find(op);
  if (known != members.end())
    return known->second.factor == factor ||
           refuse("one op needs it along two dims");
  if (members.size() >= maxMembers)
    return refuse("too much is done with it");
  graph::ShardingRule rule = graph::shardingRule(op);
  if (rule.factors[factor].splitting == Splitting::Blocked)
    return refuse(graph::reasonText(rule.factors[factor].reason));
  // What is rounded is no part of a sum.
  if (rule.factors[factor].splitting == Splitting::Sum &&
      llvm::any_of(op->getResultTypes(), [](Type type) {
        return cast<RankedTensorType>(type).getElementType().isBF16();
      }))
    return refuse("its parts would be added up in bf16");
  int64_t size = rule.factors[factor].size;
  hasSeveralSizes |= rows != 0 && rows != size;
  rows = std::gcd(rows, size);
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (!note(operand, rule.operands[i], factor, /*isResult=*/false))
      return refuse("it is read along two dims");
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (!note(result, rule.results[i], factor, /*isResult=*/true))
      return refuse("its rows are no blocks");
  members.insert({op, {std::move(rule), factor}});
  if (last->isBeforeInBlock(op))
    last = op;
  if (op->isBeforeInBlock(first))
    first = op;
  return true;
}

bool ChunkRegion::addUser(Operation *user) {
  if (members.contains(user))
    return true;
  if (user->hasTrait<OpTrait::IsTerminator>() || isa<graph::GradientOp>(user))
    return refuse("it is a result of the step");
  if (isa<CommunicationOpInterface>(user))
    return refuse("it goes to other ranks");
  if (user->hasAttr(graph::kRankSteps))
    return refuse("ranks differ in what they do with it");
  graph::ShardingRule rule = graph::shardingRule(user);
  for (auto [i, operand] : llvm::enumerate(user->getOperands()))
    if (auto it = rowDim.find(operand); it != rowDim.end()) {
      const graph::DimFactors &dim = rule.operands[i][it->second];
      if (dim.empty())
        return refuse("its rows are no blocks");
      return add(user, dim.front());
    }
  return refuse("a total over all rows is needed to go on");
}

/// What makes a large value that is read row by row: a comparison of classes
/// with targets, say. What cannot be made row by row is there as a whole.
bool ChunkRegion::addMaker(Value value, const graph::TensorFactors &dims,
                           unsigned factor) {
  Operation *op = value.getDefiningOp();
  std::optional<unsigned> dim = dimOf(factor, dims);
  if (!op || !dim || !isLarge(value) || members.contains(op) ||
      op->getNumOperands() == 0 || op->hasAttr(graph::kRankSteps) ||
      isa<CommunicationOpInterface, graph::GradientOp>(op))
    return true;
  graph::ShardingRule rule = graph::shardingRule(op);
  const graph::DimFactors &factors =
      rule.results[cast<OpResult>(value).getResultNumber()][*dim];
  if (factors.empty() ||
      rule.factors[factors.front()].splitting != Splitting::Parallel)
    return true;
  return add(op, factors.front());
}

/// Whoever reads or makes a large value.
bool ChunkRegion::addLarge() {
  for (size_t i = 0; i < members.size(); ++i) {
    Operation *op = std::next(members.begin(), i)->first;
    for (Value result : op->getResults())
      if (rowDim.contains(result) && isLarge(result))
        for (Operation *user : result.getUsers())
          if (!addUser(user))
            return false;
    Member member = std::next(members.begin(), i)->second;
    for (auto [value, dims] :
         llvm::zip(op->getOperands(), member.rule.operands))
      if (!addMaker(value, dims, member.factor))
        return false;
  }
  return true;
}

/// What follows from members and is needed by members.
bool ChunkRegion::addBetween() {
  SmallVector<Operation *> follow;
  llvm::DenseSet<Operation *> following;
  size_t seen = 0;
  for (Operation *op = first; op != last; op = op->getNextNode()) {
    if (++seen > maxBetween)
      return refuse("too much is between the ops that read it");
    bool follows = members.contains(op) ||
                   llvm::any_of(op->getOperands(), [&](Value operand) {
                     return following.contains(operand.getDefiningOp());
                   });
    if (follows && following.insert(op).second && !members.contains(op))
      follow.push_back(op);
  }
  llvm::DenseSet<Operation *> needed;
  for (Operation *op : llvm::reverse(follow))
    if (llvm::any_of(op->getUsers(), [&](Operation *user) {
          return members.contains(user) || needed.contains(user);
        }))
      needed.insert(op);
  for (Operation *op : follow)
    if (needed.contains(op) && !addUser(op))
      return false;
  return true;
}

/// As early as what they need from other ranks allows: exchanges keep their
/// order.
bool ChunkRegion::findPlace() {
  auto list = members.takeVector();
  llvm::sort(list, [](const auto &a, const auto &b) {
    return a.first->isBeforeInBlock(b.first);
  });
  for (auto &[op, member] : list)
    members.insert({op, std::move(member)});
  llvm::DenseSet<Operation *> needed, behind;
  for (Operation *op = last; op != first; op = op->getPrevNode())
    if (!members.contains(op) &&
        llvm::any_of(op->getUsers(), [&](Operation *user) {
          return members.contains(user) || needed.contains(user);
        }))
      needed.insert(op);
  place = first;
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (needed.contains(op)) {
      read.push_back(op);
      if (isa<CommunicationOpInterface>(op)) {
        place = op;
        read.clear();
      }
    }
  bool communicates = false;
  for (Operation *op = first;; op = op->getNextNode()) {
    bool follows = members.contains(op) ||
                   llvm::any_of(op->getOperands(), [&](Value operand) {
                     return behind.contains(operand.getDefiningOp());
                   });
    if (follows)
      behind.insert(op);
    if (follows && !members.contains(op))
      waiting.push_back(op);
    if (isa<CommunicationOpInterface>(op)) {
      if (communicates && !follows)
        return refuse("what goes to other ranks would change places");
      communicates |= follows;
    }
    if (op == place)
      return true;
  }
}

bool ChunkRegion::dividesInto(int64_t count) const {
  int64_t each = llvm::divideCeil(rows, count);
  bool isEmpty = (count - 1) * each >= rows;
  bool isUneven = rows % count != 0;
  return !isEmpty && !(isUneven && hasSeveralSizes) &&
         llvm::all_of(members, [&](const auto &entry) {
           const Member &member = entry.second;
           return graph::whyNotSplit(member.rule,
                                     {{member.factor, count, 0}}) ==
                  graph::BlockReason::None;
         });
}

/// The part of a value that is made outside.
static Value partOf(Value value, const graph::Box &box, OpBuilder &builder,
                    Location loc) {
  if (ArrayRef(box.sizes) == graph::shapeOf(value))
    return value;
  graph::GraphBuilder g(builder, loc);
  SmallVector<int64_t> strides(box.sizes.size(), 1);
  return g.make<graph::SliceOp>(value, box.offsets, box.sizes, strides);
}

LogicalResult ChunkRegion::buildChunk(int64_t index, int64_t count,
                                      OpBuilder &builder) {
  for (auto &[op, member] : members) {
    graph::Shard shard(member.rule, {{member.factor, count, index}});
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      operands.push_back(
          members.contains(operand.getDefiningOp())
              ? made[operand].back()
              : partOf(operand, shard.operand(i), builder, op->getLoc()));
    Operation *before = &*std::prev(builder.getInsertionPoint());
    auto local = graph::localize(op, shard, builder, operands);
    if (failed(local))
      return failure();
    if (op->hasAttr(graph::kRecomputed))
      for (Operation &one : llvm::make_range(std::next(before->getIterator()),
                                             builder.getInsertionPoint()))
        one.setAttr(graph::kRecomputed, builder.getUnitAttr());
    graph::GraphBuilder g(builder, op->getLoc());
    for (auto [result, value] : llvm::zip(op->getResults(), *local)) {
      SmallVector<Value> &values = made[result];
      if (rowDim.contains(result) || values.empty())
        values.push_back(value);
      else if (shard.combination() == Splitting::Max)
        values.back() = g.make<graph::MaximumOp>(values.back(), value);
      else
        values.back() = g.make<graph::AddOp>(values.back(), value);
    }
  }
  return success();
}

/// Others read whole values.
void ChunkRegion::joinChunks(OpBuilder &builder) {
  for (auto &[op, member] : members)
    for (Value result : op->getResults()) {
      auto isOutside = [&](Operation *user) { return !members.contains(user); };
      if (llvm::none_of(result.getUsers(), isOutside))
        continue;
      Value whole = made[result].back();
      if (auto dim = rowDim.find(result); dim != rowDim.end())
        whole = graph::GraphBuilder(builder, op->getLoc())
                    .make<graph::CatOp>(made[result], dim->second);
      result.replaceUsesWithIf(
          whole, [&](OpOperand &use) { return isOutside(use.getOwner()); });
    }
}

LogicalResult ChunkRegion::build(int64_t count, unsigned firstPart,
                                 SmallVectorImpl<Operation *> &products) {
  OpBuilder builder(product->getContext());
  for (Operation *op : read) {
    op->moveAfter(place);
    place = op;
  }
  builder.setInsertionPointAfter(place);
  for (int64_t index = 0; index < count; ++index) {
    Operation *before = &*std::prev(builder.getInsertionPoint());
    if (failed(buildChunk(index, count, builder)))
      return failure();
    for (Operation &op : llvm::make_range(std::next(before->getIterator()),
                                          builder.getInsertionPoint()))
      op.setLoc(graph::withBatchPart(op.getLoc(), firstPart + index));
  }
  for (Value value : made[product->getResult(0)])
    products.push_back(value.getDefiningOp());
  joinChunks(builder);
  for (Operation *op : waiting)
    op->moveBefore(op->getBlock(), builder.getInsertionPoint());
  for (auto &[op, member] : llvm::reverse(members))
    op->erase();
  members.clear();
  return success();
}

} // namespace dl::chunk
