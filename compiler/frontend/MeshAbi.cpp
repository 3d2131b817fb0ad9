// What <dl/parallel.h> calls.
#include "compiler/frontend/Evaluation.h"
#include "compiler/frontend/Guard.h"

using namespace dl::frontend;

static Evaluation *evaluation = nullptr;

static std::string text(const char *given) { return evaluation->text(given); }

extern "C" {

void dl_mesh_axis(const char *name, dl_int size) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.parallel.addAxis(text(name), size);
}
void dl_mesh_use(const char *axis) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.parallel.requireAxis(text(axis));
}
void dl_mesh_data(const char *const *axes, int count) noexcept {
  Guard::InOurCode guard;
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i)
    names.push_back(text(axes[i]));
  evaluation->graph.parallel.setData(names);
}
void dl_mesh_zero(const char *axis, int stage) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.parallel.setZero(text(axis), stage);
}
void dl_mesh_pipeline(const char *axis, const char *blocks, dl_int microbatches,
                      const char *schedule, dl_int stages_per_rank) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.parallel.setPipeline(text(axis), text(blocks), microbatches,
                                         text(schedule), stages_per_rank);
}
void dl_mesh_stage(const char *axis, int stage, const char *modules) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.parallel.addToStage(text(axis), stage, text(modules));
}
void dl_mesh_place(const char *modules, const char *style,
                   const char *axis) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.parallel.place(text(modules), text(style), text(axis));
}

} // extern "C"

#define DL_SYMBOL(function) {#function, reinterpret_cast<void *>(function)}

std::vector<Jit::Symbol> dl::frontend::meshSymbols(Evaluation &current) {
  evaluation = &current;
  return {
      DL_SYMBOL(dl_mesh_axis),     DL_SYMBOL(dl_mesh_use),
      DL_SYMBOL(dl_mesh_data),     DL_SYMBOL(dl_mesh_zero),
      DL_SYMBOL(dl_mesh_pipeline), DL_SYMBOL(dl_mesh_stage),
      DL_SYMBOL(dl_mesh_place),
  };
}
