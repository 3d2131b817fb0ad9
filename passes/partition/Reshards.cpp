#include "passes/partition/Reshards.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/partition/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;

namespace dl::partition {

struct ReshardLowering::Part {
  Value value;
  TensorSharding sharding;
  SmallVector<int64_t> shape; ///< of the whole
  graph::GraphBuilder g;
  OpBuilder &builder;
  Location loc;
};

int64_t ReshardLowering::block(int64_t size, ArrayRef<unsigned> axes,
                               int64_t member) const {
  return graph::blockOf(size, mesh.count(axes), member).size();
}

/// Communication keeps its place among all of the step's. Rank 0 says why.
Value ReshardLowering::communicate(Operation *op, StringRef why) {
  op->setAttr("order",
              Builder(op->getContext()).getI64IntegerAttr(nextOrder++));
  if (llvm::all_of(coordinates, [](int64_t at) { return at == 0; })) {
    auto exchange = cast<graph::CommunicationOpInterface>(op);
    int64_t bytes = 0;
    for (auto [i, sent] : llvm::enumerate(op->getOperands()))
      for (const graph::RowTransfer &transfer : exchange.getSentRows(i))
        if (int64_t others = transfer.members - (transfer.member == 0);
            others != 0 && transfer.rows != 0)
          bytes += graph::tensorBytes(sent.getType()) /
                   graph::shapeOf(sent)[0] * transfer.rows * others;
    InFlightDiagnostic remark = emitRemark(op->getLoc());
    remark << op->getName().stripDialect() << " over";
    for (auto axis : exchange.getAxes().getAsRange<StringAttr>())
      remark << " " << axis.getValue();
    remark << ": " << bytes << " bytes";
    for (Value sent : op->getOperands())
      remark << " of " << graph::typeText(sent.getType());
    remark << " to others: " << why;
  }
  return op->getResult(0);
}

/// `dim` in front of the others, and back.
static Value toFront(graph::GraphBuilder &g, Value value, unsigned dim) {
  SmallVector<int64_t> order{dim};
  for (int64_t d = 0; d < int64_t(graph::shapeOf(value).size()); ++d)
    if (d != dim)
      order.push_back(d);
  return dim == 0 ? value : g.transpose(value, order);
}

static Value fromFront(graph::GraphBuilder &g, Value value, unsigned dim) {
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < int64_t(graph::shapeOf(value).size()); ++d)
    order.push_back(d < dim ? d + 1 : d == dim ? 0 : d);
  return dim == 0 ? value : g.transpose(value, order);
}

/// In place of a communication whose members all have nothing.
Value ReshardLowering::nothing(graph::GraphBuilder &g, RankedTensorType type) {
  ++nextOrder;
  return g.make<graph::FullOp>(APFloat(0.0), type);
}

/// Over dim 0: in the order of ranks.
Value ReshardLowering::reduceMembers(graph::GraphBuilder &g, Value stacked,
                                     graph::Splitting kind) {
  SmallVector<int64_t> dims{0};
  if (kind == graph::Splitting::Max)
    return g.make<graph::AmaxOp>(stacked, dims, /*keepdim=*/false);
  return g.sum(stacked, dims, /*keepdim=*/false);
}

/// Each member gets the parts of its block from all others and adds them.
void ReshardLowering::sumInParts(Part &part, unsigned dim, unsigned axis,
                                 graph::Splitting kind) {
  graph::GraphBuilder &g = part.g;
  Value rows = toFront(g, part.value, dim);
  ArrayRef<int64_t> shape = graph::shapeOf(rows);
  int64_t members = mesh.size(axis), own = coordinates[axis];
  SmallVector<int64_t> sends;
  for (int64_t member = 0; member < members; ++member)
    sends.push_back(block(shape[0], {axis}, member));
  part.sharding.dims[dim].axes.push_back(axis);
  if (graph::numElements(rows) == 0) {
    SmallVector<int64_t> rest(shape);
    rest[0] = sends[own];
    part.value = fromFront(
        g, nothing(g, RankedTensorType::get(rest, graph::elementOf(rows))),
        dim);
    return;
  }
  SmallVector<int64_t> receives(members, sends[own]);
  SmallVector<int64_t> received(shape);
  received[0] = members * sends[own];
  auto type = RankedTensorType::get(received, graph::elementOf(rows));
  Value exchanged = communicate(
      graph::AllToAllOp::create(part.builder, part.loc, type, rows,
                                mesh.namesOf({axis}), sends, receives),
      "ranks have parts of a sum, and each adds up a block of it");
  SmallVector<int64_t> stacked(shape);
  stacked[0] = sends[own];
  stacked.insert(stacked.begin(), members);
  Value parts = g.reshape(exchanged, stacked);
  part.value = fromFront(g, reduceMembers(g, parts, kind), dim);
}

