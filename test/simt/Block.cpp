#include "test/simt/Block.h"

#include <bit>
#include <cstring>
#include <dlfcn.h>
#include <utility>

namespace dlsimt {

/// Barriers and blocks so far, of all launches.
static uint32_t epoch = 0;

std::string text(Index3 i) {
  return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " +
         std::to_string(i.z) + ")";
}

uint64_t Block::draw() {
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return random >> 16;
}

void Block::wake(unsigned first, unsigned end, State from) {
  auto push = [&](unsigned i) {
    if (fibers[i].state == from) {
      fibers[i].state = State::Ready;
      ready.push_back(i);
    }
  };
  if (launch->order == Order::Descending)
    for (unsigned i = first; i < end; ++i)
      push(i);
  else
    for (unsigned i = end; i-- > first;)
      push(i);
}

Fiber *Block::next() {
  if (ready.empty())
    return nullptr;
  if (launch->order == Order::Random)
    std::swap(ready[draw() % ready.size()], ready.back());
  Fiber *fiber = &fibers[ready.back()];
  ready.pop_back();
  return fiber;
}

void Block::enter(Fiber &fiber) {
  current = &fiber;
  machine.thread = fiber.index;
  machine.lane = fiber.lane();
}

void Block::leave() {
  Fiber *from = current, *to = next();
  if (to == from)
    return;
  if (!to) // nobody can run: `run` says so
    switchTo(&from->sp, launcher);
  if (!to->stack) {
    to->stack = stacks.take();
    to->sp = startOf(to->stack, &threadMain);
  }
  enter(*to);
  switchTo(&from->sp, to->sp);
}

void Block::fail(const std::string &what) {
  error = "thread " + text(current->index) + ": " + what;
  void *nowhere;
  switchTo(&nowhere, launcher);
  __builtin_unreachable();
}

/// Runs threads until one must wait for others: then its stack stays with it.
void Block::threadMain() {
  Block &b = block();
  for (;;) {
    b.launch->kernel->invoke(b.launch->arguments);
    Fiber &ended = *b.current;
    if (!ended.copies.empty())
      b.fail("it ends with cp.async under way");
    if (b.atBarrier)
      b.fail("it ends while others wait at __syncthreads()");
    for (const Meeting &meeting : b.warps[ended.warp()].meetings)
      if (meeting.mask >> ended.lane() & 1)
        b.fail("it ends while lanes of its warp wait for it at a collective");
    ended.state = State::Done;
    --b.alive;
    b.warps[ended.warp()].alive &= ~(1u << ended.lane());
    Fiber *to = b.next();
    uint8_t *stack = std::exchange(ended.stack, nullptr);
    if (to && !to->stack) {
      to->stack = stack;
      b.enter(*to);
      continue;
    }
    b.stacks.giveBack(stack);
    if (to)
      b.enter(*to);
    switchTo(&ended.sp, to ? to->sp : b.launcher);
  }
}

void Block::syncThreads(bool counts, bool value) {
  if (alive != fibers.size())
    fail("it is at __syncthreads(), and another thread has ended");
  if (atBarrier && counting != counts)
    fail("it is at another kind of barrier than the threads before it");
  counting = counts;
  withTrue += value;
  current->state = State::AtBarrier;
  if (++atBarrier == alive) {
    counted = withTrue;
    atBarrier = withTrue = 0;
    ++epoch;
    wake(0, fibers.size(), State::AtBarrier);
  }
  leave();
}

static bool isShuffle(Collective kind) {
  return kind >= Collective::ShuffleIndex && kind <= Collective::ShuffleUp;
}

void Block::meet(Collective kind, unsigned mask, Deposit &deposit) {
  Warp &warp = warps[current->warp()];
  unsigned own = 1u << current->lane();
  if (!(mask & own))
    fail("the mask of its collective leaves it out");
  if (mask & ~warp.alive)
    fail("its collective waits for lane " +
         std::to_string(std::countr_zero(mask & ~warp.alive)) +
         ", which has ended or does not exist");
  if (isShuffle(kind) && !(mask >> deposit.source & 1))
    fail("its shuffle reads lane " + std::to_string(deposit.source) +
         ", which does not take part");
  if ((kind == Collective::LoadMatrix ||
       kind == Collective::LoadMatrixTransposed) &&
      uintptr_t(deposit.pointer) % 16)
    fail("ldmatrix: the address is not a multiple of 16");
  // Other sets of lanes may be at collectives of their own, as long as none of
  // two waits for the other.
  Meeting *meeting = nullptr;
  for (Meeting &m : warp.meetings)
    if (m.mask == mask && m.kind == kind)
      meeting = &m;
    else if (m.mask & own && m.arrived & mask)
      fail("lanes of its warp wait for it at another collective");
  if (!meeting)
    meeting = &warp.meetings.emplace_back(Meeting{kind, mask, 0});
  meeting->arrived |= own;
  current->deposit = &deposit;
  current->state = State::AtCollective;
  if (meeting->arrived == mask) {
    *meeting = warp.meetings.back();
    warp.meetings.pop_back();
    Fiber *lanes = &fibers[current->warp() * 32];
    if (launch->image->reportsAccesses &&
        (kind == Collective::LoadMatrix ||
         kind == Collective::LoadMatrixTransposed))
      for (unsigned lane = 0; lane < 32; ++lane)
        access(lanes[lane].deposit->pointer, 16, false, nullptr);
    deliver(kind, mask, lanes);
    warp.epoch += kind == Collective::SyncWarp;
    for (unsigned rest = mask; rest; rest &= rest - 1)
      lanes[std::countr_zero(rest)].state = State::Waiting;
    wake(current->warp() * 32,
         std::min<unsigned>(current->warp() * 32 + 32, fibers.size()),
         State::Waiting);
  }
  leave();
}

void Block::startCopy(void *to, const void *from, unsigned bytes) {
  if (uintptr_t(to) % bytes || uintptr_t(from) % bytes)
    fail("cp.async: an address is not a multiple of " + std::to_string(bytes));
  Span shared = this->shared.dynamicPart(),
       variables = this->shared.staticPart();
  if (!shared.holds(uintptr_t(to), bytes) &&
      !variables.holds(uintptr_t(to), bytes))
    fail("cp.async: the target is not in shared memory");
  if (launch->image->reportsAccesses) {
    access(to, bytes, true, __builtin_return_address(0));
    if (from)
      access(from, bytes, false, __builtin_return_address(0));
  }
  memset(to, 0xff, bytes);
  current->copies.push_back({to, from, bytes, current->group});
}

void Block::waitForCopies(unsigned pending) {
  std::vector<Copy> kept;
  for (const Copy &copy : current->copies) {
    // Those of the group that is still open wait for its commit.
    if (copy.group + pending >= current->group) {
      kept.push_back(copy);
      continue;
    }
    if (launch->image->reportsAccesses)
      access(copy.to, copy.bytes, true, __builtin_return_address(0));
    if (copy.from)
      memcpy(copy.to, copy.from, copy.bytes);
    else
      memset(copy.to, 0, copy.bytes);
  }
  current->copies = std::move(kept);
}

static std::string place(const void *code) {
  Dl_info info;
  if (!code || !dladdr(code, &info))
    return "";
  char text[64];
  snprintf(text, sizeof text, " (code at +%#zx)",
           size_t(static_cast<const char *>(code) -
                  static_cast<char *>(info.dli_fbase)));
  return text;
}

void Block::access(const void *pointer, size_t bytes, bool writes,
                   const void *code) {
  auto at = uintptr_t(pointer);
  Span dynamic = shared.dynamicPart(), variables = shared.staticPart();
  Access now = {epoch, warps[current->warp()].epoch, uint16_t(current->id)};
  Conflict conflict;
  const char *part = nullptr; ///< of shared memory
  uintptr_t first = 0;
  if (dynamic.holds(at, bytes)) {
    part = "dynamic part", first = dynamic.first;
    conflict = shadow.note(at - first, bytes, now, writes);
  } else if (variables.holds(at, bytes)) {
    part = "variables", first = variables.first;
    conflict = shadow.note(maxSharedBytes + (at - first), bytes, now, writes);
  } else if (stacks.hold(at) ||
             Span{uintptr_t(&machine), uintptr_t(&machine + 1)}.holds(at,
                                                                      bytes)) {
    return;
  } else if (launch->isDeviceMemory(at, bytes)) {
    conflict = deviceShadow.note(at, bytes, now, writes, machine.usedAtomics);
  } else {
    if (!writes && shared.imagePart().holds(at, bytes))
      return;
    fail(std::string(writes ? "writes " : "reads ") + std::to_string(bytes) +
         " bytes " + launch->describe(at) + place(code));
  }
  if (conflict.kind == Conflict::None)
    return;
  std::string where = part ? "of shared memory at +" +
                                 std::to_string(at - first) + " of the " + part
                           : "at " + launch->describe(at);
  static const char *const says[] = {"", "writes what another has written",
                                     "reads what another has written",
                                     "writes what another has read"};
  std::string other = conflict.otherBlock
                          ? "a thread of another block"
                          : "thread " + text(fibers[conflict.other].index);
  fail(std::string("race: it ") + says[conflict.kind] + ", " + other +
       ", with no barrier between them: " + std::to_string(bytes) + " bytes " +
       where + place(code));
}

std::string Block::deadlock() const {
  unsigned atCollective = 0;
  const Fiber *waiting = nullptr, *missing = nullptr;
  for (const Fiber &fiber : fibers) {
    atCollective += fiber.state == State::AtCollective;
    if (fiber.state == State::AtBarrier)
      waiting = &fiber;
    else if (fiber.state != State::Done)
      missing = &fiber;
  }
  std::string says = "deadlock: " + std::to_string(atBarrier) +
                     " threads wait at __syncthreads()";
  if (waiting)
    says += " (one is " + text(waiting->index) + ")";
  says +=
      ", " + std::to_string(atCollective) + " at a collective of their warp";
  if (missing)
    says += " (one is " + text(missing->index) + ")";
  return says + ", " + std::to_string(fibers.size() - alive) + " have ended";
}

void Block::run(Index3 index) {
  machine.block = index;
  machine.usedAtomics = false;
  deviceShadow.beginBlock();
  error.reset();
  ++epoch;
  alive = fibers.size();
  atBarrier = withTrue = 0;
  ready.clear();
  stacks.reset();
  shared.poison();
  for (size_t w = 0; w < warps.size(); ++w) {
    size_t lanes = fibers.size() - w * 32;
    warps[w].alive = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    warps[w].epoch = 0;
    warps[w].meetings.clear();
  }
  for (Fiber &fiber : fibers) {
    fiber.stack = nullptr;
    fiber.state = State::Waiting;
    fiber.group = 0;
    fiber.copies.clear();
  }
  wake(0, fibers.size(), State::Waiting);
  Fiber *first = next();
  first->stack = stacks.take();
  enter(*first);
  switchTo(&launcher, startOf(first->stack, &threadMain));
  if (!error && alive)
    error = deadlock();
  if (!error && !shared.intact())
    error = "it writes behind its " + std::to_string(launch->sharedBytes) +
            " bytes of dynamic shared memory";
}

} // namespace dlsimt
