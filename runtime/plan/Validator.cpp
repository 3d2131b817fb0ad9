#include "runtime/plan/Validator.h"

#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/Layout.h"
#include "runtime/plan/Memories.h"
#include "runtime/plan/ModuleTable.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_set>

using namespace dlrt;

Status dlrt::planError(std::string_view place, std::string_view what) {
  return {Code::Plan, fmt::format("wrong plan: {}: {}", place, what)};
}

bool dlrt::isPrintable(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool dlrt::itemBytes(const fb::InputComponentT &component, uint64_t &bytes) {
  return elementCount(component.shape, bytes) &&
         !__builtin_mul_overflow(bytes, sizeOf(component.dtype), &bytes);
}

static Status checkNames(const fb::PlanT &plan) {
  for (const std::string *text :
       {&plan.producer, &plan.model, &plan.machine_hash})
    if (!isPrintable(*text))
      return planError("header", "a name has control characters");
  for (size_t i = 0; i < plan.sources.size(); ++i) {
    const fb::SourceT &source = *plan.sources[i];
    if (!isPrintable(source.op) || !isPrintable(source.module_) ||
        !isPrintable(source.location))
      return planError(fmt::format("source {}", i), "control characters");
  }
  return {};
}

static Status checkConstants(const fb::PlanT &plan) {
  for (const std::string &name : plan.constants)
    if (name.empty() || !isPrintable(name))
      return planError("constants", "a name is empty or unprintable");
  return {};
}

static Status checkSettings(const fb::PlanT &plan) {
  std::unordered_set<std::string> names;
  for (const auto &setting : plan.settings)
    if (setting->name.empty() || !isPrintable(setting->name) ||
        !names.insert(setting->name).second)
      return planError("settings",
                       "a name is empty, unprintable or used twice");
  return {};
}

static Status checkPlateaus(const fb::PlanT &plan) {
  for (const auto &plateau : plan.plateaus) {
    bool known = plateau->mode <= fb::PlateauMode::MAX &&
                 plateau->threshold_mode <= fb::ThresholdMode::MAX;
    for (uint32_t setting : plateau->settings)
      known = known && setting < plan.settings.size();
    if (!known || plateau->metric.empty() || !isPrintable(plateau->metric))
      return planError("plateaus", "a metric's name is empty or unprintable, "
                                   "or a setting or mode is not there");
    bool sound = plateau->factor >= 0 && plateau->factor < 1 &&
                 plateau->min_lr >= 0 && plateau->eps >= 0;
    if (!sound)
      return planError("plateaus", "a factor is not between 0 and 1, or min_lr "
                                   "or eps is negative");
  }
  return {};
}

static Status checkBuffers(const fb::PlanT &plan) {
  // Leaves room for the slack behind it, rings and scratch.
  if (plan.arena_bytes > uint64_t(1) << 60)
    return planError("arena", fmt::format("{} bytes", plan.arena_bytes));
  std::optional<fb::Memory> arena;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const fb::BufferT &b = *plan.buffers[i];
    auto error = [&](std::string_view what) {
      return planError(fmt::format("buffer {}", i), what);
    };
    if (!isPrintable(b.name))
      return error("its name has control characters");
    if (b.memory > fb::Memory::MAX)
      return error("unknown memory");
    switch (b.space) {
    case fb::Space::Arena:
      if (arena && *arena != b.memory)
        return error("it is in another memory than the rest of the arena");
      arena = b.memory;
      if (b.offset % bufferAlignment != 0)
        return error(fmt::format("offset {} is not aligned", b.offset));
      if (b.offset > plan.arena_bytes || b.bytes > plan.arena_bytes - b.offset)
        return error(fmt::format("{} bytes at {} leave the arena of {} bytes",
                                 b.bytes, b.offset, plan.arena_bytes));
      break;
    case fb::Space::Input:
      break; // checked where a program uses it
    case fb::Space::Scalars:
      if (b.offset != 0 || b.bytes > stepValueBytes(plan))
        return error("it is larger than the step's scalars and settings");
      break;
    default:
      return error("unknown space");
    }
  }
  return {};
}

std::string dlrt::checkAxes(const Mesh &mesh,
                            const std::vector<uint32_t> &axes) {
  std::unordered_set<uint32_t> seen;
  for (uint32_t axis : axes)
    if (axis >= mesh.axes.size() || !seen.insert(axis).second)
      return fmt::format("axis {} does not exist, or twice", axis);
  return {};
}

