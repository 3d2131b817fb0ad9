// NVIDIA's run-time compiler, opened when it is needed: dlcc links no CUDA.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>

namespace dl::cuda {

/// Of registers, to memory.
enum class Spills { Refused, Allowed };

class Nvrtc {
public:
  /// Opens libnvrtc.so of a toolkit: from $DL_NVRTC, a file or a folder, else
  /// where the loader or a toolkit has it. An error says what to install.
  static llvm::Expected<const Nvrtc *> open();

  /// "13.0"
  std::string version() const;

  /// One program for "sm_90" (a cubin) or "ptx_90" (PTX). What the compiler
  /// says is the error, spilled registers too where they are refused.
  llvm::Expected<llvm::SmallVector<char, 0>> compile(const std::string &source,
                                                     const std::string &name,
                                                     llvm::StringRef target,
                                                     Spills spills) const;

private:
  struct Functions;
  explicit Nvrtc(const Functions *functions) : call(functions) {}
  const Functions *call;
};

} // namespace dl::cuda
