// Compiles only if the device's CublasLt.h says what cublasLt.h says:
// arguments, layouts, numbers. Built where cublasLt.h is.
#include "runtime/device/cuda/CublasLt.h"
#include "test/abi/SameCall.h"

#include <cstddef>
#include <cublasLt.h>

namespace dlrt::cuda::lt {

using dlabi::IsSame;

#define CHECK(member, symbol, result, arguments)                               \
  static_assert(IsSame<result(*) arguments, decltype(&::symbol)>::value,       \
                #symbol);
DLRT_CUBLASLT_FUNCTIONS(CHECK)
#undef CHECK

using Heuristic = cublasLtMatmulHeuristicResult_t;
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Proposal) == sizeof(Heuristic) &&
              offsetof(Proposal, workspaceBytes) ==
                  offsetof(Heuristic, workspaceSize) &&
              offsetof(Proposal, state) == offsetof(Heuristic, state) &&
              offsetof(Proposal, waves) == offsetof(Heuristic, wavesCount));

#define CHECK(ours, theirs) static_assert(int(ours) == int(theirs), #theirs)
CHECK(statusSuccess, CUBLAS_STATUS_SUCCESS);
CHECK(statusNotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
CHECK(computeF32, CUBLAS_COMPUTE_32F);
CHECK(computeF64, CUBLAS_COMPUTE_64F);
CHECK(computeTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
CHECK(typeF32, CUDA_R_32F);
CHECK(typeF64, CUDA_R_64F);
CHECK(transposed, CUBLAS_OP_T);
CHECK(descriptionTransA, CUBLASLT_MATMUL_DESC_TRANSA);
CHECK(descriptionTransB, CUBLASLT_MATMUL_DESC_TRANSB);
CHECK(descriptionEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
CHECK(descriptionBias, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
CHECK(epilogueBias, CUBLASLT_EPILOGUE_BIAS);
CHECK(layoutBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
CHECK(layoutBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
CHECK(preferWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
CHECK(preferReductions, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
CHECK(preferAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
CHECK(preferAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
CHECK(preferAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
CHECK(preferAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
CHECK(algorithmReduction, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
CHECK(reduceNone, CUBLASLT_REDUCTION_SCHEME_NONE);
CHECK(reduceInPlace, CUBLASLT_REDUCTION_SCHEME_INPLACE);
CHECK(reduceComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
CHECK(reduceOutputType, CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
#undef CHECK

} // namespace dlrt::cuda::lt
