// Which kernel a thread is in, for a signal handler that has to say so.
#ifndef DLRT_EXEC_FAULT_H
#define DLRT_EXEC_FAULT_H

#include <atomic>
#include <string>

namespace dlrt {

/// "kernel 'k3' (conv2d in 'conv1' at mnist.dl:14:17)" of the kernel the
/// calling thread runs, or null outside of kernels. Async-signal-safe.
const char *runningKernel();

/// The slot in which an executor's thread notes its kernel.
class RunningKernel {
public:
  void set(const char *description) {
    text.store(description, std::memory_order_relaxed);
  }
  const char *get() const { return text.load(std::memory_order_relaxed); }

private:
  std::atomic<const char *> text = nullptr;
};
/// Registers the slot of the calling thread; null to take it back.
void noteThread(RunningKernel *slot);

/// Gives the calling thread a stack for signal handlers, so that an overflow
/// of its own can be reported. Taken back by the destructor.
class SignalStack {
public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack &) = delete;
  SignalStack &operator=(const SignalStack &) = delete;

private:
  void *memory = nullptr;
};

} // namespace dlrt

#endif
