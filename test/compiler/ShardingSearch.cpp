#include "test/compiler/ShardingSearch.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using dl::graph::HostTensor;

namespace dl::test {

static std::string placementText(Placement placement) {
  switch (placement.kind) {
  case Placement::Whole:
    return "whole";
  case Placement::Split:
    return "split " + std::to_string(placement.dim);
  case Placement::Sum:
    return "sum";
  case Placement::Max:
    return "max";
  }
  return "?";
}

std::string placementsText(const Placements &placements, size_t operands) {
  std::string text;
  for (auto [i, placement] : llvm::enumerate(placements))
    text += (i == operands ? " -> " : i ? ", " : "") + placementText(placement);
  return text;
}

namespace {

constexpr size_t kMostOperands = 5;

bool mayBePartial(Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  return !element.isInteger(1) && !element.isUnsignedInteger();
}

class Search {
public:
  Search(MLIRContext &context, const ShardingCase &shardingCase, Operation *op,
         int64_t count)
      : context(context), op(op), count(count) {
    for (int trial = 0; trial < trialsFor(op); ++trial) {
      wholes.push_back(caseValues(shardingCase, op, random));
      auto clone = [&](int64_t, OpBuilder &builder, ValueRange values) {
        return graph::localizeByCloning(op, builder, values, op->getAttrs());
      };
      expected.push_back(evaluate(wholes.back(), 0, clone).value_or(Tensors()));
    }
  }

  SearchResult run() {
    ScopedDiagnosticHandler silent(&context,
                                   [](Diagnostic &) { return success(); });
    listAttributes();
    Placements placements(op->getNumOperands());
    if (placements.size() <= kMostOperands)
      visit(placements, 0);
    else
      visitMany();
    return result;
  }

private:
  /// The local op of a part.
  using LocalOp = llvm::function_ref<FailureOr<SmallVector<Value>>(
      int64_t part, OpBuilder &, ValueRange)>;

  std::optional<Tensors> evaluate(ArrayRef<HostTensor> operands, int64_t part,
                                  LocalOp local) {
    std::string error;
    return evaluateBuilt(
        context, operands,
        [&](OpBuilder &builder, ValueRange values) {
          return local(part, builder, values);
        },
        error);
  }

  bool divides(int64_t size) const {
    return size % count == 0 && isSearched(size, count);
  }

  /// The op's attributes, and with one number of one of them divided.
  void listAttributes() {
    Builder builder(&context);
    variants.emplace_back(op->getAttrs());
    auto addVariant = [&](NamedAttribute old, Attribute changed) {
      variants.emplace_back(op->getAttrs());
      variants.back().set(old.getName(), changed);
    };
    auto divided = [&](ArrayRef<int64_t> numbers, size_t i) {
      SmallVector<int64_t> changed(numbers);
      changed[i] /= count;
      return changed;
    };
    for (NamedAttribute attribute : op->getAttrs()) {
      if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute.getValue())) {
        for (auto [i, number] : llvm::enumerate(array.asArrayRef()))
          if (number != 0 && number % count == 0)
            addVariant(attribute, builder.getDenseI64ArrayAttr(
                                      divided(array.asArrayRef(), i)));
      } else if (auto type = dyn_cast<TypeAttr>(attribute.getValue())) {
        auto tensor = dyn_cast<RankedTensorType>(type.getValue());
        for (int64_t i = 0; tensor && i < tensor.getRank(); ++i)
          if (divides(tensor.getDimSize(i)))
            addVariant(attribute, TypeAttr::get(RankedTensorType::get(
                                      divided(tensor.getShape(), i),
                                      tensor.getElementType())));
      } else if (auto number = dyn_cast<IntegerAttr>(attribute.getValue())) {
        if (number.getType().isInteger(64) && number.getInt() >= count &&
            number.getInt() % count == 0 && attribute.getName() != "key")
          addVariant(attribute,
                     builder.getI64IntegerAttr(number.getInt() / count));
      }
    }
  }

  std::vector<Placement> placementsOf(Type type) const {
    std::vector<Placement> list = {{Placement::Whole}};
    auto tensor = cast<RankedTensorType>(type);
    for (int64_t dim = 0; dim < tensor.getRank(); ++dim)
      if (isSearched(tensor.getDimSize(dim), count))
        list.push_back({Placement::Split, dim});
    if (mayBePartial(type))
      list.insert(list.end(), {{Placement::Sum}, {Placement::Max}});
    return list;
  }

