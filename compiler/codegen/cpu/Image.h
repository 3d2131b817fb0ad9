// Links the kernels of a plan into one shared object that needs no dynamic
// linker.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace dl::cpu {

/// The code of one kernel; the name is for messages.
struct NamedObject {
  llvm::StringRef name;
  llvm::ArrayRef<char> bytes;
};

/// Links relocatable objects into an ELF shared object that can be mapped
/// anywhere: no undefined symbol, no dynamic relocation, nothing writable, no
/// thread-local storage. An object that would need one of these is refused by
/// name. The same objects in the same order give the same bytes.
///
/// May be called from several threads; they take turns.
llvm::Expected<std::vector<char>>
linkImage(llvm::ArrayRef<NamedObject> objects);

} // namespace dl::cpu
