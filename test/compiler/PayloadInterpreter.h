// Runs a loop nest with its payload, element by element.
#pragma once

#include "dialects/graph/Graph.h"
#include <string>

namespace dl::test {

/// The op's results, computed from its loop nest and payload; the scalars that
/// the payload reads are those of the op's last operand. On a payload op or an
/// access that is not allowed, `error` says what.
llvm::SmallVector<graph::HostTensor>
interpretNest(graph::LoopNestOpInterface op,
              llvm::ArrayRef<graph::HostTensor> operands, std::string &error);

} // namespace dl::test
