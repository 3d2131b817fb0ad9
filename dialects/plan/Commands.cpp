// The kinds of commands: what each touches, and what must hold of it.
#include "dialects/plan/Plan.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace dl::plan {

BufferOp Access::buffer() const { return value.getDefiningOp<BufferOp>(); }

int64_t Access::begin() const {
  return buffer().getOffset().value_or(0) + offset;
}

CommandList commandsOf(ProgramOp program) {
  return llvm::to_vector(program.getOps<CommandOpInterface>());
}

std::string shortTitle(CommandOpInterface command) {
  std::string title = command.getTitle();
  StringRef text = title;
  return text.consume_front("@") ? text.rsplit('_').first.str() : title;
}

/// Ranges must lie in their buffers.
static LogicalResult verifyRanges(Operation *op, ValueRange bindings,
                                  std::optional<ArrayRef<int64_t>> ranges) {
  if (!ranges)
    return success();
  if (ranges->size() != 2 * bindings.size())
    return op->emitOpError("has ") << bindings.size() << " buffers but "
                                   << ranges->size() << " numbers of ranges";
  for (auto [index, value] : llvm::enumerate(bindings)) {
    auto buffer = value.getDefiningOp<BufferOp>();
    int64_t offset = (*ranges)[2 * index], bytes = (*ranges)[2 * index + 1];
    int64_t size = buffer.getBytes();
    if (bytes == wholeBuffer && offset == 0)
      continue;
    if (offset < 0 || bytes < 0 || offset > size || bytes > size - offset)
      return op->emitOpError("binding ")
             << index << ": " << bytes << " bytes from byte " << offset
             << " on are not inside '" << buffer.getName() << "', which has "
             << size;
  }
  return success();
}

/// One access for each buffer.
static void addAccesses(std::vector<Access> &accesses, ValueRange buffers,
                        std::optional<ArrayRef<int64_t>> ranges, bool writes) {
  for (auto [index, value] : llvm::enumerate(buffers)) {
    Access access{value, 0, wholeBuffer, writes};
    if (ranges) {
      access.offset = (*ranges)[2 * index];
      access.bytes = (*ranges)[2 * index + 1];
    }
    if (access.bytes == wholeBuffer)
      access.bytes = access.buffer().getBytes();
    accesses.push_back(access);
  }
}

//===-- What binds buffers to a kernel ------------------------------------===//

template <typename Op> static std::vector<Access> accessesOf(Op op) {
  std::vector<Access> accesses;
  addAccesses(accesses, op.getBindings(), op.getRanges(), /*writes=*/false);
  return accesses;
}

template <typename Op>
static std::vector<Access> accessesOf(Op op, const SymbolTable &kernels) {
  std::vector<Access> accesses = accessesOf(op);
  ArrayRef<bool> writes = kernels.lookup<KernelOp>(op.getKernel()).getWrites();
  for (auto [access, written] : llvm::zip_equal(accesses, writes))
    access.writes = written;
  return accesses;
}

template <typename Op> static Work workOf(Op op, const SymbolTable &kernels) {
  auto kernel = kernels.lookup<KernelOp>(op.getKernel());
  return {static_cast<int64_t>(kernel.getFlops()),
          static_cast<int64_t>(kernel.getBytes())};
}

