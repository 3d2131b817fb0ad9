#pragma once
// Pictures of any size in folders, one for each class: torchvision's
// ImageFolder.
#include "color_transforms.h"
#include "data.h"
#include "geometric_transforms.h"

namespace dl::transforms {

namespace detail {
/// One of a list: done as a picture is read, or part of the step's graph.
struct ImageStep {
  const char *name = nullptr;
  bool as_read = false;
  dl_image_transform item = {};
  dl::detail::GraphTransform graph;

  ImageStep() = default;
  ImageStep(const Resize &t)
      : ImageStep("Resize", DL_IMAGE_RESIZE, t.height, t.width) {}
  ImageStep(const CenterCrop &t)
      : ImageStep("CenterCrop", DL_IMAGE_CENTER_CROP, t.height, t.width) {}
  ImageStep(const RandomCrop &t)
      : ImageStep("RandomCrop", DL_IMAGE_RANDOM_CROP, t.height, t.width) {
    if (t.options.padding)
      fail("RandomCrop: .transform knows no padding; a step may call "
           "RandomCrop(size, {.padding = {}}) for its batch",
           t.options.padding);
  }
  ImageStep(const RandomResizedCrop &t)
      : ImageStep("RandomResizedCrop", DL_IMAGE_RANDOM_RESIZED_CROP, t.height,
                  t.width) {
    const RandomResizedCropOptions &o = t.options;
    item.numbers[0] = o.scale.from, item.numbers[1] = o.scale.to;
    item.numbers[2] = o.ratio.from, item.numbers[3] = o.ratio.to;
  }
  /// Whatever makes pictures of pictures: those of a batch.
  template <class T>
    requires requires(const T &made, Tensor x) { Tensor(made(x)); }
  ImageStep(const T &made)
      : graph{[](const void *kept, Tensor x) -> Tensor {
                return (*static_cast<const T *>(kept))(x);
              },
              new T(made)} {
    if constexpr (requires { T::kName; })
      name = T::kName;
    else
      name = "a function";
    if constexpr (__is_same(T, Normalize))
      if (made.channels != 1 && made.channels != 3)
        fail("Normalize: {} means for the 3 channels of pictures",
             made.channels);
  }

private:
  ImageStep(const char *name, int kind, i64 height, i64 width)
      : name(name), as_read(true), item{kind, height, width, {}} {}
};
} // namespace detail

/// Transforms one behind the other.
class Compose {
public:
  static constexpr int kMost = data::Dataset::kMostTransforms;
  detail::ImageStep steps[kMost];
  int count = 0;

  Compose() = default;
  Compose(list<detail::ImageStep> all) {
    for (const detail::ImageStep &step : all)
      push_back(step);
  }
  template <class One>
    requires(__is_constructible(detail::ImageStep, const One &))
  Compose(const One &one) {
    push_back(one);
  }

private:
  void push_back(const detail::ImageStep &step) {
    if (count == kMost)
      detail::fail("Compose: at most {} transforms", kMost);
    if (count && step.as_read && !steps[count - 1].as_read)
      detail::fail("{} stands behind {}; what gives pictures a size comes "
                   "first, for it is done as they are read",
                   step.name, steps[count - 1].name);
    steps[count++] = step;
  }
};

} // namespace dl::transforms

namespace dl::data {

struct ImageFolderOptions {
  /// Until all pictures have one size, and what else the steps do with them:
  /// {Resize(256), CenterCrop(224), Normalize({..}, {..})}.
  transforms::Compose transform;
  i64 batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;
  bool allow_empty = false; ///< of classes: folders without a picture
};

/// Pictures of root/class/name.jpg, [B, 3, H, W] from 0 to 1 and then as
/// `transform` says; labels [B], which number the sorted folders. JPEG, PNG,
/// PPM and PGM.
inline Dataset ImageFolder(const char *root,
                           const ImageFolderOptions &options = {}) {
  if (!root)
    detail::fail("ImageFolder: the path is a null pointer; a folder of "
                 "pictures is wanted");
  Dataset dataset;
  dataset.id = dl_dataset("image_folder", root, true, -1, options.batch_size,
                          options.shuffle, options.drop_last);
  const transforms::Compose &all = options.transform;
  dl_image_transform as_read[Dataset::kMostTransforms];
  int reads = 0, later = 0;
  for (int i = 0; i < all.count; ++i)
    if (all.steps[i].as_read)
      as_read[reads++] = all.steps[i].item;
    else
      dataset.transforms[later++] = all.steps[i].graph;
  dl_dataset_images(dataset.id, as_read, reads, options.allow_empty);
  dataset.classes.dataset = dataset.id;
  dataset.decode = [](const Dataset &dataset, Batch raw) {
    Tensor image = raw.data.to(kFloat).div(255.0);
    for (const detail::GraphTransform &transform : dataset.transforms)
      if (transform.apply)
        image = transform.apply(transform.transform, image);
    Batch batch;
    batch.push_back(image);
    batch.push_back(raw.target);
    return batch;
  };
  return dataset;
}

} // namespace dl::data
