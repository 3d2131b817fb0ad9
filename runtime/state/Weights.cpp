#include "runtime/state/Weights.h"

#include "runtime/plan/DTypes.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/state/Checkpoint.h"
#include "runtime/state/Parts.h"
#include "runtime/state/SafetensorsStream.h"
#include "runtime/state/WeightConversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

using namespace dlrt;

static const std::map<std::string, std::string> weightMetadata = {
    {"format", "pt"}};

bool dlrt::isWeight(const fb::StateT &state) {
  return state.role == fb::StateRole::Parameter ||
         state.role == fb::StateRole::Buffer;
}

/// Training from a NaN gives NaN everywhere; better said than found out.
static Status checkNumbers(const fb::StateT &state,
                           std::span<const uint8_t> elements) {
  NanCount nan = countNan(state.dtype, elements);
  if (nan.count == 0)
    return {};
  std::vector<uint64_t> index(state.shape.size());
  for (size_t d = index.size(); d-- > 0; nan.first /= state.shape[d])
    index[d] = nan.first % state.shape[d];
  return {Code::Training,
          fmt::format("'{}' has {} value{} that {} not a number (NaN), the "
                      "first at {}",
                      state.name, nan.count, nan.count == 1 ? "" : "s",
                      nan.count == 1 ? "is" : "are", shapeText(index))};
}

static std::string joined(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += "\n  " + line;
  return text;
}

/// The strict rule, or what the partial one leaves to say.
static Status judge(const WeightMatch &match, const std::string &files,
                    bool partial, std::vector<std::string> &warnings) {
  if (match.problems().empty())
    return {};
  if (!partial)
    return {Code::Training,
            fmt::format("{} {} not fit the model:{}\n  --init-partial takes "
                        "what fits",
                        files, files.find(", ") == files.npos ? "does" : "do",
                        joined(match.problems()))};
  if (match.matched() == 0)
    return {Code::Training,
            fmt::format("{}: nothing in it fits the model, not even a part:{}",
                        files, joined(match.problems()))};
  warnings.push_back(fmt::format("{}: {} of the model's {} weights taken:{}",
                                 files, match.matched(), match.weights(),
                                 joined(match.problems())));
  return {};
}

Expected<std::unique_ptr<WeightFiles>>
WeightFiles::open(const PlanSet &set, const std::vector<WeightSource> &sources,
                  bool partial, std::vector<std::string> &warnings) {
  std::unique_ptr<WeightFiles> own(new WeightFiles(set));
  own->sources = sources;
  std::string names;
  for (const WeightSource &source : sources) {
    Expected<SafetensorsFile> file = SafetensorsFile::open(source.path);
    if (!file)
      return file.takeError();
    DLRT_TRY(checkWhole(*file).within(source.path));
    own->files.push_back(std::move(*file));
    names += (names.empty() ? "" : ", ") + source.path;
  }
  own->states = statesOf(set);
  WeightMatch &match = own->match.emplace(own->states, set.first().constants,
                                          own->sources, own->files);
  DLRT_TRY(match.find());
  DLRT_TRY(judge(match, names, partial, warnings));
  for (const fb::StateT *state : own->states)
    if (match.of(*state))
      own->found.insert(state->name);
  return own;
}

Status WeightFiles::load(Buffers &buffers,
                         std::vector<std::string> &warnings) const {
  std::vector<size_t> narrowed(files.size());
  std::map<const fb::StateT *, std::vector<uint8_t>> converted;
  for (const fb::StateT *state : states)
    if (const WeightMatch::Chosen *tensor = match->of(*state)) {
      std::vector<uint8_t> &own = converted[state];
      own =
          convertElements(*tensor->entry, state->dtype, narrowed[tensor->file]);
      DLRT_TRY(checkNumbers(*state, own.empty() ? tensor->entry->data
                                                : std::span<const uint8_t>(own))
                   .within(sources[tensor->file].path));
    }
  for (const fb::StateT *state : states)
    if (auto found = converted.find(state); found != converted.end()) {
      const std::vector<uint8_t> &own = found->second;
      DLRT_TRY(writeWhole(partsOf(set, *state),
                          own.empty() ? match->of(*state)->entry->data.data()
                                      : own.data(),
                          buffers));
    }
  for (size_t f = 0; f < files.size(); ++f)
    if (narrowed[f] != 0)
      warnings.push_back(fmt::format("{}: {} values were rounded from f64 to "
                                     "f32",
                                     sources[f].path, narrowed[f]));
  return {};
}

