#include "test/compiler/ShardingCases.h"
#include "dialects/graph/Inference.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include <array>

using namespace mlir;

namespace dl::test {

static const std::string kScalars = "tensor<8xi64>";

const std::set<std::string> &opsWithoutRule() {
  static const std::set<std::string> ops = {
      "graph.gradients", // expanded before
      "graph.custom_gradient",
      "graph.output_gradient",
      "graph.kernel", // made of local ops
      "graph.yield",
      "graph.state",
      "graph.scalar",
      "graph.philox",
      "graph.launch_constant",
      // What a mesh makes of rules.
      "graph.mesh",
      "graph.reshard",
      "graph.transfer",
      "graph.all_gather",
      "graph.all_to_all",
      "graph.send",
      "graph.receive",
      "graph.bucket",
      // The program around the ops.
      "graph.program",
      "graph.dataset",
      "graph.step",
      "graph.return",
      // Numbers of the program: whole on every device.
      "graph.setting",
      "graph.read_setting",
      "graph.settings",
      "graph.plateau",
  };
  return ops;
}

static std::vector<ShardingCase> elementwiseCases() {
  using enum Domain;
  std::vector<ShardingCase> cases = {
      {"graph.log", {"tensor<6x7xf64>"}, "{}", {Positive}},
      {"graph.log1p", {"tensor<6x7xf64>"}, "{}", {Positive}},
      {"graph.sqrt", {"tensor<6x7xf64>"}, "{}", {Positive}},
      {"graph.rsqrt", {"tensor<6x7xf64>"}, "{}", {Positive}},
      {"graph.div",
       {"tensor<6x4xf64>", "tensor<6x4xf64>"},
       "{}",
       {Quarters, Powers}},
      {"graph.div",
       {"tensor<4xf64>", "tensor<7x4xf64>"},
       "{}",
       {Quarters, Powers}},
      {"graph.pow",
       {"tensor<6x4xf64>", "tensor<6x1xf64>"},
       "{}",
       {Positive, Positive}},
      {"graph.select",
       {"tensor<6x4xi1>", "tensor<6x4xf64>", "tensor<6x4xf64>"}},
      {"graph.select", {"tensor<4xi1>", "tensor<6x4xf64>", "tensor<6x1xf64>"}},
      {"graph.select", {"tensor<7x1xi1>", "tensor<i64>", "tensor<4xi64>"}},
  };
  for (std::string op : {"add", "sub", "mul", "maximum", "minimum"})
    for (std::string element : {"f64", "i64"}) {
      cases.push_back(
          {"graph." + op,
           {"tensor<6x4x" + element + ">", "tensor<6x4x" + element + ">"}});
      cases.push_back(
          {"graph." + op,
           {"tensor<4x1x7x" + element + ">", "tensor<6x1x" + element + ">"}});
      cases.push_back(
          {"graph." + op,
           {"tensor<" + element + ">", "tensor<1x7x" + element + ">"}});
    }
  for (std::string element : {"i64", "i32"})
    cases.push_back(
        {"graph.floor_divide",
         {"tensor<6x4x" + element + ">", "tensor<6x1x" + element + ">"}});
  for (std::string op : {"and", "or", "xor"})
    cases.push_back(
        {"graph.bitwise_" + op, {"tensor<6x4xi64>", "tensor<6x1xi64>"}});
  for (std::string from : {"f64", "f32", "i64", "i32", "ui8", "i1"})
    for (std::string to : {"f64", "f32", "i64", "i32", "ui8", "i1"})
      cases.push_back({"graph.cast",
                       {"tensor<7x4x" + from + ">"},
                       "{to = " + to + "}",
                       {to == "ui8" ? Positions : Quarters}});
  return cases;
}

static std::vector<ShardingCase> creationCases() {
  using enum Domain;
  return {
      {"graph.full", {}, "{value = 2.5, type = tensor<6x7xf64>}"},
      {"graph.iota", {}, "{dim = 1, type = tensor<4x7xi64>}"},
      {"graph.iota",
       {},
       "{dim = 0, type = tensor<7x6xf64>, start = array<i64: 5>}"},
      {"graph.uniform",
       {kScalars},
       "{key = 77, type = tensor<7x4xf64>}",
       {Scalars}},
      {"graph.normal",
       {kScalars},
       "{key = -5, type = tensor<6x4xf64>}",
       {Scalars}},
      {"graph.uniform",
       {kScalars},
       "{key = 7, type = tensor<6x4xf64>, offset = array<i64: 3, 0>, extents = "
       "array<i64: 9, 5>}",
       {Scalars}},
      {"graph.dropout",
       {"tensor<7x4x1x6xf64>", kScalars},
       "{p = 0.5, key = 9}",
       {Quarters, Scalars}},
      // Odd images: within a channel it does not matter where a part lies,
      // which the control would take for a mistake that it overlooks.
      {"graph.dropout",
       {"tensor<6x4x3x3xf64>", kScalars},
       "{p = 0.5, key = 9, channelwise = true}",
       {Quarters, Scalars}},
  };
}

static std::vector<ShardingCase> reductionCases() {
  return {
      {"graph.sum", {"tensor<6x7x4xf64>"}, "{dims = array<i64: 0, 2>}"},
      {"graph.sum",
       {"tensor<6x4xf64>"},
       "{dims = array<i64: 1>, keepdim = true}"},
      {"graph.sum", {"tensor<7x4xi64>"}, "{dims = array<i64: 0, 1>}"},
      {"graph.amax", {"tensor<6x7x4xf64>"}, "{dims = array<i64: 0, 2>}"},
      {"graph.amax",
       {"tensor<6x4xf64>"},
       "{dims = array<i64: 1>, keepdim = true}"},
      {"graph.max", {"tensor<6x7x4xf64>"}, "{dim = 1}"},
      {"graph.max", {"tensor<6x4xf64>"}, "{dim = 0, keepdim = true}"},
      {"graph.max", {"tensor<6x4xi64>"}, "{dim = 1}"},
      {"graph.argmax", {"tensor<6x4x7xf64>"}, "{dim = 2}"},
      {"graph.argmax", {"tensor<6x4xi64>"}, "{dim = 1, keepdim = true}"},
  };
}

static std::vector<ShardingCase> shapeCases() {
  return {
      {"graph.reshape", {"tensor<6x4xf64>"}, "{shape = array<i64: 24>}"},
      {"graph.reshape", {"tensor<24xf64>"}, "{shape = array<i64: 6, 4>}"},
      {"graph.reshape", {"tensor<4x6xf64>"}, "{shape = array<i64: 8, 3>}"},
      {"graph.reshape",
       {"tensor<6x4x6xf64>"},
       "{shape = array<i64: 12, 2, 6>}"},
      {"graph.reshape", {"tensor<3x4x4xf64>"}, "{shape = array<i64: 4, 3, 4>}"},
      {"graph.reshape",
       {"tensor<7x2x6xf64>"},
       "{shape = array<i64: 14, 1, 6>}"},
      {"graph.reshape", {"tensor<7x6xf64>"}, "{shape = array<i64: 1, 7, 6>}"},
      {"graph.transpose",
       {"tensor<6x7x4xf64>"},
       "{permutation = array<i64: 2, 0, 1>}"},
      {"graph.copy", {"tensor<6x4xf64>"}},
      {"graph.expand", {"tensor<6x1xf64>"}, "{shape = array<i64: 4, 6, 7>}"},
      {"graph.expand", {"tensor<f64>"}, "{shape = array<i64: 7, 4>}"},
      {"graph.pad",
       {"tensor<6x4x7xf64>"},
       "{low = array<i64: 1, 0, 2>, high = array<i64: 0, 0, 1>, interior = "
       "array<i64: 0, 0, 0>, value = 0.0}"},
      {"graph.pad",
       {"tensor<6x4xf64>"},
       "{low = array<i64: 1, 0>, high = array<i64: 0, 2>, interior = "
       "array<i64: 2, 1>, value = 7.0}"},
      {"graph.pad",
       {"tensor<6x4xf64>"},
       "{low = array<i64: 1, 0>, high = array<i64: 1, 2>, interior = "
       "array<i64: 2, 2>, value = 0.0}"},
      {"graph.pad",
       {"tensor<6x4xf64>"},
       "{low = array<i64: 1, 0>, high = array<i64: 1, 0>, interior = "
       "array<i64: 1, 0>, value = 0xFFF0000000000000 : f64}"},
      {"graph.slice",
       {"tensor<7x6xf64>"},
       "{offsets = array<i64: 1, 0>, sizes = array<i64: 4, 6>, strides = "
       "array<i64: 1, 1>}"},
      {"graph.slice",
       {"tensor<8x12xf64>"},
       "{offsets = array<i64: 1, 2>, sizes = array<i64: 4, 4>, strides = "
       "array<i64: 2, 3>}"},
      {"graph.slice",
       {"tensor<8x7xi64>"},
       "{offsets = array<i64: 0, 0>, sizes = array<i64: 4, 7>, strides = "
       "array<i64: 1, 1>}"},
      {"graph.cat",
       {"tensor<6x4xf64>", "tensor<4x4xf64>", "tensor<2x4xf64>"},
       "{dim = 0}"},
      {"graph.cat", {"tensor<7x4xi64>", "tensor<7x4xi64>"}, "{dim = 1}"},
      {"graph.cat", std::vector<std::string>(9, "tensor<6x2xf64>"),
       "{dim = 1}"},
  };
}

static std::vector<ShardingCase> indexingCases() {
  using enum Domain;
  return {
      {"graph.flip", {"tensor<6x4xf64>"}, "{dims = array<i64: 1>}"},
      {"graph.gather",
       {"tensor<4x6xf64>", "tensor<7x1xi64>"},
       "{dim = 0}",
       {Quarters, Positions}},
      {"graph.gather",
       {"tensor<6x4x2xf64>", "tensor<6x7x2xi64>"},
       "{dim = 1}",
       {Quarters, Positions}},
      {"graph.gather",
       {"tensor<6x4xi64>", "tensor<1x7xi64>"},
       "{dim = 1}",
       {Quarters, Positions}},
      {"graph.update_slice",
       {"tensor<1xi64>", "tensor<4x1x6xf64>", "tensor<4x8x6xf64>"},
       "{dim = 1}",
       {Positions, Quarters, Quarters}},
      {"graph.scatter_add",
       {"tensor<7x1xi64>", "tensor<7x6xf64>"},
       "{dim = 0, size = 4}",
       {Positions, Quarters}},
      {"graph.scatter_add",
       {"tensor<6x7x2xi64>", "tensor<6x7x2xf64>"},
       "{dim = 1, size = 4}",
       {Positions, Quarters}},
      {"graph.scatter_add",
       {"tensor<8xi64>", "tensor<8xi64>"},
       "{dim = 0, size = 4}",
       {Positions, Quarters}},
      {"graph.scatter_amax",
       {"tensor<7x1xi64>", "tensor<7x6xf64>"},
       "{dim = 0, size = 4}",
       {Positions, Quarters}},
      {"graph.scatter_amax",
       {"tensor<8xi64>", "tensor<8xi64>"},
       "{dim = 0, size = 4}",
       {Positions, Quarters}},
      {"graph.cumsum", {"tensor<6x4xf64>"}, "{dim = 1}"},
      {"graph.cumsum", {"tensor<6x4x7xi64>"}, "{dim = 1, reverse = true}"},
      {"graph.linear_recurrence",
       {"tensor<6x4xf64>", "tensor<6x4xf64>"},
       "{dim = 1}"},
      {"graph.argcummax", {"tensor<6x4xf64>"}, "{dim = 1}"},
      {"graph.argsort", {"tensor<6x7xf64>"}, "{dim = 1, count = 3}"},
      {"graph.argsort", {"tensor<6x7xf64>"}, "{dim = 1}"},
      {"graph.argsort", {"tensor<8x4xi64>"}, "{dim = 0, descending = true}"},
  };
}

static std::vector<ShardingCase> lossCases() {
  using enum Domain;
  return {
      {"graph.softmax", {"tensor<6x4x7xf64>"}, "{dim = 1}"},
      {"graph.log_softmax", {"tensor<6x4xf64>"}, "{dim = 0}"},
      {"graph.nll_loss",
       {"tensor<8x4xf64>", "tensor<8xi64>"},
       "{}",
       {Quarters, Positions}},
      {"graph.nll_loss",
       {"tensor<6x4x7xf64>", "tensor<6x7xi64>"},
       "{reduction = \"sum\", ignore_index = 1}",
       {Quarters, Positions}},
      {"graph.nll_loss",
       {"tensor<6x4x7xf64>", "tensor<6x7xi64>"},
       "{reduction = \"none\", ignore_index = 2}",
       {Quarters, Positions}},
      {"graph.index_check", {"tensor<6x4xi64>"}, "{bound = 3}", {Rare}},
      {"graph.index_check",
       {"tensor<6x4xi64>"},
       "{bound = 3, start = array<i64: 2>}",
       {Rare}},
      {"graph.index_check",
       {"tensor<6xi64>"},
       "{bound = 2, ignore_index = 2}",
       {Rare}},
      {"graph.detach", {"tensor<6x7xf64>"}},
      {"graph.shard", {"tensor<6x7xf64>"}, "{axes = \"dp,\"}"},
      {"graph.gradient", {"tensor<6x7xf64>"}, "{of = \"w\"}"},
  };
}

static std::vector<ShardingCase> optimizerCases() {
  using enum Domain;
  return {
      {"graph.sgd",
       {"tensor<7x4xf64>", "tensor<7x4xf64>"},
       "{lr = 0.5, weight_decay = 0.25}"},
      {"graph.sgd",
       {"tensor<6xf64>", "tensor<6xf64>", "tensor<6xf64>"},
       "{lr = 0.5, momentum = 0.25, weight_decay = 0.25, dampening = 0.5}"},
      {"graph.sgd",
       {"tensor<7xf64>", "tensor<7xf64>", "tensor<7xf64>"},
       "{lr = 0.5, momentum = 0.25, nesterov = true}"},
      {"graph.adam",
       std::vector<std::string>(4, "tensor<7x4xf64>"),
       "{lr = 0.5}",
       {Quarters, Quarters, Quarters, Positive}},
      {"graph.adam",
       std::vector<std::string>(5, "tensor<6xf64>"),
       "{lr = 0.5, weight_decay = 0.25, decoupled = true}",
       {Quarters, Quarters, Quarters, Positive, Positive}},
  };
}

static std::vector<ShardingCase> contractionCases() {
  std::vector<ShardingCase> cases;
  for (auto [a, b, spec] : std::vector<std::array<std::string, 3>>{
           {"7x4", "4x6", "mk,kn->mn"},
           {"4x7", "4x6", "km,kn->mn"},
           {"7x4", "6x4", "mk,nk->mn"},
           {"4x7", "6x4", "km,nk->mn"},
           {"6x6", "6x6", "mk,kn->mn"},
           {"6x7x4", "6x4x6", "bmk,bkn->bmn"},
           {"6x4x7", "6x6x4", "bkm,bnk->bmn"},
           {"6x7x4", "6x4", "btc,oc->bto"}, // linear
           {"4", "7x4", "c,oc->o"},
           {"8x4x16x8", "8x4x8x16", "bhtd,bhds->bhts"}, // heads
           {"4x6x3x2", "4x5x3x2", "bthd,bshd->bhts"},
           {"4x3x6", "3x6x5", "bhd,hdo->bo"},
           {"1x3x4", "6x4x5", "Bmk,bkn->bmn"},
           {"4x6", "4x6", "bk,bk->b"},
           {"4x6", "5", "ij,k->kij"}})
    cases.push_back({"graph.matmul",
                     {"tensor<" + a + "xf64>", "tensor<" + b + "xf64>"},
                     "{spec = \"" + spec + "\"}"});
  return cases;
}

/// "NAME = array<i64: A, B>".
static std::string pairText(std::string name, std::pair<int, int> values) {
  return name + " = array<i64: " + std::to_string(values.first) + ", " +
         std::to_string(values.second) + ">";
}

static std::string shapeAttribute(std::string name, std::string shape) {
  std::replace(shape.begin(), shape.end(), 'x', ',');
  return name + " = array<i64: " + shape + ">";
}

/// A convolution and both of its gradients. Rows and columns may differ.
static std::vector<ShardingCase> convolutionCases() {
  using Pair = std::pair<int, int>;
  struct Form {
    std::string x, weight, y;
    Pair kernel, stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
    int groups = 1;
  };
  const std::vector<Form> forms = {
      // Overlapping windows, windows side by side, single elements, padding,
      // strides.
      {"4x4x5x4", "6x4x2x2", "4x6x4x3", {2, 2}},
      {"2x4x4x8", "4x4x2x2", "2x4x2x4", {2, 2}, {2, 2}},
      {"4x2x6x4", "7x2x1x1", "4x7x6x4", {1, 1}},
      {"4x4x6x6", "4x4x3x3", "4x4x2x2", {3, 3}, {3, 3}, {1, 1}},
      {"4x4x5x5", "6x4x3x3", "4x6x3x3", {3, 3}, {2, 2}, {1, 1}},
      {"4x4x4x4", "6x4x2x2", "4x6x5x5", {2, 2}, {1, 1}, {1, 1}},
      // Groups, and one channel a group.
      {"2x8x4x4", "8x2x2x2", "2x8x3x3", {2, 2}, {1, 1}, {0, 0}, {1, 1}, 4},
      {"2x6x4x4", "6x1x3x3", "2x6x4x4", {3, 3}, {1, 1}, {1, 1}, {1, 1}, 6},
      {"2x6x4x4", "6x1x2x2", "2x6x3x3", {2, 2}, {1, 1}, {0, 0}, {1, 1}, 6},
      // Dilation: windows that overlap, that lie apart with elements between
      // them unread, and the only window of an image.
      {"4x4x7x6", "6x4x2x2", "4x6x5x4", {2, 2}, {1, 1}, {0, 0}, {2, 2}},
      {"2x4x12x6", "4x4x2x2", "2x4x4x2", {2, 2}, {3, 3}, {0, 0}, {2, 2}},
      {"2x4x8x4", "4x4x2x2", "2x4x2x1", {2, 2}, {4, 4}, {0, 0}, {2, 2}},
      {"2x4x4x6", "4x2x4x6", "2x4x1x1", {4, 6}, {1, 1}, {0, 0}, {1, 1}, 2},
      {"2x4x12x8", "4x2x6x4", "2x4x1x1", {6, 4}, {2, 2}, {0, 0}, {2, 2}, 2},
      {"4x2x5x5", "6x2x3x3", "4x6x5x5", {3, 3}, {1, 1}, {2, 2}, {2, 2}},
      {"2x4x6x6", "6x2x2x2", "2x6x3x3", {2, 2}, {2, 2}, {1, 1}, {2, 2}, 2},
      {"2x8x7x7", "8x2x3x3", "2x8x2x2", {3, 3}, {3, 3}, {1, 1}, {2, 2}, 4},
      {"2x6x7x6", "6x1x2x2", "2x6x4x3", {2, 2}, {1, 1}, {0, 0}, {3, 3}, 6},
      {"2x6x6x6", "6x1x3x3", "2x6x6x6", {3, 3}, {1, 1}, {2, 2}, {2, 2}, 6},
      // Rows apart, columns not.
      {"4x4x6x7", "6x4x2x3", "4x6x3x7", {2, 3}, {2, 1}, {0, 2}, {1, 2}},
      {"2x4x8x5", "4x4x2x2", "2x4x2x2", {2, 2}, {4, 2}, {0, 0}, {3, 1}},
      // The groups as a dim of their own.
      {"2x4x2x5x5",
       "4x6x2x2x2",
       "2x4x6x4x4",
       {2, 2},
       {1, 1},
       {0, 0},
       {1, 1},
       4},
      {"2x4x2x6x9",
       "4x6x2x2x2",
       "2x4x6x2x3",
       {2, 2},
       {3, 3},
       {0, 0},
       {2, 2},
       4},
      {"2x4x2x5x5",
       "4x4x2x2x2",
       "2x4x4x3x3",
       {2, 2},
       {2, 2},
       {1, 1},
       {2, 2},
       4},
  };
  std::vector<ShardingCase> cases;
  for (const Form &f : forms) {
    std::string x = "tensor<" + f.x + "xf64>",
                weight = "tensor<" + f.weight + "xf64>",
                y = "tensor<" + f.y + "xf64>";
    std::string common = "{" + pairText("stride", f.stride) + ", " +
                         pairText("padding", f.padding) + ", " +
                         pairText("dilation", f.dilation) +
                         ", groups = " + std::to_string(f.groups);
    cases.push_back({"graph.conv2d", {x, weight}, common + "}"});
    cases.push_back({"graph.conv2d_input_grad",
                     {y, weight},
                     common + ", " + shapeAttribute("input_shape", f.x) + "}"});
    cases.push_back({"graph.conv2d_weight_grad",
                     {x, y},
                     common + ", " + pairText("kernel", f.kernel) + "}"});
  }
  return cases;
}

static std::vector<ShardingCase> poolingCases() {
  using enum Domain;
  using Pair = std::pair<int, int>;
  struct Form {
    std::string x, y;
    Pair kernel, stride, padding = {0, 0};
    bool ceil = false;
  };
  const std::vector<Form> forms = {
      {"4x7x4x8", "4x7x2x4", {2, 2}, {2, 2}},
      {"4x2x7x5", "4x2x4x3", {3, 3}, {2, 2}, {1, 1}},
      {"2x4x8x9", "2x4x4x4", {2, 2}, {2, 2}},
      {"2x2x12x12", "2x2x4x4", {2, 2}, {3, 3}},
      {"2x2x8x8", "2x2x5x5", {2, 2}, {2, 2}, {1, 1}},
      {"2x4x6x6", "2x4x1x1", {6, 6}, {6, 6}},
      {"2x4x6x9", "2x4x5x3", {2, 3}, {1, 3}},
      {"2x4x8x7", "2x4x4x1", {1, 7}, {2, 1}},
      {"2x4x5x4", "2x4x3x2", {2, 2}, {2, 2}, {0, 0}, true},
      {"2x4x7x4", "2x4x3x3", {3, 2}, {3, 2}, {1, 1}, true},
      {"2x4x4x4", "2x4x2x2", {3, 3}, {2, 2}, {0, 0}, true},
  };
  std::vector<ShardingCase> cases;
  for (const Form &f : forms) {
    std::string x = "tensor<" + f.x + "xf64>", y = "tensor<" + f.y + "xf64>";
    std::string common = "{" + pairText("kernel", f.kernel) + ", " +
                         pairText("stride", f.stride) + ", " +
                         pairText("padding", f.padding);
    std::string shape = ", " + shapeAttribute("input_shape", f.x) + "}";
    std::string ceil = f.ceil ? ", ceil_mode = true" : "";
    cases.push_back({"graph.sum_pool2d", {x}, common + ceil + "}"});
    cases.push_back({"graph.sum_pool2d_grad", {y}, common + ceil + shape});
    if (f.ceil)
      continue;
    cases.push_back({"graph.max_pool2d", {x}, common + "}"});
    // With padding not every position lies in x.
    if (f.padding == Pair{0, 0})
      cases.push_back({"graph.max_pool2d_grad",
                       {y, "tensor<" + f.y + "xui8>"},
                       common + shape,
                       {Quarters, Positions}});
  }
  return cases;
}

std::string caseText(const ShardingCase &shardingCase) {
  return shardingCase.op + "(" + llvm::join(shardingCase.operands, ", ") +
         ") " + shardingCase.attributes;
}

Operation *createCase(MLIRContext &context, const ShardingCase &shardingCase,
                      Block &scratch) {
  Location loc = UnknownLoc::get(&context);
  SmallVector<Value> operands;
  for (const std::string &text : shardingCase.operands) {
    Type type = parseType(text, &context);
    if (!type)
      return nullptr;
    operands.push_back(scratch.addArgument(type, loc));
  }
  auto attributes = dyn_cast_or_null<DictionaryAttr>(
      parseAttribute(shardingCase.attributes, &context));
  if (!attributes)
    return nullptr;
  OpBuilder builder(&context);
  builder.setInsertionPointToEnd(&scratch);
  FailureOr<Operation *> op = graph::createInferred(
      builder, loc, shardingCase.op, operands, attributes.getValue());
  return succeeded(op) ? *op : nullptr;
}

/// The op on tensors of one type, if that is all it needs.
static std::vector<ShardingCase> madeCases(MLIRContext &context,
                                           const std::string &op) {
  ScopedDiagnosticHandler silent(&context,
                                 [](Diagnostic &) { return success(); });
  std::vector<ShardingCase> cases;
  for (int count = 1; count <= 3; ++count)
    for (std::string type :
         {"tensor<6x4xf64>", "tensor<7x4xi64>", "tensor<7x4xi1>"}) {
      ShardingCase made = {op, std::vector<std::string>(count, type)};
      Block scratch;
      if (createCase(context, made, scratch))
        cases.push_back(made);
    }
  return cases;
}

std::vector<ShardingCase> shardingCases(MLIRContext &context,
                                        std::vector<std::string> &missing) {
  std::vector<ShardingCase> cases;
  for (auto list :
       {elementwiseCases(), creationCases(), reductionCases(), shapeCases(),
        indexingCases(), lossCases(), optimizerCases(), contractionCases(),
        convolutionCases(), poolingCases()})
    cases.insert(cases.end(), list.begin(), list.end());
  std::set<std::string> covered;
  for (const ShardingCase &listed : cases)
    covered.insert(listed.op);
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("graph")) {
    std::string op = name.getStringRef().str();
    if (covered.count(op) || opsWithoutRule().count(op))
      continue;
    std::vector<ShardingCase> made = madeCases(context, op);
    if (made.empty())
      missing.push_back(op);
    cases.insert(cases.end(), made.begin(), made.end());
  }
  return cases;
}

