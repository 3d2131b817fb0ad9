// How long a program takes on a GPU, from the seconds of its launches.
#pragma once

#include "compiler/pipeline/Report.h"
#include "dialects/plan/MachineModel.h"

namespace dl {

/// Launches that wait for one another take their times together, others at most
/// what of the device they keep busy; copies of the batch and of metrics come
/// before and behind.
TimeReport predictTime(plan::ProgramOp program,
                       const mlir::SymbolTable &kernels,
                       const plan::MachineModel &machine);

} // namespace dl
