#include "runtime/train/TraceFile.h"

#include "runtime/base/AtomicFile.h"
#include "runtime/base/JsonWriter.h"
#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/Memories.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/train/TraceGather.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

using namespace dlrt;

namespace {

/// The format is Chrome's "Trace Event Format": complete events ("X") with
/// microseconds, counters ("C") and names of rows ("M").
class TraceWriter {
public:
  TraceWriter(Session &session, std::vector<ProcessTrace> traces)
      : worker(targetOf(session.plan()) == fb::Target::Cuda ? "stream"
                                                            : "thread"),
        planName(session.name()), set(session.plans()), plan(set.first()),
        traces(std::move(traces)) {}

  std::string write() {
    collect();
    json.beginObject().field("displayTimeUnit", "ns");
    json.key("otherData").beginObject();
    json.field("plan", planName)
        .field("threads", traces[0].threads.size())
        .field("processes", traces.size())
        .field("dropped_events", dropped)
        .endObject();
    json.key("traceEvents").beginArray();
    nameRows();
    for (const ProcessTrace &trace : traces)
      process(trace);
    json.endArray().endObject();
    return json.text() + "\n";
  }

private:
  void collect() {
    origin = ~uint64_t(0);
    for (const ProcessTrace &trace : traces) {
      for (const TraceLaunch &launch : trace.runs) {
        origin = std::min(origin, launch.begin);
        end = std::max(end, launch.end);
      }
      dropped += trace.dropped;
    }
  }

  /// What is no rank's alone stands with the first of the process.
  void process(const ProcessTrace &trace) {
    ownRank = trace.rank;
    stepsRow = trace.threads.size();
    busy.clear();
    std::map<uint32_t, const TraceLaunch *> launches;
    for (const TraceLaunch &launch : trace.runs)
      launches[launch.number] = &launch;
    for (size_t t = 0; t < trace.threads.size(); ++t)
      for (const TraceEvent &event : trace.threads[t])
        if (auto launch = launches.find(event.launch); launch != launches.end())
          commandOfAll(t, event, *launch->second);
    for (const auto &[number, launch] : launches)
      program(*launch);
    utilisation();
  }

  double microseconds(uint64_t time) const {
    return static_cast<double>(time - origin) / 1e3;
  }

  /// What the format calls a process is a rank here.
  JsonWriter &event(const char *kind, std::string_view name, uint32_t rank) {
    return json.beginObject()
        .field("ph", kind)
        .field("name", name)
        .field("pid", rank + 1);
  }

  void nameRow(uint32_t rank, size_t row, const std::string &name) {
    event("M", "thread_name", rank).field("tid", row);
    json.key("args").beginObject().field("name", name).endObject().endObject();
    event("M", "thread_sort_index", rank).field("tid", row);
    json.key("args").beginObject().field("sort_index", row);
    json.endObject().endObject();
  }

  void nameRows() {
    uint32_t ranks = set.mesh.ranks();
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      event("M", "process_name", rank).key("args").beginObject();
      json.field("name", ranks == 1
                             ? planName
                             : fmt::format("{} rank {}", planName, rank));
      json.endObject().endObject();
      const ProcessTrace &trace = traces[several() ? rank : 0];
      for (size_t row = 0; row < trace.threads.size(); ++row)
        nameRow(rank, row, fmt::format("{} {}", worker, row));
      if (rank == trace.rank)
        nameRow(rank, trace.threads.size(), "steps");
    }
  }

  std::string programName(const TraceLaunch &launch) const {
    std::string step = displayName(*plan.steps[launch.step]);
    return launch.kind == fb::ProgramKind::Full
               ? step
               : step + ", " + dlrt::nameOf(launch.kind);
  }

  /// "conv1/conv2d": the module and the op that a launch is named by.
  static std::string nameOf(const fb::PlanT &plan,
                            const fb::CommandT &command) {
    if (command.ops.empty())
      return factsOf(plan, command).title;
    const fb::SourceT &source = *plan.sources[command.ops.front()];
    return source.module_.empty() ? source.op
                                  : source.module_ + "/" + source.op;
  }

  /// All its ops, those of other lines with them.
  std::string opsOf(const fb::CommandT &command) const {
    std::string text;
    for (uint32_t op : command.ops) {
      const fb::SourceT &source = *plan.sources[op];
      if (source.op == "full") // a constant
        continue;
      text += text.empty() ? "" : ", ";
      text += source.op;
      if (source.location != plan.sources[command.ops.front()]->location)
        text += " " + source.location;
    }
    return text;
  }

  void span(std::string_view name, uint32_t rank, size_t row, uint64_t begin,
            uint64_t end) {
    event("X", name, rank)
        .field("tid", row)
        .field("ts", microseconds(begin))
        .field("dur", static_cast<double>(end - begin) / 1e3);
  }

  const fb::ProgramT &programOfRank(uint32_t rank,
                                    const TraceLaunch &launch) const {
    return *programOf(*set.of(rank).steps[launch.step], launch.kind);
  }

  /// Each rank is a process, which has traced its own part of each exchange.
  bool several() const { return traces.size() > 1; }

