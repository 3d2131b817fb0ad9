#include "dialects/plan/RangeSyntax.h"
#include "mlir/IR/Builders.h"
#include <limits>

using namespace mlir;

namespace dl::plan {

/// Reads "[64, 40]", if it is there.
static ParseResult parseRange(OpAsmParser &parser,
                              SmallVectorImpl<int64_t> &ranges) {
  int64_t offset = 0, bytes = wholeBuffer;
  if (succeeded(parser.parseOptionalLSquare()) &&
      (parser.parseInteger(offset) || parser.parseComma() ||
       parser.parseInteger(bytes) || parser.parseRSquare()))
    return failure();
  ranges.append({offset, bytes});
  return success();
}

static DenseI64ArrayAttr rangesAttr(OpAsmParser &parser,
                                    ArrayRef<int64_t> ranges) {
  for (size_t i = 0; i < ranges.size(); i += 2)
    if (ranges[i] != 0 || ranges[i + 1] != wholeBuffer)
      return parser.getBuilder().getDenseI64ArrayAttr(ranges);
  return nullptr;
}

static void printRange(OpAsmPrinter &printer, Value buffer,
                       DenseI64ArrayAttr ranges, size_t index) {
  printer << buffer;
  if (ranges && ranges[2 * index + 1] != wholeBuffer)
    printer << "[" << ranges[2 * index] << ", " << ranges[2 * index + 1] << "]";
}

ParseResult parseRanges(OpAsmParser &parser, Operands &bindings,
                        DenseI64ArrayAttr &ranges) {
  SmallVector<int64_t> values;
  do {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult found = parser.parseOptionalOperand(operand);
    if (!found.has_value() && bindings.empty())
      return success();
    if (!found.has_value())
      return parser.emitError(parser.getCurrentLocation(), "expected a buffer");
    if (failed(*found) || parseRange(parser, values))
      return failure();
    bindings.push_back(operand);
  } while (succeeded(parser.parseOptionalComma()));
  ranges = rangesAttr(parser, values);
  return success();
}

void printRanges(OpAsmPrinter &printer, Operation *, OperandRange bindings,
                 DenseI64ArrayAttr ranges) {
  for (auto [index, binding] : llvm::enumerate(bindings)) {
    printer << (index ? ", " : "");
    printRange(printer, binding, ranges, index);
  }
}

ParseResult parseCopy(OpAsmParser &parser,
                      OpAsmParser::UnresolvedOperand &origin,
                      OpAsmParser::UnresolvedOperand &target,
                      DenseI64ArrayAttr &ranges) {
  SmallVector<int64_t> values;
  if (parser.parseOperand(origin) || parseRange(parser, values) ||
      parser.parseKeyword("to") || parser.parseOperand(target) ||
      parseRange(parser, values))
    return failure();
  ranges = rangesAttr(parser, values);
  return success();
}

void printCopy(OpAsmPrinter &printer, Operation *, Value origin, Value target,
               DenseI64ArrayAttr ranges) {
  printRange(printer, origin, ranges, 0);
  printer << " to ";
  printRange(printer, target, ranges, 1);
}

ParseResult parseTransfers(OpAsmParser &parser, Operands &buffers,
                           DenseI64ArrayAttr &peers,
                           DenseI64ArrayAttr &ranges) {
  SmallVector<int64_t> members, values;
  do {
    int64_t peer, more = 0;
    OptionalParseResult found = parser.parseOptionalInteger(peer);
    if (!found.has_value() && members.empty())
      break;
    if (!found.has_value())
      return parser.emitError(parser.getCurrentLocation(), "expected a member");
    if (failed(*found))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("and"))) {
      if (parser.parseInteger(more) || parser.parseKeyword("more"))
        return failure();
      if (more < 1 || more >= std::numeric_limits<uint32_t>::max())
        return parser.emitError(parser.getCurrentLocation(),
                                "expected a number of further members");
    }
    if (parser.parseColon() || parser.parseOperand(buffers.emplace_back()) ||
        parseRange(parser, values))
      return failure();
    bool same = succeeded(parser.parseOptionalKeyword("same"));
    members.append({peer, more + 1, same});
  } while (succeeded(parser.parseOptionalComma()));
  peers = parser.getBuilder().getDenseI64ArrayAttr(members);
  ranges = rangesAttr(parser, values);
  return success();
}

void printTransfers(OpAsmPrinter &printer, Operation *, OperandRange buffers,
                    DenseI64ArrayAttr peers, DenseI64ArrayAttr ranges) {
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    ArrayRef<int64_t> of = ArrayRef<int64_t>(peers).slice(3 * index, 3);
    printer << (index ? ", " : "") << of[0];
    if (of[1] != 1)
      printer << " and " << of[1] - 1 << " more";
    printer << ": ";
    printRange(printer, buffer, ranges, index);
    if (of[2] != 0)
      printer << " same";
  }
}

} // namespace dl::plan
