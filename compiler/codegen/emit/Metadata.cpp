#include "compiler/codegen/emit/Metadata.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/Validator.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace fb = dlrt::fb;

namespace dl::emit {
namespace {

/// The same name and number on both sides, or it does not compile.
#define SAME_CASE(Enum, Case)                                                  \
  static_assert(static_cast<int>(fb::Enum::Case) ==                            \
                static_cast<int>(plan::Enum::Case))
#define SAME_COUNT(Enum)                                                       \
  static_assert(static_cast<int>(fb::Enum::MAX) ==                             \
                static_cast<int>(plan::getMaxEnumValFor##Enum()))

SAME_CASE(Space, Arena);
SAME_CASE(Space, Input);
SAME_CASE(Space, Scalars);
SAME_COUNT(Space);
SAME_CASE(Memory, Host);
SAME_CASE(Memory, Device);
SAME_COUNT(Memory);
SAME_CASE(Target, Cpu);
SAME_CASE(Target, Cuda);
SAME_COUNT(Target);
SAME_CASE(StateRole, Parameter);
SAME_CASE(StateRole, Slot);
SAME_CASE(StateRole, Buffer);
SAME_CASE(StateRole, Accumulator);
SAME_CASE(StateRole, Cache);
SAME_CASE(StateRole, Prepared);
SAME_COUNT(StateRole);
SAME_CASE(InitKind, Zero);
SAME_CASE(InitKind, Constant);
SAME_CASE(InitKind, Uniform);
SAME_CASE(InitKind, Normal);
SAME_CASE(InitKind, Truncated);
SAME_CASE(InitKind, Padded);
SAME_CASE(InitKind, Orthogonal);
SAME_CASE(InitKind, Dirac);
SAME_CASE(InitKind, Sparse);
SAME_COUNT(InitKind);
SAME_CASE(DatasetKind, MNIST);
SAME_CASE(DatasetKind, Tensor);
SAME_CASE(DatasetKind, Tokens);
SAME_CASE(DatasetKind, FashionMNIST);
SAME_CASE(DatasetKind, CIFAR10);
SAME_CASE(DatasetKind, ImageFolder);
SAME_CASE(DatasetKind, CIFAR100);
SAME_CASE(DatasetKind, KMNIST);
SAME_COUNT(DatasetKind);
SAME_CASE(ImageTransformKind, Resize);
SAME_CASE(ImageTransformKind, CenterCrop);
SAME_CASE(ImageTransformKind, RandomCrop);
SAME_CASE(ImageTransformKind, RandomResizedCrop);
SAME_COUNT(ImageTransformKind);
SAME_CASE(ProgramKind, Full);
SAME_CASE(ProgramKind, Short);
SAME_CASE(ProgramKind, Update);
SAME_CASE(ProgramKind, Item);
SAME_CASE(ProgramKind, Initial);
SAME_COUNT(ProgramKind);
SAME_CASE(Resource, Compute);
SAME_CASE(Resource, Copy);
SAME_CASE(Resource, Communication);
SAME_CASE(Resource, Host);
SAME_COUNT(Resource);
SAME_CASE(Arithmetic, F32);
SAME_CASE(Arithmetic, TF32);
SAME_CASE(Arithmetic, F64);
SAME_CASE(Arithmetic, BF16);
SAME_CASE(Arithmetic, BF16ToF32);
SAME_COUNT(Arithmetic);
#undef SAME_COUNT
#undef SAME_CASE
static_assert(plan::alignment == dlrt::bufferAlignment);

std::optional<fb::DType> dtypeOf(Type type) {
  if (type.isF32())
    return fb::DType::F32;
  if (type.isF64())
    return fb::DType::F64;
  if (type.isBF16())
    return fb::DType::BF16;
  if (type.isInteger(64))
    return fb::DType::I64;
  if (type.isInteger(32))
    return fb::DType::I32;
  if (type.isInteger(8))
    return fb::DType::U8;
  if (type.isInteger(1))
    return fb::DType::Bool;
  return std::nullopt;
}

std::vector<uint64_t> shapeOf(Type type) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return {shape.begin(), shape.end()};
}

std::vector<fb::PhysicalDim> layoutOf(ArrayAttr dims) {
  std::vector<fb::PhysicalDim> layout;
  for (auto dim : dims.getAsRange<plan::DimAttr>())
    layout.push_back(fb::PhysicalDim(dim.getDim(), dim.getDivisor(),
                                     dim.getExtent(), dim.getStride()));
  return layout;
}

std::vector<std::string> strings(ArrayAttr attrs) {
  std::vector<std::string> result;
  if (attrs)
    for (auto attr : attrs.getAsRange<StringAttr>())
      result.push_back(attr.str());
  return result;
}

/// What all plans of a file share, in the first of them.
struct Shared {
  explicit Shared(fb::PlanT &first) : first(first) {}

  fb::PlanT &first;
  llvm::StringMap<uint32_t> kernels;
  /// Indices of those that look the same.
  llvm::DenseMap<Attribute, SmallVector<uint32_t, 2>> sources;
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> opsOfKernels;
};

class MetadataBuilder {
public:
  MetadataBuilder(plan::PlanOp plan, fb::PlanT &out, Shared &shared)
      : plan(plan), symbols(plan), out(out), shared(shared) {
    out.ranks.assign(plan.getRanks().begin(), plan.getRanks().end());
    if (!out.ranks.empty())
      return;
    uint32_t all = 1; // all that there are
    for (auto axis : plan.getMesh().getAsRange<plan::AxisAttr>())
      all *= axis.getSize();
    for (uint32_t rank = 0; rank < all; ++rank)
      out.ranks.push_back(rank);
  }

  LogicalResult run() {
    out.arena_bytes = plan.getArena();
    if (isFirst() && failed(setHead()))
      return failure();
    for (Operation &op : plan.getBody().front())
      if (failed(add(op)))
        return failure();
    return success();
  }

private:
  bool isFirst() const { return &out == &shared.first; }

  LogicalResult setHead() {
    out.producer = "dlcc 0.1.0";
    out.model = plan.getModel().str();
    out.machine_hash = plan.getMachine().str();
    out.parameters = plan.getParameters();
    if (ArrayAttr constants = plan.getConstantsAttr(); constants && isFirst())
      out.constants = strings(constants);
    return setDType(out.dtype, plan.getDtype(), plan);
  }

  LogicalResult setDType(fb::DType &field, Type type, Operation *op) {
    auto dtype = dtypeOf(type);
    if (!dtype)
      return op->emitOpError("has the element type ")
             << type << ", which a plan cannot hold";
    field = *dtype;
    return success();
  }

  LogicalResult setTensor(fb::DType &dtype, std::vector<uint64_t> &shape,
                          Type type, Operation *op) {
    shape = shapeOf(type);
    return setDType(dtype, cast<RankedTensorType>(type).getElementType(), op);
  }

  LogicalResult add(Operation &op) {
    if (auto buffer = dyn_cast<plan::BufferOp>(op))
      return addBuffer(buffer);
    if (auto state = dyn_cast<plan::StateOp>(op))
      return addState(state);
    if (auto kernel = dyn_cast<plan::KernelOp>(op))
      return addKernel(kernel);
    if (auto setting = dyn_cast<plan::SettingOp>(op))
      return isFirst() ? addSetting(setting) : success();
    if (auto plateau = dyn_cast<plan::PlateauOp>(op))
      return isFirst() ? addPlateau(plateau) : success();
    if (auto dataset = dyn_cast<plan::DatasetOp>(op))
      return isFirst() ? addDataset(dataset) : success();
    if (auto step = dyn_cast<plan::StepOp>(op))
      return addStep(step);
    return op.emitOpError("has no place in a plan file");
  }

  LogicalResult addBuffer(plan::BufferOp op) {
    if (!op.getOffset())
      return op.emitOpError("'") << op.getName() << "' has no offset";
    auto buffer = std::make_unique<fb::BufferT>();
    buffer->space = static_cast<fb::Space>(op.getSpace());
    buffer->memory = static_cast<fb::Memory>(op.getMemory());
    buffer->offset = *op.getOffset();
    buffer->bytes = op.getBytes();
    buffer->name = op.getName().str();
    buffers[op.getBuffer()] = out.buffers.size();
    out.buffers.push_back(std::move(buffer));
    return success();
  }

  static std::unique_ptr<fb::InitT> initOf(plan::InitAttr init) {
    auto made = std::make_unique<fb::InitT>();
    made->kind = static_cast<fb::InitKind>(init.getKind());
    made->a = init.getA().getValueAsDouble();
    made->b = init.getB().getValueAsDouble();
    made->key = init.getKey();
    if (FloatAttr low = init.getLow())
      made->low = low.getValueAsDouble();
    if (FloatAttr high = init.getHigh())
      made->high = high.getValueAsDouble();
    if (DenseI64ArrayAttr runs = init.getRuns()) {
      ArrayRef<int64_t> numbers = runs.asArrayRef();
      for (; !numbers.empty(); numbers = numbers.drop_front(3))
        made->runs.emplace_back(numbers[0], numbers[1], numbers[2]);
      made->values = init.getValues().asArrayRef().vec();
    }
    if (init.getParts())
      for (auto part : init.getParts().getAsRange<plan::InitPartAttr>()) {
        auto one = std::make_unique<fb::InitPartT>();
        one->offset = static_cast<uint64_t>(part.getOffset());
        llvm::append_range(one->shape, part.getShape().asArrayRef());
        llvm::append_range(one->strides, part.getStrides().asArrayRef());
        one->whole = part.getWhole();
        one->begins = initOf(part.getBegins());
        made->parts.push_back(std::move(one));
      }
    return made;
  }

  LogicalResult addState(plan::StateOp op) {
    auto state = std::make_unique<fb::StateT>();
    state->name = op.getName().str();
    state->aliases = strings(op.getAliases());
    state->role = static_cast<fb::StateRole>(op.getRole());
    state->of = op.getOf().value_or("").str();
    state->layout = layoutOf(op.getLayout());
    state->buffer = buffers.lookup(op.getBuffer());
    state->init = initOf(op.getInit());
    Type whole = op.getWhole().value_or(op.getType());
    if (failed(setTensor(state->dtype, state->shape, whole, op)))
      return failure();
    for (auto split : op.getSplit().getAsRange<plan::SplitAttr>()) {
      auto dim = std::make_unique<fb::DimSplitT>();
      dim->dim = split.getDim();
      dim->axes = axesOf(split.getAxes());
      dim->sections = static_cast<uint64_t>(split.getSections());
      state->split.push_back(std::move(dim));
    }
    out.states.push_back(std::move(state));
    return success();
  }

  LogicalResult addKernel(plan::KernelOp op) {
    std::vector<std::unique_ptr<fb::KernelT>> &all = shared.first.kernels;
    if (!shared.kernels.try_emplace(op.getSymName(), all.size()).second)
      return success(); // another plan's, too
    auto kernel = std::make_unique<fb::KernelT>();
    kernel->name = op.getSymName().str();
    kernel->strategy = op.getStrategy().str();
    auto variant = std::make_unique<fb::VariantT>();
    variant->target = static_cast<fb::Target>(plan.getTarget());
    variant->entry = kernel->name;
    variant->tiles = op.getTiles();
    variant->threads = op.getThreads();
    variant->shared_bytes = op.getShared();
    variant->scratch_bytes = op.getScratch();
    variant->streams = op.getStreams();
    kernel->variants.push_back(std::move(variant));
    kernel->binding_bytes.assign(op.getBindings().begin(),
                                 op.getBindings().end());
    kernel->writes.assign(op.getWrites().begin(), op.getWrites().end());
    for (auto range : op.getConstants().getAsRange<plan::RangeAttr>())
      kernel->constants.push_back(fb::ConstantRange(
          range.getMin(), range.getMax(), range.getMultipleOf()));
    if (auto aligns = op.getAligns())
      kernel->binding_aligns.assign(aligns->begin(), aligns->end());
    else
      kernel->binding_aligns.assign(op.getBindings().size(), plan::alignment);
    kernel->flops = op.getFlops();
    kernel->bytes = op.getBytes();
    all.push_back(std::move(kernel));
    return success();
  }

  LogicalResult addSetting(plan::SettingOp op) {
    auto setting = std::make_unique<fb::SettingT>();
    setting->name = op.getName().str();
    setting->value = op.getValue().convertToDouble();
    out.settings.push_back(std::move(setting));
    return success();
  }

  LogicalResult addPlateau(plan::PlateauOp op) {
    auto plateau = std::make_unique<fb::PlateauT>();
    plateau->metric = op.getMetric().str();
    for (int64_t setting : op.getSettings())
      plateau->settings.push_back(static_cast<uint32_t>(setting));
    plateau->mode = op.getMax() ? fb::PlateauMode::Max : fb::PlateauMode::Min;
    plateau->factor = op.getFactor().convertToDouble();
    plateau->patience = op.getPatience();
    plateau->threshold = op.getThreshold().convertToDouble();
    plateau->threshold_mode = op.getAbsolute() ? fb::ThresholdMode::Absolute
                                               : fb::ThresholdMode::Relative;
    plateau->cooldown = op.getCooldown();
    plateau->min_lr = op.getMinLr().convertToDouble();
    plateau->eps = op.getEps().convertToDouble();
    out.plateaus.push_back(std::move(plateau));
    return success();
  }

  void addTransforms(fb::DatasetT &dataset, ArrayAttr transforms) {
    for (auto attr : transforms.getAsRange<plan::ImageTransformAttr>()) {
      auto transform = std::make_unique<fb::ImageTransformT>();
      transform->kind = static_cast<fb::ImageTransformKind>(attr.getKind());
      transform->height = attr.getHeight();
      transform->width = attr.getWidth();
      if (attr.getNumbers())
        for (APFloat number : attr.getNumbers().getAsValueRange<FloatAttr>())
          transform->numbers.push_back(number.convertToDouble());
      dataset.transforms.push_back(std::move(transform));
    }
  }

  void addSelections(fb::DatasetT &dataset, ArrayAttr selections) {
    for (auto attr : selections.getAsRange<plan::SelectionAttr>()) {
      auto selection = std::make_unique<fb::SelectionT>();
      selection->first = attr.getFirst();
      selection->items = attr.getItems();
      selection->of = attr.getOf();
      selection->shuffled = attr.getShuffled();
      selection->seed = attr.getSeed();
      dataset.selections.push_back(std::move(selection));
    }
  }

  LogicalResult addDataset(plan::DatasetOp op) {
    auto dataset = std::make_unique<fb::DatasetT>();
    dataset->kind = static_cast<fb::DatasetKind>(op.getKind());
    dataset->root = op.getRoot().str();
    dataset->paths = strings(op.getPaths());
    dataset->train = op.getTrain();
    dataset->items = op.getItems();
    dataset->batch_size = op.getBatch();
    dataset->shuffle = op.getShuffle();
    dataset->drop_last = op.getDropLast();
    dataset->stride = op.getStride();
    if (op.getTransforms())
      addTransforms(*dataset, *op.getTransforms());
    if (op.getSelections())
      addSelections(*dataset, *op.getSelections());
    if (auto sampler = op.getSamplerAttr()) {
      dataset->sampler = std::make_unique<fb::SamplerT>();
      dataset->sampler->weights = sampler.getWeights().str();
      dataset->sampler->of = sampler.getOf();
    }
    if (op.getClasses())
      dataset->classes = strings(*op.getClasses());
    for (auto type : op.getComponents().getAsValueRange<TypeAttr>()) {
      auto component = std::make_unique<fb::InputComponentT>();
      if (failed(setTensor(component->dtype, component->shape, type, op)))
        return failure();
      dataset->components.push_back(std::move(component));
    }
    out.datasets.push_back(std::move(dataset));
    return success();
  }

  LogicalResult addStep(plan::StepOp op) {
    auto step = std::make_unique<fb::StepT>();
    step->name = op.getName().str();
    step->training = op.getTraining();
    step->predicts = op.getPredicts();
    step->window = op.getWindow().value_or(0);
    step->by_position = op.getByPosition();
    step->mixes = op.getMixes().value_or("").str();
    step->dataset = op.getDataset();
    step->accumulate = op.getAccumulate();
    for (auto programOp : op.getBody().getOps<plan::ProgramOp>()) {
      auto program = buildProgram(programOp);
      if (!program)
        return failure();
      program->kind = static_cast<fb::ProgramKind>(programOp.getKind());
      step->programs.push_back(std::move(program));
    }
    out.steps.push_back(std::move(step));
    return success();
  }

  std::unique_ptr<fb::ProgramT> buildProgram(plan::ProgramOp op) {
    auto program = std::make_unique<fb::ProgramT>();
    program->batch_items = op.getBatch();
    program->split = axesOf(op.getAlong());
    usesInProgram.clear();
    llvm::DenseMap<Value, uint32_t> indexOf;
    for (Operation &entry : op.getBody().front()) {
      if (auto command = dyn_cast<plan::CommandOpInterface>(entry)) {
        indexOf[command.getDone()] = program->commands.size();
        program->commands.push_back(buildCommand(command, indexOf));
      } else if (auto metric = dyn_cast<plan::MetricOp>(entry)) {
        auto result = std::make_unique<fb::MetricT>();
        result->name = metric.getName().str();
        result->buffer = buffers.lookup(metric.getBuffer());
        result->layout = layoutOf(metric.getLayout());
        if (failed(setTensor(result->dtype, result->shape, metric.getType(),
                             metric)))
          return nullptr;
        program->metrics.push_back(std::move(result));
      } else if (auto flag = dyn_cast<plan::ErrorOp>(entry)) {
        auto result = std::make_unique<fb::ErrorFlagT>();
        result->buffer = buffers.lookup(flag.getBuffer());
        result->message = flag.getMessage().str();
        // Known from the command that raises it.
        SmallVector<uint32_t, 2> &known = shared.sources[flag.getSourceAttr()];
        result->source =
            known.empty() ? addSource(flag.getSourceAttr()) : known.front();
        program->errors.push_back(std::move(result));
      }
    }
    return program;
  }

  std::unique_ptr<fb::CommandT>
  buildCommand(plan::CommandOpInterface op,
               const llvm::DenseMap<Value, uint32_t> &indexOf) {
    auto command = std::make_unique<fb::CommandT>();
    llvm::TypeSwitch<Operation *>(op.getOperation())
        .Case<plan::LaunchOp, plan::MultiplyOp, plan::CopyOp,
              plan::CommunicateOp>([&](auto kind) { setWork(*command, kind); });
    command->resource = static_cast<fb::Resource>(op.getResource());
    command->serial = op.getSerial();
    if (op.getSeconds())
      command->seconds = op.getSeconds()->convertToDouble();
    for (Value token : op.getAfter())
      command->deps.push_back(indexOf.lookup(token));
    for (auto source : op.getSources().getAsRange<plan::SourceAttr>())
      command->ops.push_back(addSource(source));
    // Each launch brings its own sources, so that every op of the model stands
    // in one kernel only.
    if (const fb::LaunchT *launch = dlrt::kernelLaunch(*command))
      for (uint32_t source : command->ops)
        if (shared.opsOfKernels.insert({launch->kernel, source}).second)
          shared.first.kernels[launch->kernel]->ops.push_back(source);
    return command;
  }

  /// Positions in the mesh.
  std::vector<uint32_t> axesOf(ArrayAttr names) {
    std::vector<uint32_t> axes;
    for (auto name : names.getAsRange<StringAttr>())
      for (auto [index, axis] :
           llvm::enumerate(plan.getMesh().getAsRange<plan::AxisAttr>()))
        if (axis.getName() == name)
          axes.push_back(index);
    return axes;
  }

  fb::Range rangeOf(const plan::Access &access) {
    return fb::Range(buffers.lookup(access.value), access.offset, access.bytes);
  }

  void setWork(fb::CommandT &command, plan::LaunchOp op) {
    fb::LaunchT launch;
    launch.kernel = shared.kernels.lookup(op.getKernel());
    for (const plan::Access &access : op.getAccesses(symbols))
      launch.bindings.push_back(rangeOf(access));
    launch.constants.assign(op.getConstants().begin(), op.getConstants().end());
    if (auto steps = op.getConstantSteps())
      launch.constant_steps.assign(steps->begin(), steps->end());
    command.work.Set(std::move(launch));
  }

  void setWork(fb::CommandT &command, plan::MultiplyOp op) {
    plan::ProductAttr from = op.getProduct();
    fb::MultiplyT product;
    product.launch = std::make_unique<fb::LaunchT>();
    product.launch->kernel = shared.kernels.lookup(op.getKernel());
    std::vector<plan::Access> accesses = op.getAccesses(symbols);
    accesses.resize(op.getBindings().size()); // not the workspace
    for (const plan::Access &access : accesses)
      product.launch->bindings.push_back(rangeOf(access));
    product.batch = from.getBatch();
    product.m = from.getM();
    product.n = from.getN();
    product.k = from.getK();
    for (plan::MatrixAttr matrix :
         {from.getA(), from.getB(), from.getD(), from.getC()})
      if (matrix)
        product.matrices.push_back(fb::MatrixPlace(
            matrix.getOffset(), matrix.getBatchStride(), matrix.getStride(),
            matrix.getBinding(), matrix.getTransposed()));
    product.bias = static_cast<int32_t>(from.getBias());
    product.arithmetic = static_cast<fb::Arithmetic>(from.getArithmetic());
    product.workspace = buffers.lookup(op.getWorkspace());
    command.work.Set(std::move(product));
  }

  void setWork(fb::CommandT &command, plan::CopyOp op) {
    std::vector<plan::Access> accesses = op.getAccesses(symbols);
    fb::CopyT copy;
    copy.from = buffers.lookup(accesses[0].value);
    copy.from_offset = accesses[0].offset;
    copy.to = buffers.lookup(accesses[1].value);
    copy.to_offset = accesses[1].offset;
    copy.bytes = accesses[0].bytes;
    command.work.Set(std::move(copy));
  }

  void setWork(fb::CommandT &command, plan::CommunicateOp op) {
    fb::CommunicateT exchange;
    exchange.axes = axesOf(op.getAxes());
    exchange.relative = op.getRelative();
    exchange.order = op.getOrder();
    auto add = [&](std::vector<fb::Transfer> &to,
                   ArrayRef<plan::Transfer> transfers) {
      for (const plan::Transfer &of : transfers)
        to.push_back(fb::Transfer(
            of.member, of.members,
            fb::Range(buffers.lookup(of.buffer), of.offset, of.bytes),
            of.same));
    };
    add(exchange.sends, op.getSendTransfers());
    add(exchange.receives, op.getReceiveTransfers());
    command.work.Set(std::move(exchange));
  }

  /// Ops of one program stand apart even where a loop of the model makes them
  /// look the same; what other programs have of them is the same.
  uint32_t addSource(plan::SourceAttr attr) {
    SmallVector<uint32_t, 2> &known = shared.sources[attr];
    unsigned use = usesInProgram[attr]++;
    if (use < known.size())
      return known[use];
    known.push_back(shared.first.sources.size());
    auto source = std::make_unique<fb::SourceT>();
    if (attr) {
      source->op = attr.getOp().str();
      source->module_ = attr.getModule().str();
      source->location = attr.getLocation().str();
    }
    shared.first.sources.push_back(std::move(source));
    return shared.first.sources.size() - 1;
  }

  plan::PlanOp plan;
  SymbolTable symbols;
  fb::PlanT &out;
  Shared &shared;
  llvm::DenseMap<Value, uint32_t> buffers;
  /// How many that look the same the program in work has had.
  llvm::DenseMap<Attribute, unsigned> usesInProgram;
};

} // namespace

FailureOr<std::vector<fb::PlanT>> buildMetadata(ArrayRef<plan::PlanOp> plans) {
  std::vector<fb::PlanT> out(plans.size());
  Shared shared(out.front());
  for (auto [from, to] : llvm::zip_equal(plans, out))
    if (failed(MetadataBuilder(from, to, shared).run()))
      return failure();
  return out;
}

} // namespace dl::emit
