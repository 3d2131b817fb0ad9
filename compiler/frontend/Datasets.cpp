#include "compiler/frontend/Datasets.h"
#include "compiler/frontend/FilesLike.h"
#include "compiler/frontend/ImageFolder.h"
#include "compiler/frontend/Npy.h"
#include "compiler/frontend/TokenFile.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/Limits.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace dl::frontend;

int Datasets::add(Dataset dataset) {
  if (dataset.batchSize < 1)
    reporter.fail("batch_size = " + std::to_string(dataset.batchSize) +
                  "; at least 1 is wanted");
  all.push_back(std::move(dataset));
  return static_cast<int>(all.size()) - 1;
}

Dataset &Datasets::get(int dataset) {
  if (dataset < 0 || dataset >= static_cast<int>(all.size()))
    reporter.fail("the dataset is empty; make one with dl::data::MNIST, "
                  "FashionMNIST, KMNIST, CIFAR10, CIFAR100, ImageFolder, "
                  "TensorDataset, TokenDataset or InputDataset");
  return all[static_cast<size_t>(dataset)];
}

Datasets::Datasets(Reporter &reporter, llvm::StringRef model)
    : reporter(reporter), folder(llvm::sys::path::parent_path(model)) {}

std::string Datasets::placeOf(llvm::StringRef path) const {
  llvm::SmallString<256> there = llvm::StringRef(folder);
  llvm::sys::path::append(there, path);
  bool isThere =
      !folder.empty() && !llvm::sys::path::is_absolute(path) && areThere(there);
  return isThere ? std::string(there) : path.str();
}

/// Those that a name with a '*' stands for, one behind the other.
std::vector<std::string> Datasets::filesOf(const std::string &path) {
  std::vector<std::string> files = filesLike(placeOf(path));
  if (files.empty())
    failWith(llvm::createStringError(std::make_error_code(std::errc::io_error),
                                     "cannot read " + path +
                                         ": no file is like it"));
  return files;
}

void Datasets::addComponent(int dataset, Type element,
                            std::vector<int64_t> shape) {
  get(dataset).components.push_back({element, std::move(shape)});
}

/// An array whose batches can be tensors.
void Datasets::checkSizes(const std::string &path,
                          llvm::ArrayRef<int64_t> shape) {
  std::string said =
      path + ": the array of shape " + dl::graph::shapeText(shape);
  if (shape.size() > DL_MAX_RANK)
    reporter.fail(said + " has " + std::to_string(shape.size()) +
                  " dimensions; at most " + std::to_string(DL_MAX_RANK) +
                  " fit");
  if (llvm::is_contained(shape, 0))
    reporter.fail(said + " is empty; each size must be at least 1");
  if (dl::graph::product(shape) > dl::graph::kMaxElements)
    reporter.fail(said + " is too large; at most " +
                  std::to_string(dl::graph::kMaxElements) + " elements fit");
}

void Datasets::addInput(int dataset, const std::string &name, Type element,
                        std::vector<int64_t> shape) {
  Dataset &target = get(dataset);
  if (name.empty() || name.find_first_of("/,=") != std::string::npos)
    reporter.fail("InputDataset: '" + name +
                  "' is no name of an input: it is that of a file, too, "
                  "without .npy");
  std::string path = name + ".npy";
  if (llvm::is_contained(target.paths, path))
    reporter.fail("InputDataset: '" + name + "' is there twice");
  std::vector<int64_t> sizes = {target.items};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  if (llvm::any_of(sizes, [](int64_t size) { return size < 0; }))
    reporter.fail("InputDataset: '" + name + "': the shape " +
                  dl::graph::shapeText(shape) + " has a negative size");
  checkSizes("InputDataset: '" + name + "'", sizes);
  target.comesLater = true;
  target.paths.push_back(path);
  target.components.push_back({element, std::move(shape)});
}

int Datasets::addLoader(int dataset, int64_t batchSize, bool shuffle,
                        bool dropLast) {
  Dataset loaded = get(dataset);
  if (loaded.sampler) // what it draws from
    loaded.items = loaded.sampler->of;
  loaded.sampler.reset();
  loaded.batchSize = batchSize;
  loaded.shuffle = shuffle;
  loaded.dropLast = dropLast;
  loaded.index = -1;
  return add(std::move(loaded));
}

