// Which ops of a function run as one kernel.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/plan/MachineModel.h"
#include "llvm/ADT/SetVector.h"

namespace dl {

/// What an op is to the grouping; follows from its loop nest.
enum class OpKind {
  Free,        // a view, constant or random number: cloned into its readers
  Elementwise, // one result element from operand elements at one point
  Reduction,   // combines over reduction dims
  Contraction,
  Alias,        // the same memory seen in another way: no kernel of its own
  Communication // moves bytes between ranks: a command of its own, no kernel
};

/// What one kernel holds, or one communication alone.
struct KernelOps {
  llvm::SmallVector<mlir::Operation *> ops; // in program order
  /// Of this kernel alone: those whose results others may read, and what only
  /// these need. The rest of `ops` are copies that other kernels have, too: of
  /// free ops, of prologues, of values computed in their readers.
  llvm::DenseSet<mlir::Operation *> own;
};

class KernelGroups {
public:
  /// `machine` outlives it.
  KernelGroups(graph::StepOp function, bool fuse,
               const plan::MachineModel &machine);

  /// In an order in which each reads only earlier ones.
  std::vector<KernelOps> kernels() const;
  /// A value of a kernel's own op that something outside of it reads.
  bool isRead(mlir::Value value, const KernelOps &kernel) const;
  OpKind kind(mlir::Operation *op) const { return kinds.lookup(op); }

private:
  /// Values that one kernel transposes: each takes hundreds of instructions.
  static constexpr unsigned kMostReordered = 8;
  /// Leading dims of the op's results that `value` is read at one to one.
  static unsigned sharedPrefix(mlir::Operation *op, mlir::Value value);

  struct Group {
    llvm::SmallVector<mlir::Operation *> ops; // without free ones
    bool contraction = false;
    bool communication = false;
    bool replaces = false; // a slice of a value
    /// Steps of the windows in which its product is read, if any.
    llvm::SmallVector<int64_t> blocks;
    /// Leading extents that all placed values share: what tiles are cut by.
    llvm::SmallVector<int64_t> prefix;
    /// Of a chain of products: the shape of the values it goes through.
    llvm::SmallVector<int64_t> inner;
    int64_t largest = 0;       // elements of its largest value
    unsigned sums = 0;         // and other reductions
    unsigned reordered = 0;    // values that are read in another order
    bool sumsTogether = false; // in one pass, of several gradients
    /// Groups whose values it reads, and those that read its.
    llvm::SetVector<unsigned> reads, readers;
    unsigned batchPart = 0; // of the batch, from 1 on; 0: all
    unsigned order = 0;     // after the order of all it reads
    /// Estimates, if all that is independent ran at once: when its operands are
    /// there, and how long it takes by itself.
    double start = 0, seconds = 0;
    double finish() const { return start + seconds; }
  };
  /// Evaluations of ops that one element of an op takes in its kernel.
  struct Repeats {
    /// What it reads at its own place.
    llvm::SmallVector<mlir::Operation *, 2> same;
    uint64_t elsewhere = 0; // for what it reads at other places itself
    uint64_t all = 0; // the places at which the most repeated op is evaluated
  };
  /// Evaluations that one element may take in a kernel, above what stencils,
  /// interpolations and their gradients need.
  static constexpr uint64_t kMostRepeated = 64;

