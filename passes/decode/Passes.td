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
    sharding rule: ops are not named, but for those that count positions. Which values are
    needed as a whole is found from the logits backwards. That nobody looks at later positions,
    which the cache does not have yet, is the model's to see to, as in any other step.

    ```mlir
    graph.step @text(%t: tensor<1x8xui8> input 0, ...) -> (tensor<1x8x256xf32> metric "text")
      %k = ... : tensor<1x4x8x16xf32>
      %s = graph.matmul %q, %k {spec = "bhqd,bhkd->bhqk"}
    // =>
    graph.step @text(%t: tensor<1x1xui8> input 0, %c: tensor<1x4x8x16xf32> state @generate.text.cache.0, ...)
      %k = ... : tensor<1x4x1x16xf32>
      %all = graph.select %here, %k, %c
      %s = graph.matmul %q, %all {spec = "bhqd,bhkd->bhqk"} : tensor<1x4x1x8xf32>
    ```
    Where an op needs several positions at once that no cache can have, the step stays as it is,
    with a warning that names the op.
  }];
}

#endif
