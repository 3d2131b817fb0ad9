#pragma once
// Datasets. Batches arrive raw; what turns bytes into numbers is part of the
// step's graph.
#include "create.h"
#include "literals.h"

namespace dl {

/// The tensors of one batch: b.data and b.target, or b[i].
class Batch {
  static constexpr int kMax = 32;
  Tensor tensors[kMax];
  int count = 0;

public:
  Tensor data, target;

  Batch() { target.id = DL_NO_TARGET; }
  void push_back(Tensor tensor) {
    if (count == kMax)
      detail::fail("a batch has at most {} tensors", kMax);
    (count == 0 ? data : count == 1 ? target : tensors[count]) = tensor;
    tensors[count++] = tensor;
  }
  int size() const { return count; }
  Tensor operator[](int index) const {
    if (index < 0 || index >= count)
      detail::fail("the batch has {} tensors, there is no number {}", count,
                   index);
    return tensors[index];
  }
  Tensor operator[](const char *name) const = delete (
      "dl: the tensors of a batch have numbers, in the order of the data set: "
      "b[0], b[1]; b.data and b.target are the first two");
  /// auto [x, y] = b; of a batch of two.
  template <decltype(sizeof(0)) I> Tensor get() const {
    if (count != 2)
      detail::fail("two names for the {} tensors of a batch; they are b[0], "
                   "b[1] and so on",
                   count);
    return tensors[I];
  }
};

} // namespace dl

template <> struct std::tuple_size<dl::Batch> {
  static constexpr decltype(sizeof(0)) value = 2;
};
template <decltype(sizeof(0)) I> struct std::tuple_element<I, dl::Batch> {
  using type = dl::Tensor;
};
template <>
struct std::tuple_size<const dl::Batch> : std::tuple_size<dl::Batch> {};
template <decltype(sizeof(0)) I> struct std::tuple_element<I, const dl::Batch> {
  using type = const dl::Tensor;
};

namespace dl {

namespace detail {
/// Of a list of transforms, one that is part of the step's graph.
struct GraphTransform {
  Tensor (*apply)(const void *transform, Tensor x) = nullptr;
  const void *transform = nullptr; ///< never given back
};
/// The folders of a data set of pictures.
struct Classes {
  int dataset = -1;
  i64 size() const { return dl_dataset_classes(dataset); }
};
} // namespace detail

namespace data {

struct Dataset {
  static constexpr int kMostTransforms = 8;

  int id = -1;
  Batch (*decode)(const Dataset &dataset, Batch raw) = nullptr;
  detail::GraphTransform transforms[kMostTransforms];
  detail::Classes classes; ///< of ImageFolder: train.classes.size()

