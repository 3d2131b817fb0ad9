#ifndef DL_DECODE_PASSES
#define DL_DECODE_PASSES

include "mlir/Pass/PassBase.td"

def DecodeByPosition : Pass<"decode-by-position", "::mlir::ModuleOp"> {
  let summary = "A step that generates tokens takes one at a time";
  let description = [{
    Incremental decoding: of all that a step computes for a window of tokens the last logits are
    made of one position of each value, and of all positions of some, the keys and values of
    attention. Such a value becomes a state, a cache, to which each token adds its position, a
    scalar of the step. What does not depend on tokens is looked up at that position.

    An op is done at one position as it is on one of as many devices as there are positions, by its
    sharding rule: ops are not named, but for those that count positions, for scans (cumsum, linear_recurrence),
    which go on from the position before, and for causal convolutions, which read as many positions as their
    filter has. Which values are needed as a whole is found from the logits backwards. That nobody looks at later positions,
    which the cache does not have yet, is the model's to see to, as in any other step.

    ```mlir
    graph.step @text(%t: tensor<1x8xui8> input 0, ...) -> (tensor<1x8x256xf32> metric "text")
      %k = ... : tensor<1x4x8x16xf32>
      %s = graph.matmul %q, %k {spec = "bhqd,bhkd->bhqk"}
    // =>
    graph.step @text(%t: tensor<1x1xui8> input 0, %c: tensor<1x4x8x16xf32> state @generate.text.cache.0, ...)
      %k = ... : tensor<1x4x1x16xf32>
      %all = graph.update_slice %place, %k, %c {dim = 2}
      %s = graph.matmul %q, %all {spec = "bhqd,bhkd->bhqk"} : tensor<1x4x1x8xf32>
    ```
    Where an op needs several positions at once that no cache can have, the step stays as it is,
    with a warning that names the op.
  }];
}

def NarrowCaches : Pass<"narrow-caches", "::mlir::ModuleOp"> {
  let summary = "Caches that are read rounded to bf16 are kept so";
  let description = [{
    Behind mixed-precision products read keys and values rounded to bf16. A cache that nothing
    else reads keeps them rounded: half of the memory, which a token reads and writes.

    ```mlir
    graph.step @text(%was: tensor<1x4x8xf32> state @generate.text.cache.0, ...)
      %all = graph.update_slice %place, %k, %was {dim = 2}
      %r = graph.cast %all {to = bf16}
      graph.return ..., %all
    // =>
    graph.step @text(%was: tensor<1x4x8xbf16> state @generate.text.cache.0, ...)
      %kr = graph.cast %k {to = bf16}
      %r = graph.update_slice %place, %kr, %was {dim = 2}
      graph.return ..., %r
    ```
  }];
}

def PrepareWeights : Pass<"prepare-weights", "::mlir::ModuleOp"> {
  let summary = "A step that generates tokens reads what weights are made into, made once";
  let description = [{
    Weights do not change from token to token, nor does what is made of them alone: numbers rounded to
    bf16, which are half as many bytes to read, a weight with its norm apart, the sum of a weight and a
    product of low rank. The `initial` part of such a step makes these, as states that it reads. What
    takes more room than the weights that it is made of, or is one of them, seen otherwise, stays
    as it is.

    ```mlir
    graph.step @text(%t: tensor<1x1xui8> input 0, %w: tensor<256x64xf32> state @w, ...)
      %wr = graph.cast %w {to = bf16}        %ww = graph.cast %wr {to = f32}
    // =>
    graph.step @text.initial(%w: tensor<256x64xf32> state @w)
        -> (tensor<256x64xbf16> state @generate.text.prepared.0) initial of "text"
      %wr = graph.cast %w {to = bf16}
    graph.step @text(%t: tensor<1x1xui8> input 0, %wr: tensor<256x64xbf16> state @generate.text.prepared.0, ...)
      %ww = graph.cast %wr {to = f32}
    ```
  }];
}

#endif