/// The kernel, if its bindings are what it takes.
template <typename Op>
static FailureOr<KernelOp> verifyBindings(Op op,
                                          SymbolTableCollection &symbols) {
  FlatSymbolRefAttr name = op.getKernelAttr();
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(op, name);
  if (!kernel)
    return op.emitOpError("launches ")
           << name << ", which is no kernel of the plan";
  ArrayRef<int64_t> needed = kernel.getBindings();
  if (needed.size() != op.getBindings().size())
    return op.emitOpError("binds ") << op.getBindings().size() << " buffers, "
                                    << name << " takes " << needed.size();
  if (failed(verifyRanges(op, op.getBindings(), op.getRanges())))
    return failure();
  for (auto [index, access] : llvm::enumerate(accessesOf(op))) {
    int64_t align =
        kernel.getAligns() ? (*kernel.getAligns())[index] : plan::alignment;
    BufferOp buffer = access.buffer();
    if (buffer.getMemory() !=
        memoryOf(op->template getParentOfType<PlanOp>().getTarget()))
      return op.emitOpError("binding ")
             << index << ": '" << buffer.getName() << "' is in "
             << stringifyMemory(buffer.getMemory()) << " memory, which " << name
             << " does not reach";
    if (access.bytes < needed[index])
      return op.emitOpError("binding ")
             << index << ": '" << buffer.getName() << "' has " << access.bytes
             << " bytes, " << name << " needs " << needed[index];
    if (access.offset % align != 0)
      return op.emitOpError("binding ")
             << index << ": byte " << access.offset << " of '"
             << buffer.getName() << "' is no multiple of " << align
             << ", which " << name << " needs";
  }
  return kernel;
}

//===-- A launch of a kernel ----------------------------------------------===//

std::vector<Access> LaunchOp::getAccesses(const SymbolTable &kernels) {
  return accessesOf(*this, kernels);
}

Work LaunchOp::getWork(const SymbolTable &kernels) {
  return workOf(*this, kernels);
}

Resource LaunchOp::getResource() { return Resource::Compute; }

std::string LaunchOp::getTitle() { return "@" + getKernel().str(); }

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<KernelOp> kernel = verifyBindings(*this, symbols);
  return failed(kernel) ? failure() : verifyConstants(*kernel);
}

LogicalResult LaunchOp::verifyConstants(KernelOp kernel) {
  ArrayAttr ranges = kernel.getConstants();
  if (ranges.size() != getConstants().size())
    return emitOpError("has ") << getConstants().size() << " constants, "
                               << getKernelAttr() << " takes " << ranges.size();
  for (auto [index, value] : llvm::enumerate(getConstants())) {
    auto range = cast<RangeAttr>(ranges[index]);
    if (value < range.getMin() || value > range.getMax() ||
        value % range.getMultipleOf() != 0)
      return emitOpError("constant ") << index << " is " << value << ", "
                                      << getKernelAttr() << " takes " << range;
  }
  return success();
}

//===-- Products of matrices, by a library --------------------------------===//

std::vector<Access> MultiplyOp::getAccesses(const SymbolTable &kernels) {
  std::vector<Access> accesses = accessesOf(*this, kernels);
  if (!llvm::is_contained(getBindings(), getWorkspace()))
    addAccesses(accesses, getWorkspace(), {}, /*writes=*/true);
  return accesses;
}

Work MultiplyOp::getWork(const SymbolTable &kernels) {
  return workOf(*this, kernels);
}

Resource MultiplyOp::getResource() { return Resource::Compute; }

std::string MultiplyOp::getTitle() { return "@" + getKernel().str(); }

/// (Whether matrices lie in their bindings is seen when the plan is read.)
LogicalResult MultiplyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<KernelOp> kernel = verifyBindings(*this, symbols);
  if (failed(kernel))
    return failure();
  if (!kernel->getConstants().empty())
    return emitOpError("stands for ")
           << getKernelAttr() << ", which takes constants";
  auto workspace = getWorkspace().getDefiningOp<BufferOp>();
  int64_t bytes = workspace.getBytes();
  if (bytes < getProduct().getWorkspace())
    return emitOpError("has '") << workspace.getName() << "' of " << bytes
                                << " bytes for a workspace, less than "
                                << getProduct().getWorkspace();
  ProductAttr product = getProduct();
  SmallVector<int64_t> used{product.getA().getBinding(),
                            product.getB().getBinding(),
                            product.getD().getBinding()};
  if (product.getC())
    used.push_back(product.getC().getBinding());
  if (product.getBias() != -1)
    used.push_back(product.getBias());
  for (int64_t binding : used) {
    if (binding < 0 || binding >= static_cast<int64_t>(getBindings().size()))
      return emitOpError("has a matrix in binding ")
             << binding << " of " << getBindings().size();
    if (getBindings()[binding] == getWorkspace())
      return emitOpError("has a matrix in '")
             << workspace.getName() << "', its workspace";
  }
  for (const Access &access : accessesOf(*this))
    if (access.value == getWorkspace() && access.bytes != bytes)
      return emitOpError("binds ") << access.bytes << " of the " << bytes
                                   << " bytes of its workspace";
  return success();
}

