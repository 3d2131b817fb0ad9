// What is written in a box, and how large the box has to be.
#pragma once

#include "compiler/pictures/Layout.h"

namespace dl::pictures {

BoxText textOf(const Node &node);

/// Width and height of the box for it.
Point sizeOf(const BoxText &text);

} // namespace dl::pictures
