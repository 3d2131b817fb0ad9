#include "compiler/codegen/cuda/RegionText.h"
#include "compiler/codegen/cuda/PayloadText.h"
#include "compiler/codegen/kernel/PayloadIndex.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using llvm::Twine;

namespace dl::cuda {

static Type elementType(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

RegionText::RegionText(const BlockKernel &kernel, PayloadCache &payloads,
                       SourceText &out)
    : kernel(kernel), out(out),
      scope(kernel.op()->getContext(), kernel.isWide()), payloads(payloads),
      scopes(1) {}

AffineExpr RegionText::originOf(GridPart bound) const {
  if (!kernel.isCut(bound))
    return scope.constant(0);
  return tileNumbers[*bound.grid] *
         (kernel.tileSizes()[*bound.grid] / bound.step);
}

void RegionText::open(const Twine &head) {
  out.open(head);
  scopes.emplace_back();
}

void RegionText::close() {
  scopes.pop_back();
  out.close();
}

const std::string *RegionText::find(const Key &key) const {
  for (const Scope &each : llvm::reverse(scopes))
    if (auto it = each.known.find(key); it != each.known.end())
      return &it->second;
  return nullptr;
}

void RegionText::seed(Value value, std::string name) {
  scopes.back().seeds[value] = std::move(name);
}

Type RegionText::payloadType(Operation *op) {
  return payloads.get(cast<graph::LoopNestOpInterface>(op))
      .results[0]
      .getType();
}

std::string RegionText::pointer(Value placed) const {
  const Placement &placement = kernel.placement(kernel.memoryOf(placed));
  switch (placement.kind) {
  case Placement::Operand:
    return "a" + std::to_string(placement.number);
  case Placement::Result:
    return "r" + std::to_string(placement.number);
  case Placement::Scratch:
    break;
  }
  auto it = kernel.placements().find(placed);
  return "s" + std::to_string(it - kernel.placements().begin());
}

AffineExpr RegionText::address(Value placed, ArrayRef<AffineExpr> index) const {
  bool isLocal = kernel.isTileLocal(placed);
  ArrayRef<int64_t> strides = kernel.strides(placed);
  AffineExpr sum = scope.constant(0);
  for (auto [d, expr] : llvm::enumerate(index)) {
    AffineExpr at = expr;
    if (GridPart bound = kernel.parts(placed)[d]; isLocal && bound.grid)
      at = at - originOf(bound);
    sum = sum + at * strides[d];
  }
  return simplified(sum);
}

std::string RegionText::fromMemory(const std::string &content,
                                   Type element) const {
  if (element.isInteger(1))
    return content + " != 0";
  return element.isInteger(8) ? "(signed char)" + content : content;
}

/// What a vector access begins at: the address without the number of the
/// neighbour, which is returned too. Nothing where neighbours are not aligned,
/// or where they are no neighbours in memory: groups of `vector` elements are
/// counted by `number`.
static std::optional<std::pair<AffineExpr, unsigned>>
alignedBase(AffineExpr at, AffineExpr number, unsigned vector, unsigned group) {
  AffineExpr step = simplified(at.replace(number, number + 1) - at);
  auto constant = dyn_cast<AffineConstantExpr>(step);
  if (!constant || constant.getValue() != group)
    return std::nullopt;
  for (unsigned l = 0; l < vector; ++l)
    if (AffineExpr base = simplified(at - int64_t(l));
        base.isMultipleOf(vector))
      return std::make_pair(base, l);
  return std::nullopt;
}

std::string RegionText::load(Value placed, ArrayRef<AffineExpr> index) {
  Type element = elementType(placed);
  AffineExpr at = address(placed, index);
  std::string type = memoryType(element), from = pointer(placed);
  unsigned width = graph::elementBytes(element) * vector > kVectorBytes
                       ? kVectorBytes / graph::elementBytes(element)
                       : vector;
  auto base = width > 1 && guards == 0 && vectorNumber
                  ? alignedBase(at, vectorNumber, width, vector)
                  : std::nullopt;
  // (Neighbours are aligned wherever slices begin, if their strides are.)
  auto isAligned = [&](const auto &offset) {
    return offset.second % int64_t(width) == 0;
  };
  // The same for all neighbours: one load.
  if (!base || !llvm::all_of(kernel.placement(placed).offsets, isAligned))
    return fromMemory(from + "[" + scope.text(at) + "]", element);
  Key key{placed.getAsOpaquePointer(), base->first.getAsOpaquePointer(), width};
  const std::string *known = find(key);
  if (!known) {
    std::string name = out.fresh(from + "v"),
                at = from + " + (" + scope.text(base->first) + ")";
    if (element.isBF16())
      out.line("const Vec<unsigned, " + Twine(width / 2) + "> " + name +
               " = load<" + Twine(width / 2) +
               ">(reinterpret_cast<const unsigned *>(" + at + "));");
    else
      out.line("const Vec<" + type + ", " + Twine(width) + "> " + name +
               " = load<" + Twine(width) + ">(" + at + ");");
    known = &(scopes.back().known[key] = name);
  }
  if (element.isBF16())
    return (base->second % 2 == 0 ? "lower(" : "upper(") + *known + ".at[" +
           std::to_string(base->second / 2) + "])";
  return fromMemory(*known + ".at[" + std::to_string(base->second) + "]",
                    element);
}

std::string RegionText::evaluate(Value value, ArrayRef<AffineExpr> index) {
  for (const Scope &each : llvm::reverse(scopes))
    if (auto it = each.seeds.find(value); it != each.seeds.end())
      return it->second;
  AffineMap at = AffineMap::get(256, 0, index, kernel.op()->getContext());
  Key key{value.getAsOpaquePointer(), at.getAsOpaquePointer(), 0};
  if (const std::string *known = find(key))
    return *known;
  if (auto maker = value.getDefiningOp<graph::LoopNestOpInterface>();
      keepsNarrow && maker && !kernel.isPlaced(value) &&
      graph::payloadFacts(maker).isWidening)
    return evaluateOperand(maker, 0, index);
  if (!kernel.isPlaced(value)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    std::string name = evaluatePayload(value.getDefiningOp(), index)[number];
    return scopes.back().known[key] = name;
  }
  std::string content = load(value, index);
  std::string name = out.fresh("x");
  out.line("const " + valueType(graph::scalarType(elementType(value))) + " " +
           name + " = " + content + ";");
  return scopes.back().known[key] = name;
}

/// Words of an element, one or two, where only the element knows which.
static Names wordsAt(const std::string &words, const std::string &element,
                     unsigned count) {
  std::string of = "(int)dl_philox_word(" + words + ", (unsigned)(" + element;
  if (count == 1)
    return {of + "))"};
  return {of + ") * 2u)", of + ") * 2u + 1u)"};
}

/// The i64 scalars of the step (seed, step, ...).
std::string RegionText::scalarOperand(Operation *op, int64_t which) {
  for (Value operand : op->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getElementType().isInteger(64) && type.getRank() == 1)
      return pointer(operand) + "[" + std::to_string(which) + "]";
  }
  DL_UNREACHABLE("an op with graph.scalar in its payload has the scalars");
}

/// Elements that are known to share a counter share the call: four words for
/// four neighbours.
Names RegionText::drawWords(graph::PhiloxOp draw,
                            ArrayRef<std::string> operands,
                            ArrayRef<AffineExpr> indices) {
  definitions.insert(formula::cudaPhilox());
  unsigned count = draw.getNumResults();
  std::string element = "(unsigned long long)" + operands[0], name;
  auto call = [&] {
    name = out.fresh("words");
    out.line("const dl_philox_words " + name + " = dl_philox((" + element +
             ") >> " + Twine(count == 1 ? 2 : 1) + ", " +
             llvm::join(operands.drop_front(), ", ") + ");");
    return name;
  };
  // Its first word, and that word's number in what is aligned by 4 or by 2.
  AffineExpr word = kernel::payloadIndex(draw.getIndex(), indices);
  if (word)
    word = word * int64_t(count);
  for (unsigned group : {4, 2})
    for (unsigned l = 0; word && l < group; l += count) {
      AffineExpr base = simplified(word - int64_t(l));
      if (!base.isMultipleOf(group))
        continue;
      Key key{draw.getAsOpaquePointer(), base.getAsOpaquePointer(), group};
      const std::string *known = find(key);
      if (!known)
        known = &(scopes.back().known[key] = call());
      if (group == 2)
        return wordsAt(*known, element, count);
      Names words;
      for (unsigned j = 0; j < count; ++j)
        words.push_back("(int)" + *known + ".word" + std::to_string(l + j));
      return words;
    }
  return wordsAt(call(), element, count);
}

Names RegionText::evaluatePayload(Operation *op, ArrayRef<AffineExpr> dims) {
  auto nest = cast<graph::LoopNestOpInterface>(op);
  const graph::PayloadBlock &payload = payloads.get(nest);
  unsigned numOperands = op->getNumOperands();
  auto indices = kernel.payloadIndices(nest, dims);
  std::string stem = op->getName().stripDialect().str();
  llvm::DenseMap<Value, std::string> values;
  auto get = [&](Value v) -> std::string {
    if (auto known = values.find(v); known != values.end())
      return known->second;
    unsigned number = cast<BlockArgument>(v).getArgNumber();
    if (number < numOperands)
      return values[v] = evaluateOperand(op, number, dims);
    return values[v] =
               "(long long)(" + scope.text(indices[number - numOperands]) + ")";
  };
  for (Operation &inner : const_cast<Block &>(payload.block)) {
    if (auto scalar = dyn_cast<graph::ScalarOp>(inner)) {
      values[scalar] =
          scalarOperand(op, static_cast<int64_t>(scalar.getWhich()));
      continue;
    }
    if (auto number = dyn_cast<graph::LaunchConstantOp>(inner)) {
      values[number] = "c" + std::to_string(number.getNumber());
      continue;
    }
    Names operands;
    for (Value operand : inner.getOperands())
      operands.push_back(get(operand));
    if (auto draw = dyn_cast<graph::PhiloxOp>(inner)) {
      for (auto [word, text] :
           llvm::zip(draw.getWords(), drawWords(draw, operands, indices)))
        values[word] = text;
      continue;
    }
    if (auto formula = formulaOf(&inner))
      definitions.insert(formula::cudaFunction(
          *formula, inner.getResult(0).getType().isF64()));
    auto texts = payloadText(&inner, operands);
    if (texts.empty()) {
      payloads.error =
          ("there is no code for " + inner.getName().getStringRef() +
           " in the payload of " + op->getName().getStringRef())
              .str();
      texts.assign(inner.getNumResults(), "0");
    }
    Value result = inner.getResult(0);
    if (isa<arith::ConstantOp>(inner)) {
      values[result] = texts[0];
      continue;
    }
    std::string name = out.fresh(stem);
    out.line("const " + valueType(result.getType()) + " " + name + " = " +
             texts[0] + ";");
    values[result] = name;
  }
  Names results;
  for (Value result : payload.results)
    results.push_back(get(result));
  return results;
}

/// What has to hold for an access to be inside of its operand.
SmallVector<std::string> RegionText::insideConditions(
    const graph::Access &access, ArrayRef<AffineExpr> dims,
    ArrayRef<AffineExpr> index, ArrayRef<int64_t> shape, bool &never) const {
  SmallVector<std::string> conditions;
  for (AffineExpr guard : access.guards) {
    AffineExpr expr = simplified(guard.replaceDims(dims));
    auto [lo, hi] = scope.range(expr);
    never |= lo > 0 || hi < 0;
    if (lo != 0 || hi != 0)
      conditions.push_back(scope.text(expr) + " == 0");
  }
  for (auto [expr, extent] : llvm::zip(index, shape)) {
    auto [lo, hi] = scope.range(expr);
    never |= hi < 0 || lo >= extent;
    if (lo < 0 || hi >= extent)
      conditions.push_back(scope.text(expr) + " < " + scope.number(extent));
  }
  return conditions;
}

SmallVector<std::string>
RegionText::bordersOf(Operation *op, unsigned operand,
                      ArrayRef<AffineExpr> dims) const {
  SmallVector<std::string> borders;
  SmallVector<AffineExpr> index(dims);
  for (;;) {
    const graph::Access &access = kernel.nest(op).accesses[operand];
    Value value = op->getOperand(operand);
    if (access.indirect || access.outside.value_or(0) != 0)
      return borders;
    auto inner = accessAt(access, index);
    if (access.outside) {
      bool never = false;
      auto conditions =
          insideConditions(access, index, inner, kernel.shapeOf(value), never);
      if (never)
        return borders;
      llvm::append_range(borders, conditions);
    }
    auto maker = value.getDefiningOp<graph::LoopNestOpInterface>();
    if (kernel.isPlaced(value) || !maker)
      return borders;
    graph::PayloadFacts facts = graph::payloadFacts(maker);
    if (!facts.isView && !facts.isZeroPaddedView && !facts.isWidening)
      return borders;
    op = maker, operand = 0;
    index.assign(inner.begin(), inner.end());
  }
}

std::string RegionText::addressOf(Operation *op, unsigned operand,
                                  ArrayRef<AffineExpr> dims) const {
  const graph::Access &access = kernel.nest(op).accesses[operand];
  if (access.indirect || access.outside.value_or(0) != 0)
    return "";
  SmallVector<AffineExpr> index = accessAt(access, dims);
  Value value = kernel.viewedLeaf(op->getOperand(operand), index,
                                  kernel::StagedKernel::Seen::Padded);
  if (!value)
    return "";
  AffineExpr at = address(value, index);
  auto isAligned = [&](const auto &offset) {
    return offset.second % int64_t(vector) == 0;
  };
  if (kernel.isTileLocal(value) || !at.isMultipleOf(vector) ||
      !llvm::all_of(kernel.placement(value).offsets, isAligned))
    return "";
  return pointer(value) + " + (" + scope.text(at) + ")";
}

void RegionText::assume(ArrayRef<std::string> conditions) {
  scopes.back().assumed.insert(conditions.begin(), conditions.end());
}

/// The index that another operand says, moved into the dim: what is read with a
/// wrong one does not matter, but has to be there.
AffineExpr RegionText::indirectIndex(Operation *op, const graph::Access &access,
                                     int64_t extent,
                                     ArrayRef<AffineExpr> dims) {
  std::string content = evaluateOperand(op, access.indirect->operand, dims);
  std::string name = out.fresh("at");
  std::string last = std::to_string(extent - 1) + "ull";
  out.line(Twine("const ") + scope.type() + " " + name +
           " = (unsigned long long)" + content + " < " + last + " ? " +
           content + " : " + last + ";");
  return scope.addDim(name, 0, extent - 1);
}

std::string RegionText::evaluateOperand(Operation *op, unsigned operand,
                                        ArrayRef<AffineExpr> dims) {
  const graph::Access &access = kernel.nest(op).accesses[operand];
  Value value = op->getOperand(operand);
  SmallVector<AffineExpr> index = accessAt(access, dims);
  auto shape = kernel.shapeOf(value);
  if (access.indirect) {
    unsigned dim = access.indirect->dim;
    index[dim] = indirectIndex(op, access, shape[dim], dims);
  }
  if (!access.outside)
    return evaluate(value, index);
  bool never = false;
  auto conditions = insideConditions(access, dims, index, shape, never);
  Type scalar = graph::scalarType(elementType(value));
  if (keepsNarrow && isa<FloatType>(scalar))
    scalar = BFloat16Type::get(scalar.getContext());
  std::string outside = isa<FloatType>(scalar)
                            ? floatLiteral(*access.outside, scalar)
                            : std::to_string(int64_t(*access.outside));
  if (never)
    return outside;
  llvm::erase_if(conditions, [&](const std::string &condition) {
    return llvm::any_of(scopes, [&](const Scope &each) {
      return each.assumed.count(condition) > 0;
    });
  });
  if (conditions.empty())
    return evaluate(value, index);
  std::string name = out.fresh("in");
  out.line(valueType(scalar) + " " + name + " = " + outside + ";");
  open("if (" + llvm::join(conditions, " && ") + ")");
  {
    llvm::SaveAndRestore<unsigned> guarded(guards, guards + 1);
    out.line(name + " = " + evaluate(value, index) + ";");
  }
  close();
  return name;
}

void RegionText::store(Value placed, ArrayRef<AffineExpr> index,
                       const std::string &content) {
  out.line(pointer(placed) + "[" + scope.text(address(placed, index)) +
           "] = " + content + ";");
}

void RegionText::store(Value placed, ArrayRef<SmallVector<AffineExpr>> indices,
                       ArrayRef<std::string> contents) {
  unsigned count = indices.size(),
           width = std::min<unsigned>(
               count, 16 / graph::elementBytes(elementType(placed)));
  for (unsigned first = 0; first < count; first += width) {
    AffineExpr at = address(placed, indices[first]);
    bool whole = width > 1 && at.isMultipleOf(width);
    for (unsigned l = 1; l < width && whole; ++l)
      whole = simplified(address(placed, indices[first + l]) - at) ==
              scope.constant(l);
    if (!whole) {
      for (unsigned l = 0; l < width; ++l)
        store(placed, indices[first + l], contents[first + l]);
      continue;
    }
    std::string type = memoryType(elementType(placed));
    SmallVector<std::string> parts(contents.slice(first, width));
    if (type == "unsigned char")
      for (std::string &part : parts)
        part = "(unsigned char)" + part;
    if (elementType(placed).isBF16()) {
      SmallVector<std::string> words;
      for (unsigned l = 0; l < width; l += 2)
        words.push_back("joined(" + parts[l] + ", " + parts[l + 1] + ")");
      out.line("store(reinterpret_cast<unsigned *>(" + pointer(placed) +
               " + (" + scope.text(at) + ")), Vec<unsigned, " +
               Twine(width / 2) + ">{{" + llvm::join(words, ", ") + "}});");
      continue;
    }
    out.line("store(" + pointer(placed) + " + (" + scope.text(at) + "), Vec<" +
             type + ", " + Twine(width) + ">{{" + llvm::join(parts, ", ") +
             "}});");
  }
}

} // namespace dl::cuda
