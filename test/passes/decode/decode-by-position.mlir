// RUN: dl-opt --decode-by-position %s --split-input-file | FileCheck %s
// RUN: dl-opt --decode-by-position %s --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID

// Keys are kept, each at its place; a query is one row, and so is the mask.
// Positions of the table are looked up, a check is one of the token at hand.
// CHECK-LABEL: graph.dataset "tensor"
// CHECK-SAME: batch 1 components [tensor<1xui8>]
// CHECK: graph.state @generate.text.cache.0 {{.*}}role = "cache", type = tensor<1x4x8xf32>
// CHECK: graph.step @text(%[[T:[^ :]+]]: tensor<1x1xui8> input 0, %[[S:[^ :]+]]: tensor<8xi64> scalars,
// CHECK-SAME: %[[TABLE:[^ :]+]]: tensor<8x4xf32> state @table
// CHECK-SAME: %[[WAS:[^ :]+]]: tensor<1x4x8xf32> state @generate.text.cache.0
// CHECK-SAME: tensor<1x1x8xf32> metric "text"
// CHECK-SAME: tensor<i32> error "out of range"
// CHECK-SAME: tensor<1x4x8xf32> state @generate.text.cache.0
// CHECK-SAME: graph.by_position, graph.predicts, graph.window = 8
// CHECK: graph.gather %[[TABLE]], %{{.*}} {dim = 0 : i64} {{.*}} -> tensor<1x4xf32>
// CHECK: graph.index_check %{{.*}} : (tensor<1x1xi64>) -> tensor<i32>
// CHECK: %[[X:.*]] = graph.add %{{.*}} : (tensor<1x1x4xf32>, tensor<1x4xf32>) -> tensor<1x1x4xf32>
// CHECK: %[[ROW:.*]] = graph.transpose %[[X]] {{.*}} -> tensor<1x4x1xf32>
// CHECK: %[[STEP:.*]] = graph.slice %[[S]] {offsets = array<i64: 6>
// CHECK: %[[HERE:.*]] = graph.reshape %[[STEP]]
// CHECK: %[[ALL:.*]] = graph.update_slice %[[HERE]], %[[ROW]], %[[WAS]] {dim = 2 : i64}
// CHECK: graph.matmul %[[X]], %[[ALL]] {spec = "bqd,bdk->bqk"} {{.*}} -> tensor<1x1x8xf32>
// CHECK: graph.lt %{{.*}}, %{{.*}} : (tensor<1x1xi64>, tensor<8xi64>) -> tensor<1x8xi1>
// CHECK: graph.return %{{.*}}, %{{.*}}, %[[ALL]]
// All positions at once leave the same behind.
// CHECK: graph.step @text.window(%{{.*}}: tensor<1x9xui8> input 0
// CHECK-SAME: tensor<1x8x8xf32> metric "text"
// CHECK-SAME: tensor<1x4x8xf32> state @generate.text.cache.0) of "text.window"
// CHECK-SAME: dataset 0 attributes {graph.predicts, graph.window = 8 : i64}
// CHECK: %[[K:.*]] = graph.transpose {{.*}} -> tensor<1x4x8xf32>
// CHECK: graph.return %{{.*}}, %{{.*}}, %[[K]]
graph.program "m.dl" dtype f32 accumulate 1
graph.dataset "tokens" root "" paths ["t.txt"] train items 9 batch 1 components [tensor<9xui8>] stride 8
graph.state @table {init = {a = 0.0, b = 0.0, key = 0 : i64, kind = "zero"}, role = "parameter", type = tensor<8x4xf32>}
graph.state @letters {init = {a = 0.0, b = 0.0, key = 0 : i64, kind = "zero"}, role = "parameter", type = tensor<256x4xf32>}
graph.step @text(%t: tensor<1x9xui8> input 0, %s: tensor<8xi64> scalars, %table: tensor<8x4xf32> state @table,
                 %letters: tensor<256x4xf32> state @letters)
    -> (tensor<1x8x8xf32> metric "text", tensor<i32> error "out of range")
    of "text" batch 1 dataset 0 attributes {graph.predicts, graph.window = 8 : i64} {
  %window = graph.slice %t {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 8>, strides = array<i64: 1, 1>} : (tensor<1x9xui8>) -> tensor<1x8xui8>
  %index = graph.cast %window {to = i64} : (tensor<1x8xui8>) -> tensor<1x8xi64>
  %wrong = graph.index_check %index {bound = 256 : i64, ignore_index = 0 : i64} : (tensor<1x8xi64>) -> tensor<i32>
  %flat = graph.reshape %index {shape = array<i64: 8, 1>} : (tensor<1x8xi64>) -> tensor<8x1xi64>
  %e = graph.gather %letters, %flat {dim = 0 : i64} : (tensor<256x4xf32>, tensor<8x1xi64>) -> tensor<8x4xf32>
  %rows = graph.reshape %e {shape = array<i64: 1, 8, 4>} : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
  %x = graph.add %rows, %table : (tensor<1x8x4xf32>, tensor<8x4xf32>) -> tensor<1x8x4xf32>
  %k = graph.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x8x4xf32>) -> tensor<1x4x8xf32>
  %scores = graph.matmul %x, %k {spec = "bqd,bdk->bqk"} : (tensor<1x8x4xf32>, tensor<1x4x8xf32>) -> tensor<1x8x8xf32>
  %i = graph.iota {dim = 0 : i64, type = tensor<8x1xi64>} : () -> tensor<8x1xi64>
  %j = graph.iota {dim = 0 : i64, type = tensor<8xi64>} : () -> tensor<8xi64>
  %unseen = graph.lt %i, %j : (tensor<8x1xi64>, tensor<8xi64>) -> tensor<8x8xi1>
  %zero = graph.full {type = tensor<f32>, value = 0.0 : f64} : () -> tensor<f32>
  %y = graph.select %unseen, %zero, %scores : (tensor<8x8xi1>, tensor<f32>, tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  graph.return %y, %wrong : tensor<1x8x8xf32>, tensor<i32>
}

