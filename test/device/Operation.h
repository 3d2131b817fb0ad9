// Work that was given to the device, and when it is done.
#ifndef DL_TEST_DEVICE_OPERATION_H
#define DL_TEST_DEVICE_OPERATION_H

#include "test/device/Api.h"

#include <functional>
#include <memory>
#include <vector>

namespace emulated {

struct Operation;
using OperationRef = std::shared_ptr<Operation>;

struct Operation {
  std::function<Result()> run; ///< none: it only joins others
  std::vector<OperationRef> after;
  uint64_t number = 0; ///< in the order of issue
  bool done = false;
};

OperationRef makeOperation(std::function<Result()> run,
                           std::vector<OperationRef> after);

/// Runs an operation and what it comes after, in an order that is allowed:
/// that of their issue, or, with `draw`, at random. NotReady: one of them waits
/// for another device; what does not come after it has run, and the rest does
/// when it is asked for again.
Result finish(const OperationRef &operation,
              const std::function<uint64_t()> &draw);

} // namespace emulated

#endif
