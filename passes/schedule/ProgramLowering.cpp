#include "passes/schedule/ProgramLowering.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepScalars.h"
#include "dialects/graph/StorageOrder.h"
#include "passes/schedule/PhysicalLayout.h"
#include "passes/schedule/ProgramOrder.h"
#include "passes/schedule/Sources.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dl::schedule {
namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The op in a kernel's body that makes a result, or the op that does.
Operation *makerOf(OpResult result) {
  if (!isa<graph::KernelOp>(result.getOwner()))
    return result.getOwner();
  Operation *yield = result.getOwner()->getRegion(0).front().getTerminator();
  Operation *maker =
      yield->getOperand(result.getResultNumber()).getDefiningOp();
  return maker ? maker : result.getOwner();
}

/// The op that a launch is named by: its contraction, or else the one with most
/// iterations, and of those the last.
Operation *heaviestOf(graph::KernelOp kernel) {
  Operation *heaviest = nullptr;
  int64_t most = -1;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
    if (!loops || op.getNumOperands() == 0)
      continue;
    graph::LoopNest nest = loops.getLoopNest();
    if (nest.contraction)
      return &op;
    int64_t points = 1;
    for (int64_t extent : nest.extents)
      points *= extent;
    if (points >= most) {
      most = points;
      heaviest = &op;
    }
  }
  return heaviest ? heaviest : &kernel.getBody().front().front();
}

int64_t integer(Operation *op, StringRef name, int64_t otherwise) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : otherwise;
}

/// A kernel that copies at least so much of each operand is copies of bytes:
/// less than half of the time, which a launch more an operand does not make up
/// for where they are shorter.
constexpr int64_t kBytesWorthACopy = 8192;

/// Whether a kernel puts operands one after the other, and nothing else.
bool joinsInMemory(graph::KernelOp kernel) {
  auto rowMajor = [](std::optional<ArrayAttr> layouts) {
    return !layouts || llvm::all_of(*layouts, [](Attribute order) {
      auto dims = dyn_cast<DenseI64ArrayAttr>(order);
      return dims && llvm::is_sorted(dims.asArrayRef());
    });
  };
  Block &body = kernel.getBody().front();
  auto join = dyn_cast<graph::JoinOpInterface>(body.front());
  bool inOrder = join && body.front().getNextNode() == body.getTerminator() &&
                 llvm::equal(join->getOperands(), body.getArguments()) &&
                 join.joinsInOrder() && rowMajor(kernel.getOperandLayouts()) &&
                 rowMajor(kernel.getResultLayouts());
  bool worthIt = llvm::all_of(kernel->getOperands(), [](Value operand) {
    return bytesOf(typeOf(operand)) >= kBytesWorthACopy;
  });
  return inOrder && worthIt;
}

class ProgramLowering {
public:
  ProgramLowering(graph::StepOp func, plan::ProgramOp program, PlanParts &parts)
      : func(func), program(program), parts(parts), readers(func),
        commands(OpBuilder::atBlockEnd(&program.getBody().front())) {}

  LogicalResult run() {
    if (failed(bindArguments()) || failed(bindStates()) ||
        failed(bindReports()))
      return failure();
    auto memoryOf = [&](Value value) {
      return bufferOf.contains(value) ? 0 : bytesOf(typeOf(value));
    };
    WorkOrder order = orderWork(func, readers, updates, memoryOf);
    if (!order.stuck.empty())
      return refuse(updates[order.stuck.front()].name,
                    "destroys the old one, which is needed later");
    for (Operation *op : order.work)
      if (auto kernel = dyn_cast<graph::KernelOp>(op)) {
        if (failed(lowerKernel(kernel)))
          return failure();
      } else {
        lower(cast<graph::CommunicationOpInterface>(op));
      }
    reportResults();
    return success();
  }

private:
  Value makeBuffer(Location loc, const Twine &name, plan::Space space,
                   int64_t bytes) {
    OpBuilder &builder = parts.builder;
    return plan::BufferOp::create(
        builder, loc, builder.getType<plan::BufferType>(),
        builder.getStringAttr(name), space, builder.getI64IntegerAttr(bytes),
        /*offset=*/IntegerAttr(),
        /*pinned=*/UnitAttr(), /*source=*/plan::SourceAttr(),
        plan::memoryOf(parts.plan.getTarget()));
  }

