// Changes metadata bytes of a plan, seals it again, and runs what the reader
// accepts: dlrt_hostile PLAN DLRUN [--sample N | --each-byte] [--seed N]
// [--control]
//
// To be built with sanitizers (preset asan), and so is DLRUN. Pages that fault
// lie around the parts of the arena's allocation. Whatever the bytes are, a
// plan is refused in words, or `dlrun info` describes it, and it trains,
// evaluates, writes a checkpoint (in the working directory) and goes on from
// it, within bounds. A process of its own does the work; if it dies, the change
// it was at is reported and another one goes on behind it. With --control, the
// code record is made anew from the changed metadata, as if the reader did not
// compare it: kernels then leave their buffers, and that must be seen.
#include "runtime/base/JsonReader.h"
#include "runtime/plan/CodeRecord.h"
#include "runtime/plan/PlanReader.h"
#include "runtime/plan/PlanWriter.h"
#include "runtime/state/Checkpoint.h"
#include "runtime/state/Parts.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/StepRunner.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <random>
#include <string_view>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dlrt;

namespace {

struct Change {
  size_t at;
  uint8_t flip; ///< bits of the byte
};

/// Shared with the working process.
struct Progress {
  uint64_t next; ///< index of the change at work
  uint64_t refused, ran, failed, described, resumed;
};

constexpr unsigned secondsEach = 20;

struct Arguments {
  const char *plan = nullptr, *dlrun = nullptr;
  size_t sample = 0; ///< 0: all changes
  bool eachByte = false, control = false;
  unsigned seed = 1;
};

std::vector<Change> chooseChanges(size_t bytes, const Arguments &arguments) {
  constexpr uint8_t flips[] = {0x01, 0x04, 0x10, 0x40, 0x80, 0xff};
  std::mt19937 random(arguments.seed);
  std::vector<Change> changes;
  for (size_t at = 0; at < bytes; ++at) {
    if (arguments.eachByte)
      changes.push_back({at, flips[random() % std::size(flips)]});
    else
      for (uint8_t flip : flips)
        changes.push_back({at, flip});
  }
  if (arguments.sample != 0 && arguments.sample < changes.size()) {
    std::shuffle(changes.begin(), changes.end(), random);
    changes.resize(arguments.sample);
  }
  return changes;
}

/// A file in memory, for this process and those it starts.
class MemoryFile {
public:
  explicit MemoryFile(std::span<const uint8_t> bytes = {})
      : fd(memfd_create("dlrt_hostile", 0)) {
    if (fd < 0 || write(fd, bytes.data(), bytes.size()) !=
                      static_cast<ssize_t>(bytes.size()))
      throw std::bad_alloc();
  }
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() { close(fd); }

