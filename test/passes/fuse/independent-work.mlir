// RUN: dl-opt --form-kernels %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: dl-opt --form-kernels %s 2>/dev/null | FileCheck %s

// Of two products that do not need each other, none takes in the sum: it would have to wait for the other one.
// REMARK: remark: add: not fused with matmul, which so can run beside matmul: with threads for both, apart is {{[0-9]+}} us faster, and moves {{[0-9]+}} us of memory more
// CHECK-LABEL: graph.step @beside
// CHECK: graph.kernel {{.*}}name = "matmul_mul_
// CHECK: graph.kernel {{.*}}name = "matmul_
// CHECK-NOT: _add_
// CHECK: graph.kernel {{.*}}name = "add_
graph.step @beside(%x: tensor<256x1024xf32>, %y: tensor<1024x1024xf32>, %a: tensor<256x1024xf32>, %b: tensor<1024x1024xf32>, %l: tensor<f32>) -> tensor<256x1024xf32> {
  %0 = graph.matmul %x, %y {spec = "mk,kn->mn"} : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %1 = graph.mul %0, %l : (tensor<256x1024xf32>, tensor<f32>) -> tensor<256x1024xf32>
  %2 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %3 = graph.add %1, %2 : (tensor<256x1024xf32>, tensor<256x1024xf32>) -> tensor<256x1024xf32>
  graph.return %3 : tensor<256x1024xf32>
}

// A short product is not worth a thread: fused.
// CHECK-LABEL: graph.step @small
// CHECK: graph.kernel {{.*}}name = "matmul_
// CHECK: graph.kernel {{.*}}name = "matmul_add_
graph.step @small(%x: tensor<4x5xf32>, %y: tensor<5x6xf32>, %a: tensor<4x5xf32>, %b: tensor<5x6xf32>) -> tensor<4x6xf32> {
  %0 = graph.matmul %x, %y {spec = "mk,kn->mn"} : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %1 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %2 = graph.add %0, %1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  graph.return %2 : tensor<4x6xf32>
}

// With few k, the memory traffic saved is worth more than running at once.
// REMARK: remark: add: fused with matmul, which now waits for matmul
// CHECK-LABEL: graph.step @thin
// CHECK: graph.kernel {{.*}}name = "matmul_
// CHECK: graph.kernel {{.*}}name = "matmul_add_
graph.step @thin(%x: tensor<2048x64xf32>, %y: tensor<64x2048xf32>, %a: tensor<2048x64xf32>, %b: tensor<64x2048xf32>) -> tensor<2048x2048xf32> {
  %0 = graph.matmul %x, %y {spec = "mk,kn->mn"} : (tensor<2048x64xf32>, tensor<64x2048xf32>) -> tensor<2048x2048xf32>
  %1 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<2048x64xf32>, tensor<64x2048xf32>) -> tensor<2048x2048xf32>
  %2 = graph.add %0, %1 : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  graph.return %2 : tensor<2048x2048xf32>
}

// The second product needs the first: the sum follows it in its kernel.
// CHECK-LABEL: graph.step @chained
// CHECK: graph.kernel {{.*}}name = "matmul_
// CHECK: graph.kernel {{.*}}name = "matmul_add_
graph.step @chained(%x: tensor<256x1024xf32>, %y: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<256x1024xf32> {
  %0 = graph.matmul %x, %y {spec = "mk,kn->mn"} : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %1 = graph.matmul %0, %b {spec = "mk,kn->mn"} : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %2 = graph.add %0, %1 : (tensor<256x1024xf32>, tensor<256x1024xf32>) -> tensor<256x1024xf32>
  graph.return %2 : tensor<256x1024xf32>
}
