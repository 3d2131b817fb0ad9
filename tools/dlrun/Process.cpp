#include "tools/dlrun/Process.h"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

using namespace dlrun;

static double startSeconds = 0;

static double clockSeconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

void dlrun::noteProcessStart() {
  // Before main there is exec and the dynamic loader. The kernel's own start
  // time has a resolution of 10 ms; the processor time used so far is exact.
  startSeconds =
      clockSeconds(CLOCK_MONOTONIC) - clockSeconds(CLOCK_PROCESS_CPUTIME_ID);
}

double dlrun::secondsSinceStart() {
  return clockSeconds(CLOCK_MONOTONIC) - startSeconds;
}

uint64_t dlrun::peakResidentBytes() {
  // getrusage() would count what the parent used before exec.
  char text[8192];
  int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0;
  ssize_t length = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (length <= 0)
    return 0;
  text[length] = 0;
  const char *line = std::strstr(text, "VmHWM:");
  return line ? std::strtoull(line + 6, nullptr, 10) * 1024 : 0;
}
