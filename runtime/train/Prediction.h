// Runs a prediction over its whole data set, and writes what it returns.
#ifndef DLRT_TRAIN_PREDICTION_H
#define DLRT_TRAIN_PREDICTION_H

#include "runtime/base/Status.h"
#include "runtime/state/TensorStream.h"
#include "runtime/train/Session.h"

#include <cstdint>
#include <functional>
#include <span>
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

/// Takes the next rows of one of the predicted tensors, row-major.
using RowSink =
    std::function<Status(size_t tensor, std::span<const uint8_t> rows)>;

/// The same of one batch of a step that generates; `place` is that of its token
/// in the window.
Status predictToken(Session &session, uint32_t step, uint64_t place,
                    const RowSink &sink);

/// Gives `sink` all items, in the order of the data; none: another process of
/// the run keeps them. `goOn` is asked before each batch.
Expected<Prediction> predict(Session &session, uint32_t step,
                             const RowSink &sink,
                             const std::function<bool()> &goOn);

} // namespace dlrt

#endif
