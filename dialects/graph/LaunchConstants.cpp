#include "dialects/graph/LaunchConstants.h"
#include "dialects/graph/LibraryCall.h"
#include "dialects/graph/Payload.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace dl::graph {

static constexpr llvm::StringLiteral kLaunch = "launch";

static SmallVector<int64_t> numbersOf(Attribute attribute) {
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return {number.getInt()};
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return {number.getValue().bitcastToAPInt().getSExtValue()};
  return SmallVector<int64_t>(cast<DenseI64ArrayAttr>(attribute).asArrayRef());
}

static Attribute withNumbers(Attribute attribute, ArrayRef<int64_t> numbers) {
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return IntegerAttr::get(number.getType(), numbers.front());
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return FloatAttr::get(number.getType(),
                          llvm::bit_cast<double>(numbers.front()));
  return DenseI64ArrayAttr::get(attribute.getContext(), numbers);
}

std::optional<unsigned> constantOf(Operation *op, StringRef attribute,
                                   unsigned element) {
  auto launch = op->getAttrOfType<DictionaryAttr>(kLaunch);
  auto list =
      launch ? launch.getAs<DenseI64ArrayAttr>(attribute) : DenseI64ArrayAttr();
  if (!list || element >= list.size() || list[element] < 0)
    return std::nullopt;
  return list[element];
}

size_t numbersIn(Operation *op, StringRef attribute) {
  return numbersOf(op->getAttr(attribute)).size();
}

int64_t launchNumberOf(Operation *op, const LaunchConstant &constant) {
  return numbersOf(op->getAttr(constant.attribute))[constant.element];
}

static constexpr llvm::StringLiteral kValue = "value";

static SmallVector<LaunchConstant> takenBy(Operation &op) {
  if (auto taker = dyn_cast<LaunchConstantsOpInterface>(op))
    return taker.getLaunchConstants();
  if (isa<FullOp>(op))
    return {{kValue, 0, std::numeric_limits<int64_t>::min(),
             std::numeric_limits<int64_t>::max()}};
  return {};
}

SmallVector<LaunchConstant> launchConstants(KernelOp kernel) {
  SmallVector<LaunchConstant> constants;
  for (Operation &op : kernel.getBody().front()) {
    for (const LaunchConstant &constant : takenBy(op))
      if (auto number = constantOf(&op, constant.attribute, constant.element)) {
        if (constants.size() <= *number)
          constants.resize(*number + 1, {"", 0, 0, 0});
        constants[*number] = constant;
      }
  }
  return constants;
}

DictionaryAttr attributesInLaunch(Operation *op, ArrayRef<int64_t> constants) {
  auto launch = op->getAttrOfType<DictionaryAttr>(kLaunch);
  if (!launch)
    return op->getAttrDictionary();
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase(kLaunch);
  for (NamedAttribute entry : launch) {
    SmallVector<int64_t> numbers = numbersOf(op->getAttr(entry.getName()));
    for (auto [number, constant] : llvm::zip(
             numbers, cast<DenseI64ArrayAttr>(entry.getValue()).asArrayRef()))
      if (constant >= 0)
        number += constants[constant];
    attributes.set(entry.getName(),
                   withNumbers(op->getAttr(entry.getName()), numbers));
  }
  return attributes.getDictionary(op->getContext());
}

DictionaryAttr attributesWithoutConstants(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  if (auto taker = dyn_cast<LaunchConstantsOpInterface>(op))
    for (const LaunchConstant &constant : taker.getLaunchConstants()) {
      Attribute attribute = attributes.get(constant.attribute);
      SmallVector<int64_t> numbers = numbersOf(attribute);
      numbers[constant.element] = constant.min;
      attributes.set(constant.attribute, withNumbers(attribute, numbers));
    }
  return attributes.getDictionary(op->getContext());
}

Value launchNumber(OpBuilder &builder, Location loc, Operation *op,
                   StringRef attribute, int64_t number, unsigned element) {
  if (auto constant = constantOf(op, attribute, element))
    return LaunchConstantOp::create(builder, loc, *constant);
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(number));
}

namespace {
/// Numbers the constants of one kernel.
class Lifter {
public:
  explicit Lifter(KernelOp kernel) : kernel(kernel) {}

