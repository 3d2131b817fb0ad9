#include "runtime/train/EventFile.h"

#include "runtime/base/Crc32c.h"

#include <bit>

using namespace dlrt;

static_assert(crc32c("123456789") == 0xe3069283u); // the published check value

template <typename Int> static void putFixed(std::string &out, Int value) {
  for (size_t i = 0; i < sizeof(value); ++i)
    out += static_cast<char>(value >> 8 * i);
}

static uint32_t maskedChecksum(std::string_view bytes) {
  uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

std::string dlrt::tfRecord(std::string_view data) {
  std::string record;
  putFixed(record, static_cast<uint64_t>(data.size()));
  putFixed(record, maskedChecksum(record));
  record += data;
  putFixed(record, maskedChecksum(data));
  return record;
}

// Protobuf: a field is (number << 3 | wire type), then its value. Types: 0
// varint, 1 eight bytes, 2 a length and so many bytes, 5 four bytes.

static void putVarint(std::string &out, uint64_t value) {
  for (; value >= 128; value >>= 7)
    out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

static void putDouble(std::string &out, unsigned field, double value) {
  putVarint(out, field << 3 | 1);
  putFixed(out, std::bit_cast<uint64_t>(value));
}

static void putFloat(std::string &out, unsigned field, float value) {
  putVarint(out, field << 3 | 5);
  putFixed(out, std::bit_cast<uint32_t>(value));
}

static void putBytes(std::string &out, unsigned field, std::string_view value) {
  putVarint(out, field << 3 | 2);
  putVarint(out, value.size());
  out += value;
}

// Event: 1 wall_time, 2 step, 3 file_version, 5 summary.
// Summary: 1 value (repeated). Value: 1 tag, 2 simple_value.

std::string dlrt::eventFileVersion(double wallTime) {
  std::string event;
  putDouble(event, 1, wallTime);
  putBytes(event, 3, "brain.Event:2");
  return tfRecord(event);
}

std::string dlrt::eventOfScalars(
    double wallTime, int64_t step,
    const std::vector<std::pair<std::string, double>> &scalars) {
  std::string summary;
  for (const auto &[tag, number] : scalars) {
    std::string value;
    putBytes(value, 1, tag);
    putFloat(value, 2, static_cast<float>(number));
    putBytes(summary, 1, value);
  }
  std::string event;
  putDouble(event, 1, wallTime);
  putVarint(event, 2 << 3 | 0);
  putVarint(event, static_cast<uint64_t>(step));
  putBytes(event, 5, summary);
  return tfRecord(event);
}
