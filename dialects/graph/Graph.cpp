#include "dialects/graph/Graph.h"
#include "dialects/graph/Inference.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace dl::graph;

#include "dialects/graph/GraphDialect.cpp.inc"
#include "dialects/graph/Interfaces.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/graph/GraphOps.cpp.inc"

void GraphDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/GraphOps.cpp.inc"
      >();
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

  auto emit = [&] { return emitError(loc) << name << ": "; };
  NamedAttrList given(attributes);
  if (failed(info->verifyInherentAttrs(given, emit)))
    return failure();
  DictionaryAttr dictionary = given.getDictionary(context);

  // Inference reads the op's properties, which do not exist before the op.
  std::unique_ptr<char[]> storage;
  OpaqueProperties properties = nullptr;
  if (int size = info->getOpPropertyByteSize()) {
    storage = std::make_unique<char[]>(size);
    properties = OpaqueProperties(storage.get());
    info->initOpProperties(properties, nullptr);
  }
  llvm::scope_exit release([&] {
    if (properties)
      info->destroyOpProperties(properties);
  });
  if (properties && failed(info->setOpPropertiesFromAttribute(
                        *info, properties, dictionary, emit)))
    return failure();

  SmallVector<Type> types;
  auto *inference = info->getInterface<InferTypeOpInterface>();
  if (failed(inference->inferReturnTypes(context, loc, operands, dictionary,
                                         properties, {}, types)))
    return failure();
  OperationState state(loc, *info);
  state.addOperands(operands);
  state.addAttributes(given);
  state.addTypes(types);
  return builder.create(state);
}
