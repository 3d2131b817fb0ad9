// Objects of kernels that were compiled before, on disk.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace dl::kernel {

/// A folder of objects named by a hash of what they were made from. Whatever
/// goes wrong with it (no folder, no rights, a full disk, a damaged file) means
/// that a kernel is compiled again, never that a build fails. Threads and
/// processes may share a folder.
class KernelCache {
public:
  /// A cache that never has anything.
  KernelCache() = default;
  /// A cache in a folder, which is made when something is stored.
  explicit KernelCache(std::string folder) : folder(std::move(folder)) {}

  /// $XDG_CACHE_HOME/dlcc, or ~/.cache/dlcc; disabled if there is neither.
  static KernelCache inUserFolder();

  /// A name for what follows from these bytes.
  static std::string keyOf(llvm::ArrayRef<char> madeFrom);

  bool enabled() const { return !folder.empty(); }
  std::optional<llvm::SmallVector<char, 0>> load(llvm::StringRef key) const;
  void store(llvm::StringRef key, llvm::ArrayRef<char> object) const;

  /// Removes what was not used for a month, and the oldest beyond 256 MiB.
  void prune() const;

private:
  std::string pathOf(llvm::StringRef key) const;

  std::string folder;
};

} // namespace dl::kernel
