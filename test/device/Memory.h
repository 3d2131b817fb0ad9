// Memory of the emulated device.
#ifndef DL_TEST_DEVICE_MEMORY_H
#define DL_TEST_DEVICE_MEMORY_H

#include "test/device/Api.h"

#include <map>
#include <string>
#include <utility>

namespace emulated {

/// Every allocation has pages that fault on both sides and ends where they
/// begin, but for alignment. The host reaches none of them: only while an
/// operation runs are they there.
class Memory {
public:
  /// 0: there is no room.
  DevicePointer allocate(size_t bytes);
  bool release(DevicePointer at);
  void releaseAll();
  void *allocateHost(size_t bytes);
  bool releaseHost(void *at);

  bool holds(DevicePointer at, size_t bytes) const;
  /// Of the last allocation that begins at or before `at`: its first address
  /// and bytes; {0, 0} where there is none.
  std::pair<DevicePointer, size_t> allocationAt(DevicePointer at) const;
  bool hostHolds(const void *at, size_t bytes) const;
  size_t total() const { return totalBytes; }
  size_t free() const { return totalBytes - used; }
  void setTotal(size_t bytes) { totalBytes = bytes; }

  void open();  ///< for an operation
  void close(); ///< to the host again
  /// Whether the bytes between the ends of allocations and their guards are
  /// untouched; otherwise what was done.
  bool intact(std::string &what) const;
  /// Where an address lies, in words that follow on "writes".
  std::string describe(uintptr_t at) const;

private:
  struct Allocation {
    size_t bytes;
    char *mapping;
    size_t mappedBytes;
  };
  std::map<DevicePointer, Allocation> device;
  std::map<uintptr_t, size_t> host;
  size_t totalBytes = size_t(16) << 30, used = 0;
};

} // namespace emulated

#endif
