// The part of NVIDIA's library for products of matrices that the device needs,
// declared here, so that nothing of the toolkit is needed to build or to run:
// the library is opened when a plan has products for it.
#ifndef DLRT_DEVICE_CUDA_CUBLASLT_H
#define DLRT_DEVICE_CUDA_CUBLASLT_H

#include "runtime/device/cuda/Driver.h"

namespace dlrt::cuda::lt {

using Status = int;
using Handle = struct HandleT *;
using Description = struct DescriptionT *;
using Layout = struct LayoutT *;
using Preference = struct PreferenceT *;

/// cublasLtMatmulAlgo_t
struct Algorithm {
  uint64_t data[8];
};

/// cublasLtMatmulHeuristicResult_t
struct Proposal {
  Algorithm algorithm;
  size_t workspaceBytes;
  Status state;
  float waves;
  int reserved[4];
};

enum : Status { statusSuccess = 0, statusNotSupported = 15 };

enum : int { // cublasComputeType_t
  computeF32 = 68,
  computeF64 = 70,
  computeTf32 = 77,
};
enum : int { typeF32 = 0, typeF64 = 1, typeBf16 = 14 }; // cudaDataType_t
enum : int { transposed = 1 };                          // cublasOperation_t

enum : int { // attributes of a description, of a layout, of a preference
  descriptionTransA = 3,
  descriptionTransB = 4,
  descriptionEpilogue = 7,
  descriptionBias = 8,
  layoutBatchCount = 5,
  layoutBatchStride = 6,
  preferWorkspace = 1,
  preferReductions = 3,
  preferAlignmentA = 5,
  preferAlignmentB = 6,
  preferAlignmentC = 7,
  preferAlignmentD = 8,
};
enum : uint32_t { epilogueBias = 4 };  // a number for each row of the result
enum : int { algorithmReduction = 3 }; // of an algorithm's configuration

/// How sums that several blocks share are added: in the output in turn, which
/// is left out here, or as parts in the workspace, in a step of its own.
enum : uint32_t {
  reduceNone = 0,
  reduceInPlace = 1,
  reduceComputeType = 2,
  reduceOutputType = 4,
};

/// Member, symbol, result, arguments.
#define DLRT_CUBLASLT_FUNCTIONS(X)                                             \
  X(version, cublasLtGetVersion, size_t, ())                                   \
  X(statusName, cublasLtGetStatusName, const char *, (Status))                 \
  X(create, cublasLtCreate, Status, (Handle *))                                \
  X(destroy, cublasLtDestroy, Status, (Handle))                                \
  X(descriptionCreate, cublasLtMatmulDescCreate, Status,                       \
    (Description *, int, int))                                                 \
  X(descriptionDestroy, cublasLtMatmulDescDestroy, Status, (Description))      \
  X(descriptionSet, cublasLtMatmulDescSetAttribute, Status,                    \
    (Description, int, const void *, size_t))                                  \
  X(layoutCreate, cublasLtMatrixLayoutCreate, Status,                          \
    (Layout *, int, uint64_t, uint64_t, int64_t))                              \
  X(layoutDestroy, cublasLtMatrixLayoutDestroy, Status, (Layout))              \
  X(layoutSet, cublasLtMatrixLayoutSetAttribute, Status,                       \
    (Layout, int, const void *, size_t))                                       \
  X(preferenceCreate, cublasLtMatmulPreferenceCreate, Status, (Preference *))  \
  X(preferenceDestroy, cublasLtMatmulPreferenceDestroy, Status, (Preference))  \
  X(preferenceSet, cublasLtMatmulPreferenceSetAttribute, Status,               \
    (Preference, int, const void *, size_t))                                   \
  X(propose, cublasLtMatmulAlgoGetHeuristic, Status,                           \
    (Handle, Description, Layout, Layout, Layout, Layout, Preference, int,     \
     Proposal *, int *))                                                       \
  X(algorithmGet, cublasLtMatmulAlgoConfigGetAttribute, Status,                \
    (const Algorithm *, int, void *, size_t, size_t *))                        \
  X(multiply, cublasLtMatmul, Status,                                          \
    (Handle, Description, const void *, const void *, Layout, const void *,    \
     Layout, const void *, const void *, Layout, void *, Layout,               \
     const Algorithm *, void *, size_t, Stream))

/// A version of the library.
struct Library {
#define DLRT_CUBLASLT_MEMBER(member, symbol, result, arguments)                \
  result(*member) arguments;
  DLRT_CUBLASLT_FUNCTIONS(DLRT_CUBLASLT_MEMBER)
#undef DLRT_CUBLASLT_MEMBER

  /// "cuBLASLt 13.1.0"
  std::string name() const;
  std::string textOf(Status status) const;

  /// The versions that there may be, the latest first: a driver runs libraries
  /// of its own major version and of earlier ones.
  static constexpr const char *files[] = {
      "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};
  /// One of them, once a process; null, and why, where it is not there.
  static const Library *open(size_t file, std::string &why);
};

} // namespace dlrt::cuda::lt

#endif
