#ifndef DL_GRAPH_OPS_SHAPE
#define DL_GRAPH_OPS_SHAPE

include "dialects/graph/Graph.td"

def Graph_ReshapeOp
    : Graph_InferredOp<"reshape",
          !listconcat(Graph_Reference, Graph_Gradient, Graph_OwnSharding, Graph_Alias)> {
  let summary = "The same elements, row-major, in another shape.";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$shape);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_TransposeOp : Graph_InferredOp<"transpose", Graph_SmoothNest> {
  let summary = "Result dim i is operand dim `permutation`[i].";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_CopyOp : Graph_InferredOp<"copy", Graph_SmoothNest> {
  let summary = "The same elements in memory of their own.";
  let description = "For another storage order, or to keep a value that is about to be overwritten.";
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_Tensor:$result);
}

def Graph_ExpandOp : Graph_InferredOp<"expand",
    !listconcat(Graph_SmoothNest, Graph_LocalAttributes)> {
  let summary = "Repeats dims of size 1 and adds leading ones.";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$shape);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_PadOp : Graph_InferredOp<"pad",
    !listconcat(Graph_SmoothNest, Graph_LocalBuild)> {
  let summary = "`value` before, after and between the elements of each dim.";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DenseI64ArrayAttr:$interior, F64Attr:$value);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

def Graph_SliceOp : Graph_InferredOp<"slice",
    !listconcat(Graph_SmoothNest, Graph_OwnSharding, Graph_Constants, Graph_Stretch)> {
  let summary = "`sizes` elements of each dim from `offsets` in steps of `strides`.";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$strides);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// The same part taken from what the operand is a view of: of a slice one slice, of a transposed
    /// value one that is transposed then. Null where that has no use.
    ::mlir::Value takeFromWhole(::mlir::OpBuilder &builder);
  }];
}

def Graph_FlipOp : Graph_InferredOp<"flip", Graph_SmoothNest> {
  let summary = "The elements of some dims in reverse order.";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Graph_Tensor:$result);
}

def Graph_CatOp : Graph_InferredOp<"cat",
    !listconcat(Graph_SmoothNest, Graph_Decomposed, Graph_OwnRule, Graph_Join)> {
  let summary = "The operands one after the other along `dim`.";
  let description = "Decomposed where there are many operands: each element looks at all of them.";
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

#endif
