#include "compiler/codegen/cpu/RandomWords.h"
#include "compiler/codegen/cpu/VectorMath.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace dl::cpu {

static constexpr unsigned wordsOfCounter = 4;

static Value *splat(IRBuilderBase &b, unsigned lanes, Value *scalar) {
  return b.CreateVectorSplat(lanes, scalar);
}

static Value *startAnd(IRBuilderBase &b, unsigned lanes, Value *first) {
  SmallVector<Constant *> steps;
  for (unsigned l = 0; l < lanes; ++l)
    steps.push_back(b.getInt64(l));
  return b.CreateAdd(splat(b, lanes, first), ConstantVector::get(steps));
}

/// One vector or the other, by a bit of a number that each lane has.
static Value *choose(IRBuilderBase &b, Value *number, unsigned bit, Value *set,
                     Value *clear) {
  Value *mask = ConstantInt::get(number->getType(), bit);
  return b.CreateSelect(b.CreateIsNotNull(b.CreateAnd(number, mask)), set,
                        clear);
}

SmallVector<Value *, 2> emitDrawnWords(IRBuilderBase &b, Value *elements,
                                       DrawStream stream, unsigned count) {
  unsigned shared = wordsOfCounter / count;
  auto w = emitPhilox(b, b.CreateLShr(elements, Log2_32(shared)), stream[0],
                      stream[1], stream[2], stream[3]);
  if (count == 2)
    return {choose(b, elements, 1, w[2], w[0]),
            choose(b, elements, 1, w[3], w[1])};
  return {choose(b, elements, 2, choose(b, elements, 1, w[3], w[2]),
                 choose(b, elements, 1, w[1], w[0]))};
}

/// x[0], y[0], x[1], y[1], ...
static Value *interleave(IRBuilderBase &b, Value *x, Value *y) {
  int lanes = cast<FixedVectorType>(x->getType())->getNumElements();
  SmallVector<int> order;
  for (int l = 0; l < lanes; ++l)
    order.append({l, lanes + l});
  return b.CreateShuffleVector(x, y, order);
}

SmallVector<Value *, 2> emitNeighboursWords(IRBuilderBase &b, Value *first,
                                            bool aligned, DrawStream stream,
                                            unsigned lanes, unsigned count) {
  unsigned shared = wordsOfCounter / count, counters = lanes / shared;
  // Neighbours that begin within a counter need one more; twice as many are
  // whole registers.
  if (!aligned)
    counters *= 2;
  if (lanes % shared != 0 || counters >= lanes) {
    SmallVector<Value *> wide;
    for (Value *part : stream)
      wide.push_back(b.CreateShuffleVector(part, SmallVector<int>(lanes, 0)));
    return emitDrawnWords(b, startAnd(b, lanes, first), wide, count);
  }
  SmallVector<Value *> narrow;
  for (Value *part : stream)
    narrow.push_back(
        b.CreateShuffleVector(part, SmallVector<int>(counters, 0)));
  // Lanes in front of the first element, where a tensor is padded, are there
  // though nobody reads them: `first` may be negative.
  Value *counter = startAnd(b, counters, b.CreateAShr(first, Log2_32(shared)));
  auto w = emitPhilox(b, counter, narrow[0], narrow[1], narrow[2], narrow[3]);
  SmallVector<Value *, 2> words = {interleave(b, w[0], w[2]),
                                   interleave(b, w[1], w[3])};
  if (count == 1)
    words = {interleave(b, words[0], words[1])};
  if (aligned)
    return words;
  Value *begin = splat(b, lanes, first);
  for (Value *&word : words) {
    SmallVector<Value *> from; // as if the first element were that of a counter
    for (unsigned at = 0; at < shared; ++at) {
      SmallVector<int> order;
      for (unsigned l = 0; l < lanes; ++l)
        order.push_back(at + l);
      from.push_back(b.CreateShuffleVector(word, order));
    }
    for (unsigned bit = 1; from.size() > 1; bit *= 2) {
      for (size_t i = 0; i < from.size() / 2; ++i)
        from[i] = choose(b, begin, bit, from[2 * i + 1], from[2 * i]);
      from.truncate(from.size() / 2);
    }
    word = from[0];
  }
  return words;
}

} // namespace dl::cpu
