#include "runtime/comm/Heartbeat.h"

#include "runtime/base/JsonReader.h"
#include "runtime/base/JsonWriter.h"
#include "runtime/base/Numbers.h"
#include "runtime/base/Utf8.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unistd.h>

using namespace dlrt;

static constexpr char mark = '\x1e'; // ASCII's record separator
/// A new phase is told at once.
static constexpr auto lookEvery = std::chrono::milliseconds(20);
/// Pipes keep so much together.
static constexpr size_t longestFrame = 2048;

static constexpr std::array<const char *, 4> phaseNames = {"start", "steps",
                                                           "files", "end"};

const char *dlrt::nameOf(RankPhase phase) {
  return phaseNames[static_cast<size_t>(phase)];
}

/// The beginning of a text, as far as it is text.
static std::string beginning(std::string_view text, size_t most) {
  size_t end = 0;
  while (end < text.size()) {
    size_t length = utf8Length(text.substr(end));
    if (length == 0 || end + length > most)
      break;
    end += length;
  }
  return std::string(text.substr(0, end));
}

std::string dlrt::frameOf(const RankStatus &status) {
  JsonWriter json;
  json.beginObject();
  json.field("rank", status.rank).field("host", status.host);
  json.field("pid", status.process).field("phase", nameOf(status.phase));
  json.field("step", status.step).field("launches", status.launches);
  json.field("waits", status.waits).field("op", beginning(status.op, 400));
  if (status.end)
    json.field("end", *status.end).field("said", beginning(status.said, 1000));
  json.endObject();
  return mark + json.text() + "\n";
}

static std::optional<uint64_t> numberIn(const JsonValue &json,
                                        std::string_view name) {
  const JsonValue *value = json.find(name);
  if (!value || value->kind != JsonValue::Kind::Number)
    return std::nullopt;
  return parseUnsigned(value->text);
}

static std::string textIn(const JsonValue &json, std::string_view name) {
  const JsonValue *value = json.find(name);
  return value && value->kind == JsonValue::Kind::String ? value->text : "";
}

std::optional<RankStatus> dlrt::parseFrame(std::string_view text) {
  Expected<JsonValue> json = parseJson(text);
  if (!json || json->kind != JsonValue::Kind::Object)
    return std::nullopt;
  auto rank = numberIn(*json, "rank"), process = numberIn(*json, "pid");
  auto step = numberIn(*json, "step"), launches = numberIn(*json, "launches");
  auto phase =
      std::find(phaseNames.begin(), phaseNames.end(), textIn(*json, "phase"));
  if (!rank || *rank > UINT32_MAX || !process || !step || !launches ||
      phase == phaseNames.end())
    return std::nullopt;
  RankStatus status;
  status.rank = static_cast<uint32_t>(*rank);
  status.host = textIn(*json, "host");
  status.process = *process;
  status.phase = static_cast<RankPhase>(phase - phaseNames.begin());
  status.step = *step;
  status.launches = *launches;
  const JsonValue *waits = json->find("waits");
  status.waits = waits && waits->truth;
  status.op = textIn(*json, "op");
  if (auto end = numberIn(*json, "end"); end && *end < 256)
    status.end = static_cast<int>(*end);
  status.said = textIn(*json, "said");
  return status;
}

std::string
FrameSplitter::add(std::string_view bytes,
                   const std::function<void(const RankStatus &)> &frame) {
  std::string rest;
  for (char byte : bytes) {
    if (byte == mark) { // an open one was cut off
      open.assign(1, byte);
    } else if (open.empty()) {
      rest += byte;
    } else if (byte == '\n') {
      if (auto status = parseFrame(std::string_view(open).substr(1)))
        frame(*status);
      open.clear();
    } else if (open.size() < longestFrame) {
      open += byte;
    }
  }
  return rest;
}

Heartbeat::Heartbeat(RankStatus self, std::chrono::milliseconds interval,
                     Fill fill)
    : self(std::move(self)), interval(interval), fill(std::move(fill)),
      thread([this] { main(); }) {}

Heartbeat::~Heartbeat() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

void dlrt::sendFrame(const RankStatus &status) {
  std::string frame = frameOf(status);
  // Nothing can be done where nobody listens.
  [[maybe_unused]] ssize_t sent =
      write(STDERR_FILENO, frame.data(), frame.size());
}

void Heartbeat::main() {
  std::unique_lock lock(mutex);
  using Clock = std::chrono::steady_clock;
  Clock::time_point due = Clock::now();
  while (!stopping) {
    RankPhase before = self.phase;
    fill(self);
    if (self.phase != before || Clock::now() >= due) {
      sendFrame(self);
      due = Clock::now() + interval;
    }
    changed.wait_for(lock, lookEvery, [this] { return stopping; });
  }
}

void Heartbeat::end(int code, const std::string &said) {
  std::lock_guard lock(mutex);
  fill(self);
  self.end = code;
  self.said = said;
  if (!stopping)
    sendFrame(self);
  stopping = true;
  changed.notify_all();
}
