// Files of pictures: JPEG (ITU T.81), PNG (ISO 15948), PPM and PGM (netpbm).
#ifndef DLRT_DATA_IMAGES_DECODEIMAGE_H
#define DLRT_DATA_IMAGES_DECODEIMAGE_H

#include "runtime/base/Status.h"
#include "runtime/data/images/Image.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace dlrt {

/// Whether a file is taken for a picture: .jpg, .jpeg, .png, .ppm, .pgm in
/// any case.
bool isImageName(std::string_view fileName);
/// One that PyTorch's data sets take, and this one does not: .bmp, .tif, .tiff,
/// .webp.
bool isUnreadableImageName(std::string_view fileName);

/// Decodes a file whatever its name says, by its first bytes. The pixels are
/// those of Pillow's `Image.open(file).convert("RGB")`, but for gray of 16
/// bits, whose high byte is taken: alpha is dropped, gamma, profiles and
/// EXIF's orientation are ignored. A file that ends before its last pixel is
/// an error. Messages do not name the file. After an error, `to` holds
/// anything.
Status decodeImage(std::span<const uint8_t> file, Image &to);

} // namespace dlrt

#endif
