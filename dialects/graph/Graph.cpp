#include "dialects/graph/Graph.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/Limits.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dl::graph;

#include "dialects/graph/GraphDialect.cpp.inc"
#include "dialects/graph/GraphEnums.cpp.inc"
#include "dialects/graph/Interfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/graph/GraphAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/graph/GraphOps.cpp.inc"

void GraphDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/GraphOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/graph/GraphAttrs.cpp.inc"
      >();
}

/// How many operands the op takes; nothing where it may vary.
static std::optional<unsigned> operandCount(OperationName name) {
  if (name.hasTrait<OpTrait::ZeroOperands>())
    return 0;
  if (name.hasTrait<OpTrait::OneOperand>())
    return 1;
  if (name.hasTrait<OpTrait::NOperands<2>::Impl>())
    return 2;
  if (name.hasTrait<OpTrait::NOperands<3>::Impl>())
    return 3;
  return std::nullopt;
}

/// What inference takes for granted: operands are tensors of the dialect, as
/// many as the op has, and no attribute is missing or unknown. Ops whose types
/// are inferred have no optional attributes, only ones with defaults.
static LogicalResult checkParts(Operation *op) {
  auto error = [&] {
    return emitError(op->getLoc()) << op->getName().stripDialect() << ": ";
  };
  std::optional<unsigned> count = operandCount(op->getName());
  if (count && op->getNumOperands() != *count)
    return error() << "takes " << *count << " operands, got "
                   << op->getNumOperands();
  bool enough = op->getNumOperands() >= 2 ||
                !op->hasTrait<OpTrait::AtLeastNOperands<2>::Impl>();
  if (!enough || (!count && op->getNumOperands() == 0))
    return error() << "more operands are needed";
  for (Type type : op->getOperandTypes())
    if (failed(requireTensor(op->getLoc(), op->getName().stripDialect(), type)))
      return failure();
  for (StringAttr name : op->getName().getAttributeNames()) {
    std::optional<Attribute> value = op->getInherentAttr(name);
    if (!value || !*value)
      return error() << "needs the attribute '" << name.getValue() << "'";
  }
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    return error() << "has no attribute '" << attribute.getName().getValue()
                   << "'";
  return success();
}

FailureOr<Operation *>
dl::graph::createInferred(OpBuilder &builder, Location loc, StringRef name,
                          ValueRange operands,
                          ArrayRef<NamedAttribute> attributes) {
  MLIRContext *context = builder.getContext();
  std::optional<RegisteredOperationName> info =
      RegisteredOperationName::lookup(name, context);
  if (!info || !info->hasInterface<InferTypeOpInterface>())
    return emitError(loc) << name << ": there is no such op";

  StringRef shortName = info->stripDialect();
  auto emit = [&] { return emitError(loc) << shortName << ": "; };
  NamedAttrList given(attributes);
  if (failed(info->verifyInherentAttrs(given, emit)))
    return failure();

  // Inference reads the op's properties, which only an op has: a draft without
  // results that is never inserted.
  OperationState draftState(loc, *info);
  draftState.addOperands(operands);
  draftState.addAttributes(given);
  Operation *draft = Operation::create(draftState);
  llvm::scope_exit release([&] { draft->destroy(); });
  SmallVector<Type> types;
  auto *inference = info->getInterface<InferTypeOpInterface>();
  if (failed(checkParts(draft)) ||
      failed(inference->inferReturnTypes(
          context, loc, operands, given.getDictionary(context),
          draft->getPropertiesStorage(), {}, types)))
    return failure();
  for (Type type : types)
    if (product(cast<RankedTensorType>(type).getShape()) > kMaxElements)
      return emit() << "the result " << shapeText(type) << " is too large";
  OperationState state(loc, *info);
  state.addOperands(operands);
  state.addAttributes(given);
  state.addTypes(types);
  return builder.create(state);
}
