#include "test/compiler/OpCases.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <array>
#include <cmath>

using namespace mlir;

namespace dl::test {

static const std::string kScalars = "tensor<8xi64>";

static std::vector<OpCase> elementwiseCases() {
  std::vector<OpCase> cases = {
      {"graph.neg", {"tensor<2x3xi64>"}},
      {"graph.abs", {"tensor<2x3xi32>"}},
      {"graph.log", {"tensor<2x3xf64>"}, "{}", 0.3, 4},
      {"graph.log1p", {"tensor<2x3xf64>"}, "{}", -0.8, 4},
      {"graph.sqrt", {"tensor<2x3xf64>"}, "{}", 0.3, 4},
      {"graph.rsqrt", {"tensor<2x3xf64>"}, "{}", 0.3, 4},
      {"graph.div", {"tensor<2x3xf64>", "tensor<3xf64>"}, "{}", 0.5, 3},
      {"graph.pow", {"tensor<2x3xf64>", "tensor<2x1xf64>"}, "{}", 0.4, 2.5},
      {"graph.logical_and", {"tensor<2x3xi1>", "tensor<3xi1>"}},
      {"graph.logical_or", {"tensor<2x3xi1>", "tensor<3xi1>"}},
      {"graph.logical_not", {"tensor<2x3xi1>"}},
      {"graph.select", {"tensor<3xi1>", "tensor<2x3xf64>", "tensor<2x1xf64>"}},
      {"graph.select", {"tensor<2x1xi1>", "tensor<i64>", "tensor<3xi64>"}},
  };
  for (std::string op : {"neg", "abs", "exp", "sin", "cos", "tanh", "sigmoid",
                         "erf", "relu", "sign", "floor"})
    cases.push_back({"graph." + op, {"tensor<2x3xf64>"}});
  for (std::string op : {"add", "sub", "mul", "maximum", "minimum"}) {
    cases.push_back({"graph." + op, {"tensor<2x3xf64>", "tensor<2x3xf64>"}});
    cases.push_back({"graph." + op, {"tensor<2x1x3xf64>", "tensor<4x1xf64>"}});
    cases.push_back({"graph." + op, {"tensor<f64>", "tensor<1x3xf64>"}});
    cases.push_back({"graph." + op, {"tensor<2x3xi64>", "tensor<3xi64>"}});
  }
  for (std::string element : {"i64", "i32"}) {
    cases.push_back(
        {"graph.floor_divide",
         {"tensor<7x9x" + element + ">", "tensor<9x" + element + ">"},
         "{}",
         0,
         0,
         7});
    cases.push_back(
        {"graph.floor_divide",
         {"tensor<5x" + element + ">", "tensor<4x1x" + element + ">"}});
  }
  for (std::string op : {"and", "or", "xor"})
    for (std::string element : {"i64", "i32"})
      cases.push_back(
          {"graph.bitwise_" + op,
           {"tensor<7x9x" + element + ">", "tensor<9x" + element + ">"},
           "{}",
           0,
           0,
           7});
  for (std::string op : {"maximum", "minimum"})
    for (std::string element : {"ui8", "i1", "i32"})
      cases.push_back(
          {"graph." + op,
           {"tensor<2x3x" + element + ">", "tensor<3x" + element + ">"}});
  for (std::string op : {"eq", "ne", "lt", "le", "gt", "ge"})
    for (std::string element : {"f64", "i64", "i32", "ui8", "i1"})
      cases.push_back(
          {"graph." + op,
           {"tensor<2x3x" + element + ">", "tensor<3x" + element + ">"}});
  for (std::string from : {"f64", "f32", "i64", "i32", "ui8", "i1"})
    for (std::string to : {"f64", "f32", "i64", "i32", "ui8", "i1"})
      cases.push_back({"graph.cast",
                       {"tensor<2x3x" + from + ">"},
                       "{to = " + to + "}",
                       0.5,
                       9});
  return cases;
}

static std::vector<OpCase> makeCases() {
  std::vector<OpCase> cases = elementwiseCases();
  std::vector<OpCase> more = {
      // Creation and random.
      {"graph.full", {}, "{value = 2.5, type = tensor<2x3xf64>}"},
      {"graph.full", {}, "{value = 7.0, type = tensor<2xui8>}"},
      {"graph.full", {}, "{value = -7.0, type = tensor<2xi64>}"},
      {"graph.full", {}, "{value = 1.0, type = tensor<2xi1>}"},
      {"graph.iota", {}, "{dim = 1, type = tensor<2x3xi64>}"},
      {"graph.iota", {}, "{dim = 0, type = tensor<2x3xf64>}"},
      {"graph.iota", {}, "{dim = 0, type = tensor<5xui8>}"},
      {"graph.iota",
       {},
       "{dim = 1, type = tensor<2x3xi64>, start = array<i64: 5>}"},
      {"graph.read_setting", {"tensor<10xi64>"}, "{position = 9}"},
      {"graph.uniform",
       {kScalars},
       "{key = 77, type = tensor<3x4xf64>, offset = array<i64: 2, 0>, "
       "extents = array<i64: 9, 5>}"},
      {"graph.dropout",
       {"tensor<3x4x2xf64>", kScalars},
       "{p = 0.5, key = 5, channelwise = true, "
       "offset = array<i64: 1, 3, 1>, extents = array<i64: 9, 7, 4>}"},
      {"graph.uniform", {kScalars}, "{key = 77, type = tensor<3x4xf64>}"},
      {"graph.normal", {kScalars}, "{key = -5, type = tensor<3x4xf64>}"},
      {"graph.dropout", {"tensor<3x1x5xf64>", kScalars}, "{p = 0.4, key = 9}"},
      {"graph.dropout",
       {"tensor<3x4x2x2xf64>", kScalars},
       "{p = 0.5, key = 1234567890123, channelwise = true}"},
      {"graph.dropout", {"tensor<8xf64>", kScalars}, "{p = 1.0, key = 9}"},
      // Reductions.
      {"graph.sum", {"tensor<2x3x4xf64>"}, "{dims = array<i64: 0, 2>}"},
      {"graph.sum",
       {"tensor<2x3x4xf64>"},
       "{dims = array<i64: 1>, keepdim = true}"},
      {"graph.sum", {"tensor<2x3xi64>"}, "{dims = array<i64: 0, 1>}"},
      {"graph.amax", {"tensor<2x3x4xf64>"}, "{dims = array<i64: 0, 2>}"},
      {"graph.amax",
       {"tensor<2x3xf64>"},
       "{dims = array<i64: 1>, keepdim = true}"},
      {"graph.max", {"tensor<2x3x4xf64>"}, "{dim = 1}"},
      {"graph.max", {"tensor<2x3xf64>"}, "{dim = 0, keepdim = true}"},
      {"graph.max", {"tensor<2x5xi64>"}, "{dim = 1}"},
      {"graph.argmax", {"tensor<2x3x4xf64>"}, "{dim = 2}"},
      {"graph.argmax", {"tensor<2x7xi64>"}, "{dim = 1, keepdim = true}"},
      // Shapes.
      {"graph.reshape", {"tensor<2x6xf64>"}, "{shape = array<i64: 3, 4>}"},
      {"graph.transpose",
       {"tensor<2x3x4xf64>"},
       "{permutation = array<i64: 2, 0, 1>}"},
      {"graph.copy", {"tensor<2x3xf64>"}},
      {"graph.flip", {"tensor<2x3x4xf64>"}, "{dims = array<i64: 0, 2>}"},
      {"graph.flip", {"tensor<5xi64>"}, "{dims = array<i64: 0>}"},
      // Indices: one that serves all other dims, or one for each element.
      {"graph.gather", {"tensor<3x4xf64>", "tensor<5x1xi64>"}, "{dim = 0}"},
      {"graph.gather", {"tensor<2x3x4xf64>", "tensor<2x5x4xi64>"}, "{dim = 1}"},
      {"graph.gather", {"tensor<2x3xi64>", "tensor<1x7xi64>"}, "{dim = 1}"},
      {"graph.gather", {"tensor<3xi1>", "tensor<4xi64>"}, "{dim = 0}"},
      {"graph.gather",
       {"tensor<1x4xf64>", "tensor<3x4xi64>"},
       "{dim = 0}",
       -2,
       2,
       1},
      {"graph.update_slice",
       {"tensor<1xi64>", "tensor<2x1x4xf64>", "tensor<2x3x4xf64>"},
       "{dim = 1}"},
      {"graph.update_slice",
       {"tensor<i64>", "tensor<2x1xi64>", "tensor<2x3xi64>"},
       "{dim = 1}"},
      {"graph.update_slice",
       {"tensor<1x1xi64>", "tensor<1xi1>", "tensor<3xi1>"},
       "{dim = 0}"},
      {"graph.scatter_add",
       {"tensor<5x1xi64>", "tensor<5x4xf64>"},
       "{dim = 0, size = 3}"},
      {"graph.scatter_add",
       {"tensor<2x5x4xi64>", "tensor<2x5x4xf64>"},
       "{dim = 1, size = 4}"},
      {"graph.scatter_add",
       {"tensor<7xi64>", "tensor<7xi64>"},
       "{dim = 0, size = 3}"},
      {"graph.scatter_amax",
       {"tensor<9x1xi64>", "tensor<9x4xf64>"},
       "{dim = 0, size = 2}"},
      {"graph.scatter_amax", // places without any have no number
       {"tensor<2x9x4xi64>", "tensor<2x9x4xf64>"},
       "{dim = 1, size = 2}"},
      {"graph.scatter_amax",
       {"tensor<7xi64>", "tensor<7xi64>"},
       "{dim = 0, size = 3}"},
      {"graph.cumsum", {"tensor<2x5xf64>"}, "{dim = 1}"},
      {"graph.cumsum", {"tensor<4x3xf64>"}, "{dim = 0, reverse = true}"},
      {"graph.cumsum", {"tensor<2x3x4xi64>"}, "{dim = 1}"},
      {"graph.linear_recurrence",
       {"tensor<2x5xf64>", "tensor<2x5xf64>"},
       "{dim = 1}"},
      {"graph.linear_recurrence",
       {"tensor<4x3xf64>", "tensor<4x3xf64>"},
       "{dim = 0, reverse = true}"},
      {"graph.linear_recurrence",
       {"tensor<2x3x4xi64>", "tensor<2x3x4xi64>"},
       "{dim = 1}"},
      {"graph.argcummax", {"tensor<3x7xf64>"}, "{dim = 1}"},
      {"graph.argcummax", {"tensor<9x2xi64>"}, "{dim = 0}"},
      {"graph.argsort", {"tensor<3x7xf64>"}, "{dim = 1}"},
      {"graph.argsort", {"tensor<3x7xf64>"}, "{dim = 1, count = 2}"},
      {"graph.argsort", {"tensor<9x2xi64>"}, "{dim = 0, descending = true}"},
      {"graph.argsort", {"tensor<6xui8>"}, "{dim = 0}"},
      {"graph.copy", {"tensor<5xi64>"}},
      {"graph.expand", {"tensor<3x1xf64>"}, "{shape = array<i64: 2, 3, 4>}"},
      {"graph.pad",
       {"tensor<2x3xf64>"},
       "{low = array<i64: 1, 0>, high = array<i64: 0, 2>, "
       "interior = array<i64: 2, 1>, value = 7.0}"},
      {"graph.slice",
       {"tensor<5x7xf64>"},
       "{offsets = array<i64: 1, 0>, sizes = array<i64: 2, 3>, "
       "strides = array<i64: 2, 3>}"},
      {"graph.cat",
       {"tensor<2x3xf64>", "tensor<2x1xf64>", "tensor<2x4xf64>"},
       "{dim = 1}"},
      {"graph.cat", {"tensor<1x2xi64>", "tensor<3x2xi64>"}, "{dim = 0}"},
      {"graph.cat", {"tensor<2xi1>", "tensor<3xi1>"}, "{dim = 0}"},
      {"graph.cat", std::vector<std::string>(11, "tensor<2x2xf64>"),
       "{dim = 0}"},
      // Contractions.
      {"graph.conv2d",
       {"tensor<2x3x6x5xf64>", "tensor<4x3x3x2xf64>"},
       "{stride = array<i64: 1, 1>, padding = array<i64: 0, 0>}"},
      {"graph.conv2d",
       {"tensor<2x3x7x6xf64>", "tensor<2x3x3x2xf64>"},
       "{stride = array<i64: 2, 3>, padding = array<i64: 1, 1>}"},
      {"graph.conv2d",
       {"tensor<1x2x4x4xf64>", "tensor<2x2x2x2xf64>"},
       "{stride = array<i64: 2, 1>, padding = array<i64: 3, 2>}"},
      {"graph.conv2d_input_grad",
       {"tensor<2x4x8x6xf64>", "tensor<4x3x3x2xf64>"},
       "{stride = array<i64: 1, 1>, padding = array<i64: 2, 1>, "
       "input_shape = array<i64: 2, 3, 6, 5>}"},
      {"graph.conv2d_input_grad",
       {"tensor<2x2x4x3xf64>", "tensor<2x3x3x2xf64>"},
       "{stride = array<i64: 2, 3>, padding = array<i64: 1, 1>, "
       "input_shape = array<i64: 2, 3, 7, 6>}"},
      {"graph.conv2d_weight_grad",
       {"tensor<2x3x6x5xf64>", "tensor<2x4x4x4xf64>"},
       "{stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, "
       "kernel = array<i64: 3, 2>}"},
      {"graph.conv2d_weight_grad",
       {"tensor<2x3x7x6xf64>", "tensor<2x2x4x3xf64>"},
       "{stride = array<i64: 2, 3>, padding = array<i64: 1, 1>, "
       "kernel = array<i64: 3, 2>}"},
      {"graph.conv2d",
       {"tensor<2x4x7x8xf64>", "tensor<6x2x2x3xf64>"},
       "{stride = array<i64: 1, 2>, padding = array<i64: 1, 0>, "
       "dilation = array<i64: 2, 1>, groups = 2}"},
      {"graph.conv2d",
       {"tensor<2x3x6x5xf64>", "tensor<3x1x3x2xf64>"},
       "{stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 3}"},
      {"graph.conv2d",
       {"tensor<1x2x6x6xf64>", "tensor<6x1x3x2xf64>"},
       "{stride = array<i64: 2, 1>, padding = array<i64: 0, 0>, groups = 2}"},
      {"graph.conv2d",
       {"tensor<1x2x9x8xf64>", "tensor<2x2x3x2xf64>"},
       "{stride = array<i64: 2, 1>, padding = array<i64: 1, 2>, "
       "dilation = array<i64: 2, 3>}"},
      // Many phases: those of a long filter, with inputs that no tap meets, of
      // groups, of a channel each.
      {"graph.conv2d_input_grad",
       {"tensor<2x4x1x4xf64>", "tensor<4x3x1x23xf64>"},
       "{stride = array<i64: 1, 10>, padding = array<i64: 0, 3>, "
       "input_shape = array<i64: 2, 3, 1, 52>}"},
      {"graph.conv2d_input_grad",
       {"tensor<1x2x2x3xf64>", "tensor<2x2x2x3xf64>"},
       "{stride = array<i64: 5, 4>, padding = array<i64: 0, 1>, "
       "input_shape = array<i64: 1, 2, 9, 10>}"},
      {"graph.conv2d_input_grad",
       {"tensor<2x4x2x2xf64>", "tensor<4x3x4x5xf64>"},
       "{stride = array<i64: 3, 4>, padding = array<i64: 1, 2>, groups = 2, "
       "input_shape = array<i64: 2, 6, 7, 7>}"},
      {"graph.conv2d_input_grad",
       {"tensor<1x3x2x2xf64>", "tensor<3x1x4x4xf64>"},
       "{stride = array<i64: 4, 4>, padding = array<i64: 0, 0>, groups = 3, "
       "input_shape = array<i64: 1, 3, 8, 8>}"},
      {"graph.conv2d_input_grad",
       {"tensor<2x6x8x3xf64>", "tensor<6x2x2x3xf64>"},
       "{stride = array<i64: 1, 2>, padding = array<i64: 1, 0>, "
       "dilation = array<i64: 1, 1>, groups = 2, "
       "input_shape = array<i64: 2, 4, 7, 8>}"},
      {"graph.conv2d_input_grad",
       {"tensor<2x3x4x7xf64>", "tensor<3x1x3x2xf64>"},
       "{stride = array<i64: 1, 1>, padding = array<i64: 1, 2>, "
       "dilation = array<i64: 2, 2>, groups = 3, "
       "input_shape = array<i64: 2, 3, 6, 5>}"},
      {"graph.conv2d_weight_grad",
       {"tensor<2x4x7x8xf64>", "tensor<2x6x7x3xf64>"},
       "{stride = array<i64: 1, 2>, padding = array<i64: 1, 0>, "
       "dilation = array<i64: 2, 1>, groups = 2, kernel = array<i64: 2, 3>}"},
      {"graph.conv2d_weight_grad",
       {"tensor<2x3x6x5xf64>", "tensor<2x3x6x6xf64>"},
       "{stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 3, "
       "kernel = array<i64: 3, 2>}"},
      // Pooling.
      {"graph.sum_pool2d",
       {"tensor<2x3x4x6xf64>"},
       "{kernel = array<i64: 2, 3>, stride = array<i64: 2, 3>, "
       "padding = array<i64: 0, 0>}"},
      {"graph.sum_pool2d",
       {"tensor<1x2x7x6xf64>"},
       "{kernel = array<i64: 3, 2>, stride = array<i64: 2, 3>, "
       "padding = array<i64: 1, 1>, ceil_mode = true}"},
      {"graph.sum_pool2d_grad",
       {"tensor<1x2x4x6xf64>"},
       "{kernel = array<i64: 3, 2>, stride = array<i64: 2, 1>, "
       "padding = array<i64: 1, 1>, input_shape = array<i64: 1, 2, 7, 5>}"},
      {"graph.sum_pool2d_grad",
       {"tensor<1x1x3x2xf64>"},
       "{kernel = array<i64: 2, 2>, stride = array<i64: 3, 4>, "
       "padding = array<i64: 0, 0>, input_shape = array<i64: 1, 1, 8, 7>, "
       "ceil_mode = true}"},
      {"graph.max_pool2d",
       {"tensor<2x3x4x6xf64>"},
       "{kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, "
       "padding = array<i64: 0, 0>}"},
      {"graph.max_pool2d",
       {"tensor<1x2x7x5xf64>"},
       "{kernel = array<i64: 3, 2>, stride = array<i64: 2, 1>, "
       "padding = array<i64: 1, 1>}"},
      {"graph.max_pool2d",
       {"tensor<1x1x5x7xf64>"},
       "{kernel = array<i64: 2, 2>, stride = array<i64: 3, 3>, "
       "padding = array<i64: 1, 0>}"},
      {"graph.max_pool2d",
       {"tensor<1x1x20x20xf64>"},
       "{kernel = array<i64: 17, 17>, stride = array<i64: 3, 3>, "
       "padding = array<i64: 0, 0>}"},
      {"graph.max_pool2d_grad",
       {"tensor<2x3x2x3xf64>", "tensor<2x3x2x3xui8>"},
       "{kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, "
       "padding = array<i64: 0, 0>, input_shape = array<i64: 2, 3, 4, 6>}",
       -2,
       2,
       4},
      {"graph.max_pool2d_grad",
       {"tensor<1x2x3x4xf64>", "tensor<1x2x3x4xui8>"},
       "{kernel = array<i64: 3, 2>, stride = array<i64: 2, 1>, "
       "padding = array<i64: 0, 0>, input_shape = array<i64: 1, 2, 7, 5>}",
       -2,
       2,
       6},
      // Softmax and losses.
      {"graph.softmax", {"tensor<2x3x4xf64>"}, "{dim = 1}"},
      {"graph.log_softmax", {"tensor<2x5xf64>"}, "{dim = 1}"},
      {"graph.nll_loss", {"tensor<4x3xf64>", "tensor<4xi64>"}},
      {"graph.nll_loss",
       {"tensor<4x3x2xf64>", "tensor<4x2xi64>"},
       "{reduction = \"sum\", ignore_index = 1}"},
      {"graph.nll_loss",
       {"tensor<4x3x2xf64>", "tensor<4x2xi64>"},
       "{reduction = \"none\", ignore_index = 2}"},
      {"graph.nll_loss",
       {"tensor<6x3xf64>", "tensor<6xi64>"},
       "{ignore_index = 0}"},
      {"graph.index_check", {"tensor<4xi64>"}, "{bound = 3}"},
      {"graph.index_check", {"tensor<4xi64>"}, "{bound = 2}"},
      {"graph.index_check",
       {"tensor<4x2xi64>"},
       "{bound = 2, start = array<i64: 5>}"},
      {"graph.index_check",
       {"tensor<2x3xi64>"},
       "{bound = 2, ignore_index = 2}"},
      {"graph.detach", {"tensor<4xf64>"}},
      {"graph.shard", {"tensor<4x3xf64>"}, "{axes = \"dp,\"}"},
      {"graph.gradient", {"tensor<4xf64>"}, "{of = \"w\"}"},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  for (auto [a, b, spec] : std::vector<std::array<std::string, 3>>{
           {"3x4", "4x5", "mk,kn->mn"},
           {"4x3", "4x5", "km,kn->mn"},
           {"3x4", "5x4", "mk,nk->mn"},
           {"4x3", "5x4", "km,nk->mn"},
           {"2x3x4", "2x4x5", "bmk,bkn->bmn"},
           {"2x4x3", "2x5x4", "bkm,bnk->bmn"},
           {"2x3x4", "5x4", "btc,oc->bto"}, // linear
           {"4", "5x4", "c,oc->o"},
           {"4", "4", "k,k->"},
           {"2x3x4x2", "2x5x4x2", "bthd,bshd->bhts"}, // scores of attention
           {"2x4x3x5", "2x5x4x2", "bhts,bshd->bthd"},
           {"2x3x4", "3x4x5", "bhd,hdo->bo"}, // several dims are summed
           {"2x3x4", "4x5x2", "btc,chd->bthd"},
           {"3x4x2", "2x4x5", "mkb,bkn->nbm"}, // any order
           {"1x3x4", "6x4x5", "Bmk,bkn->bmn"}, // broadcast
           {"2x1x3x4", "5x4x3", "aBmk,bkn->abmn"},
           {"3x1x4", "2x4", "mXk,nk->mYn"},
           {"2x3", "4x5", "ij,kl->kijl"},     // nothing is summed
           {"2x3x4", "3x2x4", "abk,bak->ab"}, // no rows and columns
           {"2x3", "3x2", "ij,ji->ji"}})
    cases.push_back({"graph.matmul",
                     {"tensor<" + a + "xf64>", "tensor<" + b + "xf64>"},
                     "{spec = \"" + spec + "\"}"});
  return cases;
}

const std::vector<OpCase> &opCases() {
  static const std::vector<OpCase> cases = makeCases();
  return cases;
}

OwningOpRef<ModuleOp> buildCase(MLIRContext &context, const OpCase &opCase) {
  SmallVector<Type> types;
  for (const std::string &text : opCase.operands)
    types.push_back(parseType(text, &context));
  auto attributes = dyn_cast_or_null<DictionaryAttr>(
      parseAttribute(opCase.attributes, &context));
  if (!attributes || llvm::is_contained(types, Type()))
    return {};

  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto function = graph::StepOp::create(builder, loc, "f", types);
  Block *block = &function.getBody().front();
  builder.setInsertionPointToEnd(block);
  FailureOr<Operation *> op = graph::createInferred(
      builder, loc, opCase.op, block->getArguments(), attributes.getValue());
  if (failed(op))
    return {};
  function.setResults((*op)->getResults());
  return module;
}

graph::StepOp functionOf(ModuleOp module) {
  return *module.getOps<graph::StepOp>().begin();
}

Operation *opOf(ModuleOp module) {
  return &functionOf(module).getBody().front().front();
}

SmallVector<graph::HostTensor> caseArguments(const OpCase &opCase,
                                             TypeRange types) {
  SmallVector<graph::HostTensor> arguments;
  int64_t count = 0;
  for (Type type : types) {
    graph::HostTensor tensor(type);
    int64_t modulus =
        tensor.type.getElementType().isInteger(1) ? 2 : opCase.modulus;
    // Multiples of the golden ratio spread evenly and never repeat.
    for (double &value : tensor.floats) {
      double fraction = std::fmod(++count * 0.6180339887498949, 1.0);
      value = opCase.low + (opCase.high - opCase.low) * fraction;
      if (tensor.type.getElementType().isF32())
        value = static_cast<float>(value);
    }
    for (int64_t &value : tensor.ints)
      value = ++count * 7 % 11 % modulus;
    arguments.push_back(tensor);
  }
  return arguments;
}

void loadDialects(MLIRContext &context) {
  context.loadDialect<graph::GraphDialect, arith::ArithDialect,
                      math::MathDialect>();
}

std::string caseText(const OpCase &opCase) {
  return opCase.op + "(" + llvm::join(opCase.operands, ", ") + ") " +
         opCase.attributes;
}

} // namespace dl::test