static std::string checkSplit(const Mesh &mesh,
                              const std::vector<uint64_t> &shape,
                              const Split &split) {
  std::unordered_set<uint32_t> dims;
  std::vector<uint32_t> axes;
  for (const auto &part : split) {
    if (part->dim >= shape.size() || !dims.insert(part->dim).second)
      return fmt::format("dim {} is split and does not exist, or twice",
                         part->dim);
    if (part->axes.empty())
      return fmt::format("dim {} is split along no axis", part->dim);
    if (part->sections == 0 || shape[part->dim] % part->sections != 0)
      return fmt::format("dim {} of {} elements is split in {} sections",
                         part->dim, shape[part->dim], part->sections);
    axes.insert(axes.end(), part->axes.begin(), part->axes.end());
  }
  return checkAxes(mesh, axes);
}

std::string dlrt::checkTensor(const Mesh &mesh, const fb::PlanT &plan,
                              const std::vector<uint64_t> &shape,
                              const Split &split,
                              const std::vector<fb::PhysicalDim> &layout,
                              fb::DType dtype, uint32_t buffer) {
  uint64_t count;
  if (!elementCount(shape, count))
    return "its shape overflows";
  if (std::string what = checkSplit(mesh, shape, split); !what.empty())
    return what;
  Box part = boxOf(mesh, shape, split, plan.ranks.front());
  if (!split.empty())
    for (uint32_t rank : plan.ranks)
      if (boxOf(mesh, shape, split, rank).extent != part.extent)
        return fmt::format("ranks {} and {} run one plan and have parts of two "
                           "shapes",
                           plan.ranks.front(), rank);
  std::string what = checkLayout(part.extent, layout, sizeOf(dtype),
                                 plan.buffers[buffer]->bytes);
  return what.empty() ? what : "layout: " + what;
}

static bool isPossible(const fb::InitT &init,
                       const std::vector<uint64_t> &shape);

/// Whether the elements of a part are some of the state's, each once or none.
static bool isPossible(const fb::InitPartT &part,
                       const std::vector<uint64_t> &shape, uint64_t elements) {
  if (!part.begins || !part.begins->runs.empty() ||
      !part.begins->parts.empty() || part.shape.size() > 64 ||
      part.shape.size() != part.strides.size() || part.offset >= elements)
    return false;
  uint64_t count = 1, last = part.offset;
  for (size_t d = 0; d < part.shape.size(); ++d) {
    uint64_t size = part.shape[d], stride = part.strides[d];
    if (size == 0 || size > elements / count ||
        (size > 1 && (stride == 0 || stride > (elements - 1) / (size - 1))))
      return false;
    count *= size;
    last += (size - 1) * stride;
    if (last >= elements)
      return false;
  }
  return isPossible(*part.begins, part.whole ? shape : part.shape);
}

/// What the numbers of a first value may be where they count elements.
static bool isPossible(const fb::InitT &init,
                       const std::vector<uint64_t> &shape) {
  uint64_t elements = 1, end = 0, given = 0;
  for (uint64_t size : shape)
    elements *= size;
  for (const auto &part : init.parts)
    if (!isPossible(*part, shape, elements))
      return false;
  for (const fb::InitRun &run : init.runs) {
    if (run.first() < end || run.first() > elements || run.count() == 0 ||
        run.count() > elements - run.first() ||
        (run.given() != 1 && run.given() != run.count()) ||
        run.given() > init.values.size() - given)
      return false;
    end = run.first() + run.count();
    given += run.given();
  }
  if (given != init.values.size() || init.kind > fb::InitKind::MAX)
    return false;
  bool isMatrix = shape.size() >= 2;
  switch (init.kind) {
  case fb::InitKind::Dirac:
    return isMatrix && init.a >= 1 && init.a <= static_cast<double>(shape[0]) &&
           shape[0] % static_cast<uint64_t>(init.a) == 0;
  case fb::InitKind::Sparse:
    return isMatrix && init.a >= 0 && init.a <= 1;
  case fb::InitKind::Orthogonal:
    return isMatrix;
  default:
    return true;
  }
}

