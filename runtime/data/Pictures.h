// Data sets of pictures that have a name: MNIST, FashionMNIST, KMNIST,
// CIFAR10, CIFAR100.
#ifndef DLRT_DATA_PICTURES_H
#define DLRT_DATA_PICTURES_H

#include "runtime/data/Dataset.h"

#include <string>
#include <vector>

namespace dlrt {

bool isOfPictures(const fb::DatasetT &dataset);

/// The files that openPictures looks for.
std::vector<std::string> picturePaths(const fb::DatasetT &dataset,
                                      const DataRequest &request);

/// Of the split, without the suffix .gz: pictures and labels of MNIST's format,
/// or files of both in CIFAR's.
std::vector<std::string> pictureFiles(const fb::DatasetT &dataset);

/// Reads pictures and labels of MNIST's format from a folder that has one of
/// their files.
Expected<Dataset> openMnist(const fb::DatasetT &dataset,
                            const DataRequest &request,
                            const std::string &folder);
/// Reads files of CIFAR's binary versions from a folder that has one of them.
/// https://www.cs.toronto.edu/~kriz/cifar.html: records of one byte for the
/// label, in CIFAR-100 behind another for the coarse one, and 3072 of three
/// channels.
Expected<Dataset> openCifar(const fb::DatasetT &dataset,
                            const std::string &folder);

} // namespace dlrt

#endif
