// The CUDA text of elementary functions, compiled for the host without any
// contraction, has the bits of the vector code.
#include "compiler/codegen/cpu/VectorMath.h"
#include "test/codegen/CompiledFunction.h"
#include "test/codegen/HostCuda.h"

#include "test/codegen/CudaMath.inc"

namespace dl::cpu::test {
namespace {

template <typename T>
void expectSameBits(EmitFn emit, T (*text)(const std::vector<T> &),
                    const std::vector<std::vector<T>> &operands) {
  CompiledFunction function(executableTargets().front(), sizeof(T) == 8,
                            static_cast<unsigned>(operands.size()), emit);
  std::vector<T> wanted = function(operands), x(operands.size());
  int failures = 0;
  for (size_t i = 0; i < wanted.size() && failures < 10; ++i) {
    for (size_t k = 0; k < x.size(); ++k)
      x[k] = operands[k][i];
    T got = text(x);
    if (!sameBits(got, wanted[i])) {
      ++failures;
      ADD_FAILURE() << std::hexfloat << "at " << x[0] << ", " << x.back()
                    << ": " << got << " instead of " << wanted[i];
    }
  }
}

struct Function {
  const char *name;
  llvm::Value *(*emit)(llvm::IRBuilderBase &, llvm::Value *);
  float (*single)(const std::vector<float> &);
  double (*dual)(const std::vector<double> &);
};

#define DL_FUNCTION(name, emit)                                                \
  {#name, emit,                                                                \
   [](const std::vector<float> &x) { return dl_##name##_f32(x[0]); },          \
   [](const std::vector<double> &x) { return dl_##name##_f64(x[0]); }}
const Function functions[] = {
    DL_FUNCTION(exp, emitExp),   DL_FUNCTION(log, emitLog),
    DL_FUNCTION(sin, emitSin),   DL_FUNCTION(cos, emitCos),
    DL_FUNCTION(tanh, emitTanh), DL_FUNCTION(erf, emitErf),
};
#undef DL_FUNCTION

class CudaMath : public testing::TestWithParam<Function> {
protected:
  static llvm::Value *emit(llvm::IRBuilderBase &builder,
                           llvm::ArrayRef<llvm::Value *> x) {
    return GetParam().emit(builder, x[0]);
  }
  static constexpr int sampleCount = 200000;
};

TEST_P(CudaMath, Float) {
  std::vector<float> x = samplesUpTo(HUGE_VALF, sampleCount);
  // All exponents, at a distance that meets all last bits.
  constexpr uint32_t step = 4099;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += step)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  expectSameBits<float>(emit, GetParam().single, {x});
}
TEST_P(CudaMath, Double) {
  expectSameBits<double>(emit, GetParam().dual,
                         {samplesUpTo(HUGE_VAL, 4 * sampleCount)});
}

INSTANTIATE_TEST_SUITE_P(, CudaMath, testing::ValuesIn(functions),
                         [](const auto &info) { return info.param.name; });

llvm::Value *emitPowOf(llvm::IRBuilderBase &builder,
                       llvm::ArrayRef<llvm::Value *> x) {
  return emitPow(builder, x[0], x[1]);
}
TEST(CudaMathPow, Float) {
  expectSameBits<float>(
      emitPowOf,
      [](const std::vector<float> &x) { return dl_pow_f32(x[0], x[1]); },
      powSamples<float>(200000));
}
TEST(CudaMathPow, Double) {
  expectSameBits<double>(
      emitPowOf,
      [](const std::vector<double> &x) { return dl_pow_f64(x[0], x[1]); },
      powSamples<double>(200000));
}

/// What tells all words apart, as the bits of one double.
uint64_t mixed(uint32_t word0, uint32_t word1, uint32_t word2, uint32_t word3) {
  return (word0 | uint64_t{word1} << 32) ^ (word2 * 3u | uint64_t{word3} << 33);
}

llvm::Value *emitPhiloxOf(llvm::IRBuilderBase &b,
                          llvm::ArrayRef<llvm::Value *> operands) {
  llvm::Type *number = operands[0]->getType();
  auto *wide =
      llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(number));
  llvm::SmallVector<llvm::Value *> x;
  for (llvm::Value *operand : operands)
    x.push_back(b.CreateBitCast(operand, wide));
  auto words = emitPhilox(b, x[0], x[1], x[2], x[3], x[4]);
  llvm::Value *three =
      llvm::ConstantInt::get(words[2]->getType(), 3); // as mixed()
  words[2] = b.CreateMul(words[2], three);
  auto both = [&](llvm::Value *low, llvm::Value *high, unsigned shift) {
    high = b.CreateShl(b.CreateZExt(high, wide), shift);
    return b.CreateOr(b.CreateZExt(low, wide), high);
  };
  return b.CreateBitCast(
      b.CreateXor(both(words[0], words[1], 32), both(words[2], words[3], 33)),
      number);
}

TEST(CudaMathPhilox, Words) {
  std::mt19937_64 random(1);
  std::vector<std::vector<double>> operands(5);
  for (int i = 0; i < 20000; ++i)
    for (std::vector<double> &operand : operands)
      operand.push_back(std::bit_cast<double>(
          i < 32 ? uint64_t(i) >> (&operand - operands.data()) & 1 : random()));
  CompiledFunction function(executableTargets().front(), true, 5, emitPhiloxOf);
  std::vector<double> wanted = function(operands);
  auto bits = [](double x) { return std::bit_cast<unsigned long long>(x); };
  for (size_t i = 0; i < wanted.size(); ++i) {
    dl_philox_words got = dl_philox(bits(operands[0][i]), bits(operands[1][i]),
                                    bits(operands[2][i]), bits(operands[3][i]),
                                    bits(operands[4][i]));
    ASSERT_EQ(mixed(got.word0, got.word1, got.word2, got.word3),
              bits(wanted[i]))
        << i;
    const unsigned int inOrder[] = {got.word0, got.word1, got.word2, got.word3};
    for (unsigned int number = 0; number < 8; ++number)
      ASSERT_EQ(dl_philox_word(got, number), inOrder[number % 4]);
  }
}

} // namespace
} // namespace dl::cpu::test
