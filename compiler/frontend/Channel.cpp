#include "compiler/frontend/Channel.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace dl::frontend;

static void writeAll(int descriptor, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = ::write(descriptor, bytes, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      _exit(70); // the parent is gone: nobody is left to tell
    bytes += written;
    size -= static_cast<size_t>(written);
  }
}

void Channel::record(char kind, llvm::StringRef bytes) {
  uint64_t size = bytes.size();
  char header[1 + sizeof size];
  header[0] = kind;
  std::memcpy(header + 1, &size, sizeof size);
  writeAll(descriptor, header, sizeof header);
  writeAll(descriptor, bytes.data(), bytes.size());
}

void Channel::setting(const Setting &setting) {
  record('S', setting.name + '\0' + setting.value + '\0' + setting.help);
}

void Channel::end(int exitCode) {
  std::fflush(nullptr);
  char code = static_cast<char>(exitCode);
  record('E', llvm::StringRef(&code, 1));
  _exit(exitCode);
}

bool dl::frontend::parseRecords(llvm::StringRef received, Result &result) {
  constexpr size_t headerSize = 1 + sizeof(uint64_t);
  while (received.size() >= headerSize) {
    uint64_t size;
    std::memcpy(&size, received.data() + 1, sizeof size);
    char kind = received.front();
    received = received.drop_front(headerSize);
    if (size > received.size())
      return false;
    llvm::StringRef bytes = received.take_front(size);
    received = received.drop_front(size);
    if (kind == 'M') {
      result.messages += bytes;
    } else if (kind == 'P') {
      result.whyParsed = bytes.str();
    } else if (kind == 'F') {
      result.files.push_back(bytes.str());
    } else if (kind == 'N') {
      result.probed = bytes.str();
    } else if (kind == 'B') {
      result.bytecode = bytes.str();
    } else if (kind == 'S') {
      auto [name, rest] = bytes.split('\0');
      auto [value, help] = rest.split('\0');
      result.settings.push_back({name.str(), value.str(), help.str()});
    } else if (kind == 'E' && size == 1) {
      result.exitCode = static_cast<unsigned char>(bytes.front());
      return true;
    }
  }
  return false;
}
