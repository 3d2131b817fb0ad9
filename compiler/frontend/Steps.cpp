// Steps: a function for each size of batch.
#include "compiler/frontend/BatchProbe.h"
#include "compiler/frontend/Graph.h"
#include "dialects/graph/Inference.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dl::frontend;

bool Graph::beginStep(const std::string &name, int dataset, int kind,
                      int round) {
  bool training = kind == DL_TRAINING, generates = kind == DL_GENERATION;
  bool predicts = kind == DL_PREDICTION || generates;
  if (trace)
    reporter.fail("the step '" + name + "' is inside of the step '" +
                  trace->step + "'");
  const Dataset &data = datasets.get(dataset);
  // Whole batches, these once more to compare, the last, shorter one; a larger
  // one where items may have to run one by one.
  bool hasShort = data.shortBatch(!training) != 0;
  bool probes = !training && data.fullBatch() > 1;
  if (round >= 2 + hasShort + probes)
    return false;
  bool isShort = round == 2 && hasShort, isProbe = round >= 2 && !isShort;
  if (isProbe && !BatchProbe::begin(reporter.channel, fullTrace(),
                                    options.timeLimitSeconds))
    return false;
  if (round == 0) {
    bool plain = !name.empty() && llvm::all_of(name, [](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '-';
    });
    if (!plain)
      reporter.fail("'" + name +
                    "' is no name for a step; letters, digits, - and _ are");
    if (!training && name == "train")
      reporter.fail(std::string(generates  ? "a generation"
                                : predicts ? "a prediction"
                                           : "an evaluation") +
                    " cannot be called 'train'");
    for (const auto &other : traces)
      if (other->step == name)
        reporter.fail(
            training && other->training && name == "train"
                ? "p.train() was called before; further training steps need "
                  "names: p.train(\"name\", dataset, step)"
                : "there is a step '" + name + "' already");
    datasets.use(dataset, !training);
  }
  auto made = std::make_unique<Trace>();
  made->number = static_cast<int>(stepsOfTraces.size());
  made->step = name;
  made->training = training;
  made->predicts = predicts;
  made->generates = generates;
  made->isCheck = round == 1 || isProbe;
  made->isProbe = isProbe;
  made->isShort = isShort;
  made->dataset = dataset;
  made->batch = isShort   ? data.shortBatch(!training)
                : isProbe ? data.fullBatch() * BatchProbe::factor
                          : data.fullBatch();
  for (auto [number, parameter] : llvm::enumerate(parameters))
    if (!parameter.requiresGrad)
      made->frozenAtStart.insert(static_cast<int>(number));
  trace = made.get();
  stepsOfTraces.push_back(name);
  Trace *first = traces.empty() ? nullptr : traces.back().get();
  (made->isCheck ? again : traces.emplace_back()) = std::move(made);
  openFunction((training    ? ""
                : generates ? "generate."
                : predicts  ? "predict."
                            : "eval.") +
               name +
               (trace->isCheck   ? ".again"
                : trace->isShort ? ".short"
                                 : ""));
  if (trace->isCheck && !isProbe)
    check.emplace(*first, *trace);
  return true;
}

/// Of the step that has been traced last, with whole batches.
Trace &Graph::fullTrace() {
  return traces.back()->isShort ? **std::prev(traces.end(), 2) : *traces.back();
}

void Graph::openFunction(const std::string &symbol) {
  Location here = location();
  builder.setInsertionPointToEnd(module->getBody());
  trace->function = dl::graph::StepOp::create(builder, here, symbol);
  Block *body = trace->body();
  const Dataset &data = datasets.get(trace->dataset);
  for (const Component &component : data.components) {
    SmallVector<int64_t> shape = {trace->batch};
    shape.append(component.shape.begin(), component.shape.end());
    body->addArgument(RankedTensorType::get(shape, component.element), here);
    trace->arguments.push_back({Argument::Input, {}});
  }
  trace->scalars =
      body->addArgument(RankedTensorType::get({8}, builder.getI64Type()), here);
  trace->arguments.push_back({Argument::Scalars, {}});
  builder.setInsertionPointToEnd(body);
}

static constexpr llvm::StringLiteral kWhyTwice =
    "each step is traced twice, to the same operations: a plan repeats the "
    "first, and what C++ changes in between would stay as it was; a number "
    "that changes is a p.setting(), a scheduler's, or a tensor";

std::string Graph::aboutTrace() {
  if (trace && trace->isCheck)
    return kWhyTwice.str();
  if (!trace || !trace->isShort)
    return "";
  return "this is the last batch: " + std::to_string(trace->batch) +
         " items instead of " +
         std::to_string(datasets.get(trace->dataset).batchSize) +
         (trace->training ? "; {.drop_last = true} leaves it out"
                          : "; all items are evaluated and predicted");
}

int Graph::input(int component) {
  return addHandle(
      trace->body()->getArgument(static_cast<unsigned>(component)));
}

int Graph::makeMetrics() {
  metricLists.push_back({trace ? trace->number : -1, {}});
  return static_cast<int>(metricLists.size()) - 1;
}

