#include "tools/dlrun/Paths.h"

#include "tools/dlrun/Events.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

using namespace dlrun;
using namespace dlrt;
namespace fs = std::filesystem;

bool dlrun::isRunFolder(const std::string &path) {
  std::error_code error;
  return fs::exists(path + "/run.json", error);
}

Status dlrun::checkPlanPath(const Options &options) {
  const std::string &plan = options.plan;
  auto usage = [](std::string message) {
    return Status(Code::Usage, std::move(message));
  };
  std::error_code error;
  if (fs::is_directory(plan, error) && options.command != Command::Resume) {
    if (isRunFolder(plan) && options.command == Command::Train)
      return usage(fmt::format("'{}' is the folder of a run; 'dlrun resume {}' "
                               "goes on with it",
                               plan, plan));
    if (isRunFolder(plan))
      return {};
    return usage(fmt::format("'{}' is a folder and no plan", plan));
  }
  fs::path path = plan;
  if (path.extension() == ".dl")
    return usage(fmt::format(
        "'{}' is a model; 'dlcc {}' compiles it to {}, "
        "which dlrun takes",
        plan, plan, path.filename().replace_extension(".plan").native()));
  if (path.extension() == ".safetensors")
    return usage(fmt::format("'{}' holds weights; dlrun takes a plan, and "
                             "weights with --init {}",
                             plan, plan));
  return {};
}

namespace {

struct Output {
  const char *option;
  const std::string &path;
};

} // namespace

static std::vector<Output> outputsOf(const Options &options) {
  std::vector<Output> outputs;
  for (Output output : {Output{"--save-final", options.saveFinal},
                        {"--save-metrics", options.saveMetrics},
                        {"--trace", options.trace}})
    if (!output.path.empty())
      outputs.push_back(output);
  if (options.command == Command::Predict)
    outputs.push_back({"--out", options.out});
  return outputs;
}

/// Whether two names are those of one file. A device, such as /dev/null, takes
/// whatever is written to it.
static bool sameFile(const std::string &a, const std::string &b) {
  std::error_code error;
  if (fs::exists(a, error) && !fs::is_regular_file(a, error))
    return false;
  if (fs::equivalent(a, b, error) && !error)
    return true;
  return fs::weakly_canonical(fs::absolute(a, error), error) ==
         fs::weakly_canonical(fs::absolute(b, error), error);
}

/// A name that promises another format than the only one there is.
static Status checkFormat(const char *option, const std::string &path) {
  std::string ending = fs::path(path).extension().native();
  for (const char *other : {".pt", ".pth", ".npz", ".npy", ".ckpt", ".pkl",
                            ".h5", ".onnx", ".gguf"})
    if (ending == other)
      return {Code::Usage,
              fmt::format("{} {}: this file would be .safetensors, which "
                          "PyTorch reads by safetensors.torch.load_file; give "
                          "it that ending",
                          option, path)};
  return {};
}

Status dlrun::checkOutputs(const Options &options) {
  DLRT_TRY(checkFormat("--save-final", options.saveFinal));
  DLRT_TRY(checkFormat("--save-metrics", options.saveMetrics));
  std::vector<Output> outputs = outputsOf(options);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (sameFile(outputs[i].path, options.plan))
      return {Code::Usage, fmt::format("{} {}: this is the plan",
                                       outputs[i].option, outputs[i].path)};
    for (const WeightSource &source : options.init)
      if (options.command == Command::Predict &&
          sameFile(outputs[i].path, source.path))
        return {Code::Usage, fmt::format("{} {}: these are the weights",
                                         outputs[i].option, outputs[i].path)};
    for (size_t j = 0; j < i; ++j)
      if (sameFile(outputs[i].path, outputs[j].path))
        return {Code::Usage,
                fmt::format("{} {} and {} {}: two outputs in one file",
                            outputs[j].option, outputs[j].path,
                            outputs[i].option, outputs[i].path)};
  }
  return {};
}

