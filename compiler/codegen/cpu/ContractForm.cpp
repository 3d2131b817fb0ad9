#include "compiler/codegen/cpu/ContractForm.h"

using namespace mlir;

namespace dl::codegen {

LogicalResult addLinear(AffineExpr expr, int64_t factor,
                        MutableArrayRef<int64_t> coefficients,
                        int64_t &constant) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    constant += factor * number.getValue();
    return success();
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += factor;
    return success();
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  if (expr.getKind() == AffineExprKind::Add)
    return success(succeeded(addLinear(lhs, factor, coefficients, constant)) &&
                   succeeded(addLinear(rhs, factor, coefficients, constant)));
  if (expr.getKind() == AffineExprKind::Mul)
    if (auto by = dyn_cast<AffineConstantExpr>(rhs))
      return addLinear(lhs, factor * by.getValue(), coefficients, constant);
  return failure();
}

static SmallVector<int64_t, 6> placedStrides(const KernelPlan &plan, Value v) {
  const ValuePlacement &placement = plan.placements.find(v)->second;
  return placement.strides.empty() ? stridesOf(plan.shapeOf(v))
                                   : placement.strides;
}

static InFlightDiagnostic notLinear(Operation *op, AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream(text) << expr;
  return op->emitOpError("reads an operand at ")
         << text << ", which is not linear: no strategy for products has that";
}

static FailureOr<ContractForm::Side>
makeSide(const KernelPlan &plan, const Stage &stage, unsigned operand) {
  const graph::LoopNest &loops = plan.nest(stage.op);
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < loops.extents.size(); ++d)
    dims.push_back(getAffineDimExpr(d, stage.op->getContext()));
  ContractForm::Side side;
  auto index = accessAt(loops.accesses[operand], dims);
  side.index.assign(index.begin(), index.end());
  side.leaf = plan.viewedLeaf(stage.op->getOperand(operand), side.index);
  side.coefficients.assign(dims.size(), 0);
  auto strides = placedStrides(plan, side.leaf);
  for (auto [expr, stride] : llvm::zip(side.index, strides))
    if (failed(addLinear(expr, stride, side.coefficients, side.constant)))
      return notLinear(stage.op, expr);
  return side;
}

/// How far the accesses of a convolution leave its operands.
static LogicalResult findBorders(const KernelPlan &plan, Operation *op,
                                 ContractForm &form) {
  const graph::LoopNest &loops = plan.nest(op);
  for (auto [operand, access] : llvm::zip(op->getOperands(), loops.accesses)) {
    if (!access.outside)
      continue;
    auto shape = plan.shapeOf(operand);
    for (auto [expr, extent] : llvm::zip(access.map.getResults(), shape)) {
      SmallVector<int64_t, 8> steps(loops.extents.size(), 0);
      int64_t constant = 0;
      if (failed(addLinear(expr, 1, steps, constant)))
        return notLinear(op, expr);
      ContractForm::Border border{0, 0, 0, 0, constant, extent};
      int64_t low = constant, high = constant;
      for (auto [d, step] : llvm::enumerate(steps)) {
        (step < 0 ? low : high) += step * (loops.extents[d] - 1);
        if (step == 0)
          continue;
        if (d < loops.numParallel)
          border.parallel = d, border.step = step;
        else
          border.k = d, border.kStep = step;
      }
      if (low < 0 || high >= extent)
        form.borders.push_back(border);
    }
  }
  return success();
}

/// k steps of so many bytes in the lane operand leave much of it to fetch.
static constexpr int64_t kFarStep = 512;
/// 128 k of a panel of 64 floats are 32 KiB.
static constexpr int64_t kMaxKBlock = 128;
/// Results from here on are computed in cache blocks: the packed rows of a k
/// block are 3/4 MiB at most, a panel of lanes is 48 KiB.
static constexpr int64_t kLargeResult = 256 * 256;
static constexpr int64_t kPackedRowBytes = 1536;
static constexpr int64_t kMinBlockRows = 8, kMaxBlockRows = 512;
/// A narrow product moves so many times fewer elements than one that would be
/// computed in cache blocks.
static constexpr double kNarrowGain = 2;
/// Its lanes are packed for the second-level cache.
static constexpr double kMaxNarrowBytes = 512 << 10;
/// Of a panel of it.
static constexpr int64_t kMaxNarrowVectors = 3;
/// So many taps of a filter row are the columns of a register tile on each
/// instruction set. Others would be cut anywhere, each panel with its own code.
static constexpr int64_t kMaxRun = 7;
/// Vectors along k beside which the sum of their lanes costs little.
static constexpr int64_t kManyK = 64;
/// Rows of a tile of the dot form, about, and what they may have of a k block.
static constexpr int64_t kDotRows = 8, kDotBlockBytes = 32 << 10;
/// More vectors of a row than this are several panels.
static constexpr int64_t kMaxVectors = 6;

