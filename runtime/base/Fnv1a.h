// A hash that tells things apart, and keeps no secrets.
#ifndef DLRT_BASE_FNV1A_H
#define DLRT_BASE_FNV1A_H

#include <cstdint>

namespace dlrt {

/// FNV-1a of 64 bits, byte by byte
/// (https://datatracker.ietf.org/doc/draft-eastlake-fnv).
class Fnv1a {
public:
  void add(uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3u; }
  uint64_t value() const { return hash; }

private:
  uint64_t hash = 0xcbf29ce484222325u;
};

} // namespace dlrt

#endif
