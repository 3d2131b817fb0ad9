#include "passes/partition/CheckMesh.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/SourceLine.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "passes/backward/ModelError.h"
#include "passes/partition/OpSharding.h"
#include <numeric>
#include <set>

using namespace mlir;

namespace dl::partition {

static LogicalResult checkMicroBatches(ModuleOp module, const Mesh &mesh) {
  int64_t ranks = mesh.count(mesh.items());
  for (auto step : module.getOps<graph::StepOp>()) {
    int64_t batch = step.getBatch().value_or(0);
    if (!mesh.time || !step.getTraining() || step.getIsShort() ||
        batch % (ranks * mesh.microBatches) == 0)
      continue;
    InFlightDiagnostic error = emitModelError(step);
    error << "a batch of " << batch << " does not give " << mesh.microBatches
          << " equal micro-batches";
    if (ranks > 1)
      error << " on each of " << ranks << " ranks";
    return error << "; a multiple of " << ranks * mesh.microBatches << " does";
  }
  return success();
}

static LogicalResult checkStagesAxis(ModuleOp module, const Mesh &mesh) {
  if (!mesh.stages)
    return success();
  StringRef stages = mesh.name(*mesh.stages).getValue();
  auto refuse = [&](Operation *op) {
    return emitModelError(op) << "the axis '" << stages
                              << "' is that of the pipeline's stages; along it "
                                 "no tensor is divided";
  };
  for (auto state : module.getOps<graph::StateOp>())
    if (graph::ShardingAttr sharding = state.getShardingAttr();
        sharding && TensorSharding::of(sharding, mesh).uses(*mesh.stages))
      return refuse(state);
  for (auto step : module.getOps<graph::StepOp>())
    for (auto shard : step.getOps<graph::ShardOp>())
      if (llvm::is_contained(shard.getAxisOfDims(), stages))
        return refuse(shard);
  return success();
}

/// Stages have different parts of the model, and one batch.
static LogicalResult checkDataAxes(ModuleOp module, const Mesh &mesh) {
  for (unsigned axis : mesh.items())
    if (axis == mesh.stages)
      return emitModelError(meshOf(module))
             << "the axis '" << mesh.name(axis).getValue()
             << "' is that of the pipeline's stages; batches are divided along "
                "another one";
  return success();
}

LogicalResult checkMesh(ModuleOp module, const Mesh &mesh) {
  return success(succeeded(checkDataAxes(module, mesh)) &&
                 succeeded(checkMicroBatches(module, mesh)) &&
                 succeeded(checkStagesAxis(module, mesh)));
}

static std::string namesOf(ArrayRef<unsigned> axes, const Mesh &mesh) {
  std::string names;
  for (unsigned axis : axes)
    names += (names.empty() ? "" : "' and '") + mesh.name(axis).str();
  return names;
}

/// Of a batch in blocks of ceil(items / ranks) the last ones may be empty, and
/// one that does not divide among several axes is divided along one. `told` are
/// the axes that this is said of.
static void warnOfIdleRanks(ModuleOp module, const Mesh &mesh,
                            std::set<unsigned> &told) {
  for (auto step : module.getOps<graph::StepOp>()) {
    int64_t batch = step.getBatch().value_or(0);
    if (!step.getTraining() || step.getIsShort() || batch < 2)
      continue;
    const Axes axes = mesh.itemAxes(batch), wanted = mesh.items();
    int64_t ranks = mesh.count(axes);
    std::string along = namesOf(axes, mesh);
    if (axes.size() < wanted.size()) {
      emitWarning(step.getLoc())
          << "a batch of " << batch << " does not divide among the "
          << mesh.count(wanted) << " ranks along '" << namesOf(wanted, mesh)
          << "'; it is divided along '" << along
          << "' alone, and the others compute the same";
      for (unsigned axis : wanted)
        told.insert(axis);
    }
    int64_t busy = llvm::divideCeil(batch, llvm::divideCeil(batch, ranks));
    if (busy < ranks)
      emitWarning(step.getLoc())
          << "of the " << ranks << " ranks along '" << along << "' "
          << ranks - busy << " have nothing of a batch of " << batch
          << " to do";
  }
}

void warnOfUnusedAxes(ModuleOp module, const Mesh &mesh) {
  std::set<unsigned> told;
  warnOfIdleRanks(module, mesh, told);
  SmallVector<bool> used(mesh.numAll(), false);
  auto note = [&](graph::ShardingAttr sharding) {
    for (const DimSharding &dim : TensorSharding::of(sharding, mesh).dims)
      for (unsigned axis : dim.allAxes())
        used[axis] = true;
  };
  module.walk([&](Operation *op) {
    if (auto factors = op->getAttrOfType<graph::ShardingAttr>(kFactors))
      note(factors);
    if (auto state = dyn_cast<graph::StateOp>(op); state && state.getSharding())
      note(state.getShardingAttr());
  });
  // Of a mesh that the model does not have: it was said on the command line.
  Location place = UnknownLoc::get(module.getContext());
  for (auto op : module.getOps<graph::MeshOp>())
    if (op.getLoc() != module.getLoc())
      place = op.getLoc();
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    if (!used[axis] && axis != mesh.stages && !told.count(axis))
      emitWarning(place) << "the axis '" << mesh.name(axis).getValue()
                         << "' of the mesh divides nothing: its "
                         << mesh.size(axis) << " ranks compute the same";
}

/// The outermost of the dims that a reshape makes of one of its operand's, if
/// it makes several.
static std::optional<unsigned> outermostPart(graph::ReshapeOp reshape,
                                             unsigned dim) {
  ArrayRef<int64_t> from = graph::shapeOf(reshape.getX());
  ArrayRef<int64_t> to = reshape.getShape();
  auto product = [](ArrayRef<int64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                           std::multiplies<>());
  };
  int64_t before = 1, outer = product(from.take_front(dim));
  unsigned first = 0;
  while (first < to.size() && (before < outer || to[first] == 1))
    before *= to[first++];
  if (before != outer || first == to.size() || from[dim] % to[first] != 0 ||
      from[dim] == to[first])
    return std::nullopt;
  return first;
}

