#ifndef DL_MACHINE_OPTION
#define DL_MACHINE_OPTION

include "mlir/Pass/PassBase.td"

class MachineOption<string use>
    : Option<"machine", "machine", "::dl::plan::MachineModel",
             "::dl::plan::MachineModel()", "The file that describes the machine, for " # use>;

#endif