// -----

// A sum over earlier positions goes on from the one before, which is kept; in front of the first one it is zero.
// CHECK-LABEL: graph.step @running(%{{.*}}: tensor<1x1xui8> input 0
// CHECK-SAME: %[[KEPT:[^:]*]]: tensor<1x8xf32> state @generate.running.cache.0
// CHECK: %[[BEFORE:.*]] = graph.sub %{{.*}}, %{{.*}} : (tensor<1x1xi64>, tensor<i64>) -> tensor<1x1xi64>
// CHECK: %[[INSIDE:.*]] = graph.maximum %[[BEFORE]]
// CHECK: %[[FOUND:.*]] = graph.gather %[[KEPT]], %[[INSIDE]] {dim = 1 : i64} {{.*}} -> tensor<1x1xf32>
// CHECK: %[[FIRST:.*]] = graph.lt %[[BEFORE]]
// CHECK: %[[SUM:.*]] = graph.select %[[FIRST]], %{{.*}}, %[[FOUND]]
// CHECK: %[[NOW:.*]] = graph.add %[[SUM]], %{{.*}} -> tensor<1x1xf32>
// CHECK: %[[ALL:.*]] = graph.update_slice %{{.*}}, %[[NOW]], %[[KEPT]] {dim = 1 : i64}
// CHECK: graph.return %{{.*}}, %[[ALL]]
graph.program "m.dl" dtype f32 accumulate 1
graph.dataset "tokens" root "" paths ["t.txt"] train items 9 batch 1 components [tensor<9xui8>] stride 8
graph.step @running(%t: tensor<1x9xui8> input 0, %s: tensor<8xi64> scalars) -> (tensor<1x8x1xf32> metric "running")
    of "running" batch 1 dataset 0 attributes {graph.predicts, graph.window = 8 : i64} {
  %window = graph.slice %t {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 8>, strides = array<i64: 1, 1>} : (tensor<1x9xui8>) -> tensor<1x8xui8>
  %x = graph.cast %window {to = f32} : (tensor<1x8xui8>) -> tensor<1x8xf32>
  %c = graph.cumsum %x {dim = 1 : i64} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %y = graph.reshape %c {shape = array<i64: 1, 8, 1>} : (tensor<1x8xf32>) -> tensor<1x8x1xf32>
  graph.return %y : tensor<1x8x1xf32>
}

