#include "runtime/comm/Together.h"

#include <cstdint>
#include <cstdlib>

using namespace dlrt;

Expected<std::string> Together::ofFirst(std::string own) const {
  if (!transport)
    return own;
  uint64_t size = own.size();
  DLRT_TRY(transport->broadcast(
      0, {reinterpret_cast<uint8_t *>(&size), sizeof(size)}));
  own.resize(size);
  DLRT_TRY(transport->broadcast(
      0, {reinterpret_cast<uint8_t *>(own.data()), own.size()}));
  return own;
}

Status Together::ofFirst(Status own) const {
  if (!transport)
    return own;
  // The code as a number, a space, the words.
  auto text = ofFirst(std::to_string(static_cast<int>(own.code())) + " " +
                      own.message());
  if (!text)
    return text.takeError();
  int code = std::atoi(text->c_str());
  return code == 0 ? Status()
                   : Status(static_cast<Code>(code),
                            text->substr(text->find(' ') + 1));
}

Expected<bool> Together::ofFirst(bool own) const {
  auto text = ofFirst(std::string(own ? "1" : "0"));
  if (!text)
    return text.takeError();
  return *text == "1";
}
