// The commands of dlrun. Each gives the process's exit code or an error.
#ifndef DLRUN_COMMANDS_H
#define DLRUN_COMMANDS_H

#include "runtime/base/Status.h"
#include "runtime/plan/PlanReader.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/Session.h"
#include "tools/dlrun/Options.h"

#include <map>
#include <memory>
#include <string>

namespace dlrun {

dlrt::Expected<int> runTrain(const Options &options);
/// Goes on with the run in a folder.
dlrt::Expected<int> runResume(const Options &options);
dlrt::Expected<int> runEval(const Options &options);
dlrt::Expected<int> runPredict(const Options &options);
dlrt::Expected<int> runGenerate(const Options &options);
dlrt::Expected<int> runBench(const Options &options);
dlrt::Expected<int> runInfo(const Options &options);
/// -np: starts processes that do the rest, and watches them.
dlrt::Expected<int> runLaunched(const Options &options);

/// What a rank that runs the plan keeps in states, by their role.
std::map<dlrt::fb::StateRole, uint64_t> stateBytes(const dlrt::fb::PlanT &plan);

/// The plan as a JSON document, for runInfo.
std::string planAsJson(const dlrt::LoadedPlan &loaded, const std::string &path);

/// Opens the plan as the options say.
dlrt::Expected<std::unique_ptr<dlrt::Session>>
openSession(const Options &options, bool synthetic = false);

/// Weights that nobody has named would give numbers without a meaning.
dlrt::Status checkWeightsNamed(const Options &options,
                               const dlrt::fb::PlanT &plan);

/// States as the plan and --init begin them, with what there is to say of it.
dlrt::Status beginStates(dlrt::Session &session);

/// Writes the trace if the options name a file for it. To be called while
/// nothing runs.
dlrt::Status saveTrace(const Options &options, dlrt::Session &session);
/// "weights written to w.safetensors" on stderr.
void sayWritten(const Options &options, const std::string &what,
                const std::string &path);

/// An evaluation's result: an event, or a line on stdout.
void reportEvaluation(const Options &options, const dlrt::Evaluation &result,
                      dlrt::TrainingPosition position);

} // namespace dlrun

#endif