  Value makeResultBuffer(OpResult result, bool pinned) {
    plan::SourceAttr source = sourceOf(makerOf(result));
    RankedTensorType type = typeOf(result);
    Value buffer =
        makeBuffer(result.getLoc(), pathOf(source) + " " + describe(type),
                   plan::Space::Arena, bytesOf(type));
    auto op = buffer.getDefiningOp<plan::BufferOp>();
    op.setPinned(pinned);
    op.setSourceAttr(source);
    return bufferOf[result] = buffer;
  }

  /// States and inputs; only what is used takes a buffer.
  LogicalResult bindArguments() {
    OpBuilder &builder = parts.builder;
    for (BlockArgument argument : func.getArguments()) {
      int64_t bytes = bytesOf(typeOf(argument));
      graph::PortAttr port = graph::portOf(argument);
      if (FlatSymbolRefAttr symbol = port.asState()) {
        bufferOf[argument] = parts.states.lookup(symbol.getValue()).getBuffer();
        oldValues[symbol.getValue()] = argument;
        continue;
      }
      if (argument.use_empty())
        continue;
      if (std::optional<int64_t> component = port.asInput()) {
        Value buffer =
            makeBuffer(argument.getLoc(), "batch[" + Twine(*component) + "]",
                       plan::Space::Input, bytes);
        buffer.getDefiningOp<plan::BufferOp>().setOffset(*component);
        bufferOf[argument] = buffer;
      } else if (port.isScalars()) {
        if (!parts.scalars) {
          parts.scalars = makeBuffer(
              builder.getUnknownLoc(), "scalars", plan::Space::Scalars,
              (graph::numStepScalars + parts.settings) * 8);
          parts.scalars.getDefiningOp<plan::BufferOp>().setOffset(0);
        }
        bufferOf[argument] = parts.scalars;
      } else {
        return func.emitOpError("argument ")
               << argument.getArgNumber()
               << " is neither state nor input nor scalars";
      }
    }
    return success();
  }

  /// New values of states lie where the old ones do.
  LogicalResult bindStates() {
    for (OpOperand &returned : func.getReturn()->getOpOperands()) {
      FlatSymbolRefAttr symbol = graph::stateOf(returned);
      if (!symbol)
        continue;
      Value oldValue = oldValues.lookup(symbol.getValue());
      Value value = rootOf(returned.get());
      if (value == oldValue)
        continue;
      auto result = dyn_cast<OpResult>(value);
      if (!result || bufferOf.contains(result))
        return refuse(symbol.getValue(), "is also the value of another");
      if (!canOverwrite(result, oldValue))
        return refuse(
            symbol.getValue(),
            "cannot be written over the old one that its kernel reads");
      bufferOf[result] = parts.states.lookup(symbol.getValue()).getBuffer();
      updates.push_back({oldValue, result, symbol.getValue()});
    }
    return success();
  }

  LogicalResult refuse(StringRef state, const Twine &why) {
    return func.emitOpError("new value of the state '")
           << state << "' " << why << "; insert-copies did not run";
  }

  /// Metrics and error flags keep their bytes for themselves, save for
  /// predictions, which are large, and read before anything else runs.
  LogicalResult bindReports() {
    llvm::DenseSet<Value> updated;
    for (const StateUpdate &update : updates)
      updated.insert(update.oldValue);
    for (OpOperand &returned : func.getReturn()->getOpOperands()) {
      unsigned index = returned.getOperandNumber();
      if (graph::stateOf(returned))
        continue;
      Value value = rootOf(returned.get());
      if (auto result = dyn_cast<OpResult>(value)) {
        if (bufferOf.contains(result))
          continue;
        bool predicted = func->hasAttr(graph::kPredicts) &&
                         graph::portOf(returned).asMetric();
        Value buffer = makeResultBuffer(result, /*pinned=*/!predicted);
        if (predicted)
          predictions.insert(buffer);
        continue;
      }
      if (updated.contains(value) || !graph::stateOf(value))
        return func.emitOpError("result ")
               << index << " is an argument that does not keep its value; "
               << "insert-copies did not run";
    }
    return success();
  }

