#include "runtime/data/WeightedDraws.h"

#include "runtime/base/Fnv1a.h"
#include "runtime/base/MappedFile.h"
#include "runtime/data/Npy.h"
#include "runtime/plan/DTypes.h"
#include "runtime/state/Philox.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

using namespace dlrt;

/// Tells its words from those of a shuffled order and of initial values.
static constexpr uint64_t drawStream = 0x77656967687473ull; // "weights"

Expected<WeightedDraws> WeightedDraws::make(std::span<const double> weights) {
  WeightedDraws made;
  made.sums.reserve(weights.size());
  double sum = 0;
  for (double weight : weights) {
    if (!(weight >= 0) || std::isinf(weight))
      return Status{Code::Training,
                    fmt::format("the weight of item {} is {}; numbers of at "
                                "least 0 are wanted",
                                made.sums.size(), weight)};
    made.sums.push_back(sum += weight);
  }
  if (!(sum > 0) || std::isinf(sum))
    return Status{
        Code::Training,
        fmt::format("the weights add up to {}; no item can be drawn", sum)};
  return made;
}

Expected<WeightedDraws> WeightedDraws::read(const std::string &path,
                                            uint64_t items) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  auto array = parseNpy(file->bytes());
  if (!array)
    return array.takeError().within(fmt::format("'{}'", path));
  bool areDoubles = array->element == FileElement::F64;
  ItemConverter convert =
      areDoubles ? nullptr : itemConverter(array->element, fb::DType::F64);
  if ((!areDoubles && !convert) || array->shape.size() != 1)
    return Status{
        Code::Training,
        fmt::format("'{}' is {} {}; a weight for each item is wanted: "
                    "one dimension, of floats",
                    path, nameOf(array->element), shapeText(array->shape))};
  if (array->shape[0] != items)
    return Status{Code::Training,
                  fmt::format("'{}' has {} weights, there are {} items", path,
                              array->shape[0], items)};
  std::vector<double> weights(items);
  auto *to = reinterpret_cast<uint8_t *>(weights.data());
  if (convert)
    convert(array->data.data(), items, to);
  else
    std::memcpy(to, array->data.data(), items * sizeof(double));
  auto made = make(weights);
  if (!made)
    return made.takeError().within(fmt::format("'{}'", path));
  return made;
}

uint64_t WeightedDraws::operator()(uint64_t seed, uint64_t epoch,
                                   uint64_t position) const {
  PhiloxCounter words = philox(
      {static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32),
       static_cast<uint32_t>(epoch), static_cast<uint32_t>(epoch >> 32)},
      philoxKey(seed, drawStream));
  uint64_t bits = (uint64_t(words[0]) << 32 | words[1]) >> 11;
  double at = static_cast<double>(bits) * 0x1p-53 * sums.back();
  // Rounded up to the sum of all, it would be behind them.
  auto found = std::ranges::upper_bound(sums, at);
  if (found == sums.end())
    found = std::ranges::lower_bound(sums, sums.back());
  return static_cast<uint64_t>(found - sums.begin());
}

uint64_t WeightedDraws::hash() const {
  Fnv1a hash;
  for (double sum : sums)
    for (uint8_t byte : std::bit_cast<std::array<uint8_t, sizeof sum>>(sum))
      hash.add(byte);
  return hash.value();
}
