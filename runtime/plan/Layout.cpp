#include "runtime/plan/Layout.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dlrt;

Layout dlrt::rowMajorLayout(const std::vector<uint64_t> &shape) {
  Layout layout(shape.size());
  uint64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    layout[d] = fb::PhysicalDim(static_cast<uint32_t>(d), 1, shape[d], stride);
    stride *= shape[d];
  }
  return layout;
}

bool dlrt::isRowMajor(const std::vector<uint64_t> &shape,
                      const Layout &layout) {
  uint64_t expected = 1;
  size_t at = layout.size();
  // Dims of extent 1 may be absent, and their stride does not matter.
  for (size_t d = shape.size(); d-- > 0;) {
    bool present = at > 0 && layout[at - 1].dim() == d;
    if (!present && shape[d] == 1)
      continue;
    if (!present || layout[at - 1].divisor() != 1 ||
        layout[at - 1].extent() != shape[d] ||
        (shape[d] != 1 && layout[at - 1].stride() != expected))
      return false;
    expected *= shape[d];
    --at;
  }
  return at == 0;
}

/// The digits of each logical dim must be a mixed-radix system that covers it.
static std::string checkDigits(const std::vector<uint64_t> &shape,
                               const Layout &layout) {
  Layout digits = layout;
  std::sort(digits.begin(), digits.end(), [](const auto &a, const auto &b) {
    return std::pair(a.dim(), a.divisor()) < std::pair(b.dim(), b.divisor());
  });
  size_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    uint64_t covered = 1;
    for (; at < digits.size() && digits[at].dim() == d; ++at) {
      if (digits[at].divisor() != covered)
        return fmt::format("dim {} has divisor {}, {} would follow", d,
                           digits[at].divisor(), covered);
      if (digits[at].extent() == 0 ||
          __builtin_mul_overflow(covered, digits[at].extent(), &covered))
        return fmt::format("dim {} has extent {}", d, digits[at].extent());
    }
    if (covered < shape[d])
      return fmt::format("dim {} has {} places for {} elements", d, covered,
                         shape[d]);
  }
  if (at != digits.size())
    return fmt::format("dim {} does not exist", digits[at].dim());
  return {};
}

std::string dlrt::checkLayout(const std::vector<uint64_t> &shape,
                              const Layout &layout, uint64_t elementBytes,
                              uint64_t bytes) {
  for (uint64_t extent : shape)
    if (extent == 0)
      return {};
  if (std::string error = checkDigits(shape, layout); !error.empty())
    return error;
  Layout byStride = layout;
  std::erase_if(byStride, [](const auto &d) { return d.extent() == 1; });
  std::sort(byStride.begin(), byStride.end(), [](const auto &a, const auto &b) {
    return a.stride() < b.stride();
  });
  // Each stride steps over everything below it, so no two elements meet.
  uint64_t span = 1;
  for (const fb::PhysicalDim &d : byStride) {
    if (d.stride() < span)
      return fmt::format("stride {} of dim {} overlaps the dims inside it",
                         d.stride(), d.dim());
    uint64_t last;
    if (__builtin_mul_overflow(d.extent() - 1, d.stride(), &last) ||
        __builtin_add_overflow(span, last, &span))
      return fmt::format("stride {} of dim {} overflows", d.stride(), d.dim());
  }
  uint64_t needed;
  if (__builtin_mul_overflow(span, elementBytes, &needed) || needed > bytes)
    return fmt::format("{} elements of {} bytes do not fit into {} bytes", span,
                       elementBytes, bytes);
  return {};
}

std::string dlrt::layoutText(const std::vector<uint64_t> &shape,
                             const Layout &layout) {
  if (isRowMajor(shape, layout))
    return "row-major";
  std::string text;
  for (const fb::PhysicalDim &d : layout) {
    text += text.empty() ? "" : " ";
    text += d.divisor() == 1
                ? fmt::format("d{}:{}", d.dim(), d.extent())
                : fmt::format("d{}/{}:{}", d.dim(), d.divisor(), d.extent());
  }
  return text;
}
