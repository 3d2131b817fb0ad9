// IDX files, the format of MNIST, plain or compressed with gzip.
#ifndef DLRT_DATA_IDX_H
#define DLRT_DATA_IDX_H

#include "runtime/base/MappedFile.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dlrt {

struct IdxFile {
  std::vector<uint64_t> shape; ///< items first
  const uint8_t *data = nullptr;

  // One of them owns the data.
  MappedFile file;
  std::unique_ptr<uint8_t[]> memory;
};

/// Opens an IDX file of bytes with `rank` dims. A plain file is mapped and not
/// read; its size must be exactly what its header says.
Expected<IdxFile> openIdx(const std::string &path, unsigned rank);

} // namespace dlrt

#endif