  void visit(Placements &placements, unsigned operand) {
    if (operand == op->getNumOperands()) {
      tryOut(placements);
      return;
    }
    for (Placement p : placementsOf(op->getOperand(operand).getType())) {
      placements[operand] = p;
      visit(placements, operand + 1);
    }
  }

  /// Of many operands: each subset alike, and each two of them.
  void visitMany() {
    size_t operands = op->getNumOperands();
    std::vector<std::vector<Placement>> lists;
    for (Type type : op->getOperandTypes())
      lists.push_back(placementsOf(type));
    std::set<Placement> all;
    for (const std::vector<Placement> &list : lists)
      all.insert(list.begin(), list.end());
    std::set<Placements> ways;
    for (Placement p : all)
      for (uint64_t mask = 0; mask < uint64_t(1) << operands; ++mask) {
        Placements way(operands);
        for (size_t i = 0; i < operands; ++i)
          if (mask >> i & 1 && llvm::is_contained(lists[i], p))
            way[i] = p;
        ways.insert(way);
      }
    for (size_t i = 0; i < operands; ++i)
      for (size_t k = 0; k < i; ++k)
        for (Placement p : lists[i])
          for (Placement q : lists[k]) {
            Placements way(operands);
            way[i] = p;
            way[k] = q;
            ways.insert(way);
          }
    for (const Placements &way : ways)
      tryOut(way);
  }

  Tensors partsOf(const HostTensor &whole, Placement placement) {
    if (placement.kind == Placement::Sum || placement.kind == Placement::Max) {
      Merge merge = placement.kind == Placement::Sum ? Merge::Sum : Merge::Max;
      return partialTensors(whole, merge, count, random);
    }
    Tensors parts;
    for (int64_t i = 0; i < count; ++i) {
      Blocks blocks(whole.type.getRank());
      if (placement.kind == Placement::Split)
        blocks[placement.dim] = {count, i};
      parts.push_back(takeBlock(whole, blocks));
    }
    return parts;
  }

  /// Local results of each part; nothing where the op does not fit.
  std::optional<SmallVector<Tensors>> locals(const Placements &placements,
                                             LocalOp localOp, size_t trial) {
    SmallVector<Tensors> operands; // of each operand, of each part
    for (auto [whole, placement] : llvm::zip(wholes[trial], placements))
      operands.push_back(partsOf(whole, placement));
    SmallVector<Tensors> results;
    for (int64_t i = 0; i < count; ++i) {
      Tensors local;
      for (const Tensors &parts : operands)
        local.push_back(parts[i]);
      auto part = evaluate(local, i, localOp);
      if (!part)
        return std::nullopt;
      results.push_back(*part);
    }
    return results;
  }

  bool isRight(Placement placement, ArrayRef<Tensors> parts, unsigned r,
               const HostTensor &whole) const {
    Gathered gathered(whole.type);
    Merge merge = placement.kind == Placement::Sum   ? Merge::Sum
                  : placement.kind == Placement::Max ? Merge::Max
                                                     : Merge::Same;
    for (int64_t i = 0; i < count; ++i) {
      Blocks blocks(whole.type.getRank());
      if (placement.kind == Placement::Split)
        blocks[placement.dim] = {count, i};
      if (!gathered.add(parts[i][r], blocks, merge).empty())
        return false;
    }
    return gathered.compare(whole).empty();
  }

  void tryOut(const Placements &placements) {
    std::vector<std::vector<Placement>> any;
    for (Type type : op->getResultTypes())
      any.push_back(placementsOf(type));
    for (const NamedAttrList &attributes : variants)
      tryOut(placements, any,
             [&](int64_t, OpBuilder &builder, ValueRange values) {
               return graph::localizeByCloning(op, builder, values, attributes);
             });
    if (isa<graph::ShardingOpInterface>(op)) {
      Placements all = placements;
      tryLocalize(all, any);
    }
  }

