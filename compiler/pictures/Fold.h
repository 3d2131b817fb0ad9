// Less of a picture: equal blocks once, a box for each module.
#pragma once

#include "compiler/pictures/Picture.h"

namespace dl::pictures {

/// Of neighbouring equal blocks only the first is left, with their number.
Picture foldBlocks(const Picture &picture);

/// The ops of one module become one box in each part of the step. Blocks may be
/// folded before.
Picture foldModules(const Picture &picture);

} // namespace dl::pictures
