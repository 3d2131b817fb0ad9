#include "runtime/state/Weights.h"

#include "runtime/base/Suggest.h"
#include "runtime/plan/DTypes.h"
#include "runtime/state/LayoutCopy.h"
#include "runtime/state/WeightConversion.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dlrt;

bool dlrt::isWeight(const fb::StateT &state) {
  return state.role == fb::StateRole::Parameter ||
         state.role == fb::StateRole::Buffer;
}

namespace {

/// Finds the file's tensor for each state and says what does not fit.
class Matcher {
public:
  Matcher(const fb::PlanT &plan, const SafetensorsFile &file)
      : plan(plan), file(file) {
    for (const auto &[name, entry] : file.tensors)
      fileNames.push_back(name);
  }

  Status match() {
    for (const auto &state : plan.states)
      if (isWeight(*state))
        DLRT_TRY(matchState(*state));
      else // a checkpoint may give weights; what else it has does not disturb
        planNames.push_back(state->name);
    DLRT_TRY(checkMissing());
    return checkExtra();
  }

  const SafetensorsEntry *entry(const fb::StateT &state) const {
    auto found = matched.find(&state);
    return found == matched.end() ? nullptr : found->second;
  }

private:
  Status matchState(const fb::StateT &state) {
    std::vector<std::string> names = {state.name};
    names.insert(names.end(), state.aliases.begin(), state.aliases.end());
    planNames.insert(planNames.end(), names.begin(), names.end());
    std::string first;
    for (const std::string &name : names) {
      auto found = file.tensors.find(name);
      if (found == file.tensors.end())
        continue;
      const SafetensorsEntry &entry = found->second;
      if (entry.shape != state.shape)
        return {Code::Training,
                fmt::format("'{}' has shape {}, the model's is {}", name,
                            shapeText(entry.shape), shapeText(state.shape))};
      const SafetensorsEntry *&known = matched[&state];
      if (known && (known->dtype != entry.dtype ||
                    !std::equal(known->data.begin(), known->data.end(),
                                entry.data.begin(), entry.data.end())))
        return {Code::Training,
                fmt::format("'{}' and '{}' differ, but the model "
                            "ties them",
                            first, name)};
      known = &entry;
      first = name;
    }
    if (first.empty())
      missing.push_back(state.name);
    return {};
  }

  Status checkMissing() const {
    if (missing.empty())
      return {};
    return {Code::Training,
            fmt::format("{} of the model's weights {} missing: {}{}",
                        missing.size(), missing.size() == 1 ? "is" : "are",
                        list(missing), didYouMean(missing[0], fileNames))};
  }

  Status checkExtra() const {
    std::vector<std::string> extra;
    for (const std::string &name : fileNames)
      if (std::find(planNames.begin(), planNames.end(), name) ==
          planNames.end())
        extra.push_back(name);
    if (extra.empty())
      return {};
    return {Code::Training,
            fmt::format("the model has no weight {}{}", list(extra),
                        didYouMean(extra[0], planNames))};
  }

  static std::string list(const std::vector<std::string> &names) {
    constexpr size_t shown = 5;
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), shown); ++i)
      text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
    if (names.size() > shown)
      text += fmt::format(" and {} more", names.size() - shown);
    return text;
  }

  const fb::PlanT &plan;
  const SafetensorsFile &file;
  std::vector<std::string> fileNames, planNames, missing;
  std::map<const fb::StateT *, const SafetensorsEntry *> matched;
};

} // namespace

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

Status dlrt::loadWeights(const fb::PlanT &plan, const std::string &path,
                         Buffers &buffers, std::vector<std::string> &warnings) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  Matcher matcher(plan, *file);
  DLRT_TRY(matcher.match().within(path));
  for (const auto &state : plan.states)
    if (const SafetensorsEntry *entry = matcher.entry(*state))
      DLRT_TRY(checkConversion(entry->dtype, state->dtype)
                   .within(fmt::format("{}: '{}'", path, state->name)));
  size_t narrowed = 0;
  std::map<const fb::StateT *, std::vector<uint8_t>> converted;
  for (const auto &state : plan.states)
    if (const SafetensorsEntry *entry = matcher.entry(*state)) {
      std::vector<uint8_t> &own = converted[state.get()];
      own = convertElements(*entry, state->dtype, narrowed);
      DLRT_TRY(checkNumbers(*state, own.empty() ? entry->data
                                                : std::span<const uint8_t>(own))
                   .within(path));
    }
  for (const auto &state : plan.states) {
    const SafetensorsEntry *entry = matcher.entry(*state);
    if (!entry)
      continue;
    const std::vector<uint8_t> &own = converted[state.get()];
    DLRT_TRY(writeState(
        plan, *state, own.empty() ? entry->data.data() : own.data(), buffers));
  }
  if (narrowed != 0)
    warnings.push_back(fmt::format("{}: {} values were rounded from f64 to "
                                   "f32",
                                   path, narrowed));
  return {};
}

Expected<std::vector<uint8_t>>
dlrt::readTensor(const fb::PlanT &plan, uint32_t buffer,
                 const std::vector<uint64_t> &shape, const Layout &layout,
                 fb::DType dtype, const BufferReader &buffers) {
  std::vector<uint8_t> stored(plan.buffers[buffer]->bytes);
  DLRT_TRY(buffers.read({buffer}, stored));
  return rowMajorElements(shape, layout, dtype, stored.data());
}

Status dlrt::writeState(const fb::PlanT &plan, const fb::StateT &state,
                        const uint8_t *rowMajor, Buffers &buffers) {
  std::vector<uint8_t> stored(plan.buffers[state.buffer]->bytes);
  storeElements(state.shape, state.layout, sizeOf(state.dtype), rowMajor,
                stored.data());
  return buffers.write({state.buffer}, stored);
}

Status dlrt::saveWeights(const fb::PlanT &plan, const std::string &path,
                         const BufferReader &buffers) {
  std::vector<std::vector<uint8_t>> storage;
  std::map<std::string, SafetensorsEntry> tensors;
  for (const auto &state : plan.states) {
    if (!isWeight(*state))
      continue;
    auto values = readTensor(plan, state->buffer, state->shape, state->layout,
                             state->dtype, buffers);
    if (!values)
      return values.takeError();
    storage.push_back(std::move(*values));
    SafetensorsEntry entry = {fileDType(state->dtype), state->shape,
                              storage.back()};
    tensors[state->name] = entry;
    for (const std::string &alias : state->aliases)
      tensors[alias] = entry;
  }
  return writeSafetensors(path, tensors, {{"format", "pt"}});
}

Expected<std::vector<MetricValues>>
dlrt::readMetrics(const fb::PlanT &plan, const fb::ProgramT &program,
                  const BufferReader &buffers) {
  std::vector<MetricValues> values;
  for (const auto &m : program.metrics) {
    auto data =
        readTensor(plan, m->buffer, m->shape, m->layout, m->dtype, buffers);
    if (!data)
      return data.takeError();
    values.push_back({m->name, m->dtype, m->shape, std::move(*data)});
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
