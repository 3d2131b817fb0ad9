// How long a launch is expected to take on a GPU that is described.
#pragma once

#include "compiler/codegen/cuda/BlockKernel.h"
#include "dialects/plan/MachineModel.h"

namespace dl::cuda {

/// Of a kernel that runs alone and waits for another one: the launch, and what
/// takes longer of computing and moving. A product is what the model of its
/// tiles says, or what it moves; one for a library is by the rate that it
/// reaches.
double predictSeconds(const BlockKernel &kernel,
                      const plan::MachineModel &machine);

} // namespace dl::cuda