namespace {
struct Candidate {
  ContractForm form;
  double score = -1;
  bool scattered = false; // results are stored one by one

  bool operator>(const Candidate &other) const {
    return scattered != other.scattered ? other.scattered : score > other.score;
  }
};
} // namespace

/// Neighbours along d read what one of them reads at another k.
static bool sharesWindows(const ContractForm &form, unsigned d) {
  return llvm::any_of(form.kDims, [&](unsigned k) {
    return form.extents[k] > 1 &&
           form.lane.coefficients[k] == form.lane.coefficients[d];
  });
}

/// Rows and lanes for one choice of the broadcast operand.
static Candidate laneCandidate(const ContractForm &base,
                               ArrayRef<int64_t> resultStrides,
                               unsigned numParallel, bool swap,
                               unsigned lanes) {
  Candidate candidate{base, -1};
  ContractForm &form = candidate.form;
  if (swap)
    std::swap(form.scalar, form.lane);
  int64_t stride = 1;
  SmallVector<unsigned> reversed;
  for (bool grown = true; grown;) {
    grown = false;
    for (unsigned d = numParallel; d-- > 0;) {
      // Long runs of lanes gain nothing from a dim that does not continue them.
      // Nor do they from a dim whose windows share what they read: their runs
      // are computed one after the other while it is in the cache.
      bool continues = stride < 16 * lanes ||
                       (!sharesWindows(form, d) &&
                        form.lane.coefficients[d] ==
                            form.lane.coefficients[reversed.front()] * stride);
      // (A dim that the operand does not have would repeat its lanes.)
      continues &= reversed.empty() || form.lane.coefficients[d] != 0;
      if (resultStrides[d] == stride && form.extents[d] > 1 && continues &&
          !form.isBordered(d) && form.scalar.coefficients[d] == 0 &&
          !llvm::is_contained(reversed, d)) {
        reversed.push_back(d);
        stride *= form.extents[d];
        grown = true;
        break;
      }
    }
  }
  if (reversed.empty()) // all result dims of this operand have extent one
    for (unsigned d = numParallel; d-- > 0;)
      if (form.extents[d] == 1 && form.scalar.coefficients[d] == 0 &&
          !form.isBordered(d) && form.lane.coefficients[d] != 0) {
        reversed.push_back(d);
        break;
      }
  if (reversed.empty()) { // what is innermost in the result belongs to both
                          // operands
    std::optional<unsigned> nearest;
    for (unsigned d = 0; d < numParallel; ++d)
      if (form.extents[d] > 1 && !form.isBordered(d) &&
          form.scalar.coefficients[d] == 0 && form.lane.coefficients[d] != 0 &&
          (!nearest || resultStrides[d] < resultStrides[*nearest]))
        nearest = d;
    if (!nearest)
      return candidate;
    reversed.push_back(*nearest);
    candidate.scattered = true;
  }
  form.laneDims.assign(reversed.rbegin(), reversed.rend());
  for (unsigned d = 0; d < numParallel; ++d) {
    if (llvm::is_contained(form.laneDims, d))
      continue;
    bool isRow =
        form.lane.coefficients[d] == 0 && form.scalar.coefficients[d] != 0;
    if (isRow &&
        (form.rowDim < 0 || form.extents[d] > form.extents[form.rowDim]))
      form.rowDim = d;
  }
  for (unsigned d = 0; d < numParallel; ++d)
    if (!llvm::is_contained(form.laneDims, d) && int(d) != form.rowDim)
      form.batchDims.push_back(d);
  double count = form.laneCount(), rows = form.rows();
  double used = count / llvm::alignTo(uint64_t(count), lanes);
  bool unit = form.lane.coefficients[form.laneDims.back()] == 1 ||
              form.extents[form.laneDims.back()] == 1;
  form.pack = !unit;
  if (form.pack && !form.borders.empty())
    return candidate; // copies would read outside
  candidate.score =
      used * (rows / (rows + 1)) * (unit ? 1 : rows / (rows + 24));
  return candidate;
}

