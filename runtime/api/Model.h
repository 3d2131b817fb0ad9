// A plan as a set of functions of arrays in memory: what dlrun.h shows.
#ifndef DLRT_API_MODEL_H
#define DLRT_API_MODEL_H

#include "runtime/api/DeviceOfTarget.h"
#include "runtime/api/dlrun.h"
#include "runtime/base/Status.h"
#include "runtime/state/Checkpoint.h"
#include "runtime/train/Plateaus.h"
#include "runtime/train/Session.h"
#include "runtime/train/StepCursor.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

class Model {
public:
  struct Options {
    unsigned threads = 1;
    uint64_t seed = 0;
    Denormals denormals = Denormals::Keep;
    std::function<void(const std::string &)> warn;
    DeviceFactory device = deviceOfTarget();
  };

  struct TensorFacts {
    std::string name;
    dlrun_dtype dtype;
    dlrun_role role;
    bool perItem;
    std::vector<uint64_t> shape; ///< of one item, where each has its own

    uint64_t elements() const; ///< of one item, or in all
    uint64_t bytes() const;
  };
  struct StepFacts {
    std::string name;
    dlrun_kind kind;
    uint64_t batchSize, updateItems;
    std::vector<TensorFacts> inputs, outputs;
  };

  static Expected<std::unique_ptr<Model>> open(const std::string &path,
                                               const Options &options);
  /// The bytes are copied.
  static Expected<std::unique_ptr<Model>> open(std::span<const uint8_t> plan,
                                               const Options &options);

  const std::vector<StepFacts> &steps() const { return functions; }
  Expected<size_t> findStep(const std::string &name) const;

  /// Sizes of all arrays are checked.
  Status run(size_t step, std::span<const dlrun_array> inputs, uint64_t items,
             std::span<const dlrun_buffer> outputs);

  void setEpoch(uint64_t number) { epochNumber = number; }
  uint64_t epoch() const { return epochNumber; }
  uint64_t updates() const { return updateCount; }

  Status set(const std::string &setting, double value);
  Expected<double> get(const std::string &setting) const;

  Status load(const std::string &path);
  Status save(const std::string &path) const;
  Status loadCheckpoint(const std::string &path);
  Status saveCheckpoint(const std::string &path) const;

  const std::vector<TensorFacts> &states() const { return stateFacts; }
  Status readState(const std::string &name, std::span<uint8_t> into) const;
  Status writeState(const std::string &name, std::span<const uint8_t> values);

private:
  Model() = default;
  static Expected<std::unique_ptr<Model>> open(std::unique_ptr<Model> model,
                                               LoadedPlan plan,
                                               const std::string &name,
                                               const Options &options);
  void describe();
  Expected<Dataset> datasetOf(size_t step, std::span<const dlrun_array> inputs,
                              uint64_t items) const;
  Status checkOutputs(size_t step, uint64_t items,
                      std::span<const dlrun_buffer> outputs) const;
  Status checkUpdate(size_t step, uint64_t items,
                     std::span<const dlrun_buffer> outputs) const;
  Status train(uint32_t step, uint64_t items,
               std::span<const dlrun_buffer> outputs);
  Status update(uint32_t step, uint64_t items);
  Status evaluate(uint32_t step, std::span<const dlrun_buffer> outputs);
  Status predict(uint32_t step, std::span<const dlrun_buffer> outputs);
  Expected<const fb::StateT *> stateOf(const std::string &name,
                                       uint64_t bytes) const;
  void tell(const std::vector<std::string> &notes) const;

  std::vector<uint64_t> planBytes; ///< where they are ours
  std::function<void(const std::string &)> warn;
  std::unique_ptr<Session> session;
  std::vector<StepFacts> functions;
  std::vector<TensorFacts> stateFacts;
  Plateaus plateaus;
  std::optional<StateSnapshot> before; ///< an update that may fail
  std::unique_ptr<StepCursor> last;    ///< of the last update
  uint64_t updateCount = 0, epochNumber = 0;
};

} // namespace dlrt

#endif