Status dlrt::loadWeights(const PlanSet &set,
                         const std::vector<WeightSource> &sources, bool partial,
                         Buffers &buffers, std::vector<std::string> &warnings) {
  auto files = WeightFiles::open(set, sources, partial, warnings);
  return files ? (*files)->load(buffers, warnings) : files.takeError();
}

/// A device or a pipe takes the tensors in the order of the file: all are put
/// together first.
static Status writeAtOnce(const PlanSet &set, const std::string &path,
                          const BufferReader &buffers) {
  std::vector<std::vector<uint8_t>> storage;
  std::map<std::string, SafetensorsEntry> tensors;
  for (const fb::StateT *state : statesOf(set)) {
    if (!isWeight(*state))
      continue;
    auto values = readWhole(partsOf(set, *state), buffers);
    if (!values)
      return values.takeError();
    storage.push_back(std::move(*values));
    SafetensorsEntry entry = {fileDType(state->dtype), state->shape,
                              storage.back()};
    tensors[state->name] = entry;
    for (const std::string &alias : state->aliases)
      tensors[alias] = entry;
  }
  return writeSafetensors(path, tensors, weightMetadata);
}

/// All are read, even if they cannot be written: where processes read together,
/// none may stop.
Status dlrt::saveWeights(const PlanSet &set, const std::string &path,
                         const BufferReader &buffers) {
  if (!GrowingFile::canGrow(path))
    return writeAtOnce(set, path, buffers);
  std::map<std::string, SafetensorsLayout> tensors;
  for (const fb::StateT *state : statesOf(set)) {
    if (!isWeight(*state))
      continue;
    SafetensorsLayout layout = {fileDType(state->dtype), state->shape,
                                wholeBytes(*state)};
    tensors[state->name] = layout;
    for (const std::string &alias : state->aliases)
      tensors[alias] = layout;
  }
  auto file =
      SafetensorsStream::create(path, std::move(tensors), weightMetadata);
  Status written = file.status();
  for (const fb::StateT *state : statesOf(set)) {
    if (!isWeight(*state))
      continue;
    auto values = readWhole(partsOf(set, *state), buffers);
    if (!values)
      return values.takeError();
    if (written.ok())
      written = file->write(state->name, *values);
    for (const std::string &alias : state->aliases)
      if (written.ok())
        written = file->write(alias, *values);
  }
  DLRT_TRY(std::move(written));
  return file->finish();
}

Status dlrt::readWeightsAlong(const PlanSet &set, const BufferReader &buffers) {
  for (const fb::StateT *state : statesOf(set))
    if (isWeight(*state))
      DLRT_TRY(readAlong(partsOf(set, *state), buffers));
  return {};
}

Expected<std::vector<MetricValues>>
dlrt::readMetrics(const PlanSet &set, uint32_t step, fb::ProgramKind kind,
                  const BufferReader &buffers) {
  std::vector<MetricValues> values;
  std::unordered_set<std::string> known;
  for (const auto &plan : set.plans) {
    const fb::ProgramT *program = programOf(*plan->steps[step], kind);
    if (!program)
      return values;
    for (const auto &m : program->metrics) {
      if (!known.insert(m->name).second)
        continue;
      auto data = readWhole(partsOf(set, step, kind, *m), buffers);
      if (!data)
        return data.takeError();
      values.push_back({m->name, m->dtype, m->shape, std::move(*data)});
    }
  }
  return values;
}

Status dlrt::saveMetrics(const std::vector<MetricValues> &metrics,
                         const std::string &path) {
  std::map<std::string, SafetensorsEntry> tensors;
  for (const MetricValues &m : metrics)
    tensors[m.name] = {fileDType(m.dtype), m.shape, m.data};
  return writeSafetensors(path, tensors);
}