/// A large value as one row of elements: each member adds up a block, and all
/// gather these. Blocks are equally large, so that ranks are of one class: the
/// last ones may end with zeros that nobody reads.
void ReshardLowering::sumInBlocks(Part &part, ArrayRef<unsigned> axes,
                                  graph::Splitting kind) {
  graph::GraphBuilder &g = part.g;
  SmallVector<int64_t> shape(graph::shapeOf(part.value));
  int64_t elements = graph::numElements(part.value);
  int64_t members = mesh.count(axes),
          block = llvm::divideCeil(elements, members);
  SmallVector<int64_t> blocks(members, block);
  auto all =
      RankedTensorType::get({members * block}, graph::elementOf(part.value));
  Value row = g.reshape(part.value, {elements});
  bool isPadded = members * block != elements;
  if (isPadded)
    row = g.make<graph::PadOp>(row, ArrayRef<int64_t>{0},
                               ArrayRef<int64_t>{members * block - elements},
                               ArrayRef<int64_t>{0}, APFloat(0.0));
  Value exchanged =
      communicate(graph::AllToAllOp::create(part.builder, part.loc, all, row,
                                            mesh.namesOf(axes), blocks, blocks),
                  "ranks have parts of a sum, and each adds up a block of it");
  Value sum = reduceMembers(g, g.reshape(exchanged, {members, block}), kind);
  Value gathered =
      communicate(graph::AllGatherOp::create(part.builder, part.loc, all, sum,
                                             mesh.namesOf(axes), blocks),
                  "all need the sum, of which each has a block");
  if (isPadded)
    gathered = g.make<graph::SliceOp>(gathered, ArrayRef<int64_t>{0},
                                      ArrayRef<int64_t>{elements},
                                      ArrayRef<int64_t>{1});
  part.value = g.reshape(gathered, shape);
}

/// Of two, each sends all and adds what it gets to its own: as much as by way
/// of blocks, and once. Whose part comes first does not change the sum's bits.
void ReshardLowering::addOther(Part &part, ArrayRef<unsigned> axes,
                               graph::Splitting kind) {
  graph::GraphBuilder &g = part.g;
  SmallVector<int64_t> shape(graph::shapeOf(part.value)), rows(shape);
  if (rows.empty())
    rows.push_back(1);
  Value own = g.reshape(part.value, rows);
  Value other = communicate(
      graph::AllToAllOp::create(
          part.builder, part.loc, own.getType(), own, mesh.namesOf(axes),
          ArrayRef<int64_t>{0, rows[0]}, ArrayRef<int64_t>{0, rows[0]},
          /*relative=*/true),
      "two ranks have parts of a sum, which both add up");
  other = g.reshape(other, shape);
  part.value = kind == graph::Splitting::Max
                   ? g.make<graph::MaximumOp>(part.value, other)
                   : g.make<graph::AddOp>(part.value, other);
}

/// All parts go to everybody, who adds them; unless they are large.
void ReshardLowering::sumWhole(Part &part, ArrayRef<unsigned> axes,
                               graph::Splitting kind) {
  graph::GraphBuilder &g = part.g;
  int64_t members = mesh.count(axes);
  int64_t elements = graph::numElements(part.value);
  if (members > 2 && elements >= kLeastToDivide)
    return sumInBlocks(part, axes, kind);
  ++nextOrder; // a number for each exchange of the other way
  if (elements == 0) {
    part.value = nothing(g, cast<RankedTensorType>(part.value.getType()));
    return;
  }
  if (members == 2)
    return addOther(part, axes, kind);
  SmallVector<int64_t> one(graph::shapeOf(part.value));
  one.insert(one.begin(), 1);
  Value row = g.reshape(part.value, one);
  SmallVector<int64_t> all(one);
  all[0] = members;
  auto type = RankedTensorType::get(all, graph::elementOf(row));
  Value gathered =
      communicate(graph::AllGatherOp::create(part.builder, part.loc, type, row,
                                             mesh.namesOf(axes),
                                             SmallVector<int64_t>(members, 1)),
                  "ranks have parts of a sum, which all add up");
  part.value = reduceMembers(g, gathered, kind);
}

