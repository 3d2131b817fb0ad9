#include "dialects/graph/Payload.h"
#include "tools/dl-opt/FactPasses.h"

namespace dl {
#define GEN_PASS_DEF_PRINTLOOPNESTS
#include "tools/dl-opt/FactPasses.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

StringRef combineText(graph::Combine combine) {
  switch (combine) {
  case graph::Combine::None:
    return "none";
  case graph::Combine::Sum:
    return "sum";
  case graph::Combine::Max:
    return "max";
  case graph::Combine::Order:
    return "order";
  case graph::Combine::Scan:
    return "scan";
  }
  return "?";
}

StringRef scanText(graph::Scan::Kind kind) {
  switch (kind) {
  case graph::Scan::Sum:
    return "sum";
  case graph::Scan::Linear:
    return "linear";
  case graph::Scan::Argmax:
    return "argmax";
  }
  return "?";
}

void printNest(const graph::LoopNest &nest) {
  llvm::outs() << "  extents [";
  for (auto [i, extent] : llvm::enumerate(nest.extents))
    llvm::outs() << (i == nest.numParallel ? " | " : i ? ", " : "") << extent;
  llvm::outs() << "] combine " << combineText(nest.combine);
  if (nest.combine == graph::Combine::Max)
    llvm::outs() << (nest.yieldsValue ? " value" : "")
                 << (nest.yieldsIndex ? " index" : "");
  llvm::outs() << (nest.contraction ? " contraction" : "");
  if (nest.replace)
    llvm::outs() << " replaced at an index of d" << nest.replace->at;
  if (nest.scatter)
    llvm::outs() << " scatter to d" << nest.scatter->at;
  if (nest.scan)
    llvm::outs() << " " << scanText(nest.scan->kind)
                 << (nest.scan->reverse ? " from d" : " up to d")
                 << nest.scan->at;
  llvm::outs() << "\n";
  for (const graph::Access &access : nest.accesses) {
    llvm::outs() << "  access " << access.map;
    for (AffineExpr guard : access.guards)
      llvm::outs() << " where " << guard << " == 0";
    if (access.outside)
      llvm::outs() << " outside " << *access.outside;
    if (access.indirect)
      llvm::outs() << " dim " << access.indirect->dim << " by operand "
                   << access.indirect->operand;
    llvm::outs() << "\n";
  }
}

struct PrintLoopNests : dl::impl::PrintLoopNestsBase<PrintLoopNests> {
  void runOnOperation() override {
    getContext().loadDialect<arith::ArithDialect, math::MathDialect>();
    getOperation().walk([&](graph::LoopNestOpInterface op) {
      llvm::outs() << op->getName() << "\n";
      graph::LoopNest nest = op.getLoopNest();
      printNest(nest);
      printBody(op, nest);
    });
  }

private:
  void printBody(graph::LoopNestOpInterface op, const graph::LoopNest &nest) {
    graph::PayloadBlock payload(op, nest.extents.size());
    for (Operation &inner : payload.block)
      llvm::outs() << "  " << inner.getName() << "\n";
  }
};

} // namespace
