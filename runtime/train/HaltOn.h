// --halt-on: what a metric must not become.
#ifndef DLRT_TRAIN_HALTON_H
#define DLRT_TRAIN_HALTON_H

#include "runtime/base/Status.h"
#include "runtime/train/ScalarMetrics.h"

#include <string>
#include <vector>

namespace dlrt {

struct HaltCondition {
  enum Kind { Nan, Infinite, Above, AtLeast, Below, AtMost };

  Kind kind = Nan;
  std::string metric; ///< empty: every one
  double limit = 0;
  std::string text; ///< as it was given
};

/// "nan", "inf", "NAME>X", "NAME>=X", "NAME<X" or "NAME<=X".
Expected<HaltCondition> parseHaltCondition(const std::string &text);

/// An error if a condition names a metric that is neither among these of the
/// training step nor among those of evaluations ("test.loss").
Status checkNames(const std::vector<HaltCondition> &conditions,
                  const std::vector<ScalarMetric> &metrics,
                  const std::vector<std::string> &evaluations);

/// An error if one of the conditions has come true. `prefix` is the name of the
/// evaluation with a dot, or nothing.
Status checkHalt(const std::vector<HaltCondition> &conditions,
                 const std::vector<ScalarMetric> &metrics, uint64_t step,
                 const std::string &prefix = "");

/// Whether one of the conditions is about nan or infinity.
bool namesNotFinite(const std::vector<HaltCondition> &conditions);

/// The first metric that is nan or infinite, or nullptr.
const ScalarMetric *firstNotFinite(const std::vector<ScalarMetric> &metrics);

} // namespace dlrt

#endif
