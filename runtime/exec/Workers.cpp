#include "runtime/exec/Workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <sched.h>
#include <system_error>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace dlrt;

/// How long a helper looks for work before it sleeps: more than the gap
/// between two steps, little enough not to show in a run that stands still.
static constexpr auto spinTime = std::chrono::microseconds(200);
static constexpr int looksBetweenClocks = 64;
/// Idle looks of the thread that runs a program before it offers its core to
/// others.
static constexpr int looksBeforeYield = 1000;

static void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

#if defined(__x86_64__)
/// The lowest six bits tell what has happened, the others what is to happen.
static constexpr unsigned happened = 0x3f, masked = 0x1f80,
                          flushed = 0x8040; // results, operands
#endif

FloatingPointMode::FloatingPointMode(Denormals denormals) {
#if defined(__x86_64__)
  unsigned wanted = masked | (denormals == Denormals::Flush ? flushed : 0);
  before = _mm_getcsr();
  changed = (before & ~happened) != wanted;
  if (changed) // to set it takes as long as a small kernel
    _mm_setcsr(wanted);
#endif
}

FloatingPointMode::~FloatingPointMode() {
#if defined(__x86_64__)
  if (changed)
    _mm_setcsr(before);
#endif
}

Status dlrt::startHelpers(std::vector<std::thread> &threads, size_t workers,
                          const std::function<void(size_t)> &main) {
  try {
    for (size_t i = 1; i < workers; ++i)
      threads.emplace_back(main, i);
  } catch (const std::system_error &error) {
    return {Code::Unavailable,
            fmt::format("cannot start {} threads: {}", workers, error.what())};
  }
  return {};
}

Status Workers::start(const std::vector<void *> &scratch, Trace *record,
                      Denormals mode) {
  denormals = mode;
  trace = record;
  for (size_t i = 0; i < scratch.size(); ++i) {
    workers.push_back(std::make_unique<Worker>());
    workers[i]->scratch = scratch[i];
    workers[i]->events = record ? &record->threads[i] : nullptr;
  }
  return startHelpers(threads, workers.size(),
                      [this](size_t i) { helperMain(*workers[i]); });
}

