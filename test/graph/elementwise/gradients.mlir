// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s

// What broadcasting repeated is summed.
// CHECK-LABEL: graph.step @gradient.mul
// CHECK-SAME: [[A:%.*]]: tensor<3x4xf32>, [[B:%.*]]: tensor<4xf32>, [[DY:%.*]]: tensor<3x4xf32>
// CHECK: [[DA:%.*]] = graph.mul [[DY]], [[B]]
// CHECK: [[PRODUCT:%.*]] = graph.mul [[DY]], [[A]]
// CHECK: [[DB:%.*]] = graph.sum [[PRODUCT]] {dims = array<i64: 0>}
// CHECK: return [[DA]], [[DB]] : tensor<3x4xf32>, tensor<4xf32>
graph.step @mul(%a: tensor<3x4xf32>, %b: tensor<4xf32>) {
  %0 = graph.mul %a, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  graph.return
}

// In the operand's shape at once, where dims have one index: nothing is seen in another shape in between.
// CHECK-LABEL: graph.step @gradient.sub
// CHECK: [[SUMMED:%.*]] = graph.sum {{.*}} {dims = array<i64: 1>, keepdim = true} : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NOT: graph.reshape
// CHECK: graph.neg [[SUMMED]]
graph.step @kept(%a: tensor<3x4xf32>, %b: tensor<3x1xf32>) {
  %0 = graph.sub %a, %b : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  graph.return
}

// The minus comes before that where it has to be.
// CHECK-LABEL: graph.step @gradient.sub
// CHECK: [[SUMMED:%.*]] = graph.sum {{.*}} {dims = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
// CHECK: [[NEGATED:%.*]] = graph.neg [[SUMMED]]
// CHECK: graph.reshape [[NEGATED]]
graph.step @shaped(%a: tensor<2x3x4xf32>, %b: tensor<3x1xf32>) {
  %0 = graph.sub %a, %b : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  graph.return
}

// From the result: x need not be kept.
// CHECK-LABEL: graph.step @gradient.relu
// CHECK: [[Y:%.*]] = graph.relu
// CHECK: [[OFF:%.*]] = graph.le [[Y]]
// CHECK: graph.select [[OFF]]
graph.step @relu(%a: tensor<3xf32>) {
  %0 = graph.relu %a : (tensor<3xf32>) -> tensor<3xf32>
  graph.return
}

// CHECK-LABEL: graph.step @gradient.log1p
// CHECK-SAME: [[X:%.*]]: tensor<3xf32>, [[DY:%.*]]: tensor<3xf32>
// CHECK: [[ONE:%.*]] = graph.full {{.*}}value = 1.000000e+00
// CHECK: [[SUM:%.*]] = graph.add [[ONE]], [[X]]
// CHECK: [[DX:%.*]] = graph.div [[DY]], [[SUM]]
// CHECK: return [[DX]]
graph.step @log1p(%a: tensor<3xf32>) {
  %0 = graph.log1p %a : (tensor<3xf32>) -> tensor<3xf32>
  graph.return
}

// CHECK-LABEL: graph.step @gradient.select
// CHECK: graph.select
// CHECK: [[DA:%.*]] = graph.select
// CHECK: [[DB:%.*]] = graph.select
// CHECK: return [[DA]], [[DB]]
graph.step @select(%c: tensor<3xi1>, %a: tensor<3xf32>, %b: tensor<3xf32>) {
  %0 = graph.select %c, %a, %b : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  graph.return
}

// Nothing flows into integers.
// CHECK-LABEL: graph.step @gradient.cast
// CHECK: return
// CHECK-NOT: tensor
// CHECK: }
graph.step @cast(%a: tensor<3xi64>) {
  %0 = graph.cast %a {to = f32} : (tensor<3xi64>) -> tensor<3xf32>
  graph.return
}
