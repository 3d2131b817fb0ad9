#include "tools/dlrun/Processes.h"

#include "runtime/base/MappedFile.h"
#include "runtime/comm/Launcher.h"
#include "runtime/comm/Together.h"
#include "runtime/comm/mpi/MpiTransport.h"
#include "runtime/exec/Cpu.h"
#include "runtime/plan/Container.h"
#include "runtime/train/WeightPaths.h"
#include "tools/dlrun/Device.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sched.h>
#include <thread>
#include <unistd.h>

using namespace dlrun;
using namespace dlrt;

static std::unique_ptr<Processes> processes;

Processes *Processes::current() { return processes.get(); }

Expected<std::unique_ptr<StopWord>> StopWord::create(Transport &transport) {
  std::unique_ptr<StopWord> out(new StopWord(transport));
  for (uint64_t which = 0; which < 2; ++which)
    if (Status status = out->prepare(out->rounds[which], 2 * which);
        !status.ok())
      return status;
  return out;
}

Status StopWord::prepare(Round &round, uint64_t tag) {
  bool first = transport.rank() == 0;
  round.said.resize(first ? transport.size() : 1);
  std::vector<Message> said, agreed;
  if (!first) {
    said.push_back({round.said.data(), sizeof(int64_t), 0});
    agreed.push_back({&round.agreed, sizeof(int64_t), 0});
  }
  for (uint32_t r = 1; first && r < transport.size(); ++r) {
    said.push_back({&round.said[r], sizeof(int64_t), r});
    agreed.push_back({&round.agreed, sizeof(int64_t), r});
  }
  const std::vector<Message> none;
  auto toFirst =
      transport.prepare(first ? none : said, first ? said : none, tag, {});
  if (!toFirst)
    return toFirst.takeError();
  auto fromFirst = transport.prepare(first ? agreed : none,
                                     first ? none : agreed, tag + 1, {});
  if (!fromFirst)
    return fromFirst.takeError();
  round.toFirst = std::move(*toFirst);
  round.fromFirst = std::move(*fromFirst);
  return {};
}

void StopWord::finish(const Exchange &exchange) {
  while (!exchange.finished()) {
    transport.poll();
    sched_yield();
  }
}

StopWord::~StopWord() {
  for (const Round &round : rounds)
    for (const auto *exchange : {&round.toFirst, &round.fromFirst})
      if (*exchange)
        finish(**exchange);
}

int StopWord::exchange(int mine) {
  Round &now = rounds[calls % 2], &before = rounds[1 - calls % 2];
  finish(*now.toFirst); // of the call before the last one
  finish(*now.fromFirst);
  finish(*before.toFirst);
  bool first = transport.rank() == 0;
  (first ? before : now).said[0] = mine;
  if (first)
    now.agreed = std::ranges::max(before.said);
  transport.start(*now.toFirst);
  transport.start(*now.fromFirst);
  finish(*before.fromFirst);
  ++calls;
  return static_cast<int>(before.agreed);
}

std::string Processes::self() const {
  return fmt::format("rank {} (host {})", carrier->rank(), hostName());
}

/// More of them would be work for the one who watches.
static std::chrono::milliseconds heartbeatInterval(uint32_t ranks) {
  return std::chrono::milliseconds(std::max<uint32_t>(250, 5 * ranks));
}

static Status openLog(const std::string &folder, uint32_t rank) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return keepWords(fmt::format("{}/rank-{:04}.log", folder, rank));
}

static RankStatus ownStatus(uint32_t rank) {
  RankStatus status;
  status.rank = rank;
  status.host = hostName();
  status.process = static_cast<uint64_t>(getpid());
  return status;
}

/// The last word of a rank that has not even joined.
static void sayEnd(int code, const std::string &said) {
  RankStatus status = ownStatus(launchedAs()->rank);
  status.phase = RankPhase::End;
  status.end = code;
  status.said = said;
  sendFrame(status);
}

Status Processes::open(const Options &options) {
  auto launched = launchedAs();
  auto opened = openMpi([this](const Status &error) { lost(error); });
  if (!opened)
    return opened.takeError();
  carrier = std::move(*opened);
  if (carrier->size() != launched->size) {
    uint32_t size = carrier->size();
    return {Code::Plan,
            fmt::format("{} has started {} processes, but {}, which the "
                        "plug-in was built for, sees {}: launcher and plug-in "
                        "must be of the same MPI (runtime/comm/mpi/build.sh "
                        "builds the plug-in)",
                        launched->launcher, launched->size, carrier->library(),
                        size)};
  }
  if (carrier->rank() != 0)
    beQuiet();
  if (isWatched()) {
    installWatchedSignals();
    heartbeat = std::make_unique<Heartbeat>(ownStatus(carrier->rank()),
                                            heartbeatInterval(carrier->size()),
                                            [this](RankStatus &s) {
                                              s.phase = progress.phase;
                                              s.step = progress.step;
                                              s.launches = progress.launches;
                                              s.op = progress.doing(s.waits);
                                            });
  }
  if (!options.logDir.empty())
    DLRT_TRY(openLog(options.logDir, carrier->rank()));
  auto word = StopWord::create(*carrier);
  if (!word)
    return word.takeError();
  stop = std::move(*word);
  return {};
}