/// The axis that divides a dim last is to divide another one, as where tokens
/// go to experts, or rows of a sequence become heads (GShard, Lepikhin et al.,
/// 2020; Ulysses, Jacobs et al., 2023): each member gets its block of the other
/// dim from all of them, and has all of this one. Whether it is done follows
/// from the whole shape: ranks that have nothing of yet another dim agree.
bool ReshardLowering::exchange(Part &part, unsigned from,
                               const TensorSharding &to) {
  Axes &axes = part.sharding.dims[from].axes;
  if (axes.empty() || part.shape[from] % mesh.count(axes) != 0)
    return false;
  unsigned axis = axes.back();
  Axes kept(axes.begin(), axes.end() - 1);
  int64_t members = mesh.size(axis);
  SmallVector<int64_t> shape(graph::shapeOf(part.value));
  auto becomes = [&](const Axes &has, const Axes &wanted) {
    return has.size() <= wanted.size() &&
           std::equal(has.begin(), has.end(), wanted.begin());
  };
  std::optional<unsigned> found;
  for (auto [d, dim] : llvm::enumerate(part.sharding.dims)) {
    Axes with = dim.axes;
    with.push_back(axis);
    if (d != from && becomes(with, to.dims[d].axes) &&
        part.shape[d] % mesh.count(with) == 0)
      found = d;
  }
  if (!found || !becomes(kept, to.dims[from].axes))
    return false;
  graph::GraphBuilder &g = part.g;
  unsigned into = *found;
  int64_t own = shape[into] / members;
  axes = kept;
  part.sharding.dims[into].axes.push_back(axis);
  if (graph::numElements(part.value) == 0) {
    shape[into] = own;
    shape[from] *= members;
    part.value =
        nothing(g, RankedTensorType::get(shape, graph::elementOf(part.value)));
    return true;
  }
  Value rows = toFront(g, part.value, into);
  SmallVector<int64_t> blocks(members, own);
  Value exchanged = communicate(
      graph::AllToAllOp::create(part.builder, part.loc, rows.getType(), rows,
                                mesh.namesOf({axis}), blocks, blocks),
      "another dim is divided from here on");
  SmallVector<int64_t> apart(graph::shapeOf(rows)), order;
  apart[0] = own;
  apart.insert(apart.begin(), members);
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (d == from)
      order.push_back(0); // the members' parts, one behind the other
    order.push_back(d == into ? 1 : d < into ? d + 2 : d + 1);
  }
  shape[into] = own;
  shape[from] *= members;
  part.value =
      g.reshape(g.transpose(g.reshape(exchanged, apart), order), shape);
  return true;
}

/// The dim stays split along its first `keep` axes.
void ReshardLowering::gather(Part &part, unsigned dim, size_t keep) {
  graph::GraphBuilder &g = part.g;
  Axes &axes = part.sharding.dims[dim].axes;
  Axes gathered(axes.begin() + keep, axes.end());
  axes.truncate(keep);
  graph::Interval outer = graph::blockOf(part.shape[dim], mesh.count(axes),
                                         mesh.index(axes, coordinates));
  Value rows = toFront(g, part.value, dim);
  SmallVector<int64_t> counts;
  for (int64_t member = 0; member < mesh.count(gathered); ++member)
    counts.push_back(block(outer.size(), gathered, member));
  SmallVector<int64_t> shape(graph::shapeOf(rows));
  shape[0] = outer.size();
  auto type = RankedTensorType::get(shape, graph::elementOf(rows));
  if (type.getNumElements() == 0) {
    part.value = fromFront(g, nothing(g, type), dim);
    return;
  }
  // Who has nothing sends nothing.
  Value sent = graph::numElements(rows) ? rows : Value();
  Value whole =
      communicate(graph::AllGatherOp::create(part.builder, part.loc, type, sent,
                                             mesh.namesOf(gathered), counts),
                  "it lies in blocks, and is needed in whole");
  part.value = fromFront(g, whole, dim);
}

