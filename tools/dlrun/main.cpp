#include "runtime/plan/Container.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Options.h"
#include "tools/dlrun/Paths.h"
#include "tools/dlrun/Process.h"
#include "tools/dlrun/Processes.h"
#include "tools/dlrun/Signals.h"
#include "tools/streams/StandardStreams.h"

#include <fmt/format.h>

#include <exception>
#include <new>

using namespace dlrun;
using namespace dlrt;

static Expected<int> dispatch(Options &options) {
  if (options.version || options.help) {
    writeStdout(options.version
                    ? fmt::format("dlrun {} (plan format {})\n", DLRUN_VERSION,
                                  ContainerFormat::version)
                    : helpText(options));
    return 0;
  }
  if (options.launch.processes != 0)
    return runLaunched(options);
  DLRT_TRY(Processes::join(options));
  if (!Processes::current())
    DLRT_TRY(checkPlanPath(options));
  bool isOfPlan =
      options.command == Command::Info || options.command == Command::Bench;
  if (isOfPlan && isRunFolder(options.plan))
    options.plan += "/model.plan";
  switch (options.command) {
  case Command::Train:
    return runTrain(options);
  case Command::Resume:
    return runResume(options);
  case Command::Eval:
    return runEval(options);
  case Command::Info:
    return runInfo(options);
  case Command::Predict:
    return runPredict(options);
  case Command::Generate:
    return runGenerate(options);
  case Command::Bench:
    return runBench(options);
  }
  return Status(Code::Bug, "unknown command");
}

static Expected<int> run(int argc, char **argv) {
  try {
    Expected<Options> options =
        parseOptions(std::vector<std::string>(argv + 1, argv + argc));
    if (!options)
      return options.takeError();
    Expected<int> code = dispatch(*options);
    if (!code)
      return code;
    Status told = stdoutStatus();
    if (*code == 0)
      DLRT_TRY(std::move(told));
    else if (!told.ok()) // what ended the run says more
      warn(told.message());
    return code;
  } catch (const std::bad_alloc &) {
    return Status(Code::Unavailable, "out of memory");
  } catch (const std::exception &error) {
    return Status(Code::Bug, fmt::format("unexpected: {}", error.what()));
  }
}

int main(int argc, char **argv) {
  noteProcessStart();
  keepStandardStreams();
  installFaultHandlers();
  installStopSignals();
  Expected<int> code = run(argc, argv);
  std::string said;
  if (!code) {
    said = code.status().message();
    writeStderr(fmt::format("dlrun: error: {}\n", said));
    code = static_cast<int>(code.status().code());
  }
  Processes *processes = Processes::current();
  return processes ? processes->end(*code, said) : *code;
}
