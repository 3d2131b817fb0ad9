#include "runtime/device/cuda/Products.h"

#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/MatrixProduct.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

using namespace dlrt;
using namespace dlrt::cuda;

/// Of bytes at an offset of the allocation or of a batch, which begin where
/// anything may; the library tells no finer ones apart.
static uint32_t alignmentOf(uint64_t offset) {
  constexpr uint64_t most = 256;
  return static_cast<uint32_t>(offset == 0 ? most
                                           : std::min(offset & -offset, most));
}

/// The library wants workspaces at multiples of this, buffers of a plan lie
/// closer
/// (https://docs.nvidia.com/cuda/cublas/#cublasltmatmul).
static constexpr uint64_t workspaceAlignment = 256;

static ProductQuestion questionOf(const fb::PlanT &plan,
                                  const fb::MultiplyT &product) {
  ProductQuestion question{.batch = product.batch,
                           .m = product.m,
                           .n = product.n,
                           .k = product.k,
                           .arithmetic = product.arithmetic,
                           .matrices = {},
                           .adds = product.matrices.size() > 3,
                           .biasAlignment = 0,
                           .workspaceBytes = 0};
  auto alignmentIn = [&](uint32_t binding, uint64_t bytes) {
    const fb::Range &range = product.launch->bindings[binding];
    const fb::BufferT &buffer = *plan.buffers[range.buffer()];
    uint64_t begin = buffer.space == fb::Space::Arena ? buffer.offset : 0;
    return alignmentOf(begin + range.offset() + bytes);
  };
  std::array<MatrixShape, 4> shapes = storedShapes(product);
  for (size_t i = 0; i < product.matrices.size(); ++i) {
    const fb::MatrixPlace &place = product.matrices[i];
    question.matrices[i] = {
        shapes[i].rows,     shapes[i].columns,
        place.stride(),     place.batch_stride(),
        place.transposed(), alignmentIn(place.binding(), offsetOf(product, i))};
  }
  if (product.bias != -1)
    question.biasAlignment =
        alignmentIn(static_cast<uint32_t>(product.bias), 0);
  // What is left of it from the first such multiple on.
  uint64_t bytes = plan.buffers[product.workspace]->bytes;
  question.workspaceBytes = bytes - std::min(bytes, workspaceAlignment);
  return question;
}

Product::~Product() {
  for (lt::Layout layout : layouts)
    if (layout)
      library.layoutDestroy(layout);
  if (description)
    library.descriptionDestroy(description);
}

lt::Status Product::prepare() {
  lt::Status status = describe();
  return status == lt::statusSuccess ? choose() : status;
}

static int typeOf(fb::Arithmetic arithmetic, size_t matrix) {
  switch (elementOf(arithmetic, matrix)) {
  case fb::DType::F64:
    return lt::typeF64;
  case fb::DType::BF16:
    return lt::typeBf16;
  default:
    return lt::typeF32;
  }
}

/// The library's matrices stand column by column. Rows of ours are its columns,
/// so that it sees transposes of a, b and d, and is asked for b' a' = d'.
lt::Status Product::describe() {
  bool isDouble = question.arithmetic == fb::Arithmetic::F64;
  int type = isDouble ? lt::typeF64 : lt::typeF32;
  int compute = isDouble                                      ? lt::computeF64
                : question.arithmetic == fb::Arithmetic::TF32 ? lt::computeTf32
                                                              : lt::computeF32;
  lt::Status status = library.descriptionCreate(&description, compute, type);
  auto transpose = [&](int side, const ProductQuestion::Matrix &matrix) {
    int operation = lt::transposed;
    if (status == lt::statusSuccess && matrix.transposed)
      status = library.descriptionSet(description, side, &operation,
                                      sizeof(operation));
  };
  transpose(lt::descriptionTransA, question.matrices[1]);
  transpose(lt::descriptionTransB, question.matrices[0]);
  if (uint32_t epilogue = lt::epilogueBias;
      question.biasAlignment != 0 && status == lt::statusSuccess)
    status = library.descriptionSet(description, lt::descriptionEpilogue,
                                    &epilogue, sizeof(epilogue));
  // By the address that is there while it is asked the library knows how calls
  // are aligned; it reads nothing.
  if (status == lt::statusSuccess)
    status = setBias(question.biasAlignment);
  int batch = static_cast<int>(question.batch);
  size_t count = question.adds ? 4 : 3;
  for (size_t i = 0; i < count && status == lt::statusSuccess; ++i) {
    const ProductQuestion::Matrix &matrix = question.matrices[i];
    auto stride = static_cast<int64_t>(matrix.batchStride);
    status = library.layoutCreate(&layouts[i], typeOf(question.arithmetic, i),
                                  matrix.columns, matrix.rows,
                                  static_cast<int64_t>(matrix.stride));
    if (status == lt::statusSuccess)
      status = library.layoutSet(layouts[i], lt::layoutBatchCount, &batch,
                                 sizeof(batch));
    if (status == lt::statusSuccess)
      status = library.layoutSet(layouts[i], lt::layoutBatchStride, &stride,
                                 sizeof(stride));
  }
  return status;
}

