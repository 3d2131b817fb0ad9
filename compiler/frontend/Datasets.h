#pragma once
// The datasets of a program, as far as a plan must know them.
#include "compiler/frontend/Reporter.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dl::frontend {

struct Component {
  mlir::Type element;
  std::vector<int64_t> shape; // of one item
};

struct Dataset {
  std::string kind, root;
  std::vector<std::string> paths;
  bool train, shuffle, dropLast;
  int64_t items, batchSize;
  std::vector<Component> components;
  int index = -1; // of its graph.dataset, set by the first step that uses it

  int64_t fullBatch() const { return std::min(items, batchSize); }
  /// Items of the last batch where it is short, else 0.
  int64_t shortBatch() const {
    return dropLast || items <= batchSize ? 0 : items % batchSize;
  }
};

class Datasets {
public:
  explicit Datasets(Reporter &reporter) : reporter(reporter) {}

  int add(Dataset dataset);
  void addComponent(int dataset, mlir::Type element,
                    std::vector<int64_t> shape);
  /// A component with the shape, dtype and length that a .npy file has.
  void addFile(int dataset, const std::string &path,
               llvm::function_ref<mlir::Type(int)> elementType);
  Dataset &get(int dataset);
  /// Gives the dataset its place among those that steps use.
  int use(int dataset);

  /// A graph.dataset for each that steps use, in their order.
  void write(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  void checkSizes(const std::string &path, llvm::ArrayRef<int64_t> shape);

  Reporter &reporter;
  std::vector<Dataset> all;
  std::vector<int> used;
};

} // namespace dl::frontend
