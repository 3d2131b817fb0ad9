#include "compiler/frontend/Parallel.h"
#include "compiler/frontend/Locations.h"
#include "compiler/frontend/Suggest.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/ModulePattern.h"
#include "dialects/graph/PipelineOrder.h"
#include "dialects/graph/Step.h"
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
  meshFrames = here();
}

void Parallel::requireAxis(const std::string &name) {
  if (axes.empty() ||
      llvm::any_of(axes, [&](const Axis &axis) { return axis.name == name; }))
    return;
  std::vector<std::string> names;
  for (const Axis &axis : axes)
    names.push_back(axis.name);
  std::string better = nearest(name, names);
  reporter.fail("dl::Mesh has no axis '" + name + "'; " +
                (better.empty() ? "it has " + llvm::join(names, ", ")
                                : "did you mean '" + better + "'?"));
}

void Parallel::setData(std::vector<std::string> names) {
  if (names.empty())
    reporter.fail("parallel::data: along which axes?");
  for (auto axis = names.begin(); axis != names.end(); ++axis) {
    requireAxis(*axis);
    if (std::find(names.begin(), axis, *axis) != axis)
      reporter.fail("parallel::data: '" + *axis + "' is named twice");
  }
  std::vector<std::string> before = replicas;
  before.push_back(data);
  if (!dataFrames.empty() && names != before)
    reporter.fail("parallel::data: batches are divided along '" +
                  llvm::join(before, "', '") + "' at " + lineOf(dataFrames) +
                  " already");
  dataFrames = here();
  data = names.back();
  names.pop_back();
  replicas = std::move(names);
}

void Parallel::setZero(const std::string &axis, int64_t stage) {
  requireAxis(axis);
  if (stage < 0 || stage > 3)
    reporter.fail("parallel::zero: the stages are 0 to 3, not " +
                  std::to_string(stage));
  if (axis != data)
    reporter.fail(
        "parallel::zero: what is divided along '" + axis +
        "' must be copies of each other: the last axis of the data, '" + data +
        "'");
  zero = stage;
}

void Parallel::setPipeline(const std::string &axis, const std::string &pattern,
                           int64_t count, const std::string &order,
                           int64_t perRank) {
  requireAxis(axis);
  if (count < 1)
    reporter.fail("parallel::pipeline: microbatches is " +
                  std::to_string(count) + "; 1 is the least");
  std::optional<graph::PipelineSchedule> known =
      graph::pipelineScheduleOf(order);
  if (!known)
    reporter.fail("parallel::pipeline: '" + order + "' is no schedule; " +
                  graph::kPipelineSchedules.str() + " are");
  if (perRank == 0)
    perRank = graph::usualStagesPerRank(*known);
  if (std::string why = graph::whyNotOnEachRank(order, perRank); !why.empty())
    reporter.fail("parallel::pipeline: " + why);
  if (!pattern.empty())
    refuseSecondCut("parallel::pipeline");
  stages = axis;
  stagesPerRank = perRank;
  microBatches = count;
  schedule = order;
  meshFrames = here();
  if (!pattern.empty())
    cut = {pattern, walks.lastWalk(), {}, {}, meshFrames};
}

void Parallel::addToStage(const std::string &axis, int64_t stage,
                          const std::string &modules) {
  requireAxis(axis);
  size_t number = static_cast<size_t>(stage);
  bool beginsAgain = number == 0 && cut.stages.size() > 1;
  if (beginsAgain || !cut.blocks.empty())
    refuseSecondCut("parallel::stages");
  stages = axis;
  cut.frames = meshFrames = here();
  if (cut.stages.size() <= number)
    cut.stages.resize(number + 1);
  cut.stages[number].push_back(modules);
}

void Parallel::refuseSecondCut(const std::string &function) {
  if (cut.isThere())
    reporter.fail(function + ": the model is cut into stages at " +
                  lineOf(cut.frames) + " already");
}

