#include "tools/dlrun/Allocations.h"

#include <atomic>
#include <cstddef>

static std::atomic<uint64_t> count = 0;

static void countOne() { count.fetch_add(1, std::memory_order_relaxed); }

uint64_t dlrun::allocationCount() {
  return count.load(std::memory_order_relaxed);
}

extern "C" {
void *__real_malloc(size_t size);
void *__real_calloc(size_t items, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);

void *__wrap_malloc(size_t size) {
  countOne();
  return __real_malloc(size);
}

void *__wrap_calloc(size_t items, size_t size) {
  countOne();
  return __real_calloc(items, size);
}

void *__wrap_realloc(void *memory, size_t size) {
  countOne();
  return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  countOne();
  return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size) {
  countOne();
  return __real_posix_memalign(memory, alignment, size);
}
}
