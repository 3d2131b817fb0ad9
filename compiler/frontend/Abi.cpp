// The functions of <dl/abi.h>: thin, each hands over to its part.
#include "compiler/frontend/Evaluation.h"
#include "compiler/frontend/Guard.h"
#include "dialects/graph/Inference.h"
#include <typeinfo>

using namespace dl::frontend;

static Evaluation *evaluation = nullptr;

static std::string text(const char *given) { return evaluation->text(given); }

static llvm::ArrayRef<int64_t> list(const dl_int *values, int count) {
  static_assert(sizeof(dl_int) == sizeof(int64_t));
  return {reinterpret_cast<const int64_t *>(values),
          static_cast<size_t>(count)};
}

/// Puts the arguments where the format says "{}".
static std::string format(const char *pattern, const dl_text *arguments,
                          int count) {
  std::string result;
  for (const char *at = pattern; *at; ++at) {
    if (at[0] != '{' || at[1] != '}' || count == 0) {
      result += *at;
      continue;
    }
    ++at;
    const dl_text &argument = *arguments++;
    --count;
    char number[32];
    switch (argument.kind) {
    case DL_TEXT_INT:
      result += std::to_string(argument.integer);
      break;
    case DL_TEXT_NUMBER:
      std::snprintf(number, sizeof number, "%g", argument.number);
      result += number;
      break;
    case DL_TEXT_STRING:
      result += text(argument.string);
      break;
    case DL_TEXT_SHAPE:
      result += dl::graph::shapeText(list(argument.list, argument.count));
      break;
    }
  }
  return result;
}

extern "C" {

int dl_emit(const char *name, const dl_operand *operands, int operandCount,
            const dl_attr *attributes, int attributeCount, int *results,
            int capacity) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.emit(name, {operands, static_cast<size_t>(operandCount)},
                         {attributes, static_cast<size_t>(attributeCount)},
                         {results, static_cast<size_t>(capacity)});
  return capacity;
}

const dl_int *dl_shape(int tensor, int *rank) noexcept {
  Guard::InOurCode guard;
  llvm::ArrayRef<int64_t> shape =
      evaluation->graph.get(tensor, "sizes").type.getShape();
  *rank = static_cast<int>(shape.size());
  return reinterpret_cast<const dl_int *>(shape.data());
}

int dl_dtype_of(int tensor) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.dtypeOf(tensor);
}

int dl_value(int tensor) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.currentValue(tensor);
}

int dl_indices_fit(int index, dl_int bound) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.indicesFit(index, bound);
}

int dl_dtype_resolved(int dtype) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.resolveDtype(dtype);
}

int dl_float_is_double(void) noexcept { return evaluation->graph.isDouble(); }

const char *dl_called(const char *function) noexcept {
  const char *&called = evaluation->reporter.called;
  const char *before = called;
  if (!before || !function)
    called = function;
  return before;
}

void dl_fail(const char *pattern, const dl_text *arguments,
             int count) noexcept {
  Guard::InOurCode guard;
  evaluation->reporter.fail(format(pattern, arguments, count));
}

void dl_unsupported(const char *pattern, const dl_text *arguments,
                    int count) noexcept {
  Guard::InOurCode guard;
  evaluation->reporter.refuse(format(pattern, arguments, count));
}

int dl_initial(int kind, double a, double b, const dl_int *dims, int rank,
               int dtype) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.makeInitial({{kind, a, b}}, list(dims, rank), dtype);
}

int dl_parameter(int tensor) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.makeParameter(tensor);
}

int dl_buffer(int tensor, int before) noexcept {
  Guard::InOurCode guard;
  bool isOfModule = before >= 0 && evaluation->modules.isCalling() &&
                    evaluation->graph.get(before, "Buffer").parameter >= 0;
  if (!isOfModule)
    return evaluation->graph.makeParameter(tensor, /*isBuffer=*/true);
  evaluation->graph.setInitialAs(before, tensor);
  return before;
}

void dl_assign(int state, int tensor) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.assign(state, tensor);
}

void dl_parameter_initial(int parameter, int kind, double a, double b,
                          double low, double high) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.setInitial(parameter, {{kind, a, b, low, high}});
}

int dl_is_state(int tensor) noexcept {
  const Handle &handle = evaluation->graph.get(tensor, "state");
  return handle.parameter >= 0 || handle.partOf >= 0;
}

void dl_initial_as(int state, int other) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.setInitialAs(state, other);
}

void dl_become(int tensor, int value) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.become(tensor, value);
}

int dl_clone(int tensor) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.clone(tensor);
}

int dl_contiguous(int tensor) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.contiguous(tensor);
}

