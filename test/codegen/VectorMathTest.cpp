// Every elementary function against the long double of libm, on both
// instruction sets.
#include "compiler/codegen/cpu/VectorMath.h"
#include "test/codegen/CompiledFunction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

using namespace dl::cpu;
using namespace dl::cpu::test;

namespace {

/// Distance from the exact result in units of its last place.
template <typename T> double ulpError(T got, long double wanted) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(got) || std::isnan(wanted))
    return std::isnan(got) && std::isnan(wanted) ? 0 : HUGE_VAL;
  if (std::signbit(got) != std::signbit(wanted))
    return HUGE_VAL;
  // Infinity is the number that would follow the largest.
  long double limit = std::ldexp(1.0L, Limits::max_exponent);
  long double exact = std::min(std::fabs(wanted), limit);
  long double value = std::min(static_cast<long double>(std::fabs(got)), limit);
  int exponent = Limits::min_exponent - 1; // of denormals
  if (exact > 0)
    exponent = std::max(std::ilogb(exact), exponent);
  long double ulp = std::ldexp(1.0L, exponent - Limits::digits + 1);
  return static_cast<double>(std::fabs(value - exact) / ulp);
}

/// The largest error over the samples; fails where it is above the bound, and
/// where instruction sets differ.
template <typename T, typename Reference>
double check(EmitFn emit, const std::vector<std::vector<T>> &operands,
             double bound, Reference reference) {
  std::vector<std::vector<T>> results;
  for (const TargetVariant &variant : executableTargets()) {
    CompiledFunction function(variant, sizeof(T) == 8,
                              static_cast<unsigned>(operands.size()), emit);
    results.push_back(function(operands));
  }
  double worst = 0;
  int failures = 0;
  for (size_t i = 0; i < operands[0].size() && failures < 10; ++i) {
    T x = operands[0][i], y = operands.back()[i];
    for (const std::vector<T> &other : results)
      if (!sameBits(results[0][i], other[i])) {
        ++failures;
        ADD_FAILURE() << "instruction sets differ at " << x << ", " << y << ": "
                      << results[0][i] << " and " << other[i];
      }
    double error = ulpError(results[0][i], reference(x, y));
    if (!(error <= bound)) {
      ++failures;
      ADD_FAILURE() << std::hexfloat << "at " << x << ", " << y << ": "
                    << results[0][i] << " instead of " << reference(x, y)
                    << std::defaultfloat << ", " << error << " ulp";
    }
    worst = std::max(worst, error);
  }
  return worst;
}

struct Function {
  const char *name;
  llvm::Value *(*emit)(llvm::IRBuilderBase &, llvm::Value *);
  long double (*reference)(long double);
  double floatUlp, doubleUlp;
  float largestFloat = std::numeric_limits<float>::infinity();
  double largestDouble = std::numeric_limits<double>::infinity();
};

// The bounds are those that Functions.h states.
const Function functions[] = {
    {"exp", emitExp, std::exp, 1.1, 1.1}, {"log", emitLog, std::log, 1, 1},
    {"sin", emitSin, std::sin, 1.6, 1},   {"cos", emitCos, std::cos, 1.6, 1},
    {"tanh", emitTanh, std::tanh, 2, 2},  {"erf", emitErf, std::erf, 2, 2},
};

class VectorMath : public testing::TestWithParam<Function> {
protected:
  template <typename T> void run(double bound, T largest) {
    const Function &function = GetParam();
    double worst = check<T>(
        [&](llvm::IRBuilderBase &builder, llvm::ArrayRef<llvm::Value *> x) {
          return function.emit(builder, x[0]);
        },
        {samplesUpTo<T>(largest, sampleCount)}, bound,
        [&](T x, T) { return function.reference(x); });
    RecordProperty("ulp", std::to_string(worst));
    if (getenv("DL_SHOW_ULP"))
      printf("%s %s: %.3f ulp\n", function.name,
             sizeof(T) == 8 ? "double" : "float", worst);
  }

  static constexpr int sampleCount = 200000;
};

TEST_P(VectorMath, Float) {
  run<float>(GetParam().floatUlp, GetParam().largestFloat);
}
TEST_P(VectorMath, Double) {
  run<double>(GetParam().doubleUlp, GetParam().largestDouble);
}

INSTANTIATE_TEST_SUITE_P(, VectorMath, testing::ValuesIn(functions),
                         [](const auto &info) { return info.param.name; });

