#include "dialects/plan/MachineModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

using llvm::StringRef;

namespace dl::plan {
namespace {

bool read(StringRef text, std::string &value, int64_t) {
  value = text.str();
  return !text.empty();
}

bool read(StringRef text, double &value, int64_t least) {
  return !text.getAsDouble(value) && std::isfinite(value) && value > 0 &&
         value >= static_cast<double>(least);
}

bool read(StringRef text, int64_t &value, int64_t least) {
  return !text.getAsInteger(10, value) && value >= least &&
         value <= std::numeric_limits<int32_t>::max();
}

template <class Field> std::string wanted(int64_t least) {
  if (std::is_same_v<Field, std::string>)
    return "a text";
  if (std::is_same_v<Field, int64_t>)
    return llvm::formatv("a whole number from {0} to {1}", least,
                         std::numeric_limits<int32_t>::max());
  return least ? llvm::formatv("a number of at least {0}", least).str()
               : "a number above 0";
}

/// Empty if the value fits the key.
std::string set(MachineModel &machine, StringRef key, StringRef value) {
  std::string why, nearest;
  bool known = false;
  unsigned best = 4; // more changes are another word
  MachineModel::forEachField(
      machine, [&](StringRef name, auto &field, int64_t least) {
        if (unsigned distance = key.edit_distance(name); distance < best) {
          best = distance;
          nearest = name.str();
        }
        if (name != key)
          return;
        known = true;
        if (!read(value, field, least))
          why = llvm::formatv(
              "{0} = {1}: {2} is wanted", key, value,
              wanted<std::remove_reference_t<decltype(field)>>(least));
      });
  if (known)
    return why;
  return llvm::formatv("{0} is not known{1}", key,
                       nearest.empty()
                           ? "; dlcc --emit=machine writes all there are"
                           : "; did you mean " + nearest + "?");
}

} // namespace

/// Peaks of a whole chip and its memory (in GiB: what a driver names is a
/// little less), as its data sheet says, matrices without sparsity: H100 and
/// H200 SXM https://resources.nvidia.com/en-us-tensor-core, A100 SXM
/// https://www.nvidia.com/en-us/data-center/a100, RTX 4090
/// https://www.nvidia.com/en-us/geforce/graphics-cards/40-series/rtx-4090 and
/// https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf.
/// Copies from the host are by 16 lanes of PCI Express 5 or 4.
///
/// Products were measured on an H100 and an H200 (test/gpu/RESULTS.md). Ours:
/// 38 to 45 TFLOP/s in f32, 95 to 130 in tf32, where instructions besides the
/// multiplications take as long as these: the least of it, by processors and
/// clocks. In f64 the share of f32 is taken. cuBLASLt's, of large squares: 50
/// TFLOP/s in f32, 230 to 280 in tf32. In bf16, which was not measured, both
/// are taken for twice as fast, as the multiplications are.
std::optional<MachineModel> MachineModel::known(StringRef name) {
  struct Chip {
    const char *key, *name;
    double flops, bytes, tf32, f64, f64Matrix;
    double ownTf32, hostBytes;
    int64_t processors, memoryGib;
  };
  static constexpr Chip chips[] = {
      {"h100", "NVIDIA H100 SXM", 67e12, 3.35e12, 494.7e12, 34e12, 67e12, 95e12,
       64e9, 132, 80},
      {"h200", "NVIDIA H200 SXM", 67e12, 4.8e12, 494.7e12, 34e12, 67e12, 95e12,
       64e9, 132, 141},
      {"a100", "NVIDIA A100 SXM 80 GB", 19.5e12, 2.04e12, 156e12, 9.7e12,
       19.5e12, 55e12, 32e9, 108, 80},
      {"rtx4090", "NVIDIA GeForce RTX 4090", 82.6e12, 1.01e12, 82.6e12, 1.29e12,
       1.29e12, 55e12, 32e9, 128, 24}};
  for (const Chip &chip : chips) {
    if (name != chip.key)
      continue;
    MachineModel machine;
    machine.name = chip.name;
    machine.flopsPerSecond = chip.flops;
    machine.bytesPerSecond = chip.bytes;
    machine.f64FlopsPerSecond = chip.f64;
    machine.hostBytesPerSecond = chip.hostBytes;
    machine.processors = chip.processors;
    machine.memoryMib = chip.memoryGib << 10;
    // Measured on an H100: 0.98 us a kernel in a row of 300 (test/gpu).
    machine.launchSeconds = 1e-6;
    // A launch within a graph; waiting for less than that costs nothing.
    machine.serialSeconds = 2e-6;
    // What one block goes over by itself.
    machine.l1Bytes = 16 << 10;
    machine.minFusedRows = 32;
    // Tiles of products are in registers, and no windows are in them.
    machine.maxWindow = 1;
    // Rows of a chain are in shared memory: of 99 KiB that a block may have on
    // each chip, what its products do not need.
    machine.chainScratchBytes = 72 << 10;
    machine.chainRows = 32;
    // The whole device has to have enough to do with a chunk.
    machine.chunkLeastBytes = 1 << 30;
    machine.chunkBytes = 512 << 20;
    machine.chunkRows = 4096;
    machine.maxPrologueReaders = 0;
    // One comparison for 16 bytes.
    machine.padsInProducts = 1;
    machine.widensInReaders = 1;
    constexpr double own = 0.62, library = 0.75, libraryTf32 = 0.5;
    machine.productF32 = own * chip.flops;
    machine.productTf32 = chip.ownTf32;
    machine.productBf16 = 2 * chip.ownTf32;
    machine.productF64 = own * chip.f64;
    machine.libraryF32 = library * chip.flops;
    machine.libraryTf32 = libraryTf32 * chip.tf32;
    machine.libraryBf16 = 2 * machine.libraryTf32;
    machine.libraryF64 = library * chip.f64Matrix;
    return machine;
  }
  return std::nullopt;
}

llvm::Expected<MachineModel> MachineModel::parse(StringRef text,
                                                 StringRef path) {
  MachineModel machine;
  llvm::StringSet<> seen;
  for (size_t line = 1; !text.empty(); ++line) {
    auto [content, rest] = text.split('\n');
    text = rest;
    content = content.split('#').first.trim();
    if (content.empty())
      continue;
    auto [key, value] = content.split('=');
    key = key.trim();
    std::string why =
        !content.contains('=') ? ("key = value is wanted, not " + content).str()
        : !seen.insert(key).second ? (key + " is said twice").str()
                                   : set(machine, key, value.trim());
    if (!why.empty())
      return llvm::createStringError(
          llvm::formatv("{0}:{1}: {2}", path, line, why));
  }
  return machine;
}

static std::string textOf(const std::string &value) { return value; }
static std::string textOf(int64_t value) { return std::to_string(value); }
static std::string textOf(double value) {
  char text[32]; // the fewest digits that are this number
  return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

std::string MachineModel::text() const {
  std::string text;
  forEachField(*this, [&](StringRef name, const auto &field, int64_t) {
    text += (name + " = " + textOf(field) + "\n").str();
  });
  return text;
}

std::string MachineModel::hash() const {
  return llvm::utohexstr(llvm::xxh3_64bits(text()), /*LowerCase=*/true,
                         /*Width=*/16);
}

} // namespace dl::plan
