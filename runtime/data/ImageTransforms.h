// What pictures go through until all have one size: torchvision's transforms
// of the same names.
#ifndef DLRT_DATA_IMAGETRANSFORMS_H
#define DLRT_DATA_IMAGETRANSFORMS_H

#include "runtime/base/Status.h"
#include "runtime/data/images/ResizeImage.h"
#include "runtime/plan/plan_generated.h"

namespace dlrt {

/// Which random numbers an item has in an epoch.
struct ImageDraw {
  uint64_t seed = 0, epoch = 0, item = 0;
};

/// The part of a height x width picture that a RandomResizedCrop takes, of the
/// transform with that number in its list.
ImageBox randomPart(const fb::ImageTransformT &transform, uint64_t height,
                    uint64_t width, const ImageDraw &draw, uint32_t number);

/// Buffers stay from picture to picture.
class ImageTransforms {
public:
  /// Changes a picture. Refuses crops of smaller pictures, and results that
  /// are no pictures any more.
  Status apply(const std::vector<std::unique_ptr<fb::ImageTransformT>> &list,
               const ImageDraw &draw, Image &image);

private:
  Status applyOne(const fb::ImageTransformT &transform, const ImageDraw &draw,
                  uint32_t number, const Image &from, Image &to);

  ResizeSpace space;
  Image other;
};

} // namespace dlrt

#endif
