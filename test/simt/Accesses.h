// Reports every access of a kernel to the machine: the functions that
// -fsanitize=thread calls, whose own run time is not linked. Part of simt.h.
#ifndef DL_TEST_SIMT_ACCESSES_H
#define DL_TEST_SIMT_ACCESSES_H

#define DL_SIMT_OWN                                                            \
  extern "C" __attribute__((no_sanitize("thread"), noinline, used))
DL_SIMT_OWN void dl_simt_access(const void *at, unsigned long bytes,
                                bool writes, const void *code) {
  if (dlsimt::machine) // not yet connected
    dlsimt::machine->access(at, bytes, writes, code);
}
#define DL_SIMT_ONE(name, bytes, writes)                                       \
  DL_SIMT_OWN void __tsan_##name##bytes(void *at) {                            \
    dl_simt_access(at, bytes, writes, __builtin_return_address(0));            \
  }
#define DL_SIMT_ACCESS(bytes)                                                  \
  DL_SIMT_ONE(read, bytes, false)                                              \
  DL_SIMT_ONE(write, bytes, true)                                              \
  DL_SIMT_ONE(unaligned_read, bytes, false)                                    \
  DL_SIMT_ONE(unaligned_write, bytes, true)
DL_SIMT_ACCESS(1)
DL_SIMT_ACCESS(2)
DL_SIMT_ACCESS(4)
DL_SIMT_ACCESS(8)
DL_SIMT_ACCESS(16)

DL_SIMT_OWN void __tsan_init() {}
DL_SIMT_OWN void *__tsan_memcpy(void *to, const void *from,
                                unsigned long bytes) {
  dl_simt_access(from, bytes, false, __builtin_return_address(0));
  dl_simt_access(to, bytes, true, __builtin_return_address(0));
  return __builtin_memcpy(to, from, bytes);
}
DL_SIMT_OWN void *__tsan_memmove(void *to, const void *from,
                                 unsigned long bytes) {
  dl_simt_access(from, bytes, false, __builtin_return_address(0));
  dl_simt_access(to, bytes, true, __builtin_return_address(0));
  return __builtin_memmove(to, from, bytes);
}
DL_SIMT_OWN void *__tsan_memset(void *to, int value, unsigned long bytes) {
  dl_simt_access(to, bytes, true, __builtin_return_address(0));
  return __builtin_memset(to, value, bytes);
}

#endif
