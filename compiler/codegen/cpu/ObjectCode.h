// From a kernel's LLVM IR to a relocatable ELF object.
#pragma once

#include "compiler/codegen/cpu/Target.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace dl::cpu {

/// All that an object follows from, for a cache: a module before optimisation,
/// the variant, the versions of LLVM and of this code.
llvm::SmallVector<char, 0> madeFrom(const llvm::Module &module,
                                    const TargetVariant &variant);

/// Sets the module's triple and data layout. Whoever emits IR calls it first,
/// so that alignments and sizes are known.
void prepareModule(llvm::Module &module, llvm::TargetMachine &machine);

/// Optimises and compiles a module. Defined functions with external linkage are
/// kernels and stay visible; everything else should be internal. Code that the
/// library functions of C could do (a zeroing loop) stays a loop.
///
/// The pipeline is lean because the emitter already chose the loops, the
/// vectors and the unrolling: it folds, hoists and removes what is common, and
/// nothing in it may change a result's bits. `tuning` is a variant's.
llvm::Expected<llvm::SmallVector<char, 0>>
compileToObject(llvm::Module &module, llvm::TargetMachine &machine,
                llvm::StringRef tuning = "");

} // namespace dl::cpu
