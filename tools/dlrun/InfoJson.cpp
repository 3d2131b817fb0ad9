#include "runtime/base/JsonWriter.h"
#include "runtime/exec/Cpu.h"
#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/Layout.h"
#include "runtime/plan/MatrixProduct.h"
#include "runtime/plan/Memories.h"
#include "runtime/plan/StepPrograms.h"
#include "tools/dlrun/Commands.h"

#include <algorithm>
#include <cctype>
#include <iterator>

using namespace dlrun;
using namespace dlrt;

/// Enumerators in the spelling of the text form: "parameter", "arena".
static std::string lower(const char *name) {
  std::string text = name;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

static void writeLayout(JsonWriter &json, const Layout &layout) {
  json.key("layout").beginArray();
  for (const fb::PhysicalDim &d : layout)
    json.beginObject()
        .field("dim", d.dim())
        .field("divisor", d.divisor())
        .field("extent", d.extent())
        .field("stride", d.stride())
        .endObject();
  json.endArray();
}

static void writeTensor(JsonWriter &json, fb::DType dtype,
                        const std::vector<uint64_t> &shape,
                        const std::vector<uint64_t> &part, const Layout &layout,
                        uint32_t buffer) {
  json.field("dtype", nameOf(dtype)).array("shape", shape);
  writeLayout(json, layout);
  json.field("layout_text", layoutText(part, layout));
  json.field("buffer", buffer);
}

static void writeSplit(JsonWriter &json, const Split &split) {
  json.key("split").beginArray();
  for (const auto &part : split)
    json.beginObject()
        .field("dim", part->dim)
        .array("axes", part->axes)
        .field("sections", part->sections)
        .endObject();
  json.endArray();
}

static void writeStates(JsonWriter &json, const Mesh &mesh,
                        const fb::PlanT &plan) {
  json.key("states").beginArray();
  for (const auto &state : plan.states) {
    json.beginObject()
        .field("name", state->name)
        .array("aliases", state->aliases)
        .field("role", lower(EnumNameStateRole(state->role)))
        .field("of", state->of);
    writeTensor(json, state->dtype, state->shape,
                boxOf(mesh, state->shape, state->split, plan.ranks[0]).extent,
                state->layout, state->buffer);
    writeSplit(json, state->split);
    json.key("init")
        .beginObject()
        .field("kind", lower(EnumNameInitKind(state->init->kind)))
        .field("a", state->init->a)
        .field("b", state->init->b)
        .field("key", state->init->key)
        .field("low", state->init->low)
        .field("high", state->init->high)
        .endObject();
    json.endObject();
  }
  json.endArray();
}

static void writeBuffers(JsonWriter &json, const fb::PlanT &plan) {
  json.key("buffers").beginArray();
  for (const auto &buffer : plan.buffers)
    json.beginObject()
        .field("space", lower(EnumNameSpace(buffer->space)))
        .field("memory", nameOf(buffer->memory))
        .field("offset", buffer->offset)
        .field("bytes", buffer->bytes)
        .field("name", buffer->name)
        .endObject();
  json.endArray();
}

static void writeKernels(JsonWriter &json, const fb::PlanT &plan) {
  json.key("kernels").beginArray();
  for (const auto &kernel : plan.kernels) {
    json.beginObject()
        .field("name", kernel->name)
        .field("strategy", kernel->strategy)
        .field("target", lower(EnumNameTarget(variantOf(*kernel).target)))
        .field("entry", variantOf(*kernel).entry)
        .field("tiles", variantOf(*kernel).tiles)
        .field("scratch_bytes", variantOf(*kernel).scratch_bytes)
        .field("threads", variantOf(*kernel).threads)
        .field("shared_bytes", variantOf(*kernel).shared_bytes)
        .array("binding_bytes", kernel->binding_bytes)
        .array("binding_aligns", kernel->binding_aligns)
        .array("writes", kernel->writes);
    json.key("constants").beginArray();
    for (const fb::ConstantRange &range : kernel->constants)
      json.beginObject()
          .field("min", range.min())
          .field("max", range.max())
          .field("multiple_of", range.multiple_of())
          .endObject();
    json.endArray()
        .array("ops", kernel->ops)
        .field("flops", kernel->flops)
        .field("bytes", kernel->bytes)
        .endObject();
  }
  json.endArray();
}

static void writeSettings(JsonWriter &json, const fb::PlanT &plan) {
  json.key("settings").beginArray();
  for (const auto &setting : plan.settings)
    json.beginObject()
        .field("name", setting->name)
        .field("value", setting->value)
        .endObject();
  json.endArray();
}

static void writePlateaus(JsonWriter &json, const fb::PlanT &plan) {
  json.key("plateaus").beginArray();
  for (const auto &plateau : plan.plateaus) {
    std::vector<std::string> settings;
    for (uint32_t place : plateau->settings)
      settings.push_back(plan.settings[place]->name);
    json.beginObject()
        .field("metric", plateau->metric)
        .array("settings", settings)
        .field("mode", lower(EnumNamePlateauMode(plateau->mode)))
        .field("factor", plateau->factor)
        .field("patience", plateau->patience)
        .field("threshold", plateau->threshold)
        .field("threshold_mode",
               lower(EnumNameThresholdMode(plateau->threshold_mode)))
        .field("cooldown", plateau->cooldown)
        .field("min_lr", plateau->min_lr)
        .field("eps", plateau->eps)
        .endObject();
  }
  json.endArray();
}

static void writeDatasets(JsonWriter &json, const fb::PlanT &plan) {
  json.key("datasets").beginArray();
  for (const auto &data : plan.datasets) {
    json.beginObject()
        .field("kind", lower(EnumNameDatasetKind(data->kind)))
        .field("root", data->root)
        .array("paths", data->paths)
        .field("train", data->train)
        .field("items", data->items)
        .field("batch_size", data->batch_size)
        .field("shuffle", data->shuffle)
        .field("drop_last", data->drop_last)
        .field("stride", data->stride)
        .array("classes", data->classes);
    json.key("transforms").beginArray();
    for (const auto &transform : data->transforms)
      json.beginObject()
          .field("kind", lower(EnumNameImageTransformKind(transform->kind)))
          .field("height", transform->height)
          .field("width", transform->width)
          .array("numbers", transform->numbers)
          .endObject();
    json.endArray();
    json.key("selections").beginArray();
    for (const auto &one : data->selections)
      json.beginObject()
          .field("first", one->first)
          .field("items", one->items)
          .field("of", one->of)
          .field("shuffled", one->shuffled)
          .field("seed", one->seed)
          .endObject();
    json.endArray();
    if (data->sampler)
      json.key("sampler")
          .beginObject()
          .field("weights", data->sampler->weights)
          .field("of", data->sampler->of)
          .endObject();
    json.key("components").beginArray();
    for (const auto &component : data->components)
      json.beginObject()
          .field("dtype", nameOf(component->dtype))
          .array("shape", component->shape)
          .endObject();
    json.endArray().endObject();
  }
  json.endArray();
}

static void writeRange(JsonWriter &json, const fb::Range &range) {
  json.field("buffer", range.buffer())
      .field("offset", range.offset())
      .field("bytes", range.bytes());
}

static void writeWork(JsonWriter &json, const fb::LaunchT &launch) {
  json.field("kernel", launch.kernel).array("constants", launch.constants);
  if (!launch.constant_steps.empty())
    json.array("constant_steps", launch.constant_steps);
}

/// What a copy does is what it touches.
static void writeWork(JsonWriter &, const fb::CopyT &) {}

static void writeWork(JsonWriter &json, const fb::CommunicateT &exchange) {
  json.array("axes", exchange.axes)
      .field("relative", exchange.relative)
      .field("order", exchange.order);
  for (const auto &[name, transfers] : {std::pair("sends", &exchange.sends),
                                        {"receives", &exchange.receives}}) {
    json.key(name).beginArray();
    for (const fb::Transfer &transfer : *transfers) {
      json.beginObject()
          .field("member", transfer.member())
          .field("members", transfer.members())
          .field("same", transfer.same());
      writeRange(json, transfer.range());
      json.endObject();
    }
    json.endArray();
  }
}

static void writeWork(JsonWriter &json, const fb::MultiplyT &product) {
  writeWork(json, *product.launch);
  json.field("batch", product.batch)
      .field("m", product.m)
      .field("n", product.n)
      .field("k", product.k)
      .field("arithmetic", nameOf(product.arithmetic))
      .field("workspace", product.workspace);
  json.key("matrices").beginArray();
  for (const fb::MatrixPlace &matrix : product.matrices)
    json.beginObject()
        .field("binding", matrix.binding())
        .field("stride", matrix.stride())
        .field("offset", matrix.offset())
        .field("batch_stride", matrix.batch_stride())
        .field("transposed", matrix.transposed())
        .endObject();
  json.endArray();
  if (product.bias != -1)
    json.field("bias", product.bias);
}

static void writeProgram(JsonWriter &json, const Mesh &mesh,
                         const fb::PlanT &plan, const char *phase,
                         const fb::ProgramT &program) {
  json.beginObject().field("phase", phase);
  json.field("batch_items", program.batch_items).array("split", program.split);
  json.key("commands").beginArray();
  for (const auto &command : program.commands) {
    json.beginObject()
        .field("kind", lower(EnumNameWork(command->work.type)))
        .field("name", factsOf(plan, *command).title);
    visitWork(*command, [&](const auto &work) { writeWork(json, work); });
    json.key("accesses").beginArray();
    for (const Access &access : accessesOf(plan, *command)) {
      json.beginObject();
      writeRange(json, access.range);
      json.field("writes", access.writes).endObject();
    }
    json.endArray()
        .field("resource", lower(EnumNameResource(command->resource)))
        .array("deps", command->deps)
        .field("serial", command->serial)
        .field("seconds", command->seconds)
        .array("ops", command->ops)
        .endObject();
  }
  json.endArray();
  json.key("metrics").beginArray();
  for (const auto &metric : program.metrics) {
    json.beginObject().field("name", metric->name);
    writeTensor(json, metric->dtype, metric->shape,
                boxOf(mesh, metric->shape, metric->split, plan.ranks[0]).extent,
                metric->layout, metric->buffer);
    writeSplit(json, metric->split);
    json.endObject();
  }
  json.endArray();
  json.key("errors").beginArray();
  for (const auto &flag : program.errors)
    json.beginObject()
        .field("buffer", flag->buffer)
        .field("message", flag->message)
        .field("source", flag->source)
        .endObject();
  json.endArray().endObject();
}

static void writeSteps(JsonWriter &json, const Mesh &mesh,
                       const fb::PlanT &plan) {
  json.key("steps").beginArray();
  for (const auto &step : plan.steps) {
    json.beginObject()
        .field("name", displayName(*step))
        .field("training", step->training)
        .field("predicts", step->predicts)
        .field("window", step->window)
        .field("by_position", step->by_position)
        .field("dataset", step->dataset)
        .field("accumulate", step->accumulate);
    json.key("programs").beginArray();
    const char *phases[] = {"batch", "short_batch", "update", "item",
                            "initial"};
    static_assert(std::size(phases) == programKinds);
    for (const auto &program : step->programs)
      writeProgram(json, mesh, plan, phases[static_cast<size_t>(program->kind)],
                   *program);
    json.endArray().endObject();
  }
  json.endArray();
}

/// What each class of ranks has; what stands beside it is the first one's.
static void writePlans(JsonWriter &json, const LoadedPlan &loaded) {
  json.key("plans").beginArray();
  for (const auto &plan : loaded.plans) {
    json.beginObject()
        .array("ranks", plan->ranks)
        .field("arena_bytes", plan->arena_bytes);
    json.key("state_bytes").beginObject();
    for (const auto &[role, bytes] : stateBytes(*plan))
      json.field(lower(EnumNameStateRole(role)), bytes);
    json.endObject();
    if (plan != loaded.plans.front()) {
      writeStates(json, loaded.mesh, *plan);
      writeBuffers(json, *plan);
      writeSteps(json, loaded.mesh, *plan);
    }
    json.endObject();
  }
  json.endArray();
}

std::string dlrun::planAsJson(const LoadedPlan &loaded,
                              const std::string &path) {
  const fb::PlanT &plan = loaded.first();
  JsonWriter json(/*indent=*/true);
  json.beginObject()
      .field("plan", path)
      .field("producer", plan.producer)
      .field("model", plan.model)
      .field("dtype", nameOf(plan.dtype))
      .field("machine_hash", plan.machine_hash)
      .field("file_bytes", loaded.file.bytes().size())
      .field("parameters", plan.parameters)
      .array("constants", plan.constants)
      .field("arena_bytes", plan.arena_bytes);
  json.key("mesh").beginArray();
  for (const Mesh::Axis &axis : loaded.mesh.axes)
    json.beginObject()
        .field("name", axis.name)
        .field("size", axis.size)
        .endObject();
  json.endArray();
  json.key("images").beginArray();
  for (const auto &image : plan.images)
    json.beginObject()
        .field("target", lower(EnumNameTarget(image->target)))
        .field("features", image->features)
        .field("section", image->section)
        .field("bytes", loaded.sections[image->section].bytes.size())
        .field("supported", cpuSupports(image->features))
        .endObject();
  json.endArray();
  writePlans(json, loaded);
  writeStates(json, loaded.mesh, plan);
  writeBuffers(json, plan);
  writeKernels(json, plan);
  writeSettings(json, plan);
  writePlateaus(json, plan);
  writeDatasets(json, plan);
  writeSteps(json, loaded.mesh, plan);
  json.key("sources").beginArray();
  for (const auto &source : plan.sources)
    json.beginObject()
        .field("op", source->op)
        .field("module", source->module_)
        .field("location", source->location)
        .endObject();
  json.endArray().endObject();
  return json.text() + "\n";
}
