// Data sets of pictures that have a name: MNIST, FashionMNIST, CIFAR10.
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
/// or files of both in CIFAR-10's.
std::vector<std::string> pictureFiles(const fb::DatasetT &dataset);

/// Reads pictures and labels of MNIST's format from a folder that has one of
/// their files.
Expected<Dataset> openMnist(const fb::DatasetT &dataset,
                            const DataRequest &request,
                            const std::string &folder);
/// Reads files of CIFAR-10's binary version from a folder that has one of them.
/// https://www.cs.toronto.edu/~kriz/cifar.html: records of one byte for the
/// label and 3072 of three channels.
Expected<Dataset> openCifar10(const fb::DatasetT &dataset,
                              const std::string &folder);

} // namespace dlrt

#endif