//===-- A copy ------------------------------------------------------------===//

std::vector<Access> CopyOp::getAccesses(const SymbolTable &) {
  std::vector<Access> accesses;
  addAccesses(accesses, {getOrigin(), getTarget()}, getRanges(),
              /*writes=*/false);
  accesses[1].writes = true;
  return accesses;
}

Work CopyOp::getWork(const SymbolTable &kernels) {
  return {0, 2 * getAccesses(kernels)[0].bytes};
}

Resource CopyOp::getResource() { return Resource::Copy; }

std::string CopyOp::getTitle() { return "copy"; }

LogicalResult CopyOp::verify() {
  if (failed(verifyRanges(*this, {getOrigin(), getTarget()}, getRanges())))
    return failure();
  std::vector<Access> both;
  addAccesses(both, {getOrigin(), getTarget()}, getRanges(), false);
  if (both[0].bytes != both[1].bytes)
    return emitOpError("copies ")
           << both[0].bytes << " bytes of '" << both[0].buffer().getName()
           << "' into " << both[1].bytes << " of '"
           << both[1].buffer().getName() << "'";
  if (getOrigin() == getTarget() && both[0].offset == both[1].offset)
    return emitOpError("copies bytes of '")
           << both[0].buffer().getName() << "' onto themselves";
  return success();
}

//===-- Communication -----------------------------------------------------===//

static std::vector<Transfer>
transfersOf(ValueRange buffers, ArrayRef<int64_t> peers,
            std::optional<ArrayRef<int64_t>> ranges) {
  std::vector<Access> first;
  addAccesses(first, buffers, ranges, /*writes=*/false);
  std::vector<Transfer> transfers;
  for (auto [index, access] : llvm::enumerate(first)) {
    ArrayRef<int64_t> of = peers.slice(3 * index, 3);
    transfers.push_back(
        {access.value, of[0], of[1], access.offset, access.bytes, of[2] != 0});
  }
  return transfers;
}

std::vector<Transfer> CommunicateOp::getSendTransfers() {
  return transfersOf(getSends(), getSendPeers(), getSendRanges());
}

std::vector<Transfer> CommunicateOp::getReceiveTransfers() {
  return transfersOf(getReceives(), getReceivePeers(), getReceiveRanges());
}

/// The bytes of all members are one access.
static void addAccesses(std::vector<Access> &accesses,
                        ArrayRef<Transfer> transfers, bool writes) {
  for (const Transfer &of : transfers)
    accesses.push_back({of.buffer, of.offset,
                        of.same ? of.bytes : of.members * of.bytes, writes});
}

std::vector<Access> CommunicateOp::getAccesses(const SymbolTable &) {
  std::vector<Access> accesses;
  addAccesses(accesses, getSendTransfers(), /*writes=*/false);
  addAccesses(accesses, getReceiveTransfers(), /*writes=*/true);
  return accesses;
}

Work CommunicateOp::getWork(const SymbolTable &) {
  Work work;
  for (const auto &transfers : {getSendTransfers(), getReceiveTransfers()})
    for (const Transfer &transfer : transfers)
      work.bytes += transfer.members * transfer.bytes;
  return work;
}

Resource CommunicateOp::getResource() { return Resource::Communication; }

