// The section of a CUDA image: modules, and which of them has which kernel.
#ifndef DLRT_PLAN_MODULETABLE_H
#define DLRT_PLAN_MODULETABLE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// A module is what the driver loads at once: a cubin, PTX or another text.
struct ModuleTable {
  /// Bytes that outlive the table. Behind those of one that was read is a zero,
  /// as the driver wants it of texts.
  std::vector<std::span<const uint8_t>> modules;
  /// Position of its module, by the kernel's entry.
  std::map<std::string, uint32_t, std::less<>> entries;
};

/// Equal tables give equal bytes. FORMAT.md has the form.
std::vector<uint8_t> writeModuleTable(const ModuleTable &table);

/// The modules are views of `section`.
Expected<ModuleTable> readModuleTable(std::span<const uint8_t> section);

} // namespace dlrt

#endif
