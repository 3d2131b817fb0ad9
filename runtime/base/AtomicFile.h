// Writing a file so that readers see the old one or the whole new one.
#ifndef DLRT_BASE_ATOMICFILE_H
#define DLRT_BASE_ATOMICFILE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

/// Writes the parts one after another into a temporary file beside `path`,
/// flushes it to the disk, renames it and flushes the folder. On an error
/// nothing is left behind and an older file stays as it was. A symbolic link is
/// followed; a device or a pipe is written to as it stands, since it cannot be
/// replaced by a file.
Status writeFileAtomically(const std::string &path,
                           const std::vector<std::span<const uint8_t>> &parts);

/// Says now, before any work is lost, whether `path` could be written.
Status checkWritable(const std::string &path);

} // namespace dlrt

#endif
