// The scalars of a run in files: CSV, JSON lines, TensorBoard.
#ifndef DLRT_TRAIN_SCALARLOG_H
#define DLRT_TRAIN_SCALARLOG_H

#include "runtime/base/AppendFile.h"
#include "runtime/base/Status.h"
#include "runtime/plan/plan_generated.h"
#include "runtime/train/EpochMeans.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/ScalarMetrics.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dlrt {

/// Files in a folder: train.csv (step, epoch, a column a metric), eval.csv
/// (besides, the evaluation's name), epochs.csv (means of training over an
/// epoch, or over the part of it that this process has seen, and of how many
/// steps), events.jsonl (the events of --json) and events.out.tfevents.dlrun
/// (tags "train/loss", "epoch/loss", "test/accuracy"). Where there are several
/// training steps, their names stand as those of evaluations do.
class ScalarLog {
public:
  /// In the order of `File`.
  static constexpr const char *fileNames[] = {
      "train.csv", "eval.csv", "events.jsonl", "events.out.tfevents.dlrun",
      "epochs.csv"};

  /// Opens the files; each keeps as many bytes as `lengths` says, so that what
  /// an interrupted run wrote after its checkpoint goes. Without lengths they
  /// begin, and files with rows are moved into a folder beside them. This and
  /// a file that has become shorter give a warning.
  static Expected<ScalarLog>
  open(const std::string &folder, const fb::PlanT &plan,
       const std::map<std::string, uint64_t> &lengths,
       std::vector<std::string> &warnings);

  /// Whether the columns of a folder's files are those of the plan's metrics; a
  /// plan that was compiled again may have others.
  static bool fits(const std::string &folder, const fb::PlanT &plan);

  /// `name` is that of one of several training steps, otherwise empty.
  Status addStep(const std::string &name, TrainingPosition position,
                 const std::vector<ScalarMetric> &metrics);
  Status addEvaluation(TrainingPosition position, const Evaluation &result);
  /// `named`: there are several training steps.
  Status addEpoch(TrainingPosition position, const EpochMean &mean, bool named);

  /// Hands all to the system.
  Status flush();
  /// Returns when what was flushed is on the disk; for any thread.
  Status sync() const;
  /// How long each file is, by name.
  std::map<std::string, uint64_t> lengths() const;

private:
  enum File { TrainCsv, EvalCsv, Jsonl, Tensorboard, EpochsCsv };

  ScalarLog() = default;
  std::string head(size_t file, const fb::PlanT &plan) const;
  Status setAside(const std::string &folder, const fb::PlanT &plan,
                  std::vector<std::string> &warnings) const;
  Status addRow(File file, const std::string &name, TrainingPosition position,
                const std::vector<std::string> &columns,
                const std::vector<ScalarMetric> &metrics, uint64_t steps = 0);
  Status addJson(const char *event, const std::string &name,
                 TrainingPosition position,
                 const std::vector<ScalarMetric> &metrics, uint64_t steps = 0);
  Status addTensorboard(const std::string &name, TrainingPosition position,
                        const std::vector<ScalarMetric> &metrics);

  std::vector<AppendFile> files;
  std::vector<std::string> trainColumns, evalColumns;
};

} // namespace dlrt

#endif
