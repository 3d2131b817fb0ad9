#pragma once
// Of the border between a .dl and dlcc: data sets. Part of abi.h.

extern "C" {

// In place of b.target's handle where a data set has one tensor alone.
enum { DL_NO_TARGET = -3 };
/// From here on down the gradients of parameters 0, 1, ... that have none.
enum { DL_NO_GRADIENT = -16 };

// A component is one tensor of a batch item: given by dtype and shape,
// read from the header of the .npy file at `path`, or `length` + 1 of a file's
// tokens.
int dl_dataset(const char *kind, const char *root, int train, dl_int items,
               dl_int batch_size, int shuffle, int drop_last) noexcept;
void dl_dataset_component(int dataset, const char *path, int dtype,
                          const dl_int *dims, int rank) noexcept;
// One that a program gives when it runs the plan, or a file NAME.npy then.
void dl_dataset_input(int dataset, const char *name, int dtype,
                      const dl_int *dims, int rank) noexcept;
void dl_dataset_tokens(int dataset, const char *path, dl_int length,
                       dl_int stride) noexcept;
int dl_dataset_components(int dataset) noexcept;
dl_int dl_dataset_items(int dataset) noexcept;

// A data set with the same items in other batches, and one with `items` of
// them: from the `first` one on, in their order or in one that `seed` shuffles.
int dl_dataset_loader(int dataset, dl_int batch_size, int shuffle,
                      int drop_last) noexcept;
// Of one made by dl_dataset_loader: an epoch is so many draws.
void dl_dataset_sampler(int dataset, const char *weights, dl_int samples,
                        int replacement) noexcept;
int dl_dataset_part(int dataset, dl_int first, dl_int items, int shuffled,
                    dl_int seed) noexcept;

// Pictures of a folder, [3, H, W], and the number of the folder within that
// each is in, one of which may be empty. `numbers` are those of a random
// resized crop: scale and ratio.
enum dl_image_transform_kind {
  DL_IMAGE_RESIZE,
  DL_IMAGE_CENTER_CROP,
  DL_IMAGE_RANDOM_CROP,
  DL_IMAGE_RANDOM_RESIZED_CROP
};
struct dl_image_transform {
  int kind;
  dl_int height, width; // width 0: the shorter edge gets `height`
  double numbers[4];
};
void dl_dataset_images(int dataset, const dl_image_transform *transforms,
                       int count, int allow_empty) noexcept;
dl_int dl_dataset_classes(int dataset) noexcept;
}
