#include "passes/schedule/ProgramLowering.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepScalars.h"
#include "dialects/graph/StorageOrder.h"
#include "passes/schedule/PhysicalLayout.h"
#include "passes/schedule/Places.h"
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

class ProgramLowering {
public:
  ProgramLowering(graph::StepOp func, plan::ProgramOp program, PlanParts &parts)
      : func(func), program(program), parts(parts), readers(func),
        places(func, isOnGpu(parts.plan)),
        commands(OpBuilder::atBlockEnd(&program.getBody().front())) {}

  LogicalResult run() {
    if (failed(bindArguments()) || failed(bindStates()) ||
        failed(bindReports()))
      return failure();
    for (Operation *op : workOf(func))
      for (Value operand : op->getOperands())
        ++uses[ownerOf(operand)];
    auto taken = [&](Value value) {
      auto maker = value.getDefiningOp<graph::KernelOp>();
      bool isThere =
          bufferOf.contains(ownerOf(value)) || (maker && places.movesOf(maker));
      return isThere ? 0 : bytesOf(typeOf(value));
    };
    auto owner = [&](Value root) { return ownerOf(root); };
    auto freed = [&](Value owner) {
      return bufferOf.contains(owner) ? 0 : bytesOf(typeOf(owner));
    };
    WorkOrder order = orderWork(func, readers, updates, {taken, owner, freed});
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

  static bool isOnGpu(plan::PlanOp plan) {
    return plan.getTarget() != plan::Target::Cpu;
  }

  /// The value whose buffer this one is in.
  Value ownerOf(Value value) const { return places.of(rootOf(value)).owner; }

  /// Whether the buffer that a result is in has been made.
  bool hasBuffer(OpResult result) const {
    return bufferOf.contains(ownerOf(result));
  }

  /// Buffers of a command, and which bytes of each.
  struct Bindings {
    SmallVector<Value> buffers;
    SmallVector<int64_t> ranges;
    bool hasParts = false;

    DenseI64ArrayAttr rangesAttr(Builder &builder) const {
      return hasParts ? builder.getDenseI64ArrayAttr(ranges)
                      : DenseI64ArrayAttr();
    }
  };

  void bind(Value value, Bindings &bindings) const {
    Value root = rootOf(value);
    Place place = places.of(root);
    bool isPart = place.owner != root;
    bindings.buffers.push_back(bufferOf.lookup(place.owner));
    bindings.ranges.push_back(place.offset);
    bindings.ranges.push_back(isPart ? bytesOf(typeOf(value))
                                     : plan::wholeBuffer);
    bindings.hasParts |= isPart;
  }

  LogicalResult lowerKernel(graph::KernelOp kernel) {
    for (Value operand : kernel->getOperands())
      ++usesSeen[ownerOf(operand)];
    for (OpResult result : kernel->getResults()) {
      if (hasBuffer(result))
        continue;
      if (Value shared = dyingOperand(kernel, result))
        bufferOf[result] = shared;
      else
        makeResultBuffer(cast<OpResult>(ownerOf(result)), /*pinned=*/false);
    }
    if (const auto *moves = places.movesOf(kernel)) {
      createCopies(kernel, *moves);
      return success();
    }
    Bindings bindings;
    for (Value operand : kernel->getOperands())
      bind(operand, bindings);
    for (Value result : kernel->getResults())
      bind(result, bindings);
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
    if (ownBytes > 0) {
      bindings.buffers.push_back(workspace);
      bindings.ranges.append({0, plan::wholeBuffer});
    }
    if (product) {
      plan::MultiplyOp::create(
          commands, kernel.getLoc(), commands.getType<plan::TokenType>(),
          FlatSymbolRefAttr::get(kernel.getNameAttr()), bindings.buffers,
          bindings.rangesAttr(commands), product, workspace,
          /*after=*/ValueRange(), /*serial=*/UnitAttr(),
          commands.getArrayAttr(sources),
          kernel->getAttrOfType<FloatAttr>("seconds"));
      return success();
    }
    plan::LaunchOp::create(
        commands, kernel.getLoc(), commands.getType<plan::TokenType>(),
        FlatSymbolRefAttr::get(kernel.getNameAttr()), bindings.buffers,
        bindings.rangesAttr(commands),
        commands.getDenseI64ArrayAttr(
            kernel.getConstants().value_or(ArrayRef<int64_t>())),
        kernel.getConstantStepsAttr(),
        /*after=*/ValueRange(), /*serial=*/UnitAttr(),
        commands.getArrayAttr(sources),
        kernel->getAttrOfType<FloatAttr>("seconds"));
    return success();
  }

  /// What does not lie in its bytes of the result goes there.
  void createCopies(graph::KernelOp kernel, ArrayRef<Move> moves) {
    ArrayAttr sources =
        commands.getArrayAttr(sourceOf(&kernel.getBody().front().front()));
    Place target = places.of(kernel->getResult(0));
    for (const Move &move : moves) {
      int64_t bytes = bytesOf(typeOf(move.operand));
      Place origin = places.of(rootOf(move.operand));
      plan::CopyOp::create(
          commands, kernel.getLoc(), commands.getType<plan::TokenType>(),
          bufferOf.lookup(origin.owner), bufferOf.lookup(target.owner),
          commands.getDenseI64ArrayAttr(
              {origin.offset, bytes, target.offset + move.offset, bytes}),
          /*after=*/ValueRange(), /*serial=*/UnitAttr(), sources,
          /*seconds=*/FloatAttr());
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
        Place place = places.of(rootOf(value));
        if (!bufferOf.contains(place.owner))
          makeResultBuffer(cast<OpResult>(place.owner), /*pinned=*/false);
        side.buffers.push_back(bufferOf.lookup(place.owner));
        side.members.append({transfer.member, transfer.members, transfer.same});
        side.ranges.push_back(place.offset + transfer.offset * rowBytes);
        side.ranges.push_back(transfer.rows * rowBytes);
      }
    };
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      ++usesSeen[ownerOf(operand)];
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
    Value owner = ownerOf(kernel->getOperand(index));
    Value buffer = bufferOf.lookup(owner);
    auto op = buffer.getDefiningOp<plan::BufferOp>();
    if (owner != rootOf(kernel->getOperand(index)) ||
        ownerOf(result) != result || op.getSpace() != plan::Space::Arena ||
        op.getPinned() || predictions.contains(buffer) ||
        static_cast<int64_t>(op.getBytes()) != bytesOf(typeOf(result)) ||
        usesSeen.lookup(owner) != uses.lookup(owner))
      return nullptr;
    for (OpOperand &other : kernel->getOpOperands())
      if (other.getOperandNumber() != index &&
          bufferOf.lookup(ownerOf(other.get())) == buffer)
        return nullptr;
    for (Value other : kernel->getResults())
      if (bufferOf.lookup(ownerOf(other)) == buffer)
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
  Places places;
  OpBuilder commands;                           // at the program's end
  llvm::DenseMap<Value, Value> bufferOf;        // owners to plan.buffer
  llvm::DenseSet<Value> predictions;            // buffers
  llvm::DenseMap<Value, size_t> uses, usesSeen; // of owners' memory
  llvm::StringMap<Value> oldValues;
  SmallVector<StateUpdate> updates;
};

} // namespace

LogicalResult lowerProgram(graph::StepOp func, plan::ProgramOp program,
                           PlanParts &parts) {
  return ProgramLowering(func, program, parts).run();
}

} // namespace dl::schedule
