#pragma once

#include "compiler/pictures/Layout.h"

namespace dl::pictures {

/// The whole file. The same picture gives the same bytes.
std::string writeSvg(const Picture &picture, const Arrangement &arrangement);

} // namespace dl::pictures
