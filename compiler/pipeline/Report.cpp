#include "compiler/pipeline/Report.h"
#include "compiler/pipeline/PredictTime.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/MadeAgain.h"
#include "passes/schedule/Sources.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace mlir;

namespace dl {
namespace {

int64_t alignedBytes(plan::BufferOp buffer) {
  return llvm::alignTo(buffer.getBytes(), plan::alignment);
}

bool isTemporary(plan::BufferOp buffer) {
  return buffer.getSpace() == plan::Space::Arena && !buffer.getPinned();
}

struct Life {
  unsigned begin, end;
};

/// Finds the command during which most bytes of temporaries are alive.
void describeMemory(plan::ProgramOp program, const SymbolTable &kernels,
                    ProgramReport &report) {
  llvm::MapVector<plan::BufferOp, Life> lives;
  plan::CommandList commands = plan::commandsOf(program);
  int64_t begin = std::numeric_limits<int64_t>::max(), end = 0;
  for (auto [time, command] : llvm::enumerate(commands))
    for (const plan::Access &access : command.getAccesses(kernels)) {
      plan::BufferOp buffer = access.buffer();
      if (!isTemporary(buffer))
        continue;
      unsigned now = time;
      lives.try_emplace(buffer, Life{now, now}).first->second.end = now;
      int64_t offset = buffer.getOffset().value_or(0);
      begin = std::min(begin, offset);
      end = std::max(end, offset + alignedBytes(buffer));
    }
  report.temporaries = std::max<int64_t>(0, end - begin);
  std::vector<int64_t> change(commands.size() + 1, 0);
  for (auto &[buffer, life] : lives) {
    change[life.begin] += alignedBytes(buffer);
    change[life.end + 1] -= alignedBytes(buffer);
  }
  int64_t alive = 0;
  unsigned peak = 0;
  for (unsigned time = 0; time < commands.size(); ++time)
    if ((alive += change[time]) > report.bound) {
      report.bound = alive;
      peak = time;
    }
  if (lives.empty())
    return;
  report.peakCommand = StringRef(commands[peak].getTitle()).ltrim('@').str();
  for (auto &[buffer, life] : lives)
    if (life.begin <= peak && peak <= life.end)
      report.alive.push_back(
          {plan::BufferOp(buffer).getName().str(),
           buffer.getSourceAttr() ? buffer.getSourceAttr().getLocation().str()
                                  : "",
           static_cast<int64_t>(plan::BufferOp(buffer).getBytes())});
  llvm::sort(report.alive, [](const MemoryItem &a, const MemoryItem &b) {
    return std::tie(b.bytes, a.name, a.location) <
           std::tie(a.bytes, b.name, b.location);
  });
}

/// "h.*.proj/all_to_all" of h.0.proj, h.1.proj and so on.
std::string placeOf(plan::SourceAttr source) {
  SmallVector<StringRef> names;
  StringRef module = source.getModule(), op = source.getOp();
  if (!module.empty())
    module.split(names, '.');
  for (StringRef &name : names)
    if (llvm::all_of(name, llvm::isDigit))
      name = "*";
  std::string path = llvm::join(names, ".");
  return path.empty() ? op.str() : path + "/" + op.str();
}

/// Those that it names first.
std::string placesOf(ArrayAttr sources) {
  constexpr size_t kMostNames = 2;
  std::vector<std::string> places;
  for (auto source : sources.getAsRange<plan::SourceAttr>())
    if (std::string place = placeOf(source); !llvm::is_contained(places, place))
      places.push_back(place);
  std::string text = llvm::join(ArrayRef(places).take_front(kMostNames), ", ");
  if (places.size() > kMostNames)
    text += " and " + std::to_string(places.size() - kMostNames) + " more";
  return text;
}

void addPart(plan::CommunicateOp exchange, int64_t bytes,
             CommunicationReport &along) {
  std::string what = placesOf(exchange.getSources()), location;
  if (!exchange.getSources().empty())
    location =
        cast<plan::SourceAttr>(exchange.getSources()[0]).getLocation().str();
  auto part = llvm::find_if(along.parts, [&](const ExchangeReport &one) {
    return one.what == what && one.location == location;
  });
  if (part == along.parts.end())
    part = along.parts.insert(part, {what, location, 0, 0});
  ++part->exchanges;
  part->bytes += bytes;
}

/// Bytes that the plan's first rank sends to others.
void addExchange(plan::CommunicateOp exchange, ProgramReport &report) {
  auto plan = exchange->getParentOfType<plan::PlanOp>();
  llvm::StringMap<int64_t> sizes, at;
  int64_t rank = plan.getRanks().empty() ? 0 : plan.getRanks().front();
  for (Attribute attr : llvm::reverse(plan.getMesh())) {
    auto axis = cast<plan::AxisAttr>(attr);
    sizes[axis.getName()] = axis.getSize();
    at[axis.getName()] = rank % axis.getSize();
    rank /= axis.getSize();
  }
  int64_t own = 0;
  std::string axes;
  for (StringRef axis : exchange.getAxes().getAsValueRange<StringAttr>()) {
    own = own * sizes[axis] + at[axis];
    axes += (axes.empty() ? "" : ",") + axis.str();
  }
  auto known = llvm::find_if(report.communication,
                             [&](const auto &one) { return one.axes == axes; });
  if (known == report.communication.end())
    known = report.communication.insert(known, {axes, 0, 0, {}});
  ++known->exchanges;
  int64_t bytes = 0;
  if (exchange.getRelative())
    own = 0;
  for (const plan::Transfer &of : exchange.getSendTransfers()) {
    bool toItself = of.member <= own && own < of.member + of.members;
    bytes += (of.members - toItself) * of.bytes;
  }
  known->bytes += bytes;
  addPart(exchange, bytes, *known);
}

} // namespace

int64_t CompileReport::allRanks() const {
  int64_t all = 1;
  for (const auto &[name, size] : mesh)
    all *= size;
  return all;
}

void CompileReport::describeMesh(plan::PlanOp plan) {
  mesh.clear();
  for (auto axis : plan.getMesh().getAsRange<plan::AxisAttr>())
    mesh.push_back({axis.getName().str(), axis.getSize()});
  ranks.assign(plan.getRanks().begin(), plan.getRanks().end());
  if (ranks.empty())
    llvm::append_range(ranks, llvm::seq<int64_t>(0, allRanks()));
}

void CompileReport::describeStates(plan::PlanOp plan) {
  arena = plan.getArena();
  parameterBytes = slotBytes = bufferBytes = accumulatorBytes = cacheBytes = 0;
  preparedBytes = reportBytes = 0;
  for (auto buffer : plan.getOps<plan::BufferOp>())
    if (buffer.getPinned())
      reportBytes += alignedBytes(buffer);
  for (auto state : plan.getOps<plan::StateOp>()) {
    int64_t bytes =
        alignedBytes(state.getBuffer().getDefiningOp<plan::BufferOp>());
    reportBytes -= bytes;
    switch (state.getRole()) {
    case plan::StateRole::Parameter:
      parameterBytes += bytes;
      break;
    case plan::StateRole::Slot:
      slotBytes += bytes;
      break;
    case plan::StateRole::Buffer:
      bufferBytes += bytes;
      break;
    case plan::StateRole::Accumulator:
      accumulatorBytes += bytes;
      break;
    case plan::StateRole::Cache:
      cacheBytes += bytes;
      break;
    case plan::StateRole::Prepared:
      preparedBytes += bytes;
      break;
    }
  }
}

void CompileReport::describeProgram(plan::ProgramOp program,
                                    const SymbolTable &symbols,
                                    const plan::MachineModel &machine,
                                    ProgramReport &report) {
  report.kind = stringifyProgramKind(program.getKind()).str();
  report.batch = program.getBatch();
  if (auto sum =
          program->getAttrOfType<DenseI64ArrayAttr>(graph::kMadeAgainSum)) {
    report.madeAgain = sum[0];
    report.notKept = sum[1];
    report.repeated = sum[2];
  }
  for (plan::CommandOpInterface command : plan::commandsOf(program)) {
    plan::Work work = command.getWork(symbols);
    ++report.commands;
    report.serial += command.getSerial();
    if (command.getSeconds())
      report.seconds += command.getSeconds()->convertToDouble();
    report.flops += work.flops;
    report.bytes += work.bytes;
    if (auto exchange = dyn_cast<plan::CommunicateOp>(command.getOperation()))
      addExchange(exchange, report);
    StringRef name;
    if (auto launch = dyn_cast<plan::LaunchOp>(command.getOperation()))
      name = launch.getKernel();
    else if (auto product = dyn_cast<plan::MultiplyOp>(command.getOperation()))
      name = product.getKernel();
    if (name.empty())
      continue;
    KernelReport &kernel = kernels[kernelIndex.lookup(name)];
    ++kernel.launches;
    if (command.getSeconds())
      kernel.seconds = command.getSeconds()->convertToDouble();
    if (isGpu && isa<plan::LaunchOp>(command.getOperation()))
      scratch += kernel.scratch;
    for (auto source : command.getSources().getAsRange<plan::SourceAttr>())
      kernel.ops.push_back(
          {schedule::pathOf(source), source.getLocation().str()});
  }
  for (CommunicationReport &along : report.communication)
    llvm::stable_sort(along.parts, [](const auto &a, const auto &b) {
      return a.bytes > b.bytes;
    });
  if (isGpu)
    report.onGpu = predictTime(program, symbols, machine);
  describeMemory(program, symbols, report);
  temporaries = std::max(temporaries, report.temporaries);
}

void CompileReport::describe(plan::PlanOp plan,
                             const plan::MachineModel &described) {
  describeMesh(plan);
  describeStates(plan);
  model = plan.getModel().str();
  dtype = graph::elementText(plan.getDtype());
  parameters = plan.getParameters();
  isGpu = plan.getTarget() == plan::Target::Cuda;
  machine = described.name;
  machineBytes = described.memoryBytes();
  temporaries = scratch = 0;
  steps.clear();
  kernels.clear();
  kernelIndex.clear();

  for (auto kernel : plan.getOps<plan::KernelOp>()) {
    kernelIndex[kernel.getSymName()] = kernels.size();
    kernels.push_back({kernel.getSymName().str(),
                       kernel.getStrategy().str(),
                       static_cast<int64_t>(kernel.getTiles()),
                       static_cast<int64_t>(kernel.getScratch()),
                       static_cast<int64_t>(kernel.getFlops()),
                       static_cast<int64_t>(kernel.getBytes()),
                       /*launches=*/0,
                       /*seconds=*/0,
                       {}});
    if (!isGpu)
      scratch = std::max<int64_t>(scratch, kernel.getScratch());
  }
  SymbolTable symbols(plan);
  for (auto step : plan.getOps<plan::StepOp>()) {
    StepReport &stepReport = steps.emplace_back();
    stepReport.name = step.getName().str();
    stepReport.accumulate = step.getAccumulate();
    for (auto program : step.getBody().getOps<plan::ProgramOp>())
      describeProgram(program, symbols, described,
                      stepReport.programs.emplace_back());
  }
}

int64_t CompileReport::leastBytes() const {
  uint64_t code = 0;
  for (const Image &image : images)
    code = std::max(code, image.bytes);
  return arena + scratch + static_cast<int64_t>(code);
}

} // namespace dl
