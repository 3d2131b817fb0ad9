// What the backward makes again is part of the kernels that read it; what a product reads is stored by the kernel
// beside it, for there the operands are read anyway.

// RUN: dl-opt --form-kernels %s | FileCheck %s --implicit-check-not=made_again
// RUN: dl-opt --form-kernels %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID

// CHECK-LABEL: @beside
// CHECK: %[[BOTH:.*]]:2 = graph.kernel
// CHECK: %[[DY:.*]] = graph.matmul
// CHECK: %[[E:.*]] = graph.exp
// CHECK: %[[D:.*]] = graph.mul %[[DY]], %[[E]]
// CHECK: %[[Y:.*]] = graph.mul %{{.*}}, %[[E]]
// CHECK: graph.yield %[[D]], %[[Y]]
// CHECK: graph.kernel %[[BOTH]]#1
// CHECK: graph.matmul
// CHECK-NOT: graph.exp
// SAID: remark: {{.*}}mul: made again beside matmul: it reads the same values
#back = loc(fused<"backward gelu">["m.dl"])
graph.step @beside(%h: tensor<128x128xf32> input 0, %dz: tensor<128x32xf32>, %v: tensor<32x128xf32>)
    -> (tensor<128x128xf32>, tensor<32x128xf32>) {
  %e = graph.exp %h {graph.made_again} : (tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %dy = graph.matmul %dz, %v {spec = "mn,nk->mk"} : (tensor<128x32xf32>, tensor<32x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d = graph.mul %dy, %e : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %y = graph.mul %h, %e {graph.made_again} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %dv = graph.matmul %y, %dz {spec = "mk,mn->nk"} : (tensor<128x128xf32>, tensor<128x32xf32>) -> tensor<32x128xf32> loc(#back)
  graph.return %d, %dv : tensor<128x128xf32>, tensor<32x128xf32>
}

// A product of another shape reads it, too, but cannot write it.
// SAID: remark: {{.*}}mul: not made again beside matmul: its shape is another one
graph.step @another_shape(%h: tensor<128x128xf32> input 0, %dz: tensor<128x32xf32>, %v: tensor<32x128xf32>)
    -> (tensor<128x32xf32>, tensor<128x32xf32>) {
  %a = graph.matmul %h, %v {spec = "mk,nk->mn"} : (tensor<128x128xf32>, tensor<32x128xf32>) -> tensor<128x32xf32> loc(#back)
  %y = graph.mul %h, %h {graph.made_again} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %b = graph.matmul %y, %v {spec = "mk,nk->mn"} : (tensor<128x128xf32>, tensor<32x128xf32>) -> tensor<128x32xf32> loc(#back)
  graph.return %a, %b : tensor<128x32xf32>, tensor<128x32xf32>
}