/// The rank's block along these axes, on top of those that split the dim.
void ReshardLowering::slice(Part &part, unsigned dim, ArrayRef<unsigned> axes) {
  SmallVector<int64_t> sizes(graph::shapeOf(part.value));
  graph::Interval block = graph::blockOf(sizes[dim], mesh.count(axes),
                                         mesh.index(axes, coordinates));
  int64_t nominal = llvm::divideCeil(sizes[dim], mesh.count(axes));
  SmallVector<int64_t> offsets(sizes.size(), 0), strides(sizes.size(), 1);
  offsets[dim] = block.begin;
  sizes[dim] = block.size();
  llvm::append_range(part.sharding.dims[dim].axes, axes);
  if (llvm::is_contained(sizes, 0)) {
    part.value = part.g.make<graph::FullOp>(
        APFloat(0.0),
        RankedTensorType::get(sizes, graph::elementOf(part.value)));
    return;
  }
  // Offsets of ranks are those of a binding: behind other ops of a kernel they
  // could not be.
  Value whole = isa<BlockArgument>(part.value)
                    ? part.value
                    : part.g.make<graph::StoredOp>(part.value);
  Value cut = part.g.make<graph::SliceOp>(whole, offsets, sizes, strides);
  // One row of steps an element of `offsets`.
  SmallVector<int64_t> steps(sizes.size() * mesh.numAxes(), 0);
  int64_t step = nominal;
  for (unsigned axis : llvm::reverse(axes)) {
    steps[dim * mesh.numAxes() + axis] = step;
    step *= mesh.size(axis);
  }
  Builder builder(cut.getContext());
  cut.getDefiningOp()->setAttr(
      graph::kRankSteps, builder.getDictionaryAttr(builder.getNamedAttr(
                             "offsets", builder.getDenseI64ArrayAttr(steps))));
  part.value = cut;
}

/// A value that all have, as a sum: the first one has it, the others nothing.
void ReshardLowering::keepAtOrigin(Part &part, unsigned axis) {
  part.sharding.sum.push_back(axis);
  llvm::sort(part.sharding.sum); // as a sharding has them
  if (coordinates[axis] != 0)
    part.value = part.g.fullLike(part.value, 0);
}

FailureOr<Value> ReshardLowering::lower(graph::ReshardOp op, Value value,
                                        const TensorSharding &from,
                                        const TensorSharding &to,
                                        OpBuilder &builder) {
  Part part{value,
            from,
            SmallVector<int64_t>(graph::shapeOf(op.getX())),
            graph::GraphBuilder(builder, op.getLoc()),
            builder,
            op.getLoc()};
  TensorSharding &has = part.sharding;
  auto resolve = [&](Axes TensorSharding::*partial, graph::Splitting kind) {
    Axes whole;
    Axes before = has.*partial;
    for (unsigned axis : before) {
      if (llvm::is_contained(to.*partial, axis))
        continue;
      llvm::erase(has.*partial, axis);
      bool inParts = false;
      for (auto [d, dim] : llvm::enumerate(to.dims)) {
        Axes with = has.dims[d].axes;
        with.push_back(axis);
        if (dim.axes == with) {
          sumInParts(part, d, axis, kind);
          inParts = true;
          break;
        }
      }
      if (!inParts)
        whole.push_back(axis);
    }
    if (!whole.empty())
      sumWhole(part, whole, kind);
  };
  resolve(&TensorSharding::sum, graph::Splitting::Sum);
  resolve(&TensorSharding::max, graph::Splitting::Max);
  for (unsigned d = 0; d < to.dims.size(); ++d)
    while (exchange(part, d, to))
      ;
  SmallVector<size_t> common;
  for (auto [d, dim] : llvm::enumerate(to.dims)) {
    const Axes &axes = dim.axes, &hasAxes = has.dims[d].axes;
    size_t same = 0;
    while (same < axes.size() && same < hasAxes.size() &&
           axes[same] == hasAxes[same])
      ++same;
    common.push_back(same);
    if (hasAxes.size() <= same)
      continue;
    gather(part, d, same);
    // A parameter lies as it does where nobody divides it: products go through
    // it in one order then, and stages of ZeRO have equal bits.
    if (d != 0 && isa<BlockArgument>(op.getX()))
      part.value =
          part.g.make<graph::StoredOp>(part.g.make<graph::CopyOp>(part.value));
  }
  for (auto [d, dim] : llvm::enumerate(to.dims))
    if (dim.axes.size() > common[d])
      slice(part, d, ArrayRef<unsigned>(dim.axes).drop_front(common[d]));
  for (unsigned axis : to.sum)
    if (!llvm::is_contained(has.sum, axis))
      keepAtOrigin(part, axis);
  if (!(has == to))
    return op.emitError("cannot make ")
           << op.getTo() << " of " << op.getFrom() << " yet";
  return part.value;
}

} // namespace dl::partition