std::string CommunicateOp::getTitle() {
  return "exchange " + std::to_string(getOrder());
}

/// The ranks that exchange; 0 if the mesh has no such axes.
static int64_t groupSize(CommunicateOp op) {
  int64_t size = 1;
  llvm::SmallSet<StringRef, 4> seen;
  ArrayAttr mesh = op->getParentOfType<PlanOp>().getMesh();
  for (auto name : op.getAxes().getAsValueRange<StringAttr>()) {
    auto axis = llvm::find_if(mesh.getAsRange<AxisAttr>(),
                              [&](AxisAttr a) { return a.getName() == name; });
    if (axis == mesh.getAsRange<AxisAttr>().end() || !seen.insert(name).second)
      return 0;
    size *= (*axis).getSize();
  }
  return size;
}

/// The members are of the group, and the last one's range is in the buffer.
static LogicalResult verifyMembers(CommunicateOp op, const Transfer &of,
                                   int64_t size, bool receives) {
  auto error = [&] {
    return op.emitOpError("has a ") << (receives ? "receive" : "send");
  };
  if (of.member < 0 || of.member >= size)
    return error() << " for member " << of.member << " of a group of " << size;
  if (of.members < 1 || of.members > size - of.member)
    return error() << " for " << of.members << " members from member "
                   << of.member << " of a group of " << size << " on";
  auto buffer = of.buffer.getDefiningOp<BufferOp>();
  if (of.same && receives)
    return error() << " of the same bytes of '" << buffer.getName()
                   << "' from each of " << of.members << " members";
  int64_t rest = static_cast<int64_t>(buffer.getBytes()) - of.offset;
  if (!of.same && of.bytes != 0 && of.members > rest / of.bytes)
    return error() << " of " << of.members << " times " << of.bytes
                   << " bytes, which leave '" << buffer.getName() << "'";
  return success();
}

/// An access that has bytes of one of the others.
static const Access *findOverlap(ArrayRef<Access> accesses,
                                 ArrayRef<Access> others) {
  llvm::DenseMap<Value, SmallVector<const Access *>> ofBuffer;
  for (const Access &other : others)
    ofBuffer[other.value].push_back(&other);
  for (const Access &access : accesses)
    for (const Access *other : ofBuffer.lookup(access.value))
      if (access.offset < other->offset + other->bytes &&
          other->offset < access.offset + access.bytes)
        return &access;
  return nullptr;
}

LogicalResult CommunicateOp::verify() {
  int64_t size = groupSize(*this);
  if (size < 2)
    return emitOpError("goes along ")
           << getAxes() << ", which are not two or more ranks of the mesh";
  auto verifySide = [&](OperandRange buffers, ArrayRef<int64_t> peers,
                        std::optional<ArrayRef<int64_t>> ranges,
                        bool receives) -> LogicalResult {
    if (peers.size() != 3 * buffers.size())
      return emitOpError("has ")
             << buffers.size() << (receives ? " receives" : " sends") << " but "
             << peers.size() << " numbers for their members, three of each";
    if (failed(verifyRanges(*this, buffers, ranges)))
      return failure();
    for (const Transfer &of : transfersOf(buffers, peers, ranges))
      if (failed(verifyMembers(*this, of, size, receives)))
        return failure();
    return success();
  };
  if (failed(verifySide(getSends(), getSendPeers(), getSendRanges(),
                        /*receives=*/false)))
    return failure();
  if (failed(verifySide(getReceives(), getReceivePeers(), getReceiveRanges(),
                        /*receives=*/true)))
    return failure();
  std::vector<Access> sent, received;
  addAccesses(sent, getSendTransfers(), /*writes=*/false);
  addAccesses(received, getReceiveTransfers(), /*writes=*/true);
  if (const Access *access = findOverlap(received, sent))
    return emitOpError("receives into '")
           << access->buffer().getName() << "' where it sends from";
  return success();
}

} // namespace dl::plan
