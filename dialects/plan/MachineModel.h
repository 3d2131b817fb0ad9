// What the compiler believes about the machine that will run a plan: the one
// place for peaks and costs. Tiling, fusion and serial marking read it, and its
// hash goes into the plan.
#pragma once

#include <cstdint>
#include <string>

namespace dl::plan {

struct MachineModel {
  const char *name = "x86-64, 2 FMA ports";
  /// Of one core, with fused multiply-adds; half of it in f64.
  double flopsPerSecond = 60e9;
  /// From the last-level cache, of one core.
  double bytesPerSecond = 12e9;
  /// Below this much work waking another thread costs more than it brings: a
  /// futex round trip takes 14 to 17 microseconds.
  double serialSeconds = 20e-6;
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 1 << 20;

  /// A roofline: time of one launch on one core.
  double estimateSeconds(double flops, double bytes) const {
    double compute = flops / flopsPerSecond, traffic = bytes / bytesPerSecond;
    return compute > traffic ? compute : traffic;
  }
  bool worthSharing(double flops, double bytes) const {
    return estimateSeconds(flops, bytes) > serialSeconds;
  }
  /// The same for equal numbers, on every host.
  std::string hash() const;
};

/// The machine that plans are made for.
const MachineModel &machineModel();

} // namespace dl::plan
