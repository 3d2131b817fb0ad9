#include "runtime/state/Checkpoint.h"

#include "runtime/base/Numbers.h"
#include "runtime/device/Device.h"
#include "runtime/plan/Container.h"
#include "runtime/plan/DTypes.h"
#include "runtime/state/Parts.h"
#include "runtime/state/WeightConversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

using namespace dlrt;

using Metadata = std::map<std::string, std::string>;

static constexpr const char *formatKey = "dl.checkpoint";
static constexpr const char *formatVersion = "1";
static constexpr const char *checksumKey = "dl.checksum";
static constexpr const char *logPrefix = "dl.log.";
static constexpr const char *settingPrefix = "dl.set.";
static constexpr const char *watchPrefix = "dl.watch.";
static constexpr const char *cursorPrefix = "dl.cursor.";
static constexpr const char *batchSizeKey = "dl.batch_size";
static constexpr const char *accumulateKey = "dl.accumulate";
static constexpr const char *notFiniteKey = "dl.not_finite";
static constexpr const char *dataKey = "dl.data";
static constexpr const char *turnsKey = "dl.turns";
static constexpr const char *placeKey = "dl.place";

bool dlrt::isKept(const fb::StateT &state) {
  return state.role != fb::StateRole::Accumulator &&
         state.role != fb::StateRole::Cache &&
         state.role != fb::StateRole::Prepared;
}

std::string dlrt::planHashText(uint64_t checksum) {
  return fmt::format("{:016x}", checksum);
}

StateSnapshot::StateSnapshot(const PlanSet &set, Of which) {
  size_t size = 0;
  for (const fb::StateT *state : statesOf(set))
    if (which == Of::All || isKept(*state))
      for (const PartedTensor::Part &part : partsOf(set, *state).parts)
        if (which == Of::All || !part.isCopy) {
          copied.push_back({part.place, part.bytes, size});
          size += part.bytes;
        }
  copy.resize(size);
}

Status StateSnapshot::take(const BufferReader &states) {
  for (const Copied &each : copied)
    DLRT_TRY(states.read(each.place,
                         std::span(copy).subspan(each.offset, each.bytes)));
  return {};
}

Status StateSnapshot::restore(Buffers &states) const {
  for (const Copied &each : copied)
    DLRT_TRY(states.write(each.place,
                          std::span(copy).subspan(each.offset, each.bytes)));
  return {};
}

Status StateSnapshot::read(const BufferPlace &from,
                           std::span<uint8_t> into) const {
  for (const Copied &each : copied)
    if (each.place.rank == from.rank && each.place.buffer == from.buffer &&
        from.offset == 0 && into.size() == each.bytes) {
      if (!into.empty())
        std::memcpy(into.data(), copy.data() + each.offset, into.size());
      return {};
    }
  return {Code::Bug, fmt::format("buffer {} of rank {} is no kept state's",
                                 from.buffer, from.rank)};
}

// A checkpoint's checksum covers all metadata but itself, then names, shapes
// and values of the tensors by their names, and last whether these are finite.

