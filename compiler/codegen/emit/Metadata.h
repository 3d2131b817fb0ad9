// The metadata section, built from the plan dialect.
#pragma once

#include "dialects/plan/Plan.h"
#include "runtime/plan/plan_generated.h"

namespace dl::emit {

/// Everything but the images.
mlir::FailureOr<dlrt::fb::PlanT> buildMetadata(plan::PlanOp plan);

} // namespace dl::emit
