#include "passes/partition/Sections.h"
#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Step.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringMap.h"
#include <numeric>

using namespace mlir;

namespace dl::partition {
namespace {

/// Which dims are one: those that share a factor of some op, all of it.
class SameDims {
public:
  explicit SameDims(ModuleOp module) {
    for (auto step : module.getOps<graph::StepOp>()) {
      for (BlockArgument argument : step.getArguments())
        if (FlatSymbolRefAttr state = graph::stateOf(argument))
          for (unsigned d = 0; d < graph::shapeOf(argument).size(); ++d)
            classes.unionSets(of(argument, d), of(state.getValue(), d));
      for (Operation &op : step.getOps())
        if (!isa<graph::ReturnOp>(op))
          join(&op);
    }
  }

  unsigned classOf(Value value, unsigned dim) {
    return classes.getLeaderValue(of(value, dim));
  }
  unsigned classOf(StringRef state, unsigned dim) {
    return classes.getLeaderValue(of(state, dim));
  }

private:
  void join(Operation *op) {
    const graph::ShardingRule rule = graph::shardingRule(op);
    SmallVector<std::optional<unsigned>> first(rule.factors.size());
    auto add = [&](ValueRange values, ArrayRef<graph::TensorFactors> tensors) {
      for (auto [value, tensor] : llvm::zip_equal(values, tensors))
        for (auto [d, factors] : llvm::enumerate(tensor)) {
          if (factors.size() != 1)
            continue;
          unsigned dim = of(value, d);
          std::optional<unsigned> &known = first[factors.front()];
          if (known)
            classes.unionSets(*known, dim);
          else
            known = dim;
        }
    };
    add(op->getOperands(), rule.operands);
    add(op->getResults(), rule.results);
  }

  unsigned of(Value value, unsigned dim) {
    return number(values.try_emplace({value, dim}, next));
  }
  unsigned of(StringRef state, unsigned dim) {
    SmallVector<unsigned> &dims = states[state];
    while (dims.size() <= dim)
      dims.push_back(classes.insert(next++).getData());
    return dims[dim];
  }
  template <typename Found> unsigned number(const Found &found) {
    if (found.second)
      classes.insert(next++);
    return found.first->second;
  }

  unsigned next = 0;
  llvm::DenseMap<std::pair<Value, unsigned>, unsigned> values;
  llvm::StringMap<SmallVector<unsigned>> states;
  llvm::EquivalenceClasses<unsigned> classes;
};

class Sections {
public:
  Sections(ModuleOp module, const Mesh &mesh)
      : module(module), mesh(mesh), dims(module), views(viewsOfDims()) {}

  void run() {
    findSections();
    // All before the first: of values that come and go nothing is known.
    SmallVector<std::pair<Operation *, Cut>> cuts;
    for (auto step : module.getOps<graph::StepOp>())
      for (Operation &op : step.getOps())
        if (std::optional<Cut> cut = cutOf(&op))
          cuts.push_back({&op, *cut});
    for (auto [op, cut] : cuts) {
      OpBuilder builder(op);
      graph::GraphBuilder g(builder, op->getLoc());
      Value result = op->getResult(0), apart;
      if (auto slice = dyn_cast<graph::SliceOp>(op))
        apart = takeApart(slice, cut, g);
      else if (auto pad = dyn_cast<graph::PadOp>(op))
        apart = takeApart(pad, cut, g);
      else
        apart = takeApart(cast<graph::CatOp>(op), cut, g);
      result.replaceAllUsesWith(g.reshape(apart, graph::shapeOf(result)));
      op->erase();
    }
  }

private:
  /// Calls visit(sharding, dim, size, class) for each dim of a placed
  /// parameter that is divided into blocks; notes the sharding.
  template <typename Visit> void forPlacedDims(Visit visit) {
    for (auto state : module.getOps<graph::StateOp>()) {
      if (state.getRole() != "parameter" || !state.getShardingAttr())
        continue;
      auto sharding = TensorSharding::of(state.getShardingAttr(), mesh);
      auto type = cast<RankedTensorType>(state.getType());
      for (auto [d, dim] : llvm::enumerate(sharding.dims))
        if (!dim.axes.empty())
          visit(dim, type.getDimSize(d), dims.classOf(state.getSymName(), d));
      state.setShardingAttr(sharding.attr(mesh));
    }
  }

  void findSections() {
    llvm::DenseMap<unsigned, int64_t> cuts = sizesOfCuts();
    llvm::DenseSet<unsigned> uneven;
    forPlacedDims([&](DimSharding &dim, int64_t size, unsigned number) {
      auto cut = cuts.find(number);
      if (cut == cuts.end() || cut->second == size)
        return;
      sections[number] = cut->second;
      if (cut->second % mesh.count(dim.axes) != 0)
        uneven.insert(number);
    });
    for (unsigned number : uneven)
      sections.erase(number);
    for (const View &view : views)
      if (auto whole = sections.find(view.whole);
          whole != sections.end() && whole->second % view.inner == 0 &&
          whole->second != view.inner)
        sections.try_emplace(view.outer, whole->second / view.inner);
    forPlacedDims([&](DimSharding &dim, int64_t size, unsigned number) {
      auto found = sections.find(number);
      if (found == sections.end())
        return;
      int64_t section = found->second;
      dim = DimSharding::of({{size / section, {}}, {section, dim.axes}}, mesh);
    });
  }

