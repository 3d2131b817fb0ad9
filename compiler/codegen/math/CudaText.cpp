#include "compiler/codegen/math/CudaText.h"

#include "compiler/codegen/math/Recorder.h"

namespace dl::formula {

namespace {
struct Entry {
  const char *name, *meaning;
  Vec (*unary)(Vec) = nullptr;
  Vec (*binary)(Vec, Vec) = nullptr;
  /// Another formula where a condition holds, which is seldom.
  Vec (*isFar)(Vec) = nullptr;
  Vec (*far)(Vec) = nullptr;
};

Entry entryOf(Function function) {
  switch (function) {
  case Function::Exp:
    return {"exp", "e^x", exp};
  case Function::Log:
    return {"log", "The natural logarithm", log};
  case Function::Sin:
    return {"sin", "Sine", sin, nullptr, isFarAngle, sinFar};
  case Function::Cos:
    return {"cos", "Cosine", cos, nullptr, isFarAngle, cosFar};
  case Function::Tanh:
    return {"tanh", "Hyperbolic tangent", tanh};
  case Function::Erf:
    return {"erf", "The error function", erf};
  case Function::Pow:
    return {"pow", "x^y", nullptr, pow};
  }
  return {};
}
} // namespace

static constexpr const char *onDevice = "static __device__ __forceinline__ ";

std::string cudaName(Function function, bool isDouble) {
  return std::string("dl_") + entryOf(function).name +
         (isDouble ? "_f64" : "_f32");
}

/// A function of one number, or of two.
static std::string cudaDefinition(const std::string &signature, Type type,
                                  Vec (*unary)(Vec), Vec (*binary)(Vec, Vec),
                                  const std::string &before = "") {
  Recorder recorder;
  const std::string typeName = Recorder::typeName(type);
  Vec x = recorder.parameter(type, "x");
  std::string parameters = typeName + " x";
  Vec result = x;
  if (binary) {
    result = binary(x, recorder.parameter(type, "y"));
    parameters += ", " + typeName + " y";
  } else {
    result = unary(x);
  }
  std::string statements = recorder.statements(result);
  return signature + "(" + parameters + ") {\n" + before + statements +
         "  return " + recorder.reference(result) + ";\n}\n";
}

std::string cudaFunction(Function function, bool isDouble) {
  Entry entry = entryOf(function);
  Type type = isDouble ? Type::F64 : Type::F32;
  const std::string typeName = Recorder::typeName(type);
  std::string name = cudaName(function, isDouble), text, before;
  if (entry.far) {
    // Apart, so that it takes no registers of those who seldom need it.
    std::string farName = name + "_far";
    text += "static __device__ __noinline__ " +
            cudaDefinition(typeName + " " + farName, type, entry.far, nullptr);
    Recorder recorder;
    Vec isFar = entry.isFar(recorder.parameter(type, "x"));
    before = recorder.statements(isFar);
    before += "  if (" + recorder.reference(isFar) + ")\n    return " +
              farName + "(x);\n";
  }
  return "// " + std::string(entry.meaning) + ".\n" + text +
         cudaDefinition(onDevice + typeName + " " + name, type, entry.unary,
                        entry.binary, before);
}

std::string cudaPhilox() {
  Recorder recorder;
  auto wide = [&](const char *name) {
    return recorder.parameter(Type::I64, name);
  };
  Vec counter = wide("counter"), seed = wide("seed"), step = wide("step");
  Vec micro = wide("micro"), key = wide("key");
  auto words = philox(counter, seed, step, micro, key, /*inWide=*/false);
  std::string statements = recorder.statements(words), results;
  for (Vec word : words)
    results += (results.empty() ? "" : ", ") + recorder.reference(word);
  return "// The words of Philox4x32-10.\n"
         "struct dl_philox_words {\n"
         "  unsigned int word0, word1, word2, word3;\n"
         "};\n" +
         std::string(onDevice) +
         "dl_philox_words\n"
         "dl_philox(unsigned long long counter, unsigned long long seed,\n"
         "          unsigned long long step, unsigned long long micro,\n"
         "          unsigned long long key) {\n" +
         statements + "  return {" + results +
         "};\n}\n"
         "// The word number % 4.\n" +
         onDevice +
         "unsigned int\n"
         "dl_philox_word(dl_philox_words words, unsigned int number) {\n"
         "  const unsigned int low = number & 1u ? words.word1 : words.word0;\n"
         "  const unsigned int high = number & 1u ? words.word3 : "
         "words.word2;\n"
         "  return number & 2u ? high : low;\n}\n";
}

} // namespace dl::formula