  LogicalResult lowerKernel(graph::KernelOp kernel) {
    for (Value operand : kernel->getOperands())
      ++usesSeen[rootOf(operand)];
    for (OpResult result : kernel->getResults()) {
      if (bufferOf.contains(result))
        continue;
      if (Value shared = dyingOperand(kernel, result))
        bufferOf[result] = shared;
      else
        makeResultBuffer(result, /*pinned=*/false);
    }
    // (To a GPU one launch is worth more than that.)
    if (parts.plan.getTarget() == plan::Target::Cpu && joinsInMemory(kernel)) {
      createCopies(kernel);
      return success();
    }
    SmallVector<Value> bindings;
    for (Value operand : kernel->getOperands())
      bindings.push_back(bufferOf.lookup(rootOf(operand)));
    for (Value result : kernel->getResults())
      bindings.push_back(bufferOf.lookup(result));
    if (failed(recordKernel(kernel)))
      return failure();
    SmallVector<Attribute> sources;
    Operation *heavy = heaviestOf(kernel);
    sources.push_back(sourceOf(heavy));
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (&op != heavy)
        sources.push_back(sourceOf(&op));
    auto product = kernel->getAttrOfType<plan::ProductAttr>(plan::kProduct);
    int64_t ownBytes = integer(kernel, "workspace", 0);
    Value workspace;
    if (ownBytes > 0 || product)
      workspace = makeWorkspace(
          kernel, cast<plan::SourceAttr>(sources.front()),
          std::max(ownBytes, product ? product.getWorkspace() : 0));
    if (ownBytes > 0)
      bindings.push_back(workspace);
    if (product) {
      plan::MultiplyOp::create(
          commands, kernel.getLoc(), commands.getType<plan::TokenType>(),
          FlatSymbolRefAttr::get(kernel.getNameAttr()), bindings,
          /*ranges=*/DenseI64ArrayAttr(), product, workspace,
          /*after=*/ValueRange(), /*serial=*/UnitAttr(),
          commands.getArrayAttr(sources),
          kernel->getAttrOfType<FloatAttr>("seconds"));
      return success();
    }
    plan::LaunchOp::create(
        commands, kernel.getLoc(), commands.getType<plan::TokenType>(),
        FlatSymbolRefAttr::get(kernel.getNameAttr()), bindings,
        /*ranges=*/DenseI64ArrayAttr(),
        commands.getDenseI64ArrayAttr(
            kernel.getConstants().value_or(ArrayRef<int64_t>())),
        kernel.getConstantStepsAttr(),
        /*after=*/ValueRange(), /*serial=*/UnitAttr(),
        commands.getArrayAttr(sources),
        kernel->getAttrOfType<FloatAttr>("seconds"));
    return success();
  }

  /// Each operand goes to its place in the result.
  void createCopies(graph::KernelOp kernel) {
    Value target = bufferOf.lookup(kernel->getResult(0));
    ArrayAttr sources =
        commands.getArrayAttr(sourceOf(&kernel.getBody().front().front()));
    int64_t at = 0;
    for (Value operand : kernel->getOperands()) {
      int64_t bytes = bytesOf(typeOf(operand));
      plan::CopyOp::create(commands, kernel.getLoc(),
                           commands.getType<plan::TokenType>(),
                           bufferOf.lookup(rootOf(operand)), target,
                           commands.getDenseI64ArrayAttr({0, bytes, at, bytes}),
                           /*after=*/ValueRange(), /*serial=*/UnitAttr(),
                           sources, /*seconds=*/FloatAttr());
      at += bytes;
    }
  }

  /// It lives as long as the command: those that come one after the other share
  /// the bytes.
  Value makeWorkspace(graph::KernelOp kernel, plan::SourceAttr source,
                      int64_t bytes) {
    Value workspace = makeBuffer(kernel.getLoc(), pathOf(source) + " workspace",
                                 plan::Space::Arena, bytes);
    workspace.getDefiningOp<plan::BufferOp>().setSourceAttr(source);
    return workspace;
  }

