#include "runtime/exec/Arena.h"

#include "runtime/base/Numbers.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace dlrt;

/// Arenas from half of this on lie in huge pages: a matrix with a row a page
/// would miss the first-level TLB at every row.
static constexpr uint64_t hugePageBytes = uint64_t(2) << 20;

uint64_t ArenaLayout::addGuarded(uint64_t bytes) {
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t needed, offset = end;
  constexpr uint64_t a = bufferAlignment;
  overflow |= __builtin_add_overflow(bytes, 2 * a - 1, &needed);
  needed = needed / a * a;
  uint64_t gap = (page - needed % page) % page;
  if (end == 0) { // offset 0 is the first part's
    shift = gap;
  } else {
    guardPages.push_back(end);
    offset += page + gap;
  }
  overflow |= __builtin_add_overflow(offset, needed, &end);
  return offset;
}

uint64_t ArenaLayout::add(uint64_t bytes) {
  if (guarded)
    return addGuarded(bytes);
  uint64_t offset = end;
  constexpr uint64_t a = bufferAlignment;
  // Rounding up and one alignment of slack behind.
  overflow |= __builtin_add_overflow(end, bytes, &end) ||
              __builtin_add_overflow(end, 2 * a - 1, &end);
  end = end / a * a;
  return offset;
}

Status Arena::checkFits(uint64_t bytes) {
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t physical = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page;
  // Overcommit would grant more and kill the process later.
  if (bytes > physical)
    return {Code::Unavailable,
            fmt::format("the plan needs {} of memory, this machine has {}",
                        humanBytes(bytes), humanBytes(physical))};
  return {};
}

Expected<Arena> Arena::allocate(uint64_t bytes) {
  DLRT_TRY(checkFits(bytes));
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  bool huge = bytes >= hugePageBytes / 2;
  uint64_t unit = huge ? hugePageBytes : page;
  uint64_t inner = (bytes + unit - 1) / unit * unit;
  Arena arena;
  void *at = mmap(nullptr, inner + 2 * unit, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return Status(Code::Unavailable, fmt::format("no memory for an arena of {}",
                                                 humanBytes(bytes)));
  arena.mapping = at;
  arena.mapped = inner + 2 * unit;
  // A unit's start with at least a page that faults on both sides.
  uint64_t start = reinterpret_cast<uint64_t>(at) + page;
  arena.base = static_cast<uint8_t *>(at) + page + (unit - start % unit) % unit;
  if (inner != 0 && mprotect(arena.base, inner, PROT_READ | PROT_WRITE) != 0)
    return Status(Code::Unavailable, fmt::format("no memory for an arena of {}",
                                                 humanBytes(bytes)));
  arena.inner = {arena.base, inner};
  if (huge)
    madvise(arena.base, inner, MADV_HUGEPAGE); // a hint: may well fail
  return arena;
}

Expected<Arena> Arena::allocate(const ArenaLayout &layout) {
  uint64_t bytes = 0;
  if (!layout.total(bytes) ||
      __builtin_add_overflow(bytes, layout.front(), &bytes))
    return Status(Code::Unavailable, "the plan needs more memory than there "
                                     "are addresses");
  Expected<Arena> arena = allocate(bytes);
  if (!arena)
    return arena;
  arena->base += layout.front();
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (uint64_t guard : layout.guards())
    if (mprotect(arena->base + guard, page, PROT_NONE) != 0)
      return Status(Code::Unavailable, "no memory for guard pages");
  return arena;
}

Arena::~Arena() {
  if (mapping)
    munmap(mapping, mapped);
}
