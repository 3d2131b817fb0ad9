// What a device holds of the driver, given back when it goes.
#ifndef DLRT_DEVICE_CUDA_CONTEXT_H
#define DLRT_DEVICE_CUDA_CONTEXT_H

#include "runtime/device/cuda/Driver.h"

namespace dlrt::cuda {

/// The device's primary context, which libraries share.
class ContextScope {
public:
  ContextScope(const Driver &cuda, Ordinal device)
      : cuda(cuda), device(device) {}
  ContextScope(const ContextScope &) = delete;
  ~ContextScope() {
    if (held)
      cuda.releaseContext(device);
  }

  Status create() {
    DLRT_TRY(cuda.check(cuda.retainContext(&held, device), "making a context"));
    return enter();
  }
  /// To be called by whoever may be on another thread than the one before.
  Status enter() const {
    return cuda.check(cuda.setContext(held), "entering the context");
  }
  Context get() const { return held; }

private:
  const Driver &cuda;
  Ordinal device;
  Context held = nullptr;
};

class DeviceMemory {
public:
  explicit DeviceMemory(const Driver &cuda) : cuda(cuda) {}
  DeviceMemory(const DeviceMemory &) = delete;
  ~DeviceMemory() {
    if (address)
      cuda.memoryFree(address);
  }

  Result allocate(uint64_t bytes) {
    return cuda.memoryAllocate(&address, bytes);
  }
  Pointer at(uint64_t offset) const { return address + offset; }

private:
  const Driver &cuda;
  Pointer address = 0;
};

/// The host's, which the device reaches; pages of it stay where they are.
class HostMemory {
public:
  explicit HostMemory(const Driver &cuda) : cuda(cuda) {}
  HostMemory(const HostMemory &) = delete;
  ~HostMemory() {
    if (address)
      cuda.hostFree(address);
  }

  Result allocate(uint64_t bytes) {
    return cuda.hostAllocate(&address, bytes, 0);
  }
  uint8_t *at(uint64_t offset) const {
    return static_cast<uint8_t *>(address) + offset;
  }

private:
  const Driver &cuda;
  void *address = nullptr;
};

class StreamScope {
public:
  explicit StreamScope(const Driver &cuda) : cuda(cuda) {}
  StreamScope(const StreamScope &) = delete;
  ~StreamScope() {
    if (stream)
      cuda.streamDestroy(stream);
  }

  Result create() { return cuda.streamCreate(&stream, streamNonBlocking); }
  Stream get() const { return stream; }

private:
  const Driver &cuda;
  Stream stream = nullptr;
};

class EventScope {
public:
  EventScope() = default;
  EventScope(const EventScope &) = delete;
  ~EventScope() {
    if (event)
      cuda->eventDestroy(event);
  }

  Result create(const Driver &driver, unsigned flags) {
    cuda = &driver;
    return driver.eventCreate(&event, flags);
  }
  Event get() const { return event; }

private:
  const Driver *cuda = nullptr;
  Event event = nullptr;
};

} // namespace dlrt::cuda

#endif
