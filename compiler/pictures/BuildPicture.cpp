#include "compiler/pictures/BuildPicture.h"
#include "compiler/pictures/Ranks.h"
#include "compiler/pictures/StepParts.h"
#include "compiler/pictures/Text.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/SourceLine.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/TensorBytes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdio>

using namespace mlir;

namespace dl::pictures {
namespace {

/// "[4,10] f32".
std::string typeText(Type type) {
  return graph::shapeText(type) + " " +
         graph::elementText(cast<RankedTensorType>(type).getElementType());
}

/// "0.1307".
std::string valueText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

/// Boxes and arrows of one step: its function, then that of its update.
class Describer {
public:
  Describer(ModuleOp module, const StepFunctions &functions, View view,
            bool tidy)
      : module(module), functions(functions), tidy(tidy) {
    picture.view = view;
  }

  Picture run() {
    describeTitle();
    addFunction(functions.step);
    if (functions.update)
      addFunction(functions.update);
    addTurn();
    return std::move(picture);
  }

private:
  struct Placed {
    Operation *op; // in a kernel, where there are kernels
    int node;
  };

  void describeTitle();
  void addFunction(graph::StepOp function);
  void addInputs(graph::StepOp function);
  void addOp(Operation *op, const StepParts &parts);
  void describeOp(Operation *op, Node &node);
  void describeKernel(graph::KernelOp kernel, const StepParts &parts,
                      Node &node);
  void describeStates(Operation *op, Node &node);
  void setAnchor(Operation *op, Node &node);
  int kinship(Operation *gradient, const Placed &placed) const;
  void rememberPlaces(Operation *op, int index);
  void addReads(Operation *op, int reader, const StepParts &parts);
  void addSaved(const StepParts &parts);
  void addOutputs(graph::StepOp function);
  void addTurn();
  bool isAbsorbed(Operation *op) const;
  int add(Node node);
  Value sourceOf(Value value) const;

