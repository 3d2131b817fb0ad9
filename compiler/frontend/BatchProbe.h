#pragma once
// What of an evaluation or a prediction grows with its batch? A number of C++,
// as `1.0 / x.size(0)`, does not say it. So the step is traced once more with a
// batch of twice the size, and what differs is noted on the ops of the first
// trace: separate-items needs it to run items one by one.
//
// The trace happens in a process of its own. A model that only takes batches of
// one size ends that process, and is right all the same.
#include "compiler/frontend/Channel.h"
#include "compiler/frontend/Trace.h"

namespace dl::frontend {

class BatchProbe {
public:
  /// Divides the process. True in the new one, which traces the step and ends
  /// in `finish` or with an error. In the other one `first` has been marked, or
  /// says why it could not be.
  static bool begin(Channel &channel, Trace &first, double seconds);
  /// Compares the traces, tells the process that waits, and ends this one.
  [[noreturn]] static void finish(Channel &channel, Trace &first,
                                  Trace &doubled);

  /// The factor between the batches of the two traces.
  static constexpr int64_t factor = 2;
};

} // namespace dl::frontend
