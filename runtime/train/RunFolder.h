// The folder of a run (--out): its plan, its record, its checkpoints.
#ifndef DLRT_TRAIN_RUNFOLDER_H
#define DLRT_TRAIN_RUNFOLDER_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

/// How a run was started: run.json.
struct RunRecord {
  std::string planHash;
  std::string folder;                 ///< the working directory
  std::vector<std::string> arguments; ///< of dlrun
  std::string length; ///< "--epochs=3": of the last process, if it is known
  /// Of plans that the run had before, whose checkpoints it can go on from.
  std::vector<std::string> formerPlans = {};
  std::string library = {}; ///< of the device, as of the last process
  /// Besides `length`, what processes that resumed it were told: it goes before
  /// `arguments`.
  std::vector<std::string> told = {};
};

/// model.plan is a copy: a model that is compiled again must not change what a
/// run goes on with. checkpoints/step-00001200.safetensors are whole files,
/// whenever a process ends.
class RunFolder {
public:
  /// Opens a folder, or creates it, and locks it until the process ends.
  static Expected<RunFolder> open(const std::string &path, bool create);

  RunFolder(RunFolder &&other) noexcept { swap(other); }
  RunFolder &operator=(RunFolder &&other) noexcept {
    swap(other);
    return *this;
  }
  ~RunFolder();

  const std::string &path() const { return root; }
  std::string planPath() const { return root + "/model.plan"; }
  /// The checkpoint that --keep-best keeps.
  std::string bestPath() const { return bestIn(root); }
  static std::string bestIn(const std::string &folder);
  bool holdsRun() const;
  /// A file of somebody else that a run begun here with this plan would
  /// replace: its name, or nothing.
  std::string inTheWay(std::span<const uint8_t> plan) const;

  /// Puts the plan and the record there, in place of older ones. It holds a run
  /// when this returns.
  Status begin(const RunRecord &record, std::span<const uint8_t> plan);
  Expected<RunRecord> record() const { return recordIn(root); }
  /// Of the run in a folder, which may be under way.
  static Expected<RunRecord> recordIn(const std::string &path);
  /// Replaces the record of a run that goes on.
  Status rewrite(const RunRecord &record) const;

  /// The newest checkpoint of the run in a folder, which may be under way.
  static Expected<std::string> newestCheckpoint(const std::string &path);

  std::string checkpointPath(uint64_t step) const {
    return checkpointIn(root, step);
  }
  static std::string checkpointIn(const std::string &folder, uint64_t step);
  /// Steps of all checkpoints, ascending; other files are passed over.
  Expected<std::vector<uint64_t>> checkpoints() const;
  /// Of those the ones up to this step, which must be there.
  Expected<std::vector<uint64_t>>
  checkpointsUpTo(std::optional<uint64_t> step) const;
  /// The newest checkpoint without weights or metrics that are NaN or infinite.
  std::optional<uint64_t> newestFinite() const;
  /// Removes all but the newest checkpoints (0: none is removed). Where
  /// NaN or infinities are in all of these, the newest one without is kept,
  /// too.
  Status prune(uint64_t keep) const;
  /// Moves checkpoints of later steps, and best weights that are of one, to a
  /// folder of their own, beside copies of the logs, for a run that goes on
  /// from this one; says where, or nothing if there are none.
  Expected<std::string> setAsideBehind(uint64_t step) const;
  /// Makes the checkpoints' folder where it is missing, and removes what a
  /// killed process left half-written of the run's own files.
  Status prepare() const;

private:
  RunFolder() = default;
  void swap(RunFolder &other);

  std::string root;
  int lock = -1;
};

/// FOLDER/old-1, or the next one that is free: for what a run had before.
std::string freeOldFolder(const std::string &folder);

/// The path itself, or of a run's folder its newest checkpoint.
Expected<std::string> checkpointFile(const std::string &path);

} // namespace dlrt

#endif
