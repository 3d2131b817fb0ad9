// Values of a kernel's region as statements: loads, inlined elementwise ops,
// stores. One writer serves one kernel function.
#pragma once

#include "compiler/codegen/cuda/BlockKernel.h"
#include "compiler/codegen/cuda/IndexText.h"
#include "compiler/codegen/cuda/SourceText.h"
#include "compiler/codegen/kernel/PayloadCache.h"
#include <map>
#include <set>

namespace dl::cuda {

using kernel::PayloadCache;
using Names = llvm::SmallVector<std::string, 2>;

class RegionText {
public:
  RegionText(const BlockKernel &kernel, PayloadCache &payloads,
             SourceText &out);

  const BlockKernel &kernel;
  SourceText &out;
  IndexText scope;
  /// First index of the tile in each grid dim, in units of the dims that are
  /// bound to it in steps.
  mlir::AffineExpr originOf(GridPart bound) const;
  llvm::SmallVector<mlir::AffineExpr> tileNumbers; // by grid dim
  /// Whether columns were there before those at hand, where they stream.
  std::string hasTotal;

  /// What follows is within braces: what is computed there is forgotten behind
  /// them.
  void open(const llvm::Twine &head);
  void close();

  /// A name of the value at an index.
  std::string evaluate(mlir::Value value,
                       llvm::ArrayRef<mlir::AffineExpr> index);
  /// The payload of an op at one iteration.
  Names evaluatePayload(mlir::Operation *op,
                        llvm::ArrayRef<mlir::AffineExpr> dims);
  std::string evaluateOperand(mlir::Operation *op, unsigned operand,
                              llvm::ArrayRef<mlir::AffineExpr> dims);
  /// What has to hold where an operand, through views and zeros around them,
  /// is no zero of a border.
  llvm::SmallVector<std::string>
  bordersOf(mlir::Operation *op, unsigned operand,
            llvm::ArrayRef<mlir::AffineExpr> dims) const;
  /// These conditions hold until the braces close.
  void assume(llvm::ArrayRef<std::string> conditions);
  /// `value` is this, whatever the index, until the braces close.
  void seed(mlir::Value value, std::string name);
  /// The scalar type that an op's payload yields.
  mlir::Type payloadType(mlir::Operation *op);

  /// The elements at indices that follow one another, as one access where that
  /// is aligned.
  void store(mlir::Value placed,
             llvm::ArrayRef<llvm::SmallVector<mlir::AffineExpr>> indices,
             llvm::ArrayRef<std::string> contents);
  void store(mlir::Value placed, llvm::ArrayRef<mlir::AffineExpr> index,
             const std::string &content);
  /// Definitions that what was written needs.
  std::set<std::string> definitions;
  /// Neighbours that are loaded together from here on: 1, 2, 4 or, of bf16, 8
  /// elements.
  unsigned vector = 1;
  /// What is stored as bf16 stays so, where it would be widened.
  bool keepsNarrow = false;
  /// The dim that counts such groups of neighbours.
  mlir::AffineExpr vectorNumber;

  /// The name of the pointer to a placed value.
  std::string pointer(mlir::Value placed) const;
  /// Elements from that pointer.
  mlir::AffineExpr address(mlir::Value placed,
                           llvm::ArrayRef<mlir::AffineExpr> index) const;

  /// Where an operand's element is in memory, if that is at a multiple of
  /// `vector` elements; empty where that is not known, or it is computed.
  std::string addressOf(mlir::Operation *op, unsigned operand,
                        llvm::ArrayRef<mlir::AffineExpr> dims) const;

private:
  using Key = std::tuple<const void *, const void *, unsigned>;
  struct Scope {
    std::map<Key, std::string> known;
    llvm::DenseMap<mlir::Value, std::string> seeds;
    std::set<std::string> assumed;
  };

  const std::string *find(const Key &key) const;
  std::string load(mlir::Value placed, llvm::ArrayRef<mlir::AffineExpr> index);
  std::string fromMemory(const std::string &content, mlir::Type element) const;
  std::string scalarOperand(mlir::Operation *op, int64_t which);
  Names drawWords(graph::PhiloxOp draw, llvm::ArrayRef<std::string> operands,
                  llvm::ArrayRef<mlir::AffineExpr> indices);
  mlir::AffineExpr indirectIndex(mlir::Operation *op,
                                 const graph::Access &access, int64_t extent,
                                 llvm::ArrayRef<mlir::AffineExpr> dims);
  llvm::SmallVector<std::string>
  insideConditions(const graph::Access &access,
                   llvm::ArrayRef<mlir::AffineExpr> dims,
                   llvm::ArrayRef<mlir::AffineExpr> index,
                   llvm::ArrayRef<int64_t> shape, bool &never) const;

  PayloadCache &payloads;
  std::vector<Scope> scopes;
  unsigned guards = 0; // braces that not all neighbours are in
};

} // namespace dl::cuda
