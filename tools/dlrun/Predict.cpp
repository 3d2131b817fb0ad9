#include "runtime/base/AtomicFile.h"
#include "runtime/base/Numbers.h"
#include "runtime/train/Prediction.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Paths.h"
#include "tools/dlrun/Process.h"
#include "tools/dlrun/Processes.h"
#include "tools/dlrun/Signals.h"
#include "tools/dlrun/StartTable.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

using namespace dlrun;
using namespace dlrt;

/// Of each step its tensors; those of several steps have their names in front.
static std::vector<std::vector<StreamedTensor>>
tensorsOf(const Session &session, const std::vector<uint32_t> &steps) {
  std::vector<std::vector<StreamedTensor>> tensors;
  for (uint32_t step : steps)
    tensors.push_back(predictedTensors(
        session, step,
        steps.size() == 1 ? ""
                          : displayName(*session.plan().steps[step]) + "."));
  return tensors;
}

static void report(const Options &options, const Prediction &result,
                   const std::string &path) {
  if (options.json)
    Event("predict")
        .field("name", result.name)
        .field("items", result.items)
        .field("path", path)
        .send();
  else
    writeStdout(fmt::format("{}: {} items, {}\n", result.name,
                            withCommas(result.items),
                            humanSeconds(result.seconds)));
}

static Status openData(Session &session, const std::vector<uint32_t> &steps) {
  for (uint32_t step : steps)
    DLRT_TRY(session.openData(step));
  return {};
}

static Status openAll(Session &session, const std::vector<uint32_t> &steps) {
  DLRT_TRY(agreeOnData(&session, openData(session, steps)));
  return beginStates(session);
}

/// 0, or the exit code of a stop.
static Expected<int> predictAll(Session &session, const Options &options,
                                const std::vector<uint32_t> &steps,
                                const std::string &path) {
  auto tensors = tensorsOf(session, steps);
  std::vector<StreamedTensor> all;
  for (const auto &ofStep : tensors)
    all.insert(all.end(), ofStep.begin(), ofStep.end());
  std::optional<TensorStream> stream;
  if (session.together().keepsFiles()) {
    auto created = TensorStream::create(path, all);
    if (!created)
      return created.takeError();
    stream = std::move(*created);
  }
  reportStart(session, options, "");
  std::vector<Prediction> results;
  int signal = 0;
  size_t first = 0;
  for (size_t s = 0; s < steps.size(); ++s) {
    RowSink sink;
    if (stream)
      sink = [&, first](size_t tensor, std::span<const uint8_t> rows) {
        return stream->append(first + tensor, rows);
      };
    auto result = predict(session, steps[s], sink, [&signal] {
      signal = signal != 0 ? signal : agreedStopSignal();
      return signal == 0;
    });
    if (!result)
      return result.takeError();
    if (!result->complete)
      return 128 + signal;
    first += tensors[s].size();
    results.push_back(std::move(*result));
  }
  if (stream)
    DLRT_TRY(stream->finish());
  for (const Prediction &result : results)
    report(options, result, path);
  sayWritten(options, "predictions", path);
  return 0;
}

Expected<int> dlrun::runPredict(const Options &given) {
  Options wanted = given;
  if (wanted.out.empty())
    wanted.out = std::filesystem::path(given.plan).stem().native() +
                 ".predictions.safetensors";
  auto found = withRunFolder(wanted);
  if (!found)
    return found.takeError();
  const Options &options = *found;
  DLRT_TRY(checkOutputs(options));
  if (const Processes *run = Processes::current(); !run || run->rank() == 0)
    DLRT_TRY(checkWritable(options.out));
  auto opened = openSession(options);
  if (!opened)
    return opened.takeError();
  Session &session = **opened;
  std::vector<uint32_t> steps = session.predictionSteps();
  if (steps.empty())
    return Status(Code::Usage,
                  fmt::format("'{}' has no prediction: the model has no "
                              "p.predict()",
                              options.plan));
  DLRT_TRY(checkWeightsNamed(options, session.plan()));
  DLRT_TRY(checkOutputsAgainstData(options, session));
  DLRT_TRY(openAll(session, steps));
  auto code = predictAll(session, options, steps, options.out);
  if (!code)
    return code;
  DLRT_TRY(saveTrace(options, session));
  if (options.json)
    Event("end")
        .field("steps", 0)
        .field("seconds", secondsSinceStart())
        .field("peak_rss_bytes", peakResidentBytes())
        .send();
  return code;
}
