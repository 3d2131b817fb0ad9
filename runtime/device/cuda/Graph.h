// A program with all its addresses, and the driver's graph of it.
#ifndef DLRT_DEVICE_CUDA_GRAPH_H
#define DLRT_DEVICE_CUDA_GRAPH_H

#include "runtime/device/cuda/Communicator.h"
#include "runtime/device/cuda/Modules.h"
#include "runtime/device/cuda/Products.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlrt::cuda {

struct CopyOnDevice {
  Pointer from = 0, to = 0;
  uint64_t bytes = 0;
};

/// A kernel's launch, a product in its place, or copies on the device, which
/// are independent, together with messages to other processes and from them.
struct Command {
  const Kernel *kernel = nullptr;   ///< null: copies
  const Product *product = nullptr; ///< is called, and not the kernel
  ProductPlaces operands;
  std::vector<uint64_t> arguments; ///< addresses, constants, scratch
  std::vector<void *> places;      ///< of the arguments, as the driver wants it
  std::vector<CopyOnDevice> copies;
  const Communicator *communicator = nullptr; ///< of the messages
  Messages messages;
  std::vector<uint32_t> after; ///< earlier commands; ascending, each once
  bool readsBatch = false;     ///< or scalars
  // As traces and messages name it.
  uint32_t rank = 0, number = 0; ///< of the mesh; in that rank's program
  uint32_t tiles = 1;
  std::string description;
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
/// Products and messages are captured from `stream`, which nobody else uses
/// meanwhile.
Expected<Exec> makeGraph(const Driver &cuda, Context context, Stream stream,
                         const BoundProgram &program);

} // namespace dlrt::cuda

#endif