/// A size that the ranks of an axis do not divide, so that each gets all of it.
struct Undivided {
  unsigned axis;
  int64_t size;
  int64_t sections; ///< of which each has so many
};

/// A view or a slice that takes parts of a tensor, of which it is given all.
class UndividedOperand {
public:
  UndividedOperand(Operation *op, const Mesh &mesh) : op(op), mesh(mesh) {
    Value x = op->getOperand(0);
    auto reshard = x.getDefiningOp<graph::ReshardOp>();
    // What lies in parts of sections is gathered as a view of them.
    auto joined = x.getDefiningOp<graph::ReshapeOp>();
    auto apart = joined ? joined.getX().getDefiningOp<graph::ReshardOp>()
                        : graph::ReshardOp();
    auto before = apart ? apart.getX().getDefiningOp<graph::ReshapeOp>()
                        : graph::ReshapeOp();
    if (reshard) {
      from = TensorSharding::of(reshard.getFrom(), mesh);
      to = TensorSharding::of(reshard.getTo(), mesh);
    } else if (before && before.getX().getType() == x.getType()) {
      from = OpSharding::of(before, mesh).operand(0, {});
      to = OpSharding::of(joined, mesh).result(0);
    }
  }

  std::optional<Undivided> find() const {
    if (graph::roleOf(op->getLoc()) != graph::StepRole::Forward)
      return std::nullopt;
    for (unsigned dim = 0; dim < from.dims.size(); ++dim)
      if (std::optional<int64_t> size = sizeWithin(dim))
        for (unsigned axis : from.dims[dim].allAxes())
          if (!llvm::is_contained(mesh.items(), axis) && axis != mesh.time &&
              !to.uses(axis) && *size % mesh.size(axis) != 0)
            return Undivided{axis, *size,
                             isa<graph::ReshapeOp>(op) ? sections(dim) : 1};
    return std::nullopt;
  }

private:
  int64_t sections(unsigned dim) const {
    const DimSharding &divided = from.dims[dim];
    return divided.digits.size() == 2 && divided.digits[0].axes.empty()
               ? divided.digits[0].size
               : 1;
  }

  /// The size that a view makes the outermost of a dim, or that a slice takes
  /// of it.
  std::optional<int64_t> sizeWithin(unsigned dim) const {
    if (auto view = dyn_cast<graph::ReshapeOp>(op)) {
      std::optional<unsigned> part = outermostPart(view, dim);
      if (!part)
        return std::nullopt;
      ArrayRef<int64_t> shape = view.getShape().drop_front(*part);
      if (shape[0] == sections(dim) && shape.size() > 1)
        return shape[1]; // the sections are a dim of their own
      return shape[0] % sections(dim) == 0 ? shape[0] / sections(dim)
                                           : shape[0];
    }
    int64_t size = cast<graph::SliceOp>(op).getSizes()[dim];
    return size == graph::shapeOf(op->getOperand(0))[dim] ? std::nullopt
                                                          : std::optional(size);
  }

