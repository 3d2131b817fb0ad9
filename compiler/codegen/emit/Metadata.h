// The metadata section, built from the plan dialect.
#pragma once

#include "compiler/codegen/emit/EmitPlan.h"
#include "runtime/plan/plan_generated.h"

namespace dl::emit {

/// Everything but the images and the mesh. What the plans share stands in the
/// first.
mlir::FailureOr<std::vector<dlrt::fb::PlanT>>
buildMetadata(llvm::ArrayRef<plan::PlanOp> plans);

} // namespace dl::emit
