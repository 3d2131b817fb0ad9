// --keep-best, --stop-when: what the metrics of evaluations decide.
#ifndef DLRT_TRAIN_WATCH_H
#define DLRT_TRAIN_WATCH_H

#include "runtime/base/Status.h"
#include "runtime/train/Evaluation.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlrt {

/// A metric of an evaluation, and which values of it are better.
struct Goal {
  std::string metric;                 ///< "test.accuracy"
  std::optional<bool> larger = false; ///< none: it was not said
  std::string text;                   ///< as it was given, with its option
};

/// "max:test.accuracy" or "min:test.loss".
Expected<Goal> parseKeepBest(const std::string &text);

struct StopCondition {
  Goal goal;
  uint64_t evaluations = 0; ///< that may pass without a better value
};

/// "test.loss not better in 5", with "max:" or "min:" in front where the
/// metric's name does not tell which values are better.
Expected<StopCondition> parseStopWhen(const std::string &text);

/// The best value of each goal's metric, and how long ago it was.
class Watch {
public:
  /// A name that no evaluation of the plan reports is an error; the name of a
  /// metric alone will do where one evaluation has it.
  static Expected<Watch> create(const fb::PlanT &plan,
                                const std::optional<Goal> &keepBest,
                                const std::optional<StopCondition> &stopWhen);

  /// What all evaluations after a step have found. What is not a number is
  /// never better. One out of turn may be the best, and is not counted.
  void see(const std::vector<Evaluation> &results, uint64_t step,
           bool inTurn = true);
  /// The last call has brought the best value of --keep-best.
  bool isBest() const;
  /// "test.accuracy 0.981"
  std::string bestText() const;
  /// Why training is to end, or nothing.
  std::optional<std::string> reasonToStop() const;

  bool keepsBest() const { return !kept.empty(); }
  bool mayStop() const { return !stopping.empty(); }

  /// For checkpoints, by goal.
  std::map<std::string, std::string> state() const;
  /// Of goals that it does not know, nothing is remembered.
  Status restore(const std::map<std::string, std::string> &state);

private:
  struct Record {
    Goal goal;
    bool any = false;
    double value = 0;
    uint64_t step = 0;  ///< of the best value
    uint64_t since = 0; ///< evaluations after it
  };
  static std::string keyOf(const Goal &goal);
  Status add(const fb::PlanT &plan, const Goal &goal, std::string &key);

  std::map<std::string, Record> records; ///< by keyOf
  std::string kept, stopping;            ///< keys, or empty
  uint64_t patience = 0;
  bool lastIsBest = false;
};

/// "test.loss" of all evaluations of a plan.
std::vector<std::string> evaluationMetrics(const fb::PlanT &plan);

} // namespace dlrt

#endif
