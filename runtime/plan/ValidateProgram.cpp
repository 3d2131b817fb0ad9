#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/Layout.h"
#include "runtime/plan/MatrixProduct.h"
#include "runtime/plan/Memories.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/plan/Transfers.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>

using namespace dlrt;

namespace {

/// Of a program: some hundreds of tensors among some thousands of ranks. A few
/// transfers could ask for any number, and each message takes some memory as it
/// is prepared.
constexpr uint64_t mostMessages = 1 << 25;

/// Checks one program of a step.
class ProgramChecker {
public:
  ProgramChecker(const Mesh &mesh, const fb::PlanT &plan,
                 const fb::DatasetT *dataset, const fb::ProgramT &program,
                 std::string place)
      : mesh(mesh), plan(plan), dataset(dataset), program(program),
        place(std::move(place)) {}

  Status check() {
    DLRT_TRY(checkBatch());
    for (size_t i = 0; i < program.commands.size(); ++i)
      DLRT_TRY(checkCommand(*program.commands[i], i));
    DLRT_TRY(checkMetrics());
    for (const auto &flag : program.errors) {
      if (flag->buffer >= plan.buffers.size() ||
          plan.buffers[flag->buffer]->space != fb::Space::Arena ||
          plan.buffers[flag->buffer]->bytes < sizeof(int32_t))
        return planError(place, "an error flag has no i32 in the arena");
      if (flag->source >= plan.sources.size() || !isPrintable(flag->message))
        return planError(place, "an error flag has no source");
    }
    return {};
  }

private:
  Status checkBatch() {
    if (std::string what = checkAxes(mesh, program.split); !what.empty())
      return planError(place, "its batch: " + what);
    if (!dataset && !program.split.empty())
      return planError(place, "an update has no batch to split");
    items = itemsOf(mesh, program, plan.ranks.front()).size;
    if (!program.split.empty())
      for (uint32_t rank : plan.ranks)
        if (itemsOf(mesh, program, rank).size != items)
          return planError(
              place, fmt::format("ranks {} and {} run one plan and have {} and "
                                 "{} items of a batch",
                                 plan.ranks.front(), rank, items,
                                 itemsOf(mesh, program, rank).size));
    return {};
  }

  Status checkCommand(const fb::CommandT &c, size_t index) {
    auto error = [&](std::string_view what) {
      return planError(fmt::format("{} command {}", place, index), what);
    };
    if (!isKnown(c))
      return error(fmt::format("unknown kind {}; another version wrote it",
                               static_cast<int>(c.work.type)));
    std::string what =
        visitWork(c, [&](const auto &w) { return checkWork(w); });
    if (!what.empty())
      return error(what);
    if (c.resource != resourceOf(c))
      return error("its resource is not that of its kind");
    if (!(c.seconds >= 0 && c.seconds <= std::numeric_limits<double>::max()))
      return error("its seconds are no time");
    for (uint32_t op : c.ops)
      if (op >= plan.sources.size())
        return error(fmt::format("source {} does not exist", op));
    for (uint32_t dep : c.deps)
      if (dep >= index)
        return error(fmt::format("it waits for command {}, which is not "
                                 "before it",
                                 dep));
    return {};
  }

  /// What is wrong with a launch, or an empty string.
  std::string checkWork(const fb::LaunchT &launch) {
    if (launch.kernel >= plan.kernels.size())
      return fmt::format("kernel {} does not exist", launch.kernel);
    const fb::KernelT &kernel = *plan.kernels[launch.kernel];
    if (launch.bindings.size() != kernel.binding_bytes.size())
      return fmt::format("{} bindings, kernel '{}' has {}",
                         launch.bindings.size(), kernel.name,
                         kernel.binding_bytes.size());
    for (size_t b = 0; b < launch.bindings.size(); ++b)
      if (std::string what = checkBinding(launch.bindings[b], kernel, b);
          !what.empty())
        return fmt::format("binding {}: {}", b, what);
    if (launch.constants.size() != kernel.constants.size())
      return fmt::format("{} constants, kernel '{}' has {}",
                         launch.constants.size(), kernel.name,
                         kernel.constants.size());
    if (launch.constant_steps.empty())
      return checkConstants(launch.constants, kernel);
    if (launch.constant_steps.size() !=
        launch.constants.size() * mesh.axes.size())
      return fmt::format("{} steps for {} constants along {} axes",
                         launch.constant_steps.size(), launch.constants.size(),
                         mesh.axes.size());
    std::vector<int64_t> values;
    for (uint32_t rank : plan.ranks) {
      if (!constantsOf(mesh, launch, plan.ranks.front(), rank, values))
        return fmt::format("a constant of rank {} overflows", rank);
      if (std::string what = checkConstants(values, kernel); !what.empty())
        return fmt::format("rank {}: {}", rank, what);
    }
    return {};
  }

