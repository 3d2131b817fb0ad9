#ifndef DL_GRAPH_OPS_INDEXING
#define DL_GRAPH_OPS_INDEXING

include "dialects/graph/Graph.td"

// Indices are i64 and counted from the front. One outside of its dim must not
// occur: graph.index_check tells of it, and the step's results are not used.

def Graph_GatherOp : Graph_InferredOp<"gather",
    !listconcat(Graph_SmoothNest, Graph_LocalBuild)> {
  let summary = "The elements of x at the indices along `dim`.";
  let description = [{
    `index` has as many dims as x; of each but `dim` it has as many elements as x,
    or one, which serves for all: result[i,j,k] = x[index[i,j,k],j,k] for dim 0,
    or x[index[i,0,0],j,k]. Indices that dl::arange() makes are a slice's.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$index, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let hasCanonicalizer = 1;
}

def Graph_ScatterAddOp : Graph_InferredOp<"scatter_add",
    !listconcat(Graph_SmoothNest, Graph_LocalBuild)> {
  let summary = "Zeros of `size` along `dim`, with the elements of x added at the indices.";
  let description = [{
    The transpose of gather, with its indices: result[index[i,j,k],j,k] += x[i,j,k]
    for dim 0. An element gets what belongs to it in the order of x, on any number
    of threads.
  }];
  let arguments = (ins Graph_Tensor:$index, Graph_Tensor:$x, I64Attr:$dim, I64Attr:$size);
  let results = (outs Graph_Tensor:$result);
  let hasCanonicalizer = 1;
}

def Graph_ScatterAmaxOp : Graph_InferredOp<"scatter_amax",
    !listconcat(Graph_SmoothNest, Graph_LocalBuild)> {
  let summary = "The greatest of the elements of x that the indices put there, of `size` along `dim`.";
  let description = [{
    As scatter_add, with the maximum in place of the sum; what no index names has
    the least number of the dtype. A NaN is greater than all numbers; equal maxima
    share the gradient.
  }];
  let arguments = (ins Graph_Tensor:$index, Graph_Tensor:$x, I64Attr:$dim, I64Attr:$size);
  let results = (outs Graph_Tensor:$result);
  let hasCanonicalizer = 1;
}

def Graph_UpdateSliceOp : Graph_InferredOp<"update_slice",
    !listconcat(Graph_Nest, Graph_OwnRule)> {
  let summary = "x, with `slice` at the index along `dim`.";
  let description = [{
    As torch.select_scatter with an index that is data, or jax.lax.dynamic_update_slice: `index` is one i64, the
    slice has one element along `dim`. What a step does to a state with it takes as long as the slice.
  }];
  let arguments = (ins Graph_Tensor:$index, Graph_Tensor:$slice, Graph_Tensor:$x, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
}

#endif