void Datasets::addSampler(int dataset, const std::string &weights,
                          int64_t samples, bool replacement) {
  Dataset &target = get(dataset);
  std::string name = "WeightedRandomSampler: ";
  if (target.shuffle)
    reporter.fail("DataLoader: .shuffle and a .sampler exclude each other: "
                  "what is drawn has no other order");
  if (!replacement)
    reporter.fail(name + "without replacement it is not there yet; .shuffle = "
                         "true takes each item once");
  if (target.comesLater)
    reporter.fail(name + "the items of an InputDataset are there when the plan "
                         "runs; the program that gives them draws them, too");
  if (samples < 1)
    reporter.fail(name + "num_samples = " + std::to_string(samples) +
                  "; at least 1 is wanted");
  if (weights.find_first_of("*?") != std::string::npos)
    reporter.fail(name + "'" + weights + "' is no name of one file");
  llvm::Expected<NpyHeader> header = readNpyHeader(placeOf(weights));
  if (!header)
    failWith(header.takeError());
  bool areFloats = header->dtype == DL_FLOAT32 || header->dtype == DL_FLOAT64;
  if (!areFloats || header->shape.size() != 1)
    reporter.fail(name + weights +
                  ": a weight for each item is wanted: an "
                  "array of one dimension, of floats");
  if (header->shape[0] != target.items)
    reporter.fail(name + weights + " holds " +
                  std::to_string(header->shape[0]) +
                  " weights, the data set has " + std::to_string(target.items) +
                  " items");
  target.sampler = {weights, target.items};
  target.items = samples;
}

int Datasets::addPart(int dataset, int64_t first, int64_t items, bool shuffled,
                      int64_t seed) {
  constexpr size_t most = 8; // as the run, see runtime/plan/Validator.cpp
  Dataset part = get(dataset);
  if (part.sampler)
    reporter.fail("the items of a DataLoader with a .sampler are draws; parts "
                  "are those of the data set that it draws from");
  if (part.comesLater)
    reporter.fail("the items of an InputDataset are there when the plan runs; "
                  "parts of them are data sets of their own");
  std::vector<Selection> &selections = part.selections;
  if (shuffled || selections.empty()) {
    selections.insert(selections.begin(),
                      {first, items, part.items, shuffled, seed});
  } else { // of a part, whose order it keeps
    selections.front().first += first;
    selections.front().items = items;
  }
  if (selections.size() > most)
    reporter.fail("a part of a part of a part, " +
                  std::to_string(selections.size()) + " times; at most " +
                  std::to_string(most) + " are drawn at random");
  part.items = items;
  part.index = -1;
  return add(std::move(part));
}

void Datasets::failWith(llvm::Error error) {
  std::string text;
  bool unreadable = false;
  llvm::handleAllErrors(std::move(error), [&](const llvm::StringError &error) {
    text = error.getMessage();
    unreadable =
        error.convertToErrorCode() == std::make_error_code(std::errc::io_error);
  });
  reporter.fail(text, unreadable ? 4 : 1);
}

void Datasets::addTokens(int dataset, const std::string &path, int64_t length,
                         int64_t stride,
                         llvm::function_ref<Type(int)> elementType) {
  if (length < 1 || stride < 1)
    reporter.fail("TokenDataset: length = " + std::to_string(length) +
                  ", stride = " + std::to_string(stride) +
                  "; at least 1 is wanted");
  int64_t width = length + 1, items = 0, most = 0;
  std::optional<int> dtype;
  for (const std::string &one : filesOf(path)) {
    llvm::Expected<TokenFile> file = readTokenFile(one);
    if (!file)
      failWith(file.takeError());
    if (dtype.value_or(file->dtype) != file->dtype)
      reporter.fail(one + ": its tokens are of another width than those of the "
                          "files before it");
    dtype = file->dtype;
    most = std::max(most, file->tokens);
    if (file->tokens >= width)
      items += (file->tokens - width) / stride + 1;
  }
  if (items == 0)
    reporter.fail(path + " holds " + std::to_string(most) +
                  " tokens; length = " + std::to_string(length) +
                  " and one more, the last target, are wanted");
  Dataset &target = get(dataset);
  target.items = items;
  target.stride = stride;
  target.paths.push_back(path);
  checkSizes(path, {target.items, width});
  target.components.push_back({elementType(*dtype), {width}});
}

/// The kinds of dl_image_transform, as plans call them.
static constexpr llvm::StringLiteral transformNames[] = {
    "resize", "center_crop", "random_crop", "random_resized_crop"};
