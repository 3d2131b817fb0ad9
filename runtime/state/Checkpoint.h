// Checkpoints: all that a run needs to go on with the same bits, in one
// safetensors file.
//
// Tensors carry the states' logical names, shapes and row-major order, so that
// a checkpoint also serves as weights (--init). What is no tensor (position,
// seed, hash of the plan) stands in the file's metadata.
#ifndef DLRT_STATE_CHECKPOINT_H
#define DLRT_STATE_CHECKPOINT_H

#include "runtime/base/Status.h"
#include "runtime/plan/Container.h"
#include "runtime/plan/PlanSet.h"
#include "runtime/state/Safetensors.h"
#include "runtime/state/SafetensorsStream.h"
#include "runtime/state/Weights.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dlrt {

/// Where one of several training steps stands in its data.
struct CursorFacts {
  uint64_t updates = 0; ///< done
  uint64_t epoch = 0;   ///< of its next batch
  uint64_t batch = 0;   ///< its place within the epoch
  uint64_t items = 0;   ///< of its data
  /// Of a full batch, and batches of an update; 0 in files of before they were
  /// kept.
  uint64_t batchSize = 0, accumulate = 0;
};

/// Random numbers are functions of (seed, step, micro-batch), the order of the
/// items one of (seed, epoch): these facts are all of the random state.
struct CheckpointFacts {
  std::string planHash; ///< of the plan file, as planHashText gives it
  uint64_t step = 0;    ///< updates done
  uint64_t epoch = 0;   ///< of the next batch
  uint64_t batch = 0;   ///< its place within the epoch
  uint64_t items = 0;   ///< of the training data
  uint64_t batchSize = 0, accumulate = 0; ///< as a cursor's
  /// Where there are several training steps: each by its name, their turns
  /// ("disc:5,gen:1"), and the next update's place in its round. Numbers about
  /// data are those of the first one then.
  std::map<std::string, CursorFacts> cursors;
  std::string turns;
  uint64_t place = 0;
  uint64_t seed = 0;
  bool shuffle = false;
  bool evaluationDue = false; ///< the evaluation of this step is still to come
  bool notFinite = false;     ///< a metric or a weight is NaN or infinite
  std::string dataSamples;    ///< of the training data; empty in older files
  std::map<std::string, uint64_t> logBytes;   ///< lengths of the logs, by name
  std::map<std::string, double> settings;     ///< other values than the plan's
  std::map<std::string, std::string> watches; ///< what evaluations have shown
};

/// What a checkpoint keeps: all but accumulators, which are empty between
/// steps.
bool isKept(const fb::StateT &state);

/// Copies of states' buffers. Taking one again allocates nothing.
class StateSnapshot final : public BufferReader {
public:
  /// Of which states: the kept ones, each part once, to be written to a file;
  /// or all of them on all ranks, to go back to.
  enum class Of { Kept, All };
  explicit StateSnapshot(const PlanSet &set, Of which = Of::Kept);
  Status take(const BufferReader &states);
  Status restore(Buffers &states) const;
  /// From the copy, whole buffers of kept states only.
  Status read(const BufferPlace &from, std::span<uint8_t> into) const override;

private:
  struct Copied {
    BufferPlace place;
    uint64_t bytes;
    size_t offset; ///< in the copy
  };
  std::vector<uint8_t> copy;
  std::vector<Copied> copied;
};

/// Writes a checkpoint in two halves: `fill` reads the states, one at a time,
/// and `finish`, which waits for the disk, touches nothing but the file.
class CheckpointWriter {
public:
  static Expected<CheckpointWriter> create(const PlanSet &set,
                                           const std::string &path,
                                           const CheckpointFacts &facts);
  /// Reads all states, even if they cannot be written: where processes read
  /// together, none may stop.
  Status fill(const PlanSet &set, const BufferReader &states);
  Status finish() { return file.finish(); }

private:
  explicit CheckpointWriter(SafetensorsStream file) : file(std::move(file)) {}

  SafetensorsStream file;
  Checksum sum;           ///< of what has been written
  bool notFinite = false; ///< as the checkpoint's
};

/// Of processes that read together, those that write no checkpoint.
Status readAlong(const PlanSet &set, const BufferReader &states);

Status writeCheckpoint(const PlanSet &set, const std::string &path,
                       const BufferReader &states,
                       const CheckpointFacts &facts);

/// A file that has been checked: whole, and of this format.
struct CheckpointFile {
  SafetensorsFile file;
  CheckpointFacts facts;

  static Expected<CheckpointFile> open(const std::string &path);
  /// Of all that it holds.
  const std::string &checksum() const;
};

/// Refuses a checkpoint that has changed since it was written. Other files say
/// nothing of themselves that could be checked.
Status checkWhole(const SafetensorsFile &file);

/// Whether a checkpoint is there whose weights, and the metrics of its step,
/// were finite. Only the header is read.
bool isFiniteCheckpoint(const std::string &path);

/// Sets all kept states; nothing is changed if there is an error.
Status restoreStates(const PlanSet &set, const CheckpointFile &checkpoint,
                     const std::string &path, Buffers &states);

/// "1986db45b701b01e"
std::string planHashText(uint64_t checksum);

} // namespace dlrt

#endif
