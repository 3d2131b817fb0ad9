// Changes metadata bytes of a plan, seals it again, and runs what the reader
// accepts: dlrt_hostile PLAN [--sample N] [--seed N] [--control]
//
// To be built with sanitizers (preset asan). Pages that fault lie around the
// parts of the arena's allocation. Whatever the bytes are, a plan is refused in
// words, or it loads, trains two steps, evaluates and is described, within
// bounds. A process of its own does the work; if it dies, the change it was at
// is reported and another one goes on behind it. With --control, the code
// record is made anew from the changed metadata, as if the reader did not
// compare it: kernels then leave their buffers, and that must be seen.
#include "runtime/plan/CodeRecord.h"
#include "runtime/plan/PlanReader.h"
#include "runtime/plan/PlanWriter.h"
#include "runtime/state/LayoutCopy.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/StepRunner.h"
#include "tools/dlrun/Commands.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
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
  uint64_t refused, ran, failed;
};

constexpr unsigned secondsEach = 20;

std::vector<Change> allChanges(size_t bytes) {
  std::vector<Change> changes;
  for (size_t at = 0; at < bytes; ++at)
    for (uint8_t flip : {0x01, 0x04, 0x10, 0x40, 0x80, 0xff})
      changes.push_back({at, flip});
  return changes;
}

/// Everything a plan makes dlrun do, without its output.
Status use(LoadedPlan loaded) {
  (void)dlrun::planAsJson(loaded, "plan");
  SessionOptions options;
  options.synthetic = true;
  options.checks.guard = true;
  auto opened = Session::open(std::move(loaded), "plan", options);
  if (!opened)
    return opened.takeError();
  Session &session = **opened;
  std::vector<std::string> warnings;
  DLRT_TRY(session.initialiseStates(warnings));
  if (auto step = session.trainingStep()) {
    auto runner = StepRunner::create(session, *step, {uint64_t(4), 1});
    if (!runner)
      return runner.takeError();
    while ((*runner)->stepsDone() < (*runner)->totalSteps())
      DLRT_TRY((*runner)->run());
    (void)(*runner)->allMetrics();
  }
  for (uint32_t step : session.evaluationSteps()) {
    int batches = 0;
    auto result = evaluate(session, step, {}, [&] { return ++batches <= 3; });
    if (!result)
      return result.takeError();
  }
  for (const auto &state : session.plan().states)
    (void)rowMajorElements(state->shape, state->layout, state->dtype,
                           session.executor().arenaAddress(state->buffer));
  return {};
}

void tryOne(std::span<const uint8_t> file, Progress &progress) {
  try {
    Expected<LoadedPlan> loaded = readPlan(file);
    if (!loaded) {
      if (loaded.status().message().empty())
        abort();
      ++progress.refused;
      return;
    }
    Status status = use(std::move(*loaded));
    ++(status.ok() ? progress.ran : progress.failed);
    if (!status.ok() && status.message().empty())
      abort();
  } catch (const std::bad_alloc &) {
    ++progress.failed; // dlrun says "out of memory"
  }
}

class Harness {
public:
  Harness(std::span<const uint8_t> metadata, std::vector<SectionView> others,
          bool control)
      : metadata(metadata), others(std::move(others)), control(control) {
    progress = static_cast<Progress *>(mmap(nullptr, sizeof(Progress),
                                            PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }

  /// The number of changes that ended their process.
  int run(const std::vector<Change> &changes) {
    int bad = 0;
    while (progress->next < changes.size()) {
      std::fflush(stdout);
      pid_t child = fork();
      if (child == 0)
        work(changes);
      int status = 0;
      waitpid(child, &status, 0);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        break;
      const Change &change = changes[progress->next];
      std::printf("metadata byte %zu ^ 0x%02x: ended with %s %d\n", change.at,
                  change.flip, WIFSIGNALED(status) ? "signal" : "code",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
      ++bad;
      ++progress->next;
    }
    std::printf("%zu changes of %zu bytes of metadata: %llu refused, %llu ran "
                "within bounds, %llu stopped with a message, %d crashed\n",
                changes.size(), metadata.size(),
                static_cast<unsigned long long>(progress->refused),
                static_cast<unsigned long long>(progress->ran),
                static_cast<unsigned long long>(progress->failed), bad);
    return bad;
  }

private:
  [[noreturn]] void work(const std::vector<Change> &changes) {
    for (; progress->next < changes.size(); ++progress->next) {
      const Change &change = changes[progress->next];
      std::vector<uint8_t> changed(metadata.begin(), metadata.end());
      changed[change.at] ^= change.flip;
      alarm(secondsEach); // one that never ends is a finding, too
      std::vector<uint8_t> record;
      if (control)
        forgeRecord(changed, record);
      tryOne(sealPlan(changed, others), *progress);
    }
    _exit(0);
  }

  void forgeRecord(const std::vector<uint8_t> &changed,
                   std::vector<uint8_t> &record) {
    flatbuffers::Verifier verifier(changed.data(), changed.size());
    if (!fb::VerifyPlanBuffer(verifier))
      return;
    auto plan = fb::UnPackPlan(changed.data());
    for (const auto &kernel : plan->kernels)
      if (kernel->writes.size() != kernel->binding_bytes.size())
        return;
    record = codeRecord(*plan);
    for (SectionView &section : others)
      if (section.kind == SectionKind::CodeRecord)
        section.bytes = record;
  }

  std::span<const uint8_t> metadata;
  std::vector<SectionView> others;
  bool control;
  Progress *progress;
};

} // namespace

int main(int argc, char **argv) {
  size_t sample = 0;
  unsigned seed = 1;
  bool control = false;
  for (int i = 2; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--control"))
      control = true;
    else if (!std::strcmp(argv[i], "--sample") && i + 1 < argc)
      sample = std::strtoul(argv[++i], nullptr, 10);
    else if (!std::strcmp(argv[i], "--seed") && i + 1 < argc)
      seed = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
  }
  if (argc < 2) {
    std::fprintf(stderr, "usage: dlrt_hostile PLAN [--sample N] [--seed N] "
                         "[--control]\n");
    return 2;
  }
  Expected<LoadedPlan> plan = readPlan(std::string(argv[1]));
  Status status = plan ? Status() : plan.takeError();
  std::vector<SectionView> others;
  if (status.ok()) {
    others.assign(plan->sections.begin() + 1, plan->sections.end());
    Expected<LoadedPlan> again = readPlan(plan->file.bytes());
    status = use(std::move(*again));
  }
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 2;
  }
  std::vector<Change> changes = allChanges(plan->sections[0].bytes.size());
  if (sample != 0 && sample < changes.size()) {
    std::shuffle(changes.begin(), changes.end(), std::mt19937(seed));
    changes.resize(sample);
  }
  Harness harness(plan->sections[0].bytes, others, control);
  return harness.run(changes) == 0 ? 0 : 1;
}
