#pragma once
// Where the parts of a program run, beside the model. Shapes, batch sizes and
// metrics stay those of the whole.
//
//   dl::Mesh mesh{{"dp", 2}, {"tp", 4}};             // the slowest axis first
//   dl::parallel::data(model, "dp");                 // the default for "dp"
//   dl::parallel::data(model, {"replicate", "dp"});  // two axes
//   dl::parallel::zero(optimizer, "dp", 1);
//   dl::parallel::pipeline(model, "pp", "h.*", {.microbatches = 8});
//   dl::parallel::tensor(model, {{"h.*.mlp.c_fc", "colwise", "tp"},
//                                {"h.*.mlp.c_proj", "rowwise", "tp"}});
//
//   x = x.shard({"dp", nullptr, "tp"});              // in a step
//
// `dlcc --mesh dp=8,tp=2` replaces all sizes; an axis of one rank vanishes, so
// that one file is for any number of devices.
#include "module.h"

namespace dl {

/// Named axes and how many ranks there are along each.
class Mesh {
public:
  struct Axis {
    const char *name;
    i64 size;
  };
  Mesh(list<Axis> axes) {
    for (const Axis &axis : axes)
      dl_mesh_axis(axis.name, axis.size);
  }
};

namespace parallel {

/// The items of a batch are divided along an axis of the mesh, or along
/// several: what zero() divides along the last of them is the same along the
/// others (hybrid sharding, Zhao et al., "PyTorch FSDP", 2023).
inline void data(const nn::Module &, const char *axis) {
  dl_mesh_data(&axis, 1);
}
inline void data(const nn::Module &, list<const char *> axes) {
  dl_mesh_data(axes.begin(), static_cast<int>(axes.size()));
}

/// What is divided along the axis of the data as well (Rajbhandari et al.,
/// "ZeRO", 2020): 1 what the optimizer keeps, 2 gradients, too, 3 parameters,
/// too.
template <class Optimizer>
void zero(const Optimizer &, const char *axis, int stage) {
  dl_mesh_zero(axis, stage);
}

/// How the parameters of some modules are divided, as in Shoeybi et al.,
/// "Megatron-LM", 2019: "colwise" by outputs (rows of a Linear's weight, and
/// its bias), "rowwise" by inputs. Of any other module "colwise" divides the
/// first dim of each parameter, the rows of an Embedding's table or the experts
/// of [experts, in, out], and "rowwise" the second. What is taken apart behind
/// it into equal parts (queries, keys and values of one projection, the gates
/// of an LSTM, both halves of a gated unit) is divided in each of them. "*"
/// stands for one name of the path.
struct Placement {
  const char *modules, *style, *axis;
};
/// Paths are those within `model`.
inline void tensor(nn::Module &model, list<Placement> placements) {
  nn::detail::walk(model);
  for (const Placement &placement : placements)
    dl_mesh_place(placement.modules, placement.style, placement.axis);
}

struct PipelineOptions {
  i64 microbatches = 1;
  const char *schedule = "1f1b"; ///< "gpipe", "interleaved", "zb-h1", "zb-v"
  /// 0: what the schedule usually has, 2 of "interleaved" and "zb-v", else 1.
  i64 stages_per_rank = 0;
};
/// The modules that a pattern names, "h.*", are dealt out evenly to stages,
/// `stages_per_rank` times as many as there are ranks along the axis; what
/// stands before them goes with the first, what stands behind with the last.
/// Modules that are made like these, as the averages of their weights or a
/// frozen copy, are where these are.
inline void pipeline(nn::Module &model, const char *axis, const char *blocks,
                     const PipelineOptions &options = {}) {
  nn::detail::walk(model);
  dl_mesh_pipeline(axis, blocks, options.microbatches, options.schedule,
                   options.stages_per_rank);
}

/// The modules of each stage, one list for each: {{"net1"}, {"net2"}}.
inline void stages(const char *axis, list<list<const char *>> modules) {
  int stage = 0;
  for (const list<const char *> &names : modules) {
    for (const char *name : names)
      dl_mesh_stage(axis, stage, name);
    ++stage;
  }
}

} // namespace parallel

/// Where a tensor of a step lies, if not as what it is made of says; its
/// gradient lies in the same way.
inline Tensor Tensor::shard(list<const char *> axes) const {
  detail::Called called("shard");
  char names[256];
  int length = 0;
  bool first = true;
  for (const char *axis : axes) {
    if (!first)
      names[length++] = ',';
    first = false;
    if (axis && *axis)
      dl_mesh_use(axis);
    for (; axis && *axis; ++axis) {
      if (length > 250)
        detail::fail("shard: the names of the axes are too long");
      names[length++] = *axis;
    }
  }
  names[length] = 0;
  return detail::emit("shard", *this, {{"axes", names}});
}
} // namespace dl
