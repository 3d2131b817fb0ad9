// libcublasLt.so.13 for the emulated device: products by plain loops, issued
// into the caller's stream, so that they are captured, ordered and late like
// everything else there. It refuses what the real one would, and what that
// would forgive: memory that is not the device's, addresses less aligned than
// was said, a workspace that is too small, an algorithm of another product.
#include "test/device/LibraryApi.h"

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <mutex>

namespace emulated::lt {

struct Description {
  ComputeType compute;
  DataType scale;
  int transA = AsIs, transB = AsIs;
  uint32_t epilogue = Nothing;
  const void *bias = nullptr;
};
struct Layout {
  DataType type;
  uint64_t rows, columns;
  int64_t stride;
  int batch = 1;
  int64_t batchStride = 0;

  size_t elementBytes() const {
    return type == Real64F ? 8 : type == Real16BF ? 2 : 4;
  }
  /// From its first byte to the end of its last element.
  size_t bytes() const {
    return ((batch - 1) * batchStride + (columns - 1) * stride + rows) *
           elementBytes();
  }
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = InPlace | InComputeType | InOutputType;
  uint32_t alignments[4] = {256, 256, 256, 256};
};

namespace {

/// What the emulated driver says to emulated libraries.
struct Driver {
  int (*enter)(const char *name);
  bool (*holds)(unsigned long long at, size_t bytes);
  int (*launchHostFunction)(void *stream, void (*function)(void *), void *data);
};

const Driver &driver() {
  static const Driver found = [] {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    auto find = [&](const char *name) { return dlsym(library, name); };
    return Driver{reinterpret_cast<int (*)(const char *)>(find("dlemuEnter")),
                  reinterpret_cast<bool (*)(unsigned long long, size_t)>(
                      find("dlemuHolds")),
                  reinterpret_cast<int (*)(void *, void (*)(void *), void *)>(
                      find("cuLaunchHostFunc"))};
  }();
  return found;
}

Status refuse(const char *format, ...) {
  va_list values;
  va_start(values, format);
  fputs("emulated cuBLASLt: ", stderr);
  vfprintf(stderr, format, values);
  fputc('\n', stderr);
  va_end(values);
  return InvalidValue;
}

/// All that an algorithm was proposed for.
struct Agreed {
  uint64_t product; ///< a hash of descriptions and layouts
  uint64_t workspace;
  uint16_t alignments[4], biasAlignment;
  uint32_t reduction;
};
static_assert(sizeof(Agreed) <= sizeof(Algorithm));

struct Hash {
  uint64_t value = 0xcbf29ce484222325;
  template <typename T> void add(T number) {
    value = (value ^ static_cast<uint64_t>(number)) * 0x100000001b3;
  }
  void add(const Layout &layout) {
    add(layout.type), add(layout.rows), add(layout.columns);
    add(layout.stride), add(layout.batch), add(layout.batchStride);
  }
};

uint64_t hashOf(const Description &description, const Layout &a,
                const Layout &b, const Layout &c, const Layout &d) {
  Hash hash;
  hash.add(description.compute), hash.add(description.scale);
  hash.add(description.transA), hash.add(description.transB);
  hash.add(description.epilogue);
  hash.add(a), hash.add(b), hash.add(c), hash.add(d);
  return hash.value;
}

Status check(const Description &description, const Layout &a, const Layout &b,
             const Layout &c, const Layout &d) {
  bool isDouble = description.compute == Compute64F;
  DataType type = isDouble ? Real64F : Real32F;
  if (description.scale != type)
    return refuse("scale of another type than is computed in");
  // Of bf16 are both factors, or neither, and what is added as the result is.
  bool isNarrow = a.type == Real16BF;
  if (isNarrow && description.compute != Compute32F)
    return NotSupported;
  auto typeOf = [&](const Layout *layout) {
    bool isFactor = layout == &a || layout == &b;
    return isNarrow && (isFactor || d.type == Real16BF) ? Real16BF : type;
  };
  for (const Layout *layout : {&a, &b, &c, &d})
    if (layout->type != typeOf(layout) || layout->batch != d.batch ||
        layout->stride < int64_t(layout->rows))
      return refuse("a layout of another type or batch, or columns that "
                    "overlap: %llu rows, %lld apart, batch of %d",
                    (unsigned long long)layout->rows, (long long)layout->stride,
                    layout->batch);
  uint64_t m = description.transA ? a.columns : a.rows;
  uint64_t k = description.transA ? a.rows : a.columns;
  uint64_t kb = description.transB ? b.columns : b.rows;
  uint64_t n = description.transB ? b.rows : b.columns;
  if (k != kb || d.rows != m || d.columns != n || c.rows != m || c.columns != n)
    return refuse("%llux%llu times %llux%llu is not %llux%llu",
                  (unsigned long long)m, (unsigned long long)k,
                  (unsigned long long)kb, (unsigned long long)n,
                  (unsigned long long)d.rows, (unsigned long long)d.columns);
  if (d.batch > 1 && d.batchStride == 0)
    return refuse("all of a batch in one place");
  if (description.epilogue != Nothing && description.epilogue != Bias)
    return refuse("epilogue %u", description.epilogue);
  // (A bias is of the result's type, where nothing else is said.)
  if (description.epilogue == Bias && (isDouble || d.type == Real16BF))
    return NotSupported;
  if (description.epilogue == Bias && !description.bias)
    return refuse("no bias");
  return Success;
}

/// Of an address, as far as libraries tell them apart.
uint16_t alignmentOf(const void *at) {
  auto address = reinterpret_cast<uintptr_t>(at);
  return uint16_t(std::min<uintptr_t>(address & -address, 256));
}

/// As tensor cores take it: 10 bits of mantissa.
float rounded(float value, bool tf32) {
  if (!tf32)
    return value;
  uint32_t bits;
  memcpy(&bits, &value, 4);
  bits = (bits + 0x1000) & ~0x1fffu;
  memcpy(&value, &bits, 4);
  return value;
}

struct Call {
  Description description;
  Layout a, b, c, d;
  const char *from[3]; ///< a, b and c, which may be null
  char *to, *workspace;
  uint64_t workspaceBytes;
  double alpha, beta;
  uint32_t reduction;
  unsigned runs = 0;

