// Items that are made when they are asked for.
#ifndef DLRT_DATA_ITEMSOURCE_H
#define DLRT_DATA_ITEMSOURCE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>

namespace dlrt {

/// Makes items, for one thread.
class ItemReader {
public:
  virtual ~ItemReader() = default;
  /// An item follows from its number, the epoch and the seed alone.
  virtual Status read(uint64_t item, uint64_t epoch, uint8_t *to) = 0;
};

/// Of a component of a data set; threads may ask it for readers at once.
class ItemSource {
public:
  virtual ~ItemSource() = default;
  virtual std::unique_ptr<ItemReader> reader(uint64_t seed) const = 0;
};

} // namespace dlrt

#endif