void dl_copied_part(int tensor, int what) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.copiedPart(tensor, static_cast<dl_copied>(what));
}

const dl_member *dl_members(const void *module, int *count) noexcept {
  Guard::InOurCode guard;
  // The object's vtable: the type information stands before the functions.
  const std::type_info *type =
      (*static_cast<const std::type_info *const *const *>(module))[-1];
  auto [members, isNew] = evaluation->members.try_emplace(type->name());
  if (auto found = evaluation->types.members.find(type->name());
      isNew && found != evaluation->types.members.end())
    for (const Member &member : found->second)
      members->second.push_back({member.name.c_str(), member.kind,
                                 member.offset, member.stride, member.inside,
                                 member.held});
  *count = static_cast<int>(members->second.size());
  return members->second.data();
}

int dl_module_known(const void *module) noexcept {
  bool isKnown = evaluation->modules.isKnown(module);
  // One that is called outside of steps need not be the model.
  if (!isKnown && !evaluation->graph.inStep())
    evaluation->modules.beginOwnWalk();
  return isKnown;
}
void dl_module_made(const void *module) noexcept {
  Guard::InOurCode guard;
  evaluation->modules.made(module);
}
const void *dl_module_unmet(void) noexcept {
  Guard::InOurCode guard;
  return evaluation->modules.firstUnmet();
}
void dl_module_gone(const void *module) noexcept {
  Guard::InOurCode guard;
  evaluation->modules.forget(module);
}
void dl_modules_changed() noexcept { evaluation->modules.forgetAll(); }
void dl_module_enter(const void *module, int evaluates) noexcept {
  Guard::InOurCode guard;
  evaluation->modules.call(module, evaluates);
  evaluation->graph.checkpoints.enter(evaluation->modules.currentPath(),
                                      evaluation->graph.isTraining());
}
void dl_module_leave() noexcept {
  evaluation->graph.checkpoints.leave();
  evaluation->modules.returned();
}
void dl_checkpoint_begin(void) noexcept {
  evaluation->graph.checkpoints.begin();
}
void dl_checkpoint_end(void) noexcept { evaluation->graph.checkpoints.end(); }
void dl_gradients_off(int scopes) noexcept {
  evaluation->graph.gradientsOff += scopes;
}
void dl_walk_enter(const char *name, const void *module) noexcept {
  Guard::InOurCode guard;
  evaluation->modules.enter(name, module);
}
void dl_walk_parameter(const char *name, int parameter) noexcept {
  Guard::InOurCode guard;
  if (evaluation->graph.get(parameter, name).parameter >= 0)
    evaluation->modules.parameter(name, parameter);
}
void dl_walk_buffer(const char *name, int buffer) noexcept {
  Guard::InOurCode guard;
  if (evaluation->graph.get(buffer, name).parameter >= 0)
    evaluation->modules.parameter(name, buffer, /*listed=*/false);
  else
    evaluation->modules.constant(name, buffer);
}
void dl_walk_leave() noexcept { evaluation->modules.leave(); }
const dl_named_parameter *dl_walk_result(int *count) noexcept {
  llvm::ArrayRef<dl_named_parameter> found = evaluation->modules.lastWalk();
  *count = static_cast<int>(found.size());
  return found.data();
}

void dl_backward(int loss) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.backward(loss);
}
int dl_grad(int parameter) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.gradient(parameter);
}
void dl_gradients(int output, const int *inputs, int count, int allow_unused,
                  int *gradients) noexcept {
  Guard::InOurCode guard;
  auto size = static_cast<size_t>(count);
  evaluation->graph.gradients(output, {inputs, size}, allow_unused,
                              {gradients, size});
}
void dl_set_grad(int parameter, int tensor) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.setGradient(parameter, tensor);
}
int dl_has_grad(int parameter) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.hasGradient(parameter);
}
void dl_zero_grad(const int *parameters, int count) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.zeroGradients({parameters, static_cast<size_t>(count)});
}
void dl_requires_grad(int parameter, int value) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.setRequiresGrad(parameter, value != 0);
}
int dl_requires_grad_of(int parameter) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.requiresGrad(parameter);
}
int dl_optimizer(int numbered) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.makeOptimizer(numbered != 0);
}
void dl_optimizer_group(int optimizer, const int *parameters,
                        int count) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.addGroup(optimizer,
                             {parameters, static_cast<size_t>(count)});
}
int dl_optimizer_used(int optimizer) noexcept {
  return evaluation->graph.usesOptimized(optimizer);
}
void dl_optimizer_zero_grad(int optimizer) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.zeroOptimized(optimizer);
}
int dl_optimizer_step(int optimizer, int group, const char *op,
                      const char *const *slots, int slotCount,
                      const dl_attr *attributes, int attributeCount) noexcept {
  Guard::InOurCode guard;
  std::vector<std::string> names(slots, slots + slotCount);
  return evaluation->graph.optimizerStep(
      optimizer, group, op, names,
      {attributes, static_cast<size_t>(attributeCount)});
}

