// Compiles only if the emulated library's LibraryApi.h says what cublasLt.h
// says: layouts and numbers. Built where cublasLt.h is.
#include "test/device/LibraryApi.h"

#include <cstddef>
#include <cublasLt.h>

namespace emulated::lt {

using Heuristic = cublasLtMatmulHeuristicResult_t;
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(HeuristicResult) == sizeof(Heuristic) &&
              offsetof(HeuristicResult, workspace) ==
                  offsetof(Heuristic, workspaceSize) &&
              offsetof(HeuristicResult, state) == offsetof(Heuristic, state) &&
              offsetof(HeuristicResult, waves) ==
                  offsetof(Heuristic, wavesCount));

#define CHECK(ours, theirs) static_assert(int(ours) == int(theirs), #theirs)
CHECK(Success, CUBLAS_STATUS_SUCCESS);
CHECK(NotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
CHECK(Compute32F, CUBLAS_COMPUTE_32F);
CHECK(Compute64F, CUBLAS_COMPUTE_64F);
CHECK(ComputeTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
CHECK(Real32F, CUDA_R_32F);
CHECK(Real64F, CUDA_R_64F);
CHECK(Real16BF, CUDA_R_16BF);
CHECK(Transposed, CUBLAS_OP_T);
CHECK(TransA, CUBLASLT_MATMUL_DESC_TRANSA);
CHECK(TransB, CUBLASLT_MATMUL_DESC_TRANSB);
CHECK(Epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
CHECK(BiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
CHECK(Nothing, CUBLASLT_EPILOGUE_DEFAULT);
CHECK(Bias, CUBLASLT_EPILOGUE_BIAS);
CHECK(BatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
CHECK(BatchOffset, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
CHECK(MaxWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
CHECK(ReductionMask, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
CHECK(AlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
CHECK(AlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
CHECK(AlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
CHECK(AlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
CHECK(ReductionScheme, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
CHECK(NoReduction, CUBLASLT_REDUCTION_SCHEME_NONE);
CHECK(InPlace, CUBLASLT_REDUCTION_SCHEME_INPLACE);
CHECK(InComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
CHECK(InOutputType, CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
CHECK(NotInitialized, CUBLAS_STATUS_NOT_INITIALIZED);
CHECK(InvalidValue, CUBLAS_STATUS_INVALID_VALUE);
CHECK(ExecutionFailed, CUBLAS_STATUS_EXECUTION_FAILED);
CHECK(AsIs, CUBLAS_OP_N);
#undef CHECK

} // namespace emulated::lt