// -----

// From the end on there is nothing yet.
// SAID: warning: p.generate: one position of 'cumsum' is made of several ones; each token will take a whole window
// CHECK-LABEL: graph.dataset "tokens"
// CHECK: graph.step @backwards(%{{.*}}: tensor<1x9xui8> input 0
// CHECK-SAME: attributes {graph.predicts, graph.window = 8 : i64}
graph.program "m.dl" dtype f32 accumulate 1
graph.dataset "tokens" root "" paths ["t.txt"] train items 9 batch 1 components [tensor<9xui8>] stride 8
graph.step @backwards(%t: tensor<1x9xui8> input 0, %s: tensor<8xi64> scalars) -> (tensor<1x8x1xf32> metric "backwards")
    of "backwards" batch 1 dataset 0 attributes {graph.predicts, graph.window = 8 : i64} {
  %window = graph.slice %t {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 8>, strides = array<i64: 1, 1>} : (tensor<1x9xui8>) -> tensor<1x8xui8>
  %x = graph.cast %window {to = f32} : (tensor<1x8xui8>) -> tensor<1x8xf32>
  %c = graph.cumsum %x {dim = 1 : i64, reverse = true} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %y = graph.reshape %c {shape = array<i64: 1, 8, 1>} : (tensor<1x8xf32>) -> tensor<1x8x1xf32>
  graph.return %y : tensor<1x8x1xf32>
}

// -----

// A causal filter reads as many of the kept positions as it has taps; its padding makes positions behind the window, too.
// CHECK-LABEL: graph.step @filtered(%{{.*}}: tensor<1x1xui8> input 0
// CHECK-SAME: tensor<1x1x1x8xf32> state @generate.filtered.cache.0
// CHECK: %[[TAPS:.*]] = graph.iota {dim = 3 : i64, type = tensor<1x1x1x3xi64>}
// CHECK: %[[READ:.*]] = graph.select %{{.*}}, %{{.*}}, %{{.*}} -> tensor<1x1x1x3xf32>
// CHECK: graph.conv2d {{.*}}%{{.*}} {{.*}}(tensor<1x1x1x3xf32>, tensor<2x1x1x3xf32>) -> tensor<1x2x1x1xf32>
graph.program "m.dl" dtype f32 accumulate 1
graph.dataset "tokens" root "" paths ["t.txt"] train items 9 batch 1 components [tensor<9xui8>] stride 8
graph.step @filtered(%t: tensor<1x9xui8> input 0, %s: tensor<8xi64> scalars) -> (tensor<1x8x2xf32> metric "filtered")
    of "filtered" batch 1 dataset 0 attributes {graph.predicts, graph.window = 8 : i64} {
  %window = graph.slice %t {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 8>, strides = array<i64: 1, 1>} : (tensor<1x9xui8>) -> tensor<1x8xui8>
  %x = graph.cast %window {to = f32} : (tensor<1x8xui8>) -> tensor<1x8xf32>
  %i = graph.reshape %x {shape = array<i64: 1, 1, 1, 8>} : (tensor<1x8xf32>) -> tensor<1x1x1x8xf32>
  %p = graph.pad %i {low = array<i64: 0, 0, 0, 2>, high = array<i64: 0, 0, 0, 2>, interior = array<i64: 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<1x1x1x8xf32>) -> tensor<1x1x1x12xf32>
  %w = graph.full {type = tensor<2x1x1x3xf32>, value = 0.5 : f64} : () -> tensor<2x1x1x3xf32>
  %c = graph.conv2d %p, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<1x1x1x12xf32>, tensor<2x1x1x3xf32>) -> tensor<1x2x1x10xf32>
  %all = graph.reshape %c {shape = array<i64: 1, 2, 10>} : (tensor<1x2x1x10xf32>) -> tensor<1x2x10xf32>
  %first = graph.slice %all {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 1, 2, 8>, strides = array<i64: 1, 1, 1>} : (tensor<1x2x10xf32>) -> tensor<1x2x8xf32>
  %y = graph.transpose %first {permutation = array<i64: 0, 2, 1>} : (tensor<1x2x8xf32>) -> tensor<1x8x2xf32>
  graph.return %y : tensor<1x8x2xf32>
}

