// RUN: dl-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @reshapes
// CHECK-NEXT: [[ONE:%.*]] = graph.reshape %arg0 {shape = array<i64: 3, 2>}
// CHECK-NEXT: return [[ONE]], %arg0
graph.step @reshapes(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = graph.reshape %x {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = graph.reshape %0 {shape = array<i64: 3, 2>} : (tensor<6xf32>) -> tensor<3x2xf32>
  %2 = graph.reshape %1 {shape = array<i64: 2, 3>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  graph.return %1, %2 : tensor<3x2xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @transposes
// CHECK-NEXT: [[ONE:%.*]] = graph.transpose %arg0 {permutation = array<i64: 1, 2, 0>}
// CHECK-NEXT: return [[ONE]], %arg0
graph.step @transposes(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2xf32>, tensor<2x3x4xf32>) {
  %0 = graph.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 2, 0, 1>} : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  graph.return %1, %2 : tensor<3x4x2xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: @expands
// CHECK-NEXT: [[ONE:%.*]] = graph.expand %arg0 {shape = array<i64: 4, 2, 3>}
// CHECK-NEXT: return %arg0, [[ONE]]
graph.step @expands(%x: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<4x2x3xf32>) {
  %0 = graph.expand %x {shape = array<i64: 1, 3>} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %1 = graph.expand %0 {shape = array<i64: 2, 3>} : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = graph.expand %1 {shape = array<i64: 4, 2, 3>} : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  graph.return %0, %2 : tensor<1x3xf32>, tensor<4x2x3xf32>
}

// CHECK-LABEL: @nothing
// CHECK-NEXT: return %arg0, %arg0
graph.step @nothing(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = graph.pad %x {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 0>, value = 0.0} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.slice %x {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<2xf32>) -> tensor<2xf32>
  graph.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// A constant takes the shape at once.
// CHECK-LABEL: @constant
// CHECK-NEXT: [[FULL:%.*]] = graph.full {type = tensor<4x2xf32>, value = 3.000000e+00 : f64}
// CHECK-NEXT: return [[FULL]]
graph.step @constant() -> tensor<4x2xf32> {
  %0 = graph.full {value = 3.0, type = tensor<f32>} : () -> tensor<f32>
  %1 = graph.reshape %0 {shape = array<i64: 1>} : (tensor<f32>) -> tensor<1xf32>
  %2 = graph.expand %1 {shape = array<i64: 4, 2>} : (tensor<1xf32>) -> tensor<4x2xf32>
  graph.return %2 : tensor<4x2xf32>
}

// Heads of a part are a part of all heads.
// CHECK-LABEL: @part_of_heads
// CHECK-NEXT: [[ALL:%.*]] = graph.reshape %arg0 {shape = array<i64: 2, 5, 18, 64>}
// CHECK-NEXT: [[PART:%.*]] = graph.slice [[ALL]] {offsets = array<i64: 0, 1, 6, 0>, sizes = array<i64: 2, 4, 6, 64>, strides = array<i64: 1, 1, 1, 1>}
// CHECK-NEXT: return [[PART]]
graph.step @part_of_heads(%x: tensor<2x5x1152xf32>) -> tensor<2x4x6x64xf32> {
  %0 = graph.slice %x {offsets = array<i64: 0, 1, 384>, sizes = array<i64: 2, 4, 384>, strides = array<i64: 1, 1, 1>} : (tensor<2x5x1152xf32>) -> tensor<2x4x384xf32>
  %1 = graph.reshape %0 {shape = array<i64: 2, 4, 6, 64>} : (tensor<2x4x384xf32>) -> tensor<2x4x6x64xf32>
  graph.return %1 : tensor<2x4x6x64xf32>
}

// All parts are parts of one.
// CHECK-LABEL: @parts_of_heads
// CHECK-NEXT: [[ALL:%.*]] = graph.reshape %arg0 {shape = array<i64: 4, 3, 64>}
// CHECK-NEXT: graph.slice [[ALL]] {offsets = array<i64: 0, 0, 0>
// CHECK-NEXT: graph.slice [[ALL]] {offsets = array<i64: 0, 2, 0>
graph.step @parts_of_heads(%x: tensor<4x192xf32>) -> (tensor<4x1x64xf32>, tensor<4x1x64xf32>) {
  %0 = graph.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 64>, strides = array<i64: 1, 1>} : (tensor<4x192xf32>) -> tensor<4x64xf32>
  %1 = graph.reshape %0 {shape = array<i64: 4, 1, 64>} : (tensor<4x64xf32>) -> tensor<4x1x64xf32>
  %2 = graph.slice %x {offsets = array<i64: 0, 128>, sizes = array<i64: 4, 64>, strides = array<i64: 1, 1>} : (tensor<4x192xf32>) -> tensor<4x64xf32>
  %3 = graph.reshape %2 {shape = array<i64: 4, 1, 64>} : (tensor<4x64xf32>) -> tensor<4x1x64xf32>
  graph.return %1, %3 : tensor<4x1x64xf32>, tensor<4x1x64xf32>
}

// A small part of what need not be stored does not make it stored.
// CHECK-LABEL: @part_of_what_is_computed
// CHECK: graph.sin
// CHECK-NEXT: graph.slice
graph.step @part_of_what_is_computed(%x: tensor<4x192xf32>) -> tensor<4x1x64xf32> {
  %0 = graph.sin %x : (tensor<4x192xf32>) -> tensor<4x192xf32>
  %1 = graph.slice %0 {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 64>, strides = array<i64: 1, 1>} : (tensor<4x192xf32>) -> tensor<4x64xf32>
  %2 = graph.reshape %1 {shape = array<i64: 4, 1, 64>} : (tensor<4x64xf32>) -> tensor<4x1x64xf32>
  graph.return %2 : tensor<4x1x64xf32>
}

// One that does not begin at a head, one of every other element, and one whose dims become one stay as they are.
// CHECK-LABEL: @no_whole_heads
// CHECK-COUNT-3: graph.slice %arg0
graph.step @no_whole_heads(%x: tensor<4x192xf32>) -> (tensor<4x1x64xf32>, tensor<4x1x64xf32>, tensor<128xf32>) {
  %0 = graph.slice %x {offsets = array<i64: 0, 32>, sizes = array<i64: 4, 64>, strides = array<i64: 1, 1>} : (tensor<4x192xf32>) -> tensor<4x64xf32>
  %1 = graph.reshape %0 {shape = array<i64: 4, 1, 64>} : (tensor<4x64xf32>) -> tensor<4x1x64xf32>
  %2 = graph.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 64>, strides = array<i64: 1, 2>} : (tensor<4x192xf32>) -> tensor<4x64xf32>
  %3 = graph.reshape %2 {shape = array<i64: 4, 1, 64>} : (tensor<4x64xf32>) -> tensor<4x1x64xf32>
  %4 = graph.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 64>, strides = array<i64: 1, 1>} : (tensor<4x192xf32>) -> tensor<2x64xf32>
  %5 = graph.reshape %4 {shape = array<i64: 128>} : (tensor<2x64xf32>) -> tensor<128xf32>
  graph.return %1, %3, %5 : tensor<4x1x64xf32>, tensor<4x1x64xf32>, tensor<128xf32>
}

// A part of a launch's own begins where the launch says.
// CHECK-LABEL: @part_of_a_rank
// CHECK-NEXT: graph.slice %arg0
graph.step @part_of_a_rank(%x: tensor<4x128xf32>) -> tensor<4x1x64xf32> {
  %0 = graph.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 64>, strides = array<i64: 1, 1>, graph.rank_steps = {offsets = array<i64: 0, 64>}} : (tensor<4x128xf32>) -> tensor<4x64xf32>
  %1 = graph.reshape %0 {shape = array<i64: 4, 1, 64>} : (tensor<4x64xf32>) -> tensor<4x1x64xf32>
  graph.return %1 : tensor<4x1x64xf32>
}

