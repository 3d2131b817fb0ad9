// Cutting and resizing pictures, to the byte as Pillow does.
#ifndef DLRT_DATA_IMAGES_RESIZEIMAGE_H
#define DLRT_DATA_IMAGES_RESIZEIMAGE_H

#include "runtime/data/images/Image.h"

#include <cstdint>
#include <vector>

namespace dlrt {

/// A part of a picture. Where it reaches outside it is black.
struct ImageBox {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
};

/// How one dimension is resampled: output i is the sum of `taps` inputs from
/// first[i] on, each times its weight.
struct ResizeWeights {
  std::vector<int32_t> weights; ///< outputs x taps, fixed point
  std::vector<uint32_t> first;
  std::vector<uint32_t> count; ///< of the taps, those inside of the picture
  std::vector<double> exact;   ///< of one output, before rounding
  std::vector<int32_t> halves; ///< for the pass across; see its code
  uint32_t taps = 0;
};

/// Buffers that resize() keeps from call to call.
struct ResizeSpace {
  ResizeWeights across;
  ResizeWeights down;
  Image part;                ///< the part, if it reaches outside
  std::vector<uint8_t> row;  ///< a row with room to read past it
  std::vector<uint8_t> wide; ///< after the pass across
};

/// What Pillow's `crop((left, top, left + width, top + height))` gives. `from`
/// and `to` are different pictures.
void crop(const Image &from, const ImageBox &part, Image &to);

/// What Pillow's `crop(...).resize((width, height), Image.BILINEAR)` gives: a
/// triangle as wide as the scale, so that all pixels count when a picture
/// shrinks. An empty part gives a black picture. `from` and `to` are different
/// pictures.
void resize(const Image &from, const ImageBox &part, uint64_t height,
            uint64_t width, ResizeSpace &space, Image &to);

/// Writes the picture to `to` as [3, height, width].
void toPlanes(const Image &from, uint8_t *to);

} // namespace dlrt

#endif
