// Atomic functions of CUDA C++. Part of simt.h.
#ifndef DL_TEST_SIMT_ATOMICS_H
#define DL_TEST_SIMT_ATOMICS_H

// None on floats: the order of their additions would be the scheduler's.
inline unsigned atomicAdd(unsigned *at, unsigned x) {
  dlsimt::machine->usedAtomics = true;
  return __atomic_fetch_add(at, x, __ATOMIC_RELAXED);
}
inline int atomicAdd(int *at, int x) {
  dlsimt::machine->usedAtomics = true;
  return __atomic_fetch_add(at, x, __ATOMIC_RELAXED);
}
inline unsigned long long atomicAdd(unsigned long long *at,
                                    unsigned long long x) {
  dlsimt::machine->usedAtomics = true;
  return __atomic_fetch_add(at, x, __ATOMIC_RELAXED);
}
inline unsigned atomicOr(unsigned *at, unsigned x) {
  dlsimt::machine->usedAtomics = true;
  return __atomic_fetch_or(at, x, __ATOMIC_RELAXED);
}
inline unsigned atomicExch(unsigned *at, unsigned x) {
  dlsimt::machine->usedAtomics = true;
  return __atomic_exchange_n(at, x, __ATOMIC_RELAXED);
}
inline unsigned atomicMax(unsigned *at, unsigned x) {
  dlsimt::machine->usedAtomics = true;
  unsigned old = __atomic_load_n(at, __ATOMIC_RELAXED);
  __atomic_store_n(at, old < x ? x : old, __ATOMIC_RELAXED);
  return old;
}
inline unsigned atomicMin(unsigned *at, unsigned x) {
  dlsimt::machine->usedAtomics = true;
  unsigned old = __atomic_load_n(at, __ATOMIC_RELAXED);
  __atomic_store_n(at, old < x ? old : x, __ATOMIC_RELAXED);
  return old;
}
inline unsigned atomicCAS(unsigned *at, unsigned expected, unsigned x) {
  dlsimt::machine->usedAtomics = true;
  unsigned old = __atomic_load_n(at, __ATOMIC_RELAXED);
  __atomic_store_n(at, old == expected ? x : old, __ATOMIC_RELAXED);
  return old;
}
inline unsigned atomicInc(unsigned *at, unsigned last) {
  dlsimt::machine->usedAtomics = true;
  unsigned old = __atomic_load_n(at, __ATOMIC_RELAXED);
  __atomic_store_n(at, old >= last ? 0 : old + 1, __ATOMIC_RELAXED);
  return old;
}

#endif