lt::Status Product::setBias(uintptr_t address) const {
  if (question.biasAlignment == 0)
    return lt::statusSuccess;
  auto *bias = reinterpret_cast<const void *>(address);
  return library.descriptionSet(description, lt::descriptionBias, &bias,
                                sizeof(bias));
}

/// That is asked not to be proposed, and looked at again.
bool Product::addsInTurn(const lt::Algorithm &proposed) const {
  uint32_t reduction = lt::reduceNone;
  size_t written = 0;
  lt::Status status =
      library.algorithmGet(&proposed, lt::algorithmReduction, &reduction,
                           sizeof(reduction), &written);
  return status == lt::statusSuccess && reduction == lt::reduceInPlace;
}

/// Not the fastest of several that are timed: times differ from run to run, and
/// bits with them.
lt::Status Product::choose() {
  lt::Preference preference = nullptr;
  lt::Status status = library.preferenceCreate(&preference);
  auto prefer = [&](int attribute, auto value) {
    if (status == lt::statusSuccess)
      status =
          library.preferenceSet(preference, attribute, &value, sizeof(value));
  };
  prefer(lt::preferWorkspace, question.workspaceBytes);
  // (Parts of sums stay f32, also where the result is not.)
  bool isNarrow = question.arithmetic == fb::Arithmetic::BF16;
  prefer(lt::preferReductions,
         isNarrow ? uint32_t(lt::reduceComputeType)
                  : uint32_t(lt::reduceComputeType | lt::reduceOutputType));
  prefer(lt::preferAlignmentA, question.matrices[1].alignment);
  prefer(lt::preferAlignmentB, question.matrices[0].alignment);
  prefer(lt::preferAlignmentC,
         question.matrices[question.adds ? 3 : 2].alignment);
  prefer(lt::preferAlignmentD, question.matrices[2].alignment);
  constexpr int most = 8;
  lt::Proposal proposals[most] = {};
  int count = 0;
  if (status == lt::statusSuccess)
    status =
        library.propose(handle, description, layouts[1], layouts[0], added(),
                        layouts[2], preference, most, proposals, &count);
  if (preference)
    library.preferenceDestroy(preference);
  for (int i = 0; i < count && status == lt::statusSuccess; ++i) {
    const lt::Proposal &proposal = proposals[i];
    if (proposal.state != lt::statusSuccess ||
        proposal.workspaceBytes > question.workspaceBytes ||
        addsInTurn(proposal.algorithm))
      continue;
    algorithm = proposal.algorithm;
    return status;
  }
  return status == lt::statusSuccess ? lt::statusNotSupported : status;
}