  static std::string checkConstants(const std::vector<int64_t> &values,
                                    const fb::KernelT &kernel) {
    for (size_t n = 0; n < values.size(); ++n) {
      const fb::ConstantRange &range = kernel.constants[n];
      if (values[n] < range.min() || values[n] > range.max() ||
          values[n] % range.multiple_of() != 0)
        return fmt::format(
            "constant {} is {}, kernel '{}' takes {} to {} in multiples of {}",
            n, values[n], kernel.name, range.min(), range.max(),
            range.multiple_of());
    }
    return {};
  }

  std::string checkWork(const fb::CopyT &copy) {
    fb::Range from(copy.from, copy.from_offset, copy.bytes);
    fb::Range to(copy.to, copy.to_offset, copy.bytes);
    for (const auto &[range, writes] : {std::pair(from, false), {to, true}})
      if (std::string what = checkRange(range, writes); !what.empty())
        return what;
    if (placeOf(from) == placeOf(to))
      return "it copies bytes onto themselves";
    if (copy.bytes >= copyTileBytes << 31)
      return fmt::format("it copies {} bytes", copy.bytes);
    return {};
  }

  std::string checkWork(const fb::MultiplyT &product) {
    const fb::LaunchT &launch = *product.launch;
    if (std::string what = checkWork(launch); !what.empty())
      return what;
    const fb::KernelT &kernel = *plan.kernels[launch.kernel];
    for (const auto &variant : kernel.variants)
      if (variant->target != fb::Target::Cuda)
        return fmt::format("kernel '{}' is not for CUDA, whose library it "
                           "stands in for",
                           kernel.name);
    if (std::string what = checkProduct(product, kernel); !what.empty())
      return what;
    if (product.workspace >= plan.buffers.size())
      return fmt::format("buffer {} does not exist", product.workspace);
    const fb::BufferT &workspace = *plan.buffers[product.workspace];
    fb::Range whole(product.workspace, 0, workspace.bytes);
    if (std::string what = checkRange(whole, true); !what.empty())
      return what;
    for (size_t b = 0; b < launch.bindings.size(); ++b) {
      const fb::Range &range = launch.bindings[b];
      const fb::BufferT &buffer = *plan.buffers[range.buffer()];
      if (kernel.writes[b] && !isOperand(product, b) &&
          range.buffer() == product.workspace && range.offset() == 0 &&
          range.bytes() == workspace.bytes)
        continue; // the kernel's own, which runs where the library does not
      uint64_t begin = buffer.offset + range.offset();
      if (buffer.space == fb::Space::Arena &&
          begin < workspace.offset + workspace.bytes &&
          workspace.offset < begin + range.bytes())
        return "its workspace is where its matrices are";
    }
    return {};
  }

  static bool isOperand(const fb::MultiplyT &product, size_t binding) {
    return product.bias == static_cast<int64_t>(binding) ||
           std::any_of(product.matrices.begin(), product.matrices.end(),
                       [&](const fb::MatrixPlace &matrix) {
                         return matrix.binding() == binding;
                       });
  }

