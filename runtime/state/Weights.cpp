#include "runtime/state/Weights.h"

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

Status dlrt::loadWeights(const fb::PlanT &plan,
                         const std::vector<WeightSource> &sources, bool partial,
                         Buffers &buffers, std::vector<std::string> &warnings) {
  std::vector<SafetensorsFile> files;
  std::string names;
  for (const WeightSource &source : sources) {
    Expected<SafetensorsFile> file = SafetensorsFile::open(source.path);
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
    names += (names.empty() ? "" : ", ") + source.path;
  }
  WeightMatch match(plan, sources, files);
  DLRT_TRY(match.find());
  DLRT_TRY(judge(match, names, partial, warnings));
  std::vector<size_t> narrowed(files.size());
  std::map<const fb::StateT *, std::vector<uint8_t>> converted;
  for (const auto &state : plan.states)
    if (const WeightMatch::Chosen *tensor = match.of(*state)) {
      std::vector<uint8_t> &own = converted[state.get()];
      own =
          convertElements(*tensor->entry, state->dtype, narrowed[tensor->file]);
      DLRT_TRY(checkNumbers(*state, own.empty() ? tensor->entry->data
                                                : std::span<const uint8_t>(own))
                   .within(sources[tensor->file].path));
    }
  for (const auto &[state, own] : converted)
    DLRT_TRY(writeState(plan, *state,
                        own.empty() ? match.of(*state)->entry->data.data()
                                    : own.data(),
                        buffers));
  for (size_t f = 0; f < files.size(); ++f)
    if (narrowed[f] != 0)
      warnings.push_back(fmt::format("{}: {} values were rounded from f64 to "
                                     "f32",
                                     sources[f].path, narrowed[f]));
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