void Processes::keepOnFirst(Options &options) const {
  if (rank() != 0)
    for (std::string *path :
         {&options.saveFinal, &options.saveMetrics, &options.trace})
      if (!path->empty())
        *path = "/dev/null";
}

Status Processes::join(Options &options) {
  auto launched = launchedAs();
  bool runs =
      options.command != Command::Info && !options.help && !options.version;
  if (!launched || launched->size == 1 || !runs)
    return {};
  processes.reset(new Processes());
  Status status = processes->open(options);
  if (status.ok())
    processes->keepOnFirst(options);
  else if (launched->rank != 0)
    beQuiet(); // all have the same to say
  return status;
}

DeviceFactory Processes::device(DeviceFactory own) {
  return
      [this, own = std::move(own)](
          const LoadedPlan &plan,
          const DeviceOptions &options) -> Expected<std::unique_ptr<Device>> {
        DeviceOptions mine = options;
        mine.transport = carrier.get();
        mine.gpu = gpu;
        auto launched = launchedAs();
        if (uint64_t(launched->here) * options.threads <= availableCores())
          mine.place = launched->place;
        auto inner = own(plan, mine);
        if (!inner)
          return inner.takeError();
        return std::unique_ptr<Device>(std::make_unique<ProcessDevice>(
            std::move(*inner), *carrier, progress));
      };
}

/// In a thread that cannot go on.
void Processes::lost(const Status &error) {
  complain(fmt::format("{}: {}", self(), error.message()));
  int code = static_cast<int>(error.code());
  if (heartbeat)
    heartbeat->end(code, error.message());
  carrier->abort(code);
}

int Processes::end(int code, const std::string &said) {
  bool together = code == 0 || shared || code > 70;
  // Where a rank has left, it has a reason of its own, and says it first.
  if (carrier && code == static_cast<int>(Code::RankLost))
    std::this_thread::sleep_for(std::chrono::seconds(1));
  if (!said.empty() && (carrier && carrier->rank() != 0) && !together)
    complain(fmt::format("{}: {}", self(), said));
  if (heartbeat)
    heartbeat->end(code, said);
  else if (isWatched())
    sayEnd(code, said);
  if (!carrier)
    return code;
  if (!together)
    carrier->abort(code);
  stop.reset();
  // Launchers end all when one has ended with another code than 0, and need a
  // second or two for it; who watches knows the code.
  if (Status status = carrier->barrier(); !status.ok())
    lost(status);
  carrier.reset();
  return isWatched() ? 0 : code;
}

Status Processes::agree(RankFacts facts) {
  facts.host = hostName();
  return sharedError(dlrt::agree(*carrier, facts));
}

/// Of something that all ranks have found together.
Status Processes::sharedError(Status status) {
  shared = !status.ok() && status.code() != Code::RankLost;
  return status;
}

/// A number that tells builds of one version apart.
static std::string binaryText() {
  auto file = MappedFile::open("/proc/self/exe");
  Checksum sum;
  if (file)
    sum.add(file->bytes());
  return fmt::format("{} (build {:016x})", DLRUN_VERSION, sum.value());
}

static std::string meshText(const Mesh &mesh) {
  return mesh.axes.empty() ? "one rank" : mesh.text();
}

/// What else decides how many steps are done, and which, and what is put
/// together on the way.
static std::string optionsText(const Options &options) {
  auto number = [](const std::optional<uint64_t> &value) {
    return value ? std::to_string(*value) : std::string("default");
  };
  std::string text = fmt::format(
      "--epochs {} --steps {} --every log={},eval={},ckpt={}",
      number(options.epochs), number(options.steps), number(options.logEvery),
      number(options.evalEvery),
      options.checkpointSeconds ? fmt::format("{}s", *options.checkpointSeconds)
                                : number(options.checkpointEvery));
  auto add = [&](bool given, std::string_view what) {
    if (given)
      text += fmt::format(" {}", what);
  };
  add(options.noShuffle, "--no-shuffle");
  add(options.dropLast, "--drop-last");
  add(options.flushDenormals, "--flush-denormals");
  if (!options.turns.empty())
    text += " --alternate " + alternateText(options.turns);
  add(!options.out.empty(), "--out");
  if (options.keepBest)
    text += " " + options.keepBest->text;
  if (options.stopWhen)
    text += " " + options.stopWhen->goal.text;
  for (const HaltCondition &condition : options.haltOn)
    text += " --halt-on " + condition.text;
  for (const SettingValue &setting : options.settings)
    text += fmt::format(" --set {}={}", setting.name, setting.value);
  add(!options.saveFinal.empty(), "--save-final");
  add(!options.saveMetrics.empty(), "--save-metrics");
  add(!options.trace.empty(), "--trace");
  return text;
}

