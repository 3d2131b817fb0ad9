// The report for people and for programs.
#include "compiler/pipeline/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace dl {
namespace {

/// "1.50 MB"; units of 1000.
std::string quantity(int64_t value, llvm::StringRef unit) {
  static constexpr llvm::StringRef prefixes[] = {"", "k", "M", "G", "T"};
  double scaled = value;
  size_t prefix = 0;
  for (; scaled >= 1000 && prefix + 1 < std::size(prefixes); ++prefix)
    scaled /= 1000;
  return prefix == 0
             ? llvm::formatv("{0} {1}", value, unit).str()
             : llvm::formatv("{0:f2} {1}{2}", scaled, prefixes[prefix], unit)
                   .str();
}

/// What is said of a plan is said of one class of ranks.
void addMesh(const CompileReport &report, llvm::raw_ostream &out) {
  if (report.mesh.empty())
    return;
  out << "mesh ";
  for (const auto &[name, size] : report.mesh)
    out << (&name == &report.mesh.front().first ? "" : ",") << name << "="
        << size;
  int64_t all = report.allRanks(), others = report.ranks.size() - 1;
  out << ": " << all << " ranks; memory, steps and kernels are those of ";
  if (others + 1 == all)
    out << "each\n";
  else
    out << "rank 0"
        << (others ? " and " + std::to_string(others) +
                         " with parts of the same sizes"
                   : "")
        << ", others differ\n";
}

void addMemoryOfGpu(const CompileReport &report, llvm::raw_ostream &out) {
  out << "memory: " << report.arena + report.scratch
      << " bytes on the GPU, besides code and a batch or two: " << report.arena
      << " in one arena, " << report.scratch << " for launches";
  if (report.machineBytes)
    out << llvm::formatv("; {0:f1} % of what {1} has",
                         100.0 * double(report.leastBytes()) /
                             double(report.machineBytes),
                         report.machine);
  out << "\n";
}

void addMemory(const CompileReport &report, llvm::raw_ostream &out) {
  if (report.isGpu) {
    addMemoryOfGpu(report, out);
  } else {
    out << "memory: " << report.arena + report.scratch + report.batchBytes
        << " bytes on one thread: " << report.arena << " in one arena, "
        << report.scratch << " for each thread";
    if (report.batchBytes)
      out << ", " << report.batchBytes << " for batches that wait";
    out << "\n";
  }
  auto part = [&](llvm::StringRef name, int64_t bytes) {
    if (bytes)
      out << llvm::formatv("  {0,12}  {1}\n", bytes, name);
  };
  part("parameters", report.parameterBytes);
  part("optimizer state", report.slotBytes);
  part("other state", report.bufferBytes);
  part("accumulated gradients", report.accumulatorBytes);
  part("caches of generation", report.cacheBytes);
  part("weights as generation reads them", report.preparedBytes);
  part("metrics and error flags", report.reportBytes);
  part("temporaries", report.temporaries);
}

std::string milliseconds(double seconds) {
  return llvm::formatv(seconds < 1e-3 ? "{0:f3} ms" : "{0:f2} ms",
                       seconds * 1e3);
}

/// Behind the sum, what it is made of.
void addTime(const ProgramReport &program, llvm::raw_ostream &out) {
  if (!program.onGpu) {
    out << "about " << llvm::formatv("{0:f2} ms", program.seconds * 1e3)
        << " on one core";
    if (program.serial)
      out << ", " << program.serial << " too small to share";
    out << "\n";
    return;
  }
  const TimeReport &time = *program.onGpu;
  out << "about " << milliseconds(time.seconds) << " at best on "
      << time.machine << "\n  " << time.chain
      << " kernels one behind the other take "
      << milliseconds(time.chainSeconds);
  llvm::ListSeparator comma(", ");
  out << " (";
  for (auto [what, seconds] : {std::pair("launches", time.launching),
                               {"arithmetic", time.arithmetic},
                               {"memory", time.traffic}})
    if (seconds > 0)
      out << comma
          << llvm::formatv("{0:f0} % of it limited by {1}",
                           100 * seconds / time.chainSeconds, what);
  out << "), all of them keep the GPU busy for "
      << milliseconds(time.busySeconds) << ", copies take "
      << milliseconds(time.copySeconds) << "\n";
}

/// The exchanges that move most, and how many others there are.
void addCommunication(const CommunicationReport &along,
                      llvm::raw_ostream &out) {
  constexpr size_t kMostLines = 8;
  out << "  along " << along.axes << ": " << along.exchanges
      << " exchanges, rank 0 sends " << quantity(along.bytes, "B")
      << " to others:\n";
  size_t shown = std::min(along.parts.size(), kMostLines);
  for (const ExchangeReport &part :
       llvm::ArrayRef(along.parts).take_front(shown))
    out << llvm::formatv("  {0,12} in {1}  {2}  {3}\n",
                         quantity(part.bytes, "B"), part.exchanges, part.what,
                         part.location);
  ExchangeReport rest;
  for (const ExchangeReport &part :
       llvm::ArrayRef(along.parts).drop_front(shown)) {
    rest.exchanges += part.exchanges;
    rest.bytes += part.bytes;
  }
  if (rest.exchanges)
    out << llvm::formatv("  {0,12} in {1}  others\n", quantity(rest.bytes, "B"),
                         rest.exchanges);
}

void addProgram(const StepReport &step, const ProgramReport &program,
                llvm::raw_ostream &out) {
  if (program.kind == "initial")
    out << "\ninitial values";
  else if (program.kind == "update")
    out << "\nstep " << step.name << ", update after " << step.accumulate
        << " micro-batches";
  else
    out << "\nstep " << step.name << ", batch of " << program.batch;
  out << ": " << program.commands << " kernels, "
      << quantity(program.flops, "FLOP") << ", " << quantity(program.bytes, "B")
      << " moved, ";
  addTime(program, out);
  for (const CommunicationReport &along : program.communication)
    addCommunication(along, out);
  if (program.madeAgain)
    out << "  made again in the backward: "
        << llvm::formatv(
               "{0} values, {1} not kept, {2} elements computed twice\n",
               program.madeAgain, quantity(program.notKept, "B"),
               program.repeated);
  if (program.alive.empty())
    return;
  out << "  temporaries: " << program.temporaries << " bytes, " << program.bound
      << " alive at once, in " << program.peakCommand << ":\n";
  for (const MemoryItem &item : program.alive)
    out << llvm::formatv("  {0,12}  {1}  {2}\n", item.bytes, item.name,
                         item.location);
}

/// One line for each line of the model, with the ops it gave.
void addOps(const KernelReport &kernel, llvm::raw_ostream &out) {
  llvm::StringRef line;
  for (const KernelReport::Op &op : kernel.ops) {
    if (op.name == "full") // a constant
      continue;
    if (op.location == line)
      out << ", " << op.name;
    else
      out << (line.empty() ? "    " : "\n    ") << op.location << "  "
          << op.name;
    line = op.location;
  }
  if (!line.empty())
    out << "\n";
}

void addKernels(const CompileReport &report, llvm::raw_ostream &out) {
  out << "\n" << report.kernels.size() << " kernels:\n";
  for (const KernelReport &kernel : report.kernels) {
    out << "  " << kernel.name << ": " << kernel.strategy << ", "
        << kernel.tiles << (kernel.tiles == 1 ? " tile, " : " tiles, ")
        << quantity(kernel.flops, "FLOP") << ", "
        << quantity(kernel.bytes, "B");
    if (kernel.seconds > 0)
      out << ", about " << llvm::formatv("{0:f1} us", kernel.seconds * 1e6);
    if (kernel.launches != 1)
      out << ", launched " << kernel.launches << " times";
    out << "\n";
    addOps(kernel, out);
  }
}

} // namespace

