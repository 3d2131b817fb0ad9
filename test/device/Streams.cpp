// Functions on streams, events, copies and launches.
#include "test/device/Driver.h"

#include <chrono>
#include <cstring>

using namespace emulated;

static void *memoryAt(DevicePointer at) { return reinterpret_cast<void *>(at); }

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

DLEMU_FUNCTION cuStreamCreate(StreamT **stream, unsigned flags) {
  DLEMU_ENTER(cuStreamCreate);
  *stream = new StreamT;
  (*stream)->blocking = !(flags & 1);
  driver().streams.insert(*stream);
  return Success;
}

DLEMU_FUNCTION cuStreamCreateWithPriority(StreamT **stream, unsigned flags,
                                          int) {
  DLEMU_ENTER(cuStreamCreateWithPriority);
  return cuStreamCreate(stream, flags);
}

/// What it was given will still be done, whenever that is.
DLEMU_FUNCTION cuStreamDestroy_v2(StreamT *stream) {
  DLEMU_ENTER(cuStreamDestroy_v2);
  Result result = driver().force(stream->last);
  driver().streams.erase(stream);
  delete stream;
  return result;
}

DLEMU_FUNCTION cuStreamSynchronize(StreamT *stream) {
  DLEMU_ENTER(cuStreamSynchronize);
  StreamT &of = driver().stream(stream);
  if (of.capture)
    return CaptureUnsupported;
  for (const OperationRef &operation : driver().before(of))
    if (Result result = driver().force(operation);
        result && (operation == of.last || !stream))
      return result;
  return driver().sticky;
}

DLEMU_FUNCTION cuStreamQuery(StreamT *stream) {
  DLEMU_ENTER(cuStreamQuery);
  StreamT &of = driver().stream(stream);
  return !of.last || of.last->done ? Success : NotReady;
}

DLEMU_FUNCTION cuStreamWaitEvent(StreamT *stream, EventT *event, unsigned) {
  DLEMU_ENTER(cuStreamWaitEvent);
  StreamT &of = driver().stream(stream);
  if (event->capture) { // the stream joins the capture
    if (of.capture && of.capture != event->capture)
      return InvalidValue;
    of.capture = event->capture;
    of.front.insert(of.front.end(), event->front.begin(), event->front.end());
    return Success;
  }
  if (!event->operation || event->operation->done)
    return Success;
  std::vector<OperationRef> before = driver().before(of);
  before.push_back(event->operation);
  driver().append(of, makeOperation(nullptr, std::move(before)));
  return Success;
}

DLEMU_FUNCTION cuEventCreate(EventT **event, unsigned flags) {
  DLEMU_ENTER(cuEventCreate);
  *event = new EventT;
  (*event)->timed = !(flags & 2);
  return Success;
}

DLEMU_FUNCTION cuEventDestroy_v2(EventT *event) {
  DLEMU_ENTER(cuEventDestroy_v2);
  // An operation that has yet to run writes its time there.
  if (Result result = driver().force(event->operation))
    return result;
  delete event;
  return Success;
}

DLEMU_FUNCTION cuEventRecord(EventT *event, StreamT *stream) {
  DLEMU_ENTER(cuEventRecord);
  StreamT &of = driver().stream(stream);
  event->capture = of.capture;
  event->front = of.front;
  event->queries = 0;
  if (of.capture)
    return Success;
  Result result = driver().issue(stream, [event] {
    event->seconds = now();
    return Success;
  });
  event->operation = of.last;
  return result;
}

DLEMU_FUNCTION cuEventSynchronize(EventT *event) {
  DLEMU_ENTER(cuEventSynchronize);
  return driver().force(event->operation);
}

/// Who asks again and again does wait: it comes to pass in the end.
DLEMU_FUNCTION cuEventQuery(EventT *event) {
  DLEMU_ENTER(cuEventQuery);
  if (!event->operation || event->operation->done)
    return Success;
  return ++event->queries < 4 ? NotReady : driver().attempt(event->operation);
}

DLEMU_FUNCTION cuEventElapsedTime_v2(float *milliseconds, EventT *start,
                                     EventT *end) {
  DLEMU_ENTER(cuEventElapsedTime_v2);
  if (!start->timed || !end->timed || !start->operation || !end->operation)
    return InvalidHandle;
  if (!start->operation->done || !end->operation->done)
    return NotReady;
  *milliseconds = float((end->seconds - start->seconds) * 1e3);
  return Success;
}