  /// Rows are contiguous: what goes to a member is a range of the operand's
  /// buffer, or of the result's.
  void lower(graph::CommunicationOpInterface op) {
    struct Side {
      SmallVector<Value> buffers;
      SmallVector<int64_t> members, ranges;
    } sent, received;
    auto add = [&](Value value, ArrayRef<graph::RowTransfer> rows, Side &side) {
      RankedTensorType type = typeOf(value);
      int64_t all = type.getRank() ? type.getDimSize(0) : 1;
      int64_t rowBytes = all ? bytesOf(type) / all : 0;
      for (const graph::RowTransfer &transfer : rows) {
        if (transfer.rows * rowBytes == 0)
          continue;
        Value root = rootOf(value);
        if (!bufferOf.contains(root))
          makeResultBuffer(cast<OpResult>(root), /*pinned=*/false);
        side.buffers.push_back(bufferOf.lookup(root));
        side.members.append({transfer.member, transfer.members, transfer.same});
        side.ranges.push_back(transfer.offset * rowBytes);
        side.ranges.push_back(transfer.rows * rowBytes);
      }
    };
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      ++usesSeen[rootOf(operand)];
      add(operand, op.getSentRows(i), sent);
    }
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      add(result, op.getReceivedRows(i), received);
    plan::CommunicateOp::create(
        commands, op.getLoc(), commands.getType<plan::TokenType>(),
        op.getAxes(), op.getRelative() ? commands.getUnitAttr() : UnitAttr(),
        commands.getI64IntegerAttr(op.getOrder()), sent.buffers,
        commands.getDenseI64ArrayAttr(sent.members),
        commands.getDenseI64ArrayAttr(sent.ranges), received.buffers,
        commands.getDenseI64ArrayAttr(received.members),
        commands.getDenseI64ArrayAttr(received.ranges), /*after=*/ValueRange(),
        /*serial=*/UnitAttr(), commands.getArrayAttr(sourcesOf(op)),
        /*seconds=*/FloatAttr());
  }

  /// The temporary that `result` may take over from its kernel's operand: one
  /// that nobody needs any more.
  Value dyingOperand(graph::KernelOp kernel, OpResult result) {
    auto inplace = kernel.getInplace();
    int64_t index = inplace ? (*inplace)[result.getResultNumber()] : -1;
    if (index < 0)
      return nullptr;
    Value value = rootOf(kernel->getOperand(index));
    Value buffer = bufferOf.lookup(value);
    auto op = buffer.getDefiningOp<plan::BufferOp>();
    if (op.getSpace() != plan::Space::Arena || op.getPinned() ||
        predictions.contains(buffer) ||
        static_cast<int64_t>(op.getBytes()) != bytesOf(typeOf(result)) ||
        usesSeen.lookup(value) != readers.of(value).size())
      return nullptr;
    for (OpOperand &other : kernel->getOpOperands())
      if (other.getOperandNumber() != index &&
          bufferOf.lookup(rootOf(other.get())) == buffer)
        return nullptr;
    for (Value other : kernel->getResults())
      if (bufferOf.lookup(other) == buffer)
        return nullptr;
    return buffer;
  }

  /// One plan.kernel for all kernels of a name.
  LogicalResult recordKernel(graph::KernelOp kernel) {
    OpBuilder &builder = parts.builder;
    SmallVector<int64_t> bytes, aligns;
    SmallVector<bool> writes;
    auto bind = [&](Value value, bool written) {
      bytes.push_back(bytesOf(typeOf(value)));
      // (Of vectors, where the code has some of a fixed length.)
      aligns.push_back(
          std::max(elementBytes(typeOf(value)), integer(kernel, "align", 1)));
      writes.push_back(written);
    };
    for (Value operand : kernel->getOperands())
      bind(operand, false);
    for (Value result : kernel->getResults())
      bind(result, true);
    if (int64_t workspace = integer(kernel, "workspace", 0)) {
      bytes.push_back(workspace);
      aligns.push_back(plan::alignment);
      writes.push_back(true);
    }
    SmallVector<Attribute> constants;
    for (const graph::LaunchConstant &constant : graph::launchConstants(kernel))
      constants.push_back(plan::RangeAttr::get(kernel.getContext(),
                                               constant.min, constant.max,
                                               constant.multipleOf));
    auto [it, isNew] = parts.kernels.try_emplace(kernel.getName());
    if (!isNew) {
      if (it->second.getBindings() == ArrayRef<int64_t>(bytes) &&
          it->second.getWrites() == ArrayRef<bool>(writes) &&
          it->second.getAligns() == ArrayRef<int64_t>(aligns) &&
          it->second.getConstants().getValue() == ArrayRef(constants))
        return success();
      return kernel.emitOpError("'")
             << kernel.getName() << "' is also another kernel's name";
    }
    it->second = plan::KernelOp::create(
        builder, kernel.getLoc(), kernel.getNameAttr(),
        kernel.getStrategyAttr() ? kernel.getStrategyAttr()
                                 : builder.getStringAttr(""),
        builder.getI64IntegerAttr(kernel.getTiles().value_or(1)),
        builder.getI64IntegerAttr(kernel.getScratch().value_or(0)),
        builder.getDenseI64ArrayAttr(bytes),
        builder.getDenseBoolArrayAttr(writes),
        builder.getDenseI64ArrayAttr(aligns), builder.getArrayAttr(constants),
        builder.getI64IntegerAttr(integer(kernel, "flops", 0)),
        builder.getI64IntegerAttr(integer(kernel, "bytes", 0)),
        builder.getI64IntegerAttr(integer(kernel, "threads", 0)),
        builder.getI64IntegerAttr(integer(kernel, "shared", 0)),
        kernel->hasAttr("streams") ? builder.getUnitAttr() : UnitAttr());
    return success();
  }

  /// The check whose flag it is; those of parts are put together by other ops.
  static plan::SourceAttr checkOf(OpResult flag) {
    plan::SourceAttr made = sourceOf(makerOf(flag));
    return plan::SourceAttr::get(
        made.getContext(),
        graph::IndexCheckOp::getOperationName().split('.').second,
        made.getModule(), made.getLocation());
  }

  void reportResults() {
    for (OpOperand &returned : func.getReturn()->getOpOperands()) {
      graph::PortAttr port = graph::portOf(returned);
      Value value = rootOf(returned.get());
      Location loc = value.getLoc();
      if (StringAttr name = port.asMetric()) {
        auto made = dyn_cast<OpResult>(value);
        DenseI64ArrayAttr order =
            made ? graph::storageOrder(made) : DenseI64ArrayAttr();
        ArrayAttr dims = physicalDims(typeOf(returned.get()), order);
        // In another shape it is seen row by row, and so it is stored.
        FlatSymbolRefAttr state = graph::stateOf(value);
        if (state && returned.get().getType() == value.getType())
          dims = parts.states.lookup(state.getValue()).getLayout();
        plan::MetricOp::create(commands, loc, name, bufferOf.lookup(value),
                               TypeAttr::get(returned.get().getType()), dims);
      } else if (StringAttr message = port.asError()) {
        auto result = dyn_cast<OpResult>(value);
        plan::ErrorOp::create(commands, loc, message, bufferOf.lookup(value),
                              result ? checkOf(result) : plan::SourceAttr());
      }
    }
  }

  graph::StepOp func;
  plan::ProgramOp program;
  PlanParts &parts;
  Readers readers;
  OpBuilder commands;                    // at the program's end
  llvm::DenseMap<Value, Value> bufferOf; // roots to plan.buffer
  llvm::DenseSet<Value> predictions;     // buffers
  llvm::DenseMap<Value, size_t> usesSeen;
  llvm::StringMap<Value> oldValues;
  SmallVector<StateUpdate> updates;
};

} // namespace

LogicalResult lowerProgram(graph::StepOp func, plan::ProgramOp program,
                           PlanParts &parts) {
  return ProgramLowering(func, program, parts).run();
}

} // namespace dl::schedule