static Status checkState(const Mesh &mesh, const fb::PlanT &plan,
                         const fb::StateT &s,
                         std::unordered_set<std::string> &names) {
  auto error = [&](std::string_view what) {
    return planError(fmt::format("state '{}'", s.name), what);
  };
  if (!isPrintable(s.name))
    return planError("states", "a name has control characters");
  if (s.name.empty() || !names.insert(s.name).second)
    return error("the name is empty or used twice");
  for (const std::string &alias : s.aliases)
    if (alias.empty() || !isPrintable(alias) || !names.insert(alias).second)
      return error("an alias is empty, unprintable or used twice");
  if (s.role > fb::StateRole::MAX || s.init->kind > fb::InitKind::MAX ||
      s.dtype > fb::DType::MAX ||
      (!isOfPorts(s.dtype) && s.role != fb::StateRole::Cache &&
       s.role != fb::StateRole::Prepared) ||
      !isPrintable(s.of))
    return error("unknown role, init or dtype");
  if (s.buffer >= plan.buffers.size())
    return error(fmt::format("buffer {} does not exist", s.buffer));
  const fb::BufferT &buffer = *plan.buffers[s.buffer];
  if (buffer.space != fb::Space::Arena)
    return error("its buffer is not in the arena");
  std::string what =
      checkTensor(mesh, plan, s.shape, s.split, s.layout, s.dtype, s.buffer);
  if (!what.empty())
    return error(what);
  return isPossible(*s.init, s.shape) ? Status()
                                      : error("its first values cannot be");
}

static Status checkStates(const Mesh &mesh, const fb::PlanT &plan) {
  std::unordered_set<std::string> names;
  std::vector<const fb::BufferT *> places;
  for (const auto &state : plan.states) {
    DLRT_TRY(checkState(mesh, plan, *state, names));
    places.push_back(plan.buffers[state->buffer].get());
  }
  // One of no bytes, a rank's empty part, stands before its neighbour.
  std::sort(places.begin(), places.end(), [](auto *a, auto *b) {
    return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
  });
  for (size_t i = 1; i < places.size(); ++i)
    if (places[i]->offset < places[i - 1]->offset + places[i - 1]->bytes)
      return planError("states", fmt::format("two overlap at arena offset {}",
                                             places[i]->offset));
  return {};
}

/// What is wrong with a block of threads, or an empty string.
static std::string checkBlock(const fb::VariantT &variant) {
  if (variant.target != fb::Target::Cuda)
    return variant.threads == 0 && variant.shared_bytes == 0
               ? ""
               : "a variant for processors has blocks of threads";
  // What any device has at most; the one that is there says what it has.
  constexpr uint32_t mostThreads = 1024;
  constexpr uint64_t mostShared = 227 << 10;
  if (variant.threads == 0 || variant.threads > mostThreads)
    return fmt::format("blocks of {} threads", variant.threads);
  if (variant.shared_bytes > mostShared)
    return fmt::format("{} bytes of shared memory", variant.shared_bytes);
  return "";
}

/// What is wrong, or an empty string. A plan is for one target, so there is one
/// variant.
static std::string checkVariants(const fb::PlanT &plan, const fb::KernelT &k) {
  if (k.variants.size() != 1)
    return fmt::format("{} variants for one target", k.variants.size());
  const fb::VariantT &variant = *k.variants.front();
  if (variant.target > fb::Target::MAX)
    return "a variant is for an unknown target";
  if (variant.target != plan.kernels.front()->variants.front()->target)
    return "it is for another target than the first one";
  if (variant.entry.empty() || !isPrintable(variant.entry))
    return "a variant has no entry";
  if (variant.tiles == 0 || variant.tiles >= uint64_t(1) << 31)
    return fmt::format("{} tiles", variant.tiles);
  if (variant.scratch_bytes > uint64_t(1) << 48)
    return fmt::format("{} bytes of scratch", variant.scratch_bytes);
  return checkBlock(variant);
}

