#include "test/simt/Fibers.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

namespace dlsimt {

static constexpr size_t stacksInAChunk = 64;
static constexpr size_t chunkBytes =
    stacksInAChunk * (Stacks::bytes + Stacks::guard);

Stacks::~Stacks() {
  for (uint8_t *chunk : chunks)
    munmap(chunk, chunkBytes);
}

uint8_t *Stacks::take() {
  if (idle.empty()) {
    void *memory = mmap(nullptr, chunkBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      perror("simt: stacks");
      abort();
    }
    auto *chunk = static_cast<uint8_t *>(memory);
    chunks.push_back(chunk);
    for (size_t i = stacksInAChunk; i-- > 0;) {
      uint8_t *low = chunk + i * (bytes + guard);
      mprotect(low, guard, PROT_NONE);
      // Tops in different sets of the cache.
      uint8_t *top = low + guard + bytes - 256 - (i % 16) * 128;
      all.push_back(top);
      idle.push_back(top);
    }
  }
  uint8_t *top = idle.back();
  idle.pop_back();
  return top;
}

bool Stacks::hold(uintptr_t at) const {
  for (uint8_t *chunk : chunks)
    if (at - uintptr_t(chunk) < chunkBytes)
      return true;
  return false;
}

bool Stacks::guardHolds(uintptr_t at) const {
  for (uint8_t *chunk : chunks)
    if (at - uintptr_t(chunk) < chunkBytes)
      return (at - uintptr_t(chunk)) % (bytes + guard) < guard;
  return false;
}

void *startOf(uint8_t *top, void (*main)()) {
  auto *sp = reinterpret_cast<uint64_t *>(top);
  *--sp = 0; // a return address for `main`, which never returns
  *--sp = reinterpret_cast<uint64_t>(main);
  return sp - 6;
}

#ifndef __x86_64__
#error "the switch between fibers is written for x86-64"
#endif

asm(R"(
.text
.globl dl_simt_switch
.hidden dl_simt_switch
.type dl_simt_switch, @function
dl_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size dl_simt_switch, .-dl_simt_switch
)");
extern "C" __attribute__((visibility("hidden"))) void
dl_simt_switch(void **from, void *to);

void switchTo(void **from, void *to) { dl_simt_switch(from, to); }

} // namespace dlsimt