  Operation *op;
  const Mesh &mesh;
  TensorSharding from, to; ///< of no dims where it is not gathered
};

void warnOfUndividedViews(ModuleOp module, const Mesh &mesh) {
  std::set<std::string> said; // of all blocks that share a line, once
  module.walk([&](Operation *op) {
    // (What an evaluation looks at besides, a few weights, say, is little.)
    bool isSlice = isa<graph::SliceOp>(op) &&
                   op->getParentOfType<graph::StepOp>().getTraining();
    if (!isSlice && !isa<graph::ReshapeOp>(op))
      return;
    std::optional<Undivided> found = UndividedOperand(op, mesh).find();
    if (!found ||
        !said.insert(graph::sourceLineOf(op->getLoc()).lineText()).second)
      return;
    auto [axis, size, sections] = *found;
    if (isSlice && size == 1) {
      emitWarning(op->getLoc())
          << graph::typeText(op->getOperand(0).getType())
          << " lies in parts along '" << mesh.name(axis).getValue()
          << "', and one position of it is taken: each rank gets all of it, "
             "and computes the same";
      return;
    }
    std::string ofEach =
        sections == 1 ? "" : " in each of " + std::to_string(sections);
    emitWarning(op->getLoc())
        << graph::typeText(op->getOperand(0).getType())
        << " lies in parts along '" << mesh.name(axis).getValue() << "', and "
        << size << ofEach << " of "
        << graph::typeText(op->getResult(0).getType())
        << " does not divide among " << mesh.size(axis)
        << " ranks: each gets all of it, and computes the same; a multiple of "
        << mesh.size(axis) << " would stay in parts";
  });
}

/// The values of a step that its batch has a part in.
static llvm::DenseSet<Value> madeOfItems(graph::StepOp step) {
  llvm::DenseSet<Value> made;
  for (BlockArgument argument : step.getBody().getArguments())
    if (graph::portOf(argument).asInput())
      made.insert(argument);
  for (Operation &op : step.getBody().front())
    if (llvm::any_of(op.getOperands(),
                     [&](Value x) { return made.contains(x); }))
      made.insert(op.result_begin(), op.result_end());
  return made;
}

/// From this part of the work on.
static constexpr double kMuchRepeated = 0.1;

void warnOfRepeatedProducts(ModuleOp module, const Mesh &mesh) {
  for (auto step : module.getOps<graph::StepOp>()) {
    int64_t batch = step.getBatch().value_or(0);
    const Axes axes = mesh.itemAxes(batch);
    if (!step.getTraining() || step.getIsShort() || mesh.count(axes) < 2)
      continue;
    llvm::DenseSet<Value> made = madeOfItems(step);
    double repeated = 0, divided = 0;
    graph::LoopNestOpInterface most;
    for (auto op : step.getOps<graph::LoopNestOpInterface>()) {
      if (!op.getLoopNest().contraction || !made.contains(op->getResult(0)) ||
          graph::roleOf(op->getLoc()) == graph::StepRole::Update)
        continue;
      auto factors = op->getAttrOfType<graph::ShardingAttr>(kFactors);
      double points = static_cast<double>(op.getLoopNest().points());
      bool uses = factors && llvm::any_of(axes, [&](unsigned axis) {
                    return TensorSharding::of(factors, mesh).uses(axis);
                  });
      (uses ? divided : repeated) += points;
      if (!uses && (!most || points > most.getLoopNest().points()))
        most = op;
    }
    double ranks = static_cast<double>(mesh.count(axes));
    double share = repeated / (repeated + divided / ranks);
    if (most && share >= kMuchRepeated)
      emitWarning(most->getLoc())
          << "the ranks along '" << namesOf(axes, mesh)
          << "' compute this product alike, "
          << graph::typeText(most->getResult(0).getType()) << ", and with it "
          << static_cast<int64_t>(100 * share + 0.5)
          << " % of each one's products: none of its dims "
             "is one of items; .shard() divides another one";
  }
}

} // namespace dl::partition
