// The dot form of a micro-kernel: vectors run along k, and the lanes of each
// are summed at the end.

#include "compiler/codegen/cpu/ContractLimits.h"
#include "compiler/codegen/cpu/MicroKernel.h"
#include "compiler/codegen/cpu/Packing.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

/// The innermost k loop of the dot form. Pairs are of one vector along k and
/// the next one.
Values MicroKernel::accumulateDot(int64_t extent, Value *scalarAt,
                                  Value *laneAt, ArrayRef<Value *> state) {
  int64_t width = kernel.lanes(), done = 0;
  Values sums(state.begin(), state.end());
  auto steps = [&](int64_t step, Along along) {
    int64_t end = done + (extent - done) / step * step;
    sums = emitLoop(*b, b->getInt64(done), b->getInt64(end), step, sums,
                    [&](Value *k, ArrayRef<Value *> carried) {
                      if (form.laneDims.size() > 1 && form.kDims.size() > 1)
                        fetchColumns(advance(laneAt, 1, k), step);
                      Value *row = part.rowsArePairs ? b->CreateLShr(k, 1) : k;
                      return dotStep(advance(scalarAt, 1, row),
                                     advanceLane(laneAt, 1, k), carried, along);
                    });
    done = end;
  };
  if (part.pairs && extent >= 2 * width)
    steps(2 * width, Along::PairOfVectors);
  steps(width, Along::Vector);
  if (done == extent)
    return sums;
  SmallVector<llvm::Constant *> bits;
  for (int64_t l = 0; l < width; ++l)
    bits.push_back(b->getInt1(l < extent - done));
  return dotStep(advance(scalarAt, done), advanceLane(laneAt, done), sums,
                 Along::Vector, llvm::ConstantVector::get(bits));
}

/// Of taps: other ones, and the next block of k, read what lies behind. Of
/// columns that read the same one after the other the first to do so fetches.
void MicroKernel::fetchColumns(Value *from, int64_t count) {
  int64_t line = 64 * 8 / element->getScalarSizeInBits();
  int64_t step = panel.kSteps[panel.kSteps.size() - 2];
  for (int64_t offset : panel.offsets) {
    bool isCovered = llvm::any_of(panel.offsets, [&](int64_t other) {
      int64_t apart = other - offset;
      return apart > 0 && apart <= kColumnsAhead && step != 0 &&
             apart % step == 0;
    });
    for (int64_t l = 0; l < count && !isCovered; l += line)
      emitFetch(*b, advance(from, offset + kColumnsAhead + l), 3);
  }
}

Value *MicroKernel::loadAlong(Value *from, Along along, Value *mask,
                              bool isLane) {
  auto load = [&](Value *at, Value *mask) {
    return isLane ? loadLane(at, mask) : loadVector(at, mask);
  };
  Value *first = load(from, mask);
  if (along == Along::Vector)
    return first;
  return joinPairs(*b, first,
                   load(advance(from, kernel.lanes(), isLane), nullptr));
}

Values MicroKernel::dotStep(Value *scalarAt, Value *laneAt,
                            ArrayRef<Value *> state, Along along, Value *mask) {
  Values columns, sums(state.begin(), state.end());
  for (int c = 0; c < vectors; ++c)
    columns.push_back(loadAlong(advanceLane(laneAt, panel.offsets[c]), along,
                                mask, /*isLane=*/true));
  int64_t rowStep = part.rowStep;
  for (int r = 0; r < rows; ++r) {
    Value *from = advance(scalarAt, r * rowStep);
    Value *row = part.rowsArePairs
                     ? loadVector(from, nullptr)
                     : loadAlong(from, along, mask, /*isLane=*/false);
    for (int c = 0; c < vectors; ++c) {
      Value *&sum = sums[r * vectors + c];
      sum = multiplyAdd(row, columns[c], sum, along == Along::PairOfVectors);
    }
  }
  return sums;
}

Value *MicroKernel::sumEach(ArrayRef<Value *> vectors) {
  // At each level two vectors of s segments become one of 2s, each segment
  // half as long: x + y with x the lower halves and y the upper halves.
  SmallVector<Value *> level(vectors.begin(), vectors.end());
  int64_t width = kernel.lanes();
  level.resize(width, llvm::Constant::getNullValue(vectorTy));
  for (int64_t segment = width; segment > 1; segment /= 2) {
    SmallVector<int> low, high;
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t start = 0; start < width; start += segment)
        for (int64_t i = 0; i < segment / 2; ++i) {
          low.push_back(half * width + start + i);
          high.push_back(half * width + start + segment / 2 + i);
        }
    SmallVector<Value *> next;
    int64_t pairs = level.size() / 2;
    for (int64_t i = 0; i < pairs; ++i) {
      Value *a = level[i], *c = level[i + pairs];
      next.push_back(b->CreateFAdd(b->CreateShuffleVector(a, c, low),
                                   b->CreateShuffleVector(a, c, high)));
    }
    level = next;
  }
  // The pairing (i, i + half) leaves lane order bit-reversed.
  SmallVector<int> order(width);
  int64_t bits = llvm::Log2_64(width);
  for (int64_t l = 0; l < width; ++l) {
    int64_t reversed = 0;
    for (int64_t bit = 0; bit < bits; ++bit)
      if (l >> bit & 1)
        reversed |= int64_t(1) << (bits - 1 - bit);
    order[l] = reversed;
  }
  return b->CreateShuffleVector(level[0], order);
}

} // namespace dl::cpu
