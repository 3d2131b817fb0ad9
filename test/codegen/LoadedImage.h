// Kernels compiled, linked and mapped into the test's process.
#pragma once

#include "compiler/codegen/cpu/Image.h"
#include "compiler/codegen/cpu/ObjectCode.h"
#include "compiler/codegen/cpu/Target.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

#include <cstdint>
#include <memory>

namespace dl::cpu::test {

using KernelFn = void (*)(void *const *bindings, const int64_t *constants,
                          void *scratch, int64_t begin, int64_t end);

/// Takes IR apart from its context.
struct OwnedModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// A module with one kernel whose body is emitted by `body`, at the builder's
/// insertion point; a return is added.
OwnedModule makeKernel(
    llvm::StringRef name,
    llvm::function_ref<void(llvm::IRBuilder<> &, llvm::Function *)> body);

/// A kernel that computes result[i] = f(operands[i]...) for vectors begin to
/// end of `lanes` elements.
using EmitFn = llvm::function_ref<llvm::Value *(llvm::IRBuilderBase &,
                                                llvm::ArrayRef<llvm::Value *>)>;
OwnedModule makeMapKernel(llvm::StringRef name, bool isDouble, unsigned lanes,
                          unsigned numOperands, EmitFn emit);

/// An image that the system's dynamic linker has mapped.
class LoadedImage {
public:
  /// Empty, with a failure recorded, if anything goes wrong.
  static LoadedImage load(llvm::ArrayRef<char> image);
  LoadedImage(LoadedImage &&other);
  ~LoadedImage();

  KernelFn kernel(const char *name) const;
  explicit operator bool() const { return handle; }

private:
  explicit LoadedImage(void *handle) : handle(handle) {}
  void *handle;
};

/// Object code of a module, with a failure recorded if there is none.
llvm::SmallVector<char, 0> compileFor(const TargetVariant &variant,
                                      llvm::Module &module);

/// The default variants that this machine can execute.
llvm::SmallVector<TargetVariant, 4> executableTargets();

} // namespace dl::cpu::test
