// What the one who started a run makes of the frames of its ranks: who hangs,
// who died, how it ended.
#ifndef DLRT_COMM_RUNWATCH_H
#define DLRT_COMM_RUNWATCH_H

#include "runtime/comm/Heartbeat.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlrt {

/// Times are seconds of a clock that never goes back.
class RunWatch {
public:
  /// `limit`: seconds without progress after which a run hangs; 0: 10 s or 20
  /// times the median step, whichever is longer.
  RunWatch(uint32_t ranks, double limit) : ranks(ranks), given(limit) {}

  void note(const RankStatus &status, double now);

  /// Seconds without progress that are too many.
  double limit() const;

  /// Why the run hangs, with the rank that is to blame, or nothing.
  std::optional<std::string> hang(double now) const;

  /// Words of the launcher: it may tell which rank died, and of what.
  void launcherSaid(std::string_view text);

  /// What ended the run of a launcher that gave this exit code: an exit code of
  /// dlrun, and words if a rank was lost.
  struct Ending {
    int code = 0;
    std::string said;
  };
  Ending ending(int launcherCode) const;

  /// Whether a rank has said that it ends with an error.
  bool explained() const { return firstEnd.has_value(); }
  /// Whether the launcher has said that a rank is dead.
  bool hasDead() const { return named.has_value(); }

private:
  struct Rank {
    std::optional<RankStatus> last;
    double heard = 0;    ///< the last frame
    double advanced = 0; ///< the last frame that told of progress
    double stepped = 0;  ///< the first frame of the step it is in
  };
  void noteStep(const Rank &before, const RankStatus &status, double now);
  double median() const;
  /// "rank 3 (host b, process 123)"
  std::string nameOf(uint32_t rank) const;
  /// "in step 12, at 'conv2d'"
  std::string placeOf(uint32_t rank) const;
  std::optional<uint32_t> deadRank() const;

  std::vector<Rank> ranks;
  double given;
  std::vector<float> steps; ///< seconds of the latest steps of rank 0
  size_t nextStep = 0;
  std::optional<uint32_t> firstEnd; ///< rank that first ended with an error
  std::optional<uint32_t> named;    ///< by the launcher
  std::string deathWords;           ///< "killed by signal 9 (Killed)"
};

} // namespace dlrt

#endif
