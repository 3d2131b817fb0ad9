/* Plans in a program of your own: training, evaluations and predictions of data
 * that lie in memory. C99; dlrun.hpp is the same for C++17.
 *
 *   dlrun_model *model;
 *   size_t digits;
 *   if (dlrun_open("digits.plan", NULL, &model) ||
 *       dlrun_load_weights(model, "runs/a") ||
 *       dlrun_find_step(model, "digits", &digits))
 *     die(dlrun_error());
 *   float scores[10];
 *   dlrun_array picture = {bytes, 28 * 28, DLRUN_U8};
 *   dlrun_buffer result = {scores, sizeof scores};
 *   if (dlrun_run(model, digits, &picture, 1, 1, &result, 1))
 *     die(dlrun_error());
 *
 * A step of the model (p.train, p.eval, p.predict) is a function of its inputs.
 * Arrays are row-major; items come first. A model is used by one thread at a
 * time; several models need not wait for each other. Nothing here prints, exits
 * or installs a signal handler.
 */
#ifndef DLRUN_H
#define DLRUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DLRUN_API __attribute__((visibility("default")))
#else
#define DLRUN_API
#endif

/* 0, or why not; the numbers are dlrun's exit codes. */
typedef enum dlrun_status {
  DLRUN_OK = 0,
  DLRUN_WRONG_DATA = 1,  /* values, or a number of items that does not fit */
  DLRUN_WRONG_USE = 2,   /* no such step, not enough room */
  DLRUN_UNAVAILABLE = 3, /* no device or memory, or not in this version */
  DLRUN_WRONG_FILE = 4,  /* cannot be read or written */
  DLRUN_WRONG_PLAN = 5,  /* damaged, or not for this machine */
  DLRUN_RANK_LOST = 6,
  DLRUN_BUG = 70 /* of dlrun */
} dlrun_status;

/* Of this thread's last call that failed; valid until its next one that fails.
 */
DLRUN_API const char *dlrun_error(void);
/* "0.1.0" */
DLRUN_API const char *dlrun_version(void);

typedef struct dlrun_model dlrun_model;

/* Structs begin with their size, so that fields can be added at the end: say
 * dlrun_options options = {sizeof options}; */
typedef struct dlrun_options {
  size_t size;
  unsigned threads; /* 0: one per core */
  uint64_t seed;    /* of initial values and dropout; 0 */
  int flush_denormals;
  /* Is told what a user should know, such as values that were narrowed. Must
   * not throw. */
  void (*warn)(void *context, const char *text);
  void *warn_context;
} dlrun_options;

/* A plan on the device it was compiled for, with initial weights. Options may
 * be NULL. Bytes are copied: a plan that is part of the program (#embed, or ld
 * -r -b binary) is opened so. */
DLRUN_API dlrun_status dlrun_open(const char *plan,
                                  const dlrun_options *options,
                                  dlrun_model **model);
DLRUN_API dlrun_status dlrun_open_bytes(const void *plan, size_t bytes,
                                        const dlrun_options *options,
                                        dlrun_model **model);
DLRUN_API void dlrun_close(dlrun_model *model); /* NULL: nothing */

typedef enum dlrun_dtype {
  DLRUN_F16,
  DLRUN_F32,
  DLRUN_F64,
  DLRUN_I64,
  DLRUN_I32,
  DLRUN_U8,
  DLRUN_BOOL,
  DLRUN_I8,
  DLRUN_I16,
  DLRUN_U16,
  DLRUN_U32,
  DLRUN_U64
} dlrun_dtype;

typedef enum dlrun_kind { DLRUN_TRAIN, DLRUN_EVAL, DLRUN_PREDICT } dlrun_kind;

/* What a tensor is to the model. */
typedef enum dlrun_role {
  DLRUN_INPUT,
  DLRUN_UNUSED_INPUT, /* the step does not read it */
  DLRUN_OUTPUT,
  DLRUN_PARAMETER,
  DLRUN_BUFFER, /* running statistics, a dl::Buffer */
  DLRUN_SLOT    /* what an optimizer keeps for a parameter */
} dlrun_role;

/* What pointers show stays as long as the model. */
typedef struct dlrun_step_info {
  size_t size;
  const char *name;
  dlrun_kind kind;
  uint64_t batch_size;   /* items of a batch */
  uint64_t update_items; /* of p.train: the most that one call takes */
  size_t inputs, outputs;
} dlrun_step_info;