Status Product::call(const ProductPlaces &places, Stream stream,
                     const std::string &what) const {
  const double one = 1, zero = 0; // of the arithmetic's own type
  const float oneF32 = 1, zeroF32 = 0;
  bool isDouble = question.arithmetic == fb::Arithmetic::F64;
  auto address = [](Pointer at) { return reinterpret_cast<void *>(at); };
  auto number = [&](bool isOne) -> const void * {
    if (isDouble)
      return isOne ? &one : &zero;
    return isOne ? &oneF32 : &zeroF32;
  };
  void *d = address(places.matrices[2]);
  void *c = question.adds ? address(places.matrices[3]) : d;
  Pointer workspace = (places.workspace + workspaceAlignment - 1) /
                      workspaceAlignment * workspaceAlignment;
  lt::Status status = setBias(places.bias);
  if (status == lt::statusSuccess)
    status = library.multiply(
        handle, description, number(true), address(places.matrices[1]),
        layouts[1], address(places.matrices[0]), layouts[0],
        number(question.adds), c, added(), d, layouts[2], &algorithm,
        address(workspace), question.workspaceBytes, stream);
  if (status == lt::statusSuccess)
    return {};
  return {Code::Unavailable,
          fmt::format("CUDA: {}: {}: {}; --own-kernels leaves the library out",
                      what, library.name(), library.textOf(status))};
}

Products::~Products() {
  known.clear();
  refused.clear();
  if (handle)
    opened->destroy(handle);
}

/// The latest version that is there and works with the driver.
bool Products::start() {
  std::string reasons;
  for (size_t file = 0; file < std::size(lt::Library::files); ++file) {
    std::string why;
    if ((opened = lt::Library::open(file, why))) {
      lt::Status status = opened->create(&handle);
      if (status == lt::statusSuccess)
        return true;
      handle = nullptr;
      why = fmt::format("{} does not start on this device: {}",
                        lt::Library::files[file], opened->textOf(status));
    }
    reasons += (reasons.empty() ? "" : "; ") + why;
  }
  said.push_back(fmt::format(
      "products run on the plan's own kernels, and not on cuBLASLt: {}; where "
      "that is not to be, a plan of dlcc --own-kernels is faster",
      reasons));
  return false;
}

void Products::ask(const ProductQuestion &question, std::string &refusal) {
  auto [at, isNew] = known.try_emplace(question);
  if (!isNew)
    return;
  auto product = std::make_unique<Product>(*opened, handle, at->first);
  lt::Status status = product->prepare();
  if (status == lt::statusSuccess) {
    at->second = std::move(product);
    name = opened->name();
  } else if (refusal.empty()) {
    refusal = fmt::format("{}x{} by {}x{}: {}", question.m, question.k,
                          question.k, question.n, opened->textOf(status));
  }
}

/// Each product of a plan.
static std::vector<const fb::MultiplyT *> productsOf(const fb::PlanT &plan) {
  std::vector<const fb::MultiplyT *> all;
  for (const auto &step : plan.steps)
    for (const auto &program : step->programs)
      for (const auto &command : program->commands)
        if (const fb::MultiplyT *product = command->work.AsMultiply())
          all.push_back(product);
  return all;
}

void Products::prepare(const std::vector<const fb::PlanT *> &plans) {
  std::string refusal;
  for (const fb::PlanT *plan : plans)
    for (const fb::MultiplyT *product : productsOf(*plan)) {
      if (!handle && !start())
        return;
      ask(questionOf(*plan, *product), refusal);
    }
  if (!refusal.empty())
    said.push_back(fmt::format("{} has no algorithm for some products, which "
                               "run on the plan's own kernels: {}",
                               opened->name(), refusal));
}

void Products::giveUp(const Product &product, const Status &why) {
  for (auto &[question, kept] : known)
    if (kept.get() == &product)
      refused.push_back(std::move(kept));
  if (refused.size() == 1)
    said.push_back(fmt::format(
        "some products run on the plan's own kernels: {}", why.message()));
  if (std::none_of(known.begin(), known.end(),
                   [](const auto &each) { return bool(each.second); }))
    name.clear();
}

bool Products::isGivenUp(const Product &product) const {
  return std::any_of(refused.begin(), refused.end(),
                     [&](const auto &each) { return each.get() == &product; });
}

const Product *Products::of(const fb::PlanT &plan,
                            const fb::MultiplyT &product) const {
  auto found = known.find(questionOf(plan, product));
  return found == known.end() ? nullptr : found->second.get();
}