static double draw(Domain domain, bool whole, std::mt19937 &random) {
  auto upTo = [&](int count) { return static_cast<int>(random() % count); };
  switch (domain) {
  case Domain::Quarters:
    return whole ? upTo(7) - 3 : (upTo(25) - 12) / 4.0;
  case Domain::Positive:
    return (1 + upTo(16)) / 4.0;
  case Domain::Powers:
    return (upTo(2) ? 1 : -1) * std::ldexp(1.0, upTo(4) - 1);
  case Domain::Rare:
    return upTo(12) == 0 ? 4 : upTo(3);
  case Domain::Positions:
  case Domain::Scalars:
    return upTo(4);
  }
  return 0;
}

static graph::HostTensor values(Type type, Domain domain,
                                std::mt19937 &random) {
  graph::HostTensor tensor(type);
  Type element = tensor.type.getElementType();
  for (double &value : tensor.floats)
    value = draw(domain, false, random);
  for (int64_t &value : tensor.ints) {
    value = static_cast<int64_t>(draw(domain, true, random));
    if (element.isInteger(1))
      value &= 1;
    if (element.isUnsignedInteger())
      value &= 3;
  }
  return tensor;
}

int trialsFor(Operation *op) {
  return graph::numElements(op->getResult(0)) < 16 ? 40 : 4;
}

SmallVector<graph::HostTensor> caseValues(const ShardingCase &shardingCase,
                                          Operation *op, std::mt19937 &random) {
  SmallVector<graph::HostTensor> operands;
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes())) {
    const std::vector<Domain> &domains = shardingCase.domains;
    operands.push_back(values(
        type, i < domains.size() ? domains[i] : Domain::Quarters, random));
  }
  return operands;
}

graph::HostTensor smallValues(Type type, std::mt19937 &random) {
  return values(type, Domain::Quarters, random);
}

} // namespace dl::test
