#ifndef DL_SCHEDULE_PASSES
#define DL_SCHEDULE_PASSES

include "dialects/plan/MachineOption.td"

def InsertCopies : Pass<"insert-copies", "::mlir::ModuleOp"> {
  let summary = "Gives every state a new value that can be written over the old one";
  let description = [{
    A step returns new values of states. `lower-to-plan` puts each into the
    buffer of the old value, which needs a kernel that makes just this value and
    whose order against the readers of the old one is free. Where that is not so
    (a value returned twice, an argument returned as it is, an old value that is
    still read with the new one), this pass inserts a kernel that copies, and
    says so in a remark.

    ```mlir
    return %new, %new : ...            // the new values of @a and of @b
    // =>
    %1 = graph.kernel %new {name = "copy_4xf32"} ... { graph.copy ... }
    return %new, %1 : ...
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect"];
}

def LowerToPlan : Pass<"lower-to-plan", "::mlir::ModuleOp"> {
  let summary = "Makes a plan.plan from functions of kernels";
  let description = [{
    Every value of a step gets a buffer: states one for all steps, new values of
    states the buffer of the old one, everything else its own or, where the
    kernel allows, that of an operand that dies. Kernels become commands in an
    order that runs those first that need no new memory. Where a kernel only puts operands one after
    the other (JoinOpInterface), they are computed in its result, and where it takes a stretch of one
    (StretchOpInterface), that is read where it is (Places.h): there is nothing to launch. What cannot be
    there is copied on processors, if it is long. Offsets and dependencies are the next passes' work. The functions stay: code is made from
    them.

    ```mlir
    graph.step @train(%w: tensor<4xf32> state @w) -> (tensor<4xf32> state @w) of "train" {
      %0 = graph.kernel ... {name = "k", inplace = array<i64: 0>}
      graph.return %0
    }
    // =>
    %w = plan.buffer "w" arena bytes 16 pinned
    plan.state "w" parameter in %w ...
    plan.step "train" ... { plan.program full ... { plan.launch @k(%w, %w) } }
    ```
  }];
  let dependentDialects = ["::dl::plan::PlanDialect"];
  let options = [MachineOption<"its hash in the plan, and the seconds of commands">,
                 Option<"target", "target", "::dl::plan::Target", "::dl::plan::Target::Cpu",
                        "What the kernels are for; buffers are in a memory that it reaches",
                        [{::llvm::cl::values(
                            clEnumValN(::dl::plan::Target::Cpu, "cpu", "processors"),
                            clEnumValN(::dl::plan::Target::Cuda, "cuda", "CUDA"))}]>];
}

def MarkSerial : Pass<"mark-serial", "::mlir::ModuleOp"> {
  let summary = "Marks commands that are too small to be shared among threads";
  let description = [{
    Estimates the seconds of each command, from the kernel's FLOPs and bytes, where
    nobody has before. To wake another thread takes `serial_seconds` of the machine;
    a command that is done in less is run by one thread. Devices have no such
    threads, and nothing is marked.

    ```mlir
    %0 = plan.launch @small(%x, %y)
    // =>
    %0 = plan.launch @small(%x, %y) serial seconds 3.0e-06
    ```
  }];
  let options = [MachineOption<"what a command takes, and what to wake a thread">];
}

def PlaceBuffers : Pass<"place-buffers", "::mlir::ModuleOp"> {
  let summary = "Gives every buffer of the arena its offset";
  let description = [{
    Pinned buffers lie first, one after the other. Behind them each program packs
    its temporaries; those of different programs share the same bytes, and within
    a program those that do not live at the same time.

    Where independent commands are worth threads of their own, their bytes do
    not order them, if that takes at most a tenth more memory than the sequence;
    a remark says so.

    ```mlir
    %w = plan.buffer "w" arena bytes 40 pinned
    %a = plan.buffer "a" arena bytes 100
    %b = plan.buffer "b" arena bytes 100  // written when "a" has been read
    // =>
    %w = plan.buffer "w" arena bytes 40 offset 0 pinned
    %a = plan.buffer "a" arena bytes 100 offset 64
    %b = plan.buffer "b" arena bytes 100 offset 64
    ```
  }];
}

def AddDependencies : Pass<"add-dependencies", "::mlir::ModuleOp"> {
  let summary = "Says which commands must have finished before another starts";
  let description = [{
    A command waits for the writers of what it reads, for the readers and writers
    of what it overwrites, and for the last users of bytes that it is the first
    to use again. Communications wait for no others but those whose bytes they
    need: several may be under way. Edges that follow from others are left out.

    ```mlir
    %0 = plan.launch @make(%a)
    %1 = plan.launch @move(%a, %b)
    // =>
    %0 = plan.launch @make(%a)
    %1 = plan.launch @move(%a, %b) after(%0)
    ```
  }];
}

def VerifyRaces : Pass<"verify-races", "::mlir::ModuleOp"> {
  let summary = "Proves that the order of commands is enough";
  let description = [{
    Any two commands that touch overlapping bytes, one of them writing, must be
    ordered; what a command reads must be what was written through the same
    buffer; and nothing but its own buffer may touch the bytes of a state.
    Works from offsets alone and shares nothing with the passes that made them.

    ```mlir
    plan.launch @make(%a)
    plan.launch @move(%a, %b)  // error: command 0 (@make) and command 1 (@move) touch
                                // bytes 0 to 64 of the arena ('a', 'a') and are not ordered
    ```
  }];
}

#endif
