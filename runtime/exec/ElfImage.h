// Loads a kernel image: a position-independent ELF64 object without
// relocations or undefined symbols. No dynamic linker is involved.
#ifndef DLRT_EXEC_ELFIMAGE_H
#define DLRT_EXEC_ELFIMAGE_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

namespace dlrt {

/// bindings: operands, then results; constants: of this launch, null where the
/// kernel has none; scratch: of this thread.
using KernelEntry = void (*)(void *const *bindings, const int64_t *constants,
                             void *scratch, int64_t tileBegin, int64_t tileEnd);

class ElfImage {
public:
  /// Copies the segments into memory of their own, writable or executable but
  /// never both. Damaged headers give an error; the code itself is trusted.
  static Expected<ElfImage> load(std::span<const uint8_t> bytes);

  ElfImage() = default;
  ElfImage(ElfImage &&other) noexcept { swap(other); }
  ElfImage &operator=(ElfImage &&other) noexcept {
    swap(other);
    return *this;
  }
  ~ElfImage();

  /// The function of that name, or null.
  KernelEntry find(std::string_view name) const;

private:
  friend class ElfLoader;
  void swap(ElfImage &other) {
    std::swap(base, other.base);
    std::swap(span, other.span);
    symbols.swap(other.symbols);
  }

  uint8_t *base = nullptr;
  size_t span = 0;
  /// Names point into the image's own string table.
  std::unordered_map<std::string_view, uint64_t> symbols;
};

} // namespace dlrt

#endif
