#include "test/device/Memory.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace emulated {

static constexpr size_t page = 4096, alignment = 256;
/// Fresh memory of a device holds anything: not zeros, and as floats NaN.
static constexpr int fresh = 0xff, behind = 0xa5;

static size_t rounded(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

DevicePointer Memory::allocate(size_t bytes) {
  if (bytes > free())
    return 0;
  size_t mapped = rounded(bytes, page) + 2 * page;
  void *mapping = mmap(nullptr, mapped, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return 0;
  char *first = static_cast<char *>(mapping);
  char *at = first + mapped - page - rounded(bytes, alignment);
  mprotect(first + page, mapped - 2 * page, PROT_READ | PROT_WRITE);
  memset(first + page, behind, mapped - 2 * page);
  memset(at, fresh, bytes);
  mprotect(first + page, mapped - 2 * page, PROT_NONE);
  auto pointer = reinterpret_cast<DevicePointer>(at);
  device[pointer] = {bytes, first, mapped};
  used += bytes;
  return pointer;
}

bool Memory::release(DevicePointer at) {
  auto found = device.find(at);
  if (found == device.end())
    return false;
  munmap(found->second.mapping, found->second.mappedBytes);
  used -= found->second.bytes;
  device.erase(found);
  return true;
}

void Memory::releaseAll() {
  while (!device.empty())
    release(device.begin()->first);
  while (!host.empty())
    releaseHost(reinterpret_cast<void *>(host.begin()->first));
}

void *Memory::allocateHost(size_t bytes) {
  void *at = mmap(nullptr, rounded(bytes, page), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return nullptr;
  host[uintptr_t(at)] = bytes;
  return at;
}

bool Memory::releaseHost(void *at) {
  auto found = host.find(uintptr_t(at));
  if (found == host.end())
    return false;
  munmap(at, rounded(found->second, page));
  host.erase(found);
  return true;
}

std::pair<DevicePointer, size_t> Memory::allocationAt(DevicePointer at) const {
  auto after = device.upper_bound(at);
  if (after == device.begin())
    return {0, 0};
  const auto &[first, allocation] = *--after;
  return {first, allocation.bytes};
}

bool Memory::holds(DevicePointer at, size_t bytes) const {
  auto [first, size] = allocationAt(at);
  return bytes <= size && at - first <= size - bytes;
}

bool Memory::hostHolds(const void *at, size_t bytes) const {
  auto after = host.upper_bound(uintptr_t(at));
  if (after == host.begin())
    return false;
  const auto &[first, size] = *--after;
  return bytes <= size && uintptr_t(at) - first <= size - bytes;
}

void Memory::open() {
  for (auto &[at, a] : device)
    mprotect(a.mapping + page, a.mappedBytes - 2 * page,
             PROT_READ | PROT_WRITE);
}

void Memory::close() {
  for (auto &[at, a] : device)
    mprotect(a.mapping + page, a.mappedBytes - 2 * page, PROT_NONE);
}

bool Memory::intact(std::string &what) const {
  for (auto &[at, a] : device) {
    auto check = [&](const char *from, const char *to) {
      for (const char *byte = from; byte < to; ++byte)
        if (static_cast<unsigned char>(*byte) != behind) {
          what = describe(uintptr_t(byte));
          return false;
        }
      return true;
    };
    auto *first = reinterpret_cast<const char *>(at);
    if (!check(a.mapping + page, first) ||
        !check(first + a.bytes, a.mapping + a.mappedBytes - page))
      return false;
  }
  return true;
}

std::string Memory::describe(uintptr_t at) const {
  for (auto &[first, a] : device)
    if (at - uintptr_t(a.mapping) < a.mappedBytes) {
      std::string of = " of an allocation of " + std::to_string(a.bytes);
      if (at < first)
        return std::to_string(first - at) + " bytes before the begin" + of;
      if (at >= first + a.bytes)
        return std::to_string(at - first - a.bytes) + " bytes behind the end" +
               of;
      return "byte " + std::to_string(at - first) + of;
    }
  char text[64];
  snprintf(text, sizeof text, "at %#zx, which is no memory of the device",
           size_t(at));
  return text;
}

} // namespace emulated