  /// The op's own localize needs to know how the results are split; all that
  /// are not are alike to it.
  void tryLocalize(Placements &all,
                   const std::vector<std::vector<Placement>> &any) {
    size_t operands = op->getNumOperands(), r = all.size() - operands;
    if (r < any.size()) {
      for (Placement p : any[r]) {
        if (p.kind == Placement::Sum || p.kind == Placement::Max)
          continue;
        all.push_back(p);
        tryLocalize(all, any);
        all.pop_back();
      }
      return;
    }
    std::vector<std::vector<Placement>> right = any;
    for (size_t i = 0; i < right.size(); ++i)
      llvm::erase_if(right[i], [&, split = all[operands + i]](Placement p) {
        return split.kind == Placement::Split ? p != split
                                              : p.kind == Placement::Split;
      });
    SmallVector<graph::FactorPart> parts;
    graph::ShardingRule rule = ruleOf(all, parts);
    tryOut(Placements(all.begin(), all.begin() + operands), right,
           [&](int64_t part, OpBuilder &builder, ValueRange values) {
             for (graph::FactorPart &p : parts)
               p.index = part;
             return graph::localize(op, graph::Shard(rule, parts), builder,
                                    values);
           });
  }

  /// A rule by which the tensors may lie like this: each dim is a factor, and
  /// `parts` splits them.
  graph::ShardingRule ruleOf(const Placements &all,
                             SmallVector<graph::FactorPart> &parts) const {
    graph::ShardingRule rule;
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (size_t i = 0; i < types.size(); ++i) {
      graph::TensorFactors dims;
      for (int64_t size : cast<RankedTensorType>(types[i]).getShape()) {
        int64_t dim = dims.size();
        unsigned factor = rule.add(size);
        if (all[i] == Placement{Placement::Split, dim})
          parts.push_back({factor, count, 0});
        dims.push_back({factor});
      }
      (i < op->getNumOperands() ? rule.operands : rule.results).push_back(dims);
    }
    return rule;
  }

  /// Notes which of the placements of the results are right.
  void tryOut(const Placements &placements,
              std::vector<std::vector<Placement>> right, LocalOp local) {
    ++result.tried;
    for (size_t trial = 0; trial < wholes.size(); ++trial) {
      auto parts = locals(placements, local, trial);
      if (!parts)
        return;
      for (auto [r, list] : llvm::enumerate(right)) {
        llvm::erase_if(list, [&, r = r](Placement p) {
          return !isRight(p, *parts, r, expected[trial][r]);
        });
        if (list.empty())
          return;
      }
    }
    // The maximum of equals says nothing more.
    for (std::vector<Placement> &list : right)
      if (llvm::is_contained(list, Placement{Placement::Whole}))
        llvm::erase_if(list,
                       [](Placement p) { return p.kind == Placement::Max; });
    Placements all = placements;
    note(all, right);
  }

  void note(Placements &all, ArrayRef<std::vector<Placement>> right) {
    if (right.empty()) {
      result.found.insert(all);
      return;
    }
    for (Placement p : right.front()) {
      all.push_back(p);
      note(all, right.drop_front());
      all.pop_back();
    }
  }

  MLIRContext &context;
  Operation *op;
  int64_t count;
  std::mt19937 random{12345};
  SmallVector<Tensors> wholes, expected; // of each trial
  std::vector<NamedAttrList> variants;
  SearchResult result;
};

} // namespace

SearchResult searchPlacements(MLIRContext &context,
                              const ShardingCase &shardingCase, Operation *op,
                              int64_t count) {
  return Search(context, shardingCase, op, count).run();
}

/// At least one block of more than one element, and none without any.
bool isSearched(int64_t size, int64_t count) {
  int64_t block = (size + count - 1) / count;
  return block > 1 && (count - 1) * block < size;
}

static Placement kindOf(graph::Splitting splitting) {
  return {splitting == graph::Splitting::Sum   ? Placement::Sum
          : splitting == graph::Splitting::Max ? Placement::Max
                                               : Placement::Whole};
}

static Placement placementOf(const graph::TensorFactors &tensor,
                             unsigned factor, Placement without) {
  for (auto [dim, factors] : llvm::enumerate(tensor))
    if (llvm::is_contained(factors, factor))
      return {Placement::Split, static_cast<int64_t>(dim)};
  return without;
}

/// What the factors give that may be split over `count` parts, or may not for
/// this reason.
static std::set<Placements> placementsOfFactors(const graph::ShardingRule &rule,
                                                int64_t count,
                                                graph::BlockReason reason) {
  std::set<Placements> result;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    if (graph::whyNotSplit(rule, graph::FactorPart{factor, count, 0}) != reason)
      continue;
    Placements placements;
    for (const graph::TensorFactors &operand : rule.operands)
      placements.push_back(placementOf(operand, factor, {}));
    for (const graph::TensorFactors &tensor : rule.results)
      placements.push_back(
          placementOf(tensor, factor, kindOf(rule.factors[factor].splitting)));
    result.insert(placements);
  }
  return result;
}

