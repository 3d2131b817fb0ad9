// Views before and behind a convolution may be as deep as the graph is long.

// RUN: python3 %S/../deep_chain.py images 200000 | dl-opt --batch-innermost --verify-each=0 | FileCheck %s

// CHECK: graph.exp %arg0 : (
// CHECK-COUNT-200000: graph.transpose
// CHECK-NEXT: graph.copy {{.*}}orders = [array<i64: 1, 2, 3, 0>]
// CHECK-NEXT: graph.conv2d {{.*}}orders = [array<i64: 1, 2, 3, 0>]
// CHECK-COUNT-200000: graph.transpose
// The other end of the chain is stored like the convolution's result.
// CHECK-NEXT: graph.tanh {{.*}}orders = [array<i64: 1, 2, 3, 0>]
