// RUN: printf "chain_rows = 32\nchain_scratch_bytes = 73728\nwidens_in_readers = 1\nprocessors = 4\nmax_prologue_readers = 0\n" > %t.machine
// RUN: dl-opt --form-kernels=machine=%t.machine %s 2>/dev/null | FileCheck %s

// Products of bf16 are a chain by what is rounded between them; one of f32 has blocks of other threads and stays apart.
// CHECK-LABEL: @rounded
// CHECK: graph.kernel
// CHECK-NOT: graph.kernel
// CHECK-LABEL: @mixed
// CHECK: graph.kernel
// CHECK: graph.kernel
graph.step @rounded(%q: tensor<8x256x64xbf16>, %k: tensor<8x256x64xbf16>) -> tensor<8x256x64xf32> {
  %qw = graph.cast %q {to = f32} : (tensor<8x256x64xbf16>) -> tensor<8x256x64xf32>
  %kw = graph.cast %k {to = f32} : (tensor<8x256x64xbf16>) -> tensor<8x256x64xf32>
  %s = graph.matmul %qw, %kw {spec = "bmk,bnk->bmn"} : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x256xf32>
  %e = graph.exp %s : (tensor<8x256x256xf32>) -> tensor<8x256x256xf32>
  %r = graph.cast %e {to = bf16} : (tensor<8x256x256xf32>) -> tensor<8x256x256xbf16>
  %w = graph.cast %r {to = f32} : (tensor<8x256x256xbf16>) -> tensor<8x256x256xf32>
  %o = graph.matmul %w, %kw {spec = "bmk,bkn->bmn"} : (tensor<8x256x256xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
  graph.return %o : tensor<8x256x64xf32>
}
graph.step @mixed(%q: tensor<8x256x64xbf16>, %k: tensor<8x256x64xbf16>) -> tensor<8x256x64xf32> {
  %qw = graph.cast %q {to = f32} : (tensor<8x256x64xbf16>) -> tensor<8x256x64xf32>
  %kw = graph.cast %k {to = f32} : (tensor<8x256x64xbf16>) -> tensor<8x256x64xf32>
  %s = graph.matmul %qw, %kw {spec = "bmk,bnk->bmn"} : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x256xf32>
  %e = graph.exp %s : (tensor<8x256x256xf32>) -> tensor<8x256x256xf32>
  %o = graph.matmul %e, %kw {spec = "bmk,bkn->bmn"} : (tensor<8x256x256xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
  graph.return %o : tensor<8x256x64xf32>
}
