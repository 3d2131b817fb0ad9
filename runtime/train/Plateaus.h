// ReduceLROnPlateau: what evaluations change of the plan's learning rates.
#ifndef DLRT_TRAIN_PLATEAUS_H
#define DLRT_TRAIN_PLATEAUS_H

#include "runtime/base/Status.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/Session.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dlrt {

class Plateaus {
public:
  Plateaus() = default;
  explicit Plateaus(const fb::PlanT &plan);

  bool empty() const { return records.empty(); }
  /// What all evaluations after a step have found; the settings that change.
  /// As PyTorch's scheduler.step(metric).
  std::vector<SettingValue> see(const std::vector<Evaluation> &results,
                                const Session &session);

  /// For checkpoints, by "plateau:" and its number.
  std::map<std::string, std::string> state() const;
  /// Of those that it does not know, nothing is remembered.
  Status restore(const std::map<std::string, std::string> &state);

private:
  struct Record {
    const fb::PlateauT *plateau;
    double best;
    uint64_t bad = 0;     ///< evaluations since
    uint64_t cooling = 0; ///< that are still to pass
  };
  static std::string keyOf(size_t number);
  static bool isBetter(const Record &record, double value);
  static void reduce(const Record &record, const Session &session,
                     std::vector<SettingValue> &changed);

  std::vector<Record> records;
};

} // namespace dlrt

#endif
