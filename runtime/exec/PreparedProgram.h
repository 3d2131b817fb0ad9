// A program made ready to run: entry points, pointers, dependency counts.
#ifndef DLRT_EXEC_PREPAREDPROGRAM_H
#define DLRT_EXEC_PREPAREDPROGRAM_H

#include "runtime/base/Status.h"
#include "runtime/exec/ElfImage.h"
#include "runtime/plan/plan_generated.h"

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace dlrt {

struct PreparedCommand {
  KernelEntry entry;
  const char *description;  ///< for fault messages
  const int64_t *constants; ///< null where the kernel has none
  uint32_t firstBinding;    ///< in a pointer table
  uint32_t tiles;
  uint32_t grain;          ///< tiles taken at once; all of a serial command
  uint32_t dependencies;   ///< number of commands it waits for
  uint32_t firstSuccessor; ///< in `successors`
  uint32_t successorCount;
  uint32_t number; ///< in the program
  bool serial;     ///< not worth waking anybody for
};

/// What the workers share about a running command. One cache line each.
struct alignas(64) CommandProgress {
  std::atomic<uint64_t> next;    ///< run number << 32 | first tile not taken
  std::atomic<uint32_t> done;    ///< finished tiles
  std::atomic<uint32_t> waiting; ///< unfinished dependencies
};

struct PreparedProgram {
  std::vector<PreparedCommand> commands;
  std::vector<uint32_t> successors;
  std::vector<uint32_t> roots; ///< commands that wait for nobody
  /// All pointers of all commands, once per input slot.
  std::vector<std::vector<void *>> tables;
  std::vector<int64_t> constants; ///< of all commands
  /// Nothing to share: the caller runs it alone.
  bool alone = true;

  // Used while it runs on several threads.
  std::unique_ptr<CommandProgress[]> progress;
  std::unique_ptr<std::atomic<uint64_t>[]>
      ready; ///< run number << 32 | command
};

/// The address of a buffer when a given input slot is bound.
using BufferAddress = std::function<uint8_t *(uint32_t buffer, uint32_t slot)>;

/// Unavailable if a command is of a kind that does not run here.
Expected<PreparedProgram>
prepareProgram(const fb::PlanT &plan, const fb::ProgramT &program,
               const std::vector<KernelEntry> &entries,
               const std::vector<std::string> &descriptions,
               const BufferAddress &address, uint32_t slots, unsigned threads);

} // namespace dlrt

#endif
