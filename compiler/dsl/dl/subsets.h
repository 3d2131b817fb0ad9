#pragma once
// Parts of data sets, and batches of other sizes.
#include "data.h"
#include "indexing.h"

namespace dl {

namespace data {

/// An epoch is so many items, each drawn as often as its weight says, beside
/// the others': the .npy file has one for each item, 1 / (items of its class)
/// for classes that are equally frequent.
class WeightedRandomSampler {
public:
  const char *weights = nullptr;
  i64 num_samples = 0;
  bool replacement = true;

  constexpr WeightedRandomSampler() = default;
  constexpr WeightedRandomSampler(const char *weights, i64 num_samples,
                                  bool replacement = true)
      : weights(weights), num_samples(num_samples), replacement(replacement) {
    if (!weights)
      detail::fail("WeightedRandomSampler: the path is a null pointer; a .npy "
                   "file of weights is wanted");
  }
};

struct DataLoaderOptions {
  i64 batch_size = 1;
  bool shuffle = false;
  WeightedRandomSampler sampler = {};
  bool drop_last = false;
};

/// The same items in batches of their own: DataLoader(val, {.batch_size =
/// 1000}).
inline Dataset DataLoader(const Dataset &dataset,
                          const DataLoaderOptions &options = {}) {
  Dataset loaded = dataset;
  loaded.id = dl_dataset_loader(dataset.id, options.batch_size, options.shuffle,
                                options.drop_last);
  if (options.sampler.weights)
    dl_dataset_sampler(loaded.id, options.sampler.weights,
                       options.sampler.num_samples,
                       options.sampler.replacement);
  return loaded;
}

} // namespace data

namespace detail {
inline data::Dataset part_of(const data::Dataset &dataset, i64 first, i64 items,
                             bool shuffled, i64 seed) {
  data::Dataset part = dataset;
  part.id = dl_dataset_part(dataset.id, first, items, shuffled, seed);
  return part;
}
} // namespace detail

namespace data {

/// The items of a slice in their order, and the batches of the whole:
/// Subset(all, dl::Slice(0, 50000)), Subset(all, dl::Slice(-10000)).
template <class Items>
  requires __is_same
(Items, Slice) Dataset Subset(const Dataset &dataset, const Items &items) {
  i64 size = dataset.size();
  i64 start = items.start < 0 ? items.start + size : items.start;
  i64 end = items.end == kEnd ? size
            : items.end < 0   ? items.end + size
                              : items.end;
  if (items.step != 1)
    detail::fail("Subset: a slice with step {}; items that follow one another "
                 "are wanted",
                 items.step);
  if (start < 0 || end > size || start >= end)
    detail::fail("Subset: the slice is items {} to {} of {}; at least one item "
                 "that is there is wanted",
                 start, end, size);
  return detail::part_of(dataset, start, end - start, false, 0);
}

Dataset Subset(const Dataset &, list<i64>) = delete (
    "dl: the items of a Subset follow one another: Subset(data, dl::Slice(0, "
    "1000))");

/// How many items, or which part of them where it has a fraction.
struct Length {
  i64 items = 0;
  double fraction = 0;
  bool is_fraction;
  template <detail::Number T>
  constexpr Length(T length) : is_fraction(__is_floating_point(T)) {
    static_assert(!__is_same(T, bool), "a length is a number");
    if constexpr (__is_floating_point(T))
      fraction = length;
    else
      items = static_cast<i64>(length);
  }
};

/// auto [train, val] = random_split(all, {0.9, 0.1});
template <int N> struct Splits {
  Dataset parts[N];
  const Dataset &operator[](int part) const {
    if (part < 0 || part >= N)
      detail::fail("there are {} parts, no number {}", N, part);
    return parts[part];
  }
  template <decltype(sizeof(0)) I> const Dataset &get() const {
    return parts[I];
  }
};

struct RandomSplitOptions {
  i64 seed = 0; ///< other ones give other parts, whatever `dlrun --seed` is
};

/// Parts without a common item, drawn at random: of {55000, 5000} items, which
/// must be all, or of {0.9, 0.1} of them. As PyTorch's, parts of fractions are
/// rounded down, and the first ones have one of those that are left over each.
template <int N>
Splits<N> random_split(const Dataset &dataset, const Length (&lengths)[N],
                       const RandomSplitOptions &options = {}) {
  i64 size = dataset.size(), items[N], total = 0;
  double fractions = 0;
  int given = 0;
  for (int i = 0; i < N; ++i) {
    const Length &length = lengths[i];
    given += length.is_fraction;
    if (length.is_fraction && !(length.fraction >= 0 && length.fraction <= 1))
      detail::fail("random_split: a part of {}; fractions are from 0 to 1",
                   length.fraction);
    if (!length.is_fraction && (length.items < 0 || length.items > size))
      detail::fail("random_split: a part of {} items, the data set has {}",
                   length.items, size);
    fractions += length.fraction;
    items[i] = length.is_fraction ? static_cast<i64>(length.fraction * size)
                                  : length.items;
    total += items[i];
  }
  if (given != 0 && given != N)
    detail::fail("random_split: some lengths are fractions, others numbers of "
                 "items; all are one of the two");
  if (given != 0 && !(fractions > 1 - 1e-6 && fractions < 1 + 1e-6))
    detail::fail("random_split: the fractions add up to {}, not to 1",
                 fractions);
  for (int i = 0; given != 0 && total < size; i = (i + 1) % N, ++total)
    ++items[i];
  if (total != size)
    detail::fail("random_split: the lengths add up to {}, the data set has {} "
                 "items",
                 total, size);
  Splits<N> splits;
  i64 first = 0;
  for (int i = 0; i < N; first += items[i++]) {
    if (items[i] < 1)
      detail::fail("random_split: part {} of {} items would have {}", i, size,
                   items[i]);
    splits.parts[i] =
        detail::part_of(dataset, first, items[i], true, options.seed);
  }
  return splits;
}

} // namespace data
} // namespace dl

template <int N> struct std::tuple_size<dl::data::Splits<N>> {
  static constexpr decltype(sizeof(0)) value = N;
};
template <int N>
struct std::tuple_size<const dl::data::Splits<N>>
    : std::tuple_size<dl::data::Splits<N>> {};
template <decltype(sizeof(0)) I, int N>
struct std::tuple_element<I, const dl::data::Splits<N>> {
  using type = const dl::data::Dataset;
};
template <decltype(sizeof(0)) I, int N>
struct std::tuple_element<I, dl::data::Splits<N>> {
  using type = const dl::data::Dataset;
};
