// Output: JSON events or text on stdout, talk on stderr.
#ifndef DLRUN_EVENTS_H
#define DLRUN_EVENTS_H

#include "runtime/base/JsonWriter.h"
#include "runtime/base/Status.h"
#include "runtime/train/ScalarMetrics.h"

#include <string>
#include <string_view>
#include <vector>

namespace dlrun {

/// Writes all of it now; stdout is unbuffered, so that lines appear when they
/// happen. The first failure is kept for `stdoutStatus`.
void writeStdout(std::string_view text);
void writeStderr(std::string_view text);
dlrt::Status stdoutStatus();

/// "dlrun: warning: TEXT" on stderr.
void warn(std::string_view text);

/// From here on only `complain` is heard: another process of the run talks.
void beQuiet();
/// From here on everything that is said stands in this file, too, heard or not.
dlrt::Status keepWords(const std::string &path);
/// "dlrun: error: TEXT" on stderr, whether quiet or not.
void complain(std::string_view text);

/// One event: construct it, add fields, send.
class Event {
public:
  explicit Event(std::string_view name);

  template <typename T> Event &field(std::string_view name, const T &value) {
    json.field(name, value);
    return *this;
  }
  Event &metrics(const std::vector<dlrt::ScalarMetric> &metrics);
  template <typename Range>
  Event &array(std::string_view name, const Range &items) {
    json.array(name, items);
    return *this;
  }
  void send();

private:
  dlrt::JsonWriter json;
};

} // namespace dlrun

#endif