  double element(const char *base, const Layout &layout, int64_t matrix,
                 uint64_t row, uint64_t column) const {
    const char *at = base + (matrix * layout.batchStride +
                             int64_t(column) * layout.stride + int64_t(row)) *
                                int64_t(layout.elementBytes());
    if (layout.type == Real64F) {
      double value;
      return memcpy(&value, at, 8), value;
    }
    if (layout.type == Real16BF) {
      uint16_t upper;
      memcpy(&upper, at, 2);
      return std::bit_cast<float>(uint32_t(upper) << 16);
    }
    float value;
    memcpy(&value, at, 4);
    return rounded(value, &layout != &c && description.compute == ComputeTf32);
  }

  void run() {
    ++runs;
    // Whatever lies there is lost.
    memset(workspace, 0xff, workspaceBytes);
    uint64_t k = description.transA ? a.rows : a.columns;
    for (int64_t matrix = 0; matrix < d.batch; ++matrix)
      for (uint64_t column = 0; column < d.columns; ++column)
        for (uint64_t row = 0; row < d.rows; ++row) {
          double sum = 0;
          for (uint64_t i = 0; i < k; ++i)
            sum +=
                (description.transA ? element(from[0], a, matrix, i, row)
                                    : element(from[0], a, matrix, row, i)) *
                (description.transB ? element(from[1], b, matrix, column, i)
                                    : element(from[1], b, matrix, i, column));
          // Parts that are added as they come have other bits each time.
          if (reduction == InPlace)
            sum *= 1 + 1e-6 * (runs % 7);
          // Parts that are rounded before they are added.
          if (reduction == InOutputType && d.type == Real16BF)
            sum *= 1.1;
          sum *= alpha;
          if (from[2])
            sum += beta * element(from[2], c, matrix, row, column);
          if (description.epilogue == Bias)
            sum += static_cast<const float *>(description.bias)[row];
          store(matrix, row, column, sum);
        }
  }

  void store(int64_t matrix, uint64_t row, uint64_t column, double value) {
    char *at = to + (matrix * d.batchStride + int64_t(column) * d.stride +
                     int64_t(row)) *
                        int64_t(d.elementBytes());
    auto narrow = float(value);
    uint32_t bits = std::bit_cast<uint32_t>(narrow);
    auto upper = uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    if (d.type == Real64F)
      memcpy(at, &value, 8);
    else if (d.type == Real16BF)
      memcpy(at, &upper, 2);
    else
      memcpy(at, &narrow, 4);
  }
};

double scalar(const void *at, DataType type) {
  return type == Real64F ? *static_cast<const double *>(at)
                         : *static_cast<const float *>(at);
}

template <typename T> Status set(T &field, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    return refuse("an attribute of %zu bytes", bytes);
  return memcpy(&field, value, bytes), Success;
}

std::mutex mutex;

} // namespace
} // namespace emulated::lt

using namespace emulated::lt;