  std::string checkWork(const fb::CommunicateT &exchange) {
    if (std::string what = checkAxes(mesh, exchange.axes); !what.empty())
      return what;
    uint32_t members = mesh.groupSize(exchange.axes);
    if (members < 2)
      return "it exchanges with nobody";
    std::string what = checkTransfers(exchange.sends, false, members);
    if (what.empty())
      what = checkTransfers(exchange.receives, true, members);
    if (!what.empty())
      return what;
    for (const fb::Transfer &receive : exchange.receives)
      if (receive.same() && receive.members() != 1)
        return fmt::format("{} members write the same bytes of buffer {}",
                           receive.members(), receive.range().buffer());
    return overwrites(exchange) ? "it receives where it sends from" : "";
  }

  /// Where a checked range begins. Only a kernel may write over what it reads.
  std::pair<fb::Space, uint64_t> placeOf(const fb::Range &range) const {
    const fb::BufferT &buffer = *plan.buffers[range.buffer()];
    return {buffer.space, buffer.offset + range.offset()};
  }

  /// Whether it receives bytes of the arena that it sends.
  bool overwrites(const fb::CommunicateT &exchange) const {
    std::map<uint64_t, uint64_t> sent; // by begin: the last end up to there
    for (const fb::Transfer &send : exchange.sends)
      if (auto [space, begin] = placeOf(send.range());
          space == fb::Space::Arena)
        sent[begin] = std::max(sent[begin], begin + wholeOf(send).bytes());
    uint64_t last = 0;
    for (auto &[begin, end] : sent)
      end = last = std::max(last, end);
    return std::any_of(exchange.receives.begin(), exchange.receives.end(),
                       [&](const fb::Transfer &receive) {
                         uint64_t begin = placeOf(receive.range()).second;
                         uint64_t bytes = wholeOf(receive).bytes();
                         auto after = sent.lower_bound(begin + bytes);
                         return bytes != 0 && after != sent.begin() &&
                                std::prev(after)->second > begin;
                       });
  }

  std::string checkTransfers(const std::vector<fb::Transfer> &transfers,
                             bool writes, uint32_t members) {
    for (const fb::Transfer &transfer : transfers) {
      if (transfer.member() >= members)
        return fmt::format("member {} of {}", transfer.member(), members);
      if (transfer.members() == 0 ||
          transfer.members() > members - transfer.member())
        return fmt::format("{} members from member {} of {} on",
                           transfer.members(), transfer.member(), members);
      if (std::string what = checkRange(transfer.range(), writes);
          !what.empty())
        return what;
      const fb::Range &range = transfer.range();
      uint64_t rest = plan.buffers[range.buffer()]->bytes - range.offset();
      if (!transfer.same() && range.bytes() != 0 &&
          transfer.members() > rest / range.bytes())
        return fmt::format("{} times {} bytes from byte {} on leave buffer {}",
                           transfer.members(), range.bytes(), range.offset(),
                           range.buffer());
      messages += transfer.members();
      if (messages > mostMessages)
        return fmt::format("more than {} messages in one program",
                           mostMessages);
    }
    return {};
  }

  std::string checkBinding(const fb::Range &range, const fb::KernelT &kernel,
                           size_t binding) {
    if (std::string what = checkRange(range, kernel.writes[binding]);
        !what.empty())
      return what;
    fb::Memory memory = plan.buffers[range.buffer()]->memory;
    for (const auto &variant : kernel.variants)
      if (!reaches(variant->target, memory))
        return fmt::format("buffer {} is in {} memory, which kernel '{}' does "
                           "not reach",
                           range.buffer(), nameOf(memory), kernel.name);
    if (range.bytes() < kernel.binding_bytes[binding])
      return fmt::format("{} bytes of buffer {}, kernel '{}' needs {}",
                         range.bytes(), range.buffer(), kernel.name,
                         kernel.binding_bytes[binding]);
    if (range.offset() % kernel.binding_aligns[binding] != 0)
      return fmt::format("byte {} of buffer {} is no multiple of {}, which "
                         "kernel '{}' needs",
                         range.offset(), range.buffer(),
                         kernel.binding_aligns[binding], kernel.name);
    return {};
  }

