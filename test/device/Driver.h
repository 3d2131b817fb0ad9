// What the functions of the emulated driver share.
#ifndef DL_TEST_DEVICE_DRIVER_H
#define DL_TEST_DEVICE_DRIVER_H

#include "test/device/Api.h"
#include "test/device/KernelImage.h"
#include "test/device/Memory.h"
#include "test/device/Operation.h"
#include "test/simt/Scheduler.h"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace emulated {

struct ContextT {
  unsigned retained = 0;
  int device = 0; ///< the one that it was retained for
};

struct FunctionT {
  const dlsimt::Kernel *kernel;
  ModuleT *module;
  unsigned maxDynamicShared = 48 << 10;
};

struct ModuleT {
  std::unique_ptr<KernelImage> image;
  std::map<std::string, FunctionT> functions;
};

struct StreamT {
  bool blocking = true; ///< in order with the stream 0
  OperationRef last;
  GraphT *capture = nullptr;
  bool captureBegan = false; ///< on this stream
  std::vector<NodeT *> front;
};

struct EventT {
  OperationRef operation;
  double seconds = 0; ///< when it came to pass
  bool timed = true;
  unsigned queries = 0;
  GraphT *capture = nullptr;
  std::vector<NodeT *> front;
};

struct NodeT {
  std::function<Result()> run;
  std::vector<NodeT *> after;
  EventT *records = nullptr, *waits = nullptr;
};

struct GraphT {
  std::vector<std::unique_ptr<NodeT>> nodes;
};

struct ExecT {
  struct Step {
    std::function<Result()> run;
    std::vector<size_t> after;
    EventT *records, *waits;
  };
  std::vector<Step> steps;
  OperationRef last; ///< a graph runs once at a time
};

/// Environment, read by cuInit:
///   DLEMU_MODE    eager: an operation runs when it is issued; lazy (default):
///                 nothing runs before somebody waits, and then only what he
///                 waits for, in a random order that is allowed
///   DLEMU_SEED    of all that is random
///   DLEMU_ORDER   ascending, descending, random: of threads and blocks; what
///                 is not said is ascending for eager, random for lazy
///   DLEMU_FAIL    "cuMemAlloc_v2:1=2,kernel:7=719": the first call gives error
///                 2, the seventh kernel that runs error 719
///   DLEMU_CALLS   a file for the number of calls of each function
///   DLEMU_MEMORY  bytes of the device
///   DLEMU_DEVICES how many there are, 8 if it is not said; those that
///                 CUDA_VISIBLE_DEVICES names are shown, and a process uses one
///   DLEMU_SECONDS of the processor that a kernel may take, then error 702
struct Driver {
  std::recursive_mutex mutex;
  bool ready = false, lazy = true;
  dlsimt::Order order = dlsimt::Order::Random;
  Result sticky = Success;
  std::string failures, callsPath;
  std::map<std::string, long> calls;
  Memory memory;
  ContextT context;
  StreamT zero;
  std::set<StreamT *> streams;
  uint64_t random = 1;
  double kernelSeconds = 120;
  std::vector<int> devices; ///< that are shown: their numbers in the machine

  void initialise();
  void findDevices(int count);
  uint64_t draw();
  /// An error that DLEMU_FAIL asks for.
  Result injected(const char *what);
  /// Of every function but a few: its error before it does anything.
  Result enter(const char *name);
  /// Of the thread that asks.
  ContextT *&current();
  StreamT &stream(StreamT *given) { return given ? *given : zero; }

  /// Puts an operation behind what the stream has.
  Result issue(StreamT *stream, std::function<Result()> run);
  OperationRef append(StreamT &stream, OperationRef operation);
  /// What comes before the next operation of a stream.
  std::vector<OperationRef> before(StreamT &stream) const;
  /// Runs it, and waits for other devices where it does.
  Result issued(const OperationRef &operation);
  Result force(const OperationRef &operation);
  /// Runs what can be run of it now. NotReady: it waits for another device.
  Result attempt(const OperationRef &operation);
  Result forceAll();
  /// Runs what can be run of all that was issued.
  void progress();
  /// The context and everything in it is gone.
  void reset();

  std::function<Result()> copy(void *to, const void *from, size_t bytes);
  std::function<Result()> fill(DevicePointer to, unsigned value,
                               unsigned elementBytes, size_t count);
  Result checkLaunch(const FunctionT *function, dlsimt::Index3 grid,
                     dlsimt::Index3 block, unsigned sharedBytes,
                     void **arguments) const;
  std::function<Result()> launch(FunctionT *function, dlsimt::Index3 grid,
                                 dlsimt::Index3 block, unsigned sharedBytes,
                                 void **arguments);
};

Driver &driver();

} // namespace emulated

/// A function of libcuda.so.1.
#define DLEMU_FUNCTION extern "C" __attribute__((visibility("default"))) Result
#define DLEMU_ENTER(name)                                                      \
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);                  \
  if (Result refused = driver().enter(#name))                                  \
  return refused

#endif
