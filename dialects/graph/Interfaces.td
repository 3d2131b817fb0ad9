#ifndef DL_GRAPH_INTERFACES
#define DL_GRAPH_INTERFACES

include "mlir/IR/OpBase.td"

def LoopNestOpInterface : OpInterface<"LoopNestOpInterface"> {
  let description = [{
    The op is a loop nest over static extents with an elementwise payload, see
    LoopNest.h. Strategies of code generation look at this and never at names.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<"The loops and the accesses.", "::dl::graph::LoopNest", "getLoopNest">,
    InterfaceMethod<[{
      Builds the payload for one iteration from scalars: `operands` holds one
      scalar for each operand of the op, `indices` one value of type index for
      each iteration dim. Uses arith and math ops and those of Payload.td only.
      With Combine::None the results are the op's results; otherwise the one
      result is what is combined. Booleans are i1.
    }], "::llvm::SmallVector<::mlir::Value>", "buildBody",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
             "::mlir::ValueRange":$operands, "::mlir::ValueRange":$indices)>,
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let description = [{ Reverse-mode differentiation of one op. }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<[{
      `resultGrads` holds a value of the type of each result, or null where no
      gradient flows. Returns one value for each operand, of the operand's type,
      or null where none flows (integer operands, and operands for which
      `needed` is false). Every created op is bound to a local before it is used.
    }], "::llvm::SmallVector<::mlir::Value>", "buildGradient",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$resultGrads,
             "::llvm::ArrayRef<bool>":$needed)>,
  ];
}

def JointSumOpInterface : OpInterface<"JointSumOpInterface"> {
  let description = [{
    The op is linear, and the sum of the results of many such ops is the result of
    one on joined operands: matmul(a, x) + matmul(b, y) = matmul(cat(a, b), cat(x, y))
    along what is summed.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<[{
      The sum of `alike`, results of ops that differ from this one in nothing but
      values of operands of the same types. Null where one op would cost more.
    }], "::mlir::Value", "buildJointSum",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$alike)>,
  ];
}

