#pragma once
// The graph being made. The calls of <dl/dl.h> arrive here, each becomes an
// MLIR op at once, and its room says what is wrong with it.
#include "compiler/dsl/dl/abi.h"
#include "compiler/frontend/Checkpoints.h"
#include "compiler/frontend/Datasets.h"
#include "compiler/frontend/Handle.h"
#include "compiler/frontend/InitialStep.h"
#include "compiler/frontend/Modules.h"
#include "compiler/frontend/Parallel.h"
#include "compiler/frontend/Reflection.h"
#include "compiler/frontend/TraceCheck.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/HostTensor.h"
#include "dialects/graph/StepRole.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace dl::frontend {

class Graph {
public:
  Graph(const Options &options, Reporter &reporter, Modules &modules,
        const ReflectedTypes &types);

  // Handles.
  const Handle &get(int handle, llvm::StringRef what);
  /// DL_FLOAT where the dtype is the program's floating-point type.
  int resolveDtype(int dtype);
  bool isDouble() const { return floatType.isF64(); }
  int dtypeOf(int handle);
  bool indicesFit(int handle, int64_t bound); ///< known to be in [0, bound)
  mlir::Type elementType(int dtype);
  int currentValue(int handle);
  /// As a file holds it, whatever the program computes with.
  mlir::Type storedType(int dtype);
  // Ops.
  void emit(llvm::StringRef op, llvm::ArrayRef<dl_operand> operands,
            llvm::ArrayRef<dl_attr> attributes,
            llvm::MutableArrayRef<int> results);
  void addErrorFlag(int handle, const std::string &message);

  // Parameters.
  int makeInitial(Initial initial, llvm::ArrayRef<int64_t> shape, int dtype);
  int makeParameter(int handle, bool isBuffer = false);
  void assign(int handle, int value);
  void setInitial(int handle, Initial initial);
  void setInitialAs(int handle, int other);
  void nameDraw(Initial &initial);

  // InPlace.cpp
  /// The handle stands for the value from here on, and what it is a view of
  /// follows.
  void become(int handle, int value);
  int clone(int handle);
  int contiguous(int handle);
  /// x[indices] is noted, x[indices] = y is refused.
  void copiedPart(int handle, dl_copied what);

  // Training.
  void backward(int loss);
  int gradient(int handle);
  /// Of a scalar, with respect to any tensors: handles, or -1.
  void gradients(int output, llvm::ArrayRef<int> inputs, bool allowUnused,
                 llvm::MutableArrayRef<int> results);
  bool hasGradient(int handle);
  void setGradient(int handle, int value);
  void zeroGradients(llvm::ArrayRef<int> handles);
  void setRequiresGrad(int handle, bool value);
  bool requiresGrad(int handle);
  int makeOptimizer(bool isNumbered);
  void addGroup(int optimizer, llvm::ArrayRef<int> handles);
  void zeroOptimized(int optimizer);
  /// Whether the step uses any of its parameters.
  bool usesOptimized(int optimizer);
  /// Updates the parameters of a group; false if none has a gradient.
  bool optimizerStep(int optimizer, int group, llvm::StringRef op,
                     llvm::ArrayRef<std::string> slots,
                     llvm::ArrayRef<dl_attr> attributes);

  // Optimizers that are written with ops.
  void beginUpdate(int optimizer, int group);
  /// What this parameter is updated by, in place of its gradient.
  void updateBy(int handle, int value);
  /// The next parameter of the group that has a gradient, or -1.
  int nextUpdated(int &gradient);
  void endUpdate();
  /// Like the parameter, if no shape is given.
  int slot(int handle, const std::string &name, double initial,
           const std::optional<std::vector<int64_t>> &shape, bool isNumber);
  void assignSlot(int handle, const std::string &name, int value);
  int updateNumber(int handle);

  // Numbers that are known when the plan runs.
  int makeSetting(const std::string &name, double standard);
  int optimizerSetting(int optimizer, int group, const std::string &name,
                       double standard);
  void logRate(int optimizer, int group, int number);
  int makeCounter(int optimizer);
  void count(int counter);
  int counted(int counter);
  void setInEpoch(bool value);
  /// Of the epoch, of the step: f64.
  int numberOf(dl::graph::StepScalar which);

