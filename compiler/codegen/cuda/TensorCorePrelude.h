// Behind the prelude: numbers of tensor cores, and what multiplies them.
#pragma once

namespace dl::cuda {

inline constexpr const char *kTensorCorePrelude = R"cuda(
// bf16 is the upper half of a float.
__device__ __forceinline__ float widened(unsigned short x) { return __uint_as_float((unsigned)x << 16); }

// Two of them are a word.
__device__ __forceinline__ unsigned short lower(unsigned x) { return (unsigned short)x; }
__device__ __forceinline__ unsigned short upper(unsigned x) { return (unsigned short)(x >> 16); }
__device__ __forceinline__ unsigned joined(unsigned short low, unsigned short high) {
  return (unsigned)low | (unsigned)high << 16;
}

// The nearest one, ties to even; any NaN is 0x7fff.
__device__ __forceinline__ unsigned short roundedToBf16(float x) {
#ifdef DL_SIMT_HOST
  const unsigned bits = __float_as_uint(x);
  return x != x ? 0x7fff : (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#else
  unsigned short result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(x));
  return result;
#endif
}

// The nearest number of 10 bits of mantissa, as tensor cores see it, which take no notice of the others: a NaN of
// nothing but others is an infinity to them (those that are computed have all bits).
__device__ __forceinline__ float roundToTf32(float x) {
#ifdef DL_SIMT_HOST
  return __uint_as_float(dl_simt_round_tf32(x));
#else
  const unsigned bits = __float_as_uint(x);
  return __uint_as_float(fabsf(x) < __uint_as_float(0x7f800000u) ? bits + 0x1000u : bits);
#endif
}

// A warp's 16 x 8 products of 16 x 8 and 8 x 8 numbers are added to sums.
__device__ __forceinline__ void multiplyTf32(const float (&x)[4], const float (&y)[2], float &s00, float &s01,
                                             float &s10, float &s11) {
#ifdef DL_SIMT_HOST
  float sums[4] = {s00, s01, s10, s11};
  const unsigned parts[4] = {__float_as_uint(x[0]), __float_as_uint(x[1]), __float_as_uint(x[2]),
                             __float_as_uint(x[3])};
  dl_simt_mma_tf32(sums, parts, __float_as_uint(y[0]), __float_as_uint(y[1]));
  s00 = sums[0], s01 = sums[1], s10 = sums[2], s11 = sums[3];
#else
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(s00), "+f"(s01), "+f"(s10), "+f"(s11)
      : "r"(__float_as_uint(x[0])), "r"(__float_as_uint(x[1])), "r"(__float_as_uint(x[2])),
        "r"(__float_as_uint(x[3])), "r"(__float_as_uint(y[0])), "r"(__float_as_uint(y[1])));
#endif
}

// Four matrices of 8 x 8 elements of two bytes from shared memory. Each lane says where 16 bytes begin that are a row
// of one of them; it gets two neighbours of row lane / 4 of each, or of that column.
__device__ __forceinline__ void loadMatrices(unsigned (&to)[4], const unsigned short *row) {
#ifdef DL_SIMT_HOST
  dl_simt_ldmatrix_x4(to, row);
#else
  asm volatile("{ .reg .u64 at; .reg .u32 from; cvta.to.shared.u64 at, %4; cvt.u32.u64 from, at; "
               "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [from]; }"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "l"(row)
               : "memory");
#endif
}
__device__ __forceinline__ void loadTransposedMatrices(unsigned (&to)[4], const unsigned short *row) {
#ifdef DL_SIMT_HOST
  dl_simt_ldmatrix_x4_trans(to, row);
#else
  asm volatile("{ .reg .u64 at; .reg .u32 from; cvta.to.shared.u64 at, %4; cvt.u32.u64 from, at; "
               "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [from]; }"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "l"(row)
               : "memory");
#endif
}

// 16 bytes come to shared memory, or zeros where they are not inside, by the end of waitForCopies().
__device__ __forceinline__ void copyLater(unsigned short *to, const unsigned short *from, bool inside) {
#ifdef DL_SIMT_HOST
  dl_simt_cp_async16_or_zero(to, from, inside);
#else
  asm volatile("{ .reg .u64 shared, global; .reg .u32 at; cvta.to.shared.u64 shared, %0; cvt.u32.u64 at, shared; "
               "cvta.to.global.u64 global, %1; cp.async.cg.shared.global [at], [global], 16, %2; }"
               :
               : "l"(to), "l"(from), "r"(inside ? 16u : 0u)
               : "memory");
#endif
}
__device__ __forceinline__ void waitForCopies() {
#ifdef DL_SIMT_HOST
  dl_simt_cp_async_commit();
  dl_simt_cp_async_wait<0>();
#else
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

// A warp's 16 x 8 products of 16 x 16 and 16 x 8 numbers of bf16 are added to sums.
__device__ __forceinline__ void multiplyBf16(const unsigned (&x)[4], unsigned y0, unsigned y1, float &s00, float &s01,
                                             float &s10, float &s11) {
#ifdef DL_SIMT_HOST
  float sums[4] = {s00, s01, s10, s11};
  dl_simt_mma_bf16(sums, x, y0, y1);
  s00 = sums[0], s01 = sums[1], s10 = sums[2], s11 = sums[3];
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(s00), "+f"(s01), "+f"(s10), "+f"(s11)
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1));
#endif
}
)cuda";

} // namespace dl::cuda