static Status checkKernels(const fb::PlanT &plan) {
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    const fb::KernelT &k = *plan.kernels[i];
    auto error = [&](std::string_view what) {
      return planError(fmt::format("kernel {}", i), what);
    };
    if (k.name.empty() || !isPrintable(k.name) || !isPrintable(k.strategy) ||
        !names.insert(k.name).second)
      return error("the name is empty, unprintable or used twice");
    if (std::string what = checkVariants(plan, k); !what.empty())
      return error(what);
    if (k.binding_bytes.size() != k.writes.size() ||
        k.binding_bytes.size() != k.binding_aligns.size())
      return error(fmt::format("{} bindings, but {} alignments and {} write "
                               "marks",
                               k.binding_bytes.size(), k.binding_aligns.size(),
                               k.writes.size()));
    for (uint32_t align : k.binding_aligns)
      if (!std::has_single_bit(align) || align > bufferAlignment)
        return error(fmt::format("a binding's alignment of {}", align));
    for (const fb::ConstantRange &range : k.constants)
      if (range.multiple_of() < 1)
        return error("a constant is to be a multiple of nothing");
    for (uint32_t op : k.ops)
      if (op >= plan.sources.size())
        return error(fmt::format("source {} does not exist", op));
  }
  return {};
}

static Status checkPictures(const fb::DatasetT &d, const std::string &place) {
  if (d.components.size() != 2 || d.components[0]->dtype != fb::DType::U8 ||
      d.components[1]->dtype != fb::DType::U8 ||
      !d.components[1]->shape.empty())
    return planError(place, "pictures are u8 and have u8 labels");
  return {};
}

static Status checkTokens(const fb::DatasetT &d, const std::string &place) {
  if (d.paths.size() != 1 || d.components.size() != 1)
    return planError(place, "tokens are one component, of one file");
  const fb::InputComponentT &item = *d.components.front();
  bool isInteger = item.dtype == fb::DType::U8 ||
                   item.dtype == fb::DType::I32 || item.dtype == fb::DType::I64;
  if (!isInteger || item.shape.size() != 1 || item.shape.front() == 0 ||
      d.stride == 0)
    return planError(place, "an item is no row of tokens, or follows none");
  return {};
}

static bool isTransform(const fb::ImageTransformT &t) {
  constexpr uint64_t most = 65535, mostPixels = uint64_t(1) << 28;
  if (t.kind > fb::ImageTransformKind::MAX || t.height == 0 ||
      t.height > most || t.width > most || t.height * t.width > mostPixels)
    return false;
  if (t.kind != fb::ImageTransformKind::Resize && t.width == 0)
    return false;
  if (t.kind != fb::ImageTransformKind::RandomResizedCrop)
    return t.numbers.empty();
  if (t.numbers.size() != 4)
    return false;
  constexpr double largest = 1e6; // and its inverse
  for (double number : t.numbers)
    if (!(number >= 1 / largest && number <= largest))
      return false;
  return t.numbers[0] <= t.numbers[1] && t.numbers[2] <= t.numbers[3];
}

static Status checkImageFolder(const fb::DatasetT &d,
                               const std::string &place) {
  if (d.components.size() != 2 || d.components[0]->dtype != fb::DType::U8 ||
      d.components[0]->shape.size() != 3 || d.components[0]->shape[0] != 3 ||
      d.components[1]->dtype != fb::DType::I64 ||
      !d.components[1]->shape.empty())
    return planError(place, "pictures are u8 [3, H, W] and have i64 labels");
  for (const auto &transform : d.transforms)
    if (!isTransform(*transform))
      return planError(place, "a transform of pictures is none");
  const std::vector<uint64_t> &shape = d.components[0]->shape;
  if (d.transforms.empty() || d.transforms.back()->height != shape[1] ||
      d.transforms.back()->width != shape[2])
    return planError(place, "its transforms give pictures of another size");
  for (const std::string &name : d.classes)
    if (!isPrintable(name))
      return planError(place, "a class has control characters");
  return {};
}

/// Each has a part of what the next one has, the first one the data set's own.
static Status checkSelections(const fb::DatasetT &d, const std::string &place) {
  constexpr size_t most = 8;
  constexpr uint64_t mostItems = uint64_t(1) << 48;
  if (d.selections.size() > most)
    return planError(place, "it is a part of too many parts");
  uint64_t items = d.sampler ? d.sampler->of : d.items;
  if (d.sampler &&
      (items == 0 || items > mostItems || !isPrintable(d.sampler->weights)))
    return planError(place, fmt::format("it draws from {} items", items));
  for (const auto &one : d.selections) {
    if (one->items != items || one->of > mostItems || items > one->of ||
        one->first > one->of - items)
      return planError(place, fmt::format("{} items from {} are none of {}",
                                          one->items, one->first, one->of));
    items = one->of;
  }
  return {};
}

