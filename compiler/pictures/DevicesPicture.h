// What each class of ranks does in a step, beside each other.
#pragma once

#include "compiler/pictures/Picture.h"
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dl::pictures {

/// Kernels of one module and one part, or one exchange; of micro-batches all
/// together.
struct DeviceItem {
  /// Items of an exchange stand in one row of all its members; -1: computing.
  int exchange = -1;
  Part part = Part::Forward;
  std::string title;  // "conv1", "all_gather over dp"
  std::string detail; // "3 kernels", "12.3 kB, 4 times"
  std::string where;  // "mnist.dl:14:17"
};

/// A class of ranks: they run the same.
struct DeviceColumn {
  std::string title, place; // "ranks 0, 1", "pp 0 · dp 0 to 1"
  std::string memory;       // "states 12 kB"
  std::vector<DeviceItem> items;
};

struct DevicesPicture {
  std::string title, subtitle;
  std::vector<DeviceColumn> columns;
  int exchanges = 0; ///< rows that columns share
};

/// A step after kernels have been formed, from the modules of all classes.
DevicesPicture describeDevices(llvm::ArrayRef<mlir::ModuleOp> units,
                               llvm::StringRef step);

std::string writeDevicesSvg(const DevicesPicture &picture);

} // namespace dl::pictures
