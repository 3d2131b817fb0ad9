#include "test/compiler/ShardingParts.h"
#include "dialects/graph/Reference.h"
#include "mlir/IR/Diagnostics.h"
#include "test/compiler/ShardingCases.h"
#include <cmath>

using namespace mlir;
using dl::graph::HostTensor;

namespace dl::test {

static LogicalResult expandOptimizers(graph::StepOp function, Value scalars) {
  SmallVector<graph::OptimizerOpInterface> ops(
      function.getOps<graph::OptimizerOpInterface>());
  for (graph::OptimizerOpInterface op : ops) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> values = op.expandUpdate(builder, scalars);
    if (failed(values))
      return failure();
    op->replaceAllUsesWith(*values);
    op->erase();
  }
  return success();
}

std::optional<Tensors> evaluateBuilt(MLIRContext &context,
                                     ArrayRef<HostTensor> operands, Build build,
                                     std::string &error) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str() + "; ";
    return success();
  });
  Location loc = UnknownLoc::get(&context);
  OpBuilder builder(&context);
  HostTensor scalars(RankedTensorType::get({8}, builder.getI64Type()));
  scalars.ints[1] = 2;
  SmallVector<Type> types;
  for (const HostTensor &operand : operands)
    types.push_back(operand.type);
  types.push_back(scalars.type);
  OwningOpRef<graph::StepOp> function =
      graph::StepOp::create(builder, loc, "f", types);
  Block *block = &function->getBody().front();
  builder.setInsertionPointToEnd(block);
  FailureOr<SmallVector<Value>> results =
      build(builder, block->getArguments().drop_back());
  if (failed(results))
    return std::nullopt;
  function->setResults(*results);
  Tensors arguments(operands);
  arguments.push_back(scalars);
  if (failed(expandOptimizers(*function, block->getArguments().back())))
    return std::nullopt;
  FailureOr<Tensors> tensors = graph::evaluateStep(*function, arguments);
  if (failed(tensors))
    return std::nullopt;
  return *tensors;
}

/// First element and end of a block: blocks of ceil(size / count).
static std::pair<int64_t, int64_t> rangeOf(int64_t size, int64_t count,
                                           int64_t index) {
  int64_t length = (size + count - 1) / count;
  int64_t begin = std::min(size, index * length);
  return {begin, std::min(size, begin + length)};
}

/// The elements of a dim that a part has.
static std::vector<int64_t> positionsOf(int64_t size, const DimBlock &block) {
  std::vector<DimBlock::Digit> digits = block.digits;
  if (digits.empty())
    digits.push_back({size, block.count, block.index});
  std::vector<int64_t> positions{0};
  for (const DimBlock::Digit &digit : digits) {
    auto [begin, end] = rangeOf(digit.size, digit.count, digit.index);
    std::vector<int64_t> finer;
    for (int64_t outer : positions)
      for (int64_t i = begin; i < end; ++i)
        finer.push_back(outer * digit.size + i);
    positions = std::move(finer);
  }
  return positions;
}

static std::vector<std::vector<int64_t>> positionsIn(ArrayRef<int64_t> shape,
                                                     const Blocks &blocks) {
  std::vector<std::vector<int64_t>> positions;
  for (auto [size, block] : llvm::zip(shape, blocks))
    positions.push_back(positionsOf(size, block));
  return positions;
}

static SmallVector<int64_t> blockShape(ArrayRef<int64_t> shape,
                                       const Blocks &blocks) {
  SmallVector<int64_t> sizes;
  for (const std::vector<int64_t> &dim : positionsIn(shape, blocks))
    sizes.push_back(dim.size());
  return sizes;
}

/// Calls visit(position in the block, position in the whole).
template <typename Visit>
static void forEachInBlock(ArrayRef<int64_t> shape, const Blocks &blocks,
                           Visit visit) {
  std::vector<std::vector<int64_t>> positions = positionsIn(shape, blocks);
  graph::forEachElement(blockShape(shape, blocks),
                        [&](int64_t i, ArrayRef<int64_t> index) {
                          SmallVector<int64_t> at;
                          for (auto [dim, place] : llvm::enumerate(index))
                            at.push_back(positions[dim][place]);
                          visit(i, graph::flatIndex(shape, at));
                        });
}

HostTensor takeBlock(const HostTensor &whole, const Blocks &blocks) {
  HostTensor part(RankedTensorType::get(blockShape(whole.shape(), blocks),
                                        whole.type.getElementType()));
  forEachInBlock(whole.shape(), blocks, [&](int64_t to, int64_t from) {
    if (part.isFloat())
      part.floats[to] = whole.floats[from];
    else
      part.ints[to] = whole.ints[from];
  });
  return part;
}

static bool sameNumber(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

bool sameTensor(const HostTensor &a, const HostTensor &b) {
  return a.type == b.type && a.ints == b.ints &&
         llvm::equal(a.floats, b.floats, sameNumber);
}

Gathered::Gathered(Type type) : tensor(type), written(tensor.size()) {}

/// Merges an element that came before with one more; false if they should be
/// the same and are not.
template <typename T> static bool merge(T &old, T next, bool first, Merge how) {
  if (first)
    old = next;
  else if (how == Merge::Sum)
    old += next;
  else if (how == Merge::Max)
    old = next != next ? next : std::max(old, next);
  else
    return sameNumber(static_cast<double>(old), static_cast<double>(next));
  return true;
}

std::string Gathered::add(const HostTensor &part, const Blocks &blocks,
                          Merge how) {
  if (part.shape() != ArrayRef(blockShape(tensor.shape(), blocks)))
    return "a part has the shape " + graph::shapeText(part.shape());
  bool same = true;
  forEachInBlock(tensor.shape(), blocks, [&](int64_t from, int64_t to) {
    bool first = !written[to];
    written[to] = true;
    if (tensor.isFloat())
      same &= merge(tensor.floats[to], part.floats[from], first, how);
    else
      same &= merge(tensor.ints[to], part.ints[from], first, how);
  });
  return same ? "" : "parts that should be the same differ";
}

std::string Gathered::compare(const HostTensor &expected) const {
  if (!llvm::all_of(written, [](bool b) { return b; }))
    return "elements are missing";
  if (!sameTensor(tensor, expected))
    return "got " + graph::tensorText(tensor) + ", expected " +
           graph::tensorText(expected);
  return "";
}

Tensors partialTensors(const HostTensor &whole, Merge merge, int64_t count,
                       std::mt19937 &random) {
  Tensors parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(smallValues(whole.type, random));
  auto complete = [&](auto of) {
    for (int64_t i = 0; i < whole.size(); ++i) {
      auto value = of(whole)[i];
      if (merge == Merge::Sum) {
        of(parts.back())[i] = value;
        for (int64_t k = 0; k + 1 < count; ++k)
          of(parts.back())[i] -= of(parts[k])[i];
        continue;
      }
      // One part has the maximum, the others at most that.
      int64_t greatest = random() % count;
      for (int64_t k = 0; k < count; ++k)
        of(parts[k])[i] =
            k == greatest ? value : value - std::abs(of(parts[k])[i]);
    }
  };
  using Floats = std::vector<double> &;
  using Ints = std::vector<int64_t> &;
  if (whole.isFloat())
    complete([](const HostTensor &t) -> Floats {
      return const_cast<HostTensor &>(t).floats;
    });
  else
    complete([](const HostTensor &t) -> Ints {
      return const_cast<HostTensor &>(t).ints;
    });
  return parts;
}

} // namespace dl::test
