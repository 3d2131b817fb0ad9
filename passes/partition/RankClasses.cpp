#include "passes/partition/RankClasses.h"
#include "dialects/graph/Step.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/xxhash.h"
#include <set>

using namespace mlir;

namespace dl::partition {

std::optional<int64_t> RankClass::neighbour(const Mesh &mesh,
                                            unsigned axis) const {
  Coordinates at = mesh.coordinates(ranks.front());
  for (++at[axis]; at[axis] < mesh.size(axis); ++at[axis])
    if (int64_t rank = mesh.rankOf(at); llvm::is_contained(ranks, rank))
      return rank;
  return std::nullopt;
}

namespace {

class Classifier {
public:
  Classifier(ModuleOp module, const Mesh &mesh, const OpShardings &shardings)
      : module(module), mesh(mesh), shardings(shardings) {}

  std::vector<RankClass> run() {
    module.walk([&](graph::StepOp step) {
      collectArguments(step);
      for (Operation &op : step.getOps())
        collect(&op);
    });
    std::map<std::vector<int64_t>, RankClass> classes;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      classes[signatureOf(mesh.coordinates(rank))].ranks.push_back(rank);
    std::vector<RankClass> sorted;
    for (auto &[signature, ranks] : classes)
      sorted.push_back(std::move(ranks));
    llvm::sort(sorted, [](const RankClass &a, const RankClass &b) {
      return a.ranks.front() < b.ranks.front();
    });
    return sorted;
  }

private:
  void addSplit(int64_t size, ArrayRef<unsigned> axes) {
    if (!axes.empty())
      splits.insert({size, std::vector<unsigned>(axes.begin(), axes.end())});
  }

  void addTensor(ArrayRef<int64_t> shape, const TensorSharding &sharding) {
    for (auto [size, dim] : llvm::zip_equal(shape, sharding.dims))
      for (const Digit &digit : dim.digitsOf(size))
        for (size_t count = 1; count <= digit.axes.size(); ++count)
          addSplit(digit.size, ArrayRef(digit.axes).take_front(count));
  }

  void collectArguments(graph::StepOp step) {
    for (BlockArgument argument : step.getArguments())
      addTensor(cast<RankedTensorType>(argument.getType()).getShape(),
                argumentSharding(argument, mesh));
  }

  void collect(Operation *op) {
    if (auto reshard = dyn_cast<graph::ReshardOp>(op)) {
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(reshard.getType()).getShape();
      TensorSharding from = TensorSharding::of(reshard.getFrom(), mesh);
      TensorSharding to = TensorSharding::of(reshard.getTo(), mesh);
      addTensor(shape, from);
      addTensor(shape, to);
      for (unsigned axis : to.sum)
        if (!llvm::is_contained(from.sum, axis))
          origins.insert(axis);
      return;
    }
    auto it = shardings.find(op);
    if (it == shardings.end())
      return;
    for (auto [factor, divided] :
         llvm::zip(it->second.rule.factors, it->second.factors))
      for (const Digit &digit : divided.digitsOf(factor.size))
        addSplit(digit.size, digit.axes);
    // What is more than the op with local extents may differ in kind.
    if (isa<graph::ShardingOpInterface>(op) && !it->second.axes().empty())
      placed.push_back(op);
  }

  std::vector<int64_t> signatureOf(const Coordinates &coordinates) {
    std::vector<int64_t> signature;
    for (const auto &[size, axes] : splits)
      signature.push_back(
          graph::blockOf(size, mesh.count(axes), mesh.index(axes, coordinates))
              .size());
    if (mesh.stages)
      signature.push_back(coordinates[*mesh.stages]);
    for (unsigned axis : origins)
      signature.push_back(coordinates[axis] == 0);
    for (Operation *op : placed) {
      int64_t micros = dependsOnMicroBatch(op) ? mesh.microBatches : 1;
      for (int64_t m = 0; m < micros; ++m) {
        Coordinates at = coordinates;
        if (mesh.time)
          at[*mesh.time] = m;
        signature.push_back(structureOf(op, at));
      }
    }
    return signature;
  }

  /// Whether the local ops of micro-batches may differ in kind, as those of
  /// ranks may: by where their parts begin.
  bool dependsOnMicroBatch(Operation *op) const {
    const OpSharding &sharding = shardings.at(op);
    return mesh.time && llvm::any_of(llvm::zip_equal(sharding.rule.factors,
                                                     sharding.factors),
                                     [&](const auto &one) {
                                       return std::get<0>(one).isPlaced &&
                                              std::get<1>(one).uses(*mesh.time);
                                     });
  }

  /// What a rank's local op depends on: where its parts begin of factors that
  /// are placed, and how large the parts of others are.
  std::vector<int64_t> partOf(const OpSharding &sharding,
                              const Coordinates &coordinates) const {
    std::vector<int64_t> part;
    for (auto [factor, divided] :
         llvm::zip_equal(sharding.rule.factors, sharding.factors))
      for (const Digit &digit : divided.digitsOf(factor.size)) {
        int64_t index = mesh.index(digit.axes, coordinates);
        part.push_back(
            factor.isPlaced
                ? index
                : graph::blockOf(digit.size, mesh.count(digit.axes), index)
                      .size());
      }
    return part;
  }

  /// A hash of the local ops without constants of launches.
  int64_t structureOf(Operation *op, const Coordinates &coordinates) {
    const OpSharding &sharding = shardings.at(op);
    auto [it, isNew] =
        structures.try_emplace({op, partOf(sharding, coordinates)}, 0);
    if (!isNew)
      return it->second;
    graph::Shard shard = sharding.shard(coordinates);
    std::string text;
    llvm::raw_string_ostream stream(text);
    Block block;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointToEnd(&block);
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      operands.push_back(block.addArgument(
          RankedTensorType::get(
              shard.operand(i).sizes,
              cast<RankedTensorType>(operand.getType()).getElementType()),
          op->getLoc()));
    if (succeeded(graph::localize(op, shard, builder, operands)))
      for (Operation &local : block) {
        stream << local.getName() << graph::attributesWithoutConstants(&local);
        for (Type type : local.getResultTypes())
          stream << type;
      }
    for (Operation &local : llvm::make_early_inc_range(llvm::reverse(block)))
      local.erase();
    return it->second = static_cast<int64_t>(llvm::xxh3_64bits(text));
  }

  ModuleOp module;
  const Mesh &mesh;
  const OpShardings &shardings;
  std::set<std::pair<int64_t, std::vector<unsigned>>> splits;
  std::set<unsigned> origins;
  std::vector<Operation *> placed;
  std::map<std::pair<Operation *, std::vector<int64_t>>, int64_t> structures;
};

} // namespace

std::vector<RankClass> classifyRanks(ModuleOp module, const Mesh &mesh,
                                     const OpShardings &shardings) {
  return Classifier(module, mesh, shardings).run();
}

} // namespace dl::partition
