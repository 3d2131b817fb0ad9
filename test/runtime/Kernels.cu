// Kernels.c for CUDA, as far as plans of tests for GPUs need it: the same names
// and the same sums. A tile is a block.
typedef long long i64;
typedef float f32;

static __device__ f32 residual(const f32 *x, const f32 *y, const f32 *w,
                               i64 i) {
  f32 sum = 0;
  for (int k = 0; k < 3; ++k)
    sum += x[i * 3 + k] * w[k];
  return sum - y[i];
}

static __device__ void gradient(const f32 *x, const f32 *y, const f32 *w,
                                f32 *g, f32 *loss, i64 items) {
  if (threadIdx.x < 3) { // each of its own feature
    unsigned k = threadIdx.x;
    f32 sum = 0;
    for (i64 i = 0; i < items; ++i)
      sum += 2 * residual(x, y, w, i) * x[i * 3 + k] / (f32)items;
    g[k] = sum;
  }
  if (threadIdx.x == 31) {
    f32 total = 0;
    for (i64 i = 0; i < items; ++i) {
      f32 r = residual(x, y, w, i);
      total += r * r;
    }
    *loss = total / (f32)items;
  }
}

extern "C" __global__ void gradient4(const f32 *x, const f32 *y, const f32 *w,
                                     f32 *g, f32 *loss) {
  gradient(x, y, w, g, loss, 4);
}
extern "C" __global__ void gradient2(const f32 *x, const f32 *y, const f32 *w,
                                     f32 *g, f32 *loss) {
  gradient(x, y, w, g, loss, 2);
}

static __device__ void meanLoss(const f32 *x, const f32 *y, const f32 *w,
                                f32 *loss, i64 items) {
  if (threadIdx.x != 0)
    return;
  f32 sum = 0;
  for (i64 i = 0; i < items; ++i) {
    f32 r = residual(x, y, w, i);
    sum += r * r / (f32)items;
  }
  *loss = sum;
}

extern "C" __global__ void loss4(const f32 *x, const f32 *y, const f32 *w,
                                 f32 *loss) {
  meanLoss(x, y, w, loss, 4);
}
extern "C" __global__ void loss2(const f32 *x, const f32 *y, const f32 *w,
                                 f32 *loss) {
  meanLoss(x, y, w, loss, 2);
}

// One weight a block.
extern "C" __global__ void descend(const f32 *w, const f32 *g, f32 *out) {
  if (threadIdx.x == 0)
    out[blockIdx.x] = w[blockIdx.x] - 0.1f * g[blockIdx.x];
}

static __device__ void accumulate(const f32 *acc, const f32 *g,
                                  const i64 *scalars, f32 *out, f32 items) {
  if (threadIdx.x < 3)
    out[threadIdx.x] = (scalars[2] == 0 ? 0 : acc[threadIdx.x]) +
                       g[threadIdx.x] * items;
}
extern "C" __global__ void accumulate4(const f32 *acc, const f32 *g,
                                       const i64 *scalars, f32 *out) {
  accumulate(acc, g, scalars, out, 4);
}
extern "C" __global__ void accumulate2(const f32 *acc, const f32 *g,
                                       const i64 *scalars, f32 *out) {
  accumulate(acc, g, scalars, out, 2);
}

extern "C" __global__ void descend_mean(const f32 *w, const f32 *acc,
                                        const i64 *scalars, f32 *out) {
  if (threadIdx.x < 3)
    out[threadIdx.x] = w[threadIdx.x] -
                       0.1f * (acc[threadIdx.x] / (f32)scalars[3]);
}

extern "C" __global__ void copy_scalars(const i64 *in, i64 *out) {
  if (threadIdx.x < 8)
    out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void multiply_settings(const double *values,
                                             double *out) {
  if (threadIdx.x == 0)
    *out = values[8] * values[9];
}

extern "C" __global__ void check_positive(const f32 *y, int *flag) {
  if (threadIdx.x != 0)
    return;
  *flag = 0;
  for (int i = 0; i < 4; ++i)
    if (y[i] < 0)
      *flag = 1;
}

// Constants first, step: block i writes first + i * step.
extern "C" __global__ void ramp(i64 *out, i64 first, i64 step) {
  if (threadIdx.x == 0)
    out[blockIdx.x] = first + blockIdx.x * step;
}

// The last block to come adds what the others have left in scratch: a counter,
// then a word for each. The counter is zero again.
extern "C" __global__ void sum_of_blocks(const f32 *x, f32 *out,
                                         unsigned char *scratch) {
  unsigned *counter = (unsigned *)scratch;
  f32 *parts = (f32 *)scratch + 16;
  if (threadIdx.x != 0)
    return;
  parts[blockIdx.x] = x[blockIdx.x];
  __threadfence();
  if (atomicAdd(counter, 1u) != gridDim.x - 1)
    return;
  __threadfence();
  f32 sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i)
    sum += parts[i];
  *out = sum;
  *counter = 0;
}

// Turns its 1024 words around, through shared memory.
extern "C" __global__ void reverse_shared(const f32 *x, f32 *out) {
  extern __shared__ f32 shared[];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
    shared[15 * 1024 + i] = x[i]; // the last 4 of 64 KiB
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
    out[i] = shared[15 * 1024 + 1023 - i];
}

// 3 x 4 times the transpose of 5 x 4, for each of a batch: what a library does.
extern "C" __global__ void multiply_small(const f32 *a, const f32 *b, f32 *d) {
  unsigned row = threadIdx.x / 5, column = threadIdx.x % 5;
  if (row >= 3)
    return;
  f32 sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += a[row * 4 + k] * b[column * 4 + k];
  d[row * 5 + column] = sum;
}

// Writes where nothing is.
extern "C" __global__ void stray(f32 *out) {
  if (threadIdx.x == 0)
    out[1 << 28] = 1;
}