DLEMU_FUNCTION cuEventElapsedTime(float *milliseconds, EventT *start,
                                  EventT *end) {
  DLEMU_ENTER(cuEventElapsedTime);
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

DLEMU_FUNCTION cuMemcpyHtoDAsync_v2(DevicePointer to, const void *from,
                                    size_t bytes, StreamT *stream) {
  DLEMU_ENTER(cuMemcpyHtoDAsync_v2);
  if (!driver().memory.holds(to, bytes))
    return InvalidValue;
  if (driver().memory.hostHolds(from, bytes))
    return driver().issue(stream, driver().copy(memoryAt(to), from, bytes));
  // Of pageable memory the driver has a copy when the call returns.
  auto kept =
      std::make_shared<std::string>(static_cast<const char *>(from), bytes);
  return driver().issue(stream, [=] {
    memcpy(memoryAt(to), kept->data(), bytes);
    return Success;
  });
}

DLEMU_FUNCTION cuMemcpyDtoHAsync_v2(void *to, DevicePointer from, size_t bytes,
                                    StreamT *stream) {
  DLEMU_ENTER(cuMemcpyDtoHAsync_v2);
  if (!driver().memory.holds(from, bytes))
    return InvalidValue;
  Result result =
      driver().issue(stream, driver().copy(to, memoryAt(from), bytes));
  // To pageable memory it has copied when the call returns.
  StreamT &of = driver().stream(stream);
  return result || of.capture || driver().memory.hostHolds(to, bytes)
             ? result
             : driver().force(of.last);
}

DLEMU_FUNCTION cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from,
                                    size_t bytes, StreamT *stream) {
  DLEMU_ENTER(cuMemcpyDtoDAsync_v2);
  if (!driver().memory.holds(to, bytes) || !driver().memory.holds(from, bytes))
    return InvalidValue;
  return driver().issue(stream,
                        driver().copy(memoryAt(to), memoryAt(from), bytes));
}

DLEMU_FUNCTION cuMemcpyHtoD_v2(DevicePointer to, const void *from,
                               size_t bytes) {
  DLEMU_ENTER(cuMemcpyHtoD_v2);
  Result result = cuMemcpyHtoDAsync_v2(to, from, bytes, nullptr);
  return result ? result : cuStreamSynchronize(nullptr);
}

DLEMU_FUNCTION cuMemcpyDtoH_v2(void *to, DevicePointer from, size_t bytes) {
  DLEMU_ENTER(cuMemcpyDtoH_v2);
  Result result = cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr);
  return result ? result : cuStreamSynchronize(nullptr);
}

DLEMU_FUNCTION cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from,
                               size_t bytes) {
  DLEMU_ENTER(cuMemcpyDtoD_v2);
  return cuMemcpyDtoDAsync_v2(to, from, bytes, nullptr);
}

DLEMU_FUNCTION cuMemsetD8Async(DevicePointer to, unsigned char value,
                               size_t count, StreamT *stream) {
  DLEMU_ENTER(cuMemsetD8Async);
  if (!driver().memory.holds(to, count))
    return InvalidValue;
  return driver().issue(stream, driver().fill(to, value, 1, count));
}

DLEMU_FUNCTION cuMemsetD32Async(DevicePointer to, unsigned value, size_t count,
                                StreamT *stream) {
  DLEMU_ENTER(cuMemsetD32Async);
  if (!driver().memory.holds(to, count * 4) || to % 4)
    return InvalidValue;
  return driver().issue(stream, driver().fill(to, value, 4, count));
}

DLEMU_FUNCTION cuMemsetD8_v2(DevicePointer to, unsigned char value,
                             size_t count) {
  DLEMU_ENTER(cuMemsetD8_v2);
  return cuMemsetD8Async(to, value, count, nullptr);
}

DLEMU_FUNCTION cuMemsetD32_v2(DevicePointer to, unsigned value, size_t count) {
  DLEMU_ENTER(cuMemsetD32_v2);
  return cuMemsetD32Async(to, value, count, nullptr);
}

DLEMU_FUNCTION cuLaunchKernel(FunctionT *function, unsigned gridX,
                              unsigned gridY, unsigned gridZ, unsigned blockX,
                              unsigned blockY, unsigned blockZ,
                              unsigned sharedBytes, StreamT *stream,
                              void **arguments, void **extra) {
  DLEMU_ENTER(cuLaunchKernel);
  dlsimt::Index3 grid = {gridX, gridY, gridZ}, block = {blockX, blockY, blockZ};
  if (extra)
    return NotSupported;
  if (Result result =
          driver().checkLaunch(function, grid, block, sharedBytes, arguments))
    return result;
  return driver().issue(
      stream, driver().launch(function, grid, block, sharedBytes, arguments));
}

DLEMU_FUNCTION cuLaunchHostFunc(StreamT *stream, void (*function)(void *),
                                void *data) {
  DLEMU_ENTER(cuLaunchHostFunc);
  return driver().issue(stream, [=] {
    function(data);
    return Success;
  });
}
