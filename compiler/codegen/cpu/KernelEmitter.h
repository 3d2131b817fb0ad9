// One graph.kernel as an LLVM module.
#pragma once

#include "compiler/codegen/cpu/RegionEmitter.h"
#include "compiler/codegen/cpu/Target.h"
#include "compiler/codegen/cpu/TiledKernel.h"
#include "llvm/IR/Module.h"

namespace dl::cpu {

/// The entry is void <name>(void *const *bindings, const i64 *constants, void
/// *scratch, i64 tile_begin, i64 tile_end); every other function is internal.
std::unique_ptr<llvm::Module> emitKernel(const TiledKernel &kernel,
                                         PayloadCache &payloads,
                                         const TargetVariant &variant,
                                         llvm::LLVMContext &context);

} // namespace dl::cpu
