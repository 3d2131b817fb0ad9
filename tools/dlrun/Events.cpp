#include "tools/dlrun/Events.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace dlrun;
using namespace dlrt;

static int stdoutError = 0;

/// The error number, or 0.
static int writeAll(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

void dlrun::writeStdout(std::string_view text) {
  if (stdoutError == 0)
    stdoutError = writeAll(STDOUT_FILENO, text);
}

void dlrun::writeStderr(std::string_view text) {
  writeAll(STDERR_FILENO, text);
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
  for (const ScalarMetric &metric : metrics) {
    if (metric.dtype == fb::DType::F32)
      json.field(metric.name, static_cast<float>(metric.value));
    else
      json.field(metric.name, metric.value);
  }
  return *this;
}

void Event::send() {
  json.endObject();
  writeStdout(json.text() + "\n");
}
