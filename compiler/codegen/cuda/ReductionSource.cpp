#include "compiler/codegen/cuda/PayloadText.h"
#include "compiler/codegen/cuda/StageSource.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using llvm::Twine;

namespace dl::cuda {

ReductionSource::ReductionSource(RegionText &region, const Stage &stage)
    : StageSource(region, stage), form(region.kernel.reduction(stage)),
      reductions({stage.op}), sums(1), points(region.kernel.tilePoints(stage)),
      element(valueType(region.payloadType(stage.op))) {
  llvm::append_range(reductions, stage.sumsBeside);
  vector = pointsTogether();
  for (unsigned l = 0; l < vector; ++l)
    for (size_t i = 0; i < reductions.size(); ++i)
      names.push_back("sum" + (i > 0 ? std::to_string(i) : "") +
                      (vector > 1 ? "_" + std::to_string(l) : ""));
  for (unsigned d = nest.numParallel; d < nest.extents.size(); ++d)
    sums *= region.kernel.tileExtent(stage, d);
  isProduct = nest.contraction && (element == "float" || element == "double");
  state = nest.yieldsIndex ? "Best<" + element + ">" : element;
}

/// Points that a thread has, as far as tiles are whole numbers of them.
unsigned ReductionSource::pointsTogether() const {
  int64_t inner = 1;
  for (unsigned d : parallelDims())
    if (int64_t extent = e.kernel.tileExtent(stage, d); extent > 1)
      inner = extent;
  unsigned together = form.vector;
  while (inner % together != 0)
    together /= 2;
  return together;
}

/// The states of one point.
ArrayRef<std::string> ReductionSource::statesOf(unsigned point) const {
  return ArrayRef(names).slice(point * reductions.size(), reductions.size());
}

std::string ReductionSource::mergeName() const {
  return nest.combine == graph::Combine::Sum ? "Sum()"
         : nest.yieldsIndex                  ? "First()"
                                             : "Max()";
}

void ReductionSource::declareState() {
  std::string start =
      nest.combine == graph::Combine::Sum ? "0" : "lowest<" + element + ">()";
  for (const std::string &sum : names)
    out.line(state + " " + sum + " = " +
             (nest.yieldsIndex ? "{" + start + ", ~0u}" : start) + ";");
}

AffineExpr ReductionSource::position() const {
  AffineExpr at = e.scope.constant(0);
  for (unsigned d = nest.numParallel; d < dims.size(); ++d)
    at = at * nest.extents[d] + dims[d];
  return at;
}

/// What a sum is with the element at `dims`.
std::string ReductionSource::added(Operation *op, const std::string &sum) {
  if (!isProduct)
    return sum + " + " + e.evaluatePayload(op, dims)[0];
  std::string x = e.evaluateOperand(op, 0, dims);
  std::string y = e.evaluateOperand(op, 1, dims);
  return (element == "double" ? "fma(" : "fmaf(") + x + ", " + y + ", " + sum +
         ")";
}

/// The element at `dims`, of one point.
void ReductionSource::step(ArrayRef<std::string> states) {
  for (auto [op, sum] : llvm::zip(reductions, states)) {
    if (nest.combine == graph::Combine::Sum) {
      out.line(sum + " = " + added(op, sum) + ";");
      continue;
    }
    std::string content = e.evaluatePayload(op, dims)[0];
    if (nest.yieldsIndex)
      out.line("sum = First()(sum, {" + content + ", (unsigned)(" +
               e.scope.text(position()) + ")});");
    else
      out.line("sum = Max()(sum, " + content + ");");
  }
}

void ReductionSource::moveToElement(int64_t k) {
  for (unsigned d = nest.extents.size(); d-- > nest.numParallel;) {
    int64_t extent = e.kernel.tileExtent(stage, d);
    dims[d] = e.originOf(e.kernel.parts(stage)[d]) + k % extent;
    k /= extent;
  }
}

/// The elements of each sum in lanes as a CPU's vectors have them, whose halves
/// are added until one number is left: short chains, and the CPU's bits.
void ReductionSource::addHalves() {
  int64_t lanes = element == "double" ? 8 : 16;
  for (auto [op, sum] : llvm::zip(reductions, names)) {
    SmallVector<std::string> parts;
    for (int64_t k = 0; k < sums; ++k) {
      moveToElement(k);
      if (k < lanes)
        parts.push_back(isProduct ? e.evaluateOperand(op, 0, dims) + " * " +
                                        e.evaluateOperand(op, 1, dims)
                                  : e.evaluatePayload(op, dims)[0]);
      else
        parts[k - lanes] = "(" + added(op, parts[k - lanes]) + ")";
    }
    for (size_t half = llvm::bit_ceil(parts.size()) / 2; half > 0; half /= 2)
      for (size_t lane = 0; lane < half && lane + half < parts.size(); ++lane)
        parts[lane] = "(" + parts[lane] + " + " + parts[lane + half] + ")";
    out.line(sum + " += " + parts[0] + ";");
  }
}

/// All elements of a lane, one after the other.
void ReductionSource::takeElements() {
  auto reduced = llvm::to_vector(
      llvm::seq<unsigned>(nest.numParallel, nest.extents.size()));
  unsigned splits = e.kernel.splits();
  if (form.lanes == 1 && splits == 1) { // few: no loop
    if (form.lanesInner && nest.combine == graph::Combine::Sum)
      return addHalves();
    for (int64_t k = 0; k < sums; ++k) {
      moveToElement(k);
      step(names);
    }
    return;
  }
  const Neighbours points = neighbours();
  unsigned along =
      form.lanesInner && sums >= 8 * int64_t(form.lanes) && splits == 1 ? 4 : 1;
  for (auto &[value, placement] : e.kernel.placements())
    if (cast<RankedTensorType>(value.getType())
            .getElementType()
            .getIntOrFloatBitWidth() == 64)
      along = std::min(along, 2u);
  while (along > 1 && nest.extents.back() % along != 0)
    along /= 2;
  std::string type = e.scope.type().str(), k = out.fresh("k");
  std::string end = e.scope.number(sums / along), begin = "lane";
  if (splits > 1) {
    int64_t part = llvm::divideCeil(sums, splits);
    out.line("const " + type + " end = min(" + e.scope.number(sums) +
             ", (split + 1) * " + e.scope.number(part) + ");");
    end = "end";
    begin = "split * " + e.scope.number(part) + " + lane";
  }
  out.directive("#pragma unroll 4");
  e.open("for (" + type + " " + k + " = " + begin + "; " + k + " < " + end +
         "; " + k + " += " + e.scope.number(form.lanes) + ")");
  locate(k, reduced, along);
  std::string inside = insideTensor(reduced);
  if (!inside.empty())
    e.open("if (" + inside + ")");
  if (vector > 1)
    setNeighbours(points);
  e.vector = std::max(along, vector);
  for (unsigned l = 0; l < e.vector; ++l) {
    moveTo(l);
    step(statesOf(vector > 1 ? l : 0));
  }
  e.vector = 1;
  if (!inside.empty())
    e.close();
  e.close();
}

/// With what the blocks of columns before have added up to.
void ReductionSource::addToTotal() {
  if (!e.kernel.isTotal(stage))
    return;
  e.open("if (" + e.hasTotal + ")");
  for (unsigned l = 0; l < vector; ++l) {
    moveTo(l);
    for (auto [op, sum] : llvm::zip(reductions, statesOf(l)))
      out.line(sum + " = " + mergeName() + "(" +
               e.evaluate(op->getResult(0), resultIndex()) + ", " + sum + ");");
  }
  e.close();
}

Names ReductionSource::stateResults(unsigned point) const {
  if (!nest.yieldsIndex)
    return Names(statesOf(point));
  Names list;
  if (nest.yieldsValue)
    list.push_back("sum.value");
  std::string type = valueType(graph::scalarType(
      cast<RankedTensorType>(stage.op->getResults().back().getType())
          .getElementType()));
  list.push_back("(" + type + ")sum.position");
  return list;
}

/// Where a point of a sum is among the parts that a block leaves.
std::string ReductionSource::place(size_t sum, StringRef at) const {
  return (sum > 0 ? e.scope.number(sum * points) + " + " : "") + at.str();
}

void ReductionSource::write() {
  const BlockKernel &kernel = e.kernel;
  unsigned lanes = form.lanes, slots = kernel.threads() / lanes;
  std::string type = e.scope.type().str();
  e.open("");
  if (lanes > 1) {
    std::string by = std::to_string(form.lanesInner ? lanes : slots) + "u";
    out.line("const unsigned lane = threadIdx.x " +
             Twine(form.lanesInner ? "% " : "/ ") + by +
             ", slot = threadIdx.x " + (form.lanesInner ? "/ " : "% ") + by +
             ";");
  } else {
    out.line("const unsigned lane = 0, slot = threadIdx.x;");
  }
  int64_t groups = points / vector;
  bool loops = groups > slots;
  if (loops)
    e.open("for (" + type + " first = 0; first < " + e.scope.number(groups) +
           "; first += " + Twine(slots) + ")");
  out.line("const " + type + " p = " + (loops ? "first + slot;" : "slot;"));
  locate("p", parallelDims(), vector);
  const Neighbours near = neighbours();
  bool ragged = declareInside(groups, slots);
  declareState();
  e.open(ragged ? "if (inside)" : "");
  takeElements();
  e.close();
  if (lanes > 1)
    combine(lanes, slots, form.lanesInner);
  openForResult(ragged, lanes);
  setNeighbours(near);
  addToTotal();
  for (unsigned l = 0; l < vector; ++l) {
    moveTo(l);
    if (kernel.splits() == 1) {
      storeResults(finish(stateResults(l)));
      continue;
    }
    std::string point = vector == 1 ? "p"
                                    : "p * " + e.scope.number(vector) + " + " +
                                          e.scope.number(l);
    for (auto [i, sum] : llvm::enumerate(statesOf(l)))
      out.line("reinterpret_cast<" + state + " *>(part)[" + place(i, point) +
               "] = " + sum + ";");
  }
  e.close();
  if (loops)
    e.close();
  e.close();
  if (kernel.splits() > 1)
    finishParts();
}

/// `inside`, where not all threads have one of `count` points in the tensor.
bool ReductionSource::declareInside(int64_t count, unsigned slots) {
  std::string inside = insideTensor(parallelDims());
  if (count % slots != 0)
    inside = "p < " + e.scope.number(count) +
             (inside.empty() ? "" : " && " + inside);
  if (inside.empty())
    return false;
  out.line("const bool inside = " + inside + ";");
  return true;
}

/// The threads that have what lanes have become.
void ReductionSource::openForResult(bool ragged, unsigned lanes) {
  std::string condition = ragged ? "inside" : "";
  if (lanes > 1)
    condition += (condition.empty() ? "" : " && ") + std::string("lane == 0");
  e.open(condition.empty() ? "" : "if (" + condition + ")");
}

void ReductionSource::combine(unsigned lanes, unsigned slots, bool inner) {
  for (const std::string &sum : names)
    out.line(sum + " = combineLanes<" + Twine(lanes) + ", " + Twine(slots) +
             ", " + (inner ? "true" : "false") + ">(" + sum + ", " +
             mergeName() + ", shared + " + Twine(e.kernel.combineOffset()) +
             ");");
}

/// The last block of a tile adds what all of them have left, in an order that
/// is always the same: lanes of a point take turns, then are combined.
void ReductionSource::finishParts() {
  const BlockKernel &kernel = e.kernel;
  std::string bytes = std::to_string(kernel.partBytes());
  e.open("if (isLastOf(" + Twine(kernel.splits()) + "u, counter, shared + " +
         Twine(kernel.combineOffset()) + "))");
  out.line("const unsigned char *parts = part - split * " + bytes + "ull;");
  names.truncate(reductions.size());
  vector = 1;
  for (auto [i, name] : llvm::enumerate(names))
    name = "sum" + (i > 0 ? std::to_string(i) : "");
  unsigned threads = kernel.threads(),
           most = llvm::bit_ceil(std::min<uint64_t>(points, threads)),
           lanes = std::min(threads / most,
                            unsigned(llvm::bit_ceil(kernel.splits()))),
           slots = threads / lanes;
  std::string type = e.scope.type().str();
  out.line("const unsigned lane = threadIdx.x % " + Twine(lanes) +
           "u, slot = threadIdx.x / " + Twine(lanes) + "u;");
  e.open("for (" + type + " p = slot; p < " +
         e.scope.number(llvm::alignTo(points, slots)) +
         "; p += " + Twine(slots) + "u)");
  locate("p", parallelDims());
  bool ragged = declareInside(points, slots);
  declareState();
  out.directive("#pragma unroll 4");
  std::string end = std::to_string(kernel.splits()) + "u";
  if (ragged)
    end = "(inside ? " + end + " : 0u)";
  e.open("for (unsigned s = lane; s < " + end + "; s += " + Twine(lanes) +
         "u)");
  for (auto [i, sum] : llvm::enumerate(names))
    out.line(sum + " = " + mergeName() + "(" + sum +
             ", reinterpret_cast<const " + state + " *>(parts + s * " + bytes +
             "ull)[" + place(i, "p") + "]);");
  e.close();
  if (lanes > 1)
    combine(lanes, slots, /*inner=*/true);
  openForResult(ragged, lanes);
  storeResults(finish(stateResults(0)));
  e.close();
  e.close();
  e.close();
}

} // namespace dl::cuda