void Parallel::place(const std::string &pattern, const std::string &style,
                     const std::string &axis) {
  requireAxis(axis);
  if (style != "colwise" && style != "rowwise")
    reporter.fail("parallel::tensor: '" + style +
                  "' is no style; colwise and rowwise are");
  placements.push_back({pattern, style, axis, walks.lastWalk(), here()});
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
  if (type.getDimSize(dim) == 1)
    return true; // all have it
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

/// The modules with parameters or buffers of their own, each once, and what is
/// in an outermost one itself.
static std::vector<std::string> modulePaths(ModuleOp module) {
  std::vector<std::string> paths;
  std::set<StringRef> apart;
  for (auto state : module.getOps<dl::graph::StateOp>())
    if (auto prefix = state->getAttrOfType<StringAttr>(dl::graph::kApart))
      apart.insert(prefix.getValue());
  for (auto state : module.getOps<dl::graph::StateOp>())
    if (state.getRole() == "parameter" || state.getRole() == "buffer") {
      StringRef name = state.getSymName();
      std::string path =
          (name.contains('.') ? name.rsplit('.').first : name).str();
      if (apart.count(path))
        paths.push_back(name.str());
      if (!llvm::is_contained(paths, path))
        paths.push_back(path);
    }
  return paths;
}

void Parallel::failUnknown(const std::vector<Frame> &frames,
                           const std::string &function,
                           const std::string &pattern,
                           const std::vector<std::string> &paths) {
  std::vector<std::string> alike, within;
  for (const std::string &path : paths) {
    alike.push_back(dl::graph::inFormOf(pattern, path));
    if (auto prefix = dl::graph::matchedPrefix(pattern, path))
      if (std::string inside = pattern + path.substr(prefix->size());
          !llvm::is_contained(within, inside) && within.size() < 3)
        within.push_back(inside);
  }
  if (!within.empty())
    reporter.failAt(frames, function + ": '" + pattern +
                                "' has no parameters of its own; '" +
                                llvm::join(within, "', '") + "' do");
  auto [module, last] = StringRef(pattern).rsplit('.');
  bool namesParameter = llvm::any_of(paths, [&](const std::string &path) {
    return dl::graph::namesModule(module, path);
  });
  std::string better = nearest(pattern, alike);
  std::string hint;
  if (namesParameter && (last == "weight" || last == "bias"))
    hint = "; leave out '." + last.str() + "'";
  else if (!better.empty())
    hint = "; did you mean '" + better + "'?";
  else if (!paths.empty())
    hint = "; the first is '" + paths.front() + "'";
  reporter.failAt(frames, function + ": no module with parameters is called '" +
                              pattern + "'" + hint);
}

Parallel::Scope Parallel::scopeOf(Within within, NamesOf namesOf) const {
  Scope scope;
  std::set<std::string> prefixes; // that all have; a tied one has several
  bool isFirst = true;
  for (const dl_named_parameter &own : within) {
    std::vector<std::string> names = namesOf(own.parameter);
    if (names.empty())
      continue; // no step uses it
    std::set<std::string> possible;
    for (StringRef name : names)
      if (name == own.name || name.ends_with("." + std::string(own.name)))
        if (std::string prefix =
                name.drop_back(StringRef(own.name).size()).str();
            isFirst || prefixes.count(prefix))
          possible.insert(prefix);
    if (!possible.empty()) {
      prefixes = std::move(possible);
      isFirst = false;
    }
    scope.parameters.insert(names.front());
    StringRef path = own.name;
    if (path.contains('.'))
      path = path.rsplit('.').first;
    if (!llvm::is_contained(scope.paths, path))
      scope.paths.push_back(path.str());
  }
  if (!prefixes.empty())
    scope.prefix = *prefixes.begin();
  return scope;
}

/// Also by the path in the whole model.
std::optional<std::string> Parallel::Scope::resolve(StringRef pattern) const {
  std::string inModel = prefix + pattern.str();
  for (const std::string &wanted : {inModel, pattern.str()})
    for (const std::string &path : paths)
      if (dl::graph::matchedPrefix(wanted, prefix + path))
        return wanted;
  return std::nullopt;
}

/// Patterns name something, whatever mesh the command line may want.
void Parallel::checkCut(ModuleOp module, NamesOf namesOf) {
  if (!cut.blocks.empty()) {
    Scope scope = scopeOf(cut.within, namesOf);
    std::optional<std::string> pattern = scope.resolve(cut.blocks);
    if (!pattern)
      failUnknown(cut.frames, "parallel::pipeline", cut.blocks, scope.paths);
    cut.blocks = *pattern;
    cut.prefix = scope.prefix;
  }
  std::vector<std::string> paths = modulePaths(module);
  for (const auto &modules : cut.stages)
    for (const std::string &pattern : modules)
      if (llvm::none_of(paths, [&](const std::string &path) {
            return dl::graph::matchedPrefix(pattern, path).has_value();
          }))
        failUnknown(cut.frames, "parallel::stages", pattern, paths);
}

void Parallel::writeMesh(OpBuilder &builder, ModuleOp module) {
  SmallVector<Attribute> list, cutList;
  if (!cut.blocks.empty())
    cutList.push_back(builder.getStringAttr(cut.blocks));
  if (!cut.prefix.empty())
    cutList.push_back(builder.getStringAttr(cut.prefix));
  for (const auto &modules : cut.stages)
    cutList.push_back(builder.getStrArrayAttr(
        SmallVector<StringRef>(modules.begin(), modules.end())));
  MLIRContext *context = module.getContext();
  for (const Axis &axis : axes)
    list.push_back(dl::graph::AxisAttr::get(context, axis.name, axis.size));
  dl::graph::MeshOp::create(
      builder, locationOf(cut.isThere() ? cut.frames : meshFrames, context),
      builder.getArrayAttr(list), data,
      builder.getStrArrayAttr(
          SmallVector<StringRef>(replicas.begin(), replicas.end())),
      zero, stages, microBatches, schedule, stagesPerRank,
      builder.getArrayAttr(cutList));
}

void Parallel::write(OpBuilder &builder, ModuleOp module, NamesOf namesOf) {
  checkCut(module, namesOf);
  if (!axes.empty() || zero || data != "dp" || !replicas.empty() ||
      stages != "pp" || cut.isThere() || microBatches > 1)
    writeMesh(builder, module);
  writePlacements(builder, module, namesOf);
}

void Parallel::writePlacements(OpBuilder &builder, ModuleOp module,
                               NamesOf namesOf) {
  std::map<std::string, Dims> divided;
  for (const Placement &placement : placements) {
    Scope scope = scopeOf(placement.within, namesOf);
    std::optional<std::string> pattern = scope.resolve(placement.modules);
    bool found = false;
    for (auto state : module.getOps<dl::graph::StateOp>()) {
      if (!pattern || !scope.parameters.count(state.getSymName().str()))
        continue;
      SmallVector<StringRef> names{state.getSymName()};
      if (ArrayAttr aliases = state.getAliasesAttr())
        llvm::append_range(names, aliases.getAsValueRange<StringAttr>());
      for (StringRef name : names) {
        if (!dl::graph::namesModule(*pattern, name.rsplit('.').first))
          continue;
        found = true;
        Dims &dims = divided[state.getSymName().str()];
        dims.resize(cast<RankedTensorType>(state.getType()).getRank());
        divide(placement, state, name, dims);
      }
    }
    if (!found)
      failUnknown(placement.frames, "parallel::tensor", placement.modules,
                  scope.paths);
  }
  MLIRContext *context = module.getContext();
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