def SplitSumOpInterface : OpInterface<"SplitSumOpInterface"> {
  let description = [{
    The op's sums can be added up in parts: matmul(a, x) is the sum over dim 0 of a
    batch of products, each of as many of the terms, one after the other.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<[{
      The `parts` sums of each element, in a dim that is new in front. Null where
      so many do not have the same number of terms.
    }], "::mlir::Value", "buildSplitSum",
        (ins "::mlir::OpBuilder &":$builder, "int64_t":$parts)>,
  ];
}

def TransposableOpInterface : OpInterface<"TransposableOpInterface"> {
  let description = [{
    The op's dims have names, and it takes them in any order: matmul(a, b) transposed
    is the same sums, written elsewhere.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<[{
      The op on other operands: where `transposed` says so, ones whose last two dims
      are exchanged; its last entry says whether the result's shall be.
    }], "::mlir::Value", "buildTransposed",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
             "::llvm::ArrayRef<bool>":$transposed)>,
    InterfaceMethod<[{
      The op without its sums over the leading dims of an operand, all but its last
      two, which the result has in front of its own last two. Null where the result
      has others, or some of them in another order.
    }], "::mlir::Value", "buildUnsummed",
        (ins "::mlir::OpBuilder &":$builder, "unsigned":$operand)>,
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let description = [{
    The op can be written with simpler ops of the dialect (softmax with exp and
    sums, a padded convolution with pad). Runs after `backward`; what comes out
    has a LoopNest or is decomposed again. Failure means "already simple".
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<"One value for each result, or failure where nothing is to be done.",
        "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose",
        (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

def AliasOpInterface : OpInterface<"AliasOpInterface"> {
  let description = [{
    The one result is another view of operand 0, and lies in the same memory: the
    same elements, row-major, of as many bytes. It belongs to no kernel, and no
    kernel reaches across it.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<"What it is a view of.", "::mlir::Value", "getViewed", (ins), "",
        [{ return $_op->getOperand(0); }]>,
  ];
}

def JoinOpInterface : OpInterface<"JoinOpInterface"> {
  let description = [{
    The operands of the op lie in its result, and there is nothing else in it. Where they do so
    one after the other, copies of bytes do what the op does, or nothing, if they are computed there.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<[{
      Whether the result's elements are those of the operands one after the other,
      if all of them are stored in this order of dims, outermost first; null: row by row.
    }], "bool", "joinsInOrder", (ins "::mlir::DenseI64ArrayAttr":$order)>,
  ];
}

def StretchOpInterface : OpInterface<"StretchOpInterface"> {
  let description = [{
    The result's elements are some of the one operand's, which may lie in memory one after the
    other: then nothing has to be moved to read them.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<[{
      The first of them among all, if operand and result are stored in this order of dims,
      outermost first (null: row by row); nothing if there are others between them.
      `attributes` are the op's as they are in a launch.
    }], "::std::optional<int64_t>", "firstElement",
        (ins "::mlir::DenseI64ArrayAttr":$order, "::mlir::DictionaryAttr":$attributes)>,
  ];
}

def OptimizerOpInterface : OpInterface<"OptimizerOpInterface"> {
  let description = [{
    One update of a parameter: takes it, its gradient and the optimizer's slots,
    gives the parameter and the slots anew. Constants and scalars that depend on
    the step are computed in f64 and rounded once.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<[{
      One value for each result, from elementwise ops. `scalars` is the step's
      argument, null where it has none.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "expandUpdate",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$scalars)>,
  ];
}

def ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let description = [{
    A slow, obvious evaluation on the host in f64, written apart from the
    payload: the oracle of the generated kernels.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<"Values of the results from values of the operands.",
        "::llvm::SmallVector<::dl::graph::HostTensor>", "evaluate",
        (ins "::llvm::ArrayRef<::dl::graph::HostTensor>":$operands)>,
  ];
}

def ShardingOpInterface : OpInterface<"ShardingOpInterface"> {
  let description = [{
    For ops whose sharding rule does not follow from a loop nest, and for those
    whose attributes speak of shapes or places: see Sharding.h. Others need not
    have it.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<"The factors of operands and results.",
        "::dl::graph::ShardingRule", "getShardingRule", (ins), "",
        [{ return ::dl::graph::deriveShardingRule($_op.getOperation()); }]>,
    InterfaceMethod<"Changes what the attributes of the shard's local op must say otherwise.",
        "void", "localizeAttributes",
        (ins "const ::dl::graph::Shard &":$shard, "::mlir::NamedAttrList &":$attributes), "",
        [{ (void)shard, (void)attributes; }]>,
    InterfaceMethod<[{
      Creates the shard's part of the results from its part of the operands. No
      part is empty. The default is the op itself with local attributes.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildLocal",
        (ins "const ::dl::graph::Shard &":$shard, "::mlir::OpBuilder &":$builder,
             "::mlir::ValueRange":$operands), "", [{
      ::mlir::NamedAttrList attributes($_op->getAttrs());
      $_op.localizeAttributes(shard, attributes);
      return ::dl::graph::localizeByCloning($_op.getOperation(), builder, operands, attributes);
    }]>,
  ];
}

def CommunicationOpInterface : OpInterface<"CommunicationOpInterface"> {
  let description = [{
    The op moves bytes between ranks, and no kernel reaches across it: see
    Communication.h. Operands are sent, results received.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<"Axes of the mesh along which the members differ.", "::mlir::ArrayAttr", "getAxes">,
    InterfaceMethod<"Its place among all communications of the step.", "uint64_t", "getOrder">,
    InterfaceMethod<"Whether members are counted from the rank itself, round the group.", "bool", "getRelative",
        (ins), "", "return false;">,
    InterfaceMethod<"Rows of an operand that members get.",
        "::llvm::SmallVector<::dl::graph::RowTransfer>", "getSentRows", (ins "unsigned":$operand)>,
    InterfaceMethod<"Rows of a result that come from members.",
        "::llvm::SmallVector<::dl::graph::RowTransfer>", "getReceivedRows", (ins "unsigned":$result)>,
  ];
}

def LaunchConstantsOpInterface : OpInterface<"LaunchConstantsOpInterface"> {
  let description = [{
    Some numbers of the op's attributes only say which or where, and are constants
    of the launch where the op is part of a kernel: see LaunchConstants.h.
  }];
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<"Those numbers, with the range over which one code is right.",
        "::llvm::SmallVector<::dl::graph::LaunchConstant>", "getLaunchConstants">,
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::dl::graph";
  let methods = [
    InterfaceMethod<"Floating-point operations; a fused multiply-add counts as two.",
        "int64_t", "getFlops">,
  ];
}

#endif
