// A program with all its addresses, and the driver's graph of it.
#ifndef DLRT_DEVICE_CUDA_GRAPH_H
#define DLRT_DEVICE_CUDA_GRAPH_H

#include "runtime/device/cuda/Modules.h"
#include "runtime/device/cuda/Products.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace dlrt::cuda {

/// A kernel's launch, a product in its place, or a copy on the device.
struct Command {
  const Kernel *kernel = nullptr;   ///< null: a copy
  const Product *product = nullptr; ///< is called, and not the kernel
  ProductPlaces operands;
  std::vector<uint64_t> arguments; ///< addresses, constants, scratch
  std::vector<void *> places;      ///< of the arguments, as the driver wants it
  Pointer from = 0, to = 0;
  uint64_t bytes = 0;
  std::vector<uint32_t> after; ///< earlier commands; each once
  bool readsBatch = false;     ///< or scalars
  uint32_t tiles = 1;          ///< as traces count them
};

/// Bytes between the host's memory and the device's.
struct Transfer {
  uint8_t *host = nullptr;
  Pointer device = 0;
  uint64_t bytes = 0;
  std::vector<uint32_t> after; ///< commands
};

/// A program, bound to one input slot.
struct BoundProgram {
  std::vector<Command> commands;
  std::optional<Transfer> batch; ///< if a graph has to bring it
  std::vector<Transfer> reports; ///< to the host
};

/// Independent commands are independent nodes; the batch comes before those
/// that read it, reports go as soon as they are made.
/// Products are captured from `stream`, which nobody else uses meanwhile.
Expected<Exec> makeGraph(const Driver &cuda, Context context, Stream stream,
                         const BoundProgram &program);

} // namespace dlrt::cuda

#endif
