// For LD_PRELOAD into dlrun: counts calls of the malloc family by all threads.
//
// In a step the main thread looks at the clock. The window opens at look
// $DL_WINDOW_BEGIN and closes at look $DL_WINDOW_END; without the first it is
// open from the start, without the second to the end. The calls within it go to
// the file $DL_COUNT_FILE. For strace, looks that open and close are marked by
// an access() to "/window-begin" and "/window-end". Controls that show that an
// allocation would be seen: with $DL_INJECT_AT=N the main thread allocates a
// megabyte at look N; with $DL_INJECT_WORKER_AT=N another thread does, as soon
// as it looks for work after look N.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_ulong count, looks;
static atomic_int worker_is_due;
static unsigned long window_begin, window_end, inject_at, inject_worker_at;
static unsigned long before, within;
static int closed;
static int (*real_clock)(clockid_t, struct timespec *);

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t items, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void *__libc_valloc(size_t size);
extern void *__libc_pvalloc(size_t size);

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

void *reallocarray(void *memory, size_t items, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(items, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(memory, bytes);
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

void *valloc(size_t size) {
  atomic_fetch_add(&count, 1);
  return __libc_valloc(size);
}

void *pvalloc(size_t size) {
  atomic_fetch_add(&count, 1);
  return __libc_pvalloc(size);
}

static void inject(void) {
  void *volatile memory = malloc(1 << 20);
  free(memory);
}

static void look(void) {
  unsigned long at = atomic_fetch_add(&looks, 1) + 1;
  if (at == window_begin) {
    access("/window-begin", F_OK);
    before = atomic_load(&count);
  }
  if (at == inject_at)
    inject();
  if (at == inject_worker_at)
    atomic_store(&worker_is_due, 1);
  if (at == window_end) {
    within = atomic_load(&count) - before;
    closed = 1;
    access("/window-end", F_OK);
  }
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (!real_clock)
    *(void **)&real_clock = dlsym(RTLD_NEXT, "clock_gettime");
  if (gettid() == getpid())
    look();
  else if (atomic_exchange(&worker_is_due, 0))
    inject();
  return real_clock(clock, time);
}

static unsigned long number(const char *name) {
  const char *text = getenv(name);
  return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void) {
  window_begin = number("DL_WINDOW_BEGIN");
  window_end = number("DL_WINDOW_END");
  inject_at = number("DL_INJECT_AT");
  inject_worker_at = number("DL_INJECT_WORKER_AT");
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("DL_COUNT_FILE");
  if (!window_end) {
    within = atomic_load(&count) - before;
    closed = atomic_load(&looks) >= window_begin;
  }
  FILE *file = path && closed ? fopen(path, "w") : NULL;
  if (!file)
    return;
  fprintf(file, "%lu\n", within);
  fclose(file);
}
