// RUN: dl-opt --help | FileCheck %s
// RUN: not dl-opt --no-such-pass %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not dl-opt no-such-file 2>&1 | FileCheck %s --check-prefix=MISSING

// Only our options and passes, none of LLVM's flood.
// CHECK: usage: dl-opt
// CHECK: --split-input-file
// CHECK: --expand-gradients
// CHECK-NOT: aarch64

// UNKNOWN: dl-opt: error: --no-such-pass: there is no such option or pass; see --help
// MISSING: dl-opt: error: cannot open input file 'no-such-file'
