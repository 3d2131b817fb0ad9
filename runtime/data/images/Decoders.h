// One decoder for each format; decodeImage() chooses.
#ifndef DLRT_DATA_IMAGES_DECODERS_H
#define DLRT_DATA_IMAGES_DECODERS_H

#include "runtime/base/Status.h"
#include "runtime/data/images/Image.h"

#include <cstdint>
#include <span>

namespace dlrt {

/// Refuses what a header says before anything of that size is allocated.
Status checkImageSize(uint64_t height, uint64_t width);

Status decodeJpeg(std::span<const uint8_t> file, Image &to);
Status decodePng(std::span<const uint8_t> file, Image &to);
Status decodePnm(std::span<const uint8_t> file, Image &to);

} // namespace dlrt

#endif
