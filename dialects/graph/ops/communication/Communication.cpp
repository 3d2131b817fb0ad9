#include "dialects/graph/Evaluate.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/PipelineOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include <numeric>

using namespace mlir;
using namespace dl::graph;

LogicalResult MeshOp::verify() {
  llvm::SmallSet<StringRef, 4> names;
  for (auto axis : getAxes().getAsRange<AxisAttr>()) {
    if (axis.getSize() < 1)
      return emitOpError("has an axis '")
             << axis.getName() << "' of " << axis.getSize() << " ranks";
    if (!names.insert(axis.getName()).second)
      return emitOpError("has two axes '") << axis.getName() << "'";
  }
  if (getMicroBatches() < 1)
    return emitOpError("has ") << getMicroBatches() << " micro-batches";
  if (!pipelineScheduleOf(getSchedule()))
    return emitOpError("has the schedule '")
           << getSchedule() << "'; " << kPipelineSchedules << " are known";
  if (std::string why = whyNotOnEachRank(getSchedule(), getStagesPerRank());
      !why.empty())
    return emitOpError() << "does not fit: " << why;
  if (getZero() < 0 || getZero() > 3)
    return emitOpError("has the ZeRO stage ") << getZero() << ", not 0 to 3";
  return success();
}

/// Of an op that changes where a tensor lies, and no value.
static ShardingRule ruleOfLying(Operation *op) {
  ShardingRule rule = pointwiseRule(op);
  if (!elementOf(op->getOperand(0)).isInteger(1)) // no sum of these
    rule.partials = {{{0}, Splitting::Sum}, {{0}, Splitting::Max}};
  return rule;
}

//===-- shard -------------------------------------------------------------===//

static SmallVector<StringRef> splitAxes(StringRef axes) {
  SmallVector<StringRef> names;
  axes.split(names, ',');
  return names;
}

SmallVector<StringRef> ShardOp::getAxisOfDims() { return splitAxes(getAxes()); }

LogicalResult ShardOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  size_t rank = shapeOf(adaptor.getX()).size();
  SmallVector<StringRef> names = splitAxes(adaptor.getAxes());
  if (names.size() != rank)
    return emitOptionalError(loc, "shard: ", names.size(), " axes for the ",
                             rank, " dims of ",
                             typeText(adaptor.getX().getType()));
  for (auto [d, name] : llvm::enumerate(names))
    if (!name.empty() &&
        llvm::is_contained(ArrayRef(names).take_front(d), name))
      return emitOptionalError(loc, "shard: the axis '", name,
                               "' divides two dims of ",
                               typeText(adaptor.getX().getType()));
  types.push_back(adaptor.getX().getType());
  return success();
}

SmallVector<Value> ShardOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                          ArrayRef<bool>) {
  if (getNumber() == 0) {
    uint64_t among = 0;
    for (Operation *op = getOperation(); op; op = op->getPrevNode())
      among += isa<ShardOp>(op) ? 1 : 0;
    setNumber(among);
  }
  return {ShardOp::create(builder, getLoc(), grads[0], getAxes(), /*number=*/0,
                          getNumber())};
}

SmallVector<HostTensor> ShardOp::evaluate(ArrayRef<HostTensor> operands) {
  return {operands[0]};
}

int64_t ShardOp::getFlops() { return 0; }

ShardingRule ShardOp::getShardingRule() { return ruleOfLying(*this); }

//===-- reshard -----------------------------------------------------------===//