static Candidate dotCandidate(const ContractForm &base,
                              ArrayRef<int64_t> resultStrides,
                              unsigned numParallel, bool swap, unsigned lanes) {
  Candidate candidate =
      laneCandidate(base, resultStrides, numParallel, swap, lanes);
  ContractForm &form = candidate.form;
  if (candidate.score < 0)
    return candidate;
  candidate.score = -1;
  unsigned k = form.kDims.back();
  // Several dims of columns are worth it where they are no lanes to load.
  if (form.scalar.coefficients[k] != 1 || form.lane.coefficients[k] != 1 ||
      (form.laneDims.size() != 1 && (!form.pack || form.extents[k] < lanes)))
    return candidate;
  if (!form.borders.empty())
    return candidate;
  // With many rows, transposing the lanes once is cheaper than sums of lanes,
  // unless each is one of many k, which all would have to be copied.
  if (form.isLarge() &&
      (form.kDims.size() == 1 || form.kCount() < kManyK * lanes ||
       form.extents[form.laneDims.back()] > kMaxRun))
    return candidate;
  form.dot = true;
  form.pack = false;
  double extent = form.extents[k];
  double steps = double(form.kCount()) / extent *
                 double(llvm::alignTo(uint64_t(extent), lanes)) / lanes;
  candidate.score = double(form.kCount()) / lanes / steps * steps / (steps + 4);
  return candidate;
}

/// Elements between neighbours of each dim of the stored result. Scratch holds
/// a tile, in the order of the whole.
static SmallVector<int64_t, 6> resultStrides(const KernelPlan &plan,
                                             const Stage &stage) {
  Value result = stage.storedOp()->getResult(0);
  if (plan.placements.find(result)->second.kind == ValuePlacement::Scratch)
    return plan.orderedStrides(result);
  return placedStrides(plan, result);
}

/// Whether to take rows for lanes: they have to be transposed, and then the
/// result, but not the lanes, of which there are many more.
static bool isBestNarrow(const ContractForm &form, unsigned lanes) {
  unsigned k = form.kDims.back();
  double rows = form.rows(), width = form.laneCount(), depth = form.kCount();
  double bytes = rows * depth * (64 / lanes);
  return (form.dot || form.pack) && form.kDims.size() == 1 &&
         form.borders.empty() && form.laneDims.size() == 1 &&
         form.lane.coefficients[k] == 1 && rows >= 1.5 * lanes &&
         bytes <= kMaxNarrowBytes && width >= 4 * lanes && depth >= 4 * lanes &&
         (form.isLarge() ? kNarrowGain : 1) * rows * (width + depth) <
             width * depth;
}

FailureOr<ContractForm> ContractForm::create(const KernelPlan &plan,
                                             const Stage &stage) {
  const graph::LoopNest &loops = plan.nest(stage.op);
  ContractForm base;
  base.extents.assign(loops.extents.begin(), loops.extents.end());
  auto left = makeSide(plan, stage, 0), right = makeSide(plan, stage, 1);
  if (failed(left) || failed(right) ||
      failed(findBorders(plan, stage.op, base)))
    return failure();
  base.scalar = *left, base.lane = *right;
  for (unsigned d = loops.numParallel; d < loops.extents.size(); ++d)
    base.kDims.push_back(d);
  auto strides = resultStrides(plan, stage);
  Candidate best;
  for (bool swap : {false, true}) {
    Candidate options[] = {
        laneCandidate(base, strides, loops.numParallel, swap, plan.lanes),
        dotCandidate(base, strides, loops.numParallel, swap, plan.lanes)};
    for (Candidate &option : options)
      if (option.score >= 0 && (best.score < 0 || option > best))
        best = std::move(option);
  }
  if (best.score < 0)
    return stage.op->emitOpError(
        "has no dim for the lanes of its vectors: each one of its result "
        "belongs to both operands, or leaves one of them");
  ContractForm &form = best.form;
  form.kBlock = form.kCount();
  if (isBestNarrow(form, plan.lanes)) {
    form.narrow = form.pack = true, form.dot = false;
    std::swap(form.scalar, form.lane);
    int row = form.rowDim;
    form.rowDim = form.laneDims.front();
    form.laneDims.front() = row;
    return form;
  }
  if (form.dot && form.kDims.size() > 1 && form.laneDims.size() > 1) {
    // All taps that a row tile has use its part of a k block.
    int64_t step = form.kCount() / form.extents[form.kDims.front()];
    int64_t bytes = kDotRows * step * (64 / plan.lanes);
    form.kBlock = std::min(form.kCount(),
                           step * std::max<int64_t>(1, kDotBlockBytes / bytes));
  }
  if (form.dot || form.kDims.size() != 1)
    return form;
  form.blocked =
      form.isLarge() && form.kCount() >= 64 && form.borders.empty() &&
      form.laneDims.size() == 1 &&
      // Few lanes use each row just once, where it is.
      (form.laneCount() > kMaxVectors * plan.lanes || !form.rowsAlongK());
  form.pack |= form.blocked;
  if (form.fetchesLanes(plan.lanes))
    return form;
  // A panel's k block shares the first-level cache with rows and sums.
  int64_t most =
      form.blocked ? kPackedRowBytes / (64 / plan.lanes) : kMaxKBlock;
  if (form.kCount() > most * 3 / 2 || (form.blocked && form.kCount() > most)) {
    int64_t blocks = (form.kCount() + most - 1) / most;
    form.kBlock = llvm::alignTo((form.kCount() + blocks - 1) / blocks,
                                form.blocked ? plan.lanes : 8);
  }
  return form;
}

