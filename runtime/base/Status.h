// Errors are values: a Status says what went wrong and which exit code fits.
#ifndef DLRT_BASE_STATUS_H
#define DLRT_BASE_STATUS_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace dlrt {

/// The values are the exit codes of dlrun.
enum class Code : int {
  Ok = 0,
  Training = 1,    ///< data or training failed
  Usage = 2,       ///< wrong use of the tool
  Unavailable = 3, ///< no device or memory, or not in this version
  Io = 4,          ///< cannot read or write
  Plan = 5,        ///< plan damaged, or plan and machine do not match
  RankLost = 6,    ///< a rank of the run died or hung
  Bug = 70,        ///< our own mistake
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string message)
      : errorCode(code), text(std::move(message)) {}

  bool ok() const { return errorCode == Code::Ok; }
  Code code() const { return errorCode; }
  const std::string &message() const { return text; }

  /// Of data that were wrong, which item of the batch it was.
  std::optional<uint64_t> itemOfBatch() const { return item; }
  Status ofItem(uint64_t place) && {
    item = place;
    return std::move(*this);
  }

  /// The same error with a place in front of it: "file: message".
  Status within(const std::string &place) && {
    if (!ok())
      text = place + ": " + text;
    return std::move(*this);
  }

private:
  Code errorCode = Code::Ok;
  std::string text;
  std::optional<uint64_t> item;
};

/// A value or the Status that says why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : held(std::move(value)) {}
  Expected(Status status) : error(std::move(status)) {}

  explicit operator bool() const { return held.has_value(); }
  T &operator*() { return *held; }
  const T &operator*() const { return *held; }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }
  Status takeError() { return std::move(error); }
  const Status &status() const { return error; }

private:
  std::optional<T> held;
  Status error;
};

} // namespace dlrt

/// Returns from the enclosing function if `expression` is an error.
#define DLRT_TRY(expression)                                                   \
  do {                                                                         \
    if (::dlrt::Status tryStatus = (expression); !tryStatus.ok())              \
      return tryStatus;                                                        \
  } while (false)

#endif
