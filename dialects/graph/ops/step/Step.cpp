#include "dialects/graph/Step.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/StepScalars.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dl::graph;

void StepOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   TypeRange arguments) {
  MLIRContext *context = builder.getContext();
  SmallVector<Attribute> ports(arguments.size(), PortAttr::plain(context));
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.arg_ports = builder.getArrayAttr(ports);
  properties.res_ports = builder.getArrayAttr({});
  Block &block = state.addRegion()->emplaceBlock();
  for (Type type : arguments)
    block.addArgument(type, state.location);
}

TypeRange StepOp::getArgumentTypes() {
  return getBody().front().getArgumentTypes();
}

ReturnOp StepOp::getReturn() {
  return cast<ReturnOp>(getBody().front().getTerminator());
}

Value StepOp::getScalars() {
  for (auto [argument, port] : llvm::zip(getArguments(), getArgPorts()))
    if (cast<PortAttr>(port).isScalars())
      return argument;
  return {};
}

static ArrayAttr portsAttr(MLIRContext *context, ArrayRef<PortAttr> ports) {
  return ArrayAttr::get(context,
                        SmallVector<Attribute>(ports.begin(), ports.end()));
}

void StepOp::setArgPorts(ArrayRef<PortAttr> ports) {
  setArgPortsAttr(portsAttr(getContext(), ports));
}

void StepOp::setResults(ValueRange values, ArrayRef<PortAttr> ports) {
  Block &block = getBody().front();
  if (block.mightHaveTerminator()) {
    getReturn()->setOperands(values);
  } else {
    OpBuilder builder = OpBuilder::atBlockEnd(&block);
    ReturnOp::create(builder, getLoc(), values);
  }
  setResPortsAttr(portsAttr(getContext(), ports));
}

void StepOp::setResults(ValueRange values) {
  setResults(values, SmallVector<PortAttr>(values.size(),
                                           PortAttr::plain(getContext())));
}

ProgramOp dl::graph::programOf(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    return program;
  return {};
}

int64_t dl::graph::accumulationOf(ModuleOp module) {
  ProgramOp program = programOf(module);
  return program ? program.getAccumulate() : 1;
}

//===--- text -------------------------------------------------------------===//

namespace {

/// "tensor<f32> metric \"loss\"", one or many.
struct DeclaredResults {
  llvm::SMLoc loc;
  SmallVector<Type> types;
  SmallVector<Attribute> ports;

  ParseResult parseOne(OpAsmParser &parser) {
    if (parser.parseType(types.emplace_back()))
      return failure();
    PortAttr port = parsePort(parser);
    ports.push_back(port);
    return success(port != nullptr);
  }

  ParseResult parse(OpAsmParser &parser) {
    loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalArrow()))
      return success();
    loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalLParen()))
      return parseOne(parser);
    if (succeeded(parser.parseOptionalRParen()))
      return success();
    if (parser.parseCommaSeparatedList([&] { return parseOne(parser); }))
      return failure();
    return parser.parseRParen();
  }
};

} // namespace

/// `update of "train" training short batch 16 dataset 0`
static ParseResult parseFacts(OpAsmParser &parser,
                              StepOp::Properties &properties) {
  Builder &builder = parser.getBuilder();
  for (Part part : {Part::Micro, Part::Update, Part::Initial})
    if (succeeded(parser.parseOptionalKeyword(stringifyPart(part))))
      properties.part = PartAttr::get(parser.getContext(), part);
  std::string name;
  if (succeeded(parser.parseOptionalKeyword("of"))) {
    if (parser.parseString(&name))
      return failure();
    properties.of = builder.getStringAttr(name);
  }
  if (succeeded(parser.parseOptionalKeyword("training")))
    properties.training = builder.getUnitAttr();
  if (succeeded(parser.parseOptionalKeyword("short")))
    properties.is_short = builder.getUnitAttr();
  auto parseNumber = [&](StringRef keyword, IntegerAttr &number) {
    int64_t value = 0;
    if (failed(parser.parseOptionalKeyword(keyword)))
      return success();
    if (failed(parser.parseInteger(value)))
      return failure();
    number = builder.getI64IntegerAttr(value);
    return success();
  };
  if (failed(parseNumber("batch", properties.batch)))
    return failure();
  return parseNumber("dataset", properties.dataset);
}

ParseResult StepOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  Properties &properties = result.getOrAddProperties<Properties>();
  if (parser.parseSymbolName(properties.sym_name))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> ports;
  auto parseArgument = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back(), /*allowType=*/true))
      return failure();
    PortAttr port = parsePort(parser);
    ports.push_back(port);
    return success(port != nullptr);
  };
  DeclaredResults declared;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     parseArgument) ||
      declared.parse(parser) || parseFacts(parser, properties) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  properties.arg_ports = builder.getArrayAttr(ports);
  properties.res_ports = builder.getArrayAttr(declared.ports);
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  // The types of results stand in the text for its readers.
  Operation *end =
      body->empty() || body->back().empty() ? nullptr : &body->back().back();
  if (isa_and_nonnull<ReturnOp>(end) &&
      end->getOperandTypes() != TypeRange(declared.types))
    return parser.emitError(declared.loc, "these are not the types of what "
                                          "graph.return has");
  return success();
}

