// A picture in memory.
#ifndef DLRT_DATA_IMAGES_IMAGE_H
#define DLRT_DATA_IMAGES_IMAGE_H

#include <cstdint>
#include <vector>

namespace dlrt {

/// What fills one keeps its buffer from call to call.
struct Image {
  uint64_t height = 0;
  uint64_t width = 0;
  std::vector<uint8_t> pixels; ///< RGB: height x width x 3

  void setSize(uint64_t newHeight, uint64_t newWidth) {
    height = newHeight;
    width = newWidth;
    pixels.resize(newHeight * newWidth * 3);
  }
};

} // namespace dlrt

#endif