  /// Of what an op reads, what is stored in another order than what it makes;
  /// those that wait for it with it.
  unsigned reorderedBy(mlir::Operation *op) const;
  /// The stored values, up to kMostReordered + 1, that an op is made of at its
  /// own place, and that are row-major.
  using StoredValues = llvm::SmallSetVector<mlir::Value, 4>;
  StoredValues rowMajorBehind(const Group &group, mlir::Operation *op) const;
  bool reordersTooMuch(const Group &group, mlir::Operation *op) const;
  void findStateOrders();
  /// How often an op's payload is computed.
  static int64_t points(mlir::Operation *op);
  bool isPadOfProducts(mlir::Operation *op) const;
  OpKind classify(mlir::Operation *op) const;
  bool isStepNumber(mlir::Operation *op) const;
  bool isOfPlaces(mlir::Operation *op) const;
  void assign(mlir::Operation *op);
  void startGroup(mlir::Operation *op);
  // SharedReads.cpp
  bool joinsBeside(mlir::Operation *op);
  llvm::SmallVector<unsigned> groupsBeside(mlir::Operation *op) const;
  llvm::SmallVector<mlir::Value> operandsWithWaiting(mlir::Operation *op) const;
  unsigned canWait(mlir::Operation *op) const;
  /// How many ops join a group with this one: it and those that wait for it.
  unsigned joining(mlir::Operation *op) const;
  llvm::SmallVector<unsigned> sumsBeside(mlir::Operation *op,
                                         const graph::LoopNest &nest) const;
  bool joinsSums(mlir::Operation *op);
  bool isUpdate(mlir::Operation *op) const;
  bool joinsSmallUpdates(mlir::Operation *op);
  /// Of the readers of one value: no more than a few are looked at.
  static llvm::ArrayRef<unsigned> newest(llvm::ArrayRef<unsigned> readers);
  bool waitsFor(const Group &group, llvm::ArrayRef<unsigned> reads) const;
  bool readsMuchWith(const Group &group, unsigned number,
                     mlir::Operation *op) const;
  bool joinsGradients(mlir::Operation *op);
  bool joinsShort(mlir::Operation *op);
  void append(unsigned group, mlir::Operation *op);
  void appendCommunication(unsigned group, mlir::Operation *op);
  void takeWaiting(unsigned group, mlir::Operation *op);
  /// Why an op cannot be computed in a group; empty if it can.
  llvm::StringRef obstacle(const Group &group, mlir::Operation *op) const;
  llvm::StringRef obstacleInContraction(const Group &group,
                                        mlir::Operation *op) const;
  llvm::StringRef obstacleInLoops(const Group &group,
                                  mlir::Operation *op) const;
  llvm::StringRef obstacleInOrder(unsigned group, mlir::Operation *op,
                                  llvm::ArrayRef<unsigned> reads) const;
  /// A remark at an op: "relu: not fused with sum: ...".
  void explain(mlir::Operation *op, llvm::StringRef what, const Group &group,
               llvm::StringRef why) const;
  bool dependsOn(unsigned group, unsigned on) const;
  double secondsOf(const Group &group, mlir::Operation *op) const;
  void addTime(unsigned group, mlir::Operation *op);
  bool delaysIndependentWork(unsigned group, mlir::Operation *op,
                             llvm::ArrayRef<unsigned> reads);
  // RepeatedWork.cpp
  mlir::Operation *madeInPlace(const Group &group, mlir::Value value) const;
  Repeats repeatsIn(const Group &group, mlir::Operation *op) const;
  uint64_t evaluationsOfFree(mlir::Operation *op) const;
  bool freeRepeatsTooMuch(mlir::Operation *op);
  bool repeatsTooMuch(const Group &group, mlir::Operation *op) const;
  void addRead(unsigned group, unsigned from);
  // Chains.cpp
  llvm::SmallVector<int64_t> innerShape(unsigned from, unsigned to) const;
  unsigned commonBatch(unsigned from, unsigned to) const;
  int64_t scratchBytes(llvm::ArrayRef<unsigned> groups, int64_t slices) const;
  int64_t rowScratchBytes(llvm::ArrayRef<unsigned> groups,
                          int64_t slices) const;
  int64_t leastSlices() const;
  bool savesValue(unsigned from, unsigned to,
                  llvm::ArrayRef<int64_t> shape) const;
  bool mayStream(llvm::ArrayRef<unsigned> groups,
                 llvm::ArrayRef<int64_t> inner) const;
  bool canChain(unsigned from, unsigned to,
                llvm::SmallVector<int64_t> &inner) const;
  void mergeGroups(unsigned from, unsigned to);
  void chainProducts();
  bool joinsChain(unsigned to);
  // ComputedInReaders.cpp
  void absorbPrologues();
  class ReadersChoice;
  void moveIntoReaders();
  void widenInReaders();
  llvm::SmallVector<mlir::Operation *> neededOps(const Group &group) const;
  llvm::SmallVector<mlir::Value> realOperands(mlir::Operation *op) const;
  int groupOf(mlir::Value value) const;
  /// Those that make what an op reads.
  llvm::SmallVector<unsigned> groupsRead(mlir::Operation *op) const;

  bool fuse;
  graph::StepOp function;
  const plan::MachineModel &machine;
  std::vector<Group> list;
  std::optional<unsigned> lastCommunication;
  /// By type, the newest group of updates that fit into the first-level cache.
  llvm::DenseMap<mlir::Type, unsigned> smallUpdates;
  llvm::DenseMap<mlir::Operation *, OpKind> kinds;
  llvm::DenseSet<mlir::Operation *> stepNumbers, ofPlaces; // so far
  llvm::DenseMap<mlir::Operation *, unsigned> groupOfOp;
  /// Groups with an op that reads the value, in the order they came.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned, 2>> readersOf;
  /// Elementwise ops on arguments alone that go where their one reader goes,
  /// and how many go there with each, itself included.
  llvm::DenseMap<mlir::Operation *, unsigned> waiting;
  llvm::DenseMap<mlir::Operation *, Repeats>
      repeats; // of elementwise and free ops
  /// Ops whose place has been explained in a remark.
  llvm::DenseSet<mlir::Operation *> explained;
  /// Cheap groups that are computed again within a contraction that reads them.
  llvm::DenseMap<unsigned, llvm::SmallVector<unsigned>> prologues;
  /// Elementwise ops that are not stored: whoever reads them computes them.
  llvm::DenseSet<mlir::Operation *> inReaders;
  /// Of old and new states that are not row-major.
  llvm::DenseMap<mlir::Value, mlir::DenseI64ArrayAttr> stateOrders;
  llvm::DenseMap<mlir::Operation *, StoredValues> rowMajor; // if there are any
};

} // namespace dl
