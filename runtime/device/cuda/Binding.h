// The programs of the ranks at hand with all their addresses.
#ifndef DLRT_DEVICE_CUDA_BINDING_H
#define DLRT_DEVICE_CUDA_BINDING_H

#include "runtime/device/cuda/Context.h"
#include "runtime/device/cuda/Graph.h"
#include "runtime/device/cuda/Places.h"
#include "runtime/plan/JointProgram.h"

#include <cstdint>
#include <vector>

namespace dlrt::cuda {

/// Where a run of a program takes its batch from and leaves its report.
struct RunPlaces {
  uint32_t area = 0;         ///< of the step's on the device
  uint8_t *values = nullptr; ///< scalars, settings and batch, on the host
  uint8_t *report = nullptr;
};

/// A step's program of one kind, to be bound to each of its slots.
class Binding {
public:
  /// All of it must outlive what is bound.
  struct On {
    const PlanSet &set;
    const Ranks &ranks; ///< at hand
    const Places &places;
    const std::vector<Kernel> &kernels;
    const Products &products;
    const Communicator &communicator;
    const DeviceMemory &memory;
    const HostMemory &pinned;
  };

  Binding(const On &on, uint32_t step, size_t program,
          std::vector<JointCommand> joint);

  uint32_t slots() const;
  RunPlaces placesOf(uint32_t slot) const;
  /// `bringsBatch`: the program copies it to the device itself.
  BoundProgram bind(const RunPlaces &run, bool bringsBatch) const;

private:
  const fb::PlanT &planOf(uint32_t rank) const {
    return on.set.of(on.ranks.first + rank);
  }
  const fb::CommandT &commandOf(const JointCommand::Part &part) const {
    return *planOf(part.rank)
                .steps[step]
                ->programs[program]
                ->commands[part.number];
  }
  Pointer arenaAddress(uint32_t rank, const fb::Range &range) const;
  Pointer addressOf(uint32_t rank, const fb::Range &range, Pointer area) const;
  void bindCommand(const JointCommand &joint, Pointer area, Command &out) const;
  void bindLaunch(const JointCommand::Part &part, const fb::LaunchT &launch,
                  Pointer area, Command &out) const;
  void bindMeeting(const Meeting &meeting, Pointer area, Command &out) const;
  void bindProduct(const JointCommand::Part &part, const fb::MultiplyT &product,
                   Command &out) const;
  void describe(const JointCommand &joint, Command &out) const;
  void order(uint32_t command, BoundProgram &out) const;
  void orderMessages(BoundProgram &out) const;

  const On on;
  const uint32_t step;
  const size_t program;
  const std::vector<JointCommand> joint;
  const StepPlaces &own;
  const ProgramPlaces &ownProgram;
  bool batches;
};

} // namespace dlrt::cuda

#endif
