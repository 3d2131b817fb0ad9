// The graph dialect: a training step as tensor ops in SSA form.
//
// Ops live in rooms, ops/<family>/: definition, shape inference, loop nest,
// gradient, decomposition, reference and cost of an op stand together.
#pragma once

#include "dialects/graph/Communication.h"
#include "dialects/graph/HostTensor.h"
#include "dialects/graph/LaunchConstants.h"
#include "dialects/graph/LoopNest.h"
#include "dialects/graph/Sharding.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/graph/GraphDialect.h.inc"
#include "dialects/graph/GraphEnums.h.inc"
#include "dialects/graph/Interfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/graph/GraphAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/GraphOps.h.inc"

namespace dl::graph {

/// Creates the op `name` ("graph.conv2d") with the result types that its room
/// infers. Everything that can be wrong with the operands and attributes is
/// emitted as an error at `loc`; then the result is failure.
mlir::FailureOr<mlir::Operation *>
createInferred(mlir::OpBuilder &builder, mlir::Location loc,
               llvm::StringRef name, mlir::ValueRange operands,
               llvm::ArrayRef<mlir::NamedAttribute> attributes);

} // namespace dl::graph
