#pragma once
// The border between a .dl and dlcc: plain C, so that a .dl may be evaluated
// by the compiler's own Clang or built by any C++23 compiler. Everything that
// makes a graph goes through dl_emit(); the rest is what a graph op cannot say:
// steps, parameters, modules, data, settings.
//
// Tensors are handles, small integers. No function returns or throws an error:
// what is wrong is reported with the user's line, and the evaluation ends
// there.

extern "C" {

typedef long long dl_int;

// Shapes have room for so many dimensions on both sides.
enum { DL_MAX_RANK = 8 };

// DL_FLOAT is the floating-point type of the whole program (dlcc --dtype).
enum dl_dtype {
  DL_FLOAT,
  DL_FLOAT32,
  DL_FLOAT64,
  DL_INT64,
  DL_INT32,
  DL_UINT8,
  DL_BOOL
};

// DL_TENSOR is taken as it is. DL_PROMOTED and scalars are brought to one
// element type, as in PyTorch: bool < integers < floats, scalars give way.
// DL_DOUBLE_SCALAR is an f64 whatever the program computes with.
// DL_STEP_SCALARS stands for the step's seed, number and the like.
enum dl_operand_kind {
  DL_TENSOR,
  DL_PROMOTED,
  DL_BOOL_SCALAR,
  DL_INT_SCALAR,
  DL_FLOAT_SCALAR,
  DL_DOUBLE_SCALAR,
  DL_STEP_SCALARS
};

struct dl_operand {
  int kind;
  int tensor;
  dl_int integer;
  double number;
};

// DL_ATTR_KEY: a random key made from the module path, 64 bits.
// DL_ATTR_TYPE: a tensor type from `integer` (a dl_dtype) and `list` (a shape).
// DL_ATTR_NUMBER: an optimizer's number that is no constant, the handle
// `integer`. DL_ATTR_COUNT: where `integer` is not 0, the number of the
// update, if that of the step does not tell it.
enum dl_attr_kind {
  DL_ATTR_INT,
  DL_ATTR_FLOAT,
  DL_ATTR_BOOL,
  DL_ATTR_INTS,
  DL_ATTR_STRING,
  DL_ATTR_DTYPE,
  DL_ATTR_TYPE,
  DL_ATTR_KEY,
  DL_ATTR_NUMBER,
  DL_ATTR_COUNT
};

struct dl_attr {
  const char *name;
  int kind;
  dl_int integer;
  double number;
  const dl_int *list;
  int count;
  const char *text;
};

// Creates the op "graph.<name>" in the step being traced, writes the handles of
// its results and returns how many there are.
int dl_emit(const char *name, const dl_operand *operands, int operand_count,
            const dl_attr *attributes, int attribute_count, int *results,
            int capacity) noexcept;

const dl_int *dl_shape(int tensor, int *rank) noexcept;
int dl_dtype_of(int tensor) noexcept;
int dl_value(int tensor) noexcept; // all of it, as a view
// Whether integers are known to be in [0, bound), whatever the data is.
int dl_indices_fit(int index, dl_int bound) noexcept;
// DL_FLOAT for what is the floating-point type of the program.
int dl_dtype_resolved(int dtype) noexcept;
int dl_float_is_double(void) noexcept;

// The function that the user called: from now on messages begin with its name
// instead of that of an op it consists of. The first of nested ones counts;
// null ends it. Returns what it was.
const char *dl_called(const char *function) noexcept;

// Messages. "{}" in the format stands for the next argument.
enum dl_text_kind {
  DL_TEXT_INT,
  DL_TEXT_STRING,
  DL_TEXT_SHAPE,
  DL_TEXT_NUMBER
};
struct dl_text {
  int kind;
  dl_int integer;
  double number;
  const char *string;
  const dl_int *list;
  int count;
};
[[noreturn]] void dl_fail(const char *format, const dl_text *arguments,
                          int count) noexcept;
// The same for what PyTorch has and this version lacks.
[[noreturn]] void dl_unsupported(const char *format, const dl_text *arguments,
                                 int count) noexcept;

// Initial distributions: constant a; uniform in [a, b); normal with mean a and
// standard deviation b. Those of parameters only: truncated to [low, high];
// normal with zeros in row `low`; a times an orthogonal matrix; what passes
// channels on in a groups; normal with the share a of each column zero. Of
// tensors that are no state: a, a + b, a + 2b, ... along the only dim.
enum dl_initial_kind {
  DL_CONSTANT,
  DL_UNIFORM,
  DL_NORMAL,
  DL_TRUNCATED,
  DL_PADDED,
  DL_ORTHOGONAL,
  DL_DIRAC,
  DL_SPARSE,
  DL_PROGRESSION
};
int dl_initial(int kind, double a, double b, const dl_int *dims, int rank,
               int dtype) noexcept;
int dl_parameter(int tensor) noexcept;
// A state of any element type that steps assign.
int dl_buffer(int tensor, int before) noexcept;
void dl_assign(int state, int tensor) noexcept;
void dl_parameter_initial(int parameter, int kind, double a, double b,
                          double low, double high) noexcept;
int dl_is_state(int tensor) noexcept;
// It begins with the values that the other state begins with.
void dl_initial_as(int state, int other) noexcept;

// A tensor, and what it is a view of, changes: an op in place.
void dl_become(int tensor, int value) noexcept;
int dl_clone(int tensor) noexcept;
int dl_contiguous(int tensor) noexcept; // itself, or a clone
// A part by indices that are tensors; what is assigned may be none.
enum dl_copied { DL_COPIED_PART, DL_COPIED_ASSIGNED, DL_COPIED_VIEW };
void dl_copied_part(int tensor, int what) noexcept; // nothing changes a view's

// Modules: `path` is known after a walk from the outermost module.
enum dl_member_kind { DL_MEMBER_MODULE, DL_MEMBER_PARAMETER, DL_MEMBER_BUFFER };
// `stride` is 0, or that of the elements of a std::vector at the offset; they
// are named 0, 1 and so on behind the member's name. Where `held` is set, the
// place has a pointer to the object.
struct dl_member {
  const char *name;
  int kind;
  dl_int offset; // from the start of the whole object
  dl_int stride;
  dl_int inside; // where in an element or a held object it lies
  int held;
};
const dl_member *dl_members(const void *module, int *count) noexcept;
int dl_module_known(const void *module) noexcept;
void dl_module_made(const void *module) noexcept;
void dl_module_gone(const void *module) noexcept;
// The first module made of those that live and that no walk has met; null where
// there is none.
const void *dl_module_unmet(void) noexcept;
void dl_modules_changed() noexcept;
void dl_module_enter(const void *module, int evaluates) noexcept;
void dl_module_leave() noexcept;
// Of what is made in between, the backward computes values again. Within
// another one it is a part of that.
void dl_checkpoint_begin(void) noexcept;
void dl_checkpoint_end(void) noexcept;
void dl_gradients_off(int scopes) noexcept; // 1 more, or -1
void dl_walk_enter(const char *name, const void *module) noexcept;
void dl_walk_parameter(const char *name, int parameter) noexcept;
void dl_walk_buffer(const char *name, int buffer) noexcept;
void dl_walk_leave() noexcept;
struct dl_named_parameter {
  const char *name;
  int parameter;
};
// What the last complete walk found, tied parameters once.
const dl_named_parameter *dl_walk_result(int *count) noexcept;

// Gradients and optimizers; `slots` are kept for each parameter, 0 at first.
void dl_backward(int loss) noexcept;
int dl_grad(int parameter) noexcept;
// Of a scalar by any tensors; of what it does not depend on -1, or an error.
void dl_gradients(int output, const int *inputs, int count, int allow_unused,
                  int *gradients) noexcept;
// From here on the gradient is another tensor of its shape.
void dl_set_grad(int parameter, int tensor) noexcept;
int dl_has_grad(int parameter) noexcept;
void dl_zero_grad(const int *parameters, int count) noexcept;
// A parameter that is frozen (value 0) takes no part in gradients where it is
// used from then on.
void dl_requires_grad(int parameter, int value) noexcept;
int dl_requires_grad_of(int parameter) noexcept;
// One that has a number has it in the names of settings and rates: "optim1.lr".
int dl_optimizer(int numbered) noexcept;
void dl_optimizer_group(int optimizer, const int *parameters,
                        int count) noexcept;
void dl_optimizer_zero_grad(int optimizer) noexcept;
// Whether the step uses any of its parameters.
int dl_optimizer_used(int optimizer) noexcept;
// Updates one group; returns 0 where none of its parameters has a gradient.
int dl_optimizer_step(int optimizer, int group, const char *op,
                      const char *const *slots, int slot_count,
                      const dl_attr *attributes, int attribute_count) noexcept;
// An optimizer that is written with ops: between begin and end it goes through
// the parameters of its groups. dl_update_next gives the next one that has a
// gradient, or -1.
// Where some parameters are updated by another tensor, the others stay.
void dl_update_begin(int optimizer, int group) noexcept;
void dl_update_by(int parameter, int tensor) noexcept;
int dl_update_next(int *gradient) noexcept;
void dl_update_end(void) noexcept;
// A slot of the parameter, with this value in all elements at first: like the
// parameter (DL_SLOT_LIKE), one f64 (DL_SLOT_NUMBER), or of this rank and shape
// in the type of the parameter. dl_slot_assign without a name changes the
// parameter.
enum { DL_SLOT_LIKE = -1, DL_SLOT_NUMBER = -2 };
int dl_slot(int parameter, const char *name, double initial, const dl_int *dims,
            int rank) noexcept;
void dl_slot_assign(int parameter, const char *name, int tensor) noexcept;
// The number of this update of the parameter, from 1: one f64.
int dl_update_number(int parameter) noexcept;

// Numbers in f64 that a plan knows when it runs. A setting is one of the whole
// program; that of an optimizer has a name like "optim.lr". The first rate of
// an optimizer in a step is logged.
int dl_setting(const char *name, double standard, const char *help) noexcept;
int dl_optimizer_setting(int optimizer, int group, const char *name,
                         double standard) noexcept;
void dl_optimizer_rate(int optimizer, int group, int number) noexcept;
// ReduceLROnPlateau: settings that are learning rates change by a metric of an
// evaluation, "test.loss".
struct dl_plateau_options {
  int max, absolute;
  double factor, threshold, min_lr, eps;
  dl_int patience, cooldown;
};
int dl_plateau(const dl_plateau_options *options) noexcept;
void dl_plateau_rate(int plateau, int number) noexcept;
void dl_plateau_step(int plateau, const char *metric) noexcept;
// How often dl_count was called in all steps and epochs so far.
int dl_counter(int optimizer) noexcept;
void dl_count(int counter) noexcept;
int dl_counted(int counter) noexcept;
typedef enum { DL_OF_STEP, DL_OF_EPOCH } dl_number;
int dl_number_of(dl_number which) noexcept;
// Between these, what happens after each epoch.
void dl_epoch_begin(void) noexcept;
void dl_epoch_end(void) noexcept;

// Steps. dl_step_begin returns 0 when no further trace of the step is wanted.
enum { DL_EVALUATION, DL_TRAINING, DL_PREDICTION, DL_GENERATION };
int dl_step_begin(const char *name, int dataset, int kind, int trace) noexcept;
int dl_step_input(int component) noexcept;
void dl_step_end(int metrics) noexcept;
int dl_in_step() noexcept;
int dl_is_training() noexcept;
int dl_is_generating() noexcept;
dl_int dl_streamed_width() noexcept; // heads that have no scores in memory
int dl_metrics() noexcept;
void dl_metric(int metrics, const char *name, const dl_operand *value) noexcept;
// A non-zero i32 fails the step at run time with this message.
void dl_error_flag(int tensor, const char *format, const dl_text *arguments,
                   int count) noexcept;

// The mesh of ranks: axes, the slowest first, and what is divided along them.
void dl_mesh_axis(const char *name, dl_int size) noexcept;
void dl_mesh_use(const char *axis) noexcept;
void dl_mesh_data(const char *const *axes, int count) noexcept;
void dl_mesh_zero(const char *axis, int stage) noexcept;
void dl_mesh_pipeline(const char *axis, const char *blocks, dl_int microbatches,
                      const char *schedule, dl_int stages_per_rank) noexcept;
void dl_mesh_stage(const char *axis, int stage, const char *modules) noexcept;
void dl_mesh_place(const char *modules, const char *style,
                   const char *axis) noexcept;

// Settings of the program, dlcc -D name=value.
dl_int dl_arg_int(const char *name, dl_int standard, const char *help) noexcept;
double dl_arg_float(const char *name, double standard,
                    const char *help) noexcept;
int dl_arg_bool(const char *name, int standard, const char *help) noexcept;
const char *dl_arg_string(const char *name, const char *standard,
                          const char *help) noexcept;
}

#include "abi_data.h"
