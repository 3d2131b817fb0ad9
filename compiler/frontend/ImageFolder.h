#pragma once
// What dlcc must know of a folder of pictures: how many there are, and of which
// classes. The run reads them: runtime/data/ImageFolder.cpp.
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dl::frontend {

struct ImageFolder {
  std::vector<std::string> classes; ///< the folders within, sorted
  int64_t pictures = 0;
};

/// Fails where there are none, where a class has none unless `allowEmpty`, and
/// at a picture that could not be read when the plan runs. Messages call the
/// folder `name`.
llvm::Expected<ImageFolder> readImageFolder(const std::string &path,
                                            const std::string &name,
                                            bool allowEmpty);

} // namespace dl::frontend
