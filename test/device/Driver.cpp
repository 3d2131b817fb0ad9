#include "test/device/Driver.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace emulated {

Driver &driver() {
  static Driver &one = *new Driver; // other objects' destructors may still call
  return one;
}

ContextT *&Driver::current() {
  static thread_local ContextT *one = nullptr;
  return one;
}

static std::string variable(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

/// As the real driver takes it: up to the first that is not there.
void Driver::findDevices(int count) {
  devices.clear();
  const char *shown = getenv("CUDA_VISIBLE_DEVICES");
  for (int d = 0; !shown && d < count; ++d)
    devices.push_back(d);
  while (shown && *shown) {
    char *end = nullptr;
    long d = strtol(shown, &end, 10);
    if (end == shown || d < 0 || d >= count)
      return;
    devices.push_back(int(d));
    shown = *end == ',' ? end + 1 : end;
  }
}

void Driver::initialise() {
  ready = true;
  lazy = variable("DLEMU_MODE") != "eager";
  std::string order = variable("DLEMU_ORDER");
  this->order = order == "ascending"    ? dlsimt::Order::Ascending
                : order == "descending" ? dlsimt::Order::Descending
                : order == "random"     ? dlsimt::Order::Random
                : lazy                  ? dlsimt::Order::Random
                                        : dlsimt::Order::Ascending;
  std::string seed = variable("DLEMU_SEED"), bytes = variable("DLEMU_MEMORY");
  random = (strtoull(seed.c_str(), nullptr, 0) + 1) * 0x9E3779B97F4A7C15ull;
  if (!bytes.empty())
    memory.setTotal(strtoull(bytes.c_str(), nullptr, 0));
  std::string count = variable("DLEMU_DEVICES");
  findDevices(count.empty() ? 8 : atoi(count.c_str()));
  std::string seconds = variable("DLEMU_SECONDS");
  kernelSeconds = seconds.empty() ? 120 : strtod(seconds.c_str(), nullptr);
  failures = variable("DLEMU_FAIL");
  calls.clear();
  if (callsPath.empty() && !variable("DLEMU_CALLS").empty()) {
    callsPath = variable("DLEMU_CALLS");
    atexit([] {
      if (FILE *file = fopen(driver().callsPath.c_str(), "w")) {
        for (auto &[name, count] : driver().calls)
          fprintf(file, "%s %ld\n", name.c_str(), count);
        fclose(file);
      }
    });
  }
}

uint64_t Driver::draw() {
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return random >> 16;
}

Result Driver::injected(const char *what) {
  long count = ++calls[what];
  std::string wanted = std::string(what) + ":" + std::to_string(count) + "=";
  for (size_t at = 0; at < failures.size();) {
    size_t end = std::min(failures.find(',', at), failures.size());
    if (failures.compare(at, wanted.size(), wanted) == 0)
      return Result(atoi(failures.c_str() + at + wanted.size()));
    at = end + 1;
  }
  return Success;
}

Result Driver::enter(const char *name) {
  Result result = injected(name);
  // These leave nothing of the context.
  if (result >= IllegalAddress && result <= LaunchFailed && !sticky)
    sticky = result;
  if (result)
    return result;
  return ready ? sticky : NotInitialized;
}

std::vector<OperationRef> Driver::before(StreamT &stream) const {
  std::vector<OperationRef> before = {stream.last};
  if (&stream == &zero)
    for (StreamT *other : streams)
      if (other->blocking)
        before.push_back(other->last);
  if (&stream != &zero && stream.blocking)
    before.push_back(zero.last);
  return before;
}

OperationRef Driver::append(StreamT &stream, OperationRef operation) {
  return stream.last = std::move(operation);
}

Result Driver::issue(StreamT *given, std::function<Result()> run) {
  StreamT &to = stream(given);
  if (to.capture) {
    auto node = std::make_unique<NodeT>();
    node->run = std::move(run);
    node->after = to.front;
    to.front = {node.get()};
    to.capture->nodes.push_back(std::move(node));
    return Success;
  }
  append(to, makeOperation(std::move(run), before(to)));
  return lazy ? Success : issued(to.last);
}

/// Where nothing is late: it runs now, but for what waits for another device.
Result Driver::issued(const OperationRef &operation) {
  Result result = attempt(operation);
  return result == NotReady ? Success : result;
}

Result Driver::force(const OperationRef &operation) {
  constexpr auto pause = std::chrono::microseconds(200);
  Result result = Success;
  for (double waited = 0; (result = attempt(operation)) == NotReady;
       waited += 200e-6) {
    if (waited > kernelSeconds) {
      fprintf(stderr, "emulated device: what another device was to send has "
                      "not come\n");
      sticky = LaunchTimeout;
    }
    std::this_thread::sleep_for(pause);
  }
  return result;
}

void Driver::progress() {
  attempt(zero.last);
  for (StreamT *stream : streams)
    attempt(stream->last);
}

Result Driver::attempt(const OperationRef &operation) {
  if (!operation || operation->done)
    return sticky;
  memory.open();
  std::function<uint64_t()> random = [this] { return draw(); };
  Result result = finish(operation, lazy ? random : nullptr);
  std::string what;
  if ((result == Success || result == NotReady) && !memory.intact(what)) {
    fprintf(stderr, "emulated device: an operation has written %s\n",
            what.c_str());
    result = IllegalAddress;
  }
  memory.close();
  if (result == NotReady)
    return sticky ? sticky : NotReady;
  if (result && !sticky)
    sticky = result;
  return sticky;
}

Result Driver::forceAll() {
  force(zero.last);
  for (StreamT *stream : streams)
    force(stream->last);
  return sticky;
}

void Driver::reset() {
  forceAll();
  memory.releaseAll();
  sticky = Success;
  context.retained = 0;
  zero = {};
}

std::function<Result()> Driver::copy(void *to, const void *from, size_t bytes) {
  return [=] {
    memcpy(to, from, bytes);
    return Success;
  };
}

std::function<Result()> Driver::fill(DevicePointer to, unsigned value,
                                     unsigned elementBytes, size_t count) {
  return [=] {
    auto *at = reinterpret_cast<char *>(to);
    for (size_t i = 0; i < count; ++i)
      memcpy(at + i * elementBytes, &value, elementBytes);
    return Success;
  };
}

Result Driver::checkLaunch(const FunctionT *function, dlsimt::Index3 grid,
                           dlsimt::Index3 block, unsigned sharedBytes,
                           void **arguments) const {
  if (!function)
    return InvalidHandle;
  if (function->kernel->arguments && !arguments)
    return InvalidValue;
  bool blockFits = block.x && block.y && block.z && block.x <= 1024 &&
                   block.y <= 1024 && block.z <= 64 &&
                   uint64_t(block.x) * block.y * block.z <= dlsimt::maxThreads;
  bool gridFits = grid.x && grid.y && grid.z && grid.x <= 0x7fffffffu &&
                  grid.y <= 65535 && grid.z <= 65535;
  if (!blockFits || !gridFits || sharedBytes > function->maxDynamicShared)
    return InvalidValue;
  return block.x * block.y * block.z > function->kernel->maxThreads
             ? LaunchOutOfResources
             : Success;
}

std::function<Result()> Driver::launch(FunctionT *function, dlsimt::Index3 grid,
                                       dlsimt::Index3 block,
                                       unsigned sharedBytes, void **arguments) {
  // Values are those of now, not of when the kernel runs.
  const dlsimt::Kernel &kernel = *function->kernel;
  auto values =
      std::make_shared<std::vector<std::vector<uint64_t>>>(kernel.arguments);
  for (unsigned i = 0; i < kernel.arguments; ++i) {
    (*values)[i].resize((kernel.sizes[i] + 7) / 8);
    memcpy((*values)[i].data(), arguments[i], kernel.sizes[i]);
  }
  return [=, this] {
    if (Result result = injected("kernel"))
      return result;
    std::vector<void *> table;
    for (auto &value : *values)
      table.push_back(value.data());
    dlsimt::Launch launch;
    launch.image = &function->module->image->image();
    launch.kernel = function->kernel;
    launch.grid = grid;
    launch.block = block;
    launch.sharedBytes = sharedBytes;
    launch.arguments = table.data();
    launch.order = order;
    launch.seed = draw();
    // A thread's next access is mostly where its last one was.
    std::pair<DevicePointer, size_t> last = {0, 0};
    launch.isDeviceMemory = [this, last](uintptr_t at, size_t bytes) mutable {
      if (bytes <= last.second && at - last.first <= last.second - bytes)
        return true;
      last = memory.allocationAt(at);
      return memory.holds(at, bytes) ||
             memory.hostHolds(reinterpret_cast<void *>(at), bytes);
    };
    launch.describe = [this](uintptr_t at) { return memory.describe(at); };
    launch.seconds = kernelSeconds;
    std::optional<dlsimt::Failure> failure = dlsimt::run(launch);
    std::string what;
    if (!failure && !memory.intact(what))
      failure = {std::string("kernel ") + kernel.name + " writes " + what};
    if (!failure)
      return Success;
    fprintf(stderr, "emulated device: %s\n", failure->text.c_str());
    return failure->tookTooLong ? LaunchTimeout : IllegalAddress;
  };
}

} // namespace emulated
