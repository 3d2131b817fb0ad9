// bf16 is stored, and widened before anything is done with it.

// Rounded to the nearest, ties to even: 513 and 515 are between two numbers of bf16.
graph.step @rounded(%x: tensor<37x19xf32>) -> (tensor<37x19xbf16>, tensor<37x19xf32>) {
  %r = graph.cast %x {to = bf16} : (tensor<37x19xf32>) -> tensor<37x19xbf16>
  %w = graph.cast %r {to = f32} : (tensor<37x19xbf16>) -> tensor<37x19xf32>
  %d = graph.sub %w, %x : (tensor<37x19xf32>, tensor<37x19xf32>) -> tensor<37x19xf32>
  graph.return %r, %d : tensor<37x19xbf16>, tensor<37x19xf32>
}
graph.step @ties(%x: tensor<300xi64>) -> tensor<300xbf16> {
  %i = graph.iota {dim = 0 : i64, type = tensor<300xi64>} : () -> tensor<300xi64>
  %f = graph.cast %i {to = f32} : (tensor<300xi64>) -> tensor<300xf32>
  %c = graph.full {type = tensor<f32>, value = 4.690000e+02 : f64} : () -> tensor<f32>
  %s = graph.add %f, %c : (tensor<300xf32>, tensor<f32>) -> tensor<300xf32>
  %r = graph.cast %s {to = bf16} : (tensor<300xf32>) -> tensor<300xbf16>
  graph.return %r : tensor<300xbf16>
}
// Infinities, NaN, what is rounded to an infinity, and denormal numbers.
graph.step @special(%x: tensor<40xf32>) -> (tensor<40xbf16>, tensor<40xbf16>, tensor<40xbf16>, tensor<40xbf16>) {
  %zero = graph.full {type = tensor<f32>, value = 0.0 : f64} : () -> tensor<f32>
  %big = graph.full {type = tensor<f32>, value = 3.4e+38 : f64} : () -> tensor<f32>
  %tiny = graph.full {type = tensor<f32>, value = 1.3e-39 : f64} : () -> tensor<f32>
  %i = graph.div %x, %zero : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
  %n = graph.sub %i, %i : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
  %b = graph.mul %x, %big : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
  %t = graph.mul %x, %tiny : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
  %ri = graph.cast %i {to = bf16} : (tensor<40xf32>) -> tensor<40xbf16>
  %rn = graph.cast %n {to = bf16} : (tensor<40xf32>) -> tensor<40xbf16>
  %rb = graph.cast %b {to = bf16} : (tensor<40xf32>) -> tensor<40xbf16>
  %rt = graph.cast %t {to = bf16} : (tensor<40xf32>) -> tensor<40xbf16>
  graph.return %ri, %rn, %rb, %rt : tensor<40xbf16>, tensor<40xbf16>, tensor<40xbf16>, tensor<40xbf16>
}
// Views of it, and sums of what it is widened to.
graph.step @moved(%x: tensor<6x10x8xbf16>) -> (tensor<8x6x10xbf16>, tensor<6x12x8xbf16>, tensor<6x11x8xbf16>, tensor<6x8xf32>) {
  %t = graph.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<6x10x8xbf16>) -> tensor<8x6x10xbf16>
  %p = graph.pad %x {high = array<i64: 0, 1, 0>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 1, 0>, value = 0.0 : f64} : (tensor<6x10x8xbf16>) -> tensor<6x12x8xbf16>
  %o = graph.pad %x {high = array<i64: 0, 1, 0>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 0>, value = 1.5 : f64} : (tensor<6x10x8xbf16>) -> tensor<6x11x8xbf16>
  %w = graph.cast %x {to = f32} : (tensor<6x10x8xbf16>) -> tensor<6x10x8xf32>
  %s = graph.sum %w {dims = array<i64: 1>} : (tensor<6x10x8xf32>) -> tensor<6x8xf32>
  graph.return %t, %p, %o, %s : tensor<8x6x10xbf16>, tensor<6x12x8xbf16>, tensor<6x11x8xbf16>, tensor<6x8xf32>
}
// Each way round in which a product reads its operands, whole tiles and ragged ones.
graph.step @products(%a: tensor<70x48xbf16>, %b: tensor<48x40xbf16>, %c: tensor<40x48xbf16>, %d: tensor<48x70xbf16>)
    -> (tensor<70x40xf32>, tensor<70x40xf32>, tensor<70x40xf32>, tensor<70x40xf32>) {
  %wa = graph.cast %a {to = f32} : (tensor<70x48xbf16>) -> tensor<70x48xf32>
  %wb = graph.cast %b {to = f32} : (tensor<48x40xbf16>) -> tensor<48x40xf32>
  %wc = graph.cast %c {to = f32} : (tensor<40x48xbf16>) -> tensor<40x48xf32>
  %wd = graph.cast %d {to = f32} : (tensor<48x70xbf16>) -> tensor<48x70xf32>
  %nn = graph.matmul %wa, %wb {spec = "mk,kn->mn"} : (tensor<70x48xf32>, tensor<48x40xf32>) -> tensor<70x40xf32>
  %nt = graph.matmul %wa, %wc {spec = "mk,nk->mn"} : (tensor<70x48xf32>, tensor<40x48xf32>) -> tensor<70x40xf32>
  %tn = graph.matmul %wd, %wb {spec = "km,kn->mn"} : (tensor<48x70xf32>, tensor<48x40xf32>) -> tensor<70x40xf32>
  %tt = graph.matmul %wd, %wc {spec = "km,nk->mn"} : (tensor<48x70xf32>, tensor<40x48xf32>) -> tensor<70x40xf32>
  graph.return %nn, %nt, %tn, %tt : tensor<70x40xf32>, tensor<70x40xf32>, tensor<70x40xf32>, tensor<70x40xf32>
}
// No extent is one of a vector, or of a step.
graph.step @odd(%a: tensor<3x67x35xbf16>, %b: tensor<3x35x41xbf16>) -> (tensor<3x67x41xf32>, tensor<3x67x41xf32>) {
  %wa = graph.cast %a {to = f32} : (tensor<3x67x35xbf16>) -> tensor<3x67x35xf32>
  %wb = graph.cast %b {to = f32} : (tensor<3x35x41xbf16>) -> tensor<3x35x41xf32>
  %y = graph.matmul %wa, %wb {spec = "bmk,bkn->bmn"} : (tensor<3x67x35xf32>, tensor<3x35x41xf32>) -> tensor<3x67x41xf32>
  %z = graph.relu %y : (tensor<3x67x41xf32>) -> tensor<3x67x41xf32>
  graph.return %y, %z : tensor<3x67x41xf32>, tensor<3x67x41xf32>
}
// One operand is f32 in memory.
graph.step @half(%a: tensor<64x64xbf16>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %wa = graph.cast %a {to = f32} : (tensor<64x64xbf16>) -> tensor<64x64xf32>
  %y = graph.matmul %wa, %b {spec = "mk,kn->mn"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  graph.return %y : tensor<64x64xf32>
}
// Sums in parts: few tiles and a long sum.
graph.step @long(%a: tensor<4100x32xbf16>, %b: tensor<4100x32xbf16>) -> tensor<32x32xf32> {
  %wa = graph.cast %a {to = f32} : (tensor<4100x32xbf16>) -> tensor<4100x32xf32>
  %wb = graph.cast %b {to = f32} : (tensor<4100x32xbf16>) -> tensor<4100x32xf32>
  %y = graph.matmul %wa, %wb {spec = "km,kn->mn"} : (tensor<4100x32xf32>, tensor<4100x32xf32>) -> tensor<32x32xf32>
  graph.return %y : tensor<32x32xf32>
}
// A convolution, with zeros around its images, and its gradients.
graph.step @convolution(%x: tensor<2x8x9x10xbf16>, %w: tensor<16x8x3x3xbf16>, %dy: tensor<2x16x9x10xbf16>)
    -> (tensor<2x16x9x10xf32>, tensor<2x8x9x10xf32>, tensor<16x8x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<2x8x9x10xbf16>) -> tensor<2x8x9x10xf32>
  %ww = graph.cast %w {to = f32} : (tensor<16x8x3x3xbf16>) -> tensor<16x8x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<2x16x9x10xbf16>) -> tensor<2x16x9x10xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<2x8x9x10xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x9x10xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 2, 8, 9, 10>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<2x16x9x10xf32>, tensor<16x8x3x3xf32>) -> tensor<2x8x9x10xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<2x8x9x10xf32>, tensor<2x16x9x10xf32>) -> tensor<16x8x3x3xf32>
  graph.return %y, %dx, %dw : tensor<2x16x9x10xf32>, tensor<2x8x9x10xf32>, tensor<16x8x3x3xf32>
}
// A chain of products, whose middle is rounded: small integers, which no rounding changes where sums are in another order.
graph.step @chain(%x: tensor<4x160x16xi64>, %y: tensor<4x144x16xi64>) -> tensor<4x160x16xf32> {
  %fx = graph.cast %x {to = bf16} : (tensor<4x160x16xi64>) -> tensor<4x160x16xbf16>
  %fy = graph.cast %y {to = bf16} : (tensor<4x144x16xi64>) -> tensor<4x144x16xbf16>
  %q = graph.cast %fx {to = f32} : (tensor<4x160x16xbf16>) -> tensor<4x160x16xf32>
  %k = graph.cast %fy {to = f32} : (tensor<4x144x16xbf16>) -> tensor<4x144x16xf32>
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x160x16xf32>, tensor<4x144x16xf32>) -> tensor<4x160x144xf32>
  %r = graph.cast %s {to = bf16} : (tensor<4x160x144xf32>) -> tensor<4x160x144xbf16>
  %p = graph.cast %r {to = f32} : (tensor<4x160x144xbf16>) -> tensor<4x160x144xf32>
  %c = graph.full {type = tensor<f32>, value = 0.03125 : f64} : () -> tensor<f32>
  %m = graph.mul %p, %c : (tensor<4x160x144xf32>, tensor<f32>) -> tensor<4x160x144xf32>
  %mr = graph.cast %m {to = bf16} : (tensor<4x160x144xf32>) -> tensor<4x160x144xbf16>
  %mw = graph.cast %mr {to = f32} : (tensor<4x160x144xbf16>) -> tensor<4x160x144xf32>
  %o = graph.matmul %mw, %k {spec = "bmk,bkn->bmn"} : (tensor<4x160x144xf32>, tensor<4x144x16xf32>) -> tensor<4x160x16xf32>
  graph.return %o : tensor<4x160x16xf32>
}
// Large products, whose packed operands are pairs where the processor adds up products of pairs: an odd sum, each way round, and panels that are not full.
graph.step @large(%a: tensor<263x133xbf16>, %b: tensor<133x290xbf16>, %c: tensor<290x133xbf16>, %d: tensor<133x263xbf16>)
    -> (tensor<263x290xf32>, tensor<263x290xf32>, tensor<263x290xf32>, tensor<263x290xf32>) {
  %wa = graph.cast %a {to = f32} : (tensor<263x133xbf16>) -> tensor<263x133xf32>
  %wb = graph.cast %b {to = f32} : (tensor<133x290xbf16>) -> tensor<133x290xf32>
  %wc = graph.cast %c {to = f32} : (tensor<290x133xbf16>) -> tensor<290x133xf32>
  %wd = graph.cast %d {to = f32} : (tensor<133x263xbf16>) -> tensor<133x263xf32>
  %nn = graph.matmul %wa, %wb {spec = "mk,kn->mn"} : (tensor<263x133xf32>, tensor<133x290xf32>) -> tensor<263x290xf32>
  %nt = graph.matmul %wa, %wc {spec = "mk,nk->mn"} : (tensor<263x133xf32>, tensor<290x133xf32>) -> tensor<263x290xf32>
  %tn = graph.matmul %wd, %wb {spec = "km,kn->mn"} : (tensor<133x263xf32>, tensor<133x290xf32>) -> tensor<263x290xf32>
  %tt = graph.matmul %wd, %wc {spec = "km,nk->mn"} : (tensor<133x263xf32>, tensor<290x133xf32>) -> tensor<263x290xf32>
  graph.return %nn, %nt, %tn, %tt : tensor<263x290xf32>, tensor<263x290xf32>, tensor<263x290xf32>, tensor<263x290xf32>
}
// Several blocks of the sum, the last one of an odd length, and results that are rounded and added to: of small integers, as above.
graph.step @large_blocks(%x: tensor<256x801xi64>, %w: tensor<264x801xi64>, %i: tensor<256x264xi64>) -> (tensor<256x264xbf16>, tensor<801x264xf32>) {
  %rx = graph.cast %x {to = bf16} : (tensor<256x801xi64>) -> tensor<256x801xbf16>
  %rw = graph.cast %w {to = bf16} : (tensor<264x801xi64>) -> tensor<264x801xbf16>
  %r = graph.cast %i {to = f32} : (tensor<256x264xi64>) -> tensor<256x264xf32>
  %wx = graph.cast %rx {to = f32} : (tensor<256x801xbf16>) -> tensor<256x801xf32>
  %ww = graph.cast %rw {to = f32} : (tensor<264x801xbf16>) -> tensor<264x801xf32>
  %p = graph.matmul %wx, %ww {spec = "mk,nk->mn"} : (tensor<256x801xf32>, tensor<264x801xf32>) -> tensor<256x264xf32>
  %s = graph.add %p, %r : (tensor<256x264xf32>, tensor<256x264xf32>) -> tensor<256x264xf32>
  %y = graph.cast %s {to = bf16} : (tensor<256x264xf32>) -> tensor<256x264xbf16>
  %v = graph.cast %y {to = f32} : (tensor<256x264xbf16>) -> tensor<256x264xf32>
  %g = graph.matmul %wx, %v {spec = "mk,mn->kn"} : (tensor<256x801xf32>, tensor<256x264xf32>) -> tensor<801x264xf32>
  graph.return %y, %g : tensor<256x264xbf16>, tensor<801x264xf32>
}
// One operand, or a part of it, has numbers that bf16 has not: nothing is cut off.
graph.step @large_half(%a: tensor<260x96xbf16>, %b: tensor<96x288xf32>, %c: tensor<260x96xbf16>) -> (tensor<260x288xf32>, tensor<260x288xf32>) {
  %wa = graph.cast %a {to = f32} : (tensor<260x96xbf16>) -> tensor<260x96xf32>
  %wc = graph.cast %c {to = f32} : (tensor<260x96xbf16>) -> tensor<260x96xf32>
  %s = graph.add %wa, %wc : (tensor<260x96xf32>, tensor<260x96xf32>) -> tensor<260x96xf32>
  %r = graph.cast %b {to = bf16} : (tensor<96x288xf32>) -> tensor<96x288xbf16>
  %wb = graph.cast %r {to = f32} : (tensor<96x288xbf16>) -> tensor<96x288xf32>
  %y = graph.matmul %wa, %b {spec = "mk,kn->mn"} : (tensor<260x96xf32>, tensor<96x288xf32>) -> tensor<260x288xf32>
  %z = graph.matmul %s, %wb {spec = "mk,kn->mn"} : (tensor<260x96xf32>, tensor<96x288xf32>) -> tensor<260x288xf32>
  graph.return %y, %z : tensor<260x288xf32>, tensor<260x288xf32>
}
// What is rounded on its way into packed operands, each way round, and a view of it.
graph.step @large_rounded(%a: tensor<263x133xf32>, %b: tensor<133x290xf32>, %c: tensor<290x133xf32>, %d: tensor<133x263xf32>)
    -> (tensor<263x290xf32>, tensor<263x290xf32>, tensor<263x290xf32>, tensor<263x290xf32>) {
  %ra = graph.cast %a {to = bf16} : (tensor<263x133xf32>) -> tensor<263x133xbf16>
  %wa = graph.cast %ra {to = f32} : (tensor<263x133xbf16>) -> tensor<263x133xf32>
  %rb = graph.cast %b {to = bf16} : (tensor<133x290xf32>) -> tensor<133x290xbf16>
  %wb = graph.cast %rb {to = f32} : (tensor<133x290xbf16>) -> tensor<133x290xf32>
  %rc = graph.cast %c {to = bf16} : (tensor<290x133xf32>) -> tensor<290x133xbf16>
  %wc = graph.cast %rc {to = f32} : (tensor<290x133xbf16>) -> tensor<290x133xf32>
  %rd = graph.cast %d {to = bf16} : (tensor<133x263xf32>) -> tensor<133x263xbf16>
  %wd = graph.cast %rd {to = f32} : (tensor<133x263xbf16>) -> tensor<133x263xf32>
  %nn = graph.matmul %wa, %wb {spec = "mk,kn->mn"} : (tensor<263x133xf32>, tensor<133x290xf32>) -> tensor<263x290xf32>
  %nt = graph.matmul %wa, %wc {spec = "mk,nk->mn"} : (tensor<263x133xf32>, tensor<290x133xf32>) -> tensor<263x290xf32>
  %tn = graph.matmul %wd, %wb {spec = "km,kn->mn"} : (tensor<133x263xf32>, tensor<133x290xf32>) -> tensor<263x290xf32>
  %tt = graph.matmul %wd, %wc {spec = "km,nk->mn"} : (tensor<133x263xf32>, tensor<290x133xf32>) -> tensor<263x290xf32>
  graph.return %nn, %nt, %tn, %tt : tensor<263x290xf32>, tensor<263x290xf32>, tensor<263x290xf32>, tensor<263x290xf32>
}
// One side is rounded, the other has been; all k in several blocks, and few rows.
graph.step @large_rounded_side(%a: tensor<24x3x300xf32>, %b: tensor<900x4100xbf16>) -> tensor<24x4100xf32> {
  %ra = graph.cast %a {to = bf16} : (tensor<24x3x300xf32>) -> tensor<24x3x300xbf16>
  %wa = graph.cast %ra {to = f32} : (tensor<24x3x300xbf16>) -> tensor<24x3x300xf32>
  %v = graph.reshape %wa {shape = array<i64: 24, 900>} : (tensor<24x3x300xf32>) -> tensor<24x900xf32>
  %wb = graph.cast %b {to = f32} : (tensor<900x4100xbf16>) -> tensor<900x4100xf32>
  %y = graph.matmul %v, %wb {spec = "mk,kn->mn"} : (tensor<24x900xf32>, tensor<900x4100xf32>) -> tensor<24x4100xf32>
  graph.return %y : tensor<24x4100xf32>
}
// Slices and zeros around them are seen through.
graph.step @large_views(%a: tensor<2x256x3x66xbf16>, %b: tensor<2x260x64xbf16>) -> (tensor<2x256x260xf32>, tensor<2x256x264xf32>) {
  %wa = graph.cast %a {to = f32} : (tensor<2x256x3x66xbf16>) -> tensor<2x256x3x66xf32>
  %wb = graph.cast %b {to = f32} : (tensor<2x260x64xbf16>) -> tensor<2x260x64xf32>
  %sa = graph.slice %wa {offsets = array<i64: 0, 0, 1, 2>, sizes = array<i64: 2, 256, 1, 64>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x256x3x66xf32>) -> tensor<2x256x1x64xf32>
  %ra = graph.reshape %sa {shape = array<i64: 2, 256, 64>} : (tensor<2x256x1x64xf32>) -> tensor<2x256x64xf32>
  %y = graph.matmul %ra, %wb {spec = "bmk,bnk->bmn"} : (tensor<2x256x64xf32>, tensor<2x260x64xf32>) -> tensor<2x256x260xf32>
  %pb = graph.pad %wb {high = array<i64: 0, 3, 0>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 1, 0>, value = 0.0 : f64} : (tensor<2x260x64xf32>) -> tensor<2x264x64xf32>
  %z = graph.matmul %ra, %pb {spec = "bmk,bnk->bmn"} : (tensor<2x256x64xf32>, tensor<2x264x64xf32>) -> tensor<2x256x264xf32>
  graph.return %y, %z : tensor<2x256x260xf32>, tensor<2x256x264xf32>
}
// Images innermost: pairs are of channels, and of vectors of images, of which one is over and one is not full.
graph.step @images(%x: tensor<59x10x7x6xbf16>, %w: tensor<14x10x3x3xbf16>, %dy: tensor<59x14x7x6xbf16>)
    -> (tensor<59x14x7x6xf32>, tensor<59x10x7x6xf32>, tensor<14x10x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<59x10x7x6xbf16>) -> tensor<59x10x7x6xf32>
  %ww = graph.cast %w {to = f32} : (tensor<14x10x3x3xbf16>) -> tensor<14x10x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<59x14x7x6xbf16>) -> tensor<59x14x7x6xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<59x10x7x6xf32>, tensor<14x10x3x3xf32>) -> tensor<59x14x7x6xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 59, 10, 7, 6>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<59x14x7x6xf32>, tensor<14x10x3x3xf32>) -> tensor<59x10x7x6xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<59x10x7x6xf32>, tensor<59x14x7x6xf32>) -> tensor<14x10x3x3xf32>
  graph.return %y, %dx, %dw : tensor<59x14x7x6xf32>, tensor<59x10x7x6xf32>, tensor<14x10x3x3xf32>
}
// Rows in several blocks, and a filter of more taps than are unrolled.
graph.step @images_of_two_vectors(%x: tensor<32x8x5x12xbf16>, %w: tensor<35x8x2x9xbf16>, %dy: tensor<32x35x4x4xbf16>)
    -> (tensor<32x35x4x4xf32>, tensor<32x8x5x12xf32>, tensor<35x8x2x9xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<32x8x5x12xbf16>) -> tensor<32x8x5x12xf32>
  %ww = graph.cast %w {to = f32} : (tensor<35x8x2x9xbf16>) -> tensor<35x8x2x9xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<32x35x4x4xbf16>) -> tensor<32x35x4x4xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} : (tensor<32x8x5x12xf32>, tensor<35x8x2x9xf32>) -> tensor<32x35x4x4xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 32, 8, 5, 12>, padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} : (tensor<32x35x4x4xf32>, tensor<35x8x2x9xf32>) -> tensor<32x8x5x12xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 2, 9>, padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} : (tensor<32x8x5x12xf32>, tensor<32x35x4x4xf32>) -> tensor<35x8x2x9xf32>
  graph.return %y, %dx, %dw : tensor<32x35x4x4xf32>, tensor<32x8x5x12xf32>, tensor<35x8x2x9xf32>
}
// Gradients that read every other place.
graph.step @images_strided(%x: tensor<34x8x9x8xbf16>, %w: tensor<16x8x3x3xbf16>, %dy: tensor<34x16x5x4xbf16>)
    -> (tensor<34x16x5x4xf32>, tensor<34x8x9x8xf32>, tensor<16x8x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<34x8x9x8xbf16>) -> tensor<34x8x9x8xf32>
  %ww = graph.cast %w {to = f32} : (tensor<16x8x3x3xbf16>) -> tensor<16x8x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<34x16x5x4xbf16>) -> tensor<34x16x5x4xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 1, 1>, stride = array<i64: 2, 2>} : (tensor<34x8x9x8xf32>, tensor<16x8x3x3xf32>) -> tensor<34x16x5x4xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 34, 8, 9, 8>, padding = array<i64: 1, 1>, stride = array<i64: 2, 2>} : (tensor<34x16x5x4xf32>, tensor<16x8x3x3xf32>) -> tensor<34x8x9x8xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 2, 2>} : (tensor<34x8x9x8xf32>, tensor<34x16x5x4xf32>) -> tensor<16x8x3x3xf32>
  graph.return %y, %dx, %dw : tensor<34x16x5x4xf32>, tensor<34x8x9x8xf32>, tensor<16x8x3x3xf32>
}
// Taps apart, beyond the border on both sides.
graph.step @images_dilated(%x: tensor<32x8x6x7xbf16>, %w: tensor<8x8x3x3xbf16>, %dy: tensor<32x8x6x7xbf16>)
    -> (tensor<32x8x6x7xf32>, tensor<32x8x6x7xf32>, tensor<8x8x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<32x8x6x7xbf16>) -> tensor<32x8x6x7xf32>
  %ww = graph.cast %w {to = f32} : (tensor<8x8x3x3xbf16>) -> tensor<8x8x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<32x8x6x7xbf16>) -> tensor<32x8x6x7xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 2, 2>, stride = array<i64: 1, 1>, dilation = array<i64: 2, 2>} : (tensor<32x8x6x7xf32>, tensor<8x8x3x3xf32>) -> tensor<32x8x6x7xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 32, 8, 6, 7>, padding = array<i64: 2, 2>, stride = array<i64: 1, 1>, dilation = array<i64: 2, 2>} : (tensor<32x8x6x7xf32>, tensor<8x8x3x3xf32>) -> tensor<32x8x6x7xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 2, 2>, stride = array<i64: 1, 1>, dilation = array<i64: 2, 2>} : (tensor<32x8x6x7xf32>, tensor<32x8x6x7xf32>) -> tensor<8x8x3x3xf32>
  graph.return %y, %dx, %dw : tensor<32x8x6x7xf32>, tensor<32x8x6x7xf32>, tensor<8x8x3x3xf32>
}
// Channels and images that AMX has tiles for: rows that fill one and a half, lanes of one tile and of two.
graph.step @channels_of_tiles(%x: tensor<48x32x6x5xbf16>, %w: tensor<40x32x3x3xbf16>, %dy: tensor<48x40x6x5xbf16>)
    -> (tensor<48x40x6x5xf32>, tensor<48x32x6x5xf32>, tensor<40x32x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<48x32x6x5xbf16>) -> tensor<48x32x6x5xf32>
  %ww = graph.cast %w {to = f32} : (tensor<40x32x3x3xbf16>) -> tensor<40x32x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<48x40x6x5xbf16>) -> tensor<48x40x6x5xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<48x32x6x5xf32>, tensor<40x32x3x3xf32>) -> tensor<48x40x6x5xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 48, 32, 6, 5>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<48x40x6x5xf32>, tensor<40x32x3x3xf32>) -> tensor<48x32x6x5xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<48x32x6x5xf32>, tensor<48x40x6x5xf32>) -> tensor<40x32x3x3xf32>
  graph.return %y, %dx, %dw : tensor<48x40x6x5xf32>, tensor<48x32x6x5xf32>, tensor<40x32x3x3xf32>
}
// Gradients to every other place, and two blocks of channels.
graph.step @channels_of_tiles_strided(%x: tensor<32x64x8x6xbf16>, %w: tensor<32x64x3x3xbf16>, %dy: tensor<32x32x4x3xbf16>)
    -> (tensor<32x32x4x3xf32>, tensor<32x64x8x6xf32>, tensor<32x64x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<32x64x8x6xbf16>) -> tensor<32x64x8x6xf32>
  %ww = graph.cast %w {to = f32} : (tensor<32x64x3x3xbf16>) -> tensor<32x64x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<32x32x4x3xbf16>) -> tensor<32x32x4x3xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 1, 1>, stride = array<i64: 2, 2>} : (tensor<32x64x8x6xf32>, tensor<32x64x3x3xf32>) -> tensor<32x32x4x3xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 32, 64, 8, 6>, padding = array<i64: 1, 1>, stride = array<i64: 2, 2>} : (tensor<32x32x4x3xf32>, tensor<32x64x3x3xf32>) -> tensor<32x64x8x6xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 2, 2>} : (tensor<32x64x8x6xf32>, tensor<32x32x4x3xf32>) -> tensor<32x64x3x3xf32>
  graph.return %y, %dx, %dw : tensor<32x32x4x3xf32>, tensor<32x64x8x6xf32>, tensor<32x64x3x3xf32>
}
// Taps beyond the border on both sides.
graph.step @channels_of_tiles_dilated(%x: tensor<16x32x5x7xbf16>, %w: tensor<64x32x3x3xbf16>, %dy: tensor<16x64x5x7xbf16>)
    -> (tensor<16x64x5x7xf32>, tensor<16x32x5x7xf32>, tensor<64x32x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<16x32x5x7xbf16>) -> tensor<16x32x5x7xf32>
  %ww = graph.cast %w {to = f32} : (tensor<64x32x3x3xbf16>) -> tensor<64x32x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<16x64x5x7xbf16>) -> tensor<16x64x5x7xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 2, 2>, stride = array<i64: 1, 1>, dilation = array<i64: 2, 2>} : (tensor<16x32x5x7xf32>, tensor<64x32x3x3xf32>) -> tensor<16x64x5x7xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 16, 32, 5, 7>, padding = array<i64: 2, 2>, stride = array<i64: 1, 1>, dilation = array<i64: 2, 2>} : (tensor<16x64x5x7xf32>, tensor<64x32x3x3xf32>) -> tensor<16x32x5x7xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 2, 2>, stride = array<i64: 1, 1>, dilation = array<i64: 2, 2>} : (tensor<16x32x5x7xf32>, tensor<16x64x5x7xf32>) -> tensor<64x32x3x3xf32>
  graph.return %y, %dx, %dw : tensor<16x64x5x7xf32>, tensor<16x32x5x7xf32>, tensor<64x32x3x3xf32>
}
// Lanes of several rows of small images, and a filter of unequal sides.
graph.step @channels_of_tiles_small(%x: tensor<32x32x4x4xbf16>, %w: tensor<72x32x2x3xbf16>, %dy: tensor<32x72x5x4xbf16>)
    -> (tensor<32x72x5x4xf32>, tensor<32x32x4x4xf32>, tensor<72x32x2x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<32x32x4x4xbf16>) -> tensor<32x32x4x4xf32>
  %ww = graph.cast %w {to = f32} : (tensor<72x32x2x3xbf16>) -> tensor<72x32x2x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<32x72x5x4xbf16>) -> tensor<32x72x5x4xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<32x32x4x4xf32>, tensor<72x32x2x3xf32>) -> tensor<32x72x5x4xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 32, 32, 4, 4>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<32x72x5x4xf32>, tensor<72x32x2x3xf32>) -> tensor<32x32x4x4xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 2, 3>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<32x32x4x4xf32>, tensor<32x72x5x4xf32>) -> tensor<72x32x2x3xf32>
  graph.return %y, %dx, %dw : tensor<32x72x5x4xf32>, tensor<32x32x4x4xf32>, tensor<72x32x2x3xf32>
}
// A filter of one tap: no borders.
graph.step @channels_of_tiles_single(%x: tensor<64x64x3x5xbf16>, %w: tensor<96x64x1x1xbf16>, %dy: tensor<64x96x3x5xbf16>)
    -> (tensor<64x96x3x5xf32>, tensor<64x64x3x5xf32>, tensor<96x64x1x1xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<64x64x3x5xbf16>) -> tensor<64x64x3x5xf32>
  %ww = graph.cast %w {to = f32} : (tensor<96x64x1x1xbf16>) -> tensor<96x64x1x1xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<64x96x3x5xbf16>) -> tensor<64x96x3x5xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} : (tensor<64x64x3x5xf32>, tensor<96x64x1x1xf32>) -> tensor<64x96x3x5xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 64, 64, 3, 5>, padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} : (tensor<64x96x3x5xf32>, tensor<96x64x1x1xf32>) -> tensor<64x64x3x5xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 1, 1>, padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} : (tensor<64x64x3x5xf32>, tensor<64x96x3x5xf32>) -> tensor<96x64x1x1xf32>
  graph.return %y, %dx, %dw : tensor<64x96x3x5xf32>, tensor<64x64x3x5xf32>, tensor<96x64x1x1xf32>
}
// Sums of gradients in several blocks of k, the last one smaller.
graph.step @channels_of_tiles_in_blocks(%x: tensor<32x16x5x96xbf16>, %w: tensor<24x16x3x3xbf16>, %dy: tensor<32x24x5x96xbf16>)
    -> (tensor<32x24x5x96xf32>, tensor<32x16x5x96xf32>, tensor<24x16x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<32x16x5x96xbf16>) -> tensor<32x16x5x96xf32>
  %ww = graph.cast %w {to = f32} : (tensor<24x16x3x3xbf16>) -> tensor<24x16x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<32x24x5x96xbf16>) -> tensor<32x24x5x96xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<32x16x5x96xf32>, tensor<24x16x3x3xf32>) -> tensor<32x24x5x96xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 32, 16, 5, 96>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<32x24x5x96xf32>, tensor<24x16x3x3xf32>) -> tensor<32x16x5x96xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<32x16x5x96xf32>, tensor<32x24x5x96xf32>) -> tensor<24x16x3x3xf32>
  graph.return %y, %dx, %dw : tensor<32x24x5x96xf32>, tensor<32x16x5x96xf32>, tensor<24x16x3x3xf32>
}
// Images that are no whole tile, though every other place of a row is.
graph.step @tiles_of_odd_images(%x: tensor<24x32x16x16xbf16>, %w: tensor<32x32x3x3xbf16>, %dy: tensor<24x32x12x12xbf16>)
    -> (tensor<24x32x12x12xf32>, tensor<24x32x16x16xf32>, tensor<32x32x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<24x32x16x16xbf16>) -> tensor<24x32x16x16xf32>
  %ww = graph.cast %w {to = f32} : (tensor<32x32x3x3xbf16>) -> tensor<32x32x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<24x32x12x12xbf16>) -> tensor<24x32x12x12xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 2, 2>} : (tensor<24x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<24x32x12x12xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 24, 32, 16, 16>, padding = array<i64: 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 2, 2>} : (tensor<24x32x12x12xf32>, tensor<32x32x3x3xf32>) -> tensor<24x32x16x16xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 2, 2>} : (tensor<24x32x16x16xf32>, tensor<24x32x12x12xf32>) -> tensor<32x32x3x3xf32>
  graph.return %y, %dx, %dw : tensor<24x32x12x12xf32>, tensor<24x32x16x16xf32>, tensor<32x32x3x3xf32>
}
// What a slice leaves of images begins behind the others': the window into the last channel ends with it.
graph.step @tiles_of_slice(%w: tensor<32x32x3x3xbf16>, %dy: tensor<64x32x8x8xbf16>)
    -> (tensor<32x32x8x8xf32>, tensor<64x32x8x8xf32>) {
  %ww = graph.cast %w {to = f32} : (tensor<32x32x3x3xbf16>) -> tensor<32x32x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<64x32x8x8xbf16>) -> tensor<64x32x8x8xf32>
  %s = graph.slice %wd {offsets = array<i64: 32, 0, 0, 0>, sizes = array<i64: 32, 32, 8, 8>, strides = array<i64: 1, 1, 1, 1>} : (tensor<64x32x8x8xf32>) -> tensor<32x32x8x8xf32>
  %dx = graph.conv2d_input_grad %s, %ww {input_shape = array<i64: 32, 32, 8, 8>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<32x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<32x32x8x8xf32>
  graph.return %dx, %wd : tensor<32x32x8x8xf32>, tensor<64x32x8x8xf32>
}
// Each group has rows of its own: no pairs of channels.
graph.step @images_in_groups(%x: tensor<32x16x5x5xbf16>, %w: tensor<18x8x3x3xbf16>, %dy: tensor<32x18x5x5xbf16>)
    -> (tensor<32x18x5x5xf32>, tensor<32x16x5x5xf32>, tensor<18x8x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<32x16x5x5xbf16>) -> tensor<32x16x5x5xf32>
  %ww = graph.cast %w {to = f32} : (tensor<18x8x3x3xbf16>) -> tensor<18x8x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<32x18x5x5xbf16>) -> tensor<32x18x5x5xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 1, 1>, stride = array<i64: 1, 1>, groups = 2 : i64} : (tensor<32x16x5x5xf32>, tensor<18x8x3x3xf32>) -> tensor<32x18x5x5xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 32, 16, 5, 5>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>, groups = 2 : i64} : (tensor<32x18x5x5xf32>, tensor<18x8x3x3xf32>) -> tensor<32x16x5x5xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>, groups = 2 : i64} : (tensor<32x16x5x5xf32>, tensor<32x18x5x5xf32>) -> tensor<18x8x3x3xf32>
  graph.return %y, %dx, %dw : tensor<32x18x5x5xf32>, tensor<32x16x5x5xf32>, tensor<18x8x3x3xf32>
}
// An odd number of channels, on both sides.
graph.step @images_odd(%x: tensor<33x9x5x5xbf16>, %w: tensor<11x9x3x3xbf16>, %dy: tensor<33x11x5x5xbf16>)
    -> (tensor<33x11x5x5xf32>, tensor<33x9x5x5xf32>, tensor<11x9x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<33x9x5x5xbf16>) -> tensor<33x9x5x5xf32>
  %ww = graph.cast %w {to = f32} : (tensor<11x9x3x3xbf16>) -> tensor<11x9x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<33x11x5x5xbf16>) -> tensor<33x11x5x5xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<33x9x5x5xf32>, tensor<11x9x3x3xf32>) -> tensor<33x11x5x5xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 33, 9, 5, 5>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<33x11x5x5xf32>, tensor<11x9x3x3xf32>) -> tensor<33x9x5x5xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<33x9x5x5xf32>, tensor<33x11x5x5xf32>) -> tensor<11x9x3x3xf32>
  graph.return %y, %dx, %dw : tensor<33x11x5x5xf32>, tensor<33x9x5x5xf32>, tensor<11x9x3x3xf32>
}
// Lanes along pixels.
graph.step @few_images(%x: tensor<3x8x11x9xbf16>, %w: tensor<16x8x3x3xbf16>, %dy: tensor<3x16x11x9xbf16>)
    -> (tensor<3x16x11x9xf32>, tensor<3x8x11x9xf32>, tensor<16x8x3x3xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<3x8x11x9xbf16>) -> tensor<3x8x11x9xf32>
  %ww = graph.cast %w {to = f32} : (tensor<16x8x3x3xbf16>) -> tensor<16x8x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<3x16x11x9xbf16>) -> tensor<3x16x11x9xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<3x8x11x9xf32>, tensor<16x8x3x3xf32>) -> tensor<3x16x11x9xf32>
  %dx = graph.conv2d_input_grad %wd, %ww {input_shape = array<i64: 3, 8, 11, 9>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<3x16x11x9xf32>, tensor<16x8x3x3xf32>) -> tensor<3x8x11x9xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<3x8x11x9xf32>, tensor<3x16x11x9xf32>) -> tensor<16x8x3x3xf32>
  graph.return %y, %dx, %dw : tensor<3x16x11x9xf32>, tensor<3x8x11x9xf32>, tensor<16x8x3x3xf32>
}
// A gradient of many rows and lanes, which are packed: pairs are of rows of images, in two blocks.
graph.step @images_packed(%x: tensor<16x64x4x4xbf16>, %dy: tensor<16x128x4x4xbf16>) -> tensor<128x64x3x3xf32> {
  %wx = graph.cast %x {to = f32} : (tensor<16x64x4x4xbf16>) -> tensor<16x64x4x4xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<16x128x4x4xbf16>) -> tensor<16x128x4x4xf32>
  %dw = graph.conv2d_weight_grad %wx, %wd {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<16x64x4x4xf32>, tensor<16x128x4x4xf32>) -> tensor<128x64x3x3xf32>
  graph.return %dw : tensor<128x64x3x3xf32>
}
// Channels in two blocks of unequal size, of images that are half of a vector.
graph.step @channels_in_blocks(%x: tensor<40x18x5x4xbf16>, %w: tensor<23x18x3x3xbf16>, %dy: tensor<40x22x5x4xbf16>, %v: tensor<22x19x3x3xbf16>)
    -> (tensor<40x23x5x4xf32>, tensor<40x19x5x4xf32>) {
  %wx = graph.cast %x {to = f32} : (tensor<40x18x5x4xbf16>) -> tensor<40x18x5x4xf32>
  %ww = graph.cast %w {to = f32} : (tensor<23x18x3x3xbf16>) -> tensor<23x18x3x3xf32>
  %wd = graph.cast %dy {to = f32} : (tensor<40x22x5x4xbf16>) -> tensor<40x22x5x4xf32>
  %wv = graph.cast %v {to = f32} : (tensor<22x19x3x3xbf16>) -> tensor<22x19x3x3xf32>
  %y = graph.conv2d %wx, %ww {padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<40x18x5x4xf32>, tensor<23x18x3x3xf32>) -> tensor<40x23x5x4xf32>
  %dx = graph.conv2d_input_grad %wd, %wv {input_shape = array<i64: 40, 19, 5, 4>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>} : (tensor<40x22x5x4xf32>, tensor<22x19x3x3xf32>) -> tensor<40x19x5x4xf32>
  graph.return %y, %dx : tensor<40x23x5x4xf32>, tensor<40x19x5x4xf32>
}
// Long rows of a chain, whose columns come some at a time: what is added up is exact, so that rounding does not depend on the order.
graph.step @streamed(%x: tensor<2x96x16xi64>, %y: tensor<2x1400x16xi64>) -> (tensor<2x96x16xbf16>, tensor<2x96x1xf32>) {
  %fx = graph.cast %x {to = bf16} : (tensor<2x96x16xi64>) -> tensor<2x96x16xbf16>
  %fy = graph.cast %y {to = bf16} : (tensor<2x1400x16xi64>) -> tensor<2x1400x16xbf16>
  %q = graph.cast %fx {to = f32} : (tensor<2x96x16xbf16>) -> tensor<2x96x16xf32>
  %k = graph.cast %fy {to = f32} : (tensor<2x1400x16xbf16>) -> tensor<2x1400x16xf32>
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<2x96x16xf32>, tensor<2x1400x16xf32>) -> tensor<2x96x1400xf32>
  %m = graph.amax %s {dims = array<i64: 2>, keepdim = true} : (tensor<2x96x1400xf32>) -> tensor<2x96x1xf32>
  %near = graph.eq %s, %m : (tensor<2x96x1400xf32>, tensor<2x96x1xf32>) -> tensor<2x96x1400xi1>
  %one = graph.full {value = 1.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %part = graph.full {value = 0.25 : f64, type = tensor<f32>} : () -> tensor<f32>
  %e = graph.select %near, %one, %part : (tensor<2x96x1400xi1>, tensor<f32>, tensor<f32>) -> tensor<2x96x1400xf32>
  %l = graph.sum %e {dims = array<i64: 2>, keepdim = true} : (tensor<2x96x1400xf32>) -> tensor<2x96x1xf32>
  %r = graph.cast %e {to = bf16} : (tensor<2x96x1400xf32>) -> tensor<2x96x1400xbf16>
  %w = graph.cast %r {to = f32} : (tensor<2x96x1400xbf16>) -> tensor<2x96x1400xf32>
  %y2 = graph.matmul %w, %k {spec = "bmk,bkn->bmn"} : (tensor<2x96x1400xf32>, tensor<2x1400x16xf32>) -> tensor<2x96x16xf32>
  %o = graph.cast %y2 {to = bf16} : (tensor<2x96x16xf32>) -> tensor<2x96x16xbf16>
  graph.return %o, %l : tensor<2x96x16xbf16>, tensor<2x96x1xf32>
}
