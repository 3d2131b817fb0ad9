// Kernels and views as deep as the graph is long.

// RUN: python3 %S/../deep_chain.py kernels 100000 | dl-opt --form-kernels --verify-each=0 | FileCheck %s --check-prefix=KERNELS
// RUN: python3 %S/../deep_chain.py views 100000 | dl-opt --form-kernels --verify-each=0 | FileCheck %s --check-prefix=VIEWS
// RUN: python3 %S/../deep_chain.py reads 100000 | dl-opt --form-kernels --verify-each=0 | FileCheck %s --check-prefix=READS
// RUN: python3 %S/../deep_chain.py squares 100 | dl-opt --form-kernels --verify-each=0 | FileCheck %s --check-prefix=SQUARES
// RUN: python3 %S/../deep_chain.py shifts 60 | dl-opt --form-kernels --verify-each=0 | FileCheck %s --check-prefix=SHIFTS

// The chain comes before the product that waits for it.
// KERNELS: graph.kernel %arg0, %arg1
// KERNELS: name = "matmul_add_
// KERNELS-NOT: graph.kernel
// VIEWS-COUNT-200000: graph.reshape
// VIEWS: graph.kernel
// READS: graph.kernel
// READS-COUNT-200000: graph.transpose
// READS-NEXT: graph.exp
// READS-NOT: graph.kernel
// SQUARES: graph.kernel
// SQUARES-COUNT-101: graph.mul
// SQUARES-NOT: graph.kernel
// No kernel computes the first values 2^60 times.
// SHIFTS-COUNT-9: graph.kernel
// SHIFTS-NOT: graph.kernel