std::set<Placements> declaredPlacements(const graph::ShardingRule &rule,
                                        int64_t count) {
  std::set<Placements> declared =
      placementsOfFactors(rule, count, graph::BlockReason::None);
  declared.insert(Placements(rule.operands.size() + rule.results.size()));
  for (const graph::PartialRule &partial : rule.partials) {
    Placements placements(rule.operands.size() + rule.results.size(),
                          kindOf(partial.kind));
    for (unsigned i = 0; i < rule.operands.size(); ++i)
      if (!llvm::is_contained(partial.operands, i))
        placements[i] = {};
    declared.insert(placements);
  }
  return declared;
}

/// Whether who may do `stronger` need not be told of `weaker`: a part of a
/// whole tensor is at hand, and so is a partial one that is zero, or lowest,
/// around its part.
static bool isWeaker(const Placements &weaker, const Placements &stronger,
                     size_t operands) {
  for (size_t i = 0; i < weaker.size(); ++i) {
    bool free = stronger[i].kind == Placement::Split &&
                (i < operands ? weaker[i].kind == Placement::Whole
                              : weaker[i].kind == Placement::Sum ||
                                    weaker[i].kind == Placement::Max);
    if (weaker[i] != stronger[i] && !free)
      return false;
  }
  return true;
}

/// Whether all blocks of the dims that are split can be those of one factor,
/// the outermost of each.
static bool haveOneFactor(const Placements &placements, Operation *op,
                          int64_t count) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  SmallVector<int64_t> sizes;
  for (auto [type, placement] : llvm::zip(types, placements))
    if (placement.kind == Placement::Split)
      sizes.push_back(cast<RankedTensorType>(type).getDimSize(placement.dim));
  if (sizes.empty())
    return true;
  auto block = [&](int64_t size) { return (size + count - 1) / count; };
  for (int64_t factor = 2; factor <= sizes[0]; ++factor)
    if (llvm::all_of(sizes, [&](int64_t size) {
          return size % factor == 0 &&
                 block(factor) * (size / factor) == block(size);
        }))
      return true;
  return false;
}

std::string excuseFor(const Placements &placements,
                      const graph::ShardingRule &rule, Operation *op,
                      int64_t count) {
  auto operands = ArrayRef(placements).take_front(op->getNumOperands());
  auto results = ArrayRef(placements).drop_front(op->getNumOperands());
  bool onlyMaxima = llvm::all_of(operands, [](Placement p) {
    return p.kind == Placement::Whole || p.kind == Placement::Max;
  });
  bool toMaxima = llvm::all_of(
      results, [](Placement p) { return p.kind == Placement::Max; });
  if (onlyMaxima && toMaxima)
    return "rising, by a payload that does not show it";
  bool partial = llvm::none_of(
      operands, [](Placement p) { return p.kind == Placement::Split; });
  if (isa<graph::OptimizerOpInterface>(op) && partial)
    return "updates of partial parameters";
  auto isCovered = [&](const std::set<Placements> &by) {
    return llvm::any_of(by, [&](const Placements &stronger) {
      return isWeaker(placements, stronger, op->getNumOperands());
    });
  };
  if (isCovered(declaredPlacements(rule, count)))
    return "weaker than a declared one";
  // Equal to one it is not: the search would have found blocks that meet.
  std::set<Placements> uneven =
      placementsOfFactors(rule, count, graph::BlockReason::Uneven);
  if (!uneven.count(placements) && isCovered(uneven))
    return "weaker than one whose blocks do not meet";
  if (!haveOneFactor(placements, op, count))
    return "blocks of several sizes that meet by chance";
  return "";
}

Undeclared undeclared(const SearchResult &search,
                      const graph::ShardingRule &rule, Operation *op,
                      int64_t count) {
  Undeclared result;
  std::set<Placements> declared = declaredPlacements(rule, count);
  for (const Placements &placements : search.found) {
    if (declared.count(placements)) {
      ++result.declared;
      continue;
    }
    std::string excuse = excuseFor(placements, rule, op, count);
    if (excuse.empty())
      result.placements.push_back(placements);
    else
      ++result.excused[excuse];
  }
  return result;
}

} // namespace dl::test