int64_t ContractForm::laneCount() const {
  int64_t count = 1;
  for (unsigned d : laneDims)
    count *= extents[d];
  return count;
}

int64_t ContractForm::kCount() const {
  int64_t count = 1;
  for (unsigned d : kDims)
    count *= extents[d];
  return count;
}

int64_t ContractForm::laneOffset(int64_t flat) const {
  int64_t offset = 0;
  for (size_t i = laneDims.size(); i-- > 0;) {
    int64_t extent = extents[laneDims[i]];
    int64_t index = i == 0 ? flat : flat % extent;
    offset += index * lane.coefficients[laneDims[i]];
    flat /= extent;
  }
  return offset;
}

SmallVector<int64_t> ContractForm::tileSteps(const KernelPlan &plan) const {
  SmallVector<int64_t> steps(plan.gridExtents.size(), 1);
  bool large = isLarge();
  if (rowDim >= 0)
    steps[rowDim] = blocked ? blockRows() : large ? 256 : 24;
  int64_t inner = laneCount() / extents[laneDims.front()];
  int64_t wanted = blocked ? 16 * plan.lanes : large ? 512 : 64;
  if (dot) {
    // Whole register tiles of the widest instruction set, and equal parts.
    wanted = 16;
    RegisterTile tile = RegisterTile::chooseDot(*this, rows(), laneCount(),
                                                plan.lanes, Registers{32, 1});
    if (rowDim >= 0)
      steps[rowDim] = std::max<int64_t>(1, kDotRows / tile.rows) * tile.rows;
  }
  // Only the outermost lane dim can be cut; a convolution's image stays whole.
  steps[laneDims.front()] = llvm::divideCeil(wanted, inner);
  if (dot) {
    int64_t extent = extents[laneDims.front()];
    int64_t parts = llvm::divideCeil(extent, steps[laneDims.front()]);
    steps[laneDims.front()] = llvm::divideCeil(extent, parts);
  }
  for (unsigned d : ArrayRef(laneDims).drop_front())
    steps[d] = extents[d];
  if (narrow) // all rows of a call share the packed lanes
    steps[rowDim] = 4 * plan.lanes, steps[laneDims.front()] = laneCount();
  return steps;
}

int64_t ContractForm::tileLanes(const KernelPlan &plan) const {
  int64_t count = 1;
  for (unsigned d : laneDims)
    count *= plan.tileSizes[d];
  return count;
}

bool ContractForm::isLarge() const {
  return rows() >= kMinBlockRows && rows() * laneCount() >= kLargeResult;
}

bool ContractForm::fetchesLanes(unsigned lanesPerVector) const {
  return !dot && !pack && kDims.size() == 1 &&
         lane.coefficients[kDims[0]] * (64 / lanesPerVector) >= kFarStep;
}

int64_t ContractForm::blockRows() const {
  int64_t blocks = llvm::divideCeil(rows(), kMaxBlockRows);
  return llvm::divideCeil(rows(), blocks);
}

bool ContractForm::rowsAlongK() const {
  return scalar.coefficients[kDims.back()] == 1;
}

int64_t ContractForm::tileRows(const KernelPlan &plan) const {
  return rowDim < 0 ? 1 : plan.tileSizes[rowDim];
}