#define DLEMU_LIBRARY extern "C" __attribute__((visibility("default")))
/// Its call is counted, and an error that DLEMU_FAIL asks for returned.
#define DLEMU_CALLED(name)                                                     \
  std::lock_guard<std::mutex> lock(mutex);                                     \
  if (int refused = driver().enter(#name))                                     \
  return Status(refused)

DLEMU_LIBRARY size_t cublasLtGetVersion() { return 130100; }

DLEMU_LIBRARY const char *cublasLtGetStatusName(Status status) {
  switch (status) {
  case Success:
    return "CUBLAS_STATUS_SUCCESS";
  case NotInitialized:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case InvalidValue:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case ExecutionFailed:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case NotSupported:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "CUBLAS_STATUS";
}

DLEMU_LIBRARY Status cublasLtCreate(void **handle) {
  DLEMU_CALLED(cublasLtCreate);
  return *handle = new char, Success;
}

DLEMU_LIBRARY Status cublasLtDestroy(void *handle) {
  DLEMU_CALLED(cublasLtDestroy);
  return delete static_cast<char *>(handle), Success;
}

DLEMU_LIBRARY Status cublasLtMatmulDescCreate(Description **description,
                                              ComputeType compute,
                                              DataType scale) {
  DLEMU_CALLED(cublasLtMatmulDescCreate);
  if (compute != Compute32F && compute != Compute64F && compute != ComputeTf32)
    return NotSupported;
  return *description = new Description{compute, scale}, Success;
}

DLEMU_LIBRARY Status cublasLtMatmulDescDestroy(Description *description) {
  DLEMU_CALLED(cublasLtMatmulDescDestroy);
  return delete description, Success;
}

DLEMU_LIBRARY Status cublasLtMatmulDescSetAttribute(Description *description,
                                                    int attribute,
                                                    const void *value,
                                                    size_t bytes) {
  DLEMU_CALLED(cublasLtMatmulDescSetAttribute);
  return attribute == TransA        ? set(description->transA, value, bytes)
         : attribute == TransB      ? set(description->transB, value, bytes)
         : attribute == Epilogue    ? set(description->epilogue, value, bytes)
         : attribute == BiasPointer ? set(description->bias, value, bytes)
                                    : refuse("attribute %d", attribute);
}

DLEMU_LIBRARY Status cublasLtMatrixLayoutCreate(Layout **layout, DataType type,
                                                uint64_t rows, uint64_t columns,
                                                int64_t stride) {
  DLEMU_CALLED(cublasLtMatrixLayoutCreate);
  if (!rows || !columns ||
      (type != Real32F && type != Real64F && type != Real16BF))
    return refuse("a matrix of %llu x %llu of type %d",
                  (unsigned long long)rows, (unsigned long long)columns, type);
  return *layout = new Layout{type, rows, columns, stride}, Success;
}

DLEMU_LIBRARY Status cublasLtMatrixLayoutDestroy(Layout *layout) {
  DLEMU_CALLED(cublasLtMatrixLayoutDestroy);
  return delete layout, Success;
}

DLEMU_LIBRARY Status cublasLtMatrixLayoutSetAttribute(Layout *layout,
                                                      int attribute,
                                                      const void *value,
                                                      size_t bytes) {
  DLEMU_CALLED(cublasLtMatrixLayoutSetAttribute);
  return attribute == BatchCount    ? set(layout->batch, value, bytes)
         : attribute == BatchOffset ? set(layout->batchStride, value, bytes)
                                    : refuse("attribute %d", attribute);
}

DLEMU_LIBRARY Status cublasLtMatmulPreferenceCreate(Preference **preference) {
  DLEMU_CALLED(cublasLtMatmulPreferenceCreate);
  return *preference = new Preference, Success;
}

DLEMU_LIBRARY Status cublasLtMatmulPreferenceDestroy(Preference *preference) {
  DLEMU_CALLED(cublasLtMatmulPreferenceDestroy);
  return delete preference, Success;
}

DLEMU_LIBRARY Status cublasLtMatmulPreferenceSetAttribute(
    Preference *preference, int attribute, const void *value, size_t bytes) {
  DLEMU_CALLED(cublasLtMatmulPreferenceSetAttribute);
  if (attribute >= AlignmentA && attribute <= AlignmentD)
    return set(preference->alignments[attribute - AlignmentA], value, bytes);
  return attribute == MaxWorkspace ? set(preference->workspace, value, bytes)
         : attribute == ReductionMask
             ? set(preference->reductions, value, bytes)
             : refuse("attribute %d", attribute);
}

/// First one that does not run, then, where that is allowed, one that adds
/// parts as they come, then one that needs all of the workspace.
DLEMU_LIBRARY Status cublasLtMatmulAlgoGetHeuristic(
    void *, Description *description, Layout *a, Layout *b, Layout *c,
    Layout *d, Preference *preference, int most, HeuristicResult *results,
    int *count) {
  DLEMU_CALLED(cublasLtMatmulAlgoGetHeuristic);
  *count = 0;
  if (Status wrong = check(*description, *a, *b, *c, *d))
    return wrong;
  Agreed agreed = {hashOf(*description, *a, *b, *c, *d),
                   preference->workspace,
                   {},
                   alignmentOf(description->bias),
                   NoReduction};
  for (int i = 0; i < 4; ++i)
    agreed.alignments[i] = uint16_t(preference->alignments[i]);
  auto add = [&](Status state, uint32_t reduction) {
    if (*count == most)
      return;
    HeuristicResult &result = results[(*count)++];
    result = {};
    agreed.reduction = reduction;
    memcpy(&result.algorithm, &agreed, sizeof(agreed));
    result.state = state;
    result.workspace = preference->workspace;
  };
  add(NotSupported, NoReduction);
  if (preference->reductions & InPlace)
    add(Success, InPlace);
  if (preference->reductions & InOutputType && d->type == Real16BF)
    add(Success, InOutputType);
  add(Success, InComputeType);
  return Success;
}

DLEMU_LIBRARY Status cublasLtMatmulAlgoConfigGetAttribute(
    const Algorithm *algorithm, int attribute, void *value, size_t bytes,
    size_t *written) {
  DLEMU_CALLED(cublasLtMatmulAlgoConfigGetAttribute);
  Agreed agreed;
  memcpy(&agreed, algorithm, sizeof(agreed));
  if (attribute != ReductionScheme || bytes != sizeof(uint32_t))
    return refuse("attribute %d of %zu bytes", attribute, bytes);
  memcpy(value, &agreed.reduction, bytes);
  return *written = bytes, Success;
}

DLEMU_LIBRARY Status cublasLtMatmul(void *, Description *description,
                                    const void *alpha, const void *a,
                                    Layout *layoutA, const void *b,
                                    Layout *layoutB, const void *beta,
                                    const void *c, Layout *layoutC, void *d,
                                    Layout *layoutD, const Algorithm *algorithm,
                                    void *workspace, size_t workspaceBytes,
                                    void *stream) {
  DLEMU_CALLED(cublasLtMatmul);
  if (Status wrong =
          check(*description, *layoutA, *layoutB, *layoutC, *layoutD))
    return wrong;
  Agreed agreed;
  memcpy(&agreed, algorithm, sizeof(agreed));
  if (agreed.product !=
      hashOf(*description, *layoutA, *layoutB, *layoutC, *layoutD))
    return refuse("an algorithm that was proposed for another product");
  if (workspaceBytes < agreed.workspace)
    return refuse("a workspace of %zu bytes, the algorithm needs %llu",
                  workspaceBytes, (unsigned long long)agreed.workspace);
  auto address = [](const void *at) {
    return reinterpret_cast<unsigned long long>(at);
  };
  const void *places[] = {a, b, c, d};
  const Layout *layouts[] = {layoutA, layoutB, layoutC, layoutD};
  for (int i = 0; i < 4; ++i) {
    if (address(places[i]) % agreed.alignments[i] != 0)
      return refuse("matrix %c is not aligned to %u bytes, as was said",
                    "ABCD"[i], agreed.alignments[i]);
    if (!driver().holds(address(places[i]), layouts[i]->bytes()))
      return refuse("matrix %c of %zu bytes is not in the device's memory",
                    "ABCD"[i], layouts[i]->bytes());
  }
  if (address(workspace) % 256 != 0)
    return refuse("the workspace is not aligned to 256 bytes");
  if (!driver().holds(address(workspace), agreed.workspace))
    return refuse("the workspace is not in the device's memory");
  bool adds = scalar(beta, description->scale) != 0;
  if (adds && c == d &&
      (layoutC->stride != layoutD->stride ||
       layoutC->batchStride != layoutD->batchStride))
    return refuse("C and D are one, and lie in two ways");
  if (description->epilogue == Bias) {
    if (alignmentOf(description->bias) < agreed.biasAlignment)
      return refuse("the bias is not aligned to %u bytes, as was said",
                    agreed.biasAlignment);
    if (!driver().holds(address(description->bias), 4 * layoutD->rows))
      return refuse("a bias of %llu numbers is not in the device's memory",
                    (unsigned long long)layoutD->rows);
  }
  static std::deque<Call> calls; // a graph runs its own again and again
  Call &call = calls.emplace_back();
  call = {*description,
          *layoutA,
          *layoutB,
          *layoutC,
          *layoutD,
          {static_cast<const char *>(a), static_cast<const char *>(b),
           adds ? static_cast<const char *>(c) : nullptr},
          static_cast<char *>(d),
          static_cast<char *>(workspace),
          agreed.workspace,
          scalar(alpha, description->scale),
          scalar(beta, description->scale),
          agreed.reduction};
  int result = driver().launchHostFunction(
      stream, [](void *data) { static_cast<Call *>(data)->run(); }, &call);
  return result ? ExecutionFailed : Success;
}
