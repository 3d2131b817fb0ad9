#include "dialects/plan/Plan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
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

namespace dl::plan {

/// "%x, %w[64, 40]": a range is an offset and a number of bytes.
static ParseResult
parseRanges(OpAsmParser &parser,
            SmallVectorImpl<OpAsmParser::UnresolvedOperand> &bindings,
            DenseI64ArrayAttr &ranges) {
  SmallVector<int64_t> values;
  bool allWhole = true;
  do {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult found = parser.parseOptionalOperand(operand);
    if (!found.has_value() && bindings.empty())
      return success();
    if (!found.has_value())
      return parser.emitError(parser.getCurrentLocation(), "expected a buffer");
    int64_t offset = 0, bytes = wholeBuffer;
    if (failed(*found))
      return failure();
    if (succeeded(parser.parseOptionalLSquare())) {
      allWhole = false;
      if (parser.parseInteger(offset) || parser.parseComma() ||
          parser.parseInteger(bytes) || parser.parseRSquare())
        return failure();
    }
    bindings.push_back(operand);
    values.append({offset, bytes});
  } while (succeeded(parser.parseOptionalComma()));
  if (!allWhole)
    ranges = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

static void printRanges(OpAsmPrinter &printer, Operation *,
                        OperandRange bindings, DenseI64ArrayAttr ranges) {
  for (auto [index, binding] : llvm::enumerate(bindings)) {
    printer << (index ? ", " : "") << binding;
    if (ranges && ranges[2 * index + 1] != wholeBuffer)
      printer << "[" << ranges[2 * index] << ", " << ranges[2 * index + 1]
              << "]";
  }
}

} // namespace dl::plan

#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.cpp.inc"

namespace dl::plan {

BufferOp Access::buffer() const { return value.getDefiningOp<BufferOp>(); }

int64_t Access::begin() const {
  return buffer().getOffset().value_or(0) + offset;
}

CommandList commandsOf(ProgramOp program) {
  return llvm::to_vector(program.getOps<CommandOpInterface>());
}

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

/// Ranges must lie in their buffers.
static LogicalResult verifyRanges(Operation *op, OperandRange bindings,
                                  std::optional<ArrayRef<int64_t>> ranges) {
  if (!ranges)
    return success();
  if (ranges->size() != 2 * bindings.size())
    return op->emitOpError("has ")
           << bindings.size() << " bindings but " << ranges->size()
           << " entries in 'ranges'";
  for (auto [index, value] : llvm::enumerate(bindings)) {
    auto buffer = value.getDefiningOp<BufferOp>();
    int64_t offset = (*ranges)[2 * index], bytes = (*ranges)[2 * index + 1];
    int64_t size = buffer.getBytes();
    if (bytes == wholeBuffer && offset == 0)
      continue;
    if (offset < 0 || bytes < 0 || offset > size || bytes > size - offset)
      return op->emitOpError("binding ")
             << index << ": " << bytes << " bytes from byte " << offset
             << " on are not inside '" << buffer.getName() << "', which has "
             << size;
  }
  return success();
}

/// One access for each binding.
static std::vector<Access>
accessesOf(OperandRange bindings, std::optional<ArrayRef<int64_t>> ranges) {
  std::vector<Access> accesses;
  for (auto [index, value] : llvm::enumerate(bindings)) {
    Access access{value, 0, wholeBuffer, false};
    if (ranges) {
      access.offset = (*ranges)[2 * index];
      access.bytes = (*ranges)[2 * index + 1];
    }
    if (access.bytes == wholeBuffer)
      access.bytes = access.buffer().getBytes();
    accesses.push_back(access);
  }
  return accesses;
}

std::vector<Access> CommandOp::getAccesses(const SymbolTable &kernels) {
  std::vector<Access> accesses = accessesOf(getBindings(), getRanges());
  ArrayRef<bool> writes = kernels.lookup<KernelOp>(getKernel()).getWrites();
  for (auto [access, written] : llvm::zip_equal(accesses, writes))
    access.writes = written;
  return accesses;
}

std::string CommandOp::getTitle() { return "@" + getKernel().str(); }

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
  if (failed(verifyRanges(*this, getBindings(), getRanges())))
    return failure();
  for (auto [index, access] :
       llvm::enumerate(accessesOf(getBindings(), getRanges()))) {
    int64_t align = kernel.getAligns() ? (*kernel.getAligns())[index]
                                       : plan::alignment;
    BufferOp buffer = access.buffer();
    if (access.bytes < needed[index])
      return emitOpError("binding ")
             << index << ": '" << buffer.getName() << "' has " << access.bytes
             << " bytes, " << getKernelAttr() << " needs " << needed[index];
    if (access.offset % align != 0)
      return emitOpError("binding ")
             << index << ": byte " << access.offset << " of '"
             << buffer.getName() << "' is no multiple of " << align
             << ", which " << getKernelAttr() << " needs";
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
