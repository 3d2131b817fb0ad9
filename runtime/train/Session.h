// A plan made ready for the ranks of this process: device, data sets, states.
#ifndef DLRT_TRAIN_SESSION_H
#define DLRT_TRAIN_SESSION_H

#include "runtime/base/Status.h"
#include "runtime/comm/Together.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Loader.h"
#include "runtime/device/Device.h"
#include "runtime/exec/CpuDevice.h"
#include "runtime/plan/PlanReader.h"
#include "runtime/state/Weights.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlrt {

/// What the user gave with --set.
struct SettingValue {
  std::string name;
  double value = 0;
};

struct SessionOptions {
  unsigned threads = 1;
  std::string isa;
  uint64_t seed = 0;
  bool shuffle = true; ///< false: file order, whatever the plan says
  /// Training leaves out a last batch that is not full, whatever the plan says.
  bool dropLast = false;
  /// Where relative paths of the model are looked for first; empty: the plan's
  /// folder.
  std::string modelFolder;
  bool synthetic = false;
  bool trace = false;
  CheckOptions checks;
  /// Weight files, or folders of runs, which stand for their newest
  /// checkpoint.
  std::vector<WeightSource> init;
  bool initPartial = false;           ///< what fits of them will do
  std::vector<SettingValue> settings; ///< in place of the plan's values
  /// What the user gave with --data: "PATH" or "STEP=PATH".
  std::vector<std::string> data;
  /// Ranks of the run whose batches and states this process has; none: all.
  std::optional<Ranks> ranks;
  std::optional<uint32_t> wantedRanks; ///< others than the plan's are refused
  std::optional<LinkSpeed> link;       ///< that communications take the time of
  bool ownKernels = false;             ///< no library of the device's is used
  Denormals denormals = Denormals::Keep;
  DeviceFactory device = cpuDevice;
  /// Where several processes run the plan: must outlive the session.
  Transport *transport = nullptr;
};

class Session {
public:
  static Expected<std::unique_ptr<Session>> open(const std::string &planPath,
                                                 const SessionOptions &options);

  /// The same with a plan that has been read; `name` is for messages.
  static Expected<std::unique_ptr<Session>> open(LoadedPlan loaded,
                                                 const std::string &name,
                                                 const SessionOptions &options);

  /// The plans of all ranks.
  const PlanSet &plans() const { return loaded; }
  /// How messages and files name the plan.
  const std::string &name() const { return planName; }
  const fb::PlanT &plan() const { return loaded.first(); }
  /// The plan's file and its checksum.
  const LoadedPlan &planFile() const { return loaded; }
  const SessionOptions &options() const { return settings; }
  Device &device() { return *machine; }
  /// What is to be done by all processes of the run.
  Together together() const { return Together(settings.transport); }

  /// Indices of the training steps.
  std::vector<uint32_t> trainingSteps() const;
  std::vector<uint32_t> evaluationSteps() const;
  std::vector<uint32_t> predictionSteps() const;

  /// Opens the data of a step; a second call does nothing. Refuses a number of
  /// items that the step's programs cannot take.
  Status openData(uint32_t step);
  /// In place of the files of a step, until other ones are set. What they lie
  /// in is left alone after the launches that use them.
  Status setData(uint32_t step, Dataset data);
  bool hasData(uint32_t step) const { return datasets.count(step) != 0; }
  /// Of a step whose data are open.
  const Dataset &dataset(uint32_t step) const { return *datasets.at(step); }
  /// Which components of its items the step's programs read.
  std::vector<bool> readComponents(uint32_t step) const;

  /// The files that a step reads, or would read without --data.
  std::vector<std::string> dataPaths(uint32_t step) const;

  /// Whether what full batches leave over of a step's data runs item by item.
  bool runsItems(uint32_t step) const;
  /// Whether what full batches leave over of a prediction is one more of them,
  /// filled up with its last item: that takes less time than items one by one.
  bool fillsLast(uint32_t step) const;
  /// The program for a batch of so many items.
  fb::ProgramKind kindOf(uint32_t step, uint64_t items) const;
  /// Full batches of an epoch.
  uint64_t fullBatches(uint32_t step) const;

  /// Batches of an epoch of a step whose data are open.
  uint64_t batchesPerEpoch(uint32_t step) const;

  /// A loader for a step whose data are open, from a batch counted over all
  /// epochs; start() is yet to be called.
  std::unique_ptr<Loader> makeLoader(uint32_t step, uint64_t batchLimit,
                                     uint64_t firstBatch = 0) const;

  /// What was to be said of data that have been opened since the last call.
  std::vector<std::string> takeNotes() { return std::exchange(notes, {}); }

  /// Of what comes from here on; initial values stay as they are.
  void setSeed(uint64_t seed) { settings.seed = seed; }

  /// Sets all states to their initial values.
  Status initialiseStates();
  /// Loads the weight files, if the options name some.
  Status loadInitialWeights(std::vector<std::string> &warnings);

  /// What settings are from the next launch on. A name that the plan does not
  /// have is an error, and changes nothing.
  Status setSettings(const std::vector<SettingValue> &values);
  /// By its position in the plan.
  SettingValue setting(size_t place) const {
    return {plan().settings[place]->name, settingValues[place]};
  }
  /// All of them have the plan's values again.
  void resetSettings();
  /// Those whose value is not the plan's.
  std::vector<SettingValue> changedSettings() const;

private:
  Session() = default;
  Status resolveData();
  DataRequest requestOf(uint32_t step) const;
  bool dropsLast(uint32_t step) const;
  uint64_t itemsLeft(uint32_t step) const;
  Status checkLength(uint32_t step) const;
  /// Those that a step before has opened, if they are the same.
  Expected<std::shared_ptr<const Dataset>> filesOf(const fb::DatasetT &dataset,
                                                   const DataRequest &request);
  Status keepIfFitting(uint32_t step);
  Status openDevice();
  Status computeInitialValues();

  LoadedPlan loaded;
  std::string planName;
  SessionOptions settings;
  std::unique_ptr<Device> machine;
  std::map<std::string, std::string> givenData; ///< by step name
  std::optional<std::string> givenForAll;
  std::map<uint32_t, std::unique_ptr<Dataset>> datasets;
  struct OpenFiles {
    const fb::DatasetT *dataset;
    DataRequest request;
    std::shared_ptr<const Dataset> whole;
  };
  std::vector<OpenFiles> openFiles; ///< which several steps may read
  std::vector<std::string> notes;
  std::vector<double> settingValues; ///< by position in the plan
};

/// The name users know a step by: "test" of the step "eval.test".
std::string displayName(const fb::StepT &step);

} // namespace dlrt

#endif