LogicalResult ReshardOp::inferReturnTypes(MLIRContext *, OptionalLoc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

SmallVector<HostTensor> ReshardOp::evaluate(ArrayRef<HostTensor> operands) {
  return {operands[0]};
}

int64_t ReshardOp::getFlops() { return 0; }

//===-- stored ------------------------------------------------------------===//

LogicalResult StoredOp::inferReturnTypes(MLIRContext *, OptionalLoc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

SmallVector<HostTensor> StoredOp::evaluate(ArrayRef<HostTensor> operands) {
  return {operands[0]};
}

int64_t StoredOp::getFlops() { return 0; }

ShardingRule StoredOp::getShardingRule() { return ruleOfLying(*this); }

//===-- transfer ----------------------------------------------------------===//

LogicalResult TransferOp::inferReturnTypes(MLIRContext *, OptionalLoc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

SmallVector<HostTensor> TransferOp::evaluate(ArrayRef<HostTensor> operands) {
  return {operands[0]};
}

int64_t TransferOp::getFlops() { return 0; }

//===-- What ranks exchange -----------------------------------------------===//

/// One block behind the other; equal ones together.
static SmallVector<RowTransfer> blocks(ArrayRef<int64_t> rows) {
  SmallVector<RowTransfer> transfers;
  int64_t offset = 0;
  for (auto [member, count] : llvm::enumerate(rows)) {
    if (!transfers.empty() && transfers.back().rows == count)
      ++transfers.back().members;
    else
      transfers.push_back(
          {static_cast<int64_t>(member), 1, offset, count, /*same=*/false});
    offset += count;
  }
  return transfers;
}

/// "x" has so many rows, and its type but for these.
static LogicalResult verifyRows(Operation *op, Value operand, Value result,
                                int64_t operandRows, int64_t resultRows) {
  ArrayRef<int64_t> from = shapeOf(operand), to = shapeOf(result);
  if (from.empty() || from.size() != to.size() ||
      from.drop_front() != to.drop_front() ||
      elementOf(operand) != elementOf(result))
    return op->emitOpError("makes ")
           << typeText(result.getType()) << " of "
           << typeText(operand.getType()) << ", whose rows are others";
  if (from[0] != operandRows)
    return op->emitOpError("sends ")
           << operandRows << " rows of " << typeText(operand.getType());
  if (to[0] != resultRows)
    return op->emitOpError("receives ")
           << resultRows << " rows of " << typeText(result.getType());
  return success();
}

static int64_t sum(ArrayRef<int64_t> rows) {
  return std::accumulate(rows.begin(), rows.end(), int64_t{0});
}

LogicalResult AllGatherOp::verify() {
  if (!getX())
    return llvm::is_contained(getRows(), 0) &&
                   shapeOf(getResult())[0] == sum(getRows())
               ? success()
               : emitOpError("has no operand, and no member has no rows");
  int64_t own = shapeOf(getX()).empty() ? -1 : shapeOf(getX())[0];
  if (!llvm::is_contained(getRows(), own))
    return emitOpError("has an operand ")
           << typeText(getX().getType()) << ", which no member has";
  return verifyRows(*this, getX(), getResult(), own, sum(getRows()));
}

SmallVector<RowTransfer> AllGatherOp::getSentRows(unsigned) {
  if (!getX())
    return {};
  auto members = static_cast<int64_t>(getRows().size());
  return {{0, members, 0, shapeOf(getX())[0], /*same=*/true}};
}

SmallVector<RowTransfer> AllGatherOp::getReceivedRows(unsigned) {
  return blocks(getRows());
}

LogicalResult AllToAllOp::verify() {
  if (getSends().size() != getReceives().size())
    return emitOpError("sends to ")
           << getSends().size() << " members and receives from "
           << getReceives().size();
  return verifyRows(*this, getX(), getResult(), sum(getSends()),
                    sum(getReceives()));
}

SmallVector<RowTransfer> AllToAllOp::getSentRows(unsigned) {
  return blocks(getSends());
}

SmallVector<RowTransfer> AllToAllOp::getReceivedRows(unsigned) {
  return blocks(getReceives());
}

/// All of it; a scalar is one row.
static RowTransfer wholeTo(int64_t member, Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return {member, 1, 0, shape.empty() ? 1 : shape[0], /*same=*/false};
}

SmallVector<RowTransfer> SendOp::getSentRows(unsigned) {
  return {wholeTo(getTo(), getX())};
}

SmallVector<RowTransfer> SendOp::getReceivedRows(unsigned) { return {}; }

SmallVector<RowTransfer> ReceiveOp::getSentRows(unsigned) { return {}; }

SmallVector<RowTransfer> ReceiveOp::getReceivedRows(unsigned) {
  return {wholeTo(getFrom(), getResult())};
}

/// As an attribute of graph.bucket: the numbers of one after the other.
static DenseI64ArrayAttr attributeOf(Builder &builder,
                                     ArrayRef<RowTransfer> transfers) {
  SmallVector<int64_t> numbers;
  for (const RowTransfer &transfer : transfers)
    numbers.append({transfer.member, transfer.members, transfer.offset,
                    transfer.rows, transfer.same});
  return builder.getDenseI64ArrayAttr(numbers);
}

static SmallVector<RowTransfer> transfersOf(Attribute attribute) {
  SmallVector<RowTransfer> transfers;
  for (ArrayRef<int64_t> rest = cast<DenseI64ArrayAttr>(attribute);
       rest.size() >= 5; rest = rest.drop_front(5))
    transfers.push_back({rest[0], rest[1], rest[2], rest[3], rest[4] != 0});
  return transfers;
}

void BucketOp::build(OpBuilder &builder, OperationState &state,
                     ArrayRef<CommunicationOpInterface> members) {
  SmallVector<Attribute> sends, receives;
  for (CommunicationOpInterface member : members) {
    for (auto [i, operand] : llvm::enumerate(member->getOperands())) {
      state.addOperands(operand);
      sends.push_back(attributeOf(builder, member.getSentRows(i)));
    }
    for (auto [i, result] : llvm::enumerate(member->getResults())) {
      state.addTypes(result.getType());
      receives.push_back(attributeOf(builder, member.getReceivedRows(i)));
    }
  }
  CommunicationOpInterface last = members.back();
  state.addAttribute(getAxesAttrName(state.name), last.getAxes());
  if (last.getRelative())
    state.addAttribute(getRelativeAttrName(state.name), builder.getUnitAttr());
  state.addAttribute(getSendsAttrName(state.name), builder.getArrayAttr(sends));
  state.addAttribute(getReceivesAttrName(state.name),
                     builder.getArrayAttr(receives));
  state.addAttribute(
      getOrderAttrName(state.name),
      builder.getI64IntegerAttr(static_cast<int64_t>(last.getOrder())));
}

/// Whether its rows are some of so many.
static bool isWithin(const RowTransfer &transfer, int64_t rows) {
  if (transfer.offset < 0 || transfer.rows < 0 || transfer.rows > rows ||
      transfer.offset > rows - transfer.rows)
    return false;
  return transfer.same || transfer.rows == 0 ||
         transfer.members <= (rows - transfer.offset) / transfer.rows;
}

/// What goes over the end of a value, or is no list of transfers.
static LogicalResult verifyTransfers(BucketOp op, ArrayAttr lists,
                                     ValueRange values, StringRef does) {
  if (lists.size() != values.size())
    return op.emitOpError(does) << " rows of " << lists.size()
                                << " values, and has " << values.size();
  for (auto [list, value] : llvm::zip(lists, values)) {
    if (cast<DenseI64ArrayAttr>(list).size() % 5 != 0)
      return op.emitOpError(does) << " rows that are not said by fives";
    int64_t rows = shapeOf(value).empty() ? 1 : shapeOf(value)[0];
    for (const RowTransfer &transfer : transfersOf(list)) {
      if (transfer.member < 0 || transfer.members < 1)
        return op.emitOpError("has ")
               << transfer.members << " members from member " << transfer.member
               << " on";
      if (!isWithin(transfer, rows))
        return op.emitOpError(does)
               << " " << transfer.rows << " rows from row " << transfer.offset
               << " of " << typeText(value.getType())
               << (transfer.members == 1 ? "" : ", and of further members");
      if (transfer.same && transfer.members != 1 && does == "receives")
        return op.emitOpError("receives the same rows from ")
               << transfer.members << " members";
    }
  }
  return success();
}

LogicalResult BucketOp::verify() {
  if (failed(verifyTransfers(*this, getSends(), getValues(), "sends")))
    return failure();
  return verifyTransfers(*this, getReceives(), getResults(), "receives");
}

SmallVector<RowTransfer> BucketOp::getSentRows(unsigned operand) {
  return transfersOf(getSends()[operand]);
}

SmallVector<RowTransfer> BucketOp::getReceivedRows(unsigned result) {
  return transfersOf(getReceives()[result]);
}
