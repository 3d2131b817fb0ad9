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

/// An error if a condition names a metric that is not among these names of
/// training steps and evaluations ("loss", "test.loss").
Status checkNames(const std::vector<HaltCondition> &conditions,
                  const std::vector<std::string> &names);

/// A condition that has come true; no error: none has.
struct Halt {
  Status status;
  /// By a number beyond a limit, after which weights are good.
  bool isNumber = false;
};

/// `prefix` is the name of the evaluation, or of one of several training steps,
/// with a dot, or nothing; `bare` says that a name without it will do.
Halt checkHalt(const std::vector<HaltCondition> &conditions,
               const std::vector<ScalarMetric> &metrics, uint64_t step,
               const std::string &prefix = "", bool bare = false);

/// Whether one of the conditions is about nan or infinity.
bool namesNotFinite(const std::vector<HaltCondition> &conditions);

/// Whether one of them is about a limit.
bool haveLimits(const std::vector<HaltCondition> &conditions);

/// The first metric that is nan or infinite, or nullptr.
const ScalarMetric *firstNotFinite(const std::vector<ScalarMetric> &metrics);

} // namespace dlrt

#endif