// Indices along a dim need no memory to be seen beside dims of one element.
// CHECK-LABEL: @reshaped_iotas
// CHECK-DAG: [[COLUMN:%.*]] = graph.iota {dim = 0 : i64, type = tensor<5x1xi64>}
// CHECK-DAG: [[ROW:%.*]] = graph.iota {dim = 1 : i64, type = tensor<1x5xi64>}
// CHECK-DAG: [[TWO:%.*]] = graph.reshape {{.*}} {shape = array<i64: 10>}
graph.step @reshaped_iotas() -> (tensor<5x1xi64>, tensor<1x5xi64>, tensor<10xi64>) {
  %0 = graph.iota {dim = 0 : i64, type = tensor<5xi64>} : () -> tensor<5xi64>
  %1 = graph.reshape %0 {shape = array<i64: 5, 1>} : (tensor<5xi64>) -> tensor<5x1xi64>
  %2 = graph.reshape %0 {shape = array<i64: 1, 5>} : (tensor<5xi64>) -> tensor<1x5xi64>
  %3 = graph.iota {dim = 1 : i64, type = tensor<2x5xi64>} : () -> tensor<2x5xi64>
  %4 = graph.reshape %3 {shape = array<i64: 10>} : (tensor<2x5xi64>) -> tensor<10xi64>
  graph.return %1, %2, %4 : tensor<5x1xi64>, tensor<1x5xi64>, tensor<10xi64>
}