  /// Ranges lie in their buffers; only the arena is written.
  std::string checkRange(const fb::Range &range, bool writes) {
    uint32_t index = range.buffer();
    if (index >= plan.buffers.size())
      return fmt::format("buffer {} does not exist", index);
    const fb::BufferT &buffer = *plan.buffers[index];
    if (range.offset() > buffer.bytes ||
        range.bytes() > buffer.bytes - range.offset())
      return fmt::format("{} bytes from byte {} on leave buffer {}, which has "
                         "{}",
                         range.bytes(), range.offset(), index, buffer.bytes);
    if (buffer.space != fb::Space::Arena && writes)
      return fmt::format("buffer {} is read-only", index);
    if (buffer.space != fb::Space::Input)
      return {};
    if (!dataset)
      return "this program has no input batch";
    if (buffer.offset >= dataset->components.size())
      return fmt::format("the batch has no component {}", buffer.offset);
    uint64_t bytes;
    if (!itemBytes(*dataset->components[buffer.offset], bytes) ||
        __builtin_mul_overflow(bytes, items, &bytes) || buffer.bytes != bytes)
      return fmt::format("buffer {} has {} bytes, component {} of the batch "
                         "has {}",
                         index, buffer.bytes, buffer.offset, bytes);
    return {};
  }

  Status checkMetrics() {
    std::unordered_set<std::string> names;
    for (const auto &m : program.metrics) {
      auto error = [&](std::string_view what) {
        return planError(fmt::format("{} metric '{}'", place, m->name), what);
      };
      if (!isPrintable(m->name))
        return planError(place, "a metric's name has control characters");
      if (m->name.empty() || !names.insert(m->name).second)
        return error("the name is empty or used twice");
      if (!isOfPorts(m->dtype))
        return error("unknown dtype");
      if (m->buffer >= plan.buffers.size() ||
          plan.buffers[m->buffer]->space != fb::Space::Arena)
        return error("it has no buffer in the arena");
      std::string what = checkTensor(mesh, plan, m->shape, m->split, m->layout,
                                     m->dtype, m->buffer);
      if (!what.empty())
        return error(what);
    }
    return {};
  }

  const Mesh &mesh;
  const fb::PlanT &plan;
  const fb::DatasetT *dataset;
  const fb::ProgramT &program;
  std::string place;
  uint64_t items = 0;    ///< of a batch, on one rank
  uint64_t messages = 0; ///< of the transfers so far
};

} // namespace

/// The short program must report what the full one reports.
static bool sameMetrics(const fb::ProgramT &a, const fb::ProgramT &b) {
  if (a.metrics.size() != b.metrics.size())
    return false;
  for (size_t i = 0; i < a.metrics.size(); ++i)
    if (a.metrics[i]->name != b.metrics[i]->name ||
        a.metrics[i]->dtype != b.metrics[i]->dtype ||
        a.metrics[i]->shape.size() != b.metrics[i]->shape.size())
      return false;
  return true;
}

/// What a step is that generates tokens: of a row of them it makes logits.
static Status checkWindow(const fb::StepT &step, const fb::DatasetT &dataset,
                          const std::string &place) {
  if (step.window == 0)
    return step.by_position
               ? planError(place, "it takes tokens, and has no window")
               : Status();
  const fb::ProgramT *full = programOf(step, fb::ProgramKind::Full);
  if (!step.predicts || dataset.batch_size != 1 || !full ||
      dataset.components.empty() || full->metrics.size() != 1 ||
      step.window > uint64_t(1) << 40)
    return planError(place, "it has a window, and does not predict one item "
                            "at a time");
  const fb::InputComponentT &tokens = *dataset.components[0];
  const fb::MetricT &logits = *full->metrics[0];
  uint64_t length = step.by_position ? 1 : step.window;
  bool areTokens =
      tokens.shape.size() == 1 && tokens.shape[0] >= length &&
      (tokens.dtype == fb::DType::I64 || tokens.dtype == fb::DType::I32 ||
       tokens.dtype == fb::DType::U8);
  bool areLogits =
      logits.shape.size() == 3 && logits.shape[0] == 1 &&
      logits.shape[1] == length && logits.shape[2] != 0 &&
      (logits.dtype == fb::DType::F32 || logits.dtype == fb::DType::F64);
  if (!areTokens || !areLogits)
    return planError(place, "it does not make logits of a window of tokens");
  return {};
}

