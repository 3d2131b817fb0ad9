#pragma once
// The datasets of a program, as far as a plan must know them.
#include "compiler/dsl/dl/abi.h"
#include "compiler/frontend/Reporter.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dl::frontend {

struct Component {
  mlir::Type element;
  std::vector<int64_t> shape; // of one item
};

/// Items of a data set that are one of another's: as plans have it.
struct Selection {
  int64_t first, items, of;
  bool shuffled;
  int64_t seed;
};

/// Draws of a data set's items: see graph.sampler.
struct Sampler {
  std::string weights;
  int64_t of;
};

struct Dataset {
  std::string kind, root;
  std::vector<std::string> paths;
  bool train, shuffle, dropLast;
  int64_t items, batchSize;
  std::vector<Component> components = {};
  int64_t stride = 0; // of tokens: between the first ones of two items
  std::vector<dl_image_transform> transforms = {}; // of pictures in a folder
  std::vector<std::string> classes = {};           // its folders within
  std::vector<Selection> selections = {};          // from batches to files
  std::optional<Sampler> sampler = {};
  bool comesLater = false; // its items are there at run time
  int index = -1; // of its graph.dataset, set by the first step that uses it

  int64_t fullBatch() const { return std::min(items, batchSize); }
  /// Items of the last batch where it is short, else 0. What does not train
  /// takes `all` items, whatever the data set drops.
  int64_t shortBatch(bool all) const {
    return (dropLast && !all) || items <= batchSize ? 0 : items % batchSize;
  }
};

class Datasets {
public:
  /// Relative paths are those of the folder of `model`, then of the working
  /// directory.
  Datasets(Reporter &reporter, llvm::StringRef model);

  int add(Dataset dataset);
  void addComponent(int dataset, mlir::Type element,
                    std::vector<int64_t> shape);
  /// A component that is there when the plan runs.
  void addInput(int dataset, const std::string &name, mlir::Type element,
                std::vector<int64_t> shape);
  /// A component with the shape, dtype and length that a .npy file has.
  void addFile(int dataset, const std::string &path,
               llvm::function_ref<mlir::Type(int)> elementType);
  /// Makes the items of a data set draws of them.
  void addSampler(int dataset, const std::string &weights, int64_t samples,
                  bool replacement);
  /// The component of a data set of tokens: `length` of them, and one more.
  void addTokens(int dataset, const std::string &path, int64_t length,
                 int64_t stride,
                 llvm::function_ref<mlir::Type(int)> elementType);
  /// The components of a folder of pictures: those, and their labels.
  void addImages(int dataset, llvm::ArrayRef<dl_image_transform> transforms,
                 bool allowEmpty,
                 llvm::function_ref<mlir::Type(int)> elementType);
  int64_t countClasses(int dataset);
  /// Another one with the same items in batches of their own.
  int addLoader(int dataset, int64_t batchSize, bool shuffle, bool dropLast);
  /// Another one with items [first, first + items) of it.
  int addPart(int dataset, int64_t first, int64_t items, bool shuffled,
              int64_t seed);
  Dataset &get(int dataset);
  /// Gives the dataset its place among those that steps use, this one `all` of
  /// its items.
  int use(int dataset, bool all);

  /// A graph.dataset for each that steps use, in their order.
  void write(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  void warnOfMissingClasses(const Dataset &made);
  [[noreturn]] void failWith(llvm::Error error);
  void checkSizes(const std::string &path, llvm::ArrayRef<int64_t> shape);

  std::string placeOf(llvm::StringRef path) const;
  std::vector<std::string> filesOf(const std::string &path);

  Reporter &reporter;
  std::string folder; // of the model
  std::vector<Dataset> all;
  std::vector<int> used;
};

} // namespace dl::frontend