  // Plateaus.cpp
  int makePlateau(const dl_plateau_options &options);
  void addPlateauRate(int plateau, int number);
  void stepPlateau(int plateau, const std::string &metric);

  // Steps.
  bool beginStep(const std::string &name, int dataset, int kind, int round);
  int input(int component);
  void endStep(int metrics);
  bool inStep() const { return trace; }
  /// What is unusual about the step being traced, "" if nothing is.
  std::string aboutTrace();
  bool isTraining() const { return trace && trace->training; }
  bool isGenerating() const { return trace && trace->generates; }
  int makeMetrics();
  void addMetric(int metrics, const std::string &name, const dl_operand &value);
  void checkMetricShapes();

  /// Names the states, verifies, and gives the module as bytecode.
  std::string finish();
  mlir::Builder &getBuilder() { return builder; }
  Datasets datasets;
  Parallel parallel;
  Checkpoints checkpoints;
  int gradientsOff = 0; // scopes of dl::NoGradGuard

private:
  // Emit.cpp
  mlir::Location location();
  mlir::Value valueOf(int handle, llvm::StringRef what);
  mlir::Value valueOutside(const Handle &handle, llvm::StringRef what);
  mlir::Value copyInStep(mlir::Value outside);
  mlir::Value progression(const Initial &initial, mlir::RankedTensorType type);
  mlir::Value gradientPath(int parameter, mlir::Value value);
  mlir::Value detached(mlir::Value value);
  mlir::Value constant(double value, mlir::RankedTensorType type);
  mlir::NamedAttribute convert(const dl_attr &attribute, llvm::StringRef op);
  mlir::Operation *create(llvm::StringRef op, mlir::ValueRange operands,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes,
                          std::string *error = nullptr);
  mlir::Operation *
  createPromoted(llvm::StringRef op, llvm::ArrayRef<dl_operand> operands,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::Operation *tryElement(llvm::StringRef op,
                              llvm::ArrayRef<dl_operand> operands,
                              mlir::Type element,
                              llvm::ArrayRef<mlir::NamedAttribute> attributes,
                              std::string &error);
  bool emitOutsideOfSteps(llvm::StringRef op,
                          llvm::ArrayRef<dl_operand> operands, int &result);
  int addHandle(mlir::Value value);

  // InPlace.cpp
  bool emitPartOfState(llvm::StringRef op, llvm::ArrayRef<dl_operand> operands,
                       llvm::ArrayRef<dl_attr> attributes, int &result);
  void noteView(llvm::StringRef op, llvm::ArrayRef<dl_operand> operands,
                mlir::Operation *made, int result);
  unsigned versionOf(int handle);
  void refresh(int handle);
  mlir::Value reshaped(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value withPart(mlir::Value whole, mlir::Operation *op,
                       mlir::Value part);
  void becomeValue(int handle, int value);

  // InitialValues.cpp
  const dl::graph::HostTensor &evaluate(mlir::Value value);
  double initialElement(const dl::graph::HostTensor &tensor, size_t i);
  void setInitialValues(const Handle &to, int value);
  void refuseRepeats(const StridedView &view);
  void setInitialPart(const Handle &to, const Distribution &begins);
  bool scaleInitialValues(const Handle &to, const ScaledPart &by);

  // InitialStep.cpp
  bool isComputedAtStart(mlir::Value value);
  mlir::Value scalarsAtStart();
  mlir::Value argumentOf(int parameter);
  mlir::Value beginning(int parameter);
  [[noreturn]] void failBegun(const InitialStep::Begun &begun);
  mlir::Value valueOfState(const Handle &handle, llvm::StringRef what);
  mlir::Value scaled(mlir::Value value, double scale, double shift);
  mlir::Value scaledDraw(mlir::Value drawn, const Distribution &as);
  mlir::Value drawn(const Initial &initial, mlir::RankedTensorType type,
                    llvm::StringRef what);
  mlir::Value filled(mlir::Value value, const Initial &by);
  bool isDrawn(const Initial &initial) const;
  bool isComputedNow(const Handle &to) const;
  void beginWith(const Handle &to, mlir::Value value);
  mlir::Value valueOfInitial(const Initial &initial,
                             mlir::RankedTensorType type);
  void keyDraws(const std::string &name, llvm::ArrayRef<mlir::Operation *> ops);
  int stateLike(int parameter) const;
  std::set<int> statesReadAtStart(llvm::ArrayRef<mlir::Value> wanted);
  void writeInitialStep();

  int addSetting(const std::string &name, double value);
  int64_t randomKey(llvm::StringRef op);

  // Training.cpp
  std::vector<int> leavesOf(mlir::Value loss, std::vector<mlir::Value> &values);
  mlir::Value stateValue(const StateKey &key, mlir::RankedTensorType type);
  void requireTraining(llvm::StringRef what);
  int parameterOf(int handle, llvm::StringRef what);
  void gradientChanged(int parameter);
  void useGradient(int parameter);
  StateKey slotOf(int optimizer, int parameter, llvm::StringRef slot);
  void checkRequiresGrad();

  // Optimizers.cpp
  mlir::NamedAttribute
  convertNumber(const dl_attr &attribute, const std::string &prefix,
                llvm::SmallVectorImpl<mlir::Value> &numbers);
  int counterOf(int optimizer, int parameter);
  void numberUpdates();

  // Counters.cpp
  mlir::Value countHere(int counter, int64_t more);
  void resolveCounters();
  std::vector<std::vector<int>> countersOfEqualCalls() const;
  mlir::Value countFromStep(Trace &one, mlir::Operation *place,
                            const Counter &counter, int64_t perStep);
  void resolveCounter(Trace &one, int number, const StateKey &key,
                      int64_t perStep);
  mlir::Value countFromState(Trace &one, const StateKey &key, int64_t added);

  // Plateaus.cpp
  std::string evaluationMetric(const Plateau &plateau) const;
  void writePlateaus();

  // Steps.cpp
  Trace &fullTrace();
  void openFunction(const std::string &symbol);
  /// In a second trace: is it what the first was, so far?
  void compareTraces();
  void endCheck();
  void checkGradientsWereZeroed();

  // Finish.cpp
  void nameParameters();
  void tellModulesApart(const std::vector<bool> &inModule);
  void warnOfMissingGradients();
  void warnOfUnusedGradients();
  void warnOfUnloggedMetrics();
  std::optional<std::pair<size_t, std::string>> findEqualNames() const;
  void writeStates();
  void writeState(const StateKey &key, llvm::StringRef role,
                  const Initial &initial, llvm::ArrayRef<std::string> aliases);
  void annotateFunction(Trace &one);
  std::string stateName(const StateKey &key) const;

  const Options &options;
  Reporter &reporter;
  Modules &modules;
  const ReflectedTypes &types;

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// What is computed outside of steps; a step gets copies of what it uses.
  mlir::Block outside;
  llvm::DenseMap<mlir::Value, dl::graph::HostTensor> evaluated; // of it
  InitialStep initialStep;                                      // of it
  mlir::Type floatType;

  std::vector<Handle> handles;
  std::vector<Parameter> parameters;
  std::vector<std::vector<std::string>> names; // of each parameter, at the end
  std::map<int, int> firstOfDraw; // the state that begins with it first
  std::vector<std::string> apart; // the variables in front of them, or ""
  /// The handles of the parameters of each group of each optimizer.
  std::vector<std::vector<std::vector<int>>> optimizers;
  std::vector<int> optimizerNumbers;  // averages have none
  std::map<StateKey, int> slotOwners; // optimizers
  std::map<StateKey, Slot> slots;     // those that differ from their parameter
  std::vector<Counter> counters;
  std::map<std::pair<int, int>, int> updateCounters; // optimizer, parameter
  std::vector<Plateau> plateaus;
  std::set<std::string> settingNames; // of p.setting()
  /// The update in progress.
  std::optional<Update> update;
  dl::graph::RoleMarker updateMarker{dl::graph::StepRole::Update};
  bool inEpoch = false;
  bool epochChanges = false; // something, so far
  std::vector<MetricList> metricLists;
  std::vector<std::unique_ptr<Trace>> traces;
  Trace *trace = nullptr;
  /// Of all traces, by their numbers, also of those that were compared only.
  std::vector<std::string> stepsOfTraces;
  std::unique_ptr<Trace> again; // being compared
  std::optional<TraceCheck> check;
  int64_t opCount = 0;
};

} // namespace dl::frontend
