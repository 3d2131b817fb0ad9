// A program made ready to run: entry points, pointers, dependency counts. Those
// of several ranks are one.
#ifndef DLRT_EXEC_PREPAREDPROGRAM_H
#define DLRT_EXEC_PREPAREDPROGRAM_H

#include "runtime/base/Status.h"
#include "runtime/exec/ElfImage.h"
#include "runtime/exec/Errand.h"
#include "runtime/plan/PlanSet.h"

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace dlrt {

struct PreparedCommand {
  KernelEntry entry;
  const char *description;  ///< for fault messages
  const int64_t *constants; ///< null where the kernel has none
  uint32_t firstBinding;    ///< in `bindings`, of input slot 0
  uint32_t slotStride;      ///< to those of the next slot; 0: the same for all
  uint32_t tiles;
  uint32_t grain;          ///< tiles taken at once
  uint32_t dependencies;   ///< number of commands it waits for
  uint32_t firstSuccessor; ///< in `successors`
  uint32_t successorCount;
  uint32_t rank;   ///< of the mesh; of a communication, one that takes part
  uint32_t number; ///< in that rank's program
  bool serial;     ///< not worth waking anybody for
  bool isLong;     ///< `grain` tiles take longer than messages can wait
  Errand *errand;  ///< to be done before its tiles, or null
};

/// What the workers share about a running command. One cache line each.
struct alignas(64) CommandProgress {
  std::atomic<uint64_t> next;    ///< run number << 32 | first tile not taken
  std::atomic<uint32_t> done;    ///< finished tiles
  std::atomic<uint32_t> waiting; ///< unfinished dependencies
};

/// What a prepared command touches, and where.
struct PreparedAccess {
  uint32_t command; ///< a prepared one
  uint32_t rank;    ///< an index of those at hand
  fb::Range range;
  bool writes;
  bool receives; ///< what another rank sends: all of it is written
};

struct PreparedProgram {
  std::vector<PreparedCommand> commands;
  std::vector<uint32_t> successors;
  std::vector<uint32_t> roots; ///< commands that wait for nobody
  /// All pointers of all commands; of those that read a batch, once per input
  /// slot.
  std::vector<void *> bindings;
  std::vector<int64_t> constants; ///< of all commands
  std::vector<std::unique_ptr<Errand>> errands;
  /// Nothing to share: the caller runs it alone.
  bool alone = true;
  /// Small commands of several ranks are worth waking somebody for.
  bool wakes = false;

  void *const *bindingsOf(const PreparedCommand &command, uint32_t slot) const {
    return bindings.data() + command.firstBinding +
           size_t(slot) * command.slotStride;
  }

  // Used while it runs on several threads.
  std::unique_ptr<CommandProgress[]> progress;
  /// A bit for each command that has tiles to take; all 0 between runs.
  std::unique_ptr<std::atomic<uint64_t>[]> ready;
  size_t readyWords = 0;
};

/// What programs are prepared with.
struct PreparedFor {
  const PlanSet &set;
  /// Ranks of the mesh at hand, which run together.
  std::vector<uint32_t> ranks;
  const std::vector<KernelEntry> &entries;      ///< by kernel
  const std::vector<std::string> &descriptions; ///< by kernel
  unsigned threads = 1;
  ErrandMaker errands; ///< or none
  /// Messages are looked after between two portions of tiles: in so many
  /// seconds, if a command's tiles allow it.
  double lookEvery = std::numeric_limits<double>::infinity();

  /// The address of a buffer when a given input slot is bound; `rank` is an
  /// index of `ranks`.
  using Address =
      std::function<uint8_t *(uint32_t rank, uint32_t buffer, uint32_t slot)>;
};

/// The program of one kind of a step, of all ranks at hand: a communication is
/// one command, for which all of its members wait, and whose work is to copy.
/// `accesses`, if wanted, tells what its commands touch.
Expected<PreparedProgram>
prepareProgram(const PreparedFor &with, uint32_t step, fb::ProgramKind kind,
               const PreparedFor::Address &address, uint32_t slots,
               std::vector<PreparedAccess> *accesses = nullptr);

} // namespace dlrt

#endif
