#include "compiler/codegen/cuda/ColumnPasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dl::cuda {

using kernel::BoundKernel;
using kernel::Placement;
using kernel::Stage;

namespace {
/// What is known of each stage of a kernel.
class Order {
public:
  explicit Order(const BoundKernel &kernel) : kernel(kernel) {
    for (const Stage &stage : kernel.stages()) {
      size_t number = made.size();
      made.emplace_back();
      unsigned ready = 0;
      kernel.forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr>, bool) {
        if (auto maker = makerOf(leaf); maker && *maker != number) {
          made[number].reads.insert({leaf, *maker});
          ready =
              std::max(ready, made[*maker].level +
                                  (kernel.isTotal(numbered(*maker)) ? 1u : 0u));
        }
      });
      made[number].level = ready;
    }
  }

  ColumnPasses passes() const {
    ColumnPasses result;
    for (unsigned level = 0; level <= lastLevel(); ++level)
      result.passes.push_back({each(level), {}});
    for (ColumnPasses::Pass &pass : result.passes)
      pass.seen = kernel::SeenColumns::of(kernel, pass.each);
    for (auto [number, stage] : llvm::enumerate(kernel.stages()))
      if (!hasColumns(stage)) {
        unsigned level = made[number].level;
        (level == 0 ? result.before : result.passes[level - 1].after)
            .push_back(number);
      }
    return result;
  }

private:
  struct Made {
    /// Of the passes, the first one in which all is there that it reads.
    unsigned level = 0;
    llvm::SetVector<std::pair<Value, size_t>> reads; // and the stages' numbers
  };

  const Stage &numbered(size_t number) const { return kernel.stages()[number]; }
  bool hasColumns(const Stage &stage) const {
    return llvm::any_of(kernel.parts(stage), [&](kernel::GridPart part) {
      return part.grid == kernel.streamed();
    });
  }

  std::optional<size_t> makerOf(Value leaf) const {
    for (size_t number = 0; number < made.size(); ++number)
      if (numbered(number).makes(leaf))
        return number;
    return std::nullopt;
  }

  /// It leaves something in memory that is not this block's alone.
  bool storesColumns(size_t number) const {
    return llvm::any_of(numbered(number).results(), [&](OpResult result) {
      return kernel.isPlaced(result) &&
             kernel.placement(result).kind == Placement::Result;
    });
  }
  bool isWanted(size_t number) const {
    return hasColumns(numbered(number)) &&
           (kernel.isTotal(numbered(number)) || storesColumns(number));
  }

  unsigned lastLevel() const {
    unsigned last = 0;
    for (size_t number = 0; number < made.size(); ++number)
      if (isWanted(number))
        last = std::max(last, made[number].level);
    return last;
  }

  /// What is wanted of a pass, and what that needs of columns again: whatever
  /// is not stored as a result. (A stage may have made both.)
  ColumnPasses::Numbers each(unsigned level) const {
    llvm::SetVector<size_t> needed;
    for (size_t number = 0; number < made.size(); ++number)
      if (made[number].level == level && isWanted(number))
        needed.insert(number);
    for (size_t i = 0; i < needed.size(); ++i)
      for (auto [value, maker] : made[needed[i]].reads)
        if (hasColumns(numbered(maker)) && !kernel.isTotal(numbered(maker)) &&
            !(kernel.placement(value).kind == Placement::Result &&
              made[maker].level < level))
          needed.insert(maker);
    ColumnPasses::Numbers sorted(needed.begin(), needed.end());
    llvm::sort(sorted);
    return sorted;
  }

  const BoundKernel &kernel;
  std::vector<Made> made;
};
} // namespace

ColumnPasses ColumnPasses::of(const BoundKernel &kernel) {
  return Order(kernel).passes();
}

} // namespace dl::cuda
