// assign-stages: which stage of the pipeline computes what.
#include "dialects/graph/Inference.h"
#include "dialects/graph/ModulePattern.h"
#include "dialects/graph/SourceLine.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "passes/backward/ModelError.h"
#include "passes/partition/Mesh.h"
#include "passes/partition/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace dl {
#define GEN_PASS_DEF_ASSIGNSTAGES
#include "passes/partition/Passes.h.inc"
} // namespace dl

using namespace mlir;

namespace dl::partition {
namespace {

constexpr int64_t kAnywhere = -1;

using OrderedCounts =
    llvm::MapVector<std::string, int64_t, std::map<std::string, unsigned>>;

/// The stage of each state.
class Cut {
public:
  Cut(ModuleOp module, graph::MeshOp mesh, const graph::Pipeline &pipeline)
      : module(module), mesh(mesh), isCut(!mesh.getCut().empty()),
        stages(pipeline.stages()), perRank(pipeline.stagesPerRank) {}

  LogicalResult run() {
    collectModules();
    takeCopiesOut();
    LogicalResult result = mesh.getCut().empty()               ? byCost()
                           : isa<StringAttr>(mesh.getCut()[0]) ? byBlocks()
                                                               : byHand();
    if (failed(result))
      return failure();
    for (const auto &[copy, original] : originalOf)
      stageOfModule.insert({copy, stageOfModule.lookup(original)});
    for (auto state : module.getOps<graph::StateOp>()) {
      StringRef owner = state.getOf().value_or(state.getSymName());
      state->setAttr(
          kStage,
          Builder(state.getContext()).getI64IntegerAttr(stageOf(owner)));
    }
    return success();
  }

  /// Of a module, if all that it holds is at one stage.
  std::optional<int64_t> ofModule(StringRef path) const {
    std::optional<int64_t> found;
    if (path.empty())
      return found;
    for (const auto &[name, stage] : stageOfModule) {
      StringRef rest = name;
      if (!rest.consume_front(path) || (!rest.empty() && rest[0] != '.'))
        continue;
      if (found && *found != stage)
        return std::nullopt;
      found = stage;
    }
    return found;
  }

private:
  /// What goes to a stage as a whole. Of an outermost module what is in no
  /// other one goes by itself, "net.seen" as "seen", where the user cuts.
  StringRef moduleOf(StringRef parameter) const {
    StringRef path = parameter.rsplit('.').first;
    bool isOfOutermost = !path.contains('.') && apart.contains(path);
    return isOfOutermost && isCut ? parameter : path;
  }

  void collectModules() {
    for (auto state : module.getOps<graph::StateOp>())
      if (auto prefix = state->getAttrOfType<StringAttr>(graph::kApart))
        apart.insert(prefix.getValue());
    for (auto state : module.getOps<graph::StateOp>())
      if (state.getRole() == "parameter" || state.getRole() == "buffer") {
        roles[state.getSymName()] = state.getRole();
        elements[moduleOf(state.getSymName()).str()] +=
            cast<RankedTensorType>(state.getType()).getNumElements();
      }
  }

  /// The user says himself where it is.
  bool isNamed(StringRef name) {
    return llvm::any_of(mesh.getCut(), [&](Attribute stage) {
      auto list = dyn_cast<ArrayAttr>(stage);
      return list ? llvm::any_of(list.getAsValueRange<StringAttr>(),
                                 [&](StringRef pattern) {
                                   return graph::matchedPrefix(pattern, name);
                                 })
                  : graph::matchedPrefix(blocks(), name).has_value();
    });
  }
  StringRef blocks() { return cast<StringAttr>(mesh.getCut()[0]).getValue(); }

  /// Averages of weights, a frozen copy: "ema.h.0" and "ema.head" beside "h.0"
  /// and "head" of an outermost module of the same type, the other way round
  /// where "ema." is what is cut, or beside "net.h.0" and "net.head" where
  /// "net." is. They are where those are.
  void takeCopiesOut() {
    // What is in each module, by its prefix and the rest of the path.
    std::map<std::string, std::map<std::string, int64_t>> insides;
    for (const auto &[name, count] : elements) {
      auto [root, rest] = StringRef(name).split('.');
      if (!rest.empty())
        insides[root.str() + "."][rest.str()] = count;
      if (!apart.contains(root))
        insides[""][name] = count;
    }
    // Of what is cut; "" is the unprefixed module.
    bool isWithin =
        mesh.getCut().size() == 2 && isa<StringAttr>(mesh.getCut()[1]);
    const std::string original =
        isWithin ? cast<StringAttr>(mesh.getCut()[1]).str() : rootNamedByHand();
    for (const auto &[prefix, inside] : insides) {
      bool isModule = isWithin || prefix.empty() ||
                      apart.contains(StringRef(prefix).split('.').first);
      if (prefix == original || !isModule)
        continue;
      auto isThere = [&](const auto &one) {
        auto found = elements.find(original + one.first);
        return found != elements.end() && found->second == one.second;
      };
      if (!llvm::all_of(inside, isThere))
        continue;
      for (const auto &[rest, count] : inside)
        if (!isNamed(prefix + rest))
          originalOf[prefix + rest] = original + rest;
    }
    for (const auto &[copy, original] : originalOf)
      elements[original] += elements.lookup(copy);
    elements.remove_if(
        [&](const auto &one) { return originalOf.count(one.first); });
  }

