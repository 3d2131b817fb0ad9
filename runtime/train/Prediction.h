// Runs a prediction over its whole data set, and writes what it returns.
#ifndef DLRT_TRAIN_PREDICTION_H
#define DLRT_TRAIN_PREDICTION_H

#include "runtime/base/Status.h"
#include "runtime/state/TensorStream.h"
#include "runtime/train/Session.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dlrt {

struct Prediction {
  std::string name;
  uint64_t items = 0;
  double seconds = 0;
  bool complete = true;
};

/// The tensors that a prediction returns for all items of its data, which must
/// be open. `prefix` goes before their names.
std::vector<StreamedTensor> predictedTensors(const Session &session,
                                             uint32_t step,
                                             const std::string &prefix);

/// Appends all items, in the order of the data, to the stream's tensors from
/// `first` on; null: another process of the run does. `goOn` is asked before
/// each batch.
Expected<Prediction> predict(Session &session, uint32_t step,
                             TensorStream *stream, size_t first,
                             const std::function<bool()> &goOn);

} // namespace dlrt

#endif
