#include "tools/dlrun/Events.h"

#include "runtime/base/WriteAll.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace dlrun;
using namespace dlrt;

static int stdoutError = 0;
static bool quiet = false;
static int words = -1; ///< file that keeps what is said

/// A log that cannot be written ends nothing.
static void keep(std::string_view text) {
  if (words >= 0)
    writeAll(words, text);
}

void dlrun::writeStdout(std::string_view text) {
  keep(text);
  if (stdoutError == 0 && !quiet)
    stdoutError = writeAll(STDOUT_FILENO, text);
}

void dlrun::writeStderr(std::string_view text) {
  keep(text);
  if (!quiet)
    writeAll(STDERR_FILENO, text);
}

void dlrun::beQuiet() { quiet = true; }

Status dlrun::keepWords(const std::string &path) {
  words = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (words < 0)
    return {Code::Io,
            fmt::format("cannot write '{}': {}", path, std::strerror(errno))};
  return {};
}

void dlrun::complain(std::string_view text) {
  std::string line = fmt::format("dlrun: error: {}\n", text);
  keep(line);
  writeAll(STDERR_FILENO, line);
}

Status dlrun::stdoutStatus() {
  if (stdoutError == 0)
    return {};
  return {Code::Io, fmt::format("cannot write to the output: {}",
                                std::strerror(stdoutError))};
}

void dlrun::warn(std::string_view text) {
  writeStderr(fmt::format("dlrun: warning: {}\n", text));
}

Event::Event(std::string_view name) {
  json.beginObject();
  json.field("event", name);
}

Event &Event::metrics(const std::vector<ScalarMetric> &metrics) {
  for (const ScalarMetric &metric : metrics)
    addMetric(json, metric);
  return *this;
}

void Event::send() {
  json.endObject();
  writeStdout(json.text() + "\n");
}