  LogicalResult run() {
    isLibraryCall = llvm::any_of(kernel.getBody().front(), [](Operation &op) {
      return op.hasAttr(kLibraryCall);
    });
    for (Operation &op : kernel.getBody().front())
      if (auto taker = dyn_cast<LaunchConstantsOpInterface>(op))
        if (failed(lift(taker)))
          return failure();
    if (!values.empty())
      kernel.setConstants(values);
    if (numAxes > 0) {
      steps.resize(values.size() * numAxes, 0);
      kernel.setConstantSteps(steps);
    }
    return success();
  }

private:
  LogicalResult lift(LaunchConstantsOpInterface op) {
    SmallVector<LaunchConstant> constants = op.getLaunchConstants();
    auto stays = [&](const LaunchConstant &constant) {
      // Behind other ops of the kernel, an offset would make ranges wider that
      // their guards are made from.
      if (constant.min == constant.max)
        return true;
      if (constant.operand < 0)
        return false;
      // What a library multiplies begins where the plan says, if all ranks have
      // it there.
      return !isa<BlockArgument>(op->getOperand(constant.operand)) ||
             (isLibraryCall && !differsBetweenRanks(op, constant));
    };
    for (const LaunchConstant &constant : constants)
      if (stays(constant) && differsBetweenRanks(op, constant))
        return op->emitError("a number that differs between ranks cannot be a "
                             "constant of the launch here");
    llvm::erase_if(constants, stays);
    if (constants.empty())
      return success();
    DictionaryAttr before = op->getAttrDictionary();
    // A mask that is drawn again in the same kernel has the same constants, so
    // that it is computed once.
    auto key = std::make_pair(op->getName().getAsOpaquePointer(),
                              before.getAsOpaquePointer());
    bool isPayload = llvm::all_of(
        constants, [](const LaunchConstant &c) { return c.operand < 0; });
    if (DictionaryAttr known = isPayload ? lifted.lookup(key) : nullptr) {
      op->setAttrs(known);
      return success();
    }
    for (const LaunchConstant &constant : constants)
      if (constant.operand >= 0)
        takeAlone(op, constant.operand);
    op->setAttrs(number(op, constants));
    if (isPayload)
      lifted[key] = op->getAttrDictionary();
    return success();
  }

  /// Of each axis; empty where it is the same on all ranks.
  static ArrayRef<int64_t> stepsOf(Operation *op,
                                   const LaunchConstant &constant) {
    auto all = op->getAttrOfType<DictionaryAttr>(kRankSteps);
    auto list = all ? all.getAs<DenseI64ArrayAttr>(constant.attribute)
                    : DenseI64ArrayAttr();
    if (!list)
      return {};
    size_t axes = list.size() / numbersIn(op, constant.attribute);
    return list.asArrayRef().slice(constant.element * axes, axes);
  }

  static bool differsBetweenRanks(Operation *op,
                                  const LaunchConstant &constant) {
    return llvm::any_of(stepsOf(op, constant),
                        [](int64_t step) { return step != 0; });
  }

  DictionaryAttr number(Operation *op, ArrayRef<LaunchConstant> constants) {
    NamedAttrList attributes(op->getAttrDictionary());
    llvm::MapVector<StringRef, SmallVector<int64_t>> launch;
    for (const LaunchConstant &constant : constants) {
      Attribute attribute = attributes.get(constant.attribute);
      SmallVector<int64_t> numbers = numbersOf(attribute);
      SmallVector<int64_t> &list = launch[constant.attribute];
      list.resize(numbers.size(), -1);
      list[constant.element] = values.size();
      if (ArrayRef<int64_t> ranks = stepsOf(op, constant); !ranks.empty()) {
        numAxes = ranks.size();
        steps.resize(values.size() * numAxes, 0);
        llvm::append_range(steps, ranks);
      }
      values.push_back(numbers[constant.element]);
      numbers[constant.element] = 0;
      attributes.set(constant.attribute, withNumbers(attribute, numbers));
    }
    NamedAttrList entries;
    for (auto &[name, list] : launch)
      entries.set(name, DenseI64ArrayAttr::get(op->getContext(), list));
    attributes.set(kLaunch, entries.getDictionary(op->getContext()));
    attributes.erase(kRankSteps);
    return attributes.getDictionary(op->getContext());
  }

  /// Binds an operand once more for an op that is not its only reader.
  void takeAlone(Operation *op, unsigned operand) {
    auto argument = cast<BlockArgument>(op->getOperand(operand));
    if (argument.hasOneUse())
      return;
    kernel.getInputsMutable().append(
        kernel.getInputs()[argument.getArgNumber()]);
    op->setOperand(operand, kernel.getBody().front().addArgument(
                                argument.getType(), argument.getLoc()));
  }

  KernelOp kernel;
  bool isLibraryCall = false;
  SmallVector<int64_t> values, steps;
  size_t numAxes = 0;
  llvm::DenseMap<std::pair<const void *, const void *>, DictionaryAttr> lifted;
};
} // namespace

LogicalResult liftConstants(KernelOp kernel) { return Lifter(kernel).run(); }

bool canLiftValue(FullOp full) {
  Type element = elementOf(full.getResult());
  return (element.isF32() || element.isF64()) && !full->hasAttr(kLaunch);
}

void liftValue(KernelOp kernel, FullOp full) {
  Builder builder(full.getContext());
  auto append = [](std::optional<ArrayRef<int64_t>> list, int64_t number) {
    SmallVector<int64_t> longer(list.value_or(ArrayRef<int64_t>()));
    longer.push_back(number);
    return longer;
  };
  int64_t count = kernel.getConstants().value_or(ArrayRef<int64_t>()).size();
  if (std::optional<ArrayRef<int64_t>> steps = kernel.getConstantSteps()) {
    SmallVector<int64_t> longer(*steps); // it is the same on all ranks
    longer.resize(steps->size() / count * (count + 1), 0);
    kernel.setConstantSteps(longer);
  }
  kernel.setConstants(
      append(kernel.getConstants(), numbersOf(full->getAttr(kValue)).front()));
  full->setAttr(kValue, withNumbers(full->getAttr(kValue), 0));
  full->setAttr(kLaunch, builder.getDictionaryAttr(builder.getNamedAttr(
                             kValue, builder.getDenseI64ArrayAttr(count))));
}

} // namespace dl::graph
