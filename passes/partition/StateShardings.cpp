#include "passes/partition/StateShardings.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::partition {

StateShardings::StateShardings(ModuleOp module, const Mesh &mesh,
                               int64_t splitFrom)
    : mesh(mesh), splitFrom(splitFrom) {
  for (auto state : module.getOps<graph::StateOp>())
    states[state.getSymName()] = state;
  for (auto state : module.getOps<graph::StateOp>()) {
    TensorSharding given = base(state);
    StringRef role = state.getRole();
    bool divided = (role == "slot" && mesh.zero >= 1) ||
                   (role == "parameter" && mesh.zero >= 3);
    if (role == "accumulator")
      continue; // as its gradients come
    if (role == "parameter" && state.getShardingAttr())
      placed.insert(state.getSymName());
    known[state.getSymName()] =
        divided ? divide(state.getType(), given) : given;
  }
}

const TensorSharding *StateShardings::of(StringRef name) const {
  auto it = known.find(name);
  return it == known.end() ? nullptr : &it->second;
}

bool StateShardings::isParameter(StringRef name) const {
  graph::StateOp state = states.lookup(name);
  return state && state.getRole() == "parameter";
}

TensorSharding StateShardings::base(graph::StateOp state) const {
  if (graph::ShardingAttr given = state.getShardingAttr())
    return TensorSharding::of(given, mesh);
  // What an optimizer keeps lies as its parameter.
  if (auto of = state.getOf())
    if (graph::StateOp parameter = states.lookup(*of);
        parameter && parameter.getType() == state.getType() &&
        parameter.getShardingAttr())
      return TensorSharding::of(parameter.getShardingAttr(), mesh);
  return TensorSharding::whole(
      cast<RankedTensorType>(state.getType()).getRank());
}

TensorSharding StateShardings::baseOf(StringRef name, Type type) const {
  if (graph::StateOp state = states.lookup(name);
      state && state.getType() == type)
    return base(state);
  return TensorSharding::whole(cast<RankedTensorType>(type).getRank());
}

TensorSharding StateShardings::divide(Type type,
                                      const TensorSharding &sharding) const {
  if (!mesh.data)
    return sharding;
  unsigned axis = *mesh.data;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  int64_t ranks = mesh.size(axis), elements = 1;
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.dims))
    elements *= llvm::divideCeil(size, mesh.count(dim.allAxes()));
  if (elements < splitFrom || sharding.uses(axis))
    return sharding;
  for (bool even : {true, false})
    for (auto [d, size] : llvm::enumerate(shape)) {
      int64_t block = llvm::divideCeil(size, ranks);
      if (!sharding.dims[d].isWhole() ||
          (even ? size % ranks != 0 : block * (ranks - 1) >= size))
        continue;
      TensorSharding divided = sharding;
      divided.dims[d].axes.push_back(axis);
      return divided;
    }
  return sharding;
}

void StateShardings::record(ModuleOp module) const {
  for (auto state : module.getOps<graph::StateOp>())
    if (const TensorSharding *sharding = of(state.getSymName());
        sharding && !sharding->isWhole())
      state.setShardingAttr(sharding->attr(mesh));
}

} // namespace dl::partition
