// What the paths of a command line must not be.
#ifndef DLRUN_PATHS_H
#define DLRUN_PATHS_H

#include "runtime/base/Status.h"
#include "runtime/train/Session.h"
#include "tools/dlrun/Options.h"

namespace dlrun {

bool isRunFolder(const std::string &path);

/// A model, weights or a folder in the place of the plan: says what was meant.
dlrt::Status checkPlanPath(const Options &options);

/// Files to write must be apart from each other and from the plan.
dlrt::Status checkOutputs(const Options &options);
/// And from the data that a session has opened, or would open.
dlrt::Status checkOutputsAgainstData(const Options &options,
                                     const dlrt::Session &session);

/// Of an evaluation: a run's folder stands for its plan, its newest weights and
/// its data. Enters the folder in which the run was started.
dlrt::Expected<Options> withRunFolder(const Options &options);

/// Enters the folder of a run's relative paths: in which it was started, with
/// these options, or a copy of that. `folder` is where the run is now.
void enterFolderOf(const dlrt::RunRecord &record, const Options &started,
                   const std::string &folder);

/// The folder of the plan that a run was started with; "." where it had none.
std::string folderOfStart(const dlrt::RunRecord &record);

/// Makes the relative paths of the options absolute.
void makeAbsolute(Options &options);

} // namespace dlrun

#endif
