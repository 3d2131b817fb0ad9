// Kernels that differ in numbers alone are one piece of code, if there are
// many.
//
// Example: the 1000 times of a sampler, each a kernel with `full 0.998`, `full
// 0.997`, ...: compiled, each would take longer than it runs.
#include "passes/fuse/AlikeKernels.h"

#include "dialects/graph/LaunchConstants.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace dl {

/// So many are compiled one by one: code knows their numbers.
static constexpr unsigned kFewAlike = 8;

namespace {
struct Alike {
  graph::KernelOp kernel;
  SmallVector<graph::FullOp> numbers;
};
} // namespace

/// Of what is in a kernel, but for the values of `numbers`.
static uint64_t likenessOf(graph::KernelOp kernel,
                           SmallVectorImpl<graph::FullOp> &numbers) {
  llvm::DenseMap<Value, unsigned> known;
  auto define = [&](ValueRange values) {
    for (Value value : values)
      known.try_emplace(value, known.size());
  };
  Block &body = kernel.getBody().front();
  define(body.getArguments());
  llvm::hash_code hash =
      llvm::hash_combine(kernel.getOperandLayoutsAttr().getAsOpaquePointer(),
                         kernel.getResultLayoutsAttr().getAsOpaquePointer());
  for (Value argument : body.getArguments())
    hash = llvm::hash_combine(hash, argument.getType().getAsOpaquePointer());
  for (Operation &op : body) {
    hash = llvm::hash_combine(hash, op.getName().getAsOpaquePointer());
    auto full = dyn_cast<graph::FullOp>(op);
    if (full && graph::canLiftValue(full))
      numbers.push_back(full);
    else
      hash =
          llvm::hash_combine(hash, op.getAttrDictionary().getAsOpaquePointer());
    for (Value operand : op.getOperands())
      hash = llvm::hash_combine(hash, known.lookup(operand));
    for (Value result : op.getResults())
      hash = llvm::hash_combine(hash, result.getType().getAsOpaquePointer());
    define(op.getResults());
  }
  return hash;
}

void shareCodeOfAlikeKernels(Block &step) {
  llvm::MapVector<uint64_t, std::vector<Alike>> classes;
  for (auto kernel : step.getOps<graph::KernelOp>()) {
    Alike one{kernel, {}};
    uint64_t likeness = likenessOf(kernel, one.numbers);
    if (!one.numbers.empty())
      classes[likeness].push_back(std::move(one));
  }
  for (auto &[likeness, alike] : classes) {
    Alike &first = alike.front();
    SmallVector<unsigned> different;
    unsigned most = 0;
    for (unsigned i = 0; i < first.numbers.size(); ++i) {
      llvm::DenseSet<Attribute> values;
      for (Alike &one : alike)
        if (one.numbers.size() == first.numbers.size())
          values.insert(one.numbers[i].getValueAttr());
      if (values.size() > 1)
        different.push_back(i);
      most = std::max(most, values.size());
    }
    if (most <= kFewAlike)
      continue;
    for (Alike &one : alike)
      if (one.numbers.size() == first.numbers.size())
        for (unsigned i : different)
          graph::liftValue(one.kernel, one.numbers[i]);
  }
}

} // namespace dl
