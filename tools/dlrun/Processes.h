// This process as one of several that run a plan together.
#ifndef DLRUN_PROCESSES_H
#define DLRUN_PROCESSES_H

#include "runtime/base/Status.h"
#include "runtime/comm/Agreement.h"
#include "runtime/comm/Heartbeat.h"
#include "runtime/comm/ProcessDevice.h"
#include "runtime/comm/Transport.h"
#include "runtime/train/Session.h"
#include "tools/dlrun/Options.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dlrun {

/// A word that all ranks agree on, again and again: whether to stop. Rank 0
/// hears what each says at one call, and says the largest at its next one;
/// there that counts at the one after it. So nobody waits for anybody.
class StopWord {
public:
  static dlrt::Expected<std::unique_ptr<StopWord>>
  create(dlrt::Transport &transport);
  ~StopWord();

  /// All ranks call it equally often.
  int exchange(int mine);

private:
  /// The words of every second call: while they travel, the others are used.
  struct Round {
    std::vector<int64_t> said; ///< on rank 0 of all, elsewhere its own
    int64_t agreed = 0;
    std::unique_ptr<dlrt::Exchange> toFirst, fromFirst;
  };

  explicit StopWord(dlrt::Transport &transport) : transport(transport) {}
  dlrt::Status prepare(Round &round, uint64_t tag);
  void finish(const dlrt::Exchange &exchange);

  dlrt::Transport &transport;
  Round rounds[2];
  uint64_t calls = 0;
};

/// Made where a launcher has started several; there is one at most.
class Processes {
public:
  /// Joins the others, if there are any.
  static dlrt::Status join(Options &options);
  /// The processes of this run, or null.
  static Processes *current();

  dlrt::Transport &transport() { return *carrier; }
  uint32_t rank() const { return carrier->rank(); }
  /// Of what the options name to be written, each rank assembles all, and rank
  /// 0 alone keeps it.
  void keepOnFirst(Options &options) const;

  /// All ranks run the same, or none does: to be called by all, with what keeps
  /// this one from running.
  dlrt::Status agreeOnPlan(const Options &options,
                           const dlrt::Expected<dlrt::LoadedPlan> &plan);
  dlrt::Status agreeOnData(dlrt::Session *session, dlrt::Status own);
  void endTogether() { shared = true; }
  /// Rank 0's verdict becomes that of all.
  dlrt::Status agreeWithFirst(dlrt::Status own);
  /// See agreedWord.
  int word(int mine) { return stop->exchange(mine); }

  /// Devices of this process's rank.
  dlrt::DeviceFactory device(dlrt::DeviceFactory own);

  /// The process's end, with its exit code. Where it ends with an error that
  /// the others do not share, it takes them along.
  int end(int code, const std::string &said);

private:
  Processes() = default;
  dlrt::Status open(const Options &options);
  dlrt::Status agree(dlrt::RankFacts facts);
  dlrt::Status sharedError(dlrt::Status status);
  void lost(const dlrt::Status &error);
  std::string self() const;

  dlrt::RankProgress progress;
  std::unique_ptr<dlrt::Transport> carrier;
  std::unique_ptr<StopWord> stop;
  std::unique_ptr<dlrt::Heartbeat> heartbeat;
  uint32_t gpu = 0;    ///< DeviceOptions::gpu
  bool shared = false; ///< the error is that of all ranks
};

/// The largest word that a rank has said, a call or two later; all must ask
/// equally often. Of a single process its own. Not 0: to end.
int agreedWord(int mine);
/// The signal after which to end, of all processes together: 0 if none.
int agreedStopSignal();

/// The error with which this process will end is one that all have found at the
/// same time: each does what it has to do until then.
void endTogether();
/// See Processes::agreeOnData; a single process has its own answer.
dlrt::Status agreeOnData(dlrt::Session *session, dlrt::Status own);

} // namespace dlrun

#endif