static constexpr llvm::StringLiteral dslNames[] = {
    "Resize", "CenterCrop", "RandomCrop", "RandomResizedCrop"};

/// Of a list, what the run would refuse: see runtime/plan/Validator.cpp; and a
/// crop that no picture has room for.
static std::string
whatIsWrongWith(llvm::ArrayRef<dl_image_transform> transforms) {
  constexpr int64_t most = 65535, mostPixels = int64_t(1) << 28;
  constexpr double largest = 1e6; // and its inverse
  int64_t height = 0, width = 0;  // of all pictures; 0: they differ
  for (const dl_image_transform &one : transforms) {
    std::string name = dslNames[one.kind].str();
    std::string size =
        std::to_string(one.height) +
        (one.width ? " x " + std::to_string(one.width) : std::string());
    if (one.height > most || one.width > most ||
        one.height * one.width > mostPixels)
      return name + " to " + size + " pixels; at most " + std::to_string(most) +
             " a side and " + std::to_string(mostPixels) + " in all are made";
    if (one.kind == DL_IMAGE_RANDOM_RESIZED_CROP)
      for (double number : one.numbers)
        if (!(number >= 1 / largest && number <= largest))
          return name + ": scale and ratio are numbers from 1e-6 to 1e6";
    if (one.kind == DL_IMAGE_RANDOM_CROP && height &&
        (one.height > height || one.width > width))
      return name + " of " + size + ": the pictures have " +
             std::to_string(height) + " x " + std::to_string(width) +
             " before it";
    height = one.width ? one.height : 0;
    width = one.width;
  }
  return "";
}

void Datasets::addImages(int dataset,
                         llvm::ArrayRef<dl_image_transform> transforms,
                         bool allowEmpty,
                         llvm::function_ref<Type(int)> elementType) {
  Dataset &target = get(dataset);
  // Pictures have any size until a transform says which one.
  if (transforms.empty())
    reporter.fail("ImageFolder: pictures have sizes of their own; .transform "
                  "says which one those of a batch have, as "
                  "dl::transforms::Resize({224, 224})");
  if (target.root.empty())
    reporter.fail("ImageFolder: the path is empty; a folder of pictures is "
                  "wanted");
  if (std::string why = whatIsWrongWith(transforms); !why.empty())
    reporter.fail("ImageFolder: " + why);
  const dl_image_transform &last = transforms.back();
  if (last.width == 0)
    reporter.fail("ImageFolder: behind Resize(" + std::to_string(last.height) +
                  ") the longer edges of pictures still differ; a crop behind "
                  "it or Resize({" +
                  std::to_string(last.height) + ", " +
                  std::to_string(last.height) + "}) gives all one size");
  llvm::Expected<ImageFolder> folder =
      readImageFolder(placeOf(target.root), target.root, allowEmpty);
  if (!folder)
    failWith(folder.takeError());
  target.items = folder->pictures;
  target.classes = std::move(folder->classes);
  target.transforms = transforms.vec();
  checkSizes(target.root, {target.items, 3, last.height, last.width});
  target.components.push_back(
      {elementType(DL_UINT8), {3, last.height, last.width}});
  target.components.push_back({elementType(DL_INT64), {}});
  warnOfMissingClasses(target);
}

/// Labels number the folders that are there: a set that lacks one of another's
/// has other labels, as with PyTorch, where nobody tells.
void Datasets::warnOfMissingClasses(const Dataset &made) {
  for (const Dataset &other : all) {
    if (&other == &made || other.classes.size() == made.classes.size() ||
        other.classes.empty())
      continue;
    bool isLess = made.classes.size() < other.classes.size();
    const Dataset &less = isLess ? made : other, &more = isLess ? other : made;
    if (!std::includes(more.classes.begin(), more.classes.end(),
                       less.classes.begin(), less.classes.end()))
      continue;
    const std::string &lacking = *llvm::find_if(more.classes, [&](auto &name) {
      return !llvm::is_contained(less.classes, name);
    });
    reporter.warnAt(reporter.stack.userFrames(),
                    less.root + " has no folder '" + lacking + "', which " +
                        more.root + " has: their labels differ",
                    "an empty folder of that name, with .allow_empty = true, "
                    "makes them alike");
    return;
  }
}

int64_t Datasets::countClasses(int dataset) {
  if (dataset < 0 || get(dataset).classes.empty())
    reporter.fail("only dl::data::ImageFolder knows its classes: the folders "
                  "in it");
  return static_cast<int64_t>(get(dataset).classes.size());
}