void dl_update_begin(int optimizer, int group) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.beginUpdate(optimizer, group);
}
void dl_update_by(int parameter, int tensor) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.updateBy(parameter, tensor);
}
int dl_update_next(int *gradient) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.nextUpdated(*gradient);
}
void dl_update_end(void) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.endUpdate();
}
int dl_slot(int parameter, const char *name, double initial, const dl_int *dims,
            int rank) noexcept {
  Guard::InOurCode guard;
  std::optional<std::vector<int64_t>> shape;
  if (rank >= 0)
    shape.emplace(dims, dims + rank);
  return evaluation->graph.slot(parameter, text(name), initial, shape,
                                rank == DL_SLOT_NUMBER);
}
void dl_slot_assign(int parameter, const char *name, int tensor) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.assignSlot(parameter, name ? name : "", tensor);
}
int dl_update_number(int parameter) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.updateNumber(parameter);
}

int dl_setting(const char *name, double standard, const char *help) noexcept {
  Guard::InOurCode guard;
  double value = evaluation->settings.number(text(name), standard, text(help));
  return evaluation->graph.makeSetting(text(name), value);
}
int dl_optimizer_setting(int optimizer, int group, const char *name,
                         double standard) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.optimizerSetting(optimizer, group, text(name),
                                            standard);
}
void dl_optimizer_rate(int optimizer, int group, int number) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.logRate(optimizer, group, number);
}
int dl_plateau(const dl_plateau_options *options) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.makePlateau(*options);
}
void dl_plateau_rate(int plateau, int number) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.addPlateauRate(plateau, number);
}
void dl_plateau_step(int plateau, const char *metric) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.stepPlateau(plateau, text(metric));
}
int dl_counter(int optimizer) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.makeCounter(optimizer);
}
void dl_count(int counter) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.count(counter);
}
int dl_counted(int counter) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.counted(counter);
}
int dl_number_of(dl_number which) noexcept {
  Guard::InOurCode guard;
  using dl::graph::StepScalar;
  return evaluation->graph.numberOf(which == DL_OF_STEP ? StepScalar::Step
                                                        : StepScalar::Epoch);
}
void dl_epoch_begin(void) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.setInEpoch(true);
}
void dl_epoch_end(void) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.setInEpoch(false);
}

int dl_step_begin(const char *name, int dataset, int kind, int round) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.beginStep(text(name), dataset, kind, round);
}
int dl_step_input(int component) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.input(component);
}
void dl_step_end(int metrics) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.endStep(metrics);
}
int dl_in_step() noexcept { return evaluation->graph.inStep(); }
int dl_is_training() noexcept {
  const Graph &graph = evaluation->graph;
  return (graph.isTraining() || !graph.inStep()) &&
         !evaluation->modules.evaluates();
}
int dl_is_generating() noexcept { return evaluation->graph.isGenerating(); }
dl_int dl_streamed_width() noexcept { return evaluation->streamedWidth; }
int dl_metrics() noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.makeMetrics();
}
void dl_metric(int metrics, const char *name,
               const dl_operand *value) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.addMetric(metrics, text(name), *value);
}
void dl_error_flag(int tensor, const char *pattern, const dl_text *arguments,
                   int count) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.addErrorFlag(tensor, format(pattern, arguments, count));
}

dl_int dl_arg_int(const char *name, dl_int standard,
                  const char *help) noexcept {
  Guard::InOurCode guard;
  return evaluation->settings.integer(text(name), standard, text(help));
}
double dl_arg_float(const char *name, double standard,
                    const char *help) noexcept {
  Guard::InOurCode guard;
  return evaluation->settings.number(text(name), standard, text(help));
}
int dl_arg_bool(const char *name, int standard, const char *help) noexcept {
  Guard::InOurCode guard;
  return evaluation->settings.boolean(text(name), standard != 0, text(help));
}
const char *dl_arg_string(const char *name, const char *standard,
                          const char *help) noexcept {
  Guard::InOurCode guard;
  return evaluation->settings.text(text(name), text(standard), text(help));
}

} // extern "C"

#define DL_SYMBOL(function) {#function, reinterpret_cast<void *>(function)}