/// Names stand in lines of JSON and in columns beside others.
static void checkMetricName(Reporter &reporter, const std::string &step,
                            const std::string &name) {
  if (name.empty())
    reporter.fail("a metric needs a name");
  if (llvm::any_of(name, [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
      }))
    reporter.fail("a metric's name is one line without control characters");
  bool isTaken = name == "step" || name == "epoch" || name == "event" ||
                 (step != "train" && name == "name");
  if (isTaken)
    reporter.fail("a metric cannot be called '" + name +
                  "': the lines that report it have a field of this name");
}

void Graph::addMetric(int metrics, const std::string &name,
                      const dl_operand &operand) {
  if (!trace)
    reporter.fail("dl::Metrics are made inside of a step");
  MetricList &list = metricLists[static_cast<size_t>(metrics)];
  checkMetricName(reporter, trace->step, name);
  for (const Metric &other : list.metrics)
    if (other.name == name)
      reporter.fail("two metrics are called '" + name + "'");
  Value value;
  if (operand.kind == DL_PROMOTED || operand.kind == DL_TENSOR) {
    value = valueOf(operand.tensor, "metric '" + name + "'");
    bool isLoss = llvm::any_of(
        trace->losses, [&](const auto &loss) { return loss.first == value; });
    if (isLoss && cast<RankedTensorType>(value.getType()).getRank() > 0)
      value = create("reshape", value,
                     builder.getNamedAttr("shape",
                                          builder.getDenseI64ArrayAttr({})))
                  ->getResult(0); // [1], which item() would take
  } else {
    double number = operand.kind == DL_FLOAT_SCALAR
                        ? operand.number
                        : static_cast<double>(operand.integer);
    value = constant(number, RankedTensorType::get({}, floatType));
  }
  list.metrics.push_back({name, value, reporter.stack.userFrames()});
}

/// Windows of tokens become logits of those that follow each.
static void checkGeneration(Reporter &reporter, const Metric &logits,
                            const Component &tokens) {
  if (tokens.shape.size() != 1 || !isa<IntegerType>(tokens.element) ||
      tokens.element.isInteger(1))
    reporter.fail("p.generate: items of the data set begin with a row of "
                  "tokens, as TokenDataset's do; here with " +
                  dl::graph::typeText(
                      RankedTensorType::get(tokens.shape, tokens.element)));
  auto type = cast<RankedTensorType>(logits.value.getType());
  if (type.getRank() != 3 || type.getDimSize(0) != 1 ||
      type.getDimSize(1) == 0 ||
      (type.getDimSize(1) != tokens.shape[0] &&
       type.getDimSize(1) != tokens.shape[0] - 1) ||
      !isa<FloatType>(type.getElementType()))
    reporter.failAt(
        logits.frames,
        "p.generate: '" + logits.name + "' is " + dl::graph::typeText(type) +
            "; logits of the tokens that follow each of the "
            "window's are wanted, [1, " +
            std::to_string(tokens.shape[0] - 1) + ", vocabulary] or one more");
}

/// A prediction is tensors with a row for each item.
void Graph::checkMetricShapes() {
  if (!trace->predicts)
    return;
  if (trace->generates)
    return checkGeneration(reporter, trace->metrics.front(),
                           datasets.get(trace->dataset).components.front());
  if (trace->metrics.empty())
    reporter.fail("the prediction '" + trace->step + "' returns nothing");
  for (const Metric &metric : trace->metrics) {
    auto type = cast<RankedTensorType>(metric.value.getType());
    if (type.getRank() == 0 || type.getDimSize(0) != trace->batch)
      reporter.failAt(metric.frames,
                      "'" + metric.name + "' is " + dl::graph::typeText(type) +
                          "; a prediction has a row for each of the batch's " +
                          std::to_string(trace->batch) + " items");
  }
}

/// A gradient that is left over would be added to in the next step.
void Graph::checkGradientsWereZeroed() {
  for (const auto &[parameter, frames] : trace->usedFirst)
    if (trace->gradients.count(parameter))
      reporter.failAt(
          frames,
          "backward: gradients are added to those of the step before; call "
          "optimizer.zero_grad() in each step");
}

void Graph::compareTraces() {
  if (!check)
    return;
  if (std::string why = check->compareOps(); !why.empty())
    reporter.fail("the step '" + trace->step +
                  "' is not the same each time: " + why);
}

void Graph::endCheck() {
  compareTraces();
  if (std::string why = check->compareEnds(); !why.empty())
    reporter.fail("the step '" + trace->step +
                  "' is not the same each time: " + why);
  check.reset();
  trace->function.erase();
  trace = nullptr;
  again.reset();
}

void Graph::endStep(int metrics) {
  MetricList &list = metricLists[static_cast<size_t>(metrics)];
  if (list.trace != trace->number)
    reporter.fail("the step '" + trace->step +
                  "' returns dl::Metrics that were not made in it");
  checkGradientsWereZeroed();
  checkRequiresGrad();
  numberUpdates();
  for (Metric &rate : trace->rates)
    if (llvm::none_of(list.metrics,
                      [&](const Metric &own) { return own.name == rate.name; }))
      list.metrics.push_back(rate);
  trace->metrics = std::move(list.metrics);
  if (trace->isProbe)
    BatchProbe::finish(reporter.channel, fullTrace(), *trace);
  if (trace->isCheck)
    return endCheck();
  checkMetricShapes();
  if (trace->training && trace->losses.empty() && !trace->hasGradients)
    reporter.fail("the training step has no backward(); an evaluation is made "
                  "with p.eval()");
  trace = nullptr;
}
