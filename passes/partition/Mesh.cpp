#include "passes/partition/Mesh.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/Step.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dl::partition {

Mesh::Mesh(graph::MeshOp op)
    : zero(op.getZero()), pipeline(graph::pipelineOf(op)),
      context(op.getContext()) {
  for (auto axis : op.getAxes().getAsRange<graph::AxisAttr>()) {
    if (axis.getName() == op.getData())
      data = names.size();
    if (axis.getName() == op.getStages())
      stages = names.size();
    names.push_back(StringAttr::get(context, axis.getName()));
    sizes.push_back(axis.getSize());
  }
  microBatches = op.getMicroBatches();
  if (microBatches > 1) {
    time = names.size();
    names.push_back(StringAttr::get(context, "micro-batches"));
    sizes.push_back(microBatches);
  }
}

int64_t Mesh::ranks() const {
  int64_t count = 1;
  for (unsigned axis = 0; axis < numAxes(); ++axis)
    count *= sizes[axis];
  return count;
}

int64_t Mesh::count(ArrayRef<unsigned> axes) const {
  int64_t count = 1;
  for (unsigned axis : axes)
    count *= sizes[axis];
  return count;
}

Coordinates Mesh::coordinates(int64_t rank) const {
  Coordinates result = origin();
  for (size_t axis = numAxes(); axis-- > 0;) {
    result[axis] = rank % sizes[axis];
    rank /= sizes[axis];
  }
  return result;
}

int64_t Mesh::rankOf(ArrayRef<int64_t> coordinates) const {
  int64_t rank = 0;
  for (unsigned axis = 0; axis < numAxes(); ++axis)
    rank = rank * sizes[axis] + coordinates[axis];
  return rank;
}

int64_t Mesh::index(ArrayRef<unsigned> axes,
                    ArrayRef<int64_t> coordinates) const {
  int64_t index = 0;
  for (unsigned axis : axes)
    index = index * sizes[axis] + coordinates[axis];
  return index;
}

ArrayAttr Mesh::namesOf(ArrayRef<unsigned> axes) const {
  SmallVector<Attribute> list;
  for (unsigned axis : axes)
    list.push_back(names[axis]);
  return ArrayAttr::get(context, list);
}

std::optional<unsigned> Mesh::axis(StringRef name) const {
  for (unsigned axis = 0; axis < numAxes(); ++axis)
    if (names[axis].getValue() == name)
      return axis;
  return std::nullopt;
}

Axes Mesh::axesOf(ArrayAttr list) const {
  Axes axes;
  for (auto name : list.getAsRange<StringAttr>())
    axes.push_back(llvm::find(names, name) - names.begin());
  return axes;
}

graph::MeshOp meshOf(ModuleOp module) {
  for (auto mesh : module.getOps<graph::MeshOp>())
    return mesh;
  return {};
}

TensorSharding TensorSharding::of(graph::ShardingAttr attr, const Mesh &mesh) {
  TensorSharding sharding;
  for (auto dim : attr.getDims().getAsRange<ArrayAttr>())
    sharding.dims.push_back(mesh.axesOf(dim));
  sharding.sum = mesh.axesOf(attr.getSum());
  sharding.max = mesh.axesOf(attr.getMax());
  return sharding;
}

graph::ShardingAttr TensorSharding::attr(const Mesh &mesh) const {
  SmallVector<Attribute> list;
  for (const Axes &dim : dims)
    list.push_back(mesh.namesOf(dim));
  ArrayAttr sumNames = mesh.namesOf(sum), maxNames = mesh.namesOf(max);
  MLIRContext *context = sumNames.getContext();
  return graph::ShardingAttr::get(context, ArrayAttr::get(context, list),
                                  sumNames, maxNames);
}

bool TensorSharding::isWhole() const {
  return !isPartial() &&
         llvm::all_of(dims, [](const Axes &dim) { return dim.empty(); });
}

bool TensorSharding::uses(unsigned axis) const {
  auto has = [&](const Axes &axes) { return llvm::is_contained(axes, axis); };
  return has(sum) || has(max) || llvm::any_of(dims, has);
}

void TensorSharding::erase(unsigned axis) {
  llvm::erase(sum, axis);
  llvm::erase(max, axis);
  for (Axes &axes : dims)
    llvm::erase(axes, axis);
}

TensorSharding TensorSharding::along(unsigned axis) const {
  TensorSharding found = whole(dims.size());
  if (llvm::is_contained(sum, axis))
    found.sum.push_back(axis);
  if (llvm::is_contained(max, axis))
    found.max.push_back(axis);
  for (auto [from, to] : llvm::zip_equal(dims, found.dims))
    if (const unsigned *at = llvm::find(from, axis); at != from.end())
      to.assign(from.begin(), at + 1);
  return found;
}

TensorSharding argumentSharding(BlockArgument argument, const Mesh &mesh) {
  auto step = cast<graph::StepOp>(argument.getOwner()->getParentOp());
  ArrayRef<int64_t> shape = graph::shapeOf(argument);
  TensorSharding sharding = TensorSharding::whole(shape.size());
  graph::PortAttr port = step.getArgPort(argument.getArgNumber());
  if (port.asInput() && !shape.empty() && shape[0] > 1) {
    if (auto batch = step->getAttrOfType<ArrayAttr>(kBatchAxes))
      sharding.dims[0] = mesh.axesOf(batch);
    if (step->hasAttr(kMicroBatches))
      sharding.dims[0].push_back(*mesh.time);
  }
  if (FlatSymbolRefAttr name = port.asState()) {
    auto state = SymbolTable::lookupNearestSymbolFrom<graph::StateOp>(
        step->getParentOp(), name);
    if (state.getShardingAttr())
      sharding = TensorSharding::of(state.getShardingAttr(), mesh);
  }
  return sharding;
}

graph::Box boxOf(ArrayRef<int64_t> shape, const TensorSharding &sharding,
                 const Mesh &mesh, ArrayRef<int64_t> coordinates) {
  graph::Box box;
  for (auto [size, axes] : llvm::zip_equal(shape, sharding.dims)) {
    graph::Interval block =
        graph::blockOf(size, mesh.count(axes), mesh.index(axes, coordinates));
    box.offsets.push_back(block.begin);
    box.sizes.push_back(block.size());
  }
  return box;
}

} // namespace dl::partition
