// cuBLASLt's types as the emulated library needs them: declared anew from
// NVIDIA's documentation, so that it shares no mistake with the runtime's own
// declarations. LibraryAbiCheck.cpp compares them with cublasLt.h where that
// is.
#ifndef DL_TEST_DEVICE_LIBRARY_API_H
#define DL_TEST_DEVICE_LIBRARY_API_H

#include <cstddef>
#include <cstdint>

namespace emulated::lt {

enum Status : int {
  Success = 0,
  NotInitialized = 1,
  InvalidValue = 7,
  ExecutionFailed = 13,
  NotSupported = 15,
};
enum ComputeType : int { Compute32F = 68, Compute64F = 70, ComputeTf32 = 77 };
enum DataType : int { Real32F = 0, Real64F = 1, Real16BF = 14 };
enum Operation : int { AsIs = 0, Transposed = 1 };
enum DescriptionAttribute : int {
  TransA = 3,
  TransB = 4,
  Epilogue = 7,
  BiasPointer = 8,
};
enum EpilogueKind : uint32_t { Nothing = 1, Bias = 4 };
enum LayoutAttribute : int { BatchCount = 5, BatchOffset = 6 };
enum PreferenceAttribute : int {
  MaxWorkspace = 1,
  ReductionMask = 3,
  AlignmentA = 5,
  AlignmentB = 6,
  AlignmentC = 7,
  AlignmentD = 8,
};
enum AlgorithmAttribute : int { ReductionScheme = 3 };
enum Reduction : uint32_t {
  NoReduction = 0,
  InPlace = 1,
  InComputeType = 2,
  InOutputType = 4,
};

struct Algorithm {
  uint64_t data[8];
};

struct HeuristicResult {
  Algorithm algorithm;
  size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};

} // namespace emulated::lt

#endif
