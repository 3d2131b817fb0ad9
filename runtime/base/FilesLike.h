// Files by a pattern.
#ifndef DLRT_BASE_FILESLIKE_H
#define DLRT_BASE_FILESLIKE_H

#include <string>
#include <vector>

namespace dlrt {

/// The files that a path stands for: itself, or, where the name has a '*' (any
/// text) or a '?' (any character) and no file has this very name, those in its
/// folder that are like it, in the order of their bytes; maybe none. As in a
/// shell no wildcard stands for the dot of a hidden file.
std::vector<std::string> filesLike(const std::string &path);

/// Whether the path stands for something.
bool areThere(const std::string &path);

} // namespace dlrt

#endif
