// What runs the programs of a plan: the border between training and a machine.
#ifndef DLRT_DEVICE_DEVICE_H
#define DLRT_DEVICE_DEVICE_H

#include "runtime/base/Status.h"
#include "runtime/comm/Transport.h"
#include "runtime/device/Buffers.h"
#include "runtime/device/Launch.h"
#include "runtime/device/Trace.h"
#include "runtime/plan/PlanReader.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlrt {

/// Ways of running that bring mistakes to light.
struct CheckOptions {
  /// Dead bytes of the arena hold NaN: those of a buffer before its definition
  /// and after its last use, those of nobody, and each thread's scratch.
  bool poison = false;
  /// Ready commands run in random order, after random delays.
  std::optional<uint64_t> orderSeed;

  /// Pages that fault between the parts of the allocation: tensors, scalars,
  /// batches, scratch. Needs no checked workers.
  bool guard = false;

  /// A launch that makes NaN fails, and the commands in which they begin are
  /// named.
  bool anomalies = false;

  bool any() const { return poison || orderSeed || anomalies; }
};

/// Which ranks of a run a process has.
struct Ranks {
  uint32_t first = 0, count = 1;
  uint32_t total = 1; ///< of the run
};

/// A network between ranks.
struct LinkSpeed {
  double latency = 0;   ///< seconds
  double bandwidth = 0; ///< bytes a second, each way; 0: without end
};

/// What becomes of operands and results that are smaller than the smallest
/// normal number, 1.2e-38 in f32: they count, or are zeros of their sign.
enum class Denormals { Keep, Flush };

struct DeviceOptions {
  unsigned threads = 1;
  std::string isa; ///< "v3", "v4"; empty: the best that runs here
  bool trace = false;
  CheckOptions checks;
  Ranks ranks = {};
  std::optional<LinkSpeed> link = {}; ///< whose time communications take
  Transport *transport = nullptr;     ///< to the ranks that are not at hand
  uint32_t gpu = 0;                   ///< of those that the environment shows
  bool ownKernels = false;            ///< no library of the device's is used
  Denormals denormals = Denormals::Keep;
  /// Which of the host's processes this is, where they do not share cores.
  std::optional<uint32_t> place = {};
};

/// Where the loader puts a component of a batch.
struct InputPlace {
  uint32_t step = 0, slot = 0;
  size_t component = 0;
  uint32_t rank = 0; ///< of the ranks at hand
};

/// One for a process, with all that the process's ranks keep. States and
/// batches may lie in memory that the host cannot reach, and nothing need have
/// run before somebody waits for it: what a launch has written is there once
/// `wait` has returned for it.
class Device : public Buffers {
public:
  /// So many launches may be under way, and what one reports can be waited for
  /// until so many later ones have run.
  static constexpr size_t launchesAhead = 8;

  /// Launches that it pays to have under way besides the one that is waited
  /// for: 0 where nothing runs before somebody waits.
  virtual size_t runsAhead() const { return 0; }

  /// Ranks that can be asked for; their numbers are those of the mesh, from
  /// `DeviceOptions::ranks.first` on.
  virtual uint32_t ranks() const { return 1; }

  /// Queues a launch behind all that were submitted before. Where too many are
  /// under way, waits for the oldest.
  virtual Ticket submit(const Launch &launch) = 0;

  /// Returns when the launch has finished. An error flag that its data raised
  /// is this launch's error, whoever is waited for first, as often as it is
  /// asked for. The report's memory stays until `launchesAhead` later launches
  /// have been submitted. Input slots of this launch may be filled again.
  virtual Expected<Report> wait(Ticket ticket) = 0;

  /// What a setting is in launches that are submitted from here on; `index` is
  /// its position in the plan.
  virtual void setSetting(size_t index, double value) = 0;

  /// Memory of the host to fill before the launch that names the slot is
  /// submitted, and to leave alone until that launch has been waited for. Valid
  /// for slots below `inputSlots` of the step; null where the rank's programs
  /// have no use for the component.
  virtual uint8_t *inputAddress(const InputPlace &place) const = 0;
  virtual uint32_t inputSlots(uint32_t step) const = 0;

  // read and write are refused while launches are under way, for nobody could
  // say whether they come before or after them.

  /// What is being run now, in words, and whether it only waits for messages
  /// of other ranks; null if nothing runs. The words stay as long as the
  /// device. For other threads than the one that waits.
  virtual const char *doing(bool &waits) const {
    waits = false;
    return nullptr;
  }

  /// Index of the kernels' image in use.
  virtual size_t image() const = 0;
  /// Everything allocated: tensors, batches, scratch.
  virtual uint64_t memoryBytes() const = 0;
  /// Whether states of a new device are zeros, and take no memory yet.
  virtual bool beginsAtZero() const { return false; }
  /// How many tiles each thread has run.
  virtual std::vector<uint64_t> tilesPerThread() const = 0;
  /// The library that computes some commands in place of kernels, with its
  /// version; empty: none does.
  virtual const std::string &library() const {
    static const std::string none;
    return none;
  }
  /// The library that carries bytes to ranks of other processes in place of the
  /// transport, with its version; empty: none does.
  virtual const std::string &network() const {
    static const std::string none;
    return none;
  }
  /// What a user should know of how the plan is run.
  virtual const std::vector<std::string> &notes() const {
    static const std::vector<std::string> none;
    return none;
  }
  /// What was done when, if that was asked for; null otherwise. To be read
  /// while nothing is under way.
  virtual const Trace *trace() const = 0;
};

/// Makes a device for a plan, which must outlive it.
using DeviceFactory = std::function<Expected<std::unique_ptr<Device>>(
    const LoadedPlan &, const DeviceOptions &)>;

/// Refuses ranks that are none of the plan's.
Status checkRanks(const PlanSet &set, const Ranks &ranks);

/// What every device refuses: bytes outside of a buffer of the arena, and
/// access while `underWay` launches have not been waited for.
Status checkAccess(const fb::PlanT &plan, const BufferPlace &place,
                   uint64_t bytes, uint64_t underWay);
/// The same of the plans of ranks; others are refused, too.
Status checkAccess(const PlanSet &set, const Ranks &ranks,
                   const BufferPlace &place, uint64_t bytes, uint64_t underWay);

} // namespace dlrt

#endif