llvm::Value *emitPowOf(llvm::IRBuilderBase &builder,
                       llvm::ArrayRef<llvm::Value *> x) {
  return emitPow(builder, x[0], x[1]);
}

template <typename T> void checkPow(double bound) {
  double worst =
      check<T>(emitPowOf, powSamples<T>(100000), bound, [](T x, T y) {
        return std::pow(static_cast<long double>(x),
                        static_cast<long double>(y));
      });
  if (getenv("DL_SHOW_ULP"))
    printf("pow %s: %.3f ulp\n", sizeof(T) == 8 ? "double" : "float", worst);
}

TEST(VectorMathPow, Float) { checkPow<float>(0.51); }
TEST(VectorMathPow, Double) { checkPow<double>(1.5); }

/// The doubles and floats that lie nearest to a multiple of pi / 2, of all:
/// what is left of the angle has 61 and 30 leading zeros.
TEST(LargeAngles, NearMultiples) {
  auto sine = [](llvm::IRBuilderBase &builder,
                 llvm::ArrayRef<llvm::Value *> x) {
    return emitSin(builder, x[0]);
  };
  auto cosine = [](llvm::IRBuilderBase &builder,
                   llvm::ArrayRef<llvm::Value *> x) {
    return emitCos(builder, x[0]);
  };
  double wide = 6381956970095103.0 * 0x1p797; // 797: by Kahan
  float narrow = 16367173.0f * 0x1p72f;
  // By mpmath, with 2000 bits.
  for (auto &&[emit, atWide, atNarrow] :
       {std::tuple(EmitFn(sine), 1.0L, 0.9999999999999999986962592L),
        std::tuple(EmitFn(cosine), -4.687165924254627611122583e-19L,
                   -1.614769798247621187603565e-9L)}) {
    check<double>(emit, {{wide, wide}}, 1,
                  [&](double, double) -> long double { return atWide; });
    check<float>(emit, {{narrow, narrow}}, 1.6,
                 [&](float, float) -> long double { return atNarrow; });
  }
}

/// One far lane leaves the others as they are.
TEST(LargeAngles, BesideSmallOnes) {
  std::vector<double> x;
  for (int i = 0; i < 64; ++i)
    x.push_back(i % 7 == 3 ? std::ldexp(1.5 + i, 15 * i) : 0.1 * i);
  check<double>(
      [](llvm::IRBuilderBase &builder, llvm::ArrayRef<llvm::Value *> operands) {
        return emitSin(builder, operands[0]);
      },
      {x}, 1, [](double a, double) { return std::sin((long double)a); });
}

/// How often a function gives less for the next larger number, over runs of
/// neighbours: at all sizes, and where the range reduction of exp jumps.
struct Rising : testing::TestWithParam<Function> {
  static constexpr int runCount = 4000, runLength = 128;
  static constexpr float erfDrops = -0x1.fbe80ep+0F;

  template <typename T> static T neighbour(T x, int distance) {
    using Signed = std::make_signed_t<BitsOf<T>>;
    constexpr Signed magnitude = std::numeric_limits<Signed>::max();
    auto bits = std::bit_cast<Signed>(x);
    auto ordered = (bits < 0 ? -(bits & magnitude) : bits) + distance;
    return std::copysign(
        std::bit_cast<T>(static_cast<Signed>(ordered < 0 ? -ordered : ordered)),
        static_cast<T>(ordered < 0 ? -1 : 1));
  }

  template <typename T> static int countDrops(const Function &function) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<T> unit(-1, 1);
    std::vector<T> x;
    for (int run = 0; run < runCount; ++run) {
      T start = run == 0 ? erfDrops : unit(random);
      switch (run % 5) {
      default:
        break;
      case 1:
        start *= 6;
        break;
      case 2:
        start *= 40;
        break;
      case 3:
        start = std::ldexp(start, -static_cast<int>(random() % 50));
        break;
      case 4:
        start =
            (static_cast<T>(static_cast<int>(random() % 256)) - T(127.5)) *
            std::ldexp(std::numbers::ln2_v<T>, -static_cast<int>(random() % 8));
        break;
      }
      for (int i = 0; i < runLength; ++i)
        x.push_back(neighbour(start, i - runLength / 2));
    }
    auto emit = [&](llvm::IRBuilderBase &builder,
                    llvm::ArrayRef<llvm::Value *> operands) {
      return function.emit(builder, operands[0]);
    };
    CompiledFunction compiled(executableTargets().front(), sizeof(T) == 8, 1,
                              emit);
    std::vector<T> y = compiled(std::vector<std::vector<T>>{x});
    int drops = 0;
    for (size_t i = 1; i < y.size(); ++i)
      drops += i % runLength != 0 && y[i] < y[i - 1];
    return drops;
  }
};

