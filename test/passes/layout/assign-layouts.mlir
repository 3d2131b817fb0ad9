// RUN: dl-opt --assign-layouts %s | FileCheck %s
// RUN: dl-opt --assign-layouts %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: first: stored with dim 0 innermost: the vectors of every product that reads it, such as matmul, run along it
// REMARK: remark: both: stored row by row: matmul reads it along dim {{[01]}}, matmul along dim {{[01]}}
// REMARK: remark: shaped: stored row by row: it is also seen in another shape

// The forward product of a first layer reads its weight along n only: stored with n innermost.
// CHECK: graph.state @first {{.*}}layout = array<i64: 1, 0>
graph.state @first {type = tensor<8x5xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
// Its slot is updated element by element with it.
// CHECK: graph.state @slot {{.*}}layout = array<i64: 1, 0>
graph.state @slot {type = tensor<8x5xf32>, role = "slot", of = "first", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
// The input gradient of another layer reads the weight along k: the uses contradict each other.
// CHECK: graph.state @both
// CHECK-NOT: layout
// CHECK: graph.state @shaped
graph.state @both {type = tensor<8x5xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
// Seen in another shape, elements have to lie in row-major order.
// CHECK-NOT: layout
// CHECK: graph.step
graph.state @shaped {type = tensor<8x5xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}

graph.step @train(%x: tensor<3x5xf32> input 0, %dy: tensor<3x8xf32> input 1,
                 %first: tensor<8x5xf32> state @first, %both: tensor<8x5xf32> state @both,
                 %shaped: tensor<8x5xf32> state @shaped)
    -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x5xf32>, tensor<3x8xf32>, tensor<40xf32>) {
  %0 = graph.matmul %x, %first {spec = "mk,nk->mn"} : (tensor<3x5xf32>, tensor<8x5xf32>) -> tensor<3x8xf32>
  %1 = graph.matmul %x, %both {spec = "mk,nk->mn"} : (tensor<3x5xf32>, tensor<8x5xf32>) -> tensor<3x8xf32>
  %2 = graph.matmul %dy, %both {spec = "mk,kn->mn"} : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  %3 = graph.matmul %x, %shaped {spec = "mk,nk->mn"} : (tensor<3x5xf32>, tensor<8x5xf32>) -> tensor<3x8xf32>
  %4 = graph.reshape %shaped {shape = array<i64: 40>} : (tensor<8x5xf32>) -> tensor<40xf32>
  graph.return %0, %1, %2, %3, %4 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x5xf32>, tensor<3x8xf32>, tensor<40xf32>
}

// Eight products of few rows would each transpose the matrix: they read a copy that is made once. Seven would not, and
// those of many rows do it for themselves; along its own order it is read where it is.
// REMARK: remark: copied once with dim 0 innermost: 8 products read it along that
// CHECK-LABEL: graph.step @recurrent
// CHECK: %[[COPY:.*]] = graph.copy %[[W:[a-z0-9]+]] {graph.orders = [array<i64: 1, 0>]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: graph.matmul %{{.*}}, %[[COPY]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[COPY]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[COPY]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[COPY]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[COPY]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[COPY]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[COPY]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[COPY]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[W]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[V:[a-z0-9]+]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[V]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[V]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[V]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[V]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[V]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[V]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[V]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[U:[a-z0-9]+]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[U]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[U]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[U]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[U]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[U]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[U]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[U]] 
// CHECK-NEXT: graph.matmul %{{.*}}, %[[U]] 
graph.state @w {type = tensor<8x8xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.state @v {type = tensor<8x8xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.state @u {type = tensor<8x8xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.step @recurrent(%h: tensor<3x8xf32> input 0, %big: tensor<65x8xf32> input 1, %w: tensor<8x8xf32> state @w, %v: tensor<8x8xf32> state @v, %u: tensor<8x8xf32> state @u)
    -> (tensor<3x8xf32>, tensor<65x8xf32>) {
  %0 = graph.matmul %h, %w {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %1 = graph.matmul %0, %w {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %2 = graph.matmul %1, %w {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %3 = graph.matmul %2, %w {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %4 = graph.matmul %3, %w {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %5 = graph.matmul %4, %w {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %6 = graph.matmul %5, %w {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %7 = graph.matmul %6, %w {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %8 = graph.matmul %7, %w {spec = "mk,kn->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %9 = graph.matmul %8, %v {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %10 = graph.matmul %9, %v {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %11 = graph.matmul %10, %v {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %12 = graph.matmul %11, %v {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %13 = graph.matmul %12, %v {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %14 = graph.matmul %13, %v {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %15 = graph.matmul %14, %v {spec = "mk,nk->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %16 = graph.matmul %15, %v {spec = "mk,kn->mn"} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %17 = graph.matmul %big, %u {spec = "mk,nk->mn"} : (tensor<65x8xf32>, tensor<8x8xf32>) -> tensor<65x8xf32>
  %18 = graph.matmul %17, %u {spec = "mk,nk->mn"} : (tensor<65x8xf32>, tensor<8x8xf32>) -> tensor<65x8xf32>
  %19 = graph.matmul %18, %u {spec = "mk,nk->mn"} : (tensor<65x8xf32>, tensor<8x8xf32>) -> tensor<65x8xf32>
  %20 = graph.matmul %19, %u {spec = "mk,nk->mn"} : (tensor<65x8xf32>, tensor<8x8xf32>) -> tensor<65x8xf32>
  %21 = graph.matmul %20, %u {spec = "mk,nk->mn"} : (tensor<65x8xf32>, tensor<8x8xf32>) -> tensor<65x8xf32>
  %22 = graph.matmul %21, %u {spec = "mk,nk->mn"} : (tensor<65x8xf32>, tensor<8x8xf32>) -> tensor<65x8xf32>
  %23 = graph.matmul %22, %u {spec = "mk,nk->mn"} : (tensor<65x8xf32>, tensor<8x8xf32>) -> tensor<65x8xf32>
  %24 = graph.matmul %23, %u {spec = "mk,nk->mn"} : (tensor<65x8xf32>, tensor<8x8xf32>) -> tensor<65x8xf32>
  %25 = graph.matmul %24, %u {spec = "mk,kn->mn"} : (tensor<65x8xf32>, tensor<8x8xf32>) -> tensor<65x8xf32>
  graph.return %16, %25 : tensor<3x8xf32>, tensor<65x8xf32>
}
