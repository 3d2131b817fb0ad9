// The resampling is the one of Pillow's `resize`: first across, then down, each
// a weighted sum in fixed point, rounded to a byte.
#include "runtime/data/images/ResizeImage.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

using namespace dlrt;

namespace {

/// A sum of weights of 1 times a byte has to fit into 31 bits.
constexpr int fractionBits = 32 - 8 - 2;

uint8_t toByte(int32_t sum) { return std::clamp(sum >> fractionBits, 0, 255); }

constexpr int32_t half = 1 << (fractionBits - 1);

void findWeights(uint64_t from, uint64_t to, ResizeWeights &out) {
  double scale = double(from) / double(to);
  double reach = std::max(scale, 1.0); // of the triangle, to either side
  out.taps = uint32_t(std::ceil(reach)) * 2 + 1;
  out.weights.assign(to * out.taps, 0);
  out.first.resize(to);
  out.count.resize(to);
  out.exact.resize(out.taps);
  double perReach = 1.0 / reach;
  for (uint64_t at = 0; at < to; ++at) {
    double center = (double(at) + 0.5) * scale;
    auto first = std::max<int64_t>(0, int64_t(center - reach + 0.5));
    auto end = std::min<int64_t>(from, int64_t(center + reach + 0.5));
    auto count = uint32_t(end - first);
    double sum = 0;
    for (uint32_t tap = 0; tap < count; ++tap) {
      double away = double(int64_t(tap) + first);
      away = std::abs((away - center + 0.5) * perReach);
      out.exact[tap] = away < 1.0 ? 1.0 - away : 0.0;
      sum += out.exact[tap];
    }
    out.first[at] = uint32_t(first);
    out.count[at] = count;
    for (uint32_t tap = 0; tap < count; ++tap) {
      double weight = sum != 0.0 ? out.exact[tap] / sum : out.exact[tap];
      out.weights[at * out.taps + tap] =
          int32_t(0.5 + weight * (1 << fractionBits));
    }
  }
}

/// Rows of RGB that somebody else owns.
struct Rows {
  const uint8_t *pixels;
  uint64_t stride;
  uint64_t height;
  uint64_t width;

  const uint8_t *row(uint64_t index) const { return pixels + index * stride; }
};

#ifdef __SSE2__

/// How far rowAcross() reads past a row.
constexpr uint64_t readsPast = 4;

/// SSE2 multiplies 16 bits, and adds two products: a weight becomes its low 11
/// bits and its upper 11, and two taps are one step.
constexpr int lowBits = fractionBits / 2;

uint64_t stepsOf(uint32_t taps) { return (uint64_t(taps) + 1) / 2; }

void splitWeights(ResizeWeights &how) {
  uint64_t steps = stepsOf(how.taps);
  how.halves.assign(how.first.size() * steps * 2, 0);
  for (uint64_t x = 0; x < how.first.size(); ++x)
    for (uint32_t tap = 0; tap < how.count[x]; ++tap) {
      int32_t weight = how.weights[x * how.taps + tap];
      int32_t *step = how.halves.data() + (x * steps + tap / 2) * 2;
      int shift = tap % 2 * 16;
      step[0] |= (weight & ((1 << lowBits) - 1)) << shift;
      step[1] |= (weight >> lowBits) << shift;
    }
}

/// A pixel and the first byte of the next one.
__m128i pixelAt(const uint8_t *from) {
  int32_t bytes;
  std::memcpy(&bytes, from, sizeof(bytes));
  return _mm_cvtsi32_si128(bytes);
}

void rowAcross(const uint8_t *from, const ResizeWeights &how, uint64_t width,
               uint8_t *to) {
  const __m128i zero = _mm_setzero_si128();
  uint64_t steps = stepsOf(how.taps);
  for (uint64_t x = 0; x < width; ++x, to += 3) {
    const int32_t *halves = how.halves.data() + x * steps * 2;
    const uint8_t *pixel = from + uint64_t(how.first[x]) * 3;
    __m128i low = _mm_set1_epi32(half), high = zero;
    for (uint64_t step = stepsOf(how.count[x]); step > 0; --step) {
      __m128i two = _mm_unpacklo_epi8(pixelAt(pixel), pixelAt(pixel + 3));
      two = _mm_unpacklo_epi8(two, zero);
      __m128i lowProduct = _mm_madd_epi16(two, _mm_set1_epi32(halves[0]));
      __m128i highProduct = _mm_madd_epi16(two, _mm_set1_epi32(halves[1]));
      low = _mm_add_epi32(low, lowProduct);
      high = _mm_add_epi32(high, highProduct);
      halves += 2;
      pixel += 6;
    }
    __m128i sum = _mm_add_epi32(low, _mm_slli_epi32(high, lowBits));
    sum = _mm_srai_epi32(sum, fractionBits);
    sum = _mm_packs_epi32(sum, sum);
    int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(sum, sum));
    std::memcpy(to, &bytes, 3);
  }
}

#else

constexpr uint64_t readsPast = 0;

void splitWeights(ResizeWeights &) {}

void rowAcross(const uint8_t *from, const ResizeWeights &how, uint64_t width,
               uint8_t *to) {
  for (uint64_t x = 0; x < width; ++x, to += 3) {
    const int32_t *weights = how.weights.data() + x * how.taps;
    const uint8_t *pixel = from + uint64_t(how.first[x]) * 3;
    int32_t sums[3] = {half, half, half};
    for (uint32_t tap = 0; tap < how.count[x]; ++tap, pixel += 3)
      for (int color = 0; color < 3; ++color)
        sums[color] += pixel[color] * weights[tap];
    for (int color = 0; color < 3; ++color)
      to[color] = toByte(sums[color]);
  }
}

