#pragma once
// Names of parameters and modules.
#include "types.h"

namespace dl {
/// C++ programs' words for options: {.reduction = dl::kSum} is {.reduction =
/// "sum"}.
inline constexpr const char *kNone = "none", *kMean = "mean", *kSum = "sum",
                            *kBatchMean = "batchmean", *kNearest = "nearest",
                            *kLinear = "linear", *kBilinear = "bilinear",
                            *kBicubic = "bicubic", *kTrilinear = "trilinear",
                            *kArea = "area", *kConstant = "constant",
                            *kReflect = "reflect", *kReplicate = "replicate",
                            *kCircular = "circular", *kZeros = "zeros",
                            *kBorder = "border", *kReflection = "reflection",
                            *kReLU = "relu", *kGELU = "gelu", *kTanh = "tanh",
                            *kSigmoid = "sigmoid", *kLeakyReLU = "leaky_relu",
                            *kFanIn = "fan_in", *kFanOut = "fan_out",
                            *kSame = "same", *kValid = "valid";
} // namespace dl

namespace dl::nn {

/// A text that can be asked what is in it.
class Name {
  const char *text = "";

public:
  Name() = default;
  Name(const char *text) : text(text) {}
  /// Of a std::string, for as long as that lives.
  template <class String>
    requires requires(const String &text) { text.c_str(); }
  Name(const String &text) : text(text.c_str()) {}
  operator const char *() const { return text; }
  bool starts_with(const char *part) const {
    const char *at = text;
    for (; *part && *part == *at; ++part, ++at)
      ;
    return !*part;
  }
  bool ends_with(const char *part) const {
    for (const char *at = text; *at; ++at)
      if (detail::equal(at, part))
        return true;
    return !*part;
  }
  bool contains(const char *part) const {
    for (const char *at = text; *at; ++at)
      if (Name(at).starts_with(part))
        return true;
    return !*part;
  }
  /// Where it is; std::string::npos if it is not there.
  decltype(sizeof 0) find(const char *part) const {
    for (const char *at = text; *at; ++at)
      if (Name(at).starts_with(part))
        return static_cast<decltype(sizeof 0)>(at - text);
    return *part ? decltype(sizeof 0)(-1) : 0;
  }
  friend bool operator==(Name a, const char *b) {
    return detail::equal(a.text, b);
  }
};

namespace detail {
using namespace dl::detail;

/// A number as text: the name of a module in a container.
class IndexName {
  char text[12];
  char *first = text + 11;

public:
  explicit IndexName(int index) {
    *first = 0;
    do
      *--first = static_cast<char>('0' + index % 10);
    while (index /= 10);
  }
  const char *c_str() const { return first; }
};

/// The name of an element of a list: "layers.0".
class ElementName {
  char *text;

public:
  ElementName(const char *list, int index) {
    IndexName number(index);
    const char *parts[] = {list, ".", number.c_str()};
    unsigned size = 1;
    for (const char *part : parts)
      size += static_cast<unsigned>(__builtin_strlen(part));
    char *end = text = new char[size];
    for (const char *part : parts)
      for (; *part; ++part)
        *end++ = *part;
    *end = 0;
  }
  ~ElementName() { delete[] text; }
  ElementName(const ElementName &) = delete;
  const char *c_str() const { return text; }
};
} // namespace detail

} // namespace dl::nn
