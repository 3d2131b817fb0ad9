#ifndef DL_PRECISION_PASSES
#define DL_PRECISION_PASSES

include "mlir/Pass/PassBase.td"

def MixedPrecision : Pass<"mixed-precision", "::mlir::ModuleOp"> {
  let summary = "Rounds what products read and make to bf16, in a program that asks for it";
  let description = [{
    Training in mixed precision (Micikevicius et al., "Mixed Precision Training", 2018; bf16 as in
    Kalamkar et al., "A Study of BFLOAT16 for Deep Learning Training", 2019, which needs no loss
    scaling): parameters, updates, sums, losses and all that is elementwise are f32. In forward
    and backward a product (matmul, convolution, their gradients) multiplies numbers of bf16, adds in
    f32, and its result is rounded once. That of a parameter's gradient is not: it is added up
    and used as f32.

    bf16 is how values are stored, nothing computes in it. What is made of results of products
    alone (with biases, statistics, masks) is rounded for whoever reads it, where a product does: it is
    stored once, as two bytes an element, and readers widen it. What is f32 by PyTorch's types, a
    residual connection in f32 for one, is so for all others: the product reads a rounded copy.
    Nor do those read a rounded value who compare it, or what they make of it, with another one: the
    gradient of a maximum asks which elements are equal to it.

    Products of some modules may stay f32, and those of updates are, of what training begins
    from, and those that ask for it (FullPrecision.h). States are never rounded.

    ```mlir
    graph.program "net.dl" dtype bf16
      %h = graph.matmul %x, %w {spec = "bi,oi->bo"} : f32
      %y = graph.relu %h
    // =>
      %xr = graph.cast %x {to = bf16}        %xw = graph.cast %xr {to = f32}
      %wr = graph.cast %w {to = bf16}        %ww = graph.cast %wr {to = f32}
      %h = graph.matmul %xw, %ww {spec = "bi,oi->bo"} : f32
      %hr = graph.cast %h {to = bf16}        %hw = graph.cast %hr {to = f32}
      %y = graph.relu %hw
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect"];
  let options = [ListOption<"f32", "f32", "std::string",
                            "Patterns of modules whose products stay f32, as \"h.*.attn\"">];
}

#endif
