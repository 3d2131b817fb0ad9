// What the processor can do, and which variant of the kernels fits it.
#ifndef DLRT_EXEC_CPU_H
#define DLRT_EXEC_CPU_H

#include "runtime/base/Status.h"
#include "runtime/plan/plan_generated.h"

#include <string>
#include <string_view>

namespace dlrt {

/// Whether this processor and operating system run code for a level such as
/// "x86-64-v3". Unknown levels are not supported.
bool cpuSupports(std::string_view level);

/// Index of the image to use: the best supported one, or, with `wanted`
/// ("v3", "v4", "v4+avx512bf16", "v4+amxbf16"; empty for the best), exactly
/// that one.
Expected<size_t> chooseImage(const fb::PlanT &plan, std::string_view wanted);

/// Processors this process may run on.
unsigned availableCores();

} // namespace dlrt

#endif
