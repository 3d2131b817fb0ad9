// reads FILE HEADER ROW_BYTES ROWS_A_STEP STEPS: rows in random order, one read
// each, and nothing else. Prints the mean milliseconds of a step.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  uint64_t header = strtoull(argv[2], 0, 10), bytes = strtoull(argv[3], 0, 10);
  uint64_t rows = strtoull(argv[4], 0, 10), steps = strtoull(argv[5], 0, 10);
  int fd = open(argv[1], O_RDONLY);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0)
    return 4;
  posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
  uint64_t items = ((uint64_t)info.st_size - header) / bytes;
  char *batch = malloc(rows * bytes);
  uint64_t state = 88172645463325252u;
  double begin = now();
  for (uint64_t s = 0; s < steps; ++s) {
    for (uint64_t r = 0; r < rows; ++r) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      if (pread(fd, batch + r * bytes, bytes,
                (off_t)(header + state % items * bytes)) != (ssize_t)bytes)
        return 4;
    }
  }
  printf("%.6f\n", (now() - begin) / (double)steps);
  return 0;
}
