// What the compiler believes about the machine that will run a plan: the one
// place for peaks, caches and what decisions follow from them. Passes and
// kernels are given it; its hash goes into the plan.
//
//   # A file for dlcc --machine=FILE: what is not said stays as it is here.
//   name = Xeon, 2 FMA ports
//   flops_per_second = 90e9
//   l1_bytes = 49152
#pragma once

#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace dl::plan {

struct MachineModel {
  std::string name = "x86-64, 2 FMA ports";
  /// Of one core, with fused multiply-adds; half of it in f64.
  double flopsPerSecond = 60e9;
  /// From the last-level cache, of one core.
  double bytesPerSecond = 12e9;
  /// Below this much work waking another thread costs more than it brings: a
  /// futex round trip takes 14 to 17 microseconds.
  double serialSeconds = 20e-6;
  int64_t l1Bytes = 32 << 10;

  /// What fusion has to save for each second that it makes others wait: two
  /// threads that run two kernels at once then lose at most a twentieth when
  /// they run one after the other.
  double gainOverWait = 10;
  /// Fewer rows than this are not cut into tiles for the sake of fusion.
  int64_t minFusedRows = 4;
  /// A product is cut into whole windows of at most so many elements if it has
  /// at least so many of them.
  int64_t maxWindow = 16, minWindows = 4;
  /// A kernel has no more ops: LLVM's time grows faster than the code, and what
  /// is stored and loaded after so many is little beside them.
  int64_t maxKernelOps = 128;
  /// What is computed on inputs alone, such as decoding of pixels, is computed
  /// again in products that read it, if they are not more than this.
  int64_t maxPrologueReaders = 2;
  /// Zeros around an operand are left out where a product reads it, and not
  /// stored around a copy: 1 or 0.
  int64_t padsInProducts = 0;
  /// What is stored as bf16 is widened by whoever reads it, products too; else
  /// these read it widened from memory: 1 or 0.
  int64_t widensInReaders = 0;
  /// No more ops than this wait together: those of a few operands fit into one
  /// kernel.
  int64_t maxWaitingOps = 32;

  /// One tile of about this many floating-point operations is worth handing to
  /// a thread: ~2 us of a core at its peak, ~20 us of scalar-heavy code.
  int64_t tileFlops = 1 << 17;
  int64_t maxTiles = 256;
  /// What a tile leaves in scratch for its next stage stays in the first-level
  /// cache, where the steps of a product are not more than that: those of many
  /// channels are up to 1 MiB.
  int64_t tileScratchBytes = 24 << 10;
  int64_t maxScratchTiles = 4096;

  /// Products that are a chain through values of so many bytes or more (scores
  /// of attention) are one kernel, if one slice of their batch needs no more
  /// scratch than that; 0: never.
  int64_t chainLeastBytes = 1 << 20, chainScratchBytes = 12 << 20;
  /// A tile of a chain has about so much of them.
  int64_t chainTileBytes = 768 << 10;
  /// A chain is of rows, which each product makes of rows, and so many of them
  /// have the scratch; 0: of slices of the batch.
  int64_t chainRows = 0;

  /// What products make of less and others make into less (logits of a loss) is
  /// computed in chunks if it has so many bytes or more, 0: never; of so many
  /// bytes, or of so many rows, below which products wait for their operands.
  int64_t chunkLeastBytes = 64 << 20, chunkBytes = 32 << 20, chunkRows = 512;

  /// Communications wait for others until they move so many bytes together: as
  /// many as the first bucket of PyTorch's DDP.
  int64_t bucketBytes = 1 << 20;

  /// Products. Steps of k of so many bytes leave much of the lanes to fetch.
  int64_t farStepBytes = 512;
  /// k of a panel of lanes that is not part of a cache block: 128 k of 64
  /// floats are 32 KiB.
  int64_t panelDepth = 128;
  /// Results of so many elements and rows are computed in cache blocks of so
  /// many rows at most.
  int64_t blockedResult = 256 * 256, minBlockRows = 8, maxBlockRows = 512;
  /// Of each row in a k block: the packed rows of one are 3/4 MiB at most, a
  /// panel of lanes is 48 KiB.
  int64_t blockRowBytes = 1536;
  /// Rows of a narrow product, which are packed for the second-level cache.
  int64_t maxNarrowBytes = 512 << 10;
  /// What the rows of a tile of sums along k have of a k block.
  int64_t dotBlockBytes = 32 << 10;

  /// Floating-point operations a second that products of matrices reach on the
  /// whole device: kernels of ours, and the vendor's library. Where that is not
  /// faster it is not used.
  double productF32 = 60e9, productTf32 = 60e9, productBf16 = 60e9,
         productF64 = 30e9;
  double libraryF32 = 60e9, libraryTf32 = 60e9, libraryBf16 = 60e9,
         libraryF64 = 30e9;
  /// GPUs. What a plan has to fit into; 0: not known.
  int64_t memoryMib = 0;
  /// What blocks of threads are shared among: a GPU's SMs.
  int64_t processors = 1;
  /// From the end of a kernel to that of a tiny one that waits for it.
  double launchSeconds = 1e-6;
  double f64FlopsPerSecond = 30e9;
  /// Of copies between the host's memory and the device's.
  double hostBytesPerSecond = 12e9;

