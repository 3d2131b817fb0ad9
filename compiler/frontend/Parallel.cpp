#include "compiler/frontend/Parallel.h"
#include "compiler/frontend/Suggest.h"
#include "dialects/graph/Inference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;

namespace dl::frontend {

static std::string lineOf(const std::vector<Frame> &frames) {
  return frames.empty()
             ? "another line"
             : frames.front().file + ":" + std::to_string(frames.front().line);
}

void Parallel::addAxis(const std::string &name, int64_t size) {
  if (name.empty() || size < 1)
    reporter.fail("dl::Mesh: the axis '" + name + "' has " +
                  std::to_string(size) + " ranks; 1 is the least");
  for (const Axis &axis : axes)
    if (axis.name == name)
      reporter.fail("dl::Mesh: the axis '" + name + "' is there twice");
  axes.push_back({name, size});
}

/// What a mesh of the command line may have instead is not known here.
void Parallel::requireAxis(const std::string &name) {
  if (axes.empty() ||
      llvm::any_of(axes, [&](const Axis &axis) { return axis.name == name; }))
    return;
  std::vector<std::string> names;
  for (const Axis &axis : axes)
    names.push_back(axis.name);
  std::string better = nearest(name, names);
  reporter.fail("the mesh has no axis '" + name + "'; " +
                (better.empty() ? "it has " + llvm::join(names, ", ")
                                : "did you mean '" + better + "'?"));
}

void Parallel::setData(const std::string &axis) {
  requireAxis(axis);
  data = axis;
}

void Parallel::setZero(const std::string &axis, int64_t stage) {
  requireAxis(axis);
  if (stage < 0 || stage > 3)
    reporter.fail("parallel::zero: the stages are 0 to 3, not " +
                  std::to_string(stage));
  if (axis != data)
    reporter.fail("parallel::zero: what is divided along '" + axis +
                  "' must be copies of each other: the axis of the data, '" +
                  data + "'");
  zero = stage;
}

void Parallel::setPipeline(const std::string &axis, const std::string &pattern,
                           int64_t count, const std::string &order) {
  requireAxis(axis);
  if (count < 1)
    reporter.fail("parallel::pipeline: microbatches is " +
                  std::to_string(count) + "; 1 is the least");
  if (order != "gpipe" && order != "1f1b")
    reporter.fail("parallel::pipeline: '" + order +
                  "' is no schedule; gpipe and 1f1b are");
  stages = axis;
  blocks = pattern;
  microBatches = count;
  schedule = order;
}

void Parallel::addToStage(const std::string &axis, int64_t stage,
                          const std::string &modules) {
  requireAxis(axis);
  stages = axis;
  if (cut.size() <= static_cast<size_t>(stage))
    cut.resize(stage + 1);
  cut[stage].push_back(modules);
}

void Parallel::place(const std::string &modules, const std::string &style,
                     const std::string &axis) {
  requireAxis(axis);
  if (style != "colwise" && style != "rowwise")
    reporter.fail("parallel::tensor: '" + style +
                  "' is no style; colwise and rowwise are");
  placements.push_back({modules, style, axis, here()});
}

/// "h.*.mlp" and "h.0.mlp".
static bool matches(StringRef pattern, StringRef path) {
  SmallVector<StringRef> wanted, names;
  pattern.split(wanted, '.');
  path.split(names, '.');
  return llvm::equal(wanted, names, [](StringRef part, StringRef name) {
    return part == "*" || part == name;
  });
}

/// A Linear's weight is [out, in], its bias [out].
bool Parallel::divide(const Placement &placement, dl::graph::StateOp state,
                      StringRef parameter, Dims &dims) {
  auto type = cast<RankedTensorType>(state.getType());
  bool byOutputs = placement.style == "colwise";
  if (!byOutputs && type.getRank() < 2)
    return true; // all ranks add the whole bias, once
  size_t dim = byOutputs ? 0 : 1;
  if (type.getRank() == 0)
    return false;
  if (dims[dim] && dims[dim]->axis == placement.axis)
    return true;
  for (const Placement *other : dims)
    if (other && (other == dims[dim] || other->axis == placement.axis))
      reporter.failAt(placement.frames,
                      "parallel::tensor: '" + parameter.str() + "' is " +
                          placement.style + " along '" + placement.axis +
                          "' here, and " + other->style + " along '" +
                          other->axis + "' at " + lineOf(other->frames));
  dims[dim] = &placement;
  return true;
}

void Parallel::write(OpBuilder &builder, ModuleOp module) {
  MLIRContext *context = module.getContext();
  if (!axes.empty() || zero || data != "dp" || stages != "pp" ||
      !blocks.empty() || !cut.empty() || microBatches > 1) {
    SmallVector<Attribute> list, cutList;
    if (!blocks.empty())
      cutList.push_back(builder.getStringAttr(blocks));
    for (const auto &modules : cut)
      cutList.push_back(builder.getStrArrayAttr(
          SmallVector<StringRef>(modules.begin(), modules.end())));
    for (const Axis &axis : axes)
      list.push_back(dl::graph::AxisAttr::get(context, axis.name, axis.size));
    dl::graph::MeshOp::create(
        builder, module.getLoc(), builder.getArrayAttr(list), data, zero,
        stages, microBatches, schedule, builder.getArrayAttr(cutList));
  }
  std::map<std::string, Dims> divided;
  std::vector<std::string> paths;
  for (auto state : module.getOps<dl::graph::StateOp>())
    if (state.getRole() == "parameter")
      paths.push_back(state.getSymName().rsplit('.').first.str());
  for (const Placement &placement : placements) {
    bool found = false;
    for (auto state : module.getOps<dl::graph::StateOp>()) {
      if (state.getRole() != "parameter")
        continue;
      SmallVector<StringRef> names{state.getSymName()};
      if (ArrayAttr aliases = state.getAliasesAttr())
        llvm::append_range(names, aliases.getAsValueRange<StringAttr>());
      for (StringRef name : names) {
        if (!matches(placement.modules, name.rsplit('.').first))
          continue;
        found = true;
        Dims &dims = divided[state.getSymName().str()];
        dims.resize(cast<RankedTensorType>(state.getType()).getRank());
        divide(placement, state, name, dims);
      }
    }
    if (found)
      continue;
    std::string better = nearest(placement.modules, paths);
    reporter.failAt(
        placement.frames,
        "parallel::tensor: no module with parameters is called '" +
            placement.modules + "'" +
            (better.empty()
                 ? "; the first is '" + (paths.empty() ? "" : paths[0]) + "'"
                 : "; did you mean '" + better + "'?"));
  }
  for (auto state : module.getOps<dl::graph::StateOp>()) {
    auto it = divided.find(state.getSymName().str());
    if (it == divided.end())
      continue;
    SmallVector<Attribute> dims;
    for (const Placement *placement : it->second)
      dims.push_back(placement ? builder.getStrArrayAttr({placement->axis})
                               : builder.getArrayAttr({}));
    ArrayAttr none = builder.getArrayAttr({});
    state.setShardingAttr(dl::graph::ShardingAttr::get(
        context, builder.getArrayAttr(dims), none, none));
  }
}

} // namespace dl::frontend
