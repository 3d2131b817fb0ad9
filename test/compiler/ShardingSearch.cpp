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
      std::string error;
      auto results = evaluate(wholes.back(), op->getAttrs(), error);
      expected.push_back(results.value_or(Tensors()));
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
      visitAlike();
    return result;
  }

private:
  std::optional<Tensors> evaluate(ArrayRef<HostTensor> operands,
                                  ArrayRef<NamedAttribute> attributes,
                                  std::string &error) {
    return evaluateBuilt(
        context, operands,
        [&](OpBuilder &builder,
            ValueRange values) -> FailureOr<SmallVector<Value>> {
          FailureOr<Operation *> local = graph::createInferred(
              builder, op->getLoc(), op->getName().getStringRef(), values,
              attributes);
          if (failed(local))
            return failure();
          return SmallVector<Value>((*local)->getResults());
        },
        error);
  }

  bool divides(int64_t size) const {
    // Single elements would broadcast where a whole does not.
    return size % count == 0 && size >= 2 * count;
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
      if (divides(tensor.getDimSize(dim)))
        list.push_back({Placement::Split, dim});
    if (mayBePartial(type))
      list.insert(list.end(), {{Placement::Sum}, {Placement::Max}});
    return list;
  }

  void visit(Placements &placements, unsigned operand) {
    if (operand == op->getNumOperands()) {
      for (const NamedAttrList &attributes : variants)
        tryOut(placements, attributes);
      return;
    }
    for (Placement p : placementsOf(op->getOperand(operand).getType())) {
      placements[operand] = p;
      visit(placements, operand + 1);
    }
  }

  /// Of many operands of one type: each one alone, and all together.
  void visitAlike() {
    size_t operands = op->getNumOperands();
    for (Placement p : placementsOf(op->getOperand(0).getType())) {
      for (const NamedAttrList &attributes : variants)
        tryOut(Placements(operands, p), attributes);
      for (size_t i = 0; i < operands; ++i) {
        Placements placements(operands);
        placements[i] = p;
        for (const NamedAttrList &attributes : variants)
          tryOut(placements, attributes);
      }
    }
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
                                             const NamedAttrList &attributes,
                                             size_t trial) {
    SmallVector<Tensors> operands; // of each operand, of each part
    for (auto [whole, placement] : llvm::zip(wholes[trial], placements))
      operands.push_back(partsOf(whole, placement));
    SmallVector<Tensors> results;
    for (int64_t i = 0; i < count; ++i) {
      Tensors local;
      for (const Tensors &parts : operands)
        local.push_back(parts[i]);
      std::string error;
      auto part = evaluate(local, attributes, error);
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

  void tryOut(const Placements &placements, const NamedAttrList &attributes) {
    ++result.tried;
    std::vector<std::vector<Placement>> right;
    for (Type type : op->getResultTypes())
      right.push_back(placementsOf(type));
    for (size_t trial = 0; trial < wholes.size(); ++trial) {
      auto parts = locals(placements, attributes, trial);
      if (!parts)
        return;
      for (auto [r, list] : llvm::enumerate(right)) {
        llvm::erase_if(list, [&, r = r](Placement p) {
          return !isRight(p, *parts, r, expected[trial][r]);
        });
        // The maximum of equals says nothing more.
        if (llvm::is_contained(list, Placement{Placement::Whole}))
          llvm::erase_if(list,
                         [](Placement p) { return p.kind == Placement::Max; });
        if (list.empty())
          return;
      }
    }
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

std::set<Placements> declaredPlacements(const graph::ShardingRule &rule,
                                        int64_t count) {
  std::set<Placements> declared = {
      Placements(rule.operands.size() + rule.results.size())};
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    if (graph::whyNotSplit(rule, graph::FactorPart{factor, count, 0}) !=
        graph::BlockReason::None)
      continue;
    Placements placements;
    for (const graph::TensorFactors &operand : rule.operands)
      placements.push_back(placementOf(operand, factor, {}));
    for (const graph::TensorFactors &result : rule.results)
      placements.push_back(
          placementOf(result, factor, kindOf(rule.factors[factor].splitting)));
    declared.insert(placements);
  }
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

} // namespace dl::test