static Status checkShape(const fb::StepT &step, const fb::DatasetT &dataset,
                         const std::string &place) {
  if (step.accumulate == 0)
    return planError(place, "it accumulates 0 micro-batches");
  if (step.accumulate > 1 && !step.training)
    return planError(place, "only training accumulates");
  for (size_t i = 0; i < step.programs.size(); ++i)
    if (step.programs[i]->kind > fb::ProgramKind::MAX ||
        (i != 0 && step.programs[i]->kind <= step.programs[i - 1]->kind))
      return planError(place,
                       "a program is of an unknown kind, or its programs "
                       "are not one of each kind in their order");
  const fb::ProgramT *full = programOf(step, fb::ProgramKind::Full);
  const fb::ProgramT *rest = programOf(step, fb::ProgramKind::Short);
  const fb::ProgramT *update = programOf(step, fb::ProgramKind::Update);
  const fb::ProgramT *item = programOf(step, fb::ProgramKind::Item);
  if (item && (step.training || item->batch_items != 1))
    return planError(place, "a program for one item belongs to an evaluation "
                            "or a prediction");
  bool addsUp = step.accumulate > 1 || (item && !step.predicts);
  if (addsUp != (update != nullptr))
    return planError(place, "an update belongs to accumulated micro-batches, "
                            "or to the items of an evaluation");
  if (step.training && step.predicts)
    return planError(place, "it trains and predicts");
  const fb::ProgramT *initial = programOf(step, fb::ProgramKind::Initial);
  if (initial && !initial->metrics.empty())
    return planError(place, "its initial values report metrics");
  if (!isPrintable(step.mixes))
    return planError(place, "a text has control characters");
  DLRT_TRY(checkWindow(step, dataset, place));
  for (const auto &program : step.programs)
    for (const auto &result : program->metrics)
      if (step.predicts &&
          (result->shape.empty() || result->shape[0] != program->batch_items))
        return planError(place, "what it predicts has no row for each item");
  // Evaluations and predictions take all items.
  bool drops = dataset.drop_last && step.training;
  if (drops && dataset.items < dataset.batch_size)
    return planError(place, fmt::format("{} items do not fill one batch of {}",
                                        dataset.items, dataset.batch_size));
  uint64_t left = drops ? 0 : dataset.items % dataset.batch_size;
  if (!full || (left != 0) != (rest != nullptr))
    return planError(place, fmt::format("it has {} batch programs, {} are "
                                        "needed for {} items in batches of {}",
                                        (full != nullptr) + (rest != nullptr),
                                        left == 0 ? 1 : 2, dataset.items,
                                        dataset.batch_size));
  if (full->batch_items != dataset.batch_size ||
      (rest && rest->batch_items != left))
    return planError(place, "its programs and its batches differ in size");
  if (rest && !sameMetrics(*full, *rest))
    return planError(place, "its two programs report different metrics");
  if (item && !sameMetrics(*full, step.predicts ? *item : *update))
    return planError(place, "single items report other metrics than a batch");
  return {};
}

Status dlrt::validateSteps(const Mesh &mesh, const fb::PlanT &plan) {
  std::unordered_set<std::string> names;
  for (const auto &step : plan.steps) {
    if (!isPrintable(step->name))
      return planError("steps", "a name has control characters");
    std::string place = fmt::format("step '{}'", step->name);
    if (step->name.empty() || !names.insert(step->name).second)
      return planError(place, "the name is empty or used twice");
    if (step->dataset >= plan.datasets.size())
      return planError(place,
                       fmt::format("dataset {} does not exist", step->dataset));
    const fb::DatasetT &dataset = *plan.datasets[step->dataset];
    DLRT_TRY(checkShape(*step, dataset, place));
    for (const auto &part : step->programs) {
      DLRT_TRY(ProgramChecker(mesh, plan,
                              hasBatch(part->kind) ? &dataset : nullptr, *part,
                              fmt::format("{} {}", place, nameOf(part->kind)))
                   .check());
    }
  }
  return {};
}
