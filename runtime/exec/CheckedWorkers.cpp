#include "runtime/exec/CheckedWorkers.h"

#include "runtime/exec/Workers.h"

#include <algorithm>
#include <cstring>

using namespace dlrt;

/// All bits set: NaN as f32 and f64, -1 as an index.
static void poison(const MemoryRange &range) {
  if (range.bytes != 0)
    std::memset(range.begin, 0xff, range.bytes);
}

CheckedWorkers::CheckedWorkers(const CheckOptions &options)
    : options(options), randomState(options.orderSeed.value_or(0)) {}

CheckedWorkers::~CheckedWorkers() {
  {
    Lock lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

Status CheckedWorkers::start(const std::vector<MemoryRange> &scratch,
                             Trace *record, Denormals mode) {
  trace = record;
  denormals = mode;
  for (size_t i = 0; i < scratch.size(); ++i) {
    workers.push_back(std::make_unique<Worker>());
    workers[i]->scratch = scratch[i];
    workers[i]->events = record ? &record->threads[i] : nullptr;
  }
  return startHelpers(threads, workers.size(),
                      [this](size_t i) { helperMain(*workers[i]); });
}

void CheckedWorkers::describe(
    PreparedProgram &program, std::vector<MemoryRange> dead,
    const std::vector<std::vector<Temporary>> &temporaries,
    std::vector<std::vector<MemoryRange>> received) {
  Lock lock(mutex); // the helpers look for something ready
  for (uint32_t c = 0; c < program.commands.size(); ++c)
    if (Errand *errand = program.commands[c].errand)
      errand->ended = [this, c] {
        Lock lock(mutex);
        ready.push_back(c);
        changed.notify_all();
      };
  errands.reserve(std::max(errands.capacity(), program.errands.size()));
  Lives &out = livesOf[&program];
  out.deadAtStart = std::move(dead);
  out.received = std::move(received);
  std::unordered_map<uint32_t, uint32_t> known; // by number
  for (const auto &used : temporaries) {
    std::vector<uint32_t> indices;
    for (const Temporary &temporary : used) {
      auto [at, isNew] = known.try_emplace(
          temporary.number, static_cast<uint32_t>(out.uses.size()));
      if (isNew) {
        out.temporaries.push_back(temporary.range);
        out.uses.push_back(0);
      }
      if (std::find(indices.begin(), indices.end(), at->second) !=
          indices.end())
        continue;
      indices.push_back(at->second);
      ++out.uses[at->second];
    }
    out.ofCommand.push_back(std::move(indices));
  }
  out.left = out.uses;
  states.resize(std::max(states.size(), program.commands.size()));
  ready.reserve(states.size());
}

std::vector<uint64_t> CheckedWorkers::tilesRun() const {
  std::vector<uint64_t> counts;
  for (const auto &worker : workers)
    counts.push_back(worker->tiles);
  return counts;
}

/// SplitMix64.
uint64_t CheckedWorkers::random(uint64_t below) {
  uint64_t z = randomState += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % below;
}

void CheckedWorkers::begin(PreparedProgram &next, uint32_t inputSlot) {
  program = &next;
  slot = inputSlot;
  lives = &livesOf.at(&next);
  lives->left = lives->uses;
  if (options.poison)
    for (const MemoryRange &range : lives->deadAtStart)
      poison(range);
  unfinished = static_cast<uint32_t>(next.commands.size());
  ready.clear();
  for (uint32_t c = 0; c < unfinished; ++c) {
    states[c] = {next.commands[c].dependencies, 0, 0};
    if (states[c].waiting == 0)
      takeTurn(c);
  }
}

void CheckedWorkers::run(PreparedProgram &next, uint32_t slot) {
  FloatingPointMode mode(denormals);
  Worker &self = *workers[0];
  noteThread(&self.running);
  if (beforeRun)
    beforeRun();
  Lock lock(mutex);
  begin(next, slot);
  changed.notify_all();
  while (unfinished != 0)
    work(self, lock);
  program = nullptr;
  noteThread(nullptr);
}

void CheckedWorkers::helperMain(Worker &self) {
  SignalStack signalStack;
  noteThread(&self.running);
  FloatingPointMode mode(denormals);
  Lock lock(mutex);
  while (!stopping)
    work(self, lock);
  noteThread(nullptr);
}

/// Runs a portion, or waits until something has changed.
void CheckedWorkers::work(Worker &self, Lock &lock) {
  if (!errands.empty())
    beginErrand(lock);
  else if (ready.empty())
    changed.wait(lock);
  else
    runPortion(self, lock);
}

void CheckedWorkers::takeTurn(uint32_t command) {
  Errand *errand = program->commands[command].errand;
  if (!errand) {
    ready.push_back(command);
    return;
  }
  poisonReceived(command); // messages come from here on
  errands.push_back(errand);
}

/// Who reads before all of it has come must see so.
void CheckedWorkers::poisonReceived(uint32_t command) {
  if (options.poison)
    for (const MemoryRange &range : lives->received[command])
      poison(range);
}

/// It may end at once, which takes the lock.
void CheckedWorkers::beginErrand(Lock &lock) {
  Errand *errand = errands.front();
  errands.erase(errands.begin());
  uint32_t with = slot;
  lock.unlock();
  errand->begin(with);
  lock.lock();
}

void CheckedWorkers::runPortion(Worker &self, Lock &lock) {
  size_t place = options.orderSeed ? random(ready.size()) : 0;
  uint32_t index = ready[place];
  const PreparedCommand &command = program->commands[index];
  CommandState &state = states[index];
  uint32_t begin = state.next;
  uint32_t end = begin + std::min(command.grain, command.tiles - begin);
  state.next = end;
  if (end == command.tiles)
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(place));
  // One time in four, long enough for others to overtake.
  uint64_t delay = options.orderSeed && random(4) == 0 ? random(100) : 0;
  if (begin == 0 && !command.errand)
    poisonReceived(index);
  uint32_t launch = trace ? trace->launch : 0;
  void *const *bindings = program->bindingsOf(command, slot);
  lock.unlock();

  if (delay != 0)
    std::this_thread::sleep_for(std::chrono::microseconds(delay));
  if (options.poison)
    poison(self.scratch);
  uint64_t start = self.events ? traceClock() : 0;
  self.running.set(command.description);
  command.entry(bindings, command.constants, self.scratch.begin, begin, end);
  self.running.set(nullptr);
  if (self.events)
    self.events->add({start, traceClock(), launch, command.rank, command.number,
                      begin, end});
  self.tiles += end - begin;

  lock.lock();
  state.done += end - begin;
  if (state.done == command.tiles)
    finish(index);
}

/// Nobody who is yet to be told can have begun to use the bytes again.
void CheckedWorkers::finish(uint32_t index) {
  if (finder)
    finder->look(*program, index, slot);
  for (uint32_t temporary : lives->ofCommand[index])
    if (--lives->left[temporary] == 0 && options.poison)
      poison(lives->temporaries[temporary]);
  const PreparedCommand &command = program->commands[index];
  for (uint32_t s = 0; s < command.successorCount; ++s) {
    uint32_t successor = program->successors[command.firstSuccessor + s];
    if (--states[successor].waiting == 0)
      takeTurn(successor);
  }
  --unfinished;
  changed.notify_all();
}