// The maximum of parts may be taken before or after these, with the same bits
// (ShardingPartials.cpp).
TEST_P(Rising, Float) { EXPECT_EQ(countDrops<float>(GetParam()), 0); }
TEST_P(Rising, Double) { EXPECT_EQ(countDrops<double>(GetParam()), 0); }

INSTANTIATE_TEST_SUITE_P(, Rising, testing::Values(functions[0], functions[4]),
                         [](const auto &info) { return info.param.name; });

/// (byte / 255 - mean) / deviation, as images are decoded, and whether no
/// division is left in it.
template <typename T>
void checkBytes(double mean, double deviation, bool fast) {
  bool isFast = false;
  auto emit = [&](llvm::IRBuilderBase &b, llvm::ArrayRef<llvm::Value *> x) {
    llvm::Type *type = x[0]->getType();
    auto constant = [&](double value) {
      return llvm::ConstantFP::get(type, T(value));
    };
    auto *bytes = llvm::VectorType::get(
        b.getInt8Ty(), llvm::cast<llvm::VectorType>(type)->getElementCount());
    llvm::Value *byte = b.CreateUIToFP(b.CreateFPToUI(x[0], bytes), type);
    llvm::Value *first = emitDivide(b, byte, constant(255));
    llvm::Value *result =
        emitDivide(b, b.CreateFSub(first, constant(mean)), constant(deviation));
    isFast =
        llvm::isa<llvm::CallInst>(first) && llvm::isa<llvm::CallInst>(result);
    return result;
  };
  std::vector<T> x(256);
  std::iota(x.begin(), x.end(), T(0));
  for (const TargetVariant &variant : executableTargets()) {
    CompiledFunction function(variant, sizeof(T) == 8, 1, emit);
    std::vector<T> got = function(std::vector<std::vector<T>>{x});
    for (int i = 0; i < 256; ++i) {
      T scaled = T(i) / T(255);
      T wanted = T(scaled - T(mean)) / T(deviation);
      EXPECT_TRUE(sameBits(got[i], wanted)) << i << ": " << got[i];
    }
    EXPECT_EQ(isFast, fast) << deviation;
  }
}

TEST(Divide, BytesAsAlways) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0.01, 2);
  checkBytes<float>(0.1307, 0.3081, true);
  checkBytes<double>(0.1307, 0.3081, true);
  checkBytes<float>(0.5, 0.5, true);
  for (int i = 0; i < 40; ++i) { // ImageNet's and others
    double deviation = uniform(random);
    checkBytes<float>(0.485, deviation, true);
    checkBytes<double>(0.485, deviation, true);
  }
  // Quotients, reciprocals and remainders that are denormal or overflow.
  checkBytes<float>(0.5, 1e-40, false);
  checkBytes<float>(0.5, 0, false);
  checkBytes<float>(0.5, HUGE_VAL, false);
}

TEST(Divide, AnythingElseIsDivided) {
  auto emit = [](llvm::IRBuilderBase &b, llvm::ArrayRef<llvm::Value *> x) {
    llvm::Value *quotient =
        emitDivide(b, x[0], llvm::ConstantFP::get(x[0]->getType(), 255));
    EXPECT_FALSE(llvm::isa<llvm::CallInst>(quotient));
    return quotient;
  };
  CompiledFunction(executableTargets().front(), false, 1, emit);
}

// The control: erf does drop, between pieces of its approximation.
TEST(RisingControl, ErfDrops) {
  EXPECT_GT(Rising::countDrops<float>(functions[5]), 0);
}

// The control: the comparison does notice errors.
TEST(VectorMathControl, MeasuresErrors) {
  EXPECT_EQ(ulpError(1.0f, 1.0L), 0);
  EXPECT_EQ(ulpError(std::nextafter(1.0f, 2.0f), 1.0L), 1);
  EXPECT_EQ(ulpError(0.0f, std::ldexp(1.0L, -149)), 1);
  EXPECT_EQ(ulpError(-0.0f, 0.0L), HUGE_VAL);
  EXPECT_EQ(ulpError(std::nanf(""), 0.0L), HUGE_VAL);
  EXPECT_EQ(ulpError(HUGE_VALF, 1.0L) > 1e6, true);
}

} // namespace
