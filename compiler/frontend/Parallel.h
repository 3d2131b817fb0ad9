#pragma once
// What <dl/parallel.h> says of the mesh, and what becomes of it: a graph.mesh
// and shardings of states.
#include "compiler/frontend/Modules.h"
#include "compiler/frontend/Reporter.h"
#include "dialects/graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"

namespace dl::frontend {

class Parallel {
public:
  Parallel(Reporter &reporter, const Modules &walks)
      : reporter(reporter), walks(walks) {}

  void addAxis(const std::string &name, int64_t size);
  /// What a mesh of the command line may have instead is not known here.
  void requireAxis(const std::string &name);
  /// The last one is that along which ZeRO divides.
  void setData(std::vector<std::string> axes);
  void setZero(const std::string &axis, int64_t stage);
  void setPipeline(const std::string &axis, const std::string &blocks,
                   int64_t microBatches, const std::string &schedule,
                   int64_t stagesPerRank);
  void addToStage(const std::string &axis, int64_t stage,
                  const std::string &modules);
  void place(const std::string &pattern, const std::string &style,
             const std::string &axis);

  /// Names of the parameter that a handle is, the state's first.
  using NamesOf = llvm::function_ref<std::vector<std::string>(int)>;
  /// Into a module whose states are there.
  void write(mlir::OpBuilder &builder, mlir::ModuleOp module, NamesOf namesOf);

private:
  struct Axis {
    std::string name;
    int64_t size;
  };
  /// The nn::Module whose modules patterns name: its parameters, with their
  /// names in it.
  using Within = llvm::ArrayRef<dl_named_parameter>;
  /// The same by the names of states.
  struct Scope {
    std::string prefix; // of the module's own paths
    std::set<std::string> parameters;
    std::vector<std::string> paths; // of its modules, without the prefix
    /// Nothing where the pattern names none of them, nor what is in one.
    std::optional<std::string> resolve(llvm::StringRef pattern) const;
  };
  struct Placement {
    std::string modules, style, axis;
    Within within;
    std::vector<Frame> frames;
  };
  /// What says which modules are at which stage.
  struct Cut {
    std::string blocks; // a pattern, or
    Within within;
    std::string prefix;                           // of what it is within
    std::vector<std::vector<std::string>> stages; // patterns of each stage
    std::vector<Frame> frames;
    bool isThere() const { return !blocks.empty() || !stages.empty(); }
  };
  /// Which placement divides each dim of a state.
  using Dims = std::vector<const Placement *>;

  std::vector<Frame> here() { return reporter.stack.userFrames(); }
  void refuseSecondCut(const std::string &function);
  Scope scopeOf(Within within, NamesOf namesOf) const;
  void checkCut(mlir::ModuleOp module, NamesOf namesOf);
  void writeMesh(mlir::OpBuilder &builder, mlir::ModuleOp module);
  void writePlacements(mlir::OpBuilder &builder, mlir::ModuleOp module,
                       NamesOf namesOf);
  [[noreturn]] void failUnknown(const std::vector<Frame> &frames,
                                const std::string &function,
                                const std::string &pattern,
                                const std::vector<std::string> &paths);
  bool divide(const Placement &placement, dl::graph::StateOp state,
              llvm::StringRef parameter, Dims &dims);

  Reporter &reporter;
  const Modules &walks;
  std::vector<Axis> axes;
  std::string data = "dp";
  std::vector<std::string> replicas;
  std::vector<Frame> dataFrames; // where the model named those two
  int64_t zero = 0;
  std::string stages = "pp", schedule = "1f1b";
  int64_t microBatches = 1, stagesPerRank = 1;
  Cut cut;
  std::vector<Frame> meshFrames; // what was said of the mesh last
  std::vector<Placement> placements;
};

} // namespace dl::frontend
