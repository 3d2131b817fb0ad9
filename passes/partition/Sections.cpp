#include "passes/partition/Sections.h"
#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringMap.h"
#include <numeric>
#include <utility>

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
      : module(module), mesh(mesh), dims(module) {}

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
      else if (auto dropout = dyn_cast<graph::DropoutOp>(op))
        apart = takeApart(dropout, cut, g);
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
    forPlacedDims([&](DimSharding &dim, int64_t, unsigned number) {
      int64_t &count = counts.try_emplace(number, 1).first->second;
      count = std::lcm(count, mesh.count(dim.axes));
    });
    findCuts();
    forPlacedDims([&](DimSharding &, int64_t size, unsigned number) {
      if (int64_t cut = cuts.lookup(number); cut != 0 && cut != size)
        sections[number] = cut;
    });
    divideParts();
    forPlacedDims([&](DimSharding &dim, int64_t size, unsigned number) {
      int64_t section = sections.lookup(number);
      if (section != 0)
        dim =
            DimSharding::of({{size / section, {}}, {section, dim.axes}}, mesh);
    });
  }

  /// A part of a dim, or its outermost numbers where it is several dims before
  /// or behind a reshape: of [B, 3 H D] slices [B, H D], and the 3 H of [B, 3
  /// H, D], with D elements within each.
  struct Part {
    unsigned whole, part; ///< classes
    int64_t from, size;   ///< elements of the whole, and of the part
    int64_t inner = 1;
  };

  /// The dim is cut into these, too, unless parts of them would not be equal.
  bool cut(unsigned number, int64_t from, int64_t size) {
    int64_t &known = cuts.try_emplace(number, from).first->second;
    int64_t finer = std::gcd(known, size);
    auto count = counts.find(number);
    if (finer == known || (count != counts.end() && finer % count->second != 0))
      return false;
    known = finer;
    return true;
  }

  /// The size of sections that all slices are multiples of, also those of what
  /// has been taken apart before, or is put together. The forward of training
  /// says it: not a line of an evaluation that looks at a few elements.
  void findCuts() {
    SmallVector<graph::StepOp> steps(module.getOps<graph::StepOp>());
    bool trains =
        llvm::any_of(steps, [](auto step) { return step.getTraining(); });
    for (graph::StepOp step : steps)
      for (Operation &op : step.getOps())
        addParts(&op,
                 (step.getTraining() || !trains) &&
                     graph::roleOf(op.getLoc()) == graph::StepRole::Forward);
    for (bool changed = true; std::exchange(changed, false);)
      for (const Part &one : parts)
        if (auto found = cuts.find(one.part); found != cuts.end())
          changed |= cut(one.whole, one.from, found->second * one.inner);
  }

  void addParts(Operation *op, bool cuts) {
    if (auto view = dyn_cast<graph::ReshapeOp>(op))
      addViews(view);
    if (auto cat = dyn_cast<graph::CatOp>(op))
      for (Value input : cat.getInputs())
        addPart(cat.getResult(), input, static_cast<unsigned>(cat.getDim()), 0,
                cuts);
    if (auto slice = dyn_cast<graph::SliceOp>(op))
      for (auto [d, from] : llvm::enumerate(graph::shapeOf(slice.getX())))
        if (slice.getSizes()[d] != from && slice.getStrides()[d] == 1)
          addPart(slice.getX(), slice.getResult(), d, slice.getOffsets()[d],
                  cuts);
  }

  void addPart(Value whole, Value part, unsigned d, int64_t offset, bool cuts) {
    int64_t from = graph::shapeOf(whole)[d], size = graph::shapeOf(part)[d];
    unsigned of = dims.classOf(whole, d), number = dims.classOf(part, d);
    if (of != number)
      parts.push_back({of, number, from, size});
    if (cuts)
      cut(of, from, std::gcd(size, offset));
  }

  void addViews(graph::ReshapeOp view) {
    const graph::ShardingRule rule = graph::shardingRule(view);
    auto add = [&](Value whole, const graph::TensorFactors &joined,
                   Value several, const graph::TensorFactors &apart) {
      for (auto [d, factors] : llvm::enumerate(joined))
        for (auto [to, own] : llvm::enumerate(apart))
          if (factors.size() > 1 && own.size() == 1 &&
              own.front() == factors.front()) {
            int64_t from = graph::shapeOf(whole)[d];
            int64_t size = rule.factors[own.front()].size;
            parts.push_back({dims.classOf(whole, d), dims.classOf(several, to),
                             from, size, from / size});
          }
    };
    Value x = view.getX(), result = view.getResult();
    add(x, rule.operands.front(), result, rule.results.front());
    add(result, rule.results.front(), x, rule.operands.front());
  }

  /// Parts of more than one section have sections, too (those that are single
  /// elements need none), and so has what has such parts.
  void divideParts() {
    for (bool changed = true; std::exchange(changed, false);)
      for (const Part &one : parts) {
        int64_t whole = sections.lookup(one.whole),
                part = sections.lookup(one.part);
        if (whole == 0 && part != 0 && one.inner != 1)
          changed |= divide(one.whole, one.from, part * one.inner);
        else if (whole != 0 && whole % one.inner == 0 && whole != one.inner)
          changed |= divide(one.part, one.size, whole / one.inner);
      }
  }

  bool divide(unsigned number, int64_t size, int64_t section) {
    auto count = counts.find(number);
    return section < size && size % section == 0 &&
           (count == counts.end() || section % count->second == 0) &&
           sections.try_emplace(number, section).second;
  }

  /// A dim in whose sections an op is to be done, and their size.
  struct Cut {
    unsigned dim;
    int64_t section;
  };

  std::optional<Cut> cutOf(Operation *op) {
    if (!isa<graph::SliceOp, graph::PadOp, graph::CatOp, graph::DropoutOp>(op))
      return std::nullopt;
    bool isSlice = isa<graph::SliceOp>(op);
    auto dropout = dyn_cast<graph::DropoutOp>(op);
    if (dropout && dropout.getChannelwise())
      return std::nullopt;
    bool draws = dropout; // each part has to know its place
    Value whole = isSlice ? op->getOperand(0) : op->getResult(0);
    SmallVector<Value> parts(op->getOperands());
    if (isSlice || draws)
      parts = {op->getResult(0)};
    for (unsigned d = 0; d < graph::shapeOf(whole).size(); ++d) {
      auto found = sections.find(dims.classOf(whole, d));
      if (found == sections.end())
        continue;
      int64_t section = found->second;
      auto pad = dyn_cast<graph::PadOp>(op);
      auto cat = dyn_cast<graph::CatOp>(op);
      bool isAlong = draws ? graph::shapeOf(whole)[d] != section
                           : llvm::any_of(parts,
                                          [&](Value part) {
                                            return graph::shapeOf(part)[d] !=
                                                   graph::shapeOf(whole)[d];
                                          }) &&
                                 (!cat || cat.getDim() == d);
      bool meets = llvm::all_of(parts, [&](Value part) {
        return graph::shapeOf(part)[d] % section == 0;
      });
      if (auto slice = dyn_cast<graph::SliceOp>(op))
        meets &=
            slice.getStrides()[d] == 1 && slice.getOffsets()[d] % section == 0;
      if (pad)
        meets &= pad.getInterior()[d] == 0 && pad.getLow()[d] % section == 0;
      if (isAlong && meets)
        return Cut{d, section};
    }
    return std::nullopt;
  }

  static Value inSections(Value value, Cut cut, graph::GraphBuilder &g) {
    SmallVector<int64_t> shape = apart(graph::shapeOf(value), cut, cut.section);
    return g.reshape(value, shape);
  }

  /// One number a dim, for the tensor whose dim `cut.dim` has become two: how
  /// many sections for the outer one, `within` for the inner one.
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

  static Value takeApart(graph::DropoutOp dropout, Cut cut,
                         graph::GraphBuilder &g) {
    Value x = inSections(dropout.getX(), cut, g);
    return g.make<graph::DropoutOp>(x, dropout.getScalars(), dropout.getP(),
                                    dropout.getKey(), dropout.getChannelwise(),
                                    ArrayRef<int64_t>(), ArrayRef<int64_t>());
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
  SmallVector<Part> parts;
  /// By class: ranks along the axes of placed dims, into what the dim is cut,
  /// and the size of its sections, where it has some.
  llvm::DenseMap<unsigned, int64_t> counts, cuts, sections;
};

} // namespace