/// The files themselves: ranks that began with others would train apart.
static std::string weightsText(const Options &options) {
  std::string text;
  for (const WeightSource &source : options.init) {
    auto paths = weightPaths(source.path);
    if (!paths)
      text += text.empty() ? "missing" : ", missing";
    for (const std::string &path :
         paths ? *paths : std::vector<std::string>()) {
      Checksum sum;
      auto file = MappedFile::open(path);
      if (file)
        sum.add(file->bytes());
      text += fmt::format("{}{}", text.empty() ? "" : ", ",
                          file ? fmt::format("{} ({:016x})", path, sum.value())
                               : "missing");
    }
  }
  return text;
}

/// Of the processes that fit, in the user's words.
static Status checkSize(const Mesh &mesh, uint32_t size) {
  uint32_t ranks = mesh.ranks();
  if (ranks == size)
    return {};
  return {Code::Plan,
          fmt::format("the plan is for {}{}, and {} processes were started: "
                      "dlrun -np {} fits{}",
                      meshText(mesh),
                      ranks == 1 ? "" : fmt::format(", {} ranks", ranks), size,
                      ranks,
                      ranks == 1 ? fmt::format(", or a plan made with dlcc "
                                               "--mesh dp={}",
                                               size)
                                 : "")};
}

/// Kernels for AMX add up in an order of their own: copies of what no rank
/// tells the others would drift apart.
static void addOrderOfSums(RankFacts &facts, const fb::PlanT &plan,
                           const Options &options) {
  auto isAmx = [](const auto &image) {
    return image->features.ends_with("+amxbf16");
  };
  if (std::ranges::none_of(plan.images, isAmx))
    return;
  Expected<size_t> image = chooseImage(plan, options.isa);
  bool uses = image && isAmx(plan.images[*image]);
  facts.facts.push_back(
      {"AMX (--isa=v4 does without)", uses ? "used" : "not used"});
}

Status Processes::agreeOnPlan(const Options &options,
                              const Expected<LoadedPlan> &plan) {
  RankFacts facts;
  facts.facts = {{"dlrun", binaryText()},
                 {"seed", std::to_string(options.seed)},
                 {"options", optionsText(options)}};
  if (!options.init.empty())
    facts.facts.push_back({"--init", weightsText(options)});
  facts.failure = plan.status();
  if (plan) {
    facts.facts.push_back(
        {"plan",
         fmt::format("{} ({:016x})", plan->first().model, plan->checksum)});
    facts.facts.push_back({"mesh", meshText(plan->mesh)});
    addOrderOfSums(facts, plan->first(), options);
    facts.failure = checkSize(plan->mesh, carrier->size());
    // Known to all before a device is opened, so that it is said once.
    if (facts.failure.ok())
      facts.failure = lackForProcesses(plan->first());
  }
  DLRT_TRY(agree(std::move(facts)));
  auto own = gpuForRank(plan->first(), *carrier, hostName());
  if (!own)
    return sharedError(own.takeError());
  gpu = *own;
  return {};
}

static std::string dataText(Session &session, uint32_t step) {
  const Dataset &data = session.dataset(step);
  uint64_t bytes = 0;
  for (const MappedFile &file : data.files)
    bytes += file.bytes().size();
  if (data.fingerprint)
    return fmt::format("{} items with names and labels {:016x}", data.items,
                       data.fingerprint);
  return fmt::format("{} items, {} files of {} bytes", data.items,
                     data.files.size(), bytes);
}

Status Processes::agreeOnData(Session *session, Status own) {
  RankFacts facts;
  facts.failure = std::move(own);
  if (facts.failure.ok() && session)
    for (uint32_t s = 0; s < session->plan().steps.size(); ++s)
      if (session->hasData(s))
        facts.facts.push_back(
            {fmt::format("data of '{}'",
                         displayName(*session->plan().steps[s])),
             dataText(*session, s)});
  return agree(std::move(facts));
}

Status Processes::agreeWithFirst(Status own) {
  RankFacts facts;
  facts.failure = Together(carrier.get()).ofFirst(std::move(own));
  return agree(std::move(facts));
}

int dlrun::agreedWord(int mine) {
  Processes *run = Processes::current();
  return run ? run->word(mine) : mine;
}

int dlrun::agreedStopSignal() { return agreedWord(stopSignal()); }

void dlrun::endTogether() {
  if (Processes *run = Processes::current())
    run->endTogether();
}

Status dlrun::agreeOnData(Session *session, Status own) {
  Processes *run = Processes::current();
  return run ? run->agreeOnData(session, std::move(own)) : std::move(own);
}
