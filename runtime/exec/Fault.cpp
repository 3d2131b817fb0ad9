#include "runtime/exec/Fault.h"

#include <csignal>
#include <sys/mman.h>

using namespace dlrt;

static thread_local RunningKernel *currentSlot = nullptr;

const char *dlrt::runningKernel() {
  return currentSlot ? currentSlot->get() : nullptr;
}

void dlrt::noteThread(RunningKernel *slot) { currentSlot = slot; }

/// The frame with all vector registers takes about 11 KiB on recent machines.
static constexpr size_t signalStackBytes = 64 << 10;

SignalStack::SignalStack() {
  void *at = mmap(nullptr, signalStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return;
  memory = at;
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = signalStackBytes;
  sigaltstack(&stack, nullptr);
}

SignalStack::~SignalStack() {
  if (!memory)
    return;
  stack_t off = {};
  off.ss_flags = SS_DISABLE;
  sigaltstack(&off, nullptr);
  munmap(memory, signalStackBytes);
}