#endif

/// The pass across over the rows [first, end).
Rows passAcross(const Rows &from, uint64_t first, uint64_t end, uint64_t width,
                ResizeSpace &space) {
  space.wide.resize((end - first) * width * 3);
  Rows out{space.wide.data(), width * 3, end - first, width};
  uint64_t rowBytes = from.width * 3;
  for (uint64_t y = first; y < end; ++y) {
    const uint8_t *row = from.row(y);
    if ((from.height - 1 - y) * from.stride < readsPast) {
      space.row.assign(row, row + rowBytes);
      space.row.resize(rowBytes + readsPast);
      row = space.row.data();
    }
    rowAcross(row, space.across, width,
              space.wide.data() + (y - first) * out.stride);
  }
  return out;
}

/// Bytes [0, count) of one row of the pass down. Inlined with a constant
/// `count`, the sums stay in registers.
inline __attribute__((always_inline)) void
sumDown(const uint8_t *from, uint64_t stride, const int32_t *weights,
        uint32_t taps, uint64_t count, uint8_t *to) {
  constexpr uint64_t most = 32;
  int32_t sums[most];
  for (uint64_t at = 0; at < count; ++at)
    sums[at] = half;
  for (uint32_t tap = 0; tap < taps; ++tap, from += stride)
    for (uint64_t at = 0; at < count; ++at)
      sums[at] += from[at] * weights[tap];
  for (uint64_t at = 0; at < count; ++at)
    to[at] = toByte(sums[at]);
}

/// The pass down. Row 0 of `from` is row `first` of the picture.
void passDown(const Rows &from, uint64_t first, const ResizeWeights &how,
              Image &to) {
  uint64_t rowBytes = to.width * 3;
  for (uint64_t y = 0; y < to.height; ++y) {
    const int32_t *weights = how.weights.data() + y * how.taps;
    const uint8_t *row = from.row(how.first[y] - first);
    uint8_t *out = to.pixels.data() + y * rowBytes;
    uint64_t at = 0;
    for (; at + 32 <= rowBytes; at += 32)
      sumDown(row + at, from.stride, weights, how.count[y], 32, out + at);
    sumDown(row + at, from.stride, weights, how.count[y], rowBytes - at,
            out + at);
  }
}

bool isInside(const ImageBox &part, const Image &image) {
  return part.top >= 0 && part.left >= 0 &&
         uint64_t(part.top) + part.height <= image.height &&
         uint64_t(part.left) + part.width <= image.width;
}

Rows partOf(const Image &image, const ImageBox &part) {
  uint64_t stride = image.width * 3;
  return {image.pixels.data() + part.top * stride + part.left * 3, stride,
          uint64_t(part.height), uint64_t(part.width)};
}

void copyRows(const Rows &from, Image &to) {
  to.setSize(from.height, from.width);
  for (uint64_t y = 0; y < from.height; ++y)
    std::memcpy(to.pixels.data() + y * from.width * 3, from.row(y),
                from.width * 3);
}

} // namespace

void dlrt::crop(const Image &from, const ImageBox &part, Image &to) {
  if (part.height <= 0 || part.width <= 0)
    return to.setSize(0, 0);
  if (isInside(part, from))
    return copyRows(partOf(from, part), to);
  to.setSize(part.height, part.width);
  std::fill(to.pixels.begin(), to.pixels.end(), 0);
  int64_t top = std::max<int64_t>(part.top, 0);
  int64_t left = std::max<int64_t>(part.left, 0);
  int64_t bottom = std::min<int64_t>(part.top + part.height, from.height);
  int64_t right = std::min<int64_t>(part.left + part.width, from.width);
  if (right <= left)
    return;
  for (int64_t y = top; y < bottom; ++y)
    std::memcpy(
        to.pixels.data() + ((y - part.top) * part.width + left - part.left) * 3,
        from.pixels.data() + (y * from.width + left) * 3, (right - left) * 3);
}

void dlrt::resize(const Image &from, const ImageBox &part, uint64_t height,
                  uint64_t width, ResizeSpace &space, Image &to) {
  if (part.height <= 0 || part.width <= 0 || height == 0 || width == 0) {
    to.setSize(height, width);
    std::fill(to.pixels.begin(), to.pixels.end(), 0);
    return;
  }
  Rows rows;
  if (isInside(part, from)) {
    rows = partOf(from, part);
  } else {
    crop(from, part, space.part);
    rows = partOf(space.part, {0, 0, part.height, part.width});
  }
  // A dimension that keeps its size has no pass.
  bool down = height != rows.height, across = width != rows.width;
  uint64_t first = 0, end = rows.height;
  if (down) {
    findWeights(rows.height, height, space.down);
    first = space.down.first.front();
    end = space.down.first.back() + space.down.count.back();
  }
  if (across) {
    findWeights(rows.width, width, space.across);
    splitWeights(space.across);
    rows = passAcross(rows, first, end, width, space);
  } else {
    rows.pixels = rows.row(first);
    rows.height = end - first;
  }
  if (!down)
    return copyRows(rows, to);
  to.setSize(height, width);
  passDown(rows, first, space.down, to);
}

void dlrt::toPlanes(const Image &from, uint8_t *to) {
  uint64_t count = from.height * from.width;
  const uint8_t *pixels = from.pixels.data();
  for (uint64_t at = 0; at < count; ++at)
    to[at] = pixels[at * 3];
  for (uint64_t at = 0; at < count; ++at)
    to[count + at] = pixels[at * 3 + 1];
  for (uint64_t at = 0; at < count; ++at)
    to[2 * count + at] = pixels[at * 3 + 2];
}
