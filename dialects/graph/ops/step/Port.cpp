#include "dialects/graph/Step.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace dl::graph;

PortAttr PortAttr::plain(MLIRContext *context) {
  return get(context, PortKind::Plain, Attribute());
}

PortAttr PortAttr::input(MLIRContext *context, int64_t component) {
  return get(context, PortKind::Input,
             Builder(context).getI64IntegerAttr(component));
}

PortAttr PortAttr::scalars(MLIRContext *context) {
  return get(context, PortKind::Scalars, Attribute());
}

PortAttr PortAttr::state(MLIRContext *context, StringRef name) {
  return get(context, PortKind::State, FlatSymbolRefAttr::get(context, name));
}

PortAttr PortAttr::metric(StringAttr name) {
  return get(name.getContext(), PortKind::Metric, name);
}

PortAttr PortAttr::error(StringAttr message) {
  return get(message.getContext(), PortKind::Error, message);
}

std::optional<int64_t> PortAttr::asInput() const {
  if (getKind() != PortKind::Input)
    return std::nullopt;
  return cast<IntegerAttr>(getWhat()).getInt();
}

FlatSymbolRefAttr PortAttr::asState() const {
  return getKind() == PortKind::State ? cast<FlatSymbolRefAttr>(getWhat())
                                      : FlatSymbolRefAttr();
}

StringAttr PortAttr::asMetric() const {
  return getKind() == PortKind::Metric ? cast<StringAttr>(getWhat())
                                       : StringAttr();
}

StringAttr PortAttr::asError() const {
  return getKind() == PortKind::Error ? cast<StringAttr>(getWhat())
                                      : StringAttr();
}

PortAttr dl::graph::parsePort(AsmParser &parser) {
  MLIRContext *context = parser.getContext();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(
          &keyword, {"plain", "input", "scalars", "state", "metric", "error"})))
    return PortAttr::plain(context);
  PortKind kind = *symbolizePortKind(keyword);
  switch (kind) {
  case PortKind::Input: {
    int64_t component;
    if (parser.parseInteger(component))
      return {};
    return PortAttr::input(context, component);
  }
  case PortKind::State: {
    StringAttr name;
    if (parser.parseSymbolName(name))
      return {};
    return PortAttr::state(context, name);
  }
  case PortKind::Metric:
  case PortKind::Error: {
    std::string text;
    if (parser.parseString(&text))
      return {};
    return PortAttr::get(context, kind, StringAttr::get(context, text));
  }
  case PortKind::Plain:
  case PortKind::Scalars:
    return PortAttr::get(context, kind, Attribute());
  }
  return {};
}

std::string dl::graph::portText(PortAttr port) {
  std::string text = stringifyPortKind(port.getKind()).str();
  llvm::raw_string_ostream stream(text);
  if (std::optional<int64_t> component = port.asInput())
    stream << " " << *component;
  else if (port.getWhat())
    stream << " " << port.getWhat();
  return text;
}

Attribute PortAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  PortAttr port = parsePort(parser);
  if (!port || parser.parseGreater())
    return {};
  return port;
}

void PortAttr::print(AsmPrinter &printer) const {
  printer << "<" << portText(*this) << ">";
}

PortAttr dl::graph::portOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto step = argument ? dyn_cast<StepOp>(argument.getOwner()->getParentOp())
                       : StepOp();
  return step ? step.getArgPort(argument.getArgNumber()) : PortAttr();
}

PortAttr dl::graph::portOf(OpOperand &returned) {
  auto end = dyn_cast<ReturnOp>(returned.getOwner());
  return end ? cast<StepOp>(end->getParentOp())
                   .getResPort(returned.getOperandNumber())
             : PortAttr();
}

FlatSymbolRefAttr dl::graph::stateOf(Value value) {
  PortAttr port = portOf(value);
  return port ? port.asState() : FlatSymbolRefAttr();
}

FlatSymbolRefAttr dl::graph::stateOf(OpOperand &returned) {
  PortAttr port = portOf(returned);
  return port ? port.asState() : FlatSymbolRefAttr();
}

bool dl::graph::isScalars(Value value) {
  PortAttr port = portOf(value);
  return port && port.isScalars();
}
