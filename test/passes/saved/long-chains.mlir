// A chain of 40 ops, each of which the backward reads: one in 13 is kept, so
// that no kernel repeats all of it. And a long one takes no long time.

// RUN: python3 %S/long_chain.py 40 | dl-opt --choose-saved -o - 2>%t | FileCheck %s
// RUN: python3 %S/long_chain.py 50000 | dl-opt --choose-saved --verify-each=0 -o - 2>%t | FileCheck %s --check-prefix=LONG
// CHECK: graph.made_again_sum = array<i64: 36, 2359296,
// LONG: graph.made_again_sum
