#include "test/simt/Scheduler.h"

#include "test/simt/Block.h"

#include <numeric>

namespace dlsimt {

static void connect(Machine &machine) {
  machine.syncThreads = [] { block().syncThreads(false, false); };
  machine.syncThreadsCount = [](bool value) {
    block().syncThreads(true, value);
    return block().counted;
  };
  machine.meet = [](Collective kind, unsigned mask, Deposit &deposit) {
    block().meet(kind, mask, deposit);
  };
  machine.startCopy = [](void *to, const void *from, unsigned bytes) {
    block().startCopy(to, from, bytes);
  };
  machine.commitCopies = [] { ++block().current->group; };
  machine.waitForCopies = [](unsigned pending) {
    block().waitForCopies(pending);
  };
  machine.access = [](const void *at, unsigned long bytes, bool writes,
                      const void *code) {
    block().access(at, bytes, writes, code);
  };
  machine.fail = [](const char *what) { block().fail(what); };
}

Block &block() {
  static Block &one = *[] {
    auto *made = new Block; // for ever: kernels may run when a process ends
    connect(made->machine);
    made->machine.dynamicShared = made->shared.dynamicMemory();
    return made;
  }();
  return one;
}

/// A number without common divisors with `total`: its multiples reach all.
static uint64_t strideFor(uint64_t total, uint64_t random) {
  uint64_t stride = random % total;
  while (std::gcd(stride, total) != 1)
    ++stride;
  return stride;
}

std::optional<Failure> run(const Launch &launch) {
  Block &b = block();
  uint64_t threads = uint64_t(launch.block.x) * launch.block.y * launch.block.z;
  if (threads == 0 || threads > maxThreads ||
      threads > launch.kernel->maxThreads)
    return Failure{std::string("kernel ") + launch.kernel->name + ": " +
                   std::to_string(threads) + " threads, it is made for " +
                   std::to_string(launch.kernel->maxThreads)};
  launch.image->connect(&b.machine);
  b.launch = &launch;
  b.machine.blockSize = launch.block;
  b.machine.gridSize = launch.grid;
  b.shared.prepare(*launch.image, launch.sharedBytes);
  if (launch.image->reportsAccesses) {
    Span variables = b.shared.staticPart();
    b.deviceShadow.beginLaunch();
    b.shadow.resize(maxSharedBytes + (variables.end - variables.first));
  }
  b.fibers.resize(threads);
  b.warps.resize((threads + 31) / 32);
  for (unsigned i = 0; i < threads; ++i) {
    Index3 size = launch.block;
    b.fibers[i].id = i;
    b.fibers[i].index = {i % size.x, i / size.x % size.y,
                         i / (size.x * size.y)};
  }
  b.random = (launch.seed * 0x9E3779B97F4A7C15ull) | 1;
  uint64_t total = uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z;
  uint64_t first = b.draw() % total, stride = strideFor(total, b.draw());
  FaultsOfKernels guard(launch.seconds);
  for (uint64_t n = 0; n < total; ++n) {
    uint64_t i = launch.order == Order::Ascending ? n
                 : launch.order == Order::Descending
                     ? total - 1 - n
                     : (first + n * stride) % total;
    Index3 grid = launch.grid;
    Index3 index = {unsigned(i % grid.x), unsigned(i / grid.x % grid.y),
                    unsigned(i / grid.x / grid.y)};
    b.run(index);
    if (b.error)
      return Failure{std::string("kernel ") + launch.kernel->name + ", block " +
                         text(index) + ", " + *b.error,
                     guard.tookTooLong()};
  }
  return std::nullopt;
}

} // namespace dlsimt