  /// A communication is shown with each of its members.
  void commandOfAll(size_t thread, const TraceEvent &event,
                    const TraceLaunch &launch) {
    addBusy(event.begin, event.end);
    const auto *work = programOfRank(event.rank, launch)
                           .commands[event.command]
                           ->work.AsCommunicate();
    if (!work || several())
      return command(thread, event, launch);
    for (uint32_t m = 0; m < set.mesh.groupSize(work->axes); ++m) {
      TraceEvent part = event;
      // Its tiles are copies of several members; each portion stands for it.
      part.firstTile = 0;
      part.endTile = 1;
      part.rank = set.mesh.rankOf(m, event.rank, work->axes);
      const auto &commands = programOfRank(part.rank, launch).commands;
      for (part.command = 0; part.command < commands.size(); ++part.command) {
        const auto *own = commands[part.command]->work.AsCommunicate();
        if (own && own->order == work->order)
          command(thread, part, launch);
      }
    }
  }

  void command(size_t thread, const TraceEvent &event,
               const TraceLaunch &launch) {
    const fb::PlanT &plan = set.of(event.rank);
    const fb::CommandT &command =
        *programOfRank(event.rank, launch).commands[event.command];
    CommandFacts facts = factsOf(plan, command);
    double share = static_cast<double>(event.endTile - event.firstTile) /
                   static_cast<double>(facts.tiles);
    double seconds = static_cast<double>(event.end - event.begin) * 1e-9;
    auto part = [&](uint64_t whole) {
      return static_cast<uint64_t>(static_cast<double>(whole) * share + 0.5);
    };
    span(nameOf(plan, command), event.rank, thread, event.begin, event.end);
    json.field("cat", facts.category);
    json.key("args").beginObject();
    if (!command.ops.empty())
      json.field("line", plan.sources[command.ops.front()]->location);
    json.field("ops", opsOf(command))
        .field("flops", part(facts.flops))
        .field("bytes", part(facts.bytes));
    if (seconds > 0)
      json.field("gflops_per_s",
                 static_cast<float>(static_cast<double>(part(facts.flops)) /
                                    seconds * 1e-9));
    if (command.seconds > 0)
      json.field("expected_us",
                 static_cast<float>(command.seconds * share * 1e6));
    json.field("tiles", fmt::format("{} to {} of {}", event.firstTile,
                                    event.endTile, facts.tiles))
        .field("command", event.command)
        .field("kernel", facts.title)
        .field("program", programName(launch))
        .field("run", launch.number)
        .field("update", launch.update);
    json.endObject().endObject();
  }

  void program(const TraceLaunch &launch) {
    span(programName(launch), ownRank, stepsRow, launch.begin, launch.end);
    json.key("args")
        .beginObject()
        .field("run", launch.number)
        .field("update", launch.update)
        .endObject()
        .endObject();
  }

  void addBusy(uint64_t begin, uint64_t end) {
    if (busy.empty()) {
      constexpr uint64_t shortest = 20'000, most = 2000;
      uint64_t span = std::max<uint64_t>(this->end - origin, 1);
      binLength = std::max(shortest, span / most + 1);
      busy.assign(span / binLength + 1, 0);
    }
    for (uint64_t at = begin - origin; at < end - origin;) {
      size_t bin = at / binLength;
      if (bin >= busy.size())
        return;
      uint64_t stop = std::min(end - origin, (bin + 1) * binLength);
      busy[bin] += stop - at;
      at = stop;
    }
  }

  /// Threads at work, on average over short spans of time.
  void utilisation() {
    for (size_t bin = 0; bin < busy.size(); ++bin) {
      event("C", "threads at work", ownRank)
          .field("ts", static_cast<double>(bin * binLength) / 1e3);
      json.key("args")
          .beginObject()
          .field("threads", static_cast<float>(static_cast<double>(busy[bin]) /
                                               static_cast<double>(binLength)))
          .endObject()
          .endObject();
    }
  }

  /// What works on commands, one a row.
  const char *const worker;
  const std::string &planName;
  const PlanSet &set;
  const fb::PlanT &plan; ///< for what all ranks have alike
  const std::vector<ProcessTrace> traces;
  JsonWriter json;
  uint32_t ownRank = 0; ///< of the process that is being written
  size_t stepsRow = 0;  ///< below its threads
  uint64_t origin = 0, end = 0, dropped = 0;
  uint64_t binLength = 1;
  std::vector<uint64_t> busy; ///< nanoseconds of all threads, by bin
};

} // namespace

Status dlrt::writeTrace(Session &session, const std::string &path) {
  Together together = session.together();
  std::vector<ProcessTrace> traces;
  traces.push_back(traceOf(*session.device().trace(), together.rank()));
  if (Transport *transport = session.options().transport) {
    auto gathered = gatherTraces(*transport, std::move(traces[0]));
    if (!gathered)
      return gathered.takeError();
    traces = std::move(*gathered);
  }
  if (!together.keepsFiles())
    return {};
  std::string text = TraceWriter(session, std::move(traces)).write();
  return writeFileAtomically(
      path, {{reinterpret_cast<const uint8_t *>(text.data()), text.size()}});
}
