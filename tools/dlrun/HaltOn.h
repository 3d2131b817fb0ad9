// --halt-on: what a metric must not become.
#ifndef DLRUN_HALTON_H
#define DLRUN_HALTON_H

#include "runtime/base/Status.h"
#include "runtime/train/ScalarMetrics.h"

#include <string>
#include <vector>

namespace dlrun {

struct HaltCondition {
  enum Kind { Nan, Infinite, Above, AtLeast, Below, AtMost };

  Kind kind = Nan;
  std::string metric; ///< empty: every one
  double limit = 0;
  std::string text; ///< as it was given
};

/// "nan", "inf", "NAME>X", "NAME>=X", "NAME<X" or "NAME<=X".
dlrt::Expected<HaltCondition> parseHaltCondition(const std::string &text);

/// An error if a condition names a metric that is not among these.
dlrt::Status checkNames(const std::vector<HaltCondition> &conditions,
                        const std::vector<dlrt::ScalarMetric> &metrics);

/// An error if one of the conditions has come true.
dlrt::Status checkHalt(const std::vector<HaltCondition> &conditions,
                       const std::vector<dlrt::ScalarMetric> &metrics,
                       uint64_t step);

/// Whether one of the conditions is about nan or infinity.
bool namesNotFinite(const std::vector<HaltCondition> &conditions);

/// The first metric that is nan or infinite, or nullptr.
const dlrt::ScalarMetric *
firstNotFinite(const std::vector<dlrt::ScalarMetric> &metrics);

} // namespace dlrun

#endif
