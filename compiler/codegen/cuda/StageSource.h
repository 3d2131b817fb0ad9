// What the kinds of stages share: threads that go over the points of a tile.
#pragma once

#include "compiler/codegen/cuda/RegionText.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dl::cuda {

class StageSource {
public:
  StageSource(RegionText &region, const Stage &stage);

protected:
  using Body = llvm::function_ref<void()>;

  /// Sets the indices of these dims to those of point number `point`, an
  /// unsigned below the product of the tile's extents; with `vector` > 1 the
  /// number of one of so many neighbours along the last of `along`.
  void locate(llvm::StringRef point, llvm::ArrayRef<unsigned> along,
              unsigned vector = 1);
  /// The index of the last dim becomes that of a neighbour.
  void moveTo(unsigned neighbour);
  /// Which dim has neighbours; each call of `locate` says it anew.
  struct Neighbours {
    std::optional<unsigned> dim;
    mlir::AffineExpr start, number = {};
  };
  const Neighbours &neighbours() const { return near; }
  void setNeighbours(const Neighbours &neighbours);
  /// Points of the tile along these dims.
  int64_t count(llvm::ArrayRef<unsigned> along) const;
  /// What a point of a tile that is larger than its part of the tensor has to
  /// fulfil; empty where all are inside.
  std::string insideTensor(llvm::ArrayRef<unsigned> along) const;
  /// Each thread takes points of its own, with the dims located.
  void forEachPoint(llvm::ArrayRef<unsigned> along, unsigned vector, Body body);
  llvm::SmallVector<unsigned> parallelDims() const;

  /// The stage's own results at a point, and what its epilogue or followers
  /// make of them: in the order of stage.results().
  Names finish(llvm::ArrayRef<std::string> contents);
  void storeResults(llvm::ArrayRef<std::string> contents);
  llvm::ArrayRef<mlir::AffineExpr> resultIndex() const {
    return llvm::ArrayRef(dims).take_front(nest.numParallel);
  }

  RegionText &e;
  SourceText &out;
  const Stage &stage;
  const graph::LoopNest &nest;
  llvm::SmallVector<mlir::OpResult> results;
  llvm::SmallVector<mlir::AffineExpr> dims; // current iteration
  std::string point; // the variable with its number, in forEachPoint

private:
  Neighbours near;
};

/// One value for each point.
class MapSource : StageSource {
public:
  using StageSource::StageSource;
  void write();

private:
  unsigned chooseVector() const;
};

/// Sums and maxima, in one order whatever runs first.
class ReductionSource : StageSource {
public:
  ReductionSource(RegionText &region, const Stage &stage);
  void write();

private:
  std::string mergeName() const;
  void declareState();
  void takeElements();
  void moveToElement(int64_t k);
  void addHalves();
  void addToTotal();
  std::string added(mlir::Operation *op, const std::string &sum);
  unsigned pointsTogether() const;
  llvm::ArrayRef<std::string> statesOf(unsigned point) const;
  void step(llvm::ArrayRef<std::string> states);
  mlir::AffineExpr position() const;
  Names stateResults(unsigned point) const;
  bool declareInside(int64_t count, unsigned slots);
  void openForResult(bool ragged, unsigned lanes);
  void combine(unsigned lanes, unsigned slots, bool inner);
  std::string place(size_t sum, llvm::StringRef at) const;
  void finishParts();

  Reduction form;
  llvm::SmallVector<mlir::Operation *, 4> reductions; // its op, sums beside it
  unsigned vector;                                    // points of a thread
  Names names; // their states, point by point
  int64_t sums, points;
  bool isProduct;             // of two operands: fused multiply-adds
  std::string element, state; // C++ types
};

struct OrderForm;
struct ScanForm;
struct ScatterForm;

/// Sums and maxima to where an index says.
class ScatterSource : StageSource {
public:
  ScatterSource(RegionText &region, const Stage &stage);
  void write();

private:
  void writePoints();
  void writeTile(const ScatterForm &form);
  void addListed(const ScatterForm &form);
  void openIndices();
  void forEachColumn(const ScatterForm &form,
                     llvm::function_ref<void(unsigned owners)> body);
  llvm::SmallVector<unsigned> columnDims() const;
  mlir::AffineExpr placeOf(const ScatterForm &form);
  std::string start() const;
  void add(const std::string &to);
  std::string read(unsigned operand) {
    return e.evaluateOperand(stage.op, operand, dims);
  }

  std::string element; // C++ type
  bool isMax;
};

/// Scans, sorting.
class SequentialSource : StageSource {
public:
  SequentialSource(RegionText &region, const Stage &stage);
  void write();

private:
  void writeScan();
  void writeParts(const ScanForm &form);
  void writeSteps(const std::string &begin, const std::string &end, Body body);
  void declareState();
  std::string stateType() const;
  std::string writeScanStep();
  void openRows();
  void closeRows();
  void writeOrder();
  void writeSorted(const OrderForm &form);
  void writeSelection();
  void writePlaces();
  std::string openElements();
  std::string less(const std::string &x, const std::string &y) const;
  std::string read(unsigned operand) {
    return e.evaluateOperand(stage.op, operand, dims);
  }

  unsigned at, over;
  bool rowsAreRagged = false;
};

} // namespace dl::cuda