static ArrayAttr transformsOf(OpBuilder &builder, const Dataset &dataset) {
  SmallVector<Attribute> transforms;
  for (const dl_image_transform &one : dataset.transforms) {
    bool hasNumbers = one.kind == DL_IMAGE_RANDOM_RESIZED_CROP;
    transforms.push_back(dl::graph::ImageTransformAttr::get(
        builder.getContext(), transformNames[one.kind], one.height, one.width,
        hasNumbers ? builder.getF64ArrayAttr(one.numbers) : nullptr));
  }
  return transforms.empty() ? nullptr : builder.getArrayAttr(transforms);
}

static ArrayAttr selectionsOf(OpBuilder &builder, const Dataset &dataset) {
  SmallVector<Attribute> selections;
  for (const Selection &one : dataset.selections)
    selections.push_back(dl::graph::SelectionAttr::get(
        builder.getContext(), one.items, one.first, one.of, one.shuffled,
        one.seed));
  return selections.empty() ? nullptr : builder.getArrayAttr(selections);
}

void Datasets::addFile(int dataset, const std::string &path,
                       llvm::function_ref<Type(int)> elementType) {
  std::optional<NpyHeader> header; // of all files together
  for (const std::string &one : filesOf(path)) {
    llvm::Expected<NpyHeader> read = readNpyHeader(one);
    if (!read)
      failWith(read.takeError());
    if (read->shape.empty())
      reporter.fail(
          one +
          ": the array has no dimensions; the first one counts the items");
    if (read->shape.front() == 0)
      reporter.fail(one + ": the array holds no items");
    if (!header) {
      header = std::move(*read);
      continue;
    }
    if (read->dtype != header->dtype ||
        llvm::ArrayRef(read->shape).drop_front() !=
            llvm::ArrayRef(header->shape).drop_front())
      reporter.fail(one + ": its items are not like those of the files before "
                          "it, in dtype or shape");
    if (__builtin_add_overflow(header->shape.front(), read->shape.front(),
                               &header->shape.front()))
      reporter.fail(path + ": too many items");
  }
  Dataset &target = get(dataset);
  int64_t items = header->shape.front();
  checkSizes(path, header->shape);
  if (!target.paths.empty() && items != target.items)
    reporter.fail(path + " holds " + std::to_string(items) + " items, " +
                  target.paths.front() + " holds " +
                  std::to_string(target.items));
  target.items = items;
  target.paths.push_back(path);
  header->shape.erase(header->shape.begin());
  target.components.push_back({elementType(header->dtype), header->shape});
}

int Datasets::use(int dataset, bool all) {
  Dataset &target = get(dataset);
  if (target.components.empty())
    reporter.fail("the dataset has no tensors");
  if (target.dropLast && !all && target.items < target.batchSize)
    reporter.fail("the dataset has " + std::to_string(target.items) +
                  " items: with drop_last, no batch of " +
                  std::to_string(target.batchSize) + " remains");
  if (target.index < 0) {
    target.index = static_cast<int>(used.size());
    used.push_back(dataset);
  }
  return target.index;
}

void Datasets::write(OpBuilder &builder, Location loc) const {
  for (int number : used) {
    const Dataset &dataset = all[static_cast<size_t>(number)];
    SmallVector<Type> components;
    for (const Component &component : dataset.components)
      components.push_back(
          RankedTensorType::get(component.shape, component.element));
    SmallVector<StringRef> paths(dataset.paths.begin(), dataset.paths.end());
    SmallVector<StringRef> classes(dataset.classes.begin(),
                                   dataset.classes.end());
    dl::graph::DatasetOp::create(
        builder, loc, dataset.kind, dataset.root,
        builder.getStrArrayAttr(paths), dataset.train, dataset.items,
        dataset.fullBatch(), dataset.shuffle, dataset.dropLast,
        builder.getTypeArrayAttr(components), dataset.stride,
        transformsOf(builder, dataset),
        dataset.classes.empty() ? ArrayAttr()
                                : builder.getStrArrayAttr(classes),
        selectionsOf(builder, dataset),
        dataset.sampler ? dl::graph::SamplerAttr::get(
                              builder.getContext(),
                              builder.getStringAttr(dataset.sampler->weights),
                              dataset.sampler->of)
                        : nullptr);
  }
}
