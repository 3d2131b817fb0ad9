// What the emulated driver says to emulated libraries beside it, and to nobody
// else: no driver has these functions.
#include "test/device/Driver.h"

using namespace emulated;

extern "C" __attribute__((visibility("default"))) int
dlemuEnter(const char *name) {
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);
  return driver().enter(name);
}

extern "C" __attribute__((visibility("default"))) bool
dlemuHolds(DevicePointer at, size_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);
  return driver().memory.holds(at, bytes);
}

extern "C" __attribute__((visibility("default"))) bool
dlemuCaptures(StreamT *stream) {
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);
  return driver().stream(stream).capture != nullptr;
}

/// Puts an operation into a stream, or into what is captured of it. It returns
/// 600 (NotReady) as long as it waits for another device
/// and is then run again. `release` is called when nothing has it any more:
/// what was captured stays as long as a graph of it does.
extern "C" __attribute__((visibility("default"))) int
dlemuIssue(StreamT *stream, int (*run)(void *), void (*release)(void *),
           void *data) {
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);
  std::shared_ptr<void> kept(data, release);
  return driver().issue(stream,
                        [run, kept] { return Result(run(kept.get())); });
}

/// The number in the machine of the device that the calling thread has entered;
/// -1: none.
extern "C" __attribute__((visibility("default"))) int dlemuDevice() {
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);
  ContextT *context = driver().current();
  return context && context->retained ? driver().devices[context->device] : -1;
}

/// Another device waits for this one: it does what it has been given, whoever
/// waits for that here. `patient`: also where the driver is at work just now.
extern "C" __attribute__((visibility("default"))) void
dlemuProgress(bool patient) {
  std::unique_lock<std::recursive_mutex> lock(driver().mutex, std::defer_lock);
  if (patient)
    lock.lock();
  if (patient || lock.try_lock())
    driver().progress();
}
