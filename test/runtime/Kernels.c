// Kernels for hand-made plans: least squares y = x . w with three features.
typedef long long i64;
typedef float f32;

enum { features = 3 };

static f32 residual(const f32 *x, const f32 *y, const f32 *w, i64 i) {
  f32 sum = 0;
  for (int k = 0; k < features; ++k)
    sum += x[i * features + k] * w[k];
  return sum - y[i];
}

// (x, y, w) -> (gradient of the mean squared error, its value)
static void gradient(void *const *b, i64 items) {
  const f32 *x = b[0], *y = b[1], *w = b[2];
  f32 *g = b[3], *loss = b[4];
  f32 total = 0;
  for (int k = 0; k < features; ++k)
    g[k] = 0;
  for (i64 i = 0; i < items; ++i) {
    f32 r = residual(x, y, w, i);
    total += r * r;
    for (int k = 0; k < features; ++k)
      g[k] += 2 * r * x[i * features + k] / (f32)items;
  }
  *loss = total / (f32)items;
}

void gradient4(void *const *b, const i64 *constants, void *scratch, i64 begin,
               i64 end) {
  gradient(b, 4);
}
void gradient2(void *const *b, const i64 *constants, void *scratch, i64 begin,
               i64 end) {
  gradient(b, 2);
}
void gradient1(void *const *b, const i64 *constants, void *scratch, i64 begin,
               i64 end) {
  gradient(b, 1);
}

// (a, b) -> their mean, one f32 a tile
void mean_pair(void *const *b, const i64 *constants, void *scratch, i64 begin,
               i64 end) {
  const f32 *l = b[0], *r = b[1];
  f32 *out = b[2];
  for (i64 i = begin; i < end; ++i)
    out[i] = (l[i] + r[i]) / 2;
}

// (x, y, w) -> loss
void loss4(void *const *b, const i64 *constants, void *scratch, i64 begin,
           i64 end) {
  f32 *loss = b[3];
  *loss = 0;
  for (i64 i = 0; i < 4; ++i) {
    f32 r = residual(b[0], b[1], b[2], i);
    *loss += r * r / 4;
  }
}

void loss2(void *const *b, const i64 *constants, void *scratch, i64 begin,
           i64 end) {
  f32 *loss = b[3];
  *loss = 0;
  for (i64 i = 0; i < 2; ++i) {
    f32 r = residual(b[0], b[1], b[2], i);
    *loss += r * r / 2;
  }
}

void loss1(void *const *b, const i64 *constants, void *scratch, i64 begin,
           i64 end) {
  f32 *loss = b[3];
  f32 r = residual(b[0], b[1], b[2], 0);
  *loss = r * r;
}

// (w, g) -> w, one tile a weight
void descend(void *const *b, const i64 *constants, void *scratch, i64 begin,
             i64 end) {
  const f32 *w = b[0], *g = b[1];
  f32 *out = b[2];
  for (i64 i = begin; i < end; ++i)
    out[i] = w[i] - 0.1f * g[i];
}

// (acc, g, scalars) -> acc: the sum over micro-batches of 4 items
static void accumulate(void *const *b, f32 items) {
  const f32 *acc = b[0], *g = b[1];
  const i64 *scalars = b[2];
  f32 *out = b[3];
  for (int k = 0; k < features; ++k)
    out[k] = (scalars[2] == 0 ? 0 : acc[k]) + g[k] * items;
}
void accumulate4(void *const *b, const i64 *constants, void *scratch, i64 begin,
                 i64 end) {
  accumulate(b, 4);
}
void accumulate2(void *const *b, const i64 *constants, void *scratch, i64 begin,
                 i64 end) {
  accumulate(b, 2);
}

// (w, acc, scalars) -> w
void descend_mean(void *const *b, const i64 *constants, void *scratch,
                  i64 begin, i64 end) {
  const f32 *w = b[0], *acc = b[1];
  const i64 *scalars = b[2];
  f32 *out = b[3];
  for (int k = 0; k < features; ++k)
    out[k] = w[k] - 0.1f * (acc[k] / (f32)scalars[3]);
}

// () -> out: tile i writes i * i, through its thread's scratch
void squares(void *const *b, const i64 *constants, void *scratch, i64 begin,
             i64 end) {
  i64 *out = b[0], *s = scratch;
  for (i64 i = begin; i < end; ++i) {
    s[0] = i;
    s[7] = s[0] * i;
    out[i] = s[7];
  }
}

// (a, b) -> sum: one i64 a tile
void add(void *const *b, const i64 *constants, void *scratch, i64 begin,
         i64 end) {
  const i64 *l = b[0], *r = b[1];
  i64 *out = b[2];
  for (i64 i = begin; i < end; ++i)
    out[i] = l[i] + r[i];
}

// constants first, step; () -> out: tile i writes first + i * step
void ramp(void *const *b, const i64 *constants, void *scratch, i64 begin,
          i64 end) {
  i64 *out = b[0];
  for (i64 i = begin; i < end; ++i)
    out[i] = constants[0] + i * constants[1];
}

// () -> out: whether it has no constants
void bare(void *const *b, const i64 *constants, void *scratch, i64 begin,
          i64 end) {
  i64 *out = b[0];
  *out = constants == 0;
}

// (scalars) -> copy
void copy_scalars(void *const *b, const i64 *constants, void *scratch,
                  i64 begin, i64 end) {
  const i64 *in = b[0];
  i64 *out = b[1];
  for (int i = 0; i < 8; ++i)
    out[i] = in[i];
}

// (scalars) -> product of the first two settings behind them
void multiply_settings(void *const *b, const i64 *constants, void *scratch,
                       i64 begin, i64 end) {
  const double *settings = (const double *)b[0] + 8;
  double *out = b[1];
  *out = settings[0] * settings[1];
}

// (y) -> flag: 1 if a value is negative
void check_positive(void *const *b, const i64 *constants, void *scratch,
                    i64 begin, i64 end) {
  const f32 *y = b[0];
  int *flag = b[1];
  *flag = 0;
  for (i64 i = 0; i < 4; ++i)
    if (y[i] < 0)
      *flag = 1;
}

// () -> mode: the floating-point control word
void control_word(void *const *b, const i64 *constants, void *scratch,
                  i64 begin, i64 end) {
  for (i64 i = begin; i < end; ++i) {
    unsigned *out = b[0];
    __asm__ volatile("stmxcsr %0" : "=m"(out[i]));
    out[i] &= ~0x3fu; // exception flags
  }
}

// () -> nothing good
void crash(void *const *b, const i64 *constants, void *scratch, i64 begin,
           i64 end) {
  volatile int *nowhere = (volatile int *)8;
  *nowhere = 1;
}

// () -> out: tiles that take a while
void spin(void *const *b, const i64 *constants, void *scratch, i64 begin,
          i64 end) {
  volatile i64 *out = b[0];
  for (i64 i = begin; i < end; ++i) {
    for (volatile int n = 0; n < 200000; ++n)
      ;
    out[i] = i;
  }
}
