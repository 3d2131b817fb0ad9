#include "dialects/plan/Plan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/plan/PlanDialect.cpp.inc"
#include "dialects/plan/PlanEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/plan/PlanTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/plan/PlanAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.cpp.inc"

using namespace mlir;

namespace dl::plan {

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/plan/PlanTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/plan/PlanAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/PlanOps.cpp.inc"
      >();
}

LogicalResult PlanOp::verify() {
  if (static_cast<int64_t>(getArena()) < 0)
    return emitOpError("arena must not be negative");
  return success();
}

void BufferOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  // "conv1/conv2d [4,10] f32" -> %conv1_conv2d
  std::string name =
      getName().take_until([](char c) { return c == ' '; }).str();
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '.')
      c = '_';
  setName(getBuffer(), name);
}

LogicalResult BufferOp::verify() {
  int64_t bytes = getBytes();
  if (bytes < 0)
    return emitOpError("'") << getName() << "' must not have a negative size";
  if (getSpace() != Space::Arena)
    return success();
  int64_t arena = getOperation()->getParentOfType<PlanOp>().getArena();
  if (!getOffset())
    return success();
  int64_t offset = *getOffset();
  if (offset < 0 || offset % alignment != 0)
    return emitOpError("'") << getName() << "' lies at offset " << offset
                            << ", which is not a multiple of " << alignment;
  if (bytes > arena || offset > arena - bytes)
    return emitOpError("'") << getName() << "' ends at byte " << offset + bytes
                            << " of an arena of " << arena << " bytes";
  return success();
}

LogicalResult KernelOp::verify() {
  if (getBindings().size() != getWrites().size())
    return emitOpError("has ") << getBindings().size() << " bindings but "
                               << getWrites().size() << " entries in 'writes'";
  for (auto range : getConstants().getAsRange<RangeAttr>())
    if (range.getMultipleOf() < 1 || range.getMin() > range.getMax())
      return emitOpError("has a constant that no value suits: ") << range;
  return success();
}

LogicalResult StepOp::verify() {
  int updates = 0;
  for (Operation &op : *getOps().begin()->getBlock()) {
    auto program = dyn_cast<ProgramOp>(op);
    if (!program)
      return op.emitOpError("does not belong into a step");
    updates += program.getKind() == ProgramKind::Update;
  }
  if (updates != (getAccumulate() > 1 && getTraining() ? 1 : 0))
    return emitOpError("'")
           << getName() << "' has " << updates
           << " update programs with accumulate " << getAccumulate();
  return success();
}

LogicalResult CommandOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel =
      symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("launches ")
           << getKernelAttr() << ", which is no kernel of the plan";
  ArrayRef<int64_t> needed = kernel.getBindings();
  if (needed.size() != getBindings().size())
    return emitOpError("binds ")
           << getBindings().size() << " buffers, " << getKernelAttr()
           << " takes " << needed.size();
  for (auto [index, value] : llvm::enumerate(getBindings())) {
    auto buffer = value.getDefiningOp<BufferOp>();
    if (static_cast<int64_t>(buffer.getBytes()) < needed[index])
      return emitOpError("binding ")
             << index << ": '" << buffer.getName() << "' has "
             << buffer.getBytes() << " bytes, " << getKernelAttr() << " needs "
             << needed[index];
  }
  return verifyConstants(kernel);
}

LogicalResult CommandOp::verifyConstants(KernelOp kernel) {
  ArrayAttr ranges = kernel.getConstants();
  if (ranges.size() != getConstants().size())
    return emitOpError("has ") << getConstants().size() << " constants, "
                               << getKernelAttr() << " takes " << ranges.size();
  for (auto [index, value] : llvm::enumerate(getConstants())) {
    auto range = cast<RangeAttr>(ranges[index]);
    if (value < range.getMin() || value > range.getMax() ||
        value % range.getMultipleOf() != 0)
      return emitOpError("constant ") << index << " is " << value << ", "
                                      << getKernelAttr() << " takes " << range;
  }
  return success();
}

} // namespace dl::plan
