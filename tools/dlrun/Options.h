// The command line of dlrun.
#ifndef DLRUN_OPTIONS_H
#define DLRUN_OPTIONS_H

#include "runtime/base/Status.h"
#include "runtime/train/Generation.h"
#include "runtime/train/HaltOn.h"
#include "runtime/train/RunFolder.h"
#include "runtime/train/Session.h"
#include "runtime/train/Turns.h"
#include "runtime/train/Watch.h"
#include "tools/dlrun/LaunchCommand.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlrun {

enum class Command { Train, Eval, Info, Bench, Resume, Predict, Generate };

struct Options {
  Command command = Command::Train;
  std::string plan; ///< resume: the run's folder
  /// As they were given, but for those of `launch`.
  std::vector<std::string> arguments;
  /// Resume: what goes before them, said to earlier processes and to this one.
  std::vector<std::string> told;
  bool help = false, longHelp = false, version = false;
  bool commandNamed = false; ///< by its name; training has none

  std::optional<uint64_t> epochs, steps;
  std::vector<std::string> data;
  std::vector<dlrt::WeightSource> init;
  std::vector<dlrt::NameMap> initMaps; ///< of all files of `init`
  bool initPartial = false;
  std::vector<dlrt::SettingValue> settings;
  /// Of `settings` those said to this process and not by a run's record.
  std::vector<dlrt::SettingValue> newSettings;
  std::string saveFinal, saveMetrics;
  uint64_t seed = 0;
  unsigned threads = 0; ///< 0: one per core
  bool noShuffle = false, dropLast = false;
  std::string modelFolder; ///< of a run's plan, as its start has named it
  std::optional<uint64_t> logEvery, evalEvery, checkpointEvery;
  std::optional<double> checkpointSeconds; ///< instead
  std::string out;              ///< the run's folder, or a prediction's file
  uint64_t keep = 3;            ///< checkpoints; 0: all
  std::optional<uint64_t> from; ///< resume: the step of a checkpoint
  bool resumeAuto = false;      ///< go on if the folder holds a run
  std::string newPlan;          ///< resume: in place of the run's
  std::vector<dlrt::TurnWish> turns; ///< --alternate
  /// Said to this process and not by a run's record.
  std::vector<dlrt::TurnWish> newTurns;
  std::vector<dlrt::HaltCondition> haltOn;
  std::optional<dlrt::Goal> keepBest;
  std::optional<dlrt::StopCondition> stopWhen;
  bool json = false, quiet = false;
  std::string isa;
  bool ownKernels = false, flushDenormals = false;
  std::string trace; ///< a file, or empty
  bool poison = false;
  bool detectAnomaly = false;
  std::optional<uint64_t> orderSeed; ///< of --order=random
  std::optional<uint32_t> ranks;     ///< that the plan must be for
  std::optional<dlrt::LinkSpeed> link;
  double seconds = 3;
  std::string generation;          ///< generate: which of several
  std::optional<std::string> text; ///< generate: the prompt, as bytes
  std::string textFile;            ///< or in a file; "-": standard input
  std::vector<uint64_t> tokens;    ///< or as numbers
  uint64_t newTokens = 200, samples = 1;
  std::vector<std::string> stops;   ///< texts behind which a sample ends
  std::vector<uint64_t> stopTokens; ///< the same, each a token
  dlrt::Sampling sampling;
  LaunchOptions launch;
  std::string logDir; ///< for each process's words, or empty
};

/// Arguments without the program's name.
dlrt::Expected<Options> parseOptions(const std::vector<std::string> &arguments);

/// The options a run was started with, changed by what it was told since.
dlrt::Expected<Options> optionsOf(const dlrt::RunRecord &record);

/// The same, changed by those of `dlrun resume`.
dlrt::Expected<Options> parseResumed(const dlrt::RunRecord &record,
                                     const std::vector<std::string> &resumed);

/// "STEP=PATH,PATH" with absolute paths.
std::string absoluteData(const std::string &argument);

/// How long training is to go on, as an option: "--epochs=3".
std::string lengthOption(const Options &options);

/// "predict"
const char *commandName(Command command);

/// Whether a command has an option of this name.
bool takesOption(Command command, std::string_view name);

/// The text of -h or --help, of the tool or of one of its commands.
std::string helpText(const Options &options);

} // namespace dlrun

#endif