static Status checkDataset(const fb::DatasetT &d, const std::string &place) {
  if (d.batch_size == 0 || d.items == 0)
    return planError(
        place, fmt::format("{} items in batches of {}", d.items, d.batch_size));
  if (d.components.empty())
    return planError(place, "it has no components");
  if (!isPrintable(d.root))
    return planError(place, "its root has control characters");
  for (const std::string &path : d.paths)
    if (!isPrintable(path))
      return planError(place, "a path has control characters");
  uint64_t total = 0;
  for (size_t c = 0; c < d.components.size(); ++c) {
    const fb::InputComponentT &component = *d.components[c];
    uint64_t bytes;
    if (!isOfPorts(component.dtype) || !itemBytes(component, bytes) ||
        __builtin_mul_overflow(bytes, d.batch_size, &bytes) ||
        __builtin_add_overflow(total, bytes, &total) ||
        total > uint64_t(1) << 48)
      return planError(place, fmt::format("component {} is too large or has an "
                                          "unknown dtype",
                                          c));
  }
  DLRT_TRY(checkSelections(d, place));
  switch (d.kind) {
  case fb::DatasetKind::MNIST:
  case fb::DatasetKind::FashionMNIST:
  case fb::DatasetKind::KMNIST:
  case fb::DatasetKind::CIFAR10:
  case fb::DatasetKind::CIFAR100:
    return checkPictures(d, place);
  case fb::DatasetKind::Tokens:
    return checkTokens(d, place);
  case fb::DatasetKind::ImageFolder:
    return checkImageFolder(d, place);
  case fb::DatasetKind::Tensor:
    if (d.paths.size() != d.components.size())
      return planError(place, fmt::format("{} files for {} components",
                                          d.paths.size(), d.components.size()));
    return {};
  }
  return planError(place, "unknown kind");
}

/// Each kernel's entry is in a module of the image.
static Status checkModules(const fb::PlanT &plan, const fb::ImageT &image,
                           std::span<const uint8_t> section) {
  std::string place = fmt::format("image '{}'", image.features);
  Expected<ModuleTable> table = readModuleTable(section);
  if (!table)
    return planError(place, table.takeError().message());
  for (const auto &kernel : plan.kernels)
    if (!table->entries.contains(variantOf(*kernel).entry))
      return planError(place,
                       fmt::format("it has no '{}'", variantOf(*kernel).entry));
  return {};
}

static Status checkImages(const fb::PlanT &plan,
                          const std::vector<SectionView> &sections) {
  for (const auto &image : plan.images) {
    if (!isPrintable(image->features) || image->target > fb::Target::MAX)
      return planError("images", "control characters, or an unknown target");
    if (image->section >= sections.size() ||
        sections[image->section].kind != SectionKind::Image)
      return planError(fmt::format("image '{}'", image->features),
                       fmt::format("section {} is no image", image->section));
    if (image->target != targetOf(plan))
      return planError("images", "they are for two targets");
    if (image->target == fb::Target::Cuda)
      DLRT_TRY(checkModules(plan, *image, sections[image->section].bytes));
  }
  return {};
}

Status dlrt::validatePlan(const Mesh &mesh, const fb::PlanT &plan,
                          const std::vector<SectionView> &sections) {
  if (plan.dtype > fb::DType::MAX)
    return planError("header", "unknown dtype");
  DLRT_TRY(checkNames(plan));
  DLRT_TRY(checkConstants(plan));
  DLRT_TRY(checkSettings(plan));
  DLRT_TRY(checkPlateaus(plan));
  DLRT_TRY(checkBuffers(plan));
  DLRT_TRY(checkStates(mesh, plan));
  DLRT_TRY(checkKernels(plan));
  for (size_t i = 0; i < plan.datasets.size(); ++i)
    DLRT_TRY(checkDataset(*plan.datasets[i], fmt::format("dataset {}", i)));
  DLRT_TRY(checkImages(plan, sections));
  if (!plan.kernels.empty() && !plan.images.empty() &&
      variantOf(*plan.kernels.front()).target != targetOf(plan))
    return planError("images", "they are for another target than the kernels");
  return validateSteps(mesh, plan);
}
