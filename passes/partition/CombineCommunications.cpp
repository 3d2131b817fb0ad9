// combine-communications: small exchanges of one group go together.
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/partition/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <set>

namespace dl {
#define GEN_PASS_DEF_COMBINECOMMUNICATIONS
#include "passes/partition/Passes.h.inc"
} // namespace dl

using namespace mlir;

namespace dl::partition {
namespace {

using graph::CommunicationOpInterface;

/// The most ops that follow from what a bucket has received and are moved
/// behind it: a sum and what views it takes, for each of some parameters.
constexpr size_t maxMoved = 256;

int64_t bytesOf(CommunicationOpInterface op) {
  int64_t bytes = 0;
  for (Value value : op->getOperands())
    bytes += graph::tensorBytes(value.getType());
  return bytes;
}

/// A step as one class of ranks has it.
struct LocalStep {
  /// By their numbers.
  std::map<uint64_t, CommunicationOpInterface> communications;
  Operation *seen = nullptr; // up to here the block has been gone through
};

/// Communications that may go together, and what reads from them so far.
struct Bucket {
  SmallVector<uint64_t> orders;
  int64_t bytes = 0; // of the class that sends most
  llvm::DenseSet<Operation *> behind;
  bool isOpen = true;
};

/// A step of all classes. Communications are gone through in the order of their
/// numbers, which all ranks keep, and all classes take the same decision.
class StepCommunications {
public:
  StepCommunications(ArrayRef<graph::StepOp> steps, int64_t fullBytes)
      : fullBytes(fullBytes) {
    for (graph::StepOp step : steps) {
      LocalStep &local = locals.emplace_back();
      local.seen = &step.getBody().front().front();
      for (Operation &op : step.getOps())
        if (auto exchange = dyn_cast<CommunicationOpInterface>(op)) {
          local.communications[exchange.getOrder()] = exchange;
          orders.insert(exchange.getOrder());
        }
    }
  }

  void combine() {
    for (uint64_t order : orders) {
      for (LocalStep &local : locals)
        if (auto exchange = local.communications.find(order);
            exchange != local.communications.end())
          goTo(local, exchange->second);
      place(order);
    }
    for (auto &[kind, buckets] : byKind)
      for (Bucket &bucket : buckets)
        if (bucket.orders.size() > 1)
          join(bucket);
  }

private:
  /// The axes, and whether members are relative.
  using Kind = std::pair<ArrayAttr, unsigned>;

  /// Notes what follows from open buckets before this communication, which
  /// ends those that it follows from itself.
  void goTo(LocalStep &local, Operation *until) {
    for (auto &[kind, buckets] : byKind) {
      Bucket &bucket = buckets.back();
      if (!bucket.isOpen)
        continue;
      for (Operation *op = local.seen;; op = op->getNextNode()) {
        if (follows(op, bucket)) {
          bucket.behind.insert(op);
          bucket.isOpen &= op != until && bucket.behind.size() <= maxMoved;
        }
        if (op == until || !bucket.isOpen)
          break;
      }
    }
    local.seen = until;
  }

  static bool follows(Operation *op, const Bucket &bucket) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return bucket.behind.contains(operand.getDefiningOp());
    });
  }

  /// Puts it into the open bucket of its axes, or into a new one.
  void place(uint64_t order) {
    Kind kind;
    int64_t bytes = 0;
    bool canWait = true;
    for (LocalStep &local : locals) {
      auto it = local.communications.find(order);
      if (it == local.communications.end())
        continue;
      kind = {it->second.getAxes(), it->second.getRelative()};
      bytes = std::max(bytes, bytesOf(it->second));
      canWait &= isa<graph::AllGatherOp, graph::AllToAllOp>(it->second);
    }
    if (!canWait)
      return;
    std::vector<Bucket> &buckets = byKind[kind];
    if (buckets.empty() || !buckets.back().isOpen ||
        !haveBoth(buckets.back().orders.back(), order))
      buckets.emplace_back();
    Bucket &bucket = buckets.back();
    bucket.orders.push_back(order);
    bucket.bytes += bytes;
    bucket.isOpen = bucket.bytes < fullBytes;
    for (LocalStep &local : locals)
      if (auto it = local.communications.find(order);
          it != local.communications.end())
        bucket.behind.insert(it->second);
  }

  /// Every class has both, or none of them.
  bool haveBoth(uint64_t one, uint64_t other) const {
    return llvm::all_of(locals, [&](const LocalStep &local) {
      return local.communications.contains(one) ==
             local.communications.contains(other);
    });
  }

  /// The first class that has it says so.
  void join(const Bucket &bucket) {
    bool isSaid = false;
    for (LocalStep &local : locals) {
      if (!local.communications.contains(bucket.orders.front()))
        continue;
      graph::BucketOp made = join(local, bucket);
      if (std::exchange(isSaid, true))
        continue;
      InFlightDiagnostic remark = emitRemark(made->getLoc()) << "bucket over";
      for (auto axis : made.getAxes().getAsRange<StringAttr>())
        remark << " " << axis.getValue();
      remark << ": " << bucket.orders.size() << " communications of "
             << bucket.bytes << " bytes of a rank begin and end together";
    }
  }

  static graph::BucketOp join(LocalStep &local, const Bucket &bucket) {
    SmallVector<CommunicationOpInterface> members;
    for (uint64_t order : bucket.orders)
      members.push_back(local.communications.at(order));
    Operation *last = members.back();
    moveBehind(members.front(), last, bucket);
    SmallVector<Location> places;
    for (CommunicationOpInterface member : members)
      places.push_back(graph::withoutRole(member->getLoc()));
    OpBuilder builder(last);
    Location place = graph::withRole(builder.getFusedLoc(places),
                                     graph::roleOf(last->getLoc()),
                                     graph::roleSource(last->getLoc()));
    auto made = graph::BucketOp::create(builder, place, members);
    auto results = made->getResults().begin();
    for (CommunicationOpInterface member : members) {
      for (Value result : member->getResults())
        result.replaceAllUsesWith(*results++);
      member->erase();
    }
    return made;
  }

  static void moveBehind(Operation *first, Operation *last,
                         const Bucket &bucket) {
    Operation *after = last;
    for (Operation *op = first->getNextNode(); op != last;) {
      Operation *next = op->getNextNode();
      if (bucket.behind.contains(op) && !isa<CommunicationOpInterface>(op)) {
        op->moveAfter(after);
        after = op;
      }
      op = next;
    }
  }

  const int64_t fullBytes;
  std::vector<LocalStep> locals;
  std::set<uint64_t> orders;
  llvm::MapVector<Kind, std::vector<Bucket>> byKind;
};

struct CombineCommunications
    : impl::CombineCommunicationsBase<CombineCommunications> {
  using Base::Base;
  void runOnOperation() override {
    llvm::MapVector<StringAttr, SmallVector<graph::StepOp>> steps;
    for (ModuleOp ranks : rankModules(getOperation()))
      for (auto step : ranks.getOps<graph::StepOp>())
        steps[step.getSymNameAttr()].push_back(step);
    for (auto &[name, local] : steps)
      StepCommunications(local, machine.bucketBytes).combine();
  }
};

} // namespace
} // namespace dl::partition