Status dlrun::checkOutputsAgainstData(const Options &options,
                                      const Session &session) {
  std::vector<std::string> data;
  for (uint32_t s = 0; s < session.plan().steps.size(); ++s)
    for (const std::string &path : session.dataPaths(s))
      data.push_back(path);
  for (const Output &output : outputsOf(options))
    for (const std::string &path : data)
      if (sameFile(output.path, path))
        return {Code::Usage, fmt::format("{} {}: this is a file of the data",
                                         output.option, output.path)};
  return {};
}

void dlrun::makeAbsolute(Options &options) {
  auto absolute = [](std::string &path) {
    if (!path.empty())
      path = fs::absolute(path).native();
  };
  for (WeightSource &source : options.init)
    absolute(source.path);
  for (std::string *path :
       {&options.saveFinal, &options.saveMetrics, &options.trace, &options.out})
    absolute(*path);
  if (options.textFile != "-") // standard input
    absolute(options.textFile);
  for (std::string &argument : options.data)
    argument = absoluteData(argument);
}

std::string dlrun::folderOfStart(const RunRecord &record) {
  auto started = parseOptions(record.arguments);
  std::string folder =
      started ? fs::path(started->plan).parent_path().native() : "";
  return folder.empty() ? "." : folder;
}

/// Without `path` at its end, if it is there.
static std::optional<fs::path> without(fs::path folder, const fs::path &path) {
  fs::path end = path.lexically_normal();
  if (!end.has_filename()) // "runs/a/"
    end = end.parent_path();
  for (; !end.empty(); end = end.parent_path(), folder = folder.parent_path())
    if (end.is_absolute() || end.filename() == ".." ||
        end.filename() != folder.filename())
      return std::nullopt;
  return folder;
}

/// Where the relative paths of a run belong: the folder in which it was
/// started, or a copy of that, which has the plan as well.
static std::string folderOfPaths(const RunRecord &record,
                                 const Options &started,
                                 const std::string &folder) {
  std::error_code error;
  fs::path was =
      fs::weakly_canonical(fs::path(record.folder) / started.out, error);
  fs::path is = fs::weakly_canonical(folder, error);
  bool isCopy = was != is && isRunFolder(was);
  if (was == is || !(isCopy || !fs::exists(record.folder, error)))
    return record.folder;
  auto start = without(is, started.out);
  if (start && !fs::path(started.plan).is_absolute() &&
      fs::exists(*start / started.plan, error)) {
    warn(fmt::format("the run was started as '{}'; its relative paths are "
                     "those of '{}' here",
                     was.native(), start->native()));
    return *start;
  }
  if (isCopy)
    warn(fmt::format("there is a run in '{}', where this one was started; its "
                     "relative paths, of weights to be written, too, are those "
                     "of '{}'",
                     was.native(), record.folder));
  return record.folder;
}

void dlrun::enterFolderOf(const RunRecord &record, const Options &started,
                          const std::string &folder) {
  std::string start = folderOfPaths(record, started, folder);
  std::error_code error;
  fs::current_path(start, error);
  if (error)
    warn(fmt::format("the run was started in '{}', which cannot be entered; "
                     "its relative paths are looked for here",
                     start));
}

Expected<Options> dlrun::withRunFolder(const Options &given) {
  Options options = given;
  if (!isRunFolder(given.plan))
    return options;
  auto record = RunFolder::recordIn(given.plan);
  if (!record)
    return record.takeError();
  auto started = optionsOf(*record);
  if (!started)
    return started.takeError().within("the run's own options");
  makeAbsolute(options);
  std::string folder = fs::absolute(given.plan).native();
  options.plan = folder + "/model.plan";
  options.modelFolder = folderOfStart(*record);
  if (options.init.empty())
    options.init = {{folder, {}}};
  if (options.data.empty())
    options.data = started->data;
  enterFolderOf(*record, *started, folder);
  return options;
}
