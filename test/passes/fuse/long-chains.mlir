// A group ends at 128 ops: LLVM's time grows faster than the code of one kernel.
// RUN: python3 %S/long_chain.py 200 | dl-opt --form-kernels - | FileCheck %s
// A remark names a place: to print its op, MLIR would walk the whole function each time.
// RUN: python3 %S/long_chain.py 200 | dl-opt --form-kernels - -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY --implicit-check-not="see current operation"

// CHECK-LABEL: graph.step @elementwise
// CHECK-COUNT-2: graph.kernel
// CHECK-NOT: graph.kernel
// CHECK-LABEL: graph.step @sums
// CHECK-COUNT-4: graph.kernel
// CHECK-NOT: graph.kernel

// WHY: remark: exp: not fused with exp: so many ops in one kernel would take disproportionately long to compile
