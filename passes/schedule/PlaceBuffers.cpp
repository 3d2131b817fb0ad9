// place-buffers: an offset in the arena for every buffer.
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/schedule/Packing.h"
#include "passes/schedule/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_PLACEBUFFERS
#include "passes/schedule/Passes.h.inc"
} // namespace dl

namespace dl::schedule {
namespace {

bool isTemporary(plan::BufferOp buffer) {
  return buffer.getSpace() == plan::Space::Arena && !buffer.getPinned();
}

/// Puts pinned buffers one after the other and returns their end.
int64_t placePinned(plan::PlanOp plan) {
  Builder builder(plan.getContext());
  int64_t end = 0;
  for (auto buffer : plan.getOps<plan::BufferOp>()) {
    if (buffer.getSpace() != plan::Space::Arena || !buffer.getPinned())
      continue;
    buffer.setOffsetAttr(builder.getI64IntegerAttr(end));
    end += llvm::alignTo(buffer.getBytes(), plan::alignment);
  }
  return end;
}

/// Packs a program's temporaries behind `base`; returns the end of the last.
int64_t placeTemporaries(plan::ProgramOp program, int64_t base) {
  Builder builder(program.getContext());
  llvm::MapVector<plan::BufferOp, Lifetime> lives;
  unsigned time = 0;
  for (auto command : program.getOps<plan::CommandOp>()) {
    for (Value binding : command.getBindings()) {
      auto buffer = binding.getDefiningOp<plan::BufferOp>();
      if (!isTemporary(buffer))
        continue;
      auto [life, isNew] = lives.try_emplace(
          buffer,
          Lifetime{static_cast<int64_t>(buffer.getBytes()), time, time});
      life->second.end = time;
    }
    ++time;
  }
  std::vector<Lifetime> lifetimes;
  for (auto &[buffer, life] : lives)
    lifetimes.push_back(life);
  Packing packing = pack(lifetimes, plan::alignment);
  for (auto [entry, offset] : llvm::zip_equal(lives, packing.offsets))
    entry.first.setOffsetAttr(builder.getI64IntegerAttr(base + offset));
  return base + packing.bytes;
}

struct PlaceBuffers : impl::PlaceBuffersBase<PlaceBuffers> {
  void runOnOperation() override {
    for (auto plan : getOperation().getOps<plan::PlanOp>()) {
      int64_t pinned = placePinned(plan), end = pinned;
      plan.walk([&](plan::ProgramOp program) {
        end = std::max(end, placeTemporaries(program, pinned));
      });
      // A buffer that no command names.
      Builder builder(&getContext());
      for (auto buffer : plan.getOps<plan::BufferOp>())
        if (isTemporary(buffer) && !buffer.getOffset())
          return (void)(buffer.emitOpError("'")
                            << buffer.getName() << "' is used by no command",
                        signalPassFailure());
      // Kernels may read past the last buffer's end.
      plan.setArenaAttr(builder.getI64IntegerAttr(end + plan::alignment));
    }
  }
};

} // namespace
} // namespace dl::schedule
