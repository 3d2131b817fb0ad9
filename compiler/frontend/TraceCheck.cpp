#include "compiler/frontend/TraceCheck.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/SourceLine.h"

using namespace mlir;
using namespace dl::frontend;

TraceCheck::TraceCheck(Trace &first, Trace &again)
    : first(first), again(again), next(first.body()->begin()) {}

static std::string nameOf(Operation *op) {
  return "`" + op->getName().stripDialect().str() + "`";
}

/// "0.09", "[2,3]", "\"mean\"".
static std::string textOf(Attribute value) {
  if (!value)
    return "nothing";
  if (auto setting = dyn_cast<dl::graph::SettingAttr>(value))
    value = setting.getValue();
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto number = dyn_cast<FloatAttr>(value)) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.15g", number.getValueAsDouble());
    os << digits;
  } else if (auto integer = dyn_cast<IntegerAttr>(value)) {
    integer.getValue().print(os, /*isSigned=*/true);
  } else if (auto list = dyn_cast<DenseI64ArrayAttr>(value)) {
    os << dl::graph::shapeText(list.asArrayRef());
  } else if (auto type = dyn_cast<TypeAttr>(value)) {
    if (auto tensor = dyn_cast<RankedTensorType>(type.getValue()))
      os << dl::graph::typeText(tensor);
    else
      os << type.getValue();
  } else {
    value.print(os, /*elideType=*/true);
  }
  return text;
}

/// How often an optimizer steps is known when the step ends.
static bool isNumberOfUpdate(StringRef attribute) {
  return attribute == "call" || attribute == "calls";
}

static std::string compareAttributes(Operation *first, Operation *again) {
  DictionaryAttr before = first->getAttrDictionary(),
                 now = again->getAttrDictionary();
  if (before == now)
    return "";
  auto differs = [&](StringRef name) {
    return !isNumberOfUpdate(name) && before.get(name) != now.get(name);
  };
  for (DictionaryAttr side : {now, before})
    for (NamedAttribute attribute : side) {
      StringRef name = attribute.getName();
      if (!differs(name))
        continue;
      // A constant is the number that the user wrote.
      std::string what = first->getNumOperands() == 0 && name == "value"
                             ? "a number"
                             : name.str() + " of " + nameOf(again);
      return what + " is " + textOf(now.get(name)) + " here and was " +
             textOf(before.get(name)) + " the first time";
    }
  return "";
}

bool TraceCheck::isSame(Value before, Value now) const {
  auto argument = dyn_cast<BlockArgument>(now);
  if (!argument)
    return firstOf.lookup(now) == before;
  auto other = dyn_cast<BlockArgument>(before);
  if (!other || other.getArgNumber() != argument.getArgNumber())
    return false;
  const Argument &a = first.arguments[other.getArgNumber()],
                 &b = again.arguments[argument.getArgNumber()];
  return a.kind == b.kind && a.state == b.state;
}

std::string TraceCheck::compare(Operation *before, Operation *now) {
  if (before->getName() != now->getName())
    return nameOf(now) + " comes here, where " + nameOf(before) +
           " came the first time";
  if (std::string why = compareAttributes(before, now); !why.empty())
    return why;
  if (before->getNumOperands() != now->getNumOperands() ||
      !llvm::all_of(llvm::zip(before->getOperands(), now->getOperands()),
                    [&](auto pair) {
                      return isSame(std::get<0>(pair), std::get<1>(pair));
                    }))
    return nameOf(now) + " has another tensor here than the first time";
  if (before->getResultTypes() != now->getResultTypes())
    return nameOf(now) + " gives another shape here than the first time";
  for (auto [a, b] : llvm::zip(before->getResults(), now->getResults()))
    firstOf[b] = a;
  return "";
}

std::string TraceCheck::compareOps() {
  Block *body = again.body();
  auto op = last ? std::next(Block::iterator(last)) : body->begin();
  for (; op != body->end(); ++op) {
    if (isa<dl::graph::ReturnOp>(op))
      break;
    if (next == first.body()->end() || isa<dl::graph::ReturnOp>(*next))
      return nameOf(&*op) + " comes here, where the step ended the first time";
    if (std::string why = compare(&*next, &*op); !why.empty())
      return why;
    last = &*op;
    ++next;
  }
  return "";
}

std::string TraceCheck::compareEnds() {
  if (next != first.body()->end() && !isa<dl::graph::ReturnOp>(*next)) {
    dl::graph::SourceLine line = dl::graph::sourceLineOf(next->getLoc());
    return "it ends here, where " + nameOf(&*next) +
           " followed the first time" +
           (line.lineText().empty() ? "" : " (" + line.lineText() + ")");
  }
  auto sameMetrics = llvm::equal(
      first.metrics, again.metrics, [&](const Metric &a, const Metric &b) {
        return a.name == b.name && isSame(a.value, b.value);
      });
  if (!sameMetrics)
    return "it returns other metrics than the first time";
  if (first.stateOrder != again.stateOrder)
    return "it uses other parameters than the first time";
  for (const StateKey &key : first.stateOrder)
    if (!isSame(first.states[key].back(), again.states[key].back()))
      return "it updates a parameter otherwise than the first time";
  return "";
}