  ModuleOp module;
  StepFunctions functions;
  bool tidy;
  Picture picture;
  llvm::StringMap<int> ids;
  llvm::DenseMap<Value, int> made;   // the node that makes a value
  llvm::StringMap<int> accumulators; // the node that makes a new state
  /// Forward nodes by place, and by place and op.
  llvm::DenseMap<Location, SmallVector<Placed>> places;
  /// Values that the backward reads, and where.
  llvm::MapVector<Value, llvm::SetVector<int>> kept;
  int firstGradient = -1, loss = -1;
};

} // namespace

static std::string baseName(StringRef path) {
  return path.rsplit('/').second.empty() ? path.str()
                                         : path.rsplit('/').second.str();
}

void Describer::describeTitle() {
  graph::StepOp function = functions.step;
  graph::ProgramOp program = graph::programOf(module);
  StringRef model = program ? program.getModel() : "model";
  picture.title = baseName(model) + ": step " + function.getOf()->str();
  if (std::optional<int64_t> batch = function.getBatch())
    picture.title += ", batch of " + std::to_string(*batch);
  if (functions.update)
    picture.title +=
        ", " + std::to_string(graph::accumulationOf(module)) + " micro-batches";
  int64_t parameters = 0;
  for (auto state : module.getOps<graph::StateOp>())
    if (state.getRole() == "parameter")
      parameters += cast<RankedTensorType>(state.getType()).getNumElements();
  picture.subtitle = countText(parameters) + " parameters";
}

int Describer::add(Node node) {
  std::string id = node.module.empty() ? "" : node.module + "/";
  if (node.part == Part::Backward || node.part == Part::Update)
    id += std::string(nameOf(node.part)) + "/";
  id += node.id;
  int times = ++ids[id];
  node.id = times == 1 ? id : id + "." + std::to_string(times);
  picture.nodes.push_back(std::move(node));
  return static_cast<int>(picture.nodes.size()) - 1;
}

/// Seen through constants and aliases that are no boxes.
Value Describer::sourceOf(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    bool isAlias =
        picture.view == View::Kernels && isa<graph::AliasOpInterface>(op);
    if (!isAlias && !isAbsorbed(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The whole operand in another shape, not a part of it.
static bool isOtherShape(Operation *op) {
  if (isa<graph::AliasOpInterface>(op))
    return true;
  auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
  return loops && graph::payloadFacts(loops).isView &&
         graph::tensorBytes(op->getResult(0).getType()) >=
             graph::tensorBytes(op->getOperand(0).getType());
}

/// A parameter seen in another shape for the sake of its one reader.
bool Describer::isAbsorbed(Operation *op) const {
  return tidy && op->getNumOperands() == 1 && op->hasOneUse() &&
         !stateOfArgument(op->getOperand(0)).empty() &&
         !op->getUsers().begin()->hasTrait<OpTrait::IsTerminator>() &&
         isOtherShape(op);
}

void Describer::addInputs(graph::StepOp function) {
  for (BlockArgument argument : function.getArguments()) {
    std::optional<int64_t> input = graph::portOf(argument).asInput();
    if (!input || argument.use_empty())
      continue;
    Node node;
    node.part = Part::Input;
    node.title = *input == 0   ? "b.data"
                 : *input == 1 ? "b.target"
                               : "b[" + std::to_string(*input) + "]";
    node.id = node.title;
    node.detail = typeText(argument.getType());
    node.bytes = graph::tensorBytes(argument.getType());
    made[argument] = add(std::move(node));
  }
}

void Describer::addFunction(graph::StepOp function) {
  StepParts parts(function);
  addInputs(function);
  for (Operation &op : function.getBody().front().without_terminator()) {
    bool isAlias =
        picture.view == View::Kernels && isa<graph::AliasOpInterface>(op);
    if (isSplat(&op) || isAlias || isAbsorbed(&op))
      continue;
    addOp(&op, parts);
  }
  addSaved(parts);
  addOutputs(function);
}

void Describer::addOp(Operation *op, const StepParts &parts) {
  graph::SourceLine place = graph::sourceLineOf(op->getLoc());
  Node node;
  node.part = parts.of(op);
  node.module = place.module.str();
  node.where = place.lineText();
  for (Value result : op->getResults())
    node.bytes += graph::tensorBytes(result.getType());
  if (auto kernel = dyn_cast<graph::KernelOp>(op))
    describeKernel(kernel, parts, node);
  else
    describeOp(op, node);
  describeStates(op, node);
  if (node.part == Part::Backward)
    setAnchor(op, node);
  int index = add(std::move(node));
  for (Value result : op->getResults())
    made[result] = index;
  if (parts.of(op) == Part::Forward)
    rememberPlaces(op, index);
  addReads(op, index, parts);
}

void Describer::describeOp(Operation *op, Node &node) {
  node.title = node.id = op->getName().stripDialect().str();
  node.ops.push_back(op->getName().getStringRef().str());
  if (auto exchange = dyn_cast<graph::CommunicationOpInterface>(op)) {
    node.title += " over " + axesText(exchange);
    node.bytes = exchangedBytes(exchange);
    node.detail = byteText(node.bytes);
    node.isExchange = true;
    return;
  }
  node.detail = typeText(op->getResult(0).getType());
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (auto constant = dyn_cast_or_null<graph::FullOp>(def))
      node.title += " " + valueText(constant.getValue().convertToDouble());
    if (def && isAbsorbed(def))
      node.ops.push_back(def->getName().getStringRef().str());
  }
}

void Describer::describeKernel(graph::KernelOp kernel, const StepParts &parts,
                               Node &node) {
  // Without the hash of its body.
  node.title = kernel.getName().rsplit('_').first.str();
  node.id = kernel.getName().str();
  node.ops.push_back(kernel.getName().str());
  if (kernel.getNumResults())
    node.detail = typeText(kernel.getResult(0).getType());
  if (kernel.getNumResults() > 1)
    node.detail += " + " + std::to_string(kernel.getNumResults() - 1) + " more";
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isSplat(&op))
      continue;
    graph::SourceLine place = graph::sourceLineOf(op.getLoc());
    std::string name = op.getName().stripDialect().str();
    Part part = parts.of(&op);
    if (part != Part::Update && !place.module.empty())
      name = place.module.str() + "/" + name;
    node.members.push_back({name, part});
  }
}

/// The parameters that it reads, and what the update writes.
void Describer::describeStates(Operation *op, Node &node) {
  llvm::SetVector<StringRef> read, written;
  for (Value operand : op->getOperands())
    if (StringRef state = stateOfArgument(sourceOf(operand)); !state.empty())
      read.insert(state);
  for (OpResult result : op->getResults())
    for (OpOperand &use : result.getUses())
      if (StringRef state = stateOfResult(use); !state.empty()) {
        written.insert(state);
        if (StringRef(state).starts_with("accumulate."))
          accumulators[state] = static_cast<int>(picture.nodes.size());
      }
  auto typeOf = [&](StringRef name) {
    auto state = module.lookupSymbol<graph::StateOp>(name);
    return state ? " " + graph::shapeText(state.getType()) : std::string();
  };
  // The slots of a parameter go by their own names.
  auto shortName = [&](StringRef name) {
    auto state = module.lookupSymbol<graph::StateOp>(name);
    StringRef text = name;
    if (state && state.getRole() == "slot")
      return name.rsplit('.').second.str();
    if (!node.module.empty() && node.part != Part::Update &&
        text.consume_front(node.module))
      text.consume_front(".");
    return text.str();
  };
  if (node.part == Part::Forward)
    for (StringRef name : read)
      if (!written.contains(name))
        node.states.push_back(shortName(name) + typeOf(name));
  for (StringRef name : written)
    node.states.push_back(
        (node.part == Part::Forward ? "new " : "") + shortName(name) +
        (name.starts_with("optim.") ? std::string() : typeOf(name)));
}

void Describer::rememberPlaces(Operation *op, int index) {
  auto remember = [&](Operation *one) {
    if (graph::roleOf(one->getLoc()) == graph::StepRole::Forward)
      places[one->getLoc()].push_back({one, index});
  };
  auto kernel = dyn_cast<graph::KernelOp>(op);
  if (!kernel)
    return remember(op);
  for (Operation &inner : kernel.getBody().front().without_terminator())
    if (!isSplat(&inner))
      remember(&inner);
}

/// How many of the operands tell that it is this op's gradient: lines in loops
/// make several ops at one place.
int Describer::kinship(Operation *gradient, const Placed &placed) const {
  int kin = 0;
  for (Value operand : gradient->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (isSplat(def))
      continue;
    auto maker = made.find(operand);
    kin += def == placed.op ||
           llvm::is_contained(placed.op->getOperands(), operand);
    kin += def && maker != made.end() &&
           graph::roleOf(def->getLoc()) == graph::StepRole::Backward &&
           picture.nodes[maker->second].anchor == placed.node;
  }
  return kin;
}

/// Beside the op whose gradient it is.
void Describer::setAnchor(Operation *op, Node &node) {
  SmallVector<Operation *> candidates;
  if (auto kernel = dyn_cast<graph::KernelOp>(op)) {
    for (Operation &inner : kernel.getBody().front().without_terminator())
      if (!isSplat(&inner) &&
          graph::roleOf(inner.getLoc()) == graph::StepRole::Backward)
        candidates.push_back(&inner);
    // The op that the kernel is named after first.
    auto main = llvm::find_if(candidates, [&](Operation *one) {
      return graph::withoutRole(one->getLoc()) ==
             graph::withoutRole(op->getLoc());
    });
    if (main != candidates.end())
      std::rotate(candidates.begin(), main, main + 1);
  } else {
    candidates.push_back(op);
  }
  for (Operation *candidate : candidates) {
    auto found = places.find(graph::withoutRole(candidate->getLoc()));
    if (found == places.end())
      continue;
    StringRef source = graph::roleSource(candidate->getLoc());
    node.anchor = found->second.front().node;
    int most = -1;
    for (const Placed &placed : found->second) {
      if (placed.op->getName().stripDialect() != source)
        continue;
      int kin = kinship(candidate, placed);
      if (kin >= most)
        node.anchor = placed.node;
      most = std::max(most, kin);
    }
    return;
  }
}

void Describer::addReads(Operation *op, int reader, const StepParts &parts) {
  Part part = picture.nodes[reader].part;
  llvm::SetVector<int> from;
  for (Value operand : op->getOperands()) {
    Value value = sourceOf(operand);
    if (StringRef state = stateOfArgument(value);
        state.starts_with("accumulate.") && accumulators.contains(state))
      from.insert(accumulators[state]);
    auto maker = made.find(value);
    if (maker == made.end() || maker->second == reader)
      continue;
    Part source = picture.nodes[maker->second].part;
    bool isGradient = parts.of(value) == Part::Backward &&
                      isa<FloatType>(getElementTypeOrSelf(value.getType()));
    if (part == Part::Backward && !isGradient &&
        (source == Part::Forward || source == Part::Input))
      kept[value].insert(reader);
    else
      from.insert(maker->second);
  }
  for (int one : from)
    picture.edges.push_back({one, reader});
  if (part != Part::Backward && part != Part::Update)
    return;
  bool readsGradient = llvm::any_of(
      from, [&](int one) { return picture.nodes[one].part == Part::Backward; });
  Node &node = picture.nodes[reader];
  if (part == Part::Backward && !readsGradient && firstGradient < 0)
    firstGradient = reader;
  // Beside the gradient that it uses; what uses several comes at the end.
  if (part == Part::Update) {
    llvm::SetVector<int> anchors;
    for (int one : from)
      if (picture.nodes[one].part == Part::Backward ||
          picture.nodes[one].part == Part::Update)
        anchors.insert(picture.nodes[one].anchor);
    anchors.remove(-1);
    if (anchors.size() == 1)
      node.anchor = anchors.front();
  }
}

/// A box for each value that the backward needs again, beside the op whose
/// gradient reads it.
void Describer::addSaved(const StepParts &parts) {
  for (auto &[value, readers] : kept) {
    int maker = made.lookup(value);
    Node node;
    node.part = Part::Saved;
    node.title = picture.view == View::Kernels
                     ? typeText(value.getType())
                     : picture.nodes[maker].title.substr(
                           0, picture.nodes[maker].title.find(' ')) +
                           " " + typeText(value.getType());
    node.bytes = graph::tensorBytes(value.getType());
    node.detail = byteText(node.bytes);
    node.module = picture.nodes[maker].module;
    node.where = picture.nodes[maker].where;
    node.id = "saved/" + picture.nodes[maker].title;
    SmallVector<int> anchors;
    for (int reader : readers)
      if (picture.nodes[reader].anchor >= 0)
        anchors.push_back(picture.nodes[reader].anchor);
    node.anchor = llvm::is_contained(anchors, maker) || anchors.empty()
                      ? maker
                      : anchors.front();
    // The order of the backward is not that of the forward.
    if (!anchors.empty() && node.anchor != maker)
      node.anchor = *llvm::min_element(anchors);
    int keeper = node.anchor;
    int index = add(std::move(node));
    picture.edges.push_back({keeper, index, Edge::Keep});
    for (int reader : readers)
      picture.edges.push_back({index, reader, Edge::Use});
  }
  kept.clear();
}

void Describer::addOutputs(graph::StepOp function) {
  for (OpOperand &returned : function.getReturn()->getOpOperands()) {
    StringAttr metric = graph::portOf(returned).asMetric();
    StringAttr error = graph::portOf(returned).asError();
    auto maker = made.find(sourceOf(returned.get()));
    if ((!metric && !error) || maker == made.end())
      continue;
    Node node;
    node.part = Part::Output;
    node.title = metric ? metric.str() : "error flag";
    node.detail = metric ? typeText(returned.get().getType()) : error.str();
    node.id = metric ? "metric/" + metric.str() : "error";
    int from = maker->second;
    int index = add(std::move(node));
    picture.edges.push_back({from, index});
    if (metric && loss < 0 && picture.nodes[from].part == Part::Forward)
      loss = from;
  }
}

/// Where the forward ends the backward begins.
void Describer::addTurn() {
  bool isDrawn = llvm::any_of(picture.edges, [&](const Edge &edge) {
    return edge.kind == Edge::Data &&
           picture.nodes[edge.from].part == Part::Forward &&
           picture.nodes[edge.to].part == Part::Backward;
  });
  if (firstGradient < 0 || isDrawn)
    return;
  int from = picture.nodes[firstGradient].anchor;
  if (from < 0)
    from = loss;
  if (from >= 0 && from != firstGradient)
    picture.edges.push_back({from, firstGradient, Edge::Turn});
}

std::vector<std::string> stepNames(ModuleOp module) {
  std::vector<std::string> names;
  for (auto function : module.getOps<graph::StepOp>())
    if (auto name = function.getOf())
      if (!llvm::is_contained(names, name->str()))
        names.push_back(name->str());
  return names;
}

static std::optional<Picture> describe(ModuleOp module, StringRef step,
                                       View view, bool tidy) {
  StepFunctions functions = findStep(module, step);
  if (!functions.step)
    return std::nullopt;
  Picture picture = Describer(module, functions, view, tidy).run();
  size_t ops = 0;
  for (const Node &node : picture.nodes)
    ops += !node.ops.empty();
  picture.subtitle += " · " + std::to_string(ops) +
                      (view == View::Kernels ? " kernels" : " ops");
  return picture;
}

std::optional<Picture> describeOps(ModuleOp module, StringRef step, bool tidy) {
  return describe(module, step, View::Ops, tidy);
}

std::optional<Picture> describeKernels(ModuleOp module, StringRef step) {
  return describe(module, step, View::Kernels, false);
}

} // namespace dl::pictures
