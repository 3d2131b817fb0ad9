// All bytes to a descriptor, however many write() takes at once.
#ifndef DLRT_BASE_WRITEALL_H
#define DLRT_BASE_WRITEALL_H

#include <string_view>

namespace dlrt {

/// The error number, or 0.
int writeAll(int fd, std::string_view bytes);

} // namespace dlrt

#endif
