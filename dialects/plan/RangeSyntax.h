// How ranges of buffers are written: "%x, %w[64, 40]", an offset and a number
// of bytes. In attributes that is two numbers a range, or none if all are
// whole.
#pragma once

#include "dialects/plan/Plan.h"

namespace dl::plan {

using Operands = llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>;

mlir::ParseResult parseRanges(mlir::OpAsmParser &parser, Operands &bindings,
                              mlir::DenseI64ArrayAttr &ranges);
void printRanges(mlir::OpAsmPrinter &printer, mlir::Operation *,
                 mlir::OperandRange bindings, mlir::DenseI64ArrayAttr ranges);

/// "%a[0, 64] to %b".
mlir::ParseResult parseCopy(mlir::OpAsmParser &parser,
                            mlir::OpAsmParser::UnresolvedOperand &origin,
                            mlir::OpAsmParser::UnresolvedOperand &target,
                            mlir::DenseI64ArrayAttr &ranges);
void printCopy(mlir::OpAsmPrinter &printer, mlir::Operation *,
               mlir::Value origin, mlir::Value target,
               mlir::DenseI64ArrayAttr ranges);

/// "0 and 6 more: %g[0, 64], 7: %g[448, 8]", "0 and 7 more: %g same". Of each,
/// `peers` are the first member, how many, and whether all have the same.
mlir::ParseResult parseTransfers(mlir::OpAsmParser &parser, Operands &buffers,
                                 mlir::DenseI64ArrayAttr &peers,
                                 mlir::DenseI64ArrayAttr &ranges);
void printTransfers(mlir::OpAsmPrinter &printer, mlir::Operation *,
                    mlir::OperandRange buffers, mlir::DenseI64ArrayAttr peers,
                    mlir::DenseI64ArrayAttr ranges);

} // namespace dl::plan
