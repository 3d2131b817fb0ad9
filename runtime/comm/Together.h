// What the processes of a run do together about files: rank 0 keeps them.
#ifndef DLRT_COMM_TOGETHER_H
#define DLRT_COMM_TOGETHER_H

#include "runtime/base/Status.h"
#include "runtime/comm/Transport.h"

#include <string>

namespace dlrt {

/// Rank 0 writes what a run writes and decides what depends on a clock or a
/// disk; the others take its word. All ranks make the same calls in the same
/// order. Of a single process all of this is its own.
class Together {
public:
  /// Null: a single process.
  explicit Together(Transport *transport = nullptr) : transport(transport) {}

  bool several() const { return transport != nullptr; }
  bool keepsFiles() const { return !transport || transport->rank() == 0; }
  uint32_t rank() const { return transport ? transport->rank() : 0; }

  /// Rank 0's text, on all.
  Expected<std::string> ofFirst(std::string own) const;
  /// Rank 0's verdict, on all: with the same code and the same words.
  Status ofFirst(Status own) const;
  Expected<bool> ofFirst(bool own) const;

private:
  Transport *transport;
};

} // namespace dlrt

#endif
