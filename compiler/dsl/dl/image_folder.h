#pragma once
// Pictures of any size in folders, one for each class: torchvision's
// ImageFolder.
#include "color_transforms.h"
#include "data.h"

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
  ImageStep(const RandomHorizontalFlip &t)
      : ImageStep("RandomHorizontalFlip", likely<RandomHorizontalFlip>) {
    graph.numbers[0] = t.p;
  }
  ImageStep(const RandomVerticalFlip &t)
      : ImageStep("RandomVerticalFlip", likely<RandomVerticalFlip>) {
    graph.numbers[0] = t.p;
  }
  ImageStep(const Grayscale &t)
      : ImageStep("Grayscale", [](const double *n, Tensor x) {
          return Grayscale(static_cast<i64>(n[0]))(x);
        }) {
    graph.numbers[0] = static_cast<double>(t.num_output_channels);
  }
  ImageStep(const RandomGrayscale &t)
      : ImageStep("RandomGrayscale", likely<RandomGrayscale>) {
    graph.numbers[0] = t.p;
  }
  ImageStep(const ColorJitter &t)
      : ImageStep("ColorJitter", [](const double *n, Tensor x) {
          return ColorJitter({.brightness = {n[0], n[1]},
                              .contrast = {n[2], n[3]},
                              .saturation = {n[4], n[5]},
                              .hue = {n[6], n[7]}})(x);
        }) {
    int at = 0;
    for (const Range *range :
         {&t.brightness, &t.contrast, &t.saturation, &t.hue}) {
      graph.numbers[at++] = range->from;
      graph.numbers[at++] = range->to;
    }
  }
  ImageStep(const RandomErasing &t)
      : ImageStep("RandomErasing", [](const double *n, Tensor x) {
          return RandomErasing(
              n[0],
              {.scale = {n[1], n[2]}, .ratio = {n[3], n[4]}, .value = n[5]})(x);
        }) {
    const RandomErasingOptions &o = t.options;
    const double numbers[] = {t.p,          o.scale.from, o.scale.to,
                              o.ratio.from, o.ratio.to,   o.value};
    for (int i = 0; i < 6; ++i)
      graph.numbers[i] = numbers[i];
  }
  ImageStep(const Normalize &t)
      : ImageStep("Normalize", t.channels == 3   ? normalized<3>
                               : t.channels == 1 ? normalized<1>
                                                 : nullptr) {
    if (!graph.apply)
      fail("Normalize: {} means for the 3 channels of pictures", t.channels);
    for (int c = 0; c < t.channels; ++c) {
      graph.numbers[c] = t.mean[c];
      graph.numbers[t.channels + c] = t.std[c];
    }
  }
  ImageStep(const ToTensor &)
      : ImageStep("ToTensor", [](const double *, Tensor x) { return x; }) {}

private:
  ImageStep(const char *name, int kind, i64 height, i64 width)
      : name(name), as_read(true), item{kind, height, width, {}} {}
  ImageStep(const char *name, Tensor (*apply)(const double *, Tensor))
      : name(name), graph{apply, {}} {}
  /// With a probability alone.
  template <class Transform> static Tensor likely(const double *n, Tensor x) {
    return Transform(n[0])(x);
  }
  template <int channels> static Tensor normalized(const double *n, Tensor x) {
    if constexpr (channels == 1)
      return Normalize({n[0]}, {n[1]})(x);
    else
      return Normalize({n[0], n[1], n[2]}, {n[3], n[4], n[5]})(x);
  }
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
        image = transform.apply(transform.numbers, image);
    Batch batch;
    batch.push_back(image);
    batch.push_back(raw.target);
    return batch;
  };
  return dataset;
}

} // namespace dl::data
