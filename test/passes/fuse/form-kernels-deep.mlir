// Kernels and views as deep as the graph is long.

// RUN: python3 %S/../deep_chain.py kernels 100000 | dl-opt --form-kernels --verify-each=0 | FileCheck %s --check-prefix=KERNELS
// RUN: python3 %S/../deep_chain.py views 100000 | dl-opt --form-kernels --verify-each=0 | FileCheck %s --check-prefix=VIEWS

// The chain comes before the product that waits for it.
// KERNELS: graph.kernel %arg0, %arg1
// KERNELS: name = "matmul_add_
// KERNELS-NOT: graph.kernel
// VIEWS-COUNT-200000: graph.reshape
// VIEWS: graph.kernel