// -----

// What no token has a part in may be made of several positions: it is looked up.
// CHECK-LABEL: graph.step @pairs(%{{.*}}: tensor<1x1xui8> input 0
// CHECK: %[[TABLE:.*]] = graph.reshape %{{.*}} {shape = array<i64: 8, 2>} : (tensor<16xf32>) -> tensor<8x2xf32>
// CHECK: graph.gather %[[TABLE]], %{{.*}} {dim = 0 : i64} {{.*}} -> tensor<1x2xf32>
graph.program "m.dl" dtype f32 accumulate 1
graph.dataset "tokens" root "" paths ["t.txt"] train items 9 batch 1 components [tensor<8xui8>] stride 8
graph.step @pairs(%t: tensor<1x8xui8> input 0, %s: tensor<8xi64> scalars) -> (tensor<1x8x2xf32> metric "pairs")
    of "pairs" batch 1 dataset 0 attributes {graph.predicts, graph.window = 8 : i64} {
  %x = graph.cast %t {to = f32} : (tensor<1x8xui8>) -> tensor<1x8xf32>
  %column = graph.reshape %x {shape = array<i64: 1, 8, 1>} : (tensor<1x8xf32>) -> tensor<1x8x1xf32>
  %zeros = graph.full {type = tensor<16xf32>, value = 0.0 : f64} : () -> tensor<16xf32>
  %rows = graph.reshape %zeros {shape = array<i64: 8, 2>} : (tensor<16xf32>) -> tensor<8x2xf32>
  %y = graph.add %column, %rows : (tensor<1x8x1xf32>, tensor<8x2xf32>) -> tensor<1x8x2xf32>
  graph.return %y : tensor<1x8x2xf32>
}

// -----

// The targets of a window are tokens that are yet to come.
// SAID: warning: p.generate: one position of 'slice' is made of several ones
// CHECK-LABEL: graph.step @targets(%{{.*}}: tensor<1x9xui8> input 0
graph.program "m.dl" dtype f32 accumulate 1
graph.dataset "tokens" root "" paths ["t.txt"] train items 9 batch 1 components [tensor<9xui8>] stride 8
graph.step @targets(%t: tensor<1x9xui8> input 0, %s: tensor<8xi64> scalars) -> (tensor<1x8x1xf32> metric "targets")
    of "targets" batch 1 dataset 0 attributes {graph.predicts, graph.window = 8 : i64} {
  %window = graph.slice %t {offsets = array<i64: 0, 1>, sizes = array<i64: 1, 8>, strides = array<i64: 1, 1>} : (tensor<1x9xui8>) -> tensor<1x8xui8>
  %x = graph.cast %window {to = f32} : (tensor<1x8xui8>) -> tensor<1x8xf32>
  %y = graph.reshape %x {shape = array<i64: 1, 8, 1>} : (tensor<1x8xf32>) -> tensor<1x8x1xf32>
  graph.return %y : tensor<1x8x1xf32>
}
