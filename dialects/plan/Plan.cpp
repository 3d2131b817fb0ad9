#include "dialects/plan/Plan.h"
#include "dialects/plan/RangeSyntax.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include "dialects/plan/PlanDialect.cpp.inc"
#include "dialects/plan/PlanEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/plan/PlanTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/plan/PlanAttrs.cpp.inc"

#include "dialects/plan/PlanInterfaces.cpp.inc"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.cpp.inc"

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
  llvm::StringSet<> names;
  for (auto axis : getMesh().getAsRange<AxisAttr>())
    if (axis.getSize() < 1 || !names.insert(axis.getName()).second)
      return emitOpError("axis '")
             << axis.getName() << "' of the mesh has " << axis.getSize()
             << " ranks or stands twice";
  std::optional<Memory> memory;
  for (auto buffer : getOps<BufferOp>()) {
    if (buffer.getSpace() != Space::Arena)
      continue;
    if (memory && *memory != buffer.getMemory())
      return buffer.emitOpError("'") << buffer.getName() << "' is in "
                                     << stringifyMemory(buffer.getMemory())
                                     << " memory, where the arena is not";
    memory = buffer.getMemory();
  }
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
  bool isCuda =
      getOperation()->getParentOfType<PlanOp>().getTarget() == Target::Cuda;
  if (isCuda != (getThreads() != 0) || (!isCuda && getShared() != 0))
    return emitOpError("'")
           << getSymName() << "' is for "
           << (isCuda ? "CUDA and has no threads"
                      : "processors and has blocks of threads");
  auto aligns = getAligns();
  if (aligns && aligns->size() != getBindings().size())
    return emitOpError("has ") << getBindings().size() << " bindings but "
                               << aligns->size() << " entries in 'aligns'";
  if (aligns && !llvm::all_of(*aligns, [](int64_t align) {
        return llvm::isPowerOf2_64(align) && align <= alignment;
      }))
    return emitOpError("has an alignment that is no power of two up to ")
           << alignment;
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  std::optional<uint64_t> last;
  for (auto exchange : getBody().getOps<CommunicateOp>()) {
    if (last && exchange.getOrder() <= *last)
      return exchange.emitOpError("is number ")
             << exchange.getOrder() << " of all ranks' exchanges but comes "
             << "after number " << *last;
    last = exchange.getOrder();
  }
  return success();
}

LogicalResult StepOp::verify() {
  int updates = 0;
  bool byItem = false;
  std::optional<ProgramKind> last;
  for (Operation &op : *getOps().begin()->getBlock()) {
    auto program = dyn_cast<ProgramOp>(op);
    if (!program)
      return op.emitOpError("does not belong into a step");
    if (last && program.getKind() <= *last)
      return program.emitOpError("is a second one of its kind, or comes before "
                                 "the one it should follow");
    last = program.getKind();
    updates += program.getKind() == ProgramKind::Update;
    byItem |= program.getKind() == ProgramKind::Item;
  }
  if (byItem && getTraining())
    return emitOpError("'") << getName() << "' trains, and has a program for "
                            << "single items";
  bool hasUpdate =
      getTraining() ? getAccumulate() > 1 : byItem && !getPredicts();
  if (updates != (hasUpdate ? 1 : 0))
    return emitOpError("'")
           << getName() << "' has " << updates
           << " update programs with accumulate " << getAccumulate();
  return success();
}

} // namespace dl::plan
