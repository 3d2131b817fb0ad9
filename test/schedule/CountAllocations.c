// For LD_PRELOAD: counts calls of the malloc family by all threads.
//
// At its end the process writes the number to the file $DL_COUNT_FILE. With
// $DL_INJECT_AT=N the Nth look at the clock allocates once more: a control that
// shows that an allocation in a step would be seen.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static atomic_ulong count, looks;
static unsigned long inject_at;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t items, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  atomic_fetch_add(&count, 1);
  return __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
  atomic_fetch_add(&count, 1);
  return __libc_calloc(items, size);
}

void *realloc(void *memory, size_t size) {
  atomic_fetch_add(&count, 1);
  return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
  atomic_fetch_add(&count, 1);
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
  if (atomic_fetch_add(&looks, 1) + 1 == inject_at) {
    void *volatile memory = malloc(64);
    free(memory);
  }
  return real(clock, time);
}

__attribute__((constructor)) static void begin(void) {
  const char *at = getenv("DL_INJECT_AT");
  inject_at = at ? strtoul(at, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void) {
  unsigned long total = atomic_load(&count);
  const char *path = getenv("DL_COUNT_FILE");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file)
    return;
  fprintf(file, "%lu\n", total);
  fclose(file);
}
