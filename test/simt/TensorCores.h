// What a kernel reaches through inline PTX on a device. A prelude calls these
// where DL_SIMT_HOST is defined. Part of simt.h.
#ifndef DL_TEST_SIMT_TENSOR_CORES_H
#define DL_TEST_SIMT_TENSOR_CORES_H

/// cp.async.cg of 16 bytes: the target is NaN until its group is waited for.
inline void dl_simt_cp_async16(void *to, const void *from) {
  dlsimt::machine->startCopy(to, from, 16);
}
/// Zeros where `inside` is false.
inline void dl_simt_cp_async16_or_zero(void *to, const void *from,
                                       bool inside) {
  dlsimt::machine->startCopy(to, inside ? from : nullptr, 16);
}
/// cp.async.ca of 4 or 8 bytes.
template <unsigned bytes>
void dl_simt_cp_async(void *to, const void *from, bool inside = true) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16);
  dlsimt::machine->startCopy(to, inside ? from : nullptr, bytes);
}
inline void dl_simt_cp_async_commit() { dlsimt::machine->commitCopies(); }
/// Until at most so many of the thread's newest groups are under way.
template <int pending> void dl_simt_cp_async_wait() {
  dlsimt::machine->waitForCopies(pending);
}

/// cvt.rna.tf32.f32: to nearest, ties away from zero.
inline unsigned dl_simt_round_tf32(float x) {
  unsigned bits = __float_as_uint(x);
  return (bits & 0x7f800000) == 0x7f800000 ? bits : (bits + 0x1000) & ~0x1fffu;
}

namespace dlsimt {
inline void mma(Collective kind, float (&d)[4], const unsigned (&a)[4],
                unsigned b0, unsigned b1) {
  Deposit mine;
  for (int i = 0; i < 4; ++i) {
    mine.in[i] = a[i];
    mine.out[i] = bitsOf<unsigned>(d[i]);
  }
  mine.in[4] = b0;
  mine.in[5] = b1;
  machine->meet(kind, ~0u, mine);
  for (int i = 0; i < 4; ++i)
    d[i] = bitsOf<float>(mine.out[i]);
}

inline void loadMatrix(Collective kind, unsigned (&r)[4], const void *row) {
  Deposit mine;
  mine.pointer = row;
  machine->meet(kind, ~0u, mine);
  for (int i = 0; i < 4; ++i)
    r[i] = mine.out[i];
}
} // namespace dlsimt

/// mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
inline void dl_simt_mma_tf32(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                             unsigned b1) {
  dlsimt::mma(dlsimt::Collective::MmaTf32, d, a, b0, b1);
}
/// mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
inline void dl_simt_mma_bf16(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                             unsigned b1) {
  dlsimt::mma(dlsimt::Collective::MmaBf16, d, a, b0, b1);
}
/// ldmatrix.sync.aligned.m8n8.x4.shared.b16, with .trans or without
inline void dl_simt_ldmatrix_x4(unsigned (&r)[4], const void *row) {
  dlsimt::loadMatrix(dlsimt::Collective::LoadMatrix, r, row);
}
inline void dl_simt_ldmatrix_x4_trans(unsigned (&r)[4], const void *row) {
  dlsimt::loadMatrix(dlsimt::Collective::LoadMatrixTransposed, r, row);
}

#endif