  /// Items.
  i64 size() const { return dl_dataset_items(id); }
};

/// Of a data set of pictures.
struct PictureOptions {
  bool train = true; ///< the split for training, or the one for tests
  i64 batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;
};
using MNISTOptions = PictureOptions;
using FashionMNISTOptions = PictureOptions;
using KMNISTOptions = PictureOptions;
using CIFAR10Options = PictureOptions;
using CIFAR100Options = PictureOptions;

} // namespace data

namespace detail {
/// Bytes of pictures and of labels.
inline data::Dataset pictures(const char *kind, const char *root, i64 items,
                              Shape image, const data::PictureOptions &options,
                              Batch (*decode)(const data::Dataset &, Batch)) {
  data::Dataset dataset;
  dataset.id = dl_dataset(kind, root, options.train, items, options.batch_size,
                          options.shuffle, options.drop_last);
  dl_dataset_component(dataset.id, nullptr, DL_UINT8, image.dims, image.rank);
  dl_dataset_component(dataset.id, nullptr, DL_UINT8, nullptr, 0);
  dataset.decode = decode;
  return dataset;
}
/// Pictures from 0 to 1, less their mean, over their standard deviation.
template <typename Value>
Batch normalized(Batch raw, const Value &mean, const Value &deviation) {
  Tensor image = raw.data.to(kFloat);
  image = image.div(255.0);
  image = image.sub(mean);
  Batch batch;
  batch.push_back(image.div(deviation));
  batch.push_back(raw.target.to(kInt64));
  return batch;
}
/// Floats of any width are the model's.
inline Batch as_they_are(const data::Dataset &, Batch raw) {
  Batch batch;
  for (int i = 0; i < raw.size(); ++i)
    batch.push_back(raw[i].is_floating_point() ? raw[i].to(kFloat) : raw[i]);
  return batch;
}
} // namespace detail

namespace data {

/// Handwritten digits: images [B, 1, 28, 28], normalised; labels [B].
inline Dataset MNIST(const char *root, const MNISTOptions &options = {}) {
  return detail::pictures("mnist", root, options.train ? 60000 : 10000,
                          {1, 28, 28}, options, [](const Dataset &, Batch raw) {
                            return detail::normalized(raw, 0.1307, 0.3081);
                          });
}

/// Clothes, in MNIST's format and number.
inline Dataset FashionMNIST(const char *root,
                            const FashionMNISTOptions &options = {}) {
  return detail::pictures("fashion_mnist", root, options.train ? 60000 : 10000,
                          {1, 28, 28}, options, [](const Dataset &, Batch raw) {
                            return detail::normalized(raw, 0.2860, 0.3530);
                          });
}

/// Cursive Japanese characters, in MNIST's format and number.
inline Dataset KMNIST(const char *root, const KMNISTOptions &options = {}) {
  return detail::pictures("kmnist", root, options.train ? 60000 : 10000,
                          {1, 28, 28}, options, [](const Dataset &, Batch raw) {
                            return detail::normalized(raw, 0.1918, 0.3483);
                          });
}

/// Small photographs, of the binary version: images [B, 3, 32, 32], each
/// channel normalised; labels [B].
inline Dataset CIFAR10(const char *root, const CIFAR10Options &options = {}) {
  return detail::pictures(
      "cifar10", root, options.train ? 50000 : 10000, {3, 32, 32}, options,
      [](const Dataset &, Batch raw) {
        Tensor mean = tensor({0.4914, 0.4822, 0.4465}).view({3, 1, 1});
        Tensor deviation = tensor({0.2470, 0.2435, 0.2616}).view({3, 1, 1});
        return detail::normalized(raw, mean, deviation);
      });
}

/// The same of 100 classes, the fine ones; the 20 coarse ones are not read.
inline Dataset CIFAR100(const char *root, const CIFAR100Options &options = {}) {
  return detail::pictures(
      "cifar100", root, options.train ? 50000 : 10000, {3, 32, 32}, options,
      [](const Dataset &, Batch raw) {
        Tensor mean = tensor({0.5071, 0.4865, 0.4409}).view({3, 1, 1});
        Tensor deviation = tensor({0.2673, 0.2564, 0.2762}).view({3, 1, 1});
        return detail::normalized(raw, mean, deviation);
      });
}

struct TensorDatasetOptions {
  i64 batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;
};

/// .npy files with equal first dimensions, one for each tensor of a batch. A
/// name with a '*' or a '?', "x-*.npy", stands for all files that are like it,
/// one behind the other in the order of their names.
inline Dataset TensorDataset(list<const char *> paths,
                             const TensorDatasetOptions &options = {}) {
  Dataset dataset;
  dataset.id = dl_dataset("tensor", "", true, -1, options.batch_size,
                          options.shuffle, options.drop_last);
  for (const char *path : paths) {
    if (!path)
      detail::fail("TensorDataset: a path is a null pointer; a .npy file is "
                   "wanted");
    dl_dataset_component(dataset.id, path, DL_FLOAT, nullptr, 0);
  }
  dataset.decode = detail::as_they_are;
  return dataset;
}
inline Dataset TensorDataset(const char *path,
                             const TensorDatasetOptions &options = {}) {
  return TensorDataset({path}, options);
}

/// A tensor of each item, as a program gives it or NAME.npy has it.
struct Input {
  const char *name = nullptr;
  DType dtype = kFloat;
  Shape shape = {}; ///< of one item
};

struct InputDatasetOptions {
  i64 items =
      0; ///< of an epoch, which may end in a shorter batch; 0: one batch
  i64 batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;
};

/// Items that are there when the plan runs: those that a program hands over
/// (dlrun.h), or `dlrun --data FOLDER` finds as NAME.npy.
inline Dataset InputDataset(list<Input> inputs,
                            const InputDatasetOptions &options = {}) {
  if (options.items < 0)
    detail::fail("InputDataset: items = {}; a number of items is wanted",
                 options.items);
  Dataset dataset;
  dataset.id = dl_dataset(
      "tensor", "", true, options.items ? options.items : options.batch_size,
      options.batch_size, options.shuffle, options.drop_last);
  for (const Input &input : inputs) {
    if (!input.name)
      detail::fail("InputDataset: an input has no name");
    dl_dataset_input(dataset.id, input.name, static_cast<int>(input.dtype),
                     input.shape.dims, input.shape.rank);
  }
  dataset.decode = detail::as_they_are;
  return dataset;
}

struct TokenDatasetOptions {
  i64 length = 128; ///< tokens of an item
  i64 stride = 0;   ///< between the first ones of two items; 0: length
  i64 batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;
};

/// Windows of one long row of tokens, [B, length], and the tokens that follow
/// each of theirs, [B, length], both int64. The file is a .npy of one
/// dimension, llm.c's .bin with its header, any other .bin with tokens of 16
/// bits as nanoGPT writes it, or text, whose tokens are its bytes. No window is
/// of two of the files that "train_*.bin" stands for.
inline Dataset TokenDataset(const char *path,
                            const TokenDatasetOptions &options = {}) {
  if (!path)
    detail::fail("TokenDataset: the path is a null pointer; a file of tokens "
                 "is wanted");
  Dataset dataset;
  dataset.id = dl_dataset("tokens", "", true, -1, options.batch_size,
                          options.shuffle, options.drop_last);
  dl_dataset_tokens(dataset.id, path, options.length,
                    options.stride ? options.stride : options.length);
  dataset.decode = [](const Dataset &, Batch raw) {
    i64 length = raw.data.size(1) - 1;
    Batch batch;
    batch.push_back(raw.data.narrow(1, 0, length).to(kInt64));
    batch.push_back(raw.data.narrow(1, 1, length).to(kInt64));
    return batch;
  };
  return dataset;
}

} // namespace data
} // namespace dl