/// Numbers: settings, what counts, arguments of the compilation.
static std::vector<Jit::Symbol> numberSymbols() {
  return {
      DL_SYMBOL(dl_setting),        DL_SYMBOL(dl_optimizer_setting),
      DL_SYMBOL(dl_optimizer_rate), DL_SYMBOL(dl_plateau),
      DL_SYMBOL(dl_plateau_rate),   DL_SYMBOL(dl_plateau_step),
      DL_SYMBOL(dl_counter),        DL_SYMBOL(dl_count),
      DL_SYMBOL(dl_counted),        DL_SYMBOL(dl_arg_int),
      DL_SYMBOL(dl_arg_float),      DL_SYMBOL(dl_arg_bool),
      DL_SYMBOL(dl_arg_string),     DL_SYMBOL(dl_streamed_width),
  };
}

std::vector<Jit::Symbol> dl::frontend::abiSymbols(Evaluation &current) {
  evaluation = &current;
  std::vector<Jit::Symbol> symbols = {
      DL_SYMBOL(dl_emit),
      DL_SYMBOL(dl_shape),
      DL_SYMBOL(dl_indices_fit),
      DL_SYMBOL(dl_dtype_of),
      DL_SYMBOL(dl_value),
      DL_SYMBOL(dl_dtype_resolved),
      DL_SYMBOL(dl_float_is_double),
      DL_SYMBOL(dl_called),
      DL_SYMBOL(dl_fail),
      DL_SYMBOL(dl_unsupported),
      DL_SYMBOL(dl_initial),
      DL_SYMBOL(dl_parameter),
      DL_SYMBOL(dl_buffer),
      DL_SYMBOL(dl_assign),
      DL_SYMBOL(dl_parameter_initial),
      DL_SYMBOL(dl_is_state),
      DL_SYMBOL(dl_initial_as),
      DL_SYMBOL(dl_become),
      DL_SYMBOL(dl_clone),
      DL_SYMBOL(dl_contiguous),
      DL_SYMBOL(dl_copied_part),
      DL_SYMBOL(dl_members),
      DL_SYMBOL(dl_module_known),
      DL_SYMBOL(dl_module_made),
      DL_SYMBOL(dl_module_unmet),
      DL_SYMBOL(dl_module_gone),
      DL_SYMBOL(dl_modules_changed),
      DL_SYMBOL(dl_module_enter),
      DL_SYMBOL(dl_module_leave),
      DL_SYMBOL(dl_checkpoint_begin),
      DL_SYMBOL(dl_checkpoint_end),
      DL_SYMBOL(dl_gradients_off),
      DL_SYMBOL(dl_walk_enter),
      DL_SYMBOL(dl_walk_parameter),
      DL_SYMBOL(dl_walk_buffer),
      DL_SYMBOL(dl_walk_leave),
      DL_SYMBOL(dl_walk_result),
      DL_SYMBOL(dl_backward),
      DL_SYMBOL(dl_grad),
      DL_SYMBOL(dl_gradients),
      DL_SYMBOL(dl_set_grad),
      DL_SYMBOL(dl_has_grad),
      DL_SYMBOL(dl_zero_grad),
      DL_SYMBOL(dl_requires_grad),
      DL_SYMBOL(dl_requires_grad_of),
      DL_SYMBOL(dl_optimizer),
      DL_SYMBOL(dl_optimizer_group),
      DL_SYMBOL(dl_optimizer_zero_grad),
      DL_SYMBOL(dl_optimizer_used),
      DL_SYMBOL(dl_optimizer_step),
      DL_SYMBOL(dl_update_begin),
      DL_SYMBOL(dl_update_by),
      DL_SYMBOL(dl_update_next),
      DL_SYMBOL(dl_update_end),
      DL_SYMBOL(dl_slot),
      DL_SYMBOL(dl_slot_assign),
      DL_SYMBOL(dl_update_number),
      DL_SYMBOL(dl_number_of),
      DL_SYMBOL(dl_epoch_begin),
      DL_SYMBOL(dl_epoch_end),
      DL_SYMBOL(dl_step_begin),
      DL_SYMBOL(dl_step_input),
      DL_SYMBOL(dl_step_end),
      DL_SYMBOL(dl_in_step),
      DL_SYMBOL(dl_is_training),
      DL_SYMBOL(dl_is_generating),
      DL_SYMBOL(dl_metrics),
      DL_SYMBOL(dl_metric),
      DL_SYMBOL(dl_error_flag),
  };
  llvm::append_range(symbols, numberSymbols());
  llvm::append_range(symbols, dataSymbols(current));
  llvm::append_range(symbols, meshSymbols(current));
  for (const Guard::Replacement &replacement : Guard::replacements())
    symbols.push_back({replacement.symbol, replacement.function});
  return symbols;
}
