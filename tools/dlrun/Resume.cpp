#include "runtime/train/RunFolder.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Paths.h"
#include "tools/dlrun/Processes.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

using namespace dlrun;
using namespace dlrt;

/// The path of a folder that holds a run at which nobody else is at work. Of
/// several processes rank 0 looks.
static Expected<std::string> folderOfRun(const std::string &path) {
  std::string name = path;
  auto look = [&]() -> Status {
    auto folder = RunFolder::open(path, /*create=*/false);
    if (!folder)
      return folder.takeError();
    name = folder->path();
    if (folder->holdsRun())
      return {};
    return {Code::Io,
            fmt::format("'{}' holds no run: run.json is missing", name)};
  };
  Processes *run = Processes::current();
  Status found = run && run->rank() != 0 ? Status() : look();
  DLRT_TRY(run ? run->agreeWithFirst(std::move(found)) : std::move(found));
  return name;
}

Expected<int> dlrun::runResume(const Options &given) {
  Options options;
  {
    auto folder = folderOfRun(given.plan);
    if (!folder)
      return folder.takeError();
    auto record = RunFolder::recordIn(*folder);
    if (!record)
      return record.takeError();
    auto started = parseOptions(record->arguments);
    if (!started)
      return started.takeError().within("the run's own options");
    auto merged = parseResumed(*record, given.arguments);
    if (!merged)
      return merged.takeError();
    options = std::move(*merged);
    // Relative paths are those of the run's start.
    std::error_code error;
    auto here = std::filesystem::current_path(error);
    std::string path = std::filesystem::absolute(*folder, error);
    enterFolderOf(*record, *started, path);
    options.out = std::filesystem::current_path(error) == here ? *folder : path;
    options.modelFolder = folderOfStart(*record);
    if (options.newPlan.empty())
      options.plan = options.out + "/model.plan";
    else
      options.plan = options.newPlan;
    if (const Processes *run = Processes::current())
      run->keepOnFirst(options);
  }
  return runTrain(options);
}