  /// The size of the sections that a dim is cut into, of those that are: what
  /// all sizes and offsets of slices are multiples of.
  llvm::DenseMap<unsigned, int64_t> sizesOfCuts() {
    llvm::DenseMap<unsigned, int64_t> cuts;
    auto cut = [&](unsigned number, std::initializer_list<int64_t> multiples) {
      for (int64_t multiple : multiples)
        cuts[number] = std::gcd(cuts[number], multiple);
    };
    module.walk([&](graph::SliceOp slice) {
      for (auto [d, from] : llvm::enumerate(graph::shapeOf(slice.getX())))
        if (int64_t size = slice.getSizes()[d]; size != from)
          cut(dims.classOf(slice.getX(), d),
              {from, slice.getStrides()[d] == 1 ? size : 1,
               slice.getOffsets()[d]});
    });
    for (const View &view : views)
      if (auto outer = cuts.find(view.outer); outer != cuts.end())
        cut(view.whole, {outer->second * view.inner});
    return cuts;
  }

  /// A dim that is several ones before or behind a reshape: [B, 3 H, D] and
  /// [B, 3 H D], with D elements within each of the outermost.
  struct View {
    unsigned whole, outer; ///< classes
    int64_t inner;
  };

  SmallVector<View> viewsOfDims() {
    SmallVector<View> found;
    module.walk([&](graph::ReshapeOp op) {
      const graph::ShardingRule rule = graph::shardingRule(op);
      auto add = [&](Value whole, const graph::TensorFactors &joined,
                     Value several, const graph::TensorFactors &apart) {
        for (auto [d, factors] : llvm::enumerate(joined))
          for (auto [to, own] : llvm::enumerate(apart))
            if (factors.size() > 1 && own.size() == 1 &&
                own.front() == factors.front())
              found.push_back(
                  {dims.classOf(whole, d), dims.classOf(several, to),
                   graph::shapeOf(whole)[d] / rule.factors[own.front()].size});
      };
      Value x = op.getX(), result = op.getResult();
      add(x, rule.operands.front(), result, rule.results.front());
      add(result, rule.results.front(), x, rule.operands.front());
    });
    return found;
  }

  /// A dim in whose sections an op is to be done, and their size.
  struct Cut {
    unsigned dim;
    int64_t section;
  };

  std::optional<Cut> cutOf(Operation *op) {
    if (!isa<graph::SliceOp, graph::PadOp, graph::CatOp>(op))
      return std::nullopt;
    bool isSlice = isa<graph::SliceOp>(op);
    Value whole = isSlice ? op->getOperand(0) : op->getResult(0);
    SmallVector<Value> parts(op->getOperands());
    if (isSlice)
      parts = {op->getResult(0)};
    for (unsigned d = 0; d < graph::shapeOf(whole).size(); ++d) {
      auto found = sections.find(dims.classOf(whole, d));
      if (found == sections.end())
        continue;
      int64_t section = found->second;
      auto pad = dyn_cast<graph::PadOp>(op);
      auto cat = dyn_cast<graph::CatOp>(op);
      bool isAlong = llvm::any_of(parts,
                                  [&](Value part) {
                                    return graph::shapeOf(part)[d] !=
                                           graph::shapeOf(whole)[d];
                                  }) &&
                     (!cat || cat.getDim() == d);
      bool meets = llvm::all_of(parts, [&](Value part) {
        return graph::shapeOf(part)[d] % section == 0;
      });
      if (isAlong && meets &&
          (!pad ||
           (pad.getInterior()[d] == 0 && pad.getLow()[d] % section == 0)))
        return Cut{d, section};
    }
    return std::nullopt;
  }

  static Value inSections(Value value, Cut cut, graph::GraphBuilder &g) {
    SmallVector<int64_t> shape = apart(graph::shapeOf(value), cut, cut.section);
    return g.reshape(value, shape);
  }

  /// What is said of each dim, in sections: of them, and within each.
  static SmallVector<int64_t> apart(ArrayRef<int64_t> numbers, Cut cut,
                                    int64_t within) {
    SmallVector<int64_t> result(numbers);
    result[cut.dim] = within;
    result.insert(result.begin() + cut.dim, numbers[cut.dim] / cut.section);
    return result;
  }

  static Value takeApart(graph::SliceOp slice, Cut cut,
                         graph::GraphBuilder &g) {
    SmallVector<int64_t> strides(slice.getStrides());
    strides.insert(strides.begin() + cut.dim, 1);
    Value whole = inSections(slice.getX(), cut, g);
    return g.make<graph::SliceOp>(whole, apart(slice.getOffsets(), cut, 0),
                                  apart(slice.getSizes(), cut, cut.section),
                                  strides);
  }

  static Value takeApart(graph::PadOp pad, Cut cut, graph::GraphBuilder &g) {
    Value part = inSections(pad.getX(), cut, g);
    return g.make<graph::PadOp>(
        part, apart(pad.getLow(), cut, 0), apart(pad.getHigh(), cut, 0),
        apart(pad.getInterior(), cut, 0), pad.getValue());
  }

  static Value takeApart(graph::CatOp cat, Cut cut, graph::GraphBuilder &g) {
    SmallVector<Value> parts;
    for (Value input : cat.getInputs())
      parts.push_back(inSections(input, cut, g));
    return g.make<graph::CatOp>(parts, cat.getDim());
  }

  ModuleOp module;
  const Mesh &mesh;
  SameDims dims;
  SmallVector<View> views;
  llvm::DenseMap<unsigned, int64_t> sections; ///< their sizes, by class
};

} // namespace

void divideInSections(ModuleOp module, const Mesh &mesh) {
  if (llvm::any_of(module.getOps<graph::StateOp>(), [](graph::StateOp state) {
        return state.getRole() == "parameter" && state.getShardingAttr();
      }))
    Sections(module, mesh).run();
}

} // namespace dl::partition
