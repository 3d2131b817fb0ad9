// set-priorities: what commands have to wait for each one.
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/schedule/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include <cmath>

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_SETPRIORITIES
#include "passes/schedule/Passes.h.inc"
} // namespace dl

namespace dl::schedule {
namespace {

/// The programs that the ranks run together, as one graph: an exchange is a
/// single node of it, behind which is what is behind it on any rank.
class JointCommands {
public:
  void add(plan::ProgramOp program) {
    llvm::DenseMap<Value, unsigned> nodeOf; // by what others wait for
    for (plan::CommandOpInterface command : plan::commandsOf(program)) {
      unsigned node = nodeFor(command);
      auto seconds = command.getSeconds();
      double own = seconds ? seconds->convertToDouble() : 0;
      nodes[node].own = std::max(
          nodes[node].own, static_cast<uint64_t>(std::llround(own * 1e9)));
      nodes[node].parts.push_back(command);
      nodeOf[command.getDone()] = node;
      for (Value token : command.getAfter()) {
        unsigned before = nodeOf.lookup(token);
        nodes[node].after.push_back(before);
        ++nodes[before].waiters;
      }
    }
  }

  /// What ranks that would wait for each other forever have there is not
  /// weighed: they are refused later.
  void setPriorities() {
    SmallVector<unsigned> ready;
    for (auto [index, node] : llvm::enumerate(nodes))
      if (node.waiters == 0)
        ready.push_back(index);
    while (!ready.empty()) {
      Node &node = nodes[ready.pop_back_val()];
      uint64_t whole = node.behind + node.own;
      for (plan::CommandOpInterface part : node.parts)
        part.setPriority(whole);
      for (unsigned before : node.after) {
        nodes[before].behind = std::max(nodes[before].behind, whole);
        if (--nodes[before].waiters == 0)
          ready.push_back(before);
      }
    }
  }

private:
  struct Node {
    SmallVector<plan::CommandOpInterface, 1> parts;
    SmallVector<unsigned, 4> after;
    unsigned waiters = 0;
    uint64_t own = 0, behind = 0; ///< nanoseconds
  };

  unsigned nodeFor(plan::CommandOpInterface command) {
    auto exchange = dyn_cast<plan::CommunicateOp>(command.getOperation());
    if (exchange) {
      auto [found, isNew] =
          exchanges.try_emplace(exchange.getOrder(), nodes.size());
      if (!isNew)
        return found->second;
    }
    nodes.emplace_back();
    return nodes.size() - 1;
  }

  std::vector<Node> nodes;
  llvm::DenseMap<uint64_t, unsigned> exchanges; ///< by their order
};

struct SetPriorities : impl::SetPrioritiesBase<SetPriorities> {
  void runOnOperation() override {
    // The n-th program of each plan is run by all ranks together.
    std::vector<JointCommands> together;
    for (auto plan : getOperation().getOps<plan::PlanOp>()) {
      size_t index = 0;
      plan.walk([&](plan::ProgramOp program) {
        if (index == together.size())
          together.emplace_back();
        together[index++].add(program);
      });
    }
    for (JointCommands &commands : together)
      commands.setPriorities();
  }
};

} // namespace
} // namespace dl::schedule
