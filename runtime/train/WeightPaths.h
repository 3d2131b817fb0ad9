// What an argument that names weights stands for.
#ifndef DLRT_TRAIN_WEIGHTPATHS_H
#define DLRT_TRAIN_WEIGHTPATHS_H

#include "runtime/base/Status.h"
#include "runtime/state/WeightMatch.h"

#include <string>
#include <vector>

namespace dlrt {

/// The weight files of an argument, which is one of
///   weights.safetensors           itself
///   runs/a                        the folder of a run: its newest checkpoint
///   model.safetensors.index.json  the files that hold its parts, as
///                                 huggingface/transformers writes them
///   llama                         a folder with one of these, or with
///                                 model.safetensors
///   parts-*.safetensors           all that are like it
Expected<std::vector<std::string>> weightPaths(const std::string &argument);

/// The files of all arguments, those of one as parts of one source.
Expected<std::vector<WeightSource>>
weightSources(const std::vector<WeightSource> &arguments);

} // namespace dlrt

#endif