  /// "net." where lists of stages name what is in it, and nothing of the
  /// unprefixed module.
  std::string rootNamedByHand() {
    std::string found;
    if (mesh.getCut().empty() || isa<StringAttr>(mesh.getCut()[0]))
      return found;
    for (const auto &[name, count] : elements) {
      StringRef root = StringRef(name).split('.').first;
      if (!isNamed(name))
        continue;
      if (!apart.contains(root))
        return "";
      if (found.empty())
        found = root.str() + ".";
    }
    return found;
  }

  int64_t stageOf(StringRef parameter) const {
    auto it = stageOfModule.find(moduleOf(parameter).str());
    return it == stageOfModule.end() ? 0 : it->second;
  }

  InFlightDiagnostic error() { return emitModelError(mesh) << "pipeline: "; }

  /// Runs of items with about equal elements.
  LogicalResult deal(ArrayRef<std::pair<std::string, int64_t>> items,
                     StringRef one, StringRef many,
                     llvm::function_ref<void(StringRef, int64_t)> place) {
    if (static_cast<int64_t>(items.size()) < stages) {
      InFlightDiagnostic wrong = error() << stages << " stages";
      if (perRank > 1)
        wrong << " (" << perRank << " on each of " << stages / perRank
              << " ranks)";
      return wrong << ", and only " << items.size() << " "
                   << (items.size() == 1 ? one : many);
    }
    int64_t total = 0, before = 0;
    for (const auto &[name, count] : items)
      total += std::max<int64_t>(count, 1);
    int64_t stage = 0, left = items.size();
    bool fresh = true; // nothing is at this stage so far
    for (const auto &[name, count] : items) {
      int64_t size = std::max<int64_t>(count, 1);
      bool full = (before + size / 2) * stages >= total * (stage + 1);
      if (!fresh && stage + 1 < stages &&
          (full || left <= stages - 1 - stage)) {
        ++stage;
        fresh = true;
      }
      place(name, stage);
      fresh = false;
      before += size;
      --left;
    }
    return success();
  }

  LogicalResult byCost() {
    SmallVector<std::pair<std::string, int64_t>> items(elements.begin(),
                                                       elements.end());
    return deal(items, "module with parameters", "modules with parameters",
                [&](StringRef name, int64_t stage) {
                  stageOfModule[name.str()] = stage;
                });
  }

  /// What stands before the first block goes with it, what stands behind the
  /// last one with that.
  LogicalResult byBlocks() {
    StringRef pattern = blocks();
    OrderedCounts blocks;
    for (auto &[name, count] : elements)
      if (auto block = graph::matchedPrefix(pattern, name))
        blocks[block->str()] += count;
    if (blocks.empty())
      return error() << "no module with parameters is called '" << pattern
                     << "'";
    llvm::StringMap<int64_t> stageOfBlock;
    if (failed(deal(blocks.takeVector(), "block", "blocks",
                    [&](StringRef name, int64_t stage) {
                      stageOfBlock[name] = stage;
                    })))
      return failure();
    int64_t stage = 0;
    for (auto &[name, count] : elements) {
      if (auto block = graph::matchedPrefix(pattern, name))
        stage = stageOfBlock.lookup(*block);
      stageOfModule[name] = stage;
    }
    return success();
  }

  LogicalResult byHand() {
    auto lists = static_cast<int64_t>(mesh.getCut().size());
    if (lists != stages) {
      InFlightDiagnostic wrong = error() << lists << " lists of modules for "
                                         << stages << " stages";
      if (lists > stages && lists % stages == 0 && mesh.getStagesPerRank() == 1)
        wrong << "; --schedule=interleaved has " << lists / stages
              << " stages on each rank"
              << (lists / stages > 2 ? " with --stages-per-rank" : "");
      return wrong;
    }
    std::vector<std::string> nowhere;
    for (auto &[name, count] : elements) {
      std::optional<int64_t> found;
      for (auto [stage, list] : llvm::enumerate(mesh.getCut()))
        for (StringRef pattern :
             cast<ArrayAttr>(list).getAsValueRange<StringAttr>())
          if (graph::matchedPrefix(pattern, name)) {
            if (found && *found != int64_t(stage))
              return error() << kindOf(name) << "'" << name << "' is at stage "
                             << *found << " and at stage " << stage
                             << "; lists name each once";
            found = stage;
          }
      if (!found)
        nowhere.push_back(kindOf(name) + "'" + name + "'");
      else
        stageOfModule[name] = *found;
    }
    return nowhere.empty() ? success() : refuse(nowhere);
  }

  LogicalResult refuse(ArrayRef<std::string> nowhere) {
    ArrayRef<std::string> named = nowhere.take_front(kMostNamed);
    InFlightDiagnostic wrong = error() << llvm::join(named, ", ");
    if (size_t more = nowhere.size() - named.size())
      wrong << " and " << more << " more";
    wrong << (nowhere.size() == 1 ? " is" : " are")
          << " at no stage; the lists name all that has parameters or buffers";
    return wrong;
  }

