// Values of options that consist of parts.
#ifndef DLRUN_OPTIONVALUES_H
#define DLRUN_OPTIONVALUES_H

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlrun {

/// What is wrong with a command line.
dlrt::Status usage(std::string message);

/// A whole number in the range, or an error that says so.
dlrt::Status setUnsigned(const std::string &value, uint64_t &out,
                         uint64_t least, uint64_t most);

/// "a,,b" has three parts.
std::vector<std::string> splitAtCommas(const std::string &text);

/// "10min", "30s", "2h"; none of them: nothing.
std::optional<double> parseSeconds(const std::string &text);

/// "latency=20us,bandwidth=1GB/s", either alone too.
dlrt::Expected<dlrt::LinkSpeed> parseLink(const std::string &text);

} // namespace dlrun

#endif
