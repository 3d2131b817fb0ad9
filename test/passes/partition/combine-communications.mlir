// RUN: dl-opt %s --combine-communications --split-input-file | FileCheck %s
// RUN: dl-opt %s --combine-communications --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: echo "bucket_bytes = 64" > %t.machine
// RUN: dl-opt %s --combine-communications=machine=%t.machine --split-input-file | FileCheck %s --check-prefix=SMALL

// Three gathers of one group go together; the sum that follows from the first one moves behind them. Buckets that are
// full, by so many bytes of a rank, go.
// CHECK-LABEL: @gathers
// CHECK: %[[N:.*]] = graph.neg
// CHECK: %[[B:.*]]:3 = graph.bucket %{{.*}}, %[[N]], %{{.*}} over ["dp"]
// CHECK-SAME: sends [array<i64: 0, 2, 0, 1, 1>, array<i64: 0, 2, 0, 4, 1>, array<i64: 0, 2, 0, 8, 0>]
// CHECK-SAME: receives [array<i64: 0, 2, 0, 1, 0>, array<i64: 0, 2, 0, 4, 0>, array<i64: 0, 2, 0, 8, 0>] order 5
// CHECK-NEXT: %[[S:.*]] = graph.sum %[[B]]#0
// CHECK-NEXT: graph.return %[[S]], %[[B]]#1, %[[B]]#2
// CHECK-NOT: graph.all_
// SAID: remark: bucket over dp: 3 communications of 128 bytes of a rank begin and end together
// SMALL-LABEL: @gathers
// SMALL: graph.bucket {{.*}} order 3 : (tensor<1x12xf32>, tensor<4xf32>)
// SMALL: graph.all_to_all {{.*}} order 5
module {
  graph.step @gathers(%a: tensor<1x12xf32>, %b: tensor<4xf32>, %c: tensor<16xf32>) -> (tensor<12xf32>, tensor<8xf32>, tensor<16xf32>) {
    %0 = graph.all_gather %a over ["dp"] rows [1, 1] order 1 : (tensor<1x12xf32>) -> tensor<2x12xf32>
    %1 = graph.sum %0 {dims = array<i64: 0>} : (tensor<2x12xf32>) -> tensor<12xf32>
    %2 = graph.neg %b : (tensor<4xf32>) -> tensor<4xf32>
    %3 = graph.all_gather %2 over ["dp"] rows [4, 4] order 3 : (tensor<4xf32>) -> tensor<8xf32>
    %4 = graph.all_to_all %c over ["dp"] sends [8, 8] receives [8, 8] order 5 : tensor<16xf32> -> tensor<16xf32>
    graph.return %1, %3, %4 : tensor<12xf32>, tensor<8xf32>, tensor<16xf32>
  }
}

// -----

// What is sent follows from what was received; what goes along other axes has a bucket of its own, and what goes to one
// rank has none.
// CHECK-LABEL: @dependent
// CHECK: graph.all_gather {{.*}} order 1
// CHECK: graph.send {{.*}} order 3
// CHECK: graph.bucket {{.*}} over ["tp"] {{.*}} order 4
// CHECK: graph.all_gather {{.*}} over ["dp"] {{.*}} order 5
module {
  graph.step @dependent(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<16xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = graph.all_gather %a over ["dp"] rows [4, 4] order 1 : (tensor<4xf32>) -> tensor<8xf32>
    %1 = graph.all_gather %b over ["tp"] rows [4, 4] order 2 : (tensor<4xf32>) -> tensor<8xf32>
    graph.send %a to 1 over ["pp"] order 3 : tensor<4xf32>
    %2 = graph.all_gather %b over ["tp"] rows [4, 4] order 4 : (tensor<4xf32>) -> tensor<8xf32>
    %3 = graph.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    %4 = graph.all_gather %3 over ["dp"] rows [8, 8] order 5 : (tensor<8xf32>) -> tensor<16xf32>
    graph.return %4, %1, %2 : tensor<16xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// Members of one bucket are counted in one way.
// CHECK-LABEL: @relative
// CHECK: %[[B:.*]]:2 = graph.bucket %{{.*}}, %{{.*}} over ["dp"] relative
// CHECK-SAME: sends [array<i64: 0, 1, 0, 0, 0, 1, 1, 0, 4, 0>, array<i64: 0, 1, 0, 0, 0, 1, 1, 0, 8, 0>]
// CHECK-SAME: receives [array<i64: 0, 1, 0, 0, 0, 1, 1, 0, 4, 0>, array<i64: 0, 1, 0, 0, 0, 1, 1, 0, 8, 0>] order 3
// CHECK: graph.bucket %{{.*}}, %{{.*}} over ["dp"] sends [array<i64: 0, 2, 0, 4, 1>, array<i64: 0, 2, 0, 4, 1>]
module {
  graph.step @relative(%a: tensor<4xf32>, %b: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = graph.all_to_all %a over ["dp"] relative sends [0, 4] receives [0, 4] order 1 : tensor<4xf32> -> tensor<4xf32>
    %1 = graph.all_gather %a over ["dp"] rows [4, 4] order 2 : (tensor<4xf32>) -> tensor<8xf32>
    %2 = graph.all_to_all %b over ["dp"] relative sends [0, 8] receives [0, 8] order 3 : tensor<8xf32> -> tensor<8xf32>
    %3 = graph.all_gather %a over ["dp"] rows [4, 4] order 4 : (tensor<4xf32>) -> tensor<8xf32>
    graph.return %0, %1, %2, %3 : tensor<4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// All classes of ranks decide alike: what one of them cannot do none does, and a class without the last one has none of
// its bucket.
// CHECK-LABEL: graph.ranks = array<i64: 0>
// CHECK: graph.all_gather {{.*}} order 1
// CHECK: graph.bucket {{.*}} order 3
// CHECK-LABEL: graph.ranks = array<i64: 1>
// CHECK: graph.all_gather {{.*}} order 1
// CHECK: graph.bucket {{.*}} order 3
// CHECK-LABEL: graph.ranks = array<i64: 2>
// CHECK: graph.all_gather {{.*}} order 4
module {
  module attributes {graph.ranks = array<i64: 0>} {
    graph.step @classes(%a: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
      %0 = graph.all_gather %a over ["dp"] rows [4, 4] order 1 : (tensor<4xf32>) -> tensor<8xf32>
      %1 = graph.all_gather %a over ["dp"] rows [4, 4] order 2 : (tensor<4xf32>) -> tensor<8xf32>
      %2 = graph.all_gather %a over ["dp"] rows [4, 4] order 3 : (tensor<4xf32>) -> tensor<8xf32>
      graph.return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    }
  }
  module attributes {graph.ranks = array<i64: 1>} {
    graph.step @classes(%a: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
      %0 = graph.all_gather %a over ["dp"] rows [4, 4] order 1 : (tensor<4xf32>) -> tensor<8xf32>
      %half = graph.slice %0 {offsets = array<i64: 4>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
      %1 = graph.all_gather %half over ["dp"] rows [4, 4] order 2 : (tensor<4xf32>) -> tensor<8xf32>
      %2 = graph.all_gather %a over ["dp"] rows [4, 4] order 3 : (tensor<4xf32>) -> tensor<8xf32>
      graph.return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    }
  }
  module attributes {graph.ranks = array<i64: 2>} {
    graph.step @classes(%a: tensor<4xf32>) -> (tensor<8xf32>) {
      %0 = graph.all_gather %a over ["dp"] rows [4, 4] order 4 : (tensor<4xf32>) -> tensor<8xf32>
      graph.return %0 : tensor<8xf32>
    }
  }
}
