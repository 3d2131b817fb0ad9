#include "runtime/train/RunFolder.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Paths.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

using namespace dlrun;
using namespace dlrt;

Expected<int> dlrun::runResume(const Options &given) {
  Options options;
  {
    auto folder = RunFolder::open(given.plan, /*create=*/false);
    if (!folder)
      return folder.takeError();
    if (!folder->holdsRun())
      return Status(Code::Io, fmt::format("'{}' holds no run: run.json is "
                                          "missing",
                                          folder->path()));
    auto record = folder->record();
    if (!record)
      return record.takeError();
    auto merged = parseResumed(*record, given.arguments);
    if (!merged)
      return merged.takeError();
    options = std::move(*merged);
    options.out = folder->path();
    // Relative paths are those of the run's start.
    std::error_code error;
    if (std::filesystem::current_path(error) != record->folder) {
      options.out = std::filesystem::absolute(options.out, error);
      std::filesystem::current_path(record->folder, error);
      if (error)
        warn(fmt::format("the run was started in '{}', which cannot be "
                         "entered; its relative paths are looked for here",
                         record->folder));
    }
    options.modelFolder = folderOfStart(*record);
    if (options.newPlan.empty())
      options.plan = options.out + "/model.plan";
    else
      options.plan = options.newPlan;
  }
  return runTrain(options);
}