Workers::~Workers() {
  stopping.store(true);
  wakeWord.fetch_add(1);
  wakeWord.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

std::vector<uint64_t> Workers::tilesRun() const {
  std::vector<uint64_t> counts;
  for (const auto &worker : workers)
    counts.push_back(worker->tiles);
  return counts;
}

void Workers::adopt(PreparedProgram &program) {
  for (uint32_t c = 0; c < program.commands.size(); ++c)
    if (Errand *errand = program.commands[c].errand)
      errand->ended = [this, &program, c] { offer(program, c); };
}

void Workers::run(PreparedProgram &program, uint32_t slot) {
  FloatingPointMode mode(denormals);
  Worker &self = *workers[0];
  if (ownCore)
    ownCore->begin();
  noteThread(&self.running);
  if (program.alone) {
    if (trace)
      runAloneTraced(program, slot);
    else
      runAlone(program, slot);
  } else {
    // 0 means "no run" in the ready list.
    uint32_t number =
        std::max(1u, runNumber.load(std::memory_order_relaxed) + 1);
    uint32_t count = static_cast<uint32_t>(program.commands.size());
    for (uint32_t c = 0; c < count; ++c) {
      CommandProgress &p = program.progress[c];
      p.done.store(0, std::memory_order_relaxed);
      p.waiting.store(program.commands[c].dependencies,
                      std::memory_order_relaxed);
      p.next.store(uint64_t(number) << 32, std::memory_order_relaxed);
    }
    unfinished.store(count, std::memory_order_relaxed);
    currentProgram.store(&program, std::memory_order_release);
    currentSlot.store(slot, std::memory_order_release);
    runNumber.store(number, std::memory_order_seq_cst);
    for (uint32_t root : program.roots)
      takeTurn(program, root);
    if (program.wakes && sleepers.load(std::memory_order_seq_cst) != 0)
      wakeSleepers();
    Clock::time_point restAt;
    for (int idle = 0; unfinished.load(std::memory_order_acquire) != 0;) {
      bool helped = help(self, program, slot, number);
      if (betweenCommands) {
        waiting.store(!helped, std::memory_order_relaxed);
        betweenCommands();
      }
      if (helped) {
        idle = 0;
        continue;
      }
      if (++idle < looksBeforeYield) {
        relax();
        continue;
      }
      sched_yield(); // with more threads than cores, let the last one work
      if (program.errands.empty())
        continue;
      if (idle == looksBeforeYield)
        restAt = Clock::now() + patience;
      else if (Clock::now() > restAt)
        restUntilWoken(self, program, slot, number);
    }
    waiting.store(false, std::memory_order_relaxed);
  }
  noteThread(nullptr);
  if (ownCore)
    ownCore->end();
}

void Workers::runAlone(PreparedProgram &program, uint32_t slot) {
  Worker &self = *workers[0];
  uint64_t tiles = 0;
  for (const PreparedCommand &command : program.commands) {
    self.running.set(command.description);
    command.entry(program.bindingsOf(command, slot), command.constants,
                  self.scratch, 0, command.tiles);
    tiles += command.tiles;
  }
  self.running.set(nullptr);
  self.tiles += tiles;
}

void Workers::runAloneTraced(PreparedProgram &program, uint32_t slot) {
  for (const PreparedCommand &command : program.commands)
    execute(*workers[0], program, command, slot, 0, command.tiles);
}

void Workers::helperMain(Worker &self) {
  SignalStack signalStack;
  noteThread(&self.running);
  FloatingPointMode mode(denormals);
  while (!stopping.load(std::memory_order_relaxed))
    if (!spinForWork(self))
      sleepUntilWoken(self);
  noteThread(nullptr);
}

bool Workers::look(Worker &self) {
  uint32_t number = runNumber.load(std::memory_order_seq_cst);
  // They may belong to a later run already, of which nothing can be taken with
  // this number; but what they point to must be visible.
  PreparedProgram *program = currentProgram.load(std::memory_order_acquire);
  uint32_t slot = currentSlot.load(std::memory_order_acquire);
  return program && help(self, *program, slot, number);
}

bool Workers::spinForWork(Worker &self) {
  if (look(self))
    return true;
  auto begin = Clock::now();
  do {
    for (int i = 0; i < looksBetweenClocks; ++i) {
      relax();
      if (look(self))
        return true;
    }
  } while (Clock::now() - begin < spinTime);
  return false;
}

void Workers::sleepUntilWoken(Worker &self) {
  uint32_t word = wakeWord.load(std::memory_order_seq_cst);
  // Whoever offers work from here on sees a sleeper and changes the word;
  // what was offered before is found by the last look.
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (!look(self) && !stopping.load(std::memory_order_seq_cst))
    wakeWord.wait(word, std::memory_order_seq_cst);
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

bool Workers::help(Worker &self, PreparedProgram &program, uint32_t slot,
                   uint32_t number) {
  for (size_t w = 0; w < program.readyWords; ++w) {
    uint64_t word = program.ready[w].load(std::memory_order_seq_cst);
    for (; word != 0; word &= word - 1) {
      auto index = static_cast<uint32_t>(w * 64 + std::countr_zero(word));
      const PreparedCommand &command = program.commands[index];
      CommandProgress &progress = program.progress[index];
      uint64_t next = progress.next.load(std::memory_order_relaxed);
      for (;;) {
        uint32_t begin = static_cast<uint32_t>(next);
        if (next >> 32 != number)
          return false; // the run is over
        if (begin >= command.tiles)
          break; // others have taken all of it
        uint32_t taken = std::min(command.grain, command.tiles - begin);
        if (!progress.next.compare_exchange_weak(next, next + taken,
                                                 std::memory_order_relaxed))
          continue;
        // Only who takes the last tiles takes it off the list: the run cannot
        // end before they are done, so this is not a later one's.
        if (begin + taken == command.tiles)
          program.ready[w].fetch_and(~(uint64_t(1) << index % 64),
                                     std::memory_order_relaxed);
        if (command.isLong && beforeRest && &self == workers[0].get())
          beforeRest();
        execute(self, program, command, slot, begin, begin + taken);
        if (progress.done.fetch_add(taken, std::memory_order_acq_rel) + taken ==
            command.tiles)
          for (uint32_t kept = finish(program, index); kept != noCommand;
               kept = finish(program, kept))
            execute(self, program, program.commands[kept], slot, 0,
                    program.commands[kept].tiles);
        return true;
      }
    }
  }
  return false;
}

void Workers::execute(Worker &self, const PreparedProgram &program,
                      const PreparedCommand &command, uint32_t slot,
                      uint32_t begin, uint32_t end) {
  uint64_t start = self.events ? traceClock() : 0;
  self.running.set(command.description);
  command.entry(program.bindingsOf(command, slot), command.constants,
                self.scratch, begin, end);
  self.running.set(nullptr);
  if (self.events)
    self.events->add({start, traceClock(), trace->launch, command.rank,
                      command.number, begin, end});
  self.tiles += end - begin;
}

uint32_t Workers::finish(PreparedProgram &program, uint32_t command) {
  const PreparedCommand &finished = program.commands[command];
  uint32_t kept = noCommand;
  for (uint32_t s = 0; s < finished.successorCount; ++s) {
    uint32_t successor = program.successors[finished.firstSuccessor + s];
    if (program.progress[successor].waiting.fetch_sub(
            1, std::memory_order_acq_rel) != 1)
      continue;
    if (kept == noCommand && program.commands[successor].serial &&
        program.errands.empty())
      kept = successor;
    else
      takeTurn(program, successor);
  }
  if (unfinished.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
      !program.errands.empty() && sleepers.load(std::memory_order_seq_cst) != 0)
    wakeSleepers(); // one of them may be who runs the program
  if (kept != noCommand && hasReadyBefore(program, kept)) {
    takeTurn(program, kept);
    return noCommand;
  }
  return kept;
}

bool Workers::hasReadyBefore(const PreparedProgram &program,
                             uint32_t command) const {
  for (size_t w = 0; w < command / 64; ++w)
    if (program.ready[w].load(std::memory_order_relaxed) != 0)
      return true;
  uint64_t before = (uint64_t(1) << command % 64) - 1;
  return (program.ready[command / 64].load(std::memory_order_relaxed) &
          before) != 0;
}

void Workers::offer(PreparedProgram &program, uint32_t command) {
  program.ready[command / 64].fetch_or(uint64_t(1) << command % 64,
                                       std::memory_order_seq_cst);
  if (!program.commands[command].serial &&
      sleepers.load(std::memory_order_seq_cst) != 0)
    wakeSleepers();
}

void Workers::wakeSleepers() {
  wakeWord.fetch_add(1, std::memory_order_seq_cst);
  wakeWord.notify_all();
}

void Workers::takeTurn(PreparedProgram &program, uint32_t command) {
  Errand *errand = program.commands[command].errand;
  if (!errand)
    return offer(program, command);
  begun.store(program.commands[command].description, std::memory_order_relaxed);
  errand->begin(currentSlot.load(std::memory_order_relaxed));
}

const char *Workers::doing(bool &waits) const {
  waits = false;
  if (workers.empty()) // others run the commands
    return nullptr;
  const char *kernel = workers[0]->running.get();
  waits = !kernel && waiting.load(std::memory_order_relaxed);
  return waits ? begun.load(std::memory_order_relaxed) : kernel;
}

void Workers::restUntilWoken(Worker &self, PreparedProgram &program,
                             uint32_t slot, uint32_t number) {
  uint32_t word = wakeWord.load(std::memory_order_seq_cst);
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (!help(self, program, slot, number) &&
      unfinished.load(std::memory_order_seq_cst) != 0) {
    if (beforeRest)
      beforeRest();
    wakeWord.wait(word, std::memory_order_seq_cst);
    if (ownCore)
      ownCore->slept();
  }
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
}