typedef struct dlrun_tensor_info {
  size_t size;
  const char *name;
  dlrun_dtype dtype;
  dlrun_role role;
  int per_item; /* each item has one of this shape */
  size_t dims;
  const uint64_t *shape;
} dlrun_tensor_info;

DLRUN_API size_t dlrun_step_count(const dlrun_model *model);
DLRUN_API dlrun_status dlrun_get_step(const dlrun_model *model, size_t step,
                                      dlrun_step_info *info);
/* By the name that logs have. A plan's only training step is "train". */
DLRUN_API dlrun_status dlrun_find_step(const dlrun_model *model,
                                       const char *name, size_t *step);
/* As the data set of the step has them, raw: u8 for MNIST's pictures, one token
 * more than `length` for a window of tokens, u8 [3, H, W] as its transforms of
 * files leave them for a folder's pictures. */
DLRUN_API dlrun_status dlrun_get_input(const dlrun_model *model, size_t step,
                                       size_t input, dlrun_tensor_info *info);
/* What p.predict() returns for each item; what p.train() and p.eval() report,
 * numbers as f64. */
DLRUN_API dlrun_status dlrun_get_output(const dlrun_model *model, size_t step,
                                        size_t output, dlrun_tensor_info *info);

typedef struct dlrun_array {
  const void *data;  /* NULL: an input that is not used */
  size_t elements;   /* of all items */
  dlrun_dtype dtype; /* converted as dlrun does, where it is not the input's */
} dlrun_array;

typedef struct dlrun_buffer {
  void *data; /* NULL: not wanted */
  size_t bytes;
} dlrun_buffer;

/* Runs a step on so many items.
 *   p.predict: any number; an output has a row for each.
 *   p.eval:    any number; outputs are means over them. Each call is an
 *              evaluation to a ReduceLROnPlateau that watches it.
 *   p.train:   one update, of up to update_items; a batch that is not full must
 *              be one that the plan has a program for, as for dlrun.
 * Full batches are fastest; an item may have other bits in one than alone.
 * Tensors of p.train() are there for full batches only.
 * After an error nothing has changed, but for a plan for GPUs without
 * --accumulate whose step has found a value out of range: that update is done
 * and counts, and its message says so. */
DLRUN_API dlrun_status dlrun_run(dlrun_model *model, size_t step,
                                 const dlrun_array *inputs, size_t input_count,
                                 size_t items, const dlrun_buffer *outputs,
                                 size_t output_count);

/* What p.epoch() is in training from here on, and schedulers of epochs see; 0
 * at first. */
DLRUN_API dlrun_status dlrun_set_epoch(dlrun_model *model, uint64_t epoch);
DLRUN_API uint64_t dlrun_epoch(const dlrun_model *model);
/* Updates so far, those of a loaded checkpoint too. */
DLRUN_API uint64_t dlrun_updates(const dlrun_model *model);

/* A p.setting(), or a number of the optimizer: "optim.lr", which is what
 * schedulers begin with; the rate of an update is its output "lr". */
DLRUN_API dlrun_status dlrun_set_setting(dlrun_model *model,
                                         const char *setting, double value);
DLRUN_API dlrun_status dlrun_get_setting(const dlrun_model *model,
                                         const char *setting, double *value);

/* Weights: a .safetensors file, several by their "part-*.safetensors" or
 * .index.json, or the folder of a run or of a Hugging Face model. */
DLRUN_API dlrun_status dlrun_load_weights(dlrun_model *model, const char *path);
DLRUN_API dlrun_status dlrun_save_weights(const dlrun_model *model,
                                          const char *path);
/* All that training goes on with: optimizer, settings, number of updates,
 * epoch, seed. Those of dlrun can be loaded, and the files serve as weights,
 * too. One of another plan is taken if all states fit, and `warn` is told. */
DLRUN_API dlrun_status dlrun_load_checkpoint(dlrun_model *model,
                                             const char *path);
DLRUN_API dlrun_status dlrun_save_checkpoint(const dlrun_model *model,
                                             const char *path);

/* Parameters, buffers and slots, by their names in a state_dict or a
 * checkpoint.
 */
DLRUN_API size_t dlrun_state_count(const dlrun_model *model);
DLRUN_API dlrun_status dlrun_get_state(const dlrun_model *model, size_t state,
                                       dlrun_tensor_info *info);
DLRUN_API dlrun_status dlrun_read_state(const dlrun_model *model,
                                        const char *name, void *values,
                                        size_t bytes);
DLRUN_API dlrun_status dlrun_write_state(dlrun_model *model, const char *name,
                                         const void *values, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