  /// A roofline: time of one launch on one core.
  double estimateSeconds(double flops, double bytes) const {
    double compute = flops / flopsPerSecond, traffic = bytes / bytesPerSecond;
    return compute > traffic ? compute : traffic;
  }
  /// Products that sum up so many numbers of `bytes` at most, at `rate` FLOPs a
  /// second, are computed again in less time than what they make takes in
  /// memory: a chain's columns stream then, and heads of attention as wide have
  /// no scores in memory. Twice as many where a mask hides columns, of which
  /// half are left out. 0 where chains have no rows.
  int64_t streamedWidth(double rate, int64_t bytes, bool masked) const {
    return chainRows > 0 && chainScratchBytes > 0
               ? int64_t((masked ? 2 : 1) * double(bytes) * rate /
                         bytesPerSecond)
               : 0;
  }
  /// Values of so many elements stay in the first-level cache.
  int64_t l1Elements() const { return l1Bytes / 4; }
  int64_t memoryBytes() const { return memoryMib << 20; }

  /// Calls visit(key, field, least) for every field, in the order of a file:
  /// parser, text and hash know the same ones.
  template <class Self, class Visitor>
  static void forEachField(Self &self, Visitor visit);

  /// A description that comes with the compiler: "h100", "h200", "a100",
  /// "rtx4090"; nothing for another name.
  static std::optional<MachineModel> known(llvm::StringRef name);

  /// What a file says; `path` is for errors, which begin with "path:line: ".
  static llvm::Expected<MachineModel> parse(llvm::StringRef text,
                                            llvm::StringRef path);
  /// As a file says it.
  std::string text() const;
  /// The same for equal descriptions, on every host.
  std::string hash() const;
};

template <class Self, class Visitor>
void MachineModel::forEachField(Self &self, Visitor visit) {
  visit("name", self.name, 0);
  visit("flops_per_second", self.flopsPerSecond, 1);
  visit("bytes_per_second", self.bytesPerSecond, 1);
  visit("serial_seconds", self.serialSeconds, 0);
  visit("l1_bytes", self.l1Bytes, 1024);
  visit("gain_over_wait", self.gainOverWait, 0);
  visit("min_fused_rows", self.minFusedRows, 1);
  visit("max_window", self.maxWindow, 1);
  visit("min_windows", self.minWindows, 1);
  visit("max_kernel_ops", self.maxKernelOps, 1);
  visit("max_prologue_readers", self.maxPrologueReaders, 0);
  visit("pads_in_products", self.padsInProducts, 0);
  visit("widens_in_readers", self.widensInReaders, 0);
  visit("max_waiting_ops", self.maxWaitingOps, 0);
  visit("tile_flops", self.tileFlops, 1);
  visit("max_tiles", self.maxTiles, 1);
  visit("tile_scratch_bytes", self.tileScratchBytes, 1);
  visit("max_scratch_tiles", self.maxScratchTiles, 1);
  visit("chain_least_bytes", self.chainLeastBytes, 0);
  visit("chain_scratch_bytes", self.chainScratchBytes, 0);
  visit("chain_tile_bytes", self.chainTileBytes, 1);
  visit("chain_rows", self.chainRows, 0);
  visit("chunk_least_bytes", self.chunkLeastBytes, 0);
  visit("chunk_bytes", self.chunkBytes, 1);
  visit("chunk_rows", self.chunkRows, 1);
  visit("bucket_bytes", self.bucketBytes, 0);
  visit("far_step_bytes", self.farStepBytes, 1);
  visit("panel_depth", self.panelDepth, 8);
  visit("blocked_result", self.blockedResult, 1);
  visit("min_block_rows", self.minBlockRows, 1);
  visit("max_block_rows", self.maxBlockRows, 1);
  visit("block_row_bytes", self.blockRowBytes, 512);
  visit("max_narrow_bytes", self.maxNarrowBytes, 0);
  visit("dot_block_bytes", self.dotBlockBytes, 1);
  visit("product_f32_flops", self.productF32, 1);
  visit("product_tf32_flops", self.productTf32, 1);
  visit("product_bf16_flops", self.productBf16, 1);
  visit("product_f64_flops", self.productF64, 1);
  visit("library_f32_flops", self.libraryF32, 1);
  visit("library_tf32_flops", self.libraryTf32, 1);
  visit("library_bf16_flops", self.libraryBf16, 1);
  visit("library_f64_flops", self.libraryF64, 1);
  visit("memory_mib", self.memoryMib, 0);
  visit("processors", self.processors, 1);
  visit("launch_seconds", self.launchSeconds, 0);
  visit("f64_flops_per_second", self.f64FlopsPerSecond, 1);
  visit("host_bytes_per_second", self.hostBytesPerSecond, 1);
}

} // namespace dl::plan
