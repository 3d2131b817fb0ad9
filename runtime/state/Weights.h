// Weights in and out: between weight files, which carry PyTorch's state_dict
// names, shapes and row-major order, and the states of a plan.
#ifndef DLRT_STATE_WEIGHTS_H
#define DLRT_STATE_WEIGHTS_H

#include "runtime/base/Status.h"
#include "runtime/device/Buffers.h"
#include "runtime/plan/PlanSet.h"
#include "runtime/state/Safetensors.h"
#include "runtime/state/WeightMatch.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dlrt {

/// Whether a weight file holds this state: parameters and buffers do, what the
/// optimizer keeps does not.
bool isWeight(const fb::StateT &state);

/// Sets weights from files, as PyTorch's load_state_dict does. Each weight must
/// be in one of them under its name or an alias with its shape, and each tensor
/// must be a weight's; counters of batches (num_batches_tracked) need not. With
/// `partial` what fits is taken, of several files the last one's, and a warning
/// says what does not fit; nothing at all is an error. Dtypes are widened
/// exactly, and narrowed with a warning.
class WeightFiles {
public:
  /// Finds out what fits. The plans must outlive it.
  static Expected<std::unique_ptr<WeightFiles>>
  open(const PlanSet &set, const std::vector<WeightSource> &sources,
       bool partial, std::vector<std::string> &warnings);

  /// Whether the state of this name gets its values from a file.
  bool have(const std::string &state) const { return found.contains(state); }
  /// Nothing is changed if there is an error.
  Status load(Buffers &buffers, std::vector<std::string> &warnings) const;

private:
  explicit WeightFiles(const PlanSet &set) : set(set) {}

  const PlanSet &set;
  std::vector<WeightSource> sources;
  std::vector<SafetensorsFile> files;
  std::vector<const fb::StateT *> states;
  std::optional<WeightMatch> match;
  std::set<std::string> found; ///< states
};

/// All of it at once.
Status loadWeights(const PlanSet &set, const std::vector<WeightSource> &sources,
                   bool partial, Buffers &buffers,
                   std::vector<std::string> &warnings);

/// Writes all weights, tied ones under each of their names.
Status saveWeights(const PlanSet &set, const std::string &path,
                   const BufferReader &buffers);

/// Of processes that read together, those that save no weights.
Status readWeightsAlong(const PlanSet &set, const BufferReader &buffers);

/// A tensor to write: the values of a metric, row-major.
struct MetricValues {
  std::string name;
  fb::DType dtype;
  std::vector<uint64_t> shape;
  std::vector<uint8_t> data;
};

/// The values of all metrics of a step's program of that kind, any shape, of
/// whatever rank reports them; nothing if the step has none.
Expected<std::vector<MetricValues>> readMetrics(const PlanSet &set,
                                                uint32_t step,
                                                fb::ProgramKind kind,
                                                const BufferReader &buffers);
Status saveMetrics(const std::vector<MetricValues> &metrics,
                   const std::string &path);

} // namespace dlrt

#endif
