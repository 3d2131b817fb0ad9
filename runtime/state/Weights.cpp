#include "runtime/state/Weights.h"

#include "runtime/base/Suggest.h"
#include "runtime/plan/DTypes.h"
#include "runtime/state/LayoutCopy.h"
#include "runtime/state/WeightConversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace dlrt;

bool dlrt::isWeight(const fb::StateT &state) {
  return state.role == fb::StateRole::Parameter ||
         state.role == fb::StateRole::Buffer;
}

static const char *fileDType(fb::DType dtype) {
  switch (dtype) {
  case fb::DType::F32:
    return "F32";
  case fb::DType::F64:
    return "F64";
  case fb::DType::I64:
    return "I64";
  case fb::DType::I32:
    return "I32";
  case fb::DType::U8:
    return "U8";
  case fb::DType::Bool:
    return "BOOL";
  }
  return "";
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

Status dlrt::loadWeights(const fb::PlanT &plan, const std::string &path,
                         const StateAddress &address,
                         std::vector<std::string> &warnings) {
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
  for (const auto &state : plan.states) {
    const SafetensorsEntry *entry = matcher.entry(*state);
    if (!entry)
      continue;
    const fb::BufferT &buffer = *plan.buffers[state->buffer];
    uint8_t *stored = address(state->buffer);
    std::memset(stored, 0, buffer.bytes);
    std::vector<uint8_t> converted =
        convertElements(*entry, state->dtype, narrowed);
    storeElements(state->shape, state->layout, sizeOf(state->dtype),
                  converted.empty() ? entry->data.data() : converted.data(),
                  stored);
  }
  if (narrowed != 0)
    warnings.push_back(fmt::format("{}: {} values were rounded from f64 to "
                                   "f32",
                                   path, narrowed));
  return {};
}

static std::vector<uint8_t> rowMajor(const std::vector<uint64_t> &shape,
                                     const Layout &layout, fb::DType dtype,
                                     const uint8_t *stored) {
  uint64_t count = 1;
  for (uint64_t extent : shape)
    count *= extent;
  std::vector<uint8_t> data(count * sizeOf(dtype));
  loadElements(shape, layout, sizeOf(dtype), stored, data.data());
  return data;
}

Status dlrt::saveWeights(const fb::PlanT &plan, const std::string &path,
                         const StateAddress &address) {
  std::vector<std::vector<uint8_t>> storage;
  std::map<std::string, SafetensorsEntry> tensors;
  for (const auto &state : plan.states) {
    if (!isWeight(*state))
      continue;
    storage.push_back(rowMajor(state->shape, state->layout, state->dtype,
                               address(state->buffer)));
    SafetensorsEntry entry = {fileDType(state->dtype), state->shape,
                              storage.back()};
    tensors[state->name] = entry;
    for (const std::string &alias : state->aliases)
      tensors[alias] = entry;
  }
  return writeSafetensors(path, tensors, {{"format", "pt"}});
}

std::vector<MetricValues> dlrt::readMetrics(const fb::ProgramT &program,
                                            const StateAddress &address) {
  std::vector<MetricValues> values;
  for (const auto &m : program.metrics)
    values.push_back(
        {m->name, m->dtype, m->shape,
         rowMajor(m->shape, m->layout, m->dtype, address(m->buffer))});
  return values;
}

Status dlrt::saveMetrics(const std::vector<MetricValues> &metrics,
                         const std::string &path) {
  std::map<std::string, SafetensorsEntry> tensors;
  for (const MetricValues &m : metrics)
    tensors[m.name] = {fileDType(m.dtype), m.shape, m.data};
  return writeSafetensors(path, tensors);
}
