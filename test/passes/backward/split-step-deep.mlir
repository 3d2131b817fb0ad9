// What an update needs from before the gradients may be as deep as the graph is long.

// RUN: python3 %S/../deep_chain.py update 200000 | dl-opt --split-step | FileCheck %s

// CHECK: graph.step @train.update(
// CHECK-COUNT-200000: graph.exp
// CHECK: graph.mul
