// Products as tiles in registers.
#pragma once

#include "compiler/codegen/cuda/ContractForm.h"
#include "compiler/codegen/cuda/StageSource.h"

namespace dl::cuda {

class ContractSource : StageSource {
public:
  ContractSource(RegionText &region, const Stage &stage,
                 const ContractForm &form);
  void write();
  /// What is kept in shared memory for all blocks of columns comes there.
  void writeKept();

private:
  /// Where a thread reads one of its elements of a step: of the side, and the
  /// number in the step.
  struct Place {
    llvm::SmallVector<mlir::AffineExpr> side; // indices of the side's dims
    Neighbours neighbours;                    // along the side
    std::string inside;         // the condition, where some threads have none
    std::string inTile, inStep; // numbers in the tile and the step, as text
  };
  using Places = llvm::SmallVector<Place>;

  unsigned passes(const ContractForm::Side &side) const {
    return side.tile * form.step / (form.threads() * side.vector);
  }
  void openTiles();
  void closeTiles();
  void locateBlock();
  void locateThread();
  Places locateReads(const ContractForm::Side &side, llvm::StringRef origin);
  /// Where elements of a step are in shared memory.
  std::string inMemory(const ContractForm::Side &side, const Place &place,
                       llvm::StringRef memory) const;
  void copyLater(const ContractForm::Side &side, const Place &place,
                 llvm::StringRef memory,
                 llvm::ArrayRef<std::string> conditions);
  /// To registers, or, of a side that is copied, to `memory`.
  void readStep(const ContractForm::Side &side, const Places &places,
                llvm::StringRef registers, llvm::StringRef memory = "");
  void keepStep(const ContractForm::Side &side, const Places &places,
                llvm::StringRef registers, llvm::StringRef memory);
  void multiply(llvm::function_ref<void()> between);
  void keepNarrowStep(const ContractForm::Side &side, const Places &places,
                      llvm::StringRef registers, llvm::StringRef memory);
  /// Registers for what a thread reads at once.
  unsigned wordsOf(const ContractForm::Side &side) const {
    return form.isNarrow ? (side.vector + 1) / 2 : side.vector;
  }
  // TensorCoreSource.cpp
  void multiplyTf32(llvm::function_ref<void()> between);
  void multiplyBf16(llvm::function_ref<void()> between);
  /// Where the group of four with `sum` begins in a row of shared memory.
  static std::string groupOf(const std::string &sum, llvm::StringRef exchanged);
  /// Of the thread's sum number `number` along a side, in the tensor.
  std::string indexOf(const ContractForm::Side &side, llvm::StringRef number);
  // ProductSteps.cpp
  struct Coming;
  void writeSteps();
  void readSides(llvm::ArrayRef<Coming> sides, const llvm::Twine &number);
  void keepSides(llvm::ArrayRef<Coming> sides, const llvm::Twine &number);
  void declareBuffer(const Coming &each, llvm::StringRef prefix,
                     const llvm::Twine &number);
  void findWhatIsThere(const llvm::Twine &step);
  std::string elementInTile() const {
    return form.isNarrow ? "unsigned short" : element;
  }
  void findWhereItStays(const ContractForm::Side &side, llvm::StringRef name,
                        llvm::StringRef origin, const llvm::Twine &step);
  void findWhereItIsKept(const ContractForm::Side &side, llvm::StringRef name);
  void addParts();
  void storeTile();
  void readFragment(const ContractForm::Side &side, llvm::StringRef memory,
                    llvm::StringRef name, llvm::StringRef thread);
  unsigned group(const ContractForm::Side &side) const;
  unsigned sumsAlong(const ContractForm::Side &side) const {
    bool halved = form.tensorCores && &side == &form.columns;
    return side.tile / (halved ? 8 : ContractForm::threadsAlong);
  }

  const ContractForm &form;
  std::string element; // C++ type
};

} // namespace dl::cuda
