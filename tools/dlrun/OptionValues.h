// Values of options that consist of parts.
#ifndef DLRUN_OPTIONVALUES_H
#define DLRUN_OPTIONVALUES_H

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"

#include <string>
#include <vector>

namespace dlrun {

/// "a,,b" has three parts.
std::vector<std::string> splitAtCommas(const std::string &text);

/// "latency=20us,bandwidth=1GB/s", either alone too.
dlrt::Expected<dlrt::LinkSpeed> parseLink(const std::string &text);

} // namespace dlrun

#endif
