// What a plan's steps take and give, and a caller's arrays as a data set.
#include "runtime/api/Model.h"
#include "runtime/data/ItemConversion.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/state/Parts.h"

#include <fmt/format.h>

using namespace dlrt;

static_assert(int(DLRUN_F16) == int(FileElement::F16) &&
              int(DLRUN_BOOL) == int(FileElement::Bool) &&
              int(DLRUN_U64) == int(FileElement::U64));

static FileElement elementOf(dlrun_dtype dtype) {
  return static_cast<FileElement>(dtype);
}

static dlrun_dtype publicDType(fb::DType dtype) {
  for (int e = DLRUN_F16; e <= DLRUN_U64; ++e)
    if (dtypeOf(static_cast<FileElement>(e)) == dtype)
      return static_cast<dlrun_dtype>(e);
  return DLRUN_F32; // not reached: each of a plan is one of a file
}

static dlrun_role publicRole(fb::StateRole role) {
  return role == fb::StateRole::Parameter ? DLRUN_PARAMETER
         : role == fb::StateRole::Buffer  ? DLRUN_BUFFER
                                          : DLRUN_SLOT;
}

uint64_t Model::TensorFacts::elements() const {
  uint64_t count = 1;
  for (uint64_t size : shape)
    count *= size; // of a plan that has been checked
  return count;
}
uint64_t Model::TensorFacts::bytes() const {
  return elements() * sizeOf(elementOf(dtype));
}

/// Of a file of its own; else as b.data and b.target.
static std::string inputName(const fb::DatasetT &dataset, size_t component) {
  if (dataset.kind == fb::DatasetKind::Tensor) {
    const std::string &path = dataset.paths[component];
    std::string name = path.substr(path.rfind('/') + 1);
    return name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
  }
  return dataset.kind == fb::DatasetKind::Tokens ? "tokens"
         : component == 0                        ? "data"
                                                 : "target";
}

void Model::describe() {
  const fb::PlanT &plan = session->plan();
  for (uint32_t s = 0; s < plan.steps.size(); ++s) {
    const fb::StepT &step = *plan.steps[s];
    const fb::DatasetT &dataset = *plan.datasets[step.dataset];
    StepFacts facts = {displayName(step),
                       step.training   ? DLRUN_TRAIN
                       : step.predicts ? DLRUN_PREDICT
                                       : DLRUN_EVAL,
                       dataset.batch_size,
                       dataset.batch_size * step.accumulate,
                       {},
                       {}};
    std::vector<bool> used = session->readComponents(s);
    for (size_t c = 0; c < dataset.components.size(); ++c)
      facts.inputs.push_back({inputName(dataset, c),
                              publicDType(dataset.components[c]->dtype),
                              used[c] ? DLRUN_INPUT : DLRUN_UNUSED_INPUT, true,
                              dataset.components[c]->shape});
    for (fb::ProgramKind kind :
         {fb::ProgramKind::Full, fb::ProgramKind::Update}) {
      const fb::ProgramT *program = programOf(step, kind);
      // (An evaluation's update reports what its batches do.)
      if (!program || (kind == fb::ProgramKind::Update && !step.training))
        continue;
      for (const auto &metric : program->metrics) {
        std::vector<uint64_t> shape = metric->shape;
        if (step.predicts)
          shape.erase(shape.begin());
        // (A mean over batches is exact to more than f32.)
        bool isScalar = !step.predicts && shape.empty();
        facts.outputs.push_back(
            {metric->name, isScalar ? DLRUN_F64 : publicDType(metric->dtype),
             DLRUN_OUTPUT, step.predicts, std::move(shape)});
      }
    }
    functions.push_back(std::move(facts));
  }
  for (const fb::StateT *state : statesOf(session->plans()))
    if (isKept(*state)) // accumulators are empty between calls
      stateFacts.push_back({state->name, publicDType(state->dtype),
                            publicRole(state->role), false, state->shape});
}

/// One input of so many items, where the caller has it.
static Status addArray(Dataset &data, const Model::TensorFacts &input,
                       const dlrun_array &array, fb::DType wanted) {
  DatasetComponent &added = data.components.emplace_back();
  if (!array.data) {
    if (input.role == DLRUN_INPUT)
      return {Code::Usage,
              fmt::format("'{}' is read, and no array is given", input.name)};
    return {};
  }
  uint64_t elements = input.elements(), all;
  if (array.dtype < DLRUN_F16 || array.dtype > DLRUN_U64)
    return {Code::Usage, fmt::format("'{}': {} is no dtype", input.name,
                                     static_cast<int>(array.dtype))};
  if (__builtin_mul_overflow(elements, data.items, &all) ||
      all != array.elements)
    return {Code::Usage,
            fmt::format("'{}' has {} elements; {} items of {} are {}",
                        input.name, array.elements, data.items,
                        shapeText(input.shape), all)};
  FileElement element = elementOf(array.dtype);
  added.data = static_cast<const uint8_t *>(array.data);
  added.itemBytes = elements * sizeOf(element);
  if (dtypeOf(element) == wanted)
    return {};
  added.convert = itemConverter(element, wanted);
  if (!added.convert)
    return {Code::Usage, fmt::format("'{}' is {}, and {} is given", input.name,
                                     nameOf(wanted), nameOf(element))};
  added.elements = elements;
  added.batchBytes = elements * sizeOf(wanted);
  return {};
}

Expected<Dataset> Model::datasetOf(size_t step,
                                   std::span<const dlrun_array> inputs,
                                   uint64_t items) const {
  const StepFacts &facts = functions[step];
  const fb::PlanT &plan = session->plan();
  const fb::DatasetT &dataset = *plan.datasets[plan.steps[step]->dataset];
  if (items == 0)
    return Status(Code::Usage, "no items are given");
  if (inputs.size() > facts.inputs.size())
    return Status(Code::Usage,
                  fmt::format("{} arrays are given, the step has {} inputs",
                              inputs.size(), facts.inputs.size()));
  Dataset data;
  data.items = data.distinct = items;
  data.atHand = true;
  data.source = "from the caller";
  for (size_t c = 0; c < facts.inputs.size(); ++c)
    DLRT_TRY(addArray(data, facts.inputs[c],
                      c < inputs.size() ? inputs[c] : dlrun_array{},
                      dataset.components[c]->dtype));
  return data;
}

Status Model::checkOutputs(size_t step, uint64_t items,
                           std::span<const dlrun_buffer> outputs) const {
  const StepFacts &facts = functions[step];
  if (outputs.size() > facts.outputs.size())
    return {Code::Usage,
            fmt::format("{} buffers are given, the step has {} outputs",
                        outputs.size(), facts.outputs.size())};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorFacts &output = facts.outputs[i];
    uint64_t wanted;
    if (__builtin_mul_overflow(output.bytes(), output.perItem ? items : 1,
                               &wanted))
      wanted = ~uint64_t(0);
    if (outputs[i].data && outputs[i].bytes < wanted)
      return {Code::Usage,
              fmt::format("'{}' has {} bytes, there is room for {}",
                          output.name, wanted, outputs[i].bytes)};
  }
  return {};
}
