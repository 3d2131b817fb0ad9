// For LD_PRELOAD into `dlrun bench`: counts calls of the malloc family by all
// threads while it measures steps.
//
// After each step the main thread looks at the clock. The window opens at look
// $DL_WINDOW_BEGIN and closes at look $DL_WINDOW_END; the calls between them go
// to the file $DL_COUNT_FILE. For strace, both are marked by an access() to
// "/window-begin" and "/window-end". With $DL_INJECT_AT=N look N allocates a
// megabyte: a control that shows that it would be seen.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_ulong count;
static unsigned long looks, window_begin, window_end, inject_at, before, within;
static int closed;
static int (*real_clock)(clockid_t, struct timespec *);

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

static void look(void) {
  ++looks;
  if (looks == window_begin) {
    access("/window-begin", F_OK);
    before = atomic_load(&count);
  }
  if (looks == inject_at) {
    void *volatile memory = malloc(1 << 20);
    free(memory);
  }
  if (looks == window_end) {
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
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("DL_COUNT_FILE");
  FILE *file = path && closed ? fopen(path, "w") : NULL;
  if (!file)
    return;
  fprintf(file, "%lu\n", within);
  fclose(file);
}
