// How messages name an op of the model.
#ifndef DLRT_PLAN_SOURCETEXT_H
#define DLRT_PLAN_SOURCETEXT_H

#include "runtime/plan/plan_generated.h"

#include <string>

namespace dlrt {

/// "conv2d in 'conv1' at mnist.dl:14:17"
std::string sourceText(const fb::SourceT &source);

} // namespace dlrt

#endif
