// Runs the commands of a program one after the other, for traces and checks:
// what each takes, and which one it is that fails.
#ifndef DLRT_DEVICE_CUDA_ONEBYONE_H
#define DLRT_DEVICE_CUDA_ONEBYONE_H

#include "runtime/device/Device.h"
#include "runtime/device/cuda/Context.h"
#include "runtime/device/cuda/Graph.h"

#include <cstdint>
#include <random>
#include <vector>

namespace dlrt::cuda {

class OneByOne {
public:
  /// Notes what was done when in `record`, if that is not null.
  OneByOne(const Driver &cuda, Stream stream, const Communicator &communicator,
           const CheckOptions &checks, Trace *record);

  Status prepare();
  /// An arena of a rank at hand.
  void add(const fb::PlanT &plan, Pointer arena);

  /// Returns when all has run. Under checks the order is any one that the
  /// commands' dependencies allow, and what is neither a state nor reported is
  /// NaN before the first command.
  Status run(const BoundProgram &program, const Launch &launch);

private:
  void chooseOrder(const BoundProgram &program);
  Status poison();
  Status transfer(const Transfer &transfer, bool toDevice);
  Status runCommand(const BoundProgram &program, uint32_t index);

  struct Bytes {
    Pointer begin;
    uint64_t bytes;
  };

  const Driver &cuda;
  Stream stream;
  const Communicator &communicator;
  const CheckOptions checks;
  Trace *record;
  std::mt19937_64 random;
  std::vector<Bytes> dead; ///< between steps
  EventScope begin, end;
  std::vector<uint32_t> order, waitsFor, ready; ///< of the run at hand
};

} // namespace dlrt::cuda

#endif
