#pragma once

#include "compiler/pictures/Arrange.h"

namespace dl::pictures {

/// The same picture for Graphviz, which gives it places of its own.
std::string writeDot(const Picture &picture, const Arrangement &arrangement);

} // namespace dl::pictures
