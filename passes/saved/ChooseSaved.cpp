#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/TensorBytes.h"
#include "mlir/IR/IRMapping.h"
#include "passes/saved/Passes.h"
#include "passes/saved/SavedValues.h"

using namespace mlir;
using namespace dl;
using saved::Reading;

namespace dl {
#define GEN_PASS_DEF_CHOOSESAVED
#include "passes/saved/Passes.h.inc"
} // namespace dl

namespace {

/// Repeats ops for the readers in one part of a step.
class Repeating {
public:
  Repeating(const saved::StepFacts &facts, unsigned part,
            const saved::Choice &choice)
      : facts(facts), part(part), choice(choice) {}

  void run() {
    findPlaces();
    for (Operation *op : choice.again)
      repeat(op);
    for (Operation *op : facts.ops())
      if (auto it = moved.find(op); it != moved.end())
        op->moveBefore(opAt(it->second));
    for (Operation *op : llvm::reverse(choice.again))
      if (op->use_empty()) // a part of a gradient
        op->erase();
  }

private:
  bool reads(Operation *user, Reading reading) const {
    return facts.of(user).part == part && facts.of(user).reading == reading;
  }

  /// In front of which op of the step each is repeated: of the first reader,
  /// which may be the copy of another op.
  void findPlaces() {
    llvm::DenseSet<Operation *> again(choice.again.begin(), choice.again.end());
    for (Operation *op : llvm::reverse(choice.again)) {
      std::optional<unsigned> place;
      auto isRead = [&](unsigned at) {
        place = std::min(place.value_or(at), at);
      };
      for (Operation *user : op->getUsers()) {
        if (reads(user, Reading::Within))
          isRead(facts.of(user).place);
        else if (auto it = within.find(user); it != within.end())
          isRead(it->second);
        if (auto it = beside.find(user); it != beside.end())
          isRead(it->second);
      }
      if (place)
        within[op] = *place;
      auto host = choice.beside.find(op->getResult(0));
      if (host == choice.beside.end())
        continue;
      unsigned behind = facts.of(host->second).place + 1;
      beside[op] = behind;
      for (Operation *user : op->getUsers())
        if (reads(user, Reading::Whole) && facts.of(user).place < behind)
          moved[user] = std::max(moved.lookup(user), behind);
    }
  }

  /// The first op from this place on that stays where it is.
  Operation *opAt(unsigned place) const {
    while (moved.contains(facts.ops()[place]))
      ++place;
    return facts.ops()[place];
  }

  void repeat(Operation *op) {
    Value value = op->getResult(0);
    if (auto it = beside.find(op); it != beside.end()) {
      Value copy = copyAt(op, it->second);
      value.replaceUsesWithIf(copy, [&](OpOperand &use) {
        return reads(use.getOwner(), Reading::Whole);
      });
    }
    if (auto it = within.find(op); it != within.end()) {
      Value copy = copyAt(op, it->second);
      value.replaceUsesWithIf(copy, [&](OpOperand &use) {
        return reads(use.getOwner(), Reading::Within);
      });
      copies.map(value, copy);
    }
  }

  Value copyAt(Operation *op, unsigned place) {
    OpBuilder builder(opAt(place));
    // The mapping is for operands: results are mapped by the caller.
    IRMapping operands = copies;
    Operation *copy = builder.clone(*op, operands);
    copy->setLoc(graph::withRole(op->getLoc(), graph::StepRole::Backward,
                                 op->getName().stripDialect()));
    copy->setAttr(graph::kMadeAgain, builder.getUnitAttr());
    return copy->getResult(0);
  }

  const saved::StepFacts &facts;
  unsigned part;
  const saved::Choice &choice;
  llvm::DenseMap<Operation *, unsigned> within, beside, moved;
  IRMapping copies;
};

struct ChooseSaved : dl::impl::ChooseSavedBase<ChooseSaved> {
  using Base::Base;

  void runOnOperation() override {
    int64_t values = 0, bytes = 0, elements = 0;
    for (unsigned part = 1;; part += 2) {
      saved::StepFacts facts(getOperation());
      if (part > facts.lastPart())
        break;
      saved::Choice choice = saved::chooseSaved(facts, part, leastBytes);
      if (choice.values == 0)
        continue;
      explain(facts, choice);
      values += choice.values;
      bytes += choice.bytes;
      elements += choice.elements;
      Repeating(facts, part, choice).run();
    }
    if (values)
      getOperation()->setAttr(
          graph::kMadeAgainSum,
          DenseI64ArrayAttr::get(&getContext(), {values, bytes, elements}));
  }

private:
  static void explain(const saved::StepFacts &facts,
                      const saved::Choice &choice) {
    for (Value value : choice.kept)
      emitRemark(value.getLoc())
          << value.getDefiningOp()->getName().stripDialect() << ": "
          << graph::tensorBytes(value.getType())
          << " bytes kept for the backward, others are made from them";
    for (Operation *op : choice.again) {
      if (facts.of(op).isView)
        continue;
      InFlightDiagnostic remark = emitRemark(op->getLoc())
                                  << op->getName().stripDialect()
                                  << ": made again in the backward";
      auto host = choice.beside.find(op->getResult(0));
      if (host == choice.beside.end())
        remark << " by what reads it";
      else
        remark << ", for a product, beside "
               << host->second->getName().stripDialect();
      remark << ", instead of "
             << graph::tensorBytes(op->getResult(0).getType()) << " bytes kept";
    }
  }
};

} // namespace
