#pragma once
// One step while its function is traced.
#include "compiler/dsl/dl/abi.h"
#include "compiler/frontend/Message.h"
#include "dialects/graph/Graph.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <optional>
#include <set>

namespace dl::frontend {

/// A state of the program: a parameter, or a slot that an optimizer keeps for
/// it.
struct StateKey {
  int parameter = -1;
  std::string slot; // empty: the parameter itself
  auto operator<=>(const StateKey &) const = default;
};

/// What a slot holds, where that is not zeros in the parameter's shape.
struct Slot {
  mlir::RankedTensorType type;
  double initial;
};

/// What happens once in a while: calls of a scheduler's step(), updates of a
/// parameter by an optimizer.
struct Counter {
  int optimizer, parameter; // a parameter of it, -1: a scheduler's
  int64_t perEpoch = 0;
  std::map<int, int64_t> inTrace; // by the number of the trace
};

/// A scheduler that changes learning rates after evaluations.
struct Plateau {
  dl_plateau_options options;
  std::vector<std::string> settings; // the rates
  std::string metric;                // "" until step() is called
  std::vector<Frame> stepped = {};   // where
};

/// What an argument of a step's function is.
struct Argument {
  enum Kind { Input, Scalars, State } kind;
  StateKey state;
};

struct Metric {
  std::string name;
  mlir::Value value;
  std::vector<Frame> frames = {}; ///< where it was made
};

/// An optimizer that is written with ops, as it goes through its parameters.
struct Update {
  int optimizer, group;
  size_t next = 0;
  std::map<int, mlir::Value> by = {}; // in place of gradients
};

struct MetricList {
  int trace;
  std::vector<Metric> metrics;
};

/// Fails the step at run time where the value is not zero.
struct ErrorFlag {
  mlir::Value value;
  std::string message;
};

struct Trace {
  int number = 0;   // counts all traces of the program
  std::string step; // as the user says it: "train", "test"
  bool training = false, predicts = false, isShort = false;
  bool generates = false; // and predicts
  bool isCheck = false;   // the second trace of a step: see TraceCheck.h
  bool isProbe = false;   // one with a larger batch: see BatchProbe.h
  bool isMarked = false;  // what grows with the batch is noted on its ops
  std::string mixes;      // why that could not be found out
  int dataset = -1;
  int64_t batch = 0;

  dl::graph::StepOp function;
  mlir::Value scalars;
  std::vector<Argument> arguments;
  std::vector<Metric> metrics;
  std::vector<ErrorFlag> errorFlags;

  /// The values of each state: the argument, then one for each update.
  std::map<StateKey, std::vector<mlir::Value>> states;
  std::vector<StateKey> stateOrder;

  /// Gradients of parameters since the last zero_grad().
  std::map<int, mlir::Value> gradients;
  std::map<int, int> gradientHandles; // of parameters
  std::set<int> zeroed;
  /// Where backward() came before any zero_grad(): gradients of the step before
  /// would be in the sum. Of these, what was used.
  std::map<int, std::vector<Frame>> addedFirst, usedFirst;
  std::vector<std::pair<mlir::Value, Frame>> losses;
  bool hasGradients = false; // of autograd::grad

  /// What optimizer.step() made, by optimizer and parameter, in order.
  std::map<std::pair<int, int>, std::vector<mlir::Operation *>> updates;
  std::set<int> stepped; // optimizers

  /// Parameters that are frozen where the step begins; used before the step
  /// freezes or thaws them; frozen or thawed by it, and where.
  std::set<int> frozenAtStart, usedAsFound;
  std::map<int, std::vector<Frame>> refrozen;
  /// Values of frozen parameters.
  llvm::DenseMap<mlir::Value, mlir::Value> detached;
  /// What is read of a parameter that the step has changed, by its number and
  /// that of the change: a value of its own, where gradients end.
  std::map<std::pair<int, size_t>, mlir::Value> leaves;

  /// Settings in use; for each counter a value that Counters.cpp replaces by
  /// what it was when the step began.
  std::map<std::string, mlir::Value> settings;
  std::map<int, mlir::Value> counts;
  /// Updates whose op has to know their number: the op, the counter, how many
  /// came before in this trace.
  struct Counted {
    mlir::Operation *op;
    int counter;
    int64_t before;
  };
  std::vector<Counted> counted;
  std::vector<Metric> rates; // of optimizers, for the log

  std::map<std::string, int> keyOrdinals;
  std::map<int, mlir::Value> constants; // handles of initial values in use
  /// Of what was computed outside of steps, the copy in this one.
  llvm::DenseMap<mlir::Value, mlir::Value> copies;

  mlir::Block *body() { return &function.getBody().front(); }
};

} // namespace dl::frontend
