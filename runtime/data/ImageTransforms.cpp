#include "runtime/data/ImageTransforms.h"
#include "runtime/state/Distribution.h"
#include "runtime/state/Philox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace dlrt;

/// Of the run's random numbers, those of transforms.
static constexpr uint64_t stream = 0x696d616765730000; // "images"

/// As many as libraries for pictures take.
static constexpr double mostPixels = 1 << 28;

static PhiloxCounter words(const ImageDraw &draw, uint32_t number,
                           uint32_t attempt) {
  return philox({static_cast<uint32_t>(draw.item),
                 static_cast<uint32_t>(draw.item >> 32),
                 static_cast<uint32_t>(draw.epoch), attempt},
                philoxKey(draw.seed, stream + number));
}

/// From 0 to below `count`.
static int64_t below(uint32_t word, int64_t count) {
  return static_cast<int64_t>((uint64_t(word) * static_cast<uint64_t>(count)) >>
                              32);
}

/// e^x for |x| < 700. The C library's differs between versions, and a part must
/// not.
static double portableExp(double x) {
  constexpr double ln2 = 0.6931471805599453;
  double doublings = std::nearbyint(x / ln2), rest = x - doublings * ln2;
  double sum = 1, term = 1;
  for (int i = 1; i < 18; ++i)
    sum += term *= rest / i;
  return std::ldexp(sum, static_cast<int>(doublings));
}

/// The nearest integer, of two the even one, as Python's round().
static int64_t rounded(double x) {
  return static_cast<int64_t>(std::nearbyint(x));
}

ImageBox dlrt::randomPart(const fb::ImageTransformT &transform, uint64_t height,
                          uint64_t width, const ImageDraw &draw,
                          uint32_t number) {
  const std::vector<double> &n = transform.numbers;
  auto rows = static_cast<int64_t>(height),
       columns = static_cast<int64_t>(width);
  double area = static_cast<double>(height) * static_cast<double>(width);
  double low = portableLog(n[2]), high = portableLog(n[3]);
  for (uint32_t attempt = 0; attempt < 10; ++attempt) {
    PhiloxCounter word = words(draw, number, attempt);
    double part = area * (n[0] + (n[1] - n[0]) * unitInterval(word[0]));
    double ratio = portableExp(low + (high - low) * unitInterval(word[1]));
    int64_t w = rounded(std::sqrt(part * ratio));
    int64_t h = rounded(std::sqrt(part / ratio));
    if (w > 0 && w <= columns && h > 0 && h <= rows)
      return {below(word[2], rows - h + 1), below(word[3], columns - w + 1), h,
              w};
  }
  // The middle, in a shape that is allowed.
  double ratio = static_cast<double>(width) / static_cast<double>(height);
  int64_t w = columns, h = rows;
  if (ratio < n[2])
    h = std::clamp<int64_t>(rounded(static_cast<double>(width) / n[2]), 1,
                            rows);
  else if (ratio > n[3])
    w = std::clamp<int64_t>(rounded(static_cast<double>(height) * n[3]), 1,
                            columns);
  return {(rows - h) / 2, (columns - w) / 2, h, w};
}

/// Where the middle begins: half of what is left over to the nearest even
/// number; of a smaller picture, which gets a border, the smaller half.
static int64_t middle(uint64_t has, uint64_t wanted) {
  auto rest = static_cast<int64_t>(has) - static_cast<int64_t>(wanted);
  return rest < 0 ? -(-rest / 2) : rounded(static_cast<double>(rest) / 2);
}

/// Where the shorter edge becomes transform.height.
static void sizeByShorterEdge(const Image &from, uint64_t edge, double &height,
                              double &width) {
  auto longer = [&](uint64_t longEdge, uint64_t shortEdge) {
    return std::floor(static_cast<double>(edge * longEdge) /
                      static_cast<double>(shortEdge));
  };
  auto shorter = static_cast<double>(edge);
  bool upright = from.width <= from.height;
  height = upright ? longer(from.height, from.width) : shorter;
  width = upright ? shorter : longer(from.width, from.height);
}

static Status resizeWhole(const fb::ImageTransformT &transform,
                          const Image &from, ResizeSpace &space, Image &to) {
  auto height = static_cast<double>(transform.height);
  auto width = static_cast<double>(transform.width);
  if (transform.width == 0)
    sizeByShorterEdge(from, transform.height, height, width);
  if (height * width > mostPixels)
    return {Code::Training,
            fmt::format("its {} x {} pixels become {:.0f} x {:.0f}, which is "
                        "too large",
                        from.height, from.width, height, width)};
  ImageBox all{0, 0, static_cast<int64_t>(from.height),
               static_cast<int64_t>(from.width)};
  resize(from, all, static_cast<uint64_t>(height), static_cast<uint64_t>(width),
         space, to);
  return {};
}

Status ImageTransforms::applyOne(const fb::ImageTransformT &transform,
                                 const ImageDraw &draw, uint32_t number,
                                 const Image &from, Image &to) {
  auto height = static_cast<int64_t>(transform.height);
  auto width = static_cast<int64_t>(transform.width);
  switch (transform.kind) {
  case fb::ImageTransformKind::Resize:
    return resizeWhole(transform, from, space, to);
  case fb::ImageTransformKind::CenterCrop:
    crop(from,
         {middle(from.height, transform.height),
          middle(from.width, transform.width), height, width},
         to);
    return {};
  case fb::ImageTransformKind::RandomCrop: {
    if (from.height < transform.height || from.width < transform.width)
      return {Code::Training,
              fmt::format("its {} x {} pixels have no part of {} x {}, which "
                          "RandomCrop is to take",
                          from.height, from.width, height, width)};
    PhiloxCounter word = words(draw, number, 0);
    crop(from,
         {below(word[2], static_cast<int64_t>(from.height) - height + 1),
          below(word[3], static_cast<int64_t>(from.width) - width + 1), height,
          width},
         to);
    return {};
  }
  case fb::ImageTransformKind::RandomResizedCrop:
    resize(from, randomPart(transform, from.height, from.width, draw, number),
           transform.height, transform.width, space, to);
    return {};
  }
  return {Code::Bug, "an unknown transform of pictures"};
}

Status ImageTransforms::apply(
    const std::vector<std::unique_ptr<fb::ImageTransformT>> &list,
    const ImageDraw &draw, Image &image) {
  uint32_t number = 0;
  for (const auto &transform : list) {
    DLRT_TRY(applyOne(*transform, draw, number++, image, other));
    std::swap(image, other);
  }
  return {};
}