  std::string path() const { return fmt::format("/proc/self/fd/{}", fd); }
  std::string text() const {
    std::string text(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
    ssize_t got = pread(fd, text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<size_t>(got));
    return text;
  }
  int descriptor() const { return fd; }

private:
  int fd;
};

/// What `dlrun info PLAN [--json]` prints.
std::string infoText(const char *dlrun, const MemoryFile &plan, bool json) {
  MemoryFile output;
  std::string path = plan.path();
  // A fork would copy the page tables of the sanitizer's memory.
  pid_t child = vfork();
  if (child == 0) {
    alarm(secondsEach); // outlives exec
    dup2(output.descriptor(), STDOUT_FILENO);
    const char *last = json ? "--json" : nullptr;
    execl(dlrun, dlrun, "info", path.c_str(), last,
          static_cast<char *>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) {
    fmt::print(stderr, "dlrun info: wait status {:#x}\n", status);
    abort();
  }
  return output.text();
}

/// The reader has accepted the plan: if dlrun cannot describe it, that is one
/// of its faults.
void describe(const char *dlrun, const MemoryFile &plan, bool asJson) {
  std::string text = infoText(dlrun, plan, asJson);
  bool good = text.find("\nstates\n") != text.npos;
  if (asJson) {
    auto json = parseJson(text);
    good = json && json->find("steps");
  }
  if (!good) {
    fmt::print(stderr, "dlrun info: got {}\n", text);
    abort();
  }
}

/// Runs the training steps' programs until so many steps are done, of which
/// `facts` are done before, and notes where training stands then.
Status train(Session &session, uint64_t steps, CheckpointFacts &facts) {
  RunLength length = {steps, 1, facts.step};
  for (const auto &[name, at] : facts.cursors)
    length.updates[name] = at.updates;
  length.place = facts.place;
  auto runner = StepRunner::create(session, length);
  if (!runner)
    return runner.takeError();
  if (facts.step != 0 && ((*runner)->first().nextEpoch() != facts.epoch ||
                          (*runner)->first().nextInEpoch() != facts.batch))
    return {Code::Bug, "the run goes on elsewhere"};
  while ((*runner)->stepsDone() < (*runner)->totalSteps())
    DLRT_TRY((*runner)->run());
  if (auto metrics = (*runner)->last().allMetrics(); !metrics)
    return metrics.takeError();
  facts.step = (*runner)->stepsDone();
  facts.epoch = (*runner)->first().nextEpoch();
  facts.batch = (*runner)->first().nextInEpoch();
  if ((*runner)->cursors().size() > 1)
    for (const auto &each : (*runner)->cursors())
      facts.cursors[each->name()] = {each->updates(), each->nextEpoch(),
                                     each->nextInEpoch(), each->dataItems()};
  facts.turns = (*runner)->turns().text();
  facts.place = (*runner)->place();
  return {};
}

/// Saves the states, and loads them where they begin anew.
Expected<CheckpointFacts> saveAndLoad(Session &session, uint32_t step,
                                      CheckpointFacts facts) {
  facts.planHash = planHashText(session.planFile().checksum);
  facts.items = session.dataset(step).items;
  facts.seed = session.options().seed;
  StateSnapshot snapshot(session.plans());
  DLRT_TRY(snapshot.take(session.device()));
  std::string path = fmt::format("{}.safetensors", getpid());
  DLRT_TRY(writeCheckpoint(session.plans(), path, snapshot, facts));
  auto file = CheckpointFile::open(path);
  if (!file)
    return file.takeError();
  DLRT_TRY(session.initialiseStates());
  DLRT_TRY(restoreStates(session.plans(), *file, path, session.device()));
  return file->facts;
}

/// Everything a plan makes dlrun do, without its output.
Status use(LoadedPlan loaded, Progress &progress) {
  SessionOptions options;
  options.synthetic = true;
  options.checks.guard = true;
  auto opened = Session::open(std::move(loaded), "plan", options);
  if (!opened)
    return opened.takeError();
  Session &session = **opened;
  std::vector<std::string> warnings;
  DLRT_TRY(session.beginStates(warnings));
  auto steps = session.trainingSteps();
  CheckpointFacts facts;
  if (!steps.empty())
    DLRT_TRY(train(session, 4, facts));
  for (uint32_t step : session.evaluationSteps()) {
    int batches = 0;
    auto result = evaluate(session, step, {}, [&] { return ++batches <= 3; });
    if (!result)
      return result.takeError();
  }
  for (const fb::StateT *state : statesOf(session.plans()))
    if (auto values =
            readWhole(partsOf(session.plans(), *state), session.device());
        !values)
      return values.takeError();
  if (steps.empty())
    return {};
  auto saved = saveAndLoad(session, steps.front(), facts);
  if (!saved)
    return saved.takeError();
  DLRT_TRY(train(session, saved->step + 2, *saved));
  ++progress.resumed;
  return {};
}

/// Counts how it ends; the message of one that does not end well.
Status tryOne(std::span<const uint8_t> file, const char *dlrun,
              Progress &progress) {
  Status status;
  try {
    Expected<LoadedPlan> loaded = readPlan(file);
    if (!loaded) {
      ++progress.refused;
      status = loaded.takeError();
    } else {
      // In turn, for the time it takes.
      describe(dlrun, MemoryFile(file), progress.described++ % 2 != 0);
      status = use(std::move(*loaded), progress);
      ++(status.ok() ? progress.ran : progress.failed);
    }
  } catch (const std::bad_alloc &) {
    ++progress.failed;
    return {Code::Unavailable, "out of memory"}; // what dlrun says
  }
  if (!status.ok() && status.message().empty())
    abort();
  return status;
}

/// The files to try, made when they are needed.
struct Trials {
  size_t count;
  std::function<std::vector<uint8_t>(size_t)> file;
  std::function<std::string(size_t)> name;
};

Trials changedBytes(const LoadedPlan &plan,
                    const std::vector<Change> &changes) {
  std::vector<SectionView> others(plan.sections.begin() + 1,
                                  plan.sections.end());
  std::span<const uint8_t> metadata = plan.sections[0].bytes;
  auto file = [=](size_t i) {
    std::vector<uint8_t> changed(metadata.begin(), metadata.end());
    changed[changes[i].at] ^= changes[i].flip;
    return sealPlan(changed, others);
  };
  auto name = [=](size_t i) {
    return fmt::format("metadata byte {} ^ {:#04x}", changes[i].at,
                       changes[i].flip);
  };
  return {changes.size(), file, name};
}

/// One plan whose kernels claim to need no bytes, so that buffers may be empty
/// and lie at the end of the arena.
Trials emptyBuffers(const LoadedPlan &plan) {
  auto file = [&plan](size_t) {
    fb::PlanT changed(plan.first());
    for (auto &kernel : changed.kernels)
      std::fill(kernel->binding_bytes.begin(), kernel->binding_bytes.end(), 0);
    std::vector<bool> isNamed(changed.buffers.size());
    for (const auto &state : changed.states)
      isNamed[state->buffer] = true;
    for (const auto &step : changed.steps)
      for (const auto &program : step->programs) {
        for (const auto &metric : program->metrics)
          isNamed[metric->buffer] = true;
        for (const auto &flag : program->errors)
          isNamed[flag->buffer] = true;
      }
    for (size_t b = 0; b < changed.buffers.size(); ++b)
      if (changed.buffers[b]->space == fb::Space::Arena && !isNamed[b]) {
        changed.buffers[b]->offset = changed.arena_bytes / 64 * 64;
        changed.buffers[b]->bytes = 0;
      }
    for (const auto &step : changed.steps)
      for (const auto &program : step->programs)
        for (const auto &command : program->commands)
          for (fb::Range &range : command->work.AsLaunch()->bindings)
            if (changed.buffers[range.buffer()]->bytes == 0)
              range = fb::Range(range.buffer(), 0, 0);
    std::vector<uint8_t> record = codeRecord(changed);
    std::vector<SectionView> others;
    for (const SectionView &section : plan.sections)
      if (section.kind == SectionKind::CodeRecord)
        others.push_back({section.kind, record});
      else if (section.kind != SectionKind::Metadata)
        others.push_back(section);
    return sealPlan(packPlan(changed), others);
  };
  return {1, file, [](size_t) { return std::string("empty buffers"); }};
}

/// The number of files that ended their process, and of other faults.
int run(const Trials &trials, const char *dlrun) {
  auto *progress = static_cast<Progress *>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int crashed = 0;
  while (progress->next < trials.count) {
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      for (; progress->next < trials.count; ++progress->next) {
        alarm(secondsEach); // one that never ends is a finding, too
        (void)tryOne(trials.file(progress->next), dlrun, *progress);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      break;
    fmt::print("{}: ended with {} {}\n", trials.name(progress->next),
               WIFSIGNALED(status) ? "signal" : "code",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    ++crashed;
    ++progress->next;
  }
  fmt::print("{} plans: {} refused, {} ran within bounds, {} stopped with a "
             "message, {} crashed; {} described, {} resumed\n",
             trials.count, progress->refused, progress->ran, progress->failed,
             crashed, progress->described, progress->resumed);
  if (trials.count >= 100 && (!progress->refused || !progress->resumed)) {
    fmt::print("of so many changes some must be refused and some must run\n");
    return crashed + 1;
  }
  return crashed;
}

} // namespace

static Arguments parse(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--control")
      arguments.control = true;
    else if (word == "--each-byte")
      arguments.eachByte = true;
    else if (word == "--sample" && i + 1 < argc)
      arguments.sample = std::strtoul(argv[++i], nullptr, 10);
    else if (word == "--seed" && i + 1 < argc)
      arguments.seed =
          static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    else
      (arguments.plan ? arguments.dlrun : arguments.plan) = argv[i];
  }
  return arguments;
}

int main(int argc, char **argv) {
  Arguments arguments = parse(argc, argv);
  if (!arguments.dlrun) {
    std::fprintf(stderr, "usage: dlrt_hostile PLAN DLRUN [--sample N | "
                         "--each-byte] [--seed N] [--control]\n");
    return 2;
  }
  Expected<LoadedPlan> plan = readPlan(std::string(arguments.plan));
  Status status = plan ? Status() : plan.takeError();
  Progress unchanged = {}; // as it is, the plan must do everything
  for (int i = 0; i < 2 && status.ok(); ++i)
    status = tryOne(plan->file.bytes(), arguments.dlrun, unchanged);
  if (status.ok() && unchanged.resumed != 2)
    status = {Code::Bug, "the plan trains nothing"};
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 2;
  }
  if (arguments.control)
    return run(emptyBuffers(*plan), arguments.dlrun) == 0 ? 0 : 1;
  std::vector<Change> changes =
      chooseChanges(plan->sections[0].bytes.size(), arguments);
  return run(changedBytes(*plan, changes), arguments.dlrun) == 0 ? 0 : 1;
}
