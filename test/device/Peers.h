// How emulated devices of several processes reach one another: a socket between
// each two. A process that dies is noticed at once, and nothing is left behind.
#ifndef DL_TEST_DEVICE_PEERS_H
#define DL_TEST_DEVICE_PEERS_H

#include "test/device/NcclApi.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace emulated::nccl {

/// What a rank says when it comes to an operation with another rank: what it
/// sends to it, with the bytes, and what it is ready to receive from it.
struct Announcement {
  uint32_t operation = 0; ///< number of the operation on that rank, from 1
  uint32_t captured = 0;  ///< number of it among those captured with this rank,
                          ///< from 1; 0: it comes from no graph
  std::vector<uint64_t> sends, receives; ///< bytes of each message
  std::vector<char> bytes;               ///< of what is sent
};

class Peers {
public:
  /// Called on a thread of its own.
  struct Events {
    std::function<void(int peer, Announcement)> announced;
    /// It has left, or has died; or it says what went wrong with it.
    std::function<void(int peer, const std::string &why)> gone;
    /// About once a millisecond.
    std::function<void()> idle;
  };

  ~Peers();
  /// Meets all others; `why` says what does not fit. `device`: the number of
  /// its device in the machine, `seconds`: how long it waits for them.
  bool meet(const UniqueId &id, int rank, int size, int device, double seconds,
            std::string &why);
  void listen(Events events);

  void announce(int peer, const Announcement &announcement);
  /// To all: this rank leaves; `why` is empty where all is well.
  void leave(const std::string &why);

private:
  struct Peer {
    int socket = -1;
    bool open = true; ///< as far as the thread that listens knows
    std::vector<char> arrived;
  };
  bool greet(int socket, int rank, int size, int device, int &peer,
             std::string &why);
  void read(int peer);
  bool takeFrame(int peer);
  void run();

  UniqueId id = {};
  std::vector<Peer> peers;
  Events events;
  std::thread thread;
  std::atomic<bool> ended = false;
  std::mutex sending;
};

} // namespace emulated::nccl

#endif
