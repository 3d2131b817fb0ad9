#include "dialects/plan/MachineModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

namespace dl::plan {

std::string MachineModel::hash() const {
  std::string text =
      llvm::formatv("{0}|{1:f0}|{2:f0}|{3:e6}|{4}|{5}", name, flopsPerSecond,
                    bytesPerSecond, serialSeconds, l1Bytes, l2Bytes);
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                         /*Width=*/16);
}

const MachineModel &machineModel() {
  static const MachineModel model;
  return model;
}

} // namespace dl::plan