// Parts of what is repeated are equal: what repeats them, and where, says nothing of them.
// CHECK-LABEL: @parts_of_an_expanded_value
// CHECK-NEXT: [[PART:%.*]] = graph.slice %arg1 {offsets = array<i64: 1, 0>, sizes = array<i64: 2, 1>, strides = array<i64: 2, 1>} : (tensor<4x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: [[WIDE:%.*]] = graph.expand [[PART]] {shape = array<i64: 2, 2, 3>} : (tensor<2x1xf32>) -> tensor<2x2x3xf32>
// CHECK-NEXT: [[HALF:%.*]] = graph.full {{.*}} tensor<2xf32>
// CHECK-NEXT: graph.return %arg0, %arg0, [[WIDE]], [[HALF]]
graph.step @parts_of_an_expanded_value(%x: tensor<16x1x32xf32>, %y: tensor<4x1xf32>) -> (tensor<16x1x32xf32>, tensor<16x1x32xf32>, tensor<2x2x3xf32>, tensor<2xf32>) {
  %0 = graph.expand %x {shape = array<i64: 16, 200, 32>} : (tensor<16x1x32xf32>) -> tensor<16x200x32xf32>
  %1 = graph.slice %0 {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 16, 1, 32>, strides = array<i64: 1, 1, 1>} : (tensor<16x200x32xf32>) -> tensor<16x1x32xf32>
  %2 = graph.slice %0 {offsets = array<i64: 0, 7, 0>, sizes = array<i64: 16, 1, 32>, strides = array<i64: 1, 1, 1>} : (tensor<16x200x32xf32>) -> tensor<16x1x32xf32>
  %3 = graph.expand %y {shape = array<i64: 5, 4, 6>} : (tensor<4x1xf32>) -> tensor<5x4x6xf32>
  %4 = graph.slice %3 {offsets = array<i64: 1, 1, 0>, sizes = array<i64: 2, 2, 3>, strides = array<i64: 2, 2, 2>} : (tensor<5x4x6xf32>) -> tensor<2x2x3xf32>
  %5 = graph.full {type = tensor<16xf32>, value = 5.000000e-01 : f64} : () -> tensor<16xf32>
  %6 = graph.slice %5 {offsets = array<i64: 3>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<16xf32>) -> tensor<2xf32>
  graph.return %1, %2, %4, %6 : tensor<16x1x32xf32>, tensor<16x1x32xf32>, tensor<2x2x3xf32>, tensor<2xf32>
}

// A small part of a table of numbers is made without the table, which one is said by where it begins.
// CHECK-LABEL: @part_of_a_table
// CHECK-DAG: [[PLACE:%.*]] = graph.iota {dim = 0 : i64, start = array<i64: 857>, type = tensor<1xf32>}
// CHECK-DAG: [[RATE:%.*]] = graph.full {type = tensor<f32>, value = 2.000000e-05 : f64}
// CHECK: [[MADE:%.*]] = graph.mul [[PLACE]], [[RATE]] : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
// CHECK-NEXT: [[FIRST:%.*]] = graph.iota {dim = 0 : i64, type = tensor<2xf32>}
// CHECK-NEXT: [[THIRD:%.*]] = graph.slice {{.*}} tensor<2xf32>
// CHECK-NEXT: [[HALF:%.*]] = graph.slice {{.*}} tensor<500xf32>
// CHECK-NEXT: [[DATA:%.*]] = graph.slice %arg0
// CHECK-NEXT: graph.return [[MADE]], [[FIRST]], [[THIRD]], [[HALF]], [[DATA]]
graph.step @part_of_a_table(%x: tensor<1000xf32>) -> (tensor<1xf32>, tensor<2xf32>, tensor<2xf32>, tensor<500xf32>, tensor<1xf32>) {
  %0 = graph.iota {dim = 0 : i64, type = tensor<1000xf32>} : () -> tensor<1000xf32>
  %1 = graph.full {type = tensor<f32>, value = 2.0e-05 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<1000xf32>, tensor<f32>) -> tensor<1000xf32>
  %3 = graph.slice %2 {offsets = array<i64: 857>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<1000xf32>) -> tensor<1xf32>
  %4 = graph.slice %0 {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<1000xf32>) -> tensor<2xf32>
  %5 = graph.slice %0 {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 3>} : (tensor<1000xf32>) -> tensor<2xf32>
  %6 = graph.slice %0 {offsets = array<i64: 8>, sizes = array<i64: 500>, strides = array<i64: 1>} : (tensor<1000xf32>) -> tensor<500xf32>
  %7 = graph.add %2, %x : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %8 = graph.slice %x {offsets = array<i64: 8>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<1000xf32>) -> tensor<1xf32>
  graph.return %3, %4, %5, %6, %8 : tensor<1xf32>, tensor<2xf32>, tensor<2xf32>, tensor<500xf32>, tensor<1xf32>
}