void divideInSections(ModuleOp module, const Mesh &mesh) {
  if (llvm::any_of(module.getOps<graph::StateOp>(), [](graph::StateOp state) {
        return state.getRole() == "parameter" && state.getShardingAttr();
      }))
    Sections(module, mesh).run();
}

/// The dim of a view whose numbers are those of the operands of a cat.
static std::optional<size_t> dimOfParts(graph::CatOp cat,
                                        ArrayRef<int64_t> view) {
  ArrayRef<int64_t> shape = graph::shapeOf(cat.getResult());
  int64_t outer = llvm::product_of(shape.take_front(cat.getDim()));
  auto parts = static_cast<int64_t>(cat.getInputs().size());
  int64_t before = 1;
  for (auto [d, size] : llvm::enumerate(view)) {
    if (before == outer && size == parts)
      return d;
    before *= size;
  }
  return std::nullopt;
}

void joinAsParts(ModuleOp module) {
  SmallVector<graph::ReshapeOp> views;
  module.walk([&](graph::ReshapeOp view) { views.push_back(view); });
  for (graph::ReshapeOp view : views) {
    auto cat = view.getX().getDefiningOp<graph::CatOp>();
    if (!cat || cat.getInputs().size() < 2 ||
        !llvm::all_equal(cat.getInputs().getTypes()))
      continue;
    std::optional<size_t> dim = dimOfParts(cat, view.getShape());
    if (!dim)
      continue;
    OpBuilder builder(cat);
    graph::GraphBuilder g(builder, cat.getLoc());
    SmallVector<int64_t> one(view.getShape());
    one[*dim] = 1;
    SmallVector<Value> parts;
    for (Value input : cat.getInputs())
      parts.push_back(g.reshape(input, one));
    view.getResult().replaceAllUsesWith(
        g.make<graph::CatOp>(parts, static_cast<int64_t>(*dim)));
    view.erase();
    if (cat->use_empty())
      cat.erase();
  }
}

} // namespace dl::partition