/// Whole words, with an end mark.
static void addText(Checksum &sum, std::string text) {
  text.resize((text.size() + 8) / 8 * 8, '\0');
  sum.add({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

static void addMetadata(Checksum &sum, const Metadata &metadata) {
  for (const auto &[key, value] : metadata)
    if (key != checksumKey && key != notFiniteKey) {
      addText(sum, key);
      addText(sum, value);
    }
}

static void addTensor(Checksum &sum, const std::string &name,
                      const std::string &dtype,
                      const std::vector<uint64_t> &shape,
                      std::span<const uint8_t> values) {
  addText(sum, name);
  addText(sum, dtype + shapeText(shape));
  size_t whole = values.size() / 8 * 8;
  sum.add(values.first(whole));
  std::span<const uint8_t> tail = values.subspan(whole);
  addText(sum, {reinterpret_cast<const char *>(tail.data()), tail.size()});
}

static std::string sumText(const Checksum &sum) {
  return fmt::format("{:016x}", sum.value());
}

static std::string
checksumOf(const std::map<std::string, SafetensorsEntry> &tensors,
           const Metadata &metadata) {
  Checksum sum;
  addMetadata(sum, metadata);
  for (const auto &[name, entry] : tensors)
    addTensor(sum, name, entry.dtype, entry.shape, entry.data);
  if (auto flag = metadata.find(notFiniteKey); flag != metadata.end())
    addText(sum, flag->second);
  return sumText(sum);
}

static Metadata toMetadata(const CheckpointFacts &facts) {
  Metadata out = {{formatKey, formatVersion},
                  {"format", "pt"},
                  {"dl.plan", facts.planHash},
                  {"dl.step", std::to_string(facts.step)},
                  {"dl.epoch", std::to_string(facts.epoch)},
                  {"dl.batch", std::to_string(facts.batch)},
                  {"dl.items", std::to_string(facts.items)},
                  {batchSizeKey, std::to_string(facts.batchSize)},
                  {accumulateKey, std::to_string(facts.accumulate)},
                  {"dl.seed", std::to_string(facts.seed)},
                  {"dl.shuffle", facts.shuffle ? "1" : "0"},
                  {"dl.evaluation_due", facts.evaluationDue ? "1" : "0"},
                  {notFiniteKey, facts.notFinite ? "1" : "0"}};
  if (!facts.dataSamples.empty())
    out[dataKey] = facts.dataSamples;
  for (const auto &[name, bytes] : facts.logBytes)
    out[logPrefix + name] = std::to_string(bytes);
  for (const auto &[name, value] : facts.settings)
    out[settingPrefix + name] = shortest(value);
  for (const auto &[name, state] : facts.watches)
    out[watchPrefix + name] = state;
  for (const auto &[name, at] : facts.cursors)
    out[cursorPrefix + name] =
        fmt::format("{} {} {} {} {} {}", at.updates, at.epoch, at.batch,
                    at.items, at.batchSize, at.accumulate);
  if (!facts.cursors.empty()) {
    out[turnsKey] = facts.turns;
    out[placeKey] = std::to_string(facts.place);
  }
  return out;
}

/// "UPDATES EPOCH BATCH ITEMS BATCH_SIZE ACCUMULATE", of which files may lack
/// the last two.
static std::optional<CursorFacts> parseCursor(const std::string &text) {
  uint64_t numbers[6] = {};
  size_t at = 0, count = 0;
  for (uint64_t &number : numbers) {
    if (count++ == 4 && at == text.size())
      break;
    size_t end = std::min(text.find(' ', at), text.size());
    auto value = parseUnsigned(
        std::string_view(text).substr(std::min(at, end), end - at));
    if (!value)
      return std::nullopt;
    number = *value;
    at = std::min(end + 1, text.size());
  }
  return CursorFacts{numbers[0], numbers[1], numbers[2],
                     numbers[3], numbers[4], numbers[5]};
}

/// Older files do not say it.
static bool saysNotFinite(const Metadata &metadata) {
  auto flag = metadata.find(notFiniteKey);
  return flag != metadata.end() && flag->second != "0";
}

static Status fromMetadata(const Metadata &metadata, CheckpointFacts &facts) {
  auto number = [&](const std::string &key, uint64_t &out) -> Status {
    auto found = metadata.find(key);
    auto value =
        found == metadata.end() ? std::nullopt : parseUnsigned(found->second);
    if (!value)
      return {Code::Io, fmt::format("{} is missing or no number", key)};
    out = *value;
    return {};
  };
  uint64_t shuffle = 0, evaluationDue = 0;
  DLRT_TRY(number("dl.step", facts.step));
  DLRT_TRY(number("dl.epoch", facts.epoch));
  DLRT_TRY(number("dl.batch", facts.batch));
  DLRT_TRY(number("dl.items", facts.items));
  if (metadata.count(batchSizeKey)) {
    DLRT_TRY(number(batchSizeKey, facts.batchSize));
    DLRT_TRY(number(accumulateKey, facts.accumulate));
  }
  DLRT_TRY(number("dl.seed", facts.seed));
  DLRT_TRY(number("dl.shuffle", shuffle));
  DLRT_TRY(number("dl.evaluation_due", evaluationDue));
  facts.shuffle = shuffle != 0;
  facts.evaluationDue = evaluationDue != 0;
  if (auto data = metadata.find(dataKey); data != metadata.end())
    facts.dataSamples = data->second;
  facts.notFinite = saysNotFinite(metadata);
  for (const auto &[key, value] : metadata)
    if (key.starts_with(logPrefix))
      DLRT_TRY(number(key, facts.logBytes[key.substr(strlen(logPrefix))]));
  for (const auto &[key, text] : metadata)
    if (key.starts_with(settingPrefix)) {
      auto value = parseDouble(text);
      if (!value)
        return {Code::Io, fmt::format("{} is no number", key)};
      facts.settings[key.substr(strlen(settingPrefix))] = *value;
    }
  for (const auto &[key, text] : metadata)
    if (key.starts_with(watchPrefix))
      facts.watches[key.substr(strlen(watchPrefix))] = text;
  for (const auto &[key, text] : metadata)
    if (key.starts_with(cursorPrefix)) {
      auto cursor = parseCursor(text);
      if (!cursor)
        return {Code::Io, fmt::format("{} is not a place in data", key)};
      facts.cursors[key.substr(strlen(cursorPrefix))] = *cursor;
    }
  if (!facts.cursors.empty()) {
    DLRT_TRY(number(placeKey, facts.place));
    if (auto turns = metadata.find(turnsKey); turns != metadata.end())
      facts.turns = turns->second;
  }
  auto plan = metadata.find("dl.plan");
  if (plan == metadata.end())
    return {Code::Io, "dl.plan is missing"};
  facts.planHash = plan->second;
  return {};
}

bool dlrt::isFiniteCheckpoint(const std::string &path) {
  auto file = SafetensorsFile::open(path);
  return file && !saysNotFinite(file->metadata);
}

template <class T> static bool allFinite(std::span<const uint8_t> bytes) {
  std::span<const T> values(reinterpret_cast<const T *>(bytes.data()),
                            bytes.size() / sizeof(T));
  return std::ranges::all_of(values, [](T x) { return std::isfinite(x); });
}

static bool isFinite(const fb::StateT &state, std::span<const uint8_t> values) {
  if (state.role != fb::StateRole::Parameter)
    return true;
  return state.dtype == fb::DType::F32   ? allFinite<float>(values)
         : state.dtype == fb::DType::F64 ? allFinite<double>(values)
                                         : true;
}

/// In the order of the checksum.
static std::map<std::string, const fb::StateT *>
keptStates(const PlanSet &set) {
  std::map<std::string, const fb::StateT *> kept;
  for (const fb::StateT *state : statesOf(set))
    if (isKept(*state))
      kept[state->name] = state;
  return kept;
}

Expected<CheckpointWriter>
CheckpointWriter::create(const PlanSet &set, const std::string &path,
                         const CheckpointFacts &facts) {
  std::map<std::string, SafetensorsLayout> tensors;
  for (const auto &[name, state] : keptStates(set)) {
    tensors[name] = {fileDType(state->dtype), state->shape, wholeBytes(*state)};
  }
  Metadata metadata = toMetadata(facts);
  Checksum sum;
  addMetadata(sum, metadata);
  metadata[checksumKey] = sumText(sum); // of its length
  auto file = SafetensorsStream::create(path, std::move(tensors), metadata);
  if (!file)
    return file.takeError();
  CheckpointWriter writer(std::move(*file));
  writer.sum = sum;
  writer.notFinite = facts.notFinite;
  return writer;
}

Status CheckpointWriter::fill(const PlanSet &set, const BufferReader &states) {
  Status written;
  for (const auto &[name, state] : keptStates(set)) {
    auto values = readWhole(partsOf(set, *state), states);
    if (!values)
      return values.takeError();
    addTensor(sum, name, fileDType(state->dtype), state->shape, *values);
    notFinite = notFinite || !isFinite(*state, *values);
    if (written.ok())
      written = file.write(name, *values);
  }
  DLRT_TRY(std::move(written));
  std::string flag = notFinite ? "1" : "0";
  addText(sum, flag);
  DLRT_TRY(file.setMetadata(notFiniteKey, flag));
  return file.setMetadata(checksumKey, sumText(sum));
}

Status dlrt::readAlong(const PlanSet &set, const BufferReader &states) {
  for (const auto &[name, state] : keptStates(set))
    DLRT_TRY(readAlong(partsOf(set, *state), states));
  return {};
}

Status dlrt::writeCheckpoint(const PlanSet &set, const std::string &path,
                             const BufferReader &states,
                             const CheckpointFacts &facts) {
  auto writer = CheckpointWriter::create(set, path, facts);
  if (!writer)
    return writer.takeError();
  DLRT_TRY(writer->fill(set, states));
  return writer->finish();
}

Status dlrt::checkWhole(const SafetensorsFile &file) {
  auto checksum = file.metadata.find(checksumKey);
  if (checksum == file.metadata.end() ||
      checksum->second == checksumOf(file.tensors, file.metadata))
    return {};
  return {Code::Io, "the checkpoint is damaged: its checksum does not match"};
}

static Status check(CheckpointFile &checkpoint) {
  const Metadata &metadata = checkpoint.file.metadata;
  auto version = metadata.find(formatKey);
  auto checksum = metadata.find(checksumKey);
  if (version == metadata.end() || checksum == metadata.end())
    return {Code::Io, "this is no checkpoint: it holds weights alone"};
  DLRT_TRY(checkWhole(checkpoint.file));
  if (version->second != formatVersion)
    return {Code::Io, fmt::format("the checkpoint has format version {}, this "
                                  "dlrun reads version {}",
                                  version->second, formatVersion)};
  return fromMetadata(metadata, checkpoint.facts)
      .within("the checkpoint is damaged");
}

const std::string &CheckpointFile::checksum() const {
  return file.metadata.at(checksumKey);
}

Expected<CheckpointFile> CheckpointFile::open(const std::string &path) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return Status(Code::Io, file.takeError().message());
  CheckpointFile checkpoint;
  checkpoint.file = std::move(*file);
  DLRT_TRY(check(checkpoint).within(path));
  return checkpoint;
}

static Status checkTensor(const fb::StateT &state,
                          const CheckpointFile &checkpoint) {
  auto error = [&](std::string_view what) {
    return Status(Code::Training, fmt::format("'{}' {}", state.name, what));
  };
  auto found = checkpoint.file.tensors.find(state.name);
  if (found == checkpoint.file.tensors.end())
    return error("is missing");
  const SafetensorsEntry &entry = found->second;
  if (entry.shape != state.shape)
    return error(fmt::format("has shape {}, the plan's is {}",
                             shapeText(entry.shape), shapeText(state.shape)));
  if (entry.dtype != fileDType(state.dtype))
    return error(fmt::format("has dtype {}, the plan's is {}", entry.dtype,
                             fileDType(state.dtype)));
  return {};
}

Status dlrt::restoreStates(const PlanSet &set, const CheckpointFile &checkpoint,
                           const std::string &path, Buffers &states) {
  size_t kept = 0;
  for (const fb::StateT *state : statesOf(set)) {
    if (!isKept(*state))
      continue;
    DLRT_TRY(checkTensor(*state, checkpoint).within(path));
    ++kept;
  }
  if (kept != checkpoint.file.tensors.size())
    return {Code::Training,
            fmt::format("{}: it has {} tensors, the plan has {} states", path,
                        checkpoint.file.tensors.size(), kept)};
  for (const fb::StateT *state : statesOf(set))
    if (isKept(*state))
      DLRT_TRY(writeWhole(partsOf(set, *state),
                          checkpoint.file.tensors.at(state->name).data.data(),
                          states));
  return {};
}
