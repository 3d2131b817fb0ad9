#include "compiler/codegen/cuda/StageSource.h"
#include "compiler/codegen/cuda/PayloadText.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::Twine;

namespace dl::cuda {

StageSource::StageSource(RegionText &region, const Stage &stage)
    : e(region), out(region.out), stage(stage),
      nest(region.kernel.nest(stage.op)), results(stage.results()),
      dims(nest.extents.size(), region.scope.constant(0)) {}

SmallVector<unsigned> StageSource::parallelDims() const {
  return e.kernel.loopOrder(stage);
}

int64_t StageSource::count(ArrayRef<unsigned> along) const {
  int64_t points = 1;
  for (unsigned d : along)
    points *= e.kernel.tileExtent(stage, d);
  return points;
}

void StageSource::locate(StringRef point, ArrayRef<unsigned> along,
                         unsigned vector) {
  near = {};
  int64_t inner = 1; // points of the dims behind
  auto parts = e.kernel.parts(stage);
  std::optional<unsigned> last;
  for (unsigned d : along)
    if (e.kernel.tileExtent(stage, d) > 1)
      last = d;
  int64_t all = count(along) / vector;
  for (unsigned d : llvm::reverse(along)) {
    int64_t extent = e.kernel.tileExtent(stage, d);
    AffineExpr origin = e.originOf(parts[d]);
    if (extent == 1) {
      dims[d] = origin;
      continue;
    }
    if (d == last)
      extent /= vector;
    std::string name = point.str();
    if (extent < all) { // else it is the point's number
      name = out.fresh("i");
      std::string text = point.str();
      if (inner > 1)
        text += " / " + e.scope.number(inner);
      if (inner * extent < all)
        text += " % " + e.scope.number(extent);
      out.line("const " + e.scope.type() + " " + name + " = " + text + ";");
    }
    inner *= extent;
    AffineExpr number = e.scope.addDim(name, 0, extent - 1);
    if (d == last && vector > 1) {
      near = {d, origin + number * int64_t(vector), number};
      dims[d] = near.start;
    } else {
      dims[d] = origin + number;
    }
  }
  setNeighbours(near);
}

void StageSource::setNeighbours(const Neighbours &neighbours) {
  near = neighbours;
  e.vectorNumber = near.number;
}

void StageSource::moveTo(unsigned neighbour) {
  if (near.dim)
    dims[*near.dim] = near.start + int64_t(neighbour);
}

std::string StageSource::insideTensor(ArrayRef<unsigned> along) const {
  std::string condition;
  for (unsigned d : along)
    if (e.scope.range(dims[d]).second >= nest.extents[d])
      condition += (condition.empty() ? "" : " && ") + e.scope.text(dims[d]) +
                   " < " + e.scope.number(nest.extents[d]);
  return condition;
}

void StageSource::forEachPoint(ArrayRef<unsigned> along, unsigned vector,
                               Body body) {
  int64_t all = count(along) / vector, threads = e.kernel.threads();
  point = out.fresh("p");
  std::string type = e.scope.type().str();
  if (all > threads) {
    e.open("for (" + type + " " + point + " = threadIdx.x; " + point + " < " +
           e.scope.number(all) + "; " + point +
           " += " + e.scope.number(threads) + ")");
  } else {
    e.open(all == threads ? Twine()
                          : "if (threadIdx.x < " + e.scope.number(all) + ")");
    out.line("const " + type + " " + point + " = threadIdx.x;");
  }
  locate(point, along, vector);
  std::string inside = insideTensor(along);
  if (!inside.empty())
    e.open("if (" + inside + ")");
  body();
  if (!inside.empty())
    e.close();
  e.close();
}

Names StageSource::finish(ArrayRef<std::string> contents) {
  Names all;
  SmallVector<OpResult> made(stage.op->getResults());
  for (Operation *sum : stage.sumsBeside)
    made.push_back(sum->getResult(0));
  for (auto [result, content] : llvm::zip(made, contents))
    e.seed(result, content);
  if (!stage.epilogue)
    all.append(contents.begin(), contents.end());
  SmallVector<Operation *> next(stage.followers);
  if (stage.epilogue)
    next.insert(next.begin(), stage.epilogue);
  for (Operation *op : next)
    for (auto [result, content] :
         llvm::zip(op->getResults(), e.evaluatePayload(op, resultIndex()))) {
      e.seed(result, content);
      all.push_back(content);
    }
  return all;
}

void StageSource::storeResults(ArrayRef<std::string> contents) {
  for (auto [result, content] : llvm::zip(results, contents))
    if (e.kernel.isPlaced(result))
      e.store(result, resultIndex(), content);
}

/// Neighbours that a thread takes: 16 bytes of what is stored. What is read may
/// be wider; it takes several loads then.
unsigned MapSource::chooseVector() const {
  std::optional<unsigned> inner;
  for (unsigned d : parallelDims())
    if (e.kernel.tileExtent(stage, d) > 1)
      inner = d;
  if (!inner || llvm::range_size(e.kernel.ops()) > 48)
    return 1;
  int64_t bytes = 4;
  for (OpResult result : results) {
    if (!e.kernel.isPlaced(result))
      continue;
    if (e.kernel.strides(result)[*inner] != 1)
      return 1;
    bytes = std::max(
        bytes, graph::elementBytes(
                   cast<RankedTensorType>(result.getType()).getElementType()));
  }
  unsigned vector = std::clamp<int64_t>(kVectorBytes / bytes, 1, 4);
  // Half of the threads at least have something to do.
  int64_t points = 2 * e.kernel.tilePoints(stage);
  while (vector > 1 && (e.kernel.tileExtent(stage, *inner) % vector != 0 ||
                        nest.extents[*inner] % vector != 0 ||
                        points < vector * int64_t(e.kernel.threads())))
    vector /= 2;
  return vector;
}

void MapSource::write() {
  unsigned vector = chooseVector();
  forEachPoint(parallelDims(), vector, [&] {
    e.vector = vector;
    SmallVector<SmallVector<AffineExpr>> indices;
    SmallVector<Names> contents(results.size());
    for (unsigned l = 0; l < vector; ++l) {
      moveTo(l);
      indices.emplace_back(resultIndex());
      Names made = finish(e.evaluatePayload(stage.op, dims));
      for (auto [list, name] : llvm::zip(contents, made))
        list.push_back(name);
    }
    for (auto [result, list] : llvm::zip(results, contents))
      if (e.kernel.isPlaced(result))
        e.store(result, indices, list);
    e.vector = 1;
  });
}

} // namespace dl::cuda
