// The plan dialect: what a plan file says, as IR.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#include "dialects/plan/PlanDialect.h.inc"
#include "dialects/plan/PlanEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/plan/PlanTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/plan/PlanAttrs.h.inc"

namespace dl::plan {

class BufferOp;

/// Bytes of one buffer that a command touches.
struct Access {
  mlir::Value value; // of the buffer
  int64_t offset, bytes;
  bool writes;

  BufferOp buffer() const;
  /// In the buffer's space, once that is laid out.
  int64_t begin() const;
  int64_t end() const { return begin() + bytes; }
};

/// What goes to `members` members of a group from `member` on, or comes from
/// them: `bytes` of each, behind those of the member before or, where that is
/// `same`, the same ones.
struct Transfer {
  mlir::Value buffer;
  int64_t member, members, offset, bytes;
  bool same;
};

/// What a command costs.
struct Work {
  int64_t flops = 0;
  int64_t bytes = 0; // read and written
};

/// Where kernels for a target have all that they are bound to.
inline Memory memoryOf(Target target) {
  return target == Target::Cpu ? Memory::Host : Memory::Device;
}

/// How `ranges` of bindings say "to the end of the buffer".
inline constexpr int64_t wholeBuffer = -1;

} // namespace dl::plan

#include "dialects/plan/PlanInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.h.inc"

namespace dl::plan {

using CommandList = llvm::SmallVector<CommandOpInterface>;

/// A program's commands in their order.
CommandList commandsOf(ProgramOp program);

/// For people: a kernel without the hash in its name, "copy".
std::string shortTitle(CommandOpInterface command);

/// On a graph.kernel that is a product of matrices which a library is to
/// compute: the ProductAttr.
inline constexpr llvm::StringLiteral kProduct = "product";

/// Arena offsets are multiples of this, and kernels may read as many bytes past
/// a buffer's end.
inline constexpr int64_t alignment = 64;

} // namespace dl::plan
