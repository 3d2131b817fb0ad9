#ifndef DL_GRAPH
#define DL_GRAPH

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/graph/Interfaces.td"

def GraphDialect : Dialect {
  let name = "graph";
  let summary = "A training step as a graph of tensor ops.";
  let cppNamespace = "::dl::graph";
}

/// An op of the dialect. All are pure: state is threaded through SSA.
class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<GraphDialect, mnemonic, !listconcat([Pure], traits)>;

/// An op whose result types follow from its operands and attributes; its room
/// defines inferReturnTypes and says what is wrong in the user's words.
class Graph_InferredOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([InferTypeOpAdaptor], traits)>;

#endif
