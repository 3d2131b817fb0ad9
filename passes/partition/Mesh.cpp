#include "passes/partition/Mesh.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/Step.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

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
  for (auto name : op.getReplicas().getAsRange<StringAttr>())
    if (auto found = axis(name.getValue()))
      replicas.push_back(*found);
  microBatches = op.getMicroBatches();
  if (microBatches > 1) {
    time = names.size();
    names.push_back(StringAttr::get(context, "micro-batches"));
    sizes.push_back(microBatches);
  }
}

Axes Mesh::items() const {
  Axes axes = replicas;
  if (data)
    axes.push_back(*data);
  return axes;
}

Axes Mesh::itemAxes(int64_t size) const {
  Axes axes = items();
  if (axes.size() < 2 || size % count(axes) == 0)
    return axes;
  unsigned best = axes.back();
  for (unsigned axis : axes)
    if (llvm::divideCeil(size, sizes[axis]) <
        llvm::divideCeil(size, sizes[best]))
      best = axis;
  return {best};
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

/// Whether the parts of two digits next to each other are blocks of both.
static bool areBlocks(const Digit &outer, const Digit &inner,
                      const Mesh &mesh) {
  int64_t count = mesh.count(outer.axes);
  if (inner.axes.empty())
    return llvm::divideCeil(outer.size, count) * inner.size ==
           llvm::divideCeil(outer.size * inner.size, count);
  return outer.size == count && inner.size % mesh.count(inner.axes) == 0;
}

DimSharding DimSharding::of(ArrayRef<Digit> digits, const Mesh &mesh) {
  SmallVector<Digit, 0> joined;
  for (const Digit &digit : digits) {
    if (digit.size == 1 && digit.axes.empty())
      continue;
    if (joined.empty() || !areBlocks(joined.back(), digit, mesh)) {
      joined.push_back(digit);
      continue;
    }
    joined.back().size *= digit.size;
    llvm::append_range(joined.back().axes, digit.axes);
  }
  DimSharding sharding;
  if (joined.size() == 1)
    sharding.axes = joined.front().axes;
  else
    sharding.digits = std::move(joined);
  return sharding;
}

Axes DimSharding::allAxes() const {
  Axes all = axes;
  for (const Digit &digit : digits)
    llvm::append_range(all, digit.axes);
  return all;
}

bool DimSharding::uses(unsigned axis) const {
  return llvm::is_contained(allAxes(), axis);
}

void DimSharding::erase(unsigned axis, const Mesh &mesh) {
  llvm::erase(axes, axis);
  if (digits.empty())
    return;
  for (Digit &digit : digits)
    llvm::erase(digit.axes, axis);
  *this = of(SmallVector<Digit>(digits.begin(), digits.end()), mesh);
}

SmallVector<Digit> DimSharding::digitsOf(int64_t size) const {
  if (digits.empty())
    return {{size, axes}};
  return SmallVector<Digit>(digits.begin(), digits.end());
}

std::optional<std::vector<DimSharding>>
DimSharding::over(ArrayRef<int64_t> sizes, const Mesh &mesh) const {
  SmallVector<SmallVector<Digit>> parts(sizes.size()); // of each of the dims
  size_t at = 0;
  int64_t whole = llvm::product_of(sizes), left = sizes.empty() ? 1 : sizes[0];
  for (Digit rest : digitsOf(whole))
    while (rest.size != 1 || !rest.axes.empty()) {
      if (rest.size == 1)
        return std::nullopt; // More axes than elements.
      while (left == 1 && at + 1 < sizes.size())
        left = sizes[++at];
      if (rest.size <= left) {
        if (left % rest.size != 0)
          return std::nullopt;
        parts[at].push_back(rest);
        left /= rest.size;
        break;
      }
      // The digit is this dim, or what is left of it, and more.
      if (left == 1 || rest.size % left != 0)
        return std::nullopt;
      Axes taken = rest.axes;
      while (taken.size() > 1 && mesh.count(taken) > left)
        taken.pop_back();
      parts[at].push_back({left, taken});
      rest.axes.erase(rest.axes.begin(), rest.axes.begin() + taken.size());
      rest.size /= left;
      left = 1;
    }
  std::vector<DimSharding> shardings;
  SmallVector<Digit> joined;
  for (auto [size, part] : llvm::zip_equal(sizes, parts)) {
    shardings.push_back(of(part, mesh));
    llvm::append_range(joined, shardings.back().digitsOf(size));
  }
  if (of(joined, mesh) != *this)
    return std::nullopt;
  return shardings;
}

/// A name is an axis of blocks, a list a digit: its size and its axes.
static DimSharding dimOf(ArrayAttr attr, const Mesh &mesh) {
  DimSharding dim;
  if (attr.empty() || isa<StringAttr>(attr[0]))
    return mesh.axesOf(attr);
  for (auto digit : attr.getAsRange<ArrayAttr>()) {
    ArrayAttr names =
        ArrayAttr::get(attr.getContext(), digit.getValue().drop_front());
    dim.digits.push_back(
        {cast<IntegerAttr>(digit[0]).getInt(), mesh.axesOf(names)});
  }
  return dim;
}

static ArrayAttr attrOf(const DimSharding &dim, const Mesh &mesh) {
  ArrayAttr blocks = mesh.namesOf(dim.axes);
  if (dim.digits.empty())
    return blocks;
  Builder builder(blocks.getContext());
  SmallVector<Attribute> digits;
  for (const Digit &digit : dim.digits) {
    SmallVector<Attribute> entry{builder.getI64IntegerAttr(digit.size)};
    llvm::append_range(entry, mesh.namesOf(digit.axes));
    digits.push_back(builder.getArrayAttr(entry));
  }
  return builder.getArrayAttr(digits);
}

TensorSharding TensorSharding::of(graph::ShardingAttr attr, const Mesh &mesh) {
  TensorSharding sharding;
  for (auto dim : attr.getDims().getAsRange<ArrayAttr>())
    sharding.dims.push_back(dimOf(dim, mesh));
  sharding.sum = mesh.axesOf(attr.getSum());
  sharding.max = mesh.axesOf(attr.getMax());
  return sharding;
}

graph::ShardingAttr TensorSharding::attr(const Mesh &mesh) const {
  SmallVector<Attribute> list;
  for (const DimSharding &dim : dims)
    list.push_back(attrOf(dim, mesh));
  ArrayAttr sumNames = mesh.namesOf(sum), maxNames = mesh.namesOf(max);
  MLIRContext *context = sumNames.getContext();
  return graph::ShardingAttr::get(context, ArrayAttr::get(context, list),
                                  sumNames, maxNames);
}

bool TensorSharding::isWhole() const {
  return !isPartial() && llvm::all_of(dims, [](const DimSharding &dim) {
    return dim.isWhole();
  });
}

bool TensorSharding::uses(unsigned axis) const {
  return llvm::is_contained(sum, axis) || llvm::is_contained(max, axis) ||
         llvm::any_of(dims,
                      [&](const DimSharding &dim) { return dim.uses(axis); });
}

void TensorSharding::erase(unsigned axis, const Mesh &mesh) {
  llvm::erase(sum, axis);
  llvm::erase(max, axis);
  for (DimSharding &dim : dims)
    dim.erase(axis, mesh);
}

bool TensorSharding::hasDigits() const {
  return llvm::any_of(
      dims, [](const DimSharding &dim) { return !dim.digits.empty(); });
}

TensorSharding TensorSharding::along(unsigned axis) const {
  TensorSharding found = whole(dims.size());
  if (llvm::is_contained(sum, axis))
    found.sum.push_back(axis);
  if (llvm::is_contained(max, axis))
    found.max.push_back(axis);
  for (auto [from, to] : llvm::zip_equal(dims, found.dims)) {
    if (!from.digits.empty() && from.uses(axis))
      to = from;
    else if (const unsigned *at = llvm::find(from.axes, axis);
             at != from.axes.end())
      to.axes.assign(from.axes.begin(), at + 1);
  }
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
      sharding.dims[0].axes.push_back(*mesh.time);
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
  for (auto [whole, dim] : llvm::zip_equal(shape, sharding.dims)) {
    int64_t offset = 0, size = 1;
    for (const Digit &digit : dim.digitsOf(whole)) {
      graph::Interval block =
          graph::blockOf(digit.size, mesh.count(digit.axes),
                         mesh.index(digit.axes, coordinates));
      offset = offset * digit.size + block.begin;
      size *= block.size();
    }
    box.offsets.push_back(offset);
    box.sizes.push_back(size);
  }
  return box;
}

} // namespace dl::partition
