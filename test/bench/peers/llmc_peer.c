// llm.c's side of gpt2.py: its training step of the CPU, as its own main()
// calls it. llmc_peer FOLDER
//
// Built with -I of llm.c's folder. FOLDER has the weights in llm.c's form and
// the batch: int32 B, T, then B T tokens and those that follow them. It speaks
// the protocol of protocol.py.
#define TESTING
#include "train_gpt2.c"

static GPT2 model;
static int shape[2], *tokens, steps;
static char weights[4096];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void step(void) {
  gpt2_forward(&model, tokens, tokens + shape[0] * shape[1], shape[0],
               shape[1]);
  gpt2_zero_grad(&model);
  gpt2_backward(&model);
  gpt2_update(&model, 1e-4f, 0.9f, 0.999f, 1e-8f, 0.0f, ++steps);
}

static double peak_rss_mb(void) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  long kb = 0;
  while (file && fgets(line, sizeof(line), file))
    sscanf(line, "VmHWM: %ld", &kb);
  if (file)
    fclose(file);
  return kb * 1024e-6;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_ms(double seconds) {
  enum { kMost = 10000 };
  static double times[kMost];
  int count = 0;
  double end = now() + seconds;
  do {
    double begin = now();
    step();
    times[count++] = 1e3 * (now() - begin);
  } while (count < kMost && now() < end);
  qsort(times, count, sizeof(double), ascending);
  return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

int main(int argc, char **argv) {
  char batch[4096], line[256];
  int many = 0;
  if (argc != 2)
    return 2;
  snprintf(weights, sizeof(weights), "%s/llmc.bin", argv[1]);
  snprintf(batch, sizeof(batch), "%s/llmc.batch", argv[1]);
  FILE *file = fopenCheck(batch, "rb");
  freadCheck(shape, sizeof(int), 2, file);
  tokens = mallocCheck(2 * shape[0] * shape[1] * sizeof(int));
  freadCheck(tokens, sizeof(int), 2 * shape[0] * shape[1], file);
  fclose(file);
  gpt2_build_from_checkpoint(&model, weights);
  step();
  printf("{\"ready\": \"llm.c\"}\n");
  fflush(stdout);
  while (fgets(line, sizeof(line), stdin)) {
    if (sscanf(line, "loss %d", &many) == 1) {
      gpt2_free(&model);
      gpt2_build_from_checkpoint(&model, weights);
      for (steps = 0; steps < many;)
        step();
      printf("{\"loss\": %.7g}\n", model.mean_loss);
    } else {
      double median = median_ms(atof(line));
      printf("{\"median_ms\": %.6g, \"rss_mb\": %.6g}\n", median,
             peak_rss_mb());
    }
    fflush(stdout);
  }
  return 0;
}
