// Lanes draw the words that one element after the other draws.
#include "compiler/codegen/cpu/RandomWords.h"
#include "dialects/graph/ops/random/Philox.h"
#include "test/codegen/CompiledFunction.h"

namespace dl::cpu::test {
namespace {

constexpr int64_t seed = 0x299f31d0a4093822, step = 7, micro = 3, key = -5;

llvm::SmallVector<llvm::Value *> streamOf(llvm::IRBuilderBase &b,
                                          unsigned lanes) {
  llvm::SmallVector<llvm::Value *> stream;
  for (int64_t number : {seed, step, micro, key})
    stream.push_back(b.CreateVectorSplat(lanes, b.getInt64(number)));
  return stream;
}

/// The words of elements, whose numbers are the bits of doubles, as the bits of
/// one: what one word is, or both. `aligned`: nothing where any lanes may be no
/// neighbours.
template <unsigned count>
llvm::Value *emitWords(llvm::IRBuilderBase &b, llvm::Value *x,
                       std::optional<bool> aligned) {
  auto *number = llvm::cast<llvm::FixedVectorType>(x->getType());
  auto *wide = llvm::VectorType::getInteger(number);
  llvm::Value *elements = b.CreateBitCast(x, wide);
  unsigned lanes = number->getNumElements();
  auto words = aligned ? emitNeighboursWords(
                             b, b.CreateExtractElement(elements, uint64_t(0)),
                             *aligned, streamOf(b, 1), lanes, count)
                       : emitDrawnWords(b, elements, streamOf(b, lanes), count);
  llvm::Value *all = b.CreateZExt(words[0], wide);
  if (count == 2)
    all = b.CreateOr(all, b.CreateShl(b.CreateZExt(words[1], wide), 32));
  return b.CreateBitCast(all, number);
}

template <unsigned count, int aligned> // -1: no neighbours
llvm::Value *emit(llvm::IRBuilderBase &b, llvm::ArrayRef<llvm::Value *> x) {
  return emitWords<count>(
      b, x[0], aligned < 0 ? std::nullopt : std::optional<bool>(aligned));
}

uint64_t wordsOf(int64_t element, unsigned count) {
  uint64_t all = 0;
  for (unsigned j = 0; j < count; ++j)
    all |=
        uint64_t{graph::drawWord(element * count + j, seed, step, micro, key)}
        << 32 * j;
  return all;
}

void expectWords(EmitFn emit, unsigned count,
                 const std::vector<int64_t> &elements) {
  std::vector<double> x;
  for (int64_t element : elements)
    x.push_back(std::bit_cast<double>(element));
  for (const TargetVariant &variant : executableTargets()) {
    CompiledFunction function(variant, true, 1, emit);
    std::vector<double> words = function(std::vector<std::vector<double>>{x});
    for (size_t i = 0; i < x.size(); ++i)
      if (elements[i] >= 0) // those in front are padding
        ASSERT_EQ(std::bit_cast<uint64_t>(words[i]),
                  wordsOf(elements[i], count))
            << "element " << elements[i] << ", lane " << i % 16;
  }
}

std::vector<int64_t> neighboursFrom(int64_t first) {
  std::vector<int64_t> elements;
  for (int64_t i = 0; i < 48; ++i)
    elements.push_back(first + i);
  return elements;
}

constexpr int64_t beyond32Bits = int64_t{3} << 34; // also as a counter

TEST(RandomWords, AlignedNeighbours) {
  for (int64_t first :
       {int64_t{0}, int64_t{4}, int64_t{-8}, beyond32Bits - 16}) {
    expectWords(emit<1, true>, 1, neighboursFrom(first));
    expectWords(emit<2, true>, 2, neighboursFrom(first + 2));
  }
}
TEST(RandomWords, NeighboursFromAnywhere) {
  for (int64_t first : {int64_t{0}, int64_t{-11}, beyond32Bits - 13})
    for (int64_t at = 0; at < 4; ++at) {
      expectWords(emit<1, false>, 1, neighboursFrom(first + at));
      expectWords(emit<2, false>, 2, neighboursFrom(first + at));
    }
}
TEST(RandomWords, AnyElements) {
  std::vector<int64_t> elements;
  std::mt19937_64 random(1);
  for (int i = 0; i < 320; ++i)
    elements.push_back(random() >> (i % 62 + 2));
  expectWords(emit<1, -1>, 1, elements);
  expectWords(emit<2, -1>, 2, elements);
}

} // namespace
} // namespace dl::cpu::test