void StepOp::print(OpAsmPrinter &printer) {
  auto printPortBehind = [&](PortAttr port) {
    if (port.getKind() != PortKind::Plain)
      printer << " " << portText(port);
  };
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << "(";
  llvm::interleaveComma(getArguments(), printer, [&](BlockArgument argument) {
    printer.printRegionArgument(argument);
    printPortBehind(getArgPort(argument.getArgNumber()));
  });
  printer << ")";
  OperandRange results = getReturn().getValues();
  if (!results.empty()) {
    bool one =
        results.size() == 1 && getResPort(0).getKind() == PortKind::Plain;
    printer << (one ? " -> " : " -> (");
    llvm::interleaveComma(llvm::enumerate(results), printer, [&](auto result) {
      printer << result.value().getType();
      printPortBehind(getResPort(result.index()));
    });
    printer << (one ? "" : ")");
  }
  if (getPart() != Part::Whole)
    printer << " " << stringifyPart(getPart());
  if (getOfAttr())
    printer << " of " << getOfAttr();
  printer << (getTraining() ? " training" : "")
          << (getIsShort() ? " short" : "");
  if (std::optional<int64_t> batch = getBatch())
    printer << " batch " << *batch;
  if (std::optional<int64_t> dataset = getDataset())
    printer << " dataset " << *dataset;
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrDictionary().getValue());
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===--- what holds -------------------------------------------------------===//

static bool isForArguments(PortKind kind) {
  return kind != PortKind::Metric && kind != PortKind::Error;
}

static bool isForResults(PortKind kind) {
  return kind != PortKind::Input && kind != PortKind::Scalars;
}

static bool isTensorOf(Type type, unsigned bits, ArrayRef<int64_t> shape) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getElementType().isSignlessInteger(bits) &&
         tensor.getShape() == shape;
}

/// The scalars with settings behind them, see place-settings.
static bool holdsSettings(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getElementType().isSignlessInteger(64) &&
         tensor.getRank() == 1 && tensor.getDimSize(0) > numStepScalars;
}

static bool isWithoutBatch(Part part) {
  return part == Part::Update || part == Part::Initial;
}

/// Each port at most once, and of a kind that fits.
static LogicalResult verifyPorts(StepOp step, ArrayAttr ports, TypeRange types,
                                 bool areArguments) {
  StringRef noun = areArguments ? "argument" : "result";
  if (ports.size() != types.size())
    return step.emitOpError() << "has " << types.size() << " " << noun
                              << "s and ports for " << ports.size();
  llvm::DenseSet<Attribute> seen;
  for (auto [i, attr, type] : llvm::enumerate(ports, types)) {
    auto port = cast<PortAttr>(attr);
    auto error = [&] { return step.emitOpError() << noun << " " << i << " "; };
    if (failed(requireTensor(step.getLoc(), "graph.step", type)))
      return failure();
    if (areArguments ? !isForArguments(port.getKind())
                     : !isForResults(port.getKind()))
      return error() << "cannot be " << stringifyPortKind(port.getKind());
    // Two error flags may say the same.
    if (port.getKind() != PortKind::Plain && !port.asError() &&
        !seen.insert(port).second)
      return error() << "is a second " << portText(port);
    if (port.isScalars() && !isTensorOf(type, 64, {8}) && !holdsSettings(type))
      return error() << "holds the step's scalars, which are tensor<8xi64>, "
                        "not "
                     << type;
    if (port.asError() && !isTensorOf(type, 32, {}))
      return error() << "is an error flag, which is tensor<i32>, not " << type;
    if (port.asInput() && isWithoutBatch(step.getPart()))
      return error() << "is an input; an " << stringifyPart(step.getPart())
                     << " has no batch";
    if (port.asMetric() && step.getPart() == Part::Initial)
      return error() << "is a metric; nobody asks an initial for one";
  }
  return success();
}

LogicalResult StepOp::verifyRegions() {
  if (getPart() == Part::Micro && !getTraining())
    return emitOpError() << "is the " << stringifyPart(getPart())
                         << " of a step that does not train";
  if (isWithoutBatch(getPart()) && getIsShort())
    return emitOpError() << "is an " << stringifyPart(getPart())
                         << ", which has no batch to be short";
  if (getPart() == Part::Initial && getTraining())
    return emitOpError() << "trains, and is an initial";
  if (failed(verifyPorts(*this, getArgPorts(), getArgumentTypes(), true)))
    return failure();
  return verifyPorts(*this, getResPorts(), getReturn()->getOperandTypes(),
                     false);
}

LogicalResult StepOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto verify = [&](Attribute attr, Type type) -> LogicalResult {
    FlatSymbolRefAttr name = cast<PortAttr>(attr).asState();
    if (!name)
      return success();
    auto state = symbols.lookupNearestSymbolFrom<StateOp>(*this, name);
    if (!state)
      return emitOpError() << "names the state " << name
                           << ", which the module does not have";
    if (state.getType() != type)
      return emitOpError() << "has the state " << name << " as " << type
                           << ", it is " << state.getType();
    return success();
  };
  for (auto [port, type] : llvm::zip(getArgPorts(), getArgumentTypes()))
    if (failed(verify(port, type)))
      return failure();
  for (auto [port, type] :
       llvm::zip(getResPorts(), getReturn()->getOperandTypes()))
    if (failed(verify(port, type)))
      return failure();
  return success();
}