  /// Of a name in `elements`: what stands in no module is one itself.
  std::string kindOf(StringRef name) const {
    auto role = roles.find(name);
    return "the " + (role == roles.end() ? "module" : role->second.str()) + " ";
  }

  static constexpr size_t kMostNamed = 5;

  ModuleOp module;
  graph::MeshOp mesh;
  bool isCut; // by the user
  int64_t stages, perRank;
  llvm::StringMap<StringRef> roles; // of parameters and buffers
  llvm::StringSet<> apart; // outermost modules whose names stand before theirs
  OrderedCounts elements;  // of modules, in their order
  std::map<std::string, std::string> originalOf; // of copies
  OrderedCounts stageOfModule;
};

class StepStager {
public:
  StepStager(graph::StepOp step, const Cut &cut,
             const graph::Pipeline &pipeline)
      : step(step), cut(cut), pipeline(pipeline) {}

  void run() {
    for (BlockArgument argument : step.getArguments())
      stageOf[argument] = stateStage(graph::stateOf(argument));
    for (Operation &op : llvm::make_early_inc_range(step.getOps())) {
      if (auto returned = dyn_cast<graph::ReturnOp>(op))
        bringResults(returned);
      else
        place(&op);
    }
  }

private:
  int64_t stateStage(FlatSymbolRefAttr name) {
    if (!name)
      return kAnywhere;
    Operation *state =
        SymbolTable::lookupNearestSymbolFrom(step->getParentOp(), name);
    return state->getAttrOfType<IntegerAttr>(kStage).getInt();
  }

  /// By its module; else where its largest operand is: forward the last one of
  /// those, backward the first.
  int64_t choose(Operation *op) {
    bool anywhere = llvm::all_of(op->getOperands(), [&](Value operand) {
      return stageOf.lookup(operand) == kAnywhere;
    });
    if (anywhere)
      return kAnywhere;
    bool forward = graph::roleOf(op->getLoc()) == graph::StepRole::Forward;
    bool update = graph::roleOf(op->getLoc()) == graph::StepRole::Update;
    if (!update)
      if (auto stage = cut.ofModule(graph::sourceLineOf(op->getLoc()).module))
        return *stage;
    int64_t chosen = kAnywhere, largest = -1;
    for (Value operand : op->getOperands()) {
      int64_t stage = stageOf.lookup(operand);
      int64_t size = graph::numElements(operand);
      if (stage == kAnywhere || size < largest)
        continue;
      bool better = forward ? stage > chosen : stage < chosen;
      if (size > largest || better)
        chosen = stage;
      largest = size;
    }
    return chosen;
  }

  void place(Operation *op) {
    int64_t stage = choose(op);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(at(operand.get(), stage));
    if (stage != kAnywhere)
      op->setAttr(kStage, Builder(op->getContext()).getI64IntegerAttr(stage));
    for (Value result : op->getResults())
      stageOf[result] = stage;
  }

  Value at(Value value, int64_t stage) {
    int64_t has = stageOf.lookup(value);
    if (has == kAnywhere || stage == kAnywhere ||
        pipeline.rankOf(has) == pipeline.rankOf(stage))
      return value;
    return transfer(value, stage);
  }

  Value transfer(Value value, int64_t to) {
    // Once for all stages of a rank.
    int64_t rank = to == kAnywhere ? kAnywhere : pipeline.rankOf(to);
    Value &known = transferred[{value, rank}];
    if (known)
      return known;
    OpBuilder builder(step.getContext());
    builder.setInsertionPointAfterValue(value);
    known = graph::TransferOp::create(
        builder, value.getLoc(), value.getType(), value,
        builder.getI64IntegerAttr(stageOf.lookup(value)),
        builder.getI64IntegerAttr(to));
    stageOf[known] = to;
    return known;
  }

  /// A state stays where it is; metrics and error flags are known everywhere.
  void bringResults(graph::ReturnOp returned) {
    for (OpOperand &operand : returned->getOpOperands()) {
      FlatSymbolRefAttr state = graph::stateOf(operand);
      Value value = operand.get();
      if (state)
        operand.set(at(value, stateStage(state)));
      else if (stageOf.lookup(value) != kAnywhere)
        operand.set(transfer(value, kAnywhere));
    }
  }

  graph::StepOp step;
  const Cut &cut;
  const graph::Pipeline &pipeline;
  llvm::DenseMap<Value, int64_t> stageOf;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> transferred;
};

struct AssignStages : impl::AssignStagesBase<AssignStages> {
  void runOnOperation() override {
    graph::MeshOp op = meshOf(getOperation());
    if (!op)
      return;
    Mesh mesh(op);
    if (!mesh.stages)
      return;
    Cut cut(getOperation(), op, mesh.pipeline);
    if (failed(cut.run()))
      return signalPassFailure();
    for (auto step : getOperation().getOps<graph::StepOp>())
      StepStager(step, cut, mesh.pipeline).run();
  }
};

} // namespace
} // namespace dl::partition