std::vector<std::string> CompileReport::whyTooLarge() const {
  if (machineBytes == 0 || leastBytes() <= machineBytes)
    return {};
  std::vector<std::string> lines = {
      "the plan needs " + quantity(leastBytes(), "B") + " of memory, " +
      machine + " has " + quantity(machineBytes, "B") +
      "; smaller batches need less, or --microbatches=N"};
  const ProgramReport *largest = nullptr;
  for (const StepReport &step : steps)
    for (const ProgramReport &program : step.programs)
      if (!largest || program.temporaries > largest->temporaries)
        largest = &program;
  if (!largest)
    return lines;
  for (const MemoryItem &item : llvm::ArrayRef(largest->alive).take_front(5))
    lines.push_back(item.location + ": " + quantity(item.bytes, "B") + " of " +
                    item.name + " are alive at the peak");
  return lines;
}

std::string CompileReport::text() const {
  std::string result;
  llvm::raw_string_ostream out(result);
  out << model << ": " << parameters << " parameters, " << dtype << "\n";
  addMesh(*this, out);
  addMemory(*this, out);
  for (const StepReport &step : steps)
    for (const ProgramReport &program : step.programs)
      addProgram(step, program, out);
  addKernels(*this, out);
  if (!remarks.empty())
    out << "\ndecisions:\n";
  for (const Remark &remark : remarks)
    out << "  " << remark.location << ": " << remark.text << "\n";
  out << "\n";
  for (const Image &image : images)
    out << "code for " << image.features << ": " << quantity(image.bytes, "B")
        << "\n";
  if (planBytes)
    out << "plan: " << quantity(planBytes, "B") << "\n";
  out << "time:";
  for (const Phase &phase : phases)
    out << llvm::formatv(" {0} {1:f0} ms", phase.name, phase.seconds * 1e3);
  out << "\n";
  return result;
}