ContractForm::Scratch ContractForm::scratch(const KernelPlan &plan) const {
  Scratch scratch;
  int64_t element = plan.lanes == 8 ? 8 : 4;
  auto reserve = [&](int64_t elements) {
    int64_t at = scratch.bytes;
    scratch.bytes += llvm::alignTo(elements * element + 64, 64);
    return at;
  };
  // (The dot form has a vector of sums for each of its columns.)
  scratch.sumStride = dot ? tileLanes(plan) * plan.lanes
                          : llvm::alignTo(tileLanes(plan), plan.lanes);
  if (narrow) {
    scratch.sumStride = kMaxNarrowVectors * plan.lanes;
    reserve(kBlock * llvm::alignTo(laneCount(), plan.lanes));
    scratch.sumsAt = reserve(plan.lanes * scratch.sumStride);
    scratch.transposedAt = reserve(scratch.sumStride * plan.lanes);
    return scratch;
  }
  int64_t rows = tileRows(plan), panels = kBlock * scratch.sumStride;
  if (blocked) {
    // A call may compute several tiles that are neighbours along the lanes. One
    // vector more than needed: strides of a power of two share cache sets.
    int64_t lanes = std::min(blockLanes(plan), laneCount());
    scratch.sumStride = llvm::alignTo(lanes, plan.lanes) + plan.lanes;
    rows = std::min(blockRows(), rows);
    panels = kBlock * 2 * plan.lanes;
  }
  if (pack)
    reserve(panels);
  if (blocked)
    scratch.rowsAt = reserve(rows * kBlock + plan.lanes);
  if (kBlock < kCount())
    scratch.sumsAt = reserve(rows * scratch.sumStride);
  return scratch;
}

/// Of how many runs of neighbours a vector of unpacked lanes is made, on
/// average: each is a load, and all but the first are blended.
static double runsOf(const ContractForm &form, int64_t lanes, int64_t width) {
  if (form.pack || form.dot)
    return 1;
  int64_t counted = std::min<int64_t>(lanes, 16 * width), runs = 0;
  for (int64_t l = 0; l < counted; ++l)
    runs += l % width == 0 || form.laneOffset(l) != form.laneOffset(l - 1) + 1;
  return double(runs) / double(llvm::divideCeil(counted, width));
}

RegisterTile RegisterTile::choose(const ContractForm &form, int64_t rows,
                                  int64_t lanes, unsigned lanesPerVector,
                                  Registers registers) {
  RegisterTile best{1, 1};
  double bestCost = 1e300;
  int64_t vectors = (lanes + lanesPerVector - 1) / lanesPerVector;
  double runs = runsOf(form, lanes, lanesPerVector);
  for (int nv = 1; nv <= kMaxVectors && nv <= vectors; ++nv) {
    if (nv > 4 && nv != vectors)
      continue;
    // Beside the sums: the vectors of one k and a broadcast, and some for lanes
    // that are blended of runs.
    int wide = nv * registers.perVector;
    int free = std::min(registers.count - wide - 1, registers.count * 3 / 4);
    int maxRows = std::min<int64_t>({free / wide, 14, rows});
    if (maxRows < 1)
      continue;
    int64_t panels = (vectors + nv - 1) / nv;
    int64_t blocks = (rows + maxRows - 1) / maxRows;
    double loaded = double(blocks) * vectors;
    double loads = loaded * runs + double(panels) * rows;
    double chains = maxRows * nv < 8 ? 8.0 / (maxRows * nv) : 1;
    double cost =
        double(rows) * vectors * chains + loaded * (runs - 1) + 0.6 * loads;
    if (cost < bestCost - 1e-9)
      bestCost = cost, best = {maxRows, nv};
  }
  return best;
}

RegisterTile RegisterTile::chooseNarrow(int64_t lanes, unsigned lanesPerVector,
                                        Registers registers) {
  // Rows are a part of a square that is transposed.
  int64_t vectors = llvm::divideCeil(lanes, lanesPerVector);
  if (registers.perVector > 1)
    return {4, 1};
  if (vectors == 1)
    return {16, 1};
  return {8, vectors == kMaxNarrowVectors ? 3 : 2};
}

RegisterTile RegisterTile::chooseDot(const ContractForm &form, int64_t rows,
                                     int64_t columns, unsigned lanesPerVector,
                                     Registers registers) {
  // Rows are held and columns pass by, or the other way round; halves of
  // logical vectors one after the other.
  auto fits = [&](int64_t r, int64_t c) {
    return r * c * registers.perVector + std::min(r, c) < registers.count;
  };
  // Columns of one panel are neighbours: the taps of one row of a filter.
  int64_t run = form.extents[form.laneDims.back()];
  if (form.laneDims.size() > 1 && run <= lanesPerVector &&
      (fits(2, run) || run <= kMaxRun)) {
    int64_t high = 1;
    while (high < rows && fits(high + 1, run))
      ++high;
    return {int(high), int(run)};
  }
  int64_t high = std::min<int64_t>(rows, registers.perVector > 1 ? 2 : 4);
  int64_t wide = 1;
  while (wide < std::min<int64_t>(columns, 6) && fits(high, wide + 1))
    ++wide;
  return {int(high), int(wide)};
}

} // namespace dl::codegen
