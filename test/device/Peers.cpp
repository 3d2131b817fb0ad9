#include "test/device/Peers.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace emulated::nccl {

namespace {

struct Greeting {
  UniqueId id;
  int rank, size, device;
};

enum class Kind : uint32_t { Operation, Left };

struct Header {
  Kind kind;
  uint32_t operation, captured, sends, receives;
  uint64_t bytes; ///< behind the sizes
};

/// In no file system: it ends with its socket.
sockaddr_un addressOf(const UniqueId &id, int rank, socklen_t &length) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::string name = "dlemu-nccl-";
  for (int i = 0; i < 24; ++i) {
    unsigned value = static_cast<unsigned char>(id.bytes[i]);
    name += "0123456789abcdef"[value / 16];
    name += "0123456789abcdef"[value % 16];
  }
  name += "-" + std::to_string(rank);
  memcpy(address.sun_path + 1, name.data(), name.size());
  length = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

bool sendAll(int socket, const void *from, size_t bytes) {
  auto *at = static_cast<const char *>(from);
  while (bytes != 0) {
    ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return false;
    at += sent;
    bytes -= size_t(sent);
  }
  return true;
}

bool receiveAll(int socket, void *to, size_t bytes) {
  auto *at = static_cast<char *>(to);
  while (bytes != 0) {
    ssize_t got = recv(socket, at, bytes, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    at += got;
    bytes -= size_t(got);
  }
  return true;
}

/// A rank may not have come yet.
int connectTo(const UniqueId &id, int rank, double seconds) {
  socklen_t length;
  sockaddr_un address = addressOf(id, rank, length);
  for (int tries = 0; tries < seconds * 100; ++tries) {
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(made, reinterpret_cast<sockaddr *>(&address), length) == 0)
      return made;
    close(made);
    usleep(10000);
  }
  return -1;
}

} // namespace

bool Peers::greet(int socket, int rank, int size, int device, int &peer,
                  std::string &why) {
  Greeting mine = {id, rank, size, device}, theirs = {};
  if (!sendAll(socket, &mine, sizeof(mine)) ||
      !receiveAll(socket, &theirs, sizeof(theirs))) {
    why = "a rank has gone before all had come";
    return false;
  }
  peer = theirs.rank;
  if (memcmp(&theirs.id, &id, sizeof(id)) != 0)
    why = "rank " + std::to_string(peer) + " has another unique id";
  else if (theirs.size != size)
    why = "rank " + std::to_string(rank) + " says that there are " +
          std::to_string(size) + " ranks, rank " + std::to_string(peer) +
          " says " + std::to_string(theirs.size);
  else if (peer < 0 || peer >= size || peer == rank || peers[peer].socket != -1)
    why = "two ranks say that they are rank " + std::to_string(peer);
  else if (theirs.device == device)
    why = "ranks " + std::to_string(std::min(rank, peer)) + " and " +
          std::to_string(std::max(rank, peer)) + " are both on device " +
          std::to_string(device);
  return why.empty();
}

bool Peers::meet(const UniqueId &given, int rank, int size, int device,
                 double seconds, std::string &why) {
  id = given;
  peers.resize(size_t(size));
  socklen_t length;
  sockaddr_un address = addressOf(id, rank, length);
  int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(own, reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      ::listen(own, size) != 0) {
    why = "two ranks say that they are rank " + std::to_string(rank);
    close(own);
    return false;
  }
  for (int i = 0; i < size - 1 && why.empty(); ++i) {
    bool calls = i < rank; // those before it; those behind it call
    pollfd coming = {own, POLLIN, 0};
    int socket = -1;
    if (calls)
      socket = connectTo(id, i, seconds);
    else if (poll(&coming, 1, int(seconds * 1000)) == 1)
      socket = accept4(own, nullptr, nullptr, SOCK_CLOEXEC);
    int peer = calls ? i : -1;
    if (socket == -1)
      why = "not all of " + std::to_string(size) + " ranks have come";
    else if (greet(socket, rank, size, device, peer, why))
      peers[peer].socket = socket;
    else
      close(socket);
  }
  close(own);
  return why.empty();
}

Peers::~Peers() {
  ended = true;
  if (thread.joinable())
    thread.join();
  for (Peer &peer : peers)
    if (peer.socket != -1)
      close(peer.socket);
}

void Peers::listen(Events given) {
  events = std::move(given);
  thread = std::thread([this] { run(); });
}

void Peers::announce(int peer, const Announcement &a) {
  Header header = {Kind::Operation,
                   a.operation,
                   a.captured,
                   uint32_t(a.sends.size()),
                   uint32_t(a.receives.size()),
                   a.bytes.size()};
  std::lock_guard<std::mutex> lock(sending);
  int to = peers[peer].socket;
  sendAll(to, &header, sizeof(header));
  sendAll(to, a.sends.data(), a.sends.size() * sizeof(uint64_t));
  sendAll(to, a.receives.data(), a.receives.size() * sizeof(uint64_t));
  sendAll(to, a.bytes.data(), a.bytes.size());
}

void Peers::leave(const std::string &why) {
  std::lock_guard<std::mutex> lock(sending);
  Header header = {Kind::Left, 0, 0, 0, 0, why.size()};
  for (Peer &peer : peers)
    if (peer.socket != -1) {
      sendAll(peer.socket, &header, sizeof(header));
      sendAll(peer.socket, why.data(), why.size());
    }
}

bool Peers::takeFrame(int number) {
  std::vector<char> &arrived = peers[number].arrived;
  Header header;
  if (arrived.size() < sizeof(header))
    return false;
  memcpy(&header, arrived.data(), sizeof(header));
  size_t sizes = (header.sends + header.receives) * sizeof(uint64_t);
  size_t all = sizeof(header) + sizes + header.bytes;
  if (arrived.size() < all)
    return false;
  const char *at = arrived.data() + sizeof(header);
  if (header.kind == Kind::Left) {
    std::string why(at, header.bytes);
    events.gone(number, why.empty() ? "has left" : "says: " + why);
  } else {
    Announcement a;
    a.operation = header.operation;
    a.captured = header.captured;
    a.sends.resize(header.sends);
    a.receives.resize(header.receives);
    memcpy(a.sends.data(), at, header.sends * sizeof(uint64_t));
    at += header.sends * sizeof(uint64_t);
    memcpy(a.receives.data(), at, header.receives * sizeof(uint64_t));
    at += header.receives * sizeof(uint64_t);
    a.bytes.assign(at, at + header.bytes);
    events.announced(number, std::move(a));
  }
  arrived.erase(arrived.begin(), arrived.begin() + ptrdiff_t(all));
  return true;
}

void Peers::read(int number) {
  Peer &peer = peers[number];
  char piece[65536];
  ssize_t got = recv(peer.socket, piece, sizeof(piece), MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN))
    return;
  if (got > 0) {
    peer.arrived.insert(peer.arrived.end(), piece, piece + got);
    while (takeFrame(number))
      ;
    return;
  }
  events.gone(number, "has gone");
  peer.open = false;
}

void Peers::run() {
  while (!ended) {
    std::vector<pollfd> sockets;
    std::vector<int> numbers;
    for (int p = 0; p < int(peers.size()); ++p)
      if (peers[p].socket != -1 && peers[p].open) {
        sockets.push_back({peers[p].socket, POLLIN, 0});
        numbers.push_back(p);
      }
    if (poll(sockets.data(), sockets.size(), 1) > 0)
      for (size_t i = 0; i < sockets.size(); ++i)
        if (sockets[i].revents)
          read(numbers[i]);
    events.idle();
  }
}

} // namespace emulated::nccl