namespace {

llvm::json::Object toJson(const TimeReport &time) {
  return llvm::json::Object{{"machine", time.machine},
                            {"seconds", time.seconds},
                            {"chain", time.chain},
                            {"chain_seconds", time.chainSeconds},
                            {"launching_seconds", time.launching},
                            {"arithmetic_seconds", time.arithmetic},
                            {"memory_seconds", time.traffic},
                            {"busy_seconds", time.busySeconds},
                            {"copy_seconds", time.copySeconds}};
}

llvm::json::Object toJson(const ProgramReport &program) {
  llvm::json::Array alive;
  for (const MemoryItem &item : program.alive)
    alive.push_back(llvm::json::Object{{"name", item.name},
                                       {"location", item.location},
                                       {"bytes", item.bytes}});
  llvm::json::Array communication;
  for (const CommunicationReport &along : program.communication) {
    llvm::json::Array parts;
    for (const ExchangeReport &part : along.parts)
      parts.push_back(llvm::json::Object{{"what", part.what},
                                         {"location", part.location},
                                         {"exchanges", part.exchanges},
                                         {"bytes", part.bytes}});
    communication.push_back(llvm::json::Object{{"axes", along.axes},
                                               {"exchanges", along.exchanges},
                                               {"bytes", along.bytes},
                                               {"parts", std::move(parts)}});
  }
  llvm::json::Value onGpu = nullptr;
  if (program.onGpu)
    onGpu = toJson(*program.onGpu);
  return llvm::json::Object{
      {"kind", program.kind},
      {"on_gpu", std::move(onGpu)},
      {"communication", std::move(communication)},
      {"batch", program.batch},
      {"commands", program.commands},
      {"serial", program.serial},
      {"flops", program.flops},
      {"bytes", program.bytes},
      {"seconds", program.seconds},
      {"temporary_bytes", program.temporaries},
      {"bound_bytes", program.bound},
      {"made_again", llvm::json::Object{{"values", program.madeAgain},
                                        {"bytes", program.notKept},
                                        {"elements", program.repeated}}},
      {"peak", llvm::json::Object{{"command", program.peakCommand},
                                  {"alive", std::move(alive)}}}};
}

llvm::json::Object toJson(const StepReport &step) {
  llvm::json::Array programs;
  for (const ProgramReport &program : step.programs)
    programs.push_back(toJson(program));
  return llvm::json::Object{{"name", step.name},
                            {"accumulate", step.accumulate},
                            {"programs", std::move(programs)}};
}

llvm::json::Object toJson(const KernelReport &kernel) {
  llvm::json::Array ops;
  for (const KernelReport::Op &op : kernel.ops)
    ops.push_back(
        llvm::json::Object{{"op", op.name}, {"location", op.location}});
  return llvm::json::Object{
      {"name", kernel.name},         {"strategy", kernel.strategy},
      {"tiles", kernel.tiles},       {"scratch_bytes", kernel.scratch},
      {"flops", kernel.flops},       {"bytes", kernel.bytes},
      {"launches", kernel.launches}, {"seconds", kernel.seconds},
      {"ops", std::move(ops)}};
}

} // namespace

std::string CompileReport::json() const {
  llvm::json::Array stepList, kernelList, imageList, remarkList;
  for (const StepReport &step : steps)
    stepList.push_back(toJson(step));
  for (const KernelReport &kernel : kernels)
    kernelList.push_back(toJson(kernel));
  for (const Image &image : images)
    imageList.push_back(llvm::json::Object{{"features", image.features},
                                           {"bytes", image.bytes}});
  for (const Remark &remark : remarks)
    remarkList.push_back(llvm::json::Object{{"location", remark.location},
                                            {"text", remark.text}});
  llvm::json::Object times;
  for (const Phase &phase : phases)
    times[phase.name] = phase.seconds;
  llvm::json::Array axes;
  for (const auto &[name, size] : mesh)
    axes.push_back(llvm::json::Object{{"name", name}, {"size", size}});
  llvm::json::Object memory{{"arena_bytes", arena},
                            {"scratch_bytes_per_thread", scratch},
                            {"batch_bytes", batchBytes},
                            {"least_bytes", leastBytes()},
                            {"machine_bytes", machineBytes},
                            {"parameters", parameterBytes},
                            {"slots", slotBytes},
                            {"buffers", bufferBytes},
                            {"accumulators", accumulatorBytes},
                            {"caches", cacheBytes},
                            {"prepared", preparedBytes},
                            {"metrics_and_errors", reportBytes},
                            {"temporaries", temporaries}};
  llvm::json::Value whole =
      llvm::json::Object{{"model", model},
                         {"dtype", dtype},
                         {"parameters", parameters},
                         {"mesh", std::move(axes)},
                         {"ranks", llvm::json::Array(ranks)},
                         {"memory", std::move(memory)},
                         {"steps", std::move(stepList)},
                         {"kernels", std::move(kernelList)},
                         {"images", std::move(imageList)},
                         {"plan_bytes", planBytes},
                         {"decisions", std::move(remarkList)},
                         {"seconds", std::move(times)}};
  return llvm::formatv("{0}", whole).str();
}

} // namespace dl
