#include "compiler/codegen/cuda/KernelSource.h"
#include "compiler/codegen/cuda/ContractSource.h"
#include "compiler/codegen/cuda/PayloadText.h"
#include "compiler/codegen/cuda/StageSource.h"
#include "dialects/graph/SourceLine.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using llvm::Twine;

namespace dl::cuda {
namespace {

Type elementType(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

std::string shapeText(Value value) {
  std::string text = "[";
  for (int64_t extent : cast<RankedTensorType>(value.getType()).getShape())
    text += (text.size() > 1 ? "," : "") + std::to_string(extent);
  return text + "]";
}

class Writer {
public:
  Writer(const BlockKernel &kernel, PayloadCache &payloads, Room room)
      : kernel(kernel), room(room), region(kernel, payloads, out) {}

  KernelText write() {
    comment();
    signature();
    offsets();
    memory();
    if (!kernel.contractForm())
      locateTile();
    if (const auto &order = kernel.columnPasses())
      writePasses(*order);
    else
      writeStages(llvm::to_vector(llvm::seq(kernel.stages().size())));
    out.close();
    return {out.str(), std::move(region.definitions)};
  }

private:
  void comment() {
    for (Operation &op : kernel.ops()) {
      graph::SourceLine source = graph::sourceLineOf(op.getLoc());
      std::string line = llvm::sys::path::filename(source.lineText()).str();
      out.line("// " + op.getName().stripDialect() + " " +
               shapeText(op.getResult(0)) +
               (source.module.empty() ? Twine() : ", " + source.module) +
               (line.empty() ? Twine() : ", " + line));
    }
  }

  bool isReplaced(unsigned operand) const {
    auto inplace = kernel.op().getInplace();
    return inplace && llvm::is_contained(*inplace, int64_t(operand));
  }

  void signature() {
    SmallVector<std::string> parameters;
    for (BlockArgument operand : kernel.block().getArguments()) {
      unsigned number = operand.getArgNumber();
      parameters.push_back("const " + memoryType(elementType(operand)) + " *" +
                           (isReplaced(number) ? "" : "__restrict__ ") + "a" +
                           std::to_string(number));
    }
    for (auto [number, result] :
         llvm::enumerate(kernel.block().getTerminator()->getOperands())) {
      auto inplace = kernel.op().getInplace();
      bool replaces = inplace && (*inplace)[number] >= 0;
      parameters.push_back(memoryType(elementType(result)) + " *" +
                           (replaces ? "" : "__restrict__ ") + "r" +
                           std::to_string(number));
    }
    if (kernel.workspaceBytes() > 0)
      parameters.push_back("unsigned char *__restrict__ workspace");
    for (unsigned number = 0; number < kernel.numConstants(); ++number)
      parameters.push_back("long long c" + std::to_string(number));
    if (kernel.counterBytes() > 0)
      parameters.push_back("unsigned *__restrict__ counters");
    // So many blocks are to fit into a processor. Said for one, too: ptxas
    // aims at more otherwise, and spills.
    out.line("extern \"C\" __global__ void __launch_bounds__(" +
             Twine(kernel.threads()) + ", " + Twine(blocksAtOnce()) + ")");
    out.open(kernel.op().getName() + "(" + llvm::join(parameters, ", ") + ")");
  }

  unsigned blocksAtOnce() const {
    return room == Room::Shared ? kernel.blocksAtOnce() : 1;
  }

  /// Where slices begin.
  void offsets() {
    for (auto &[value, placement] : kernel.placements())
      for (auto [constant, stride] : placement.offsets)
        out.line(region.pointer(value) + " += c" + Twine(constant) + " * " +
                 Twine(stride) + "ll;");
  }

  void memory() {
    if (kernel.sharedBytes() > 0)
      out.line("extern __shared__ unsigned char shared[];");
    if (kernel.contractForm()) {
      // It finds its own place.
    } else if (kernel.splits() > 1) {
      std::string splits = std::to_string(kernel.splits()) + "u";
      out.line("const unsigned tile = blockIdx.x / " + splits +
               ", split = blockIdx.x % " + splits + ";");
      out.line("unsigned *counter = counters + tile;");
      out.line("unsigned char *part = workspace + blockIdx.x * " +
               Twine(kernel.partBytes()) + "ull;");
    } else if (kernel.tiles() > 1) {
      out.line("const unsigned tile = blockIdx.x;");
    }
    for (auto &[value, placement] : kernel.placements()) {
      if (!kernel.isTileLocal(value))
        continue;
      std::string at = std::to_string(kernel.scratchOffset(value));
      std::string from = kernel.scratchIsShared()
                             ? "shared + " + at
                             : "workspace + blockIdx.x * " +
                                   std::to_string(kernel.valueBytes()) +
                                   "ull + " + at;
      std::string type = memoryType(elementType(value));
      out.line(type + " *" + region.pointer(value) + " = reinterpret_cast<" +
               type + " *>(" + from + ");");
    }
  }

  void locateTile() {
    std::string rest = "tile";
    int64_t inner = 1, all = kernel.tiles();
    SmallVector<AffineExpr> numbers;
    for (size_t g = kernel.grid().size(); g-- > 0;) {
      int64_t parts =
          llvm::divideCeil(kernel.grid()[g].extent, kernel.tileSizes()[g]);
      if (parts == 1 || g == kernel.streamed()) {
        numbers.push_back(region.scope.constant(0));
        continue;
      }
      std::string name = "t" + std::to_string(g);
      std::string text = "tile";
      if (inner > 1)
        text += " / " + region.scope.number(inner);
      if (inner * parts < all)
        text += " % " + region.scope.number(parts);
      inner *= parts;
      out.line("const " + region.scope.type() + " " + name + " = " + text +
               ";");
      numbers.push_back(region.scope.addDim(name, 0, parts - 1));
    }
    region.tileNumbers.assign(numbers.rbegin(), numbers.rend());
  }

  void writeStages(ArrayRef<size_t> numbers) {
    for (size_t number : numbers) {
      if (hasStages)
        out.line("__syncthreads();");
      hasStages = true;
      writeStage(kernel.stages()[number]);
    }
  }

  /// Once for each pass columns come block by block.
  void writePasses(const ColumnPasses &order) {
    writeStages(order.before);
    for (const Stage &stage : kernel.stages())
      if (const ContractForm *form = kernel.productOf(stage))
        ContractSource(region, stage, *form).writeKept();
    for (const ColumnPasses::Pass &pass : order.passes) {
      hasStages = true; // of the block before
      std::string name = out.fresh("block");
      int64_t count = kernel.columnBlocks();
      auto [first, end] = seenBlocks(pass.seen, name, count);
      region.open("for (" + region.scope.type() + " " + name + " = " + first +
                  "; " + name + " < " + end + "; ++" + name + ")");
      region.tileNumbers[*kernel.streamed()] =
          region.scope.addDim(name, 0, count - 1);
      region.hasTotal = name + " > " + first;
      writeStages(pass.each);
      region.close();
      writeStages(pass.after);
    }
  }

  /// From which block of columns on, and up to which, the tile's rows see any.
  std::pair<std::string, std::string>
  seenBlocks(const kernel::SeenColumns &seen, const std::string &block,
             int64_t count) {
    std::string blocks = std::to_string(count) + "u",
                first = region.scope.number(0),
                end = region.scope.number(count);
    if (!seen.first && !seen.last)
      return {first, end};
    int64_t size = kernel.tileSizes()[*kernel.streamed()];
    AffineExpr begin = region.originOf({seen.row});
    auto blockOf = [&](AffineExpr column, const std::string &blocks) {
      // (What is less than zero has wrapped.)
      return std::string("blockOf(") +
             (region.scope.type() == "unsigned" ? "(int)(" : "(long long)(") +
             region.scope.text(column) + "), " + std::to_string(size) + "u, " +
             blocks + ")";
    };
    auto declare = [&](const char *what, const std::string &content) {
      std::string name = block + what;
      out.line("const " + region.scope.type() + " " + name + " = " + content +
               ";");
      return name;
    };
    if (seen.last) {
      int64_t rows = kernel.tileSizes()[seen.row];
      end = declare("End",
                    blockOf(begin + (rows - 1 + *seen.last), blocks) + " + 1u");
    }
    if (seen.first)
      first = declare("First", blockOf(begin + *seen.first, end));
    return {first, end};
  }

  void writeStage(const Stage &stage) {
    if (const ContractForm *form = kernel.productOf(stage))
      ContractSource(region, stage, *form).write();
    else if (kernel.nest(stage.op).scatter)
      ScatterSource(region, stage).write();
    else if (stage.sequential)
      SequentialSource(region, stage).write();
    else if (kernel.nest(stage.op).combine == graph::Combine::None)
      MapSource(region, stage).write();
    else
      ReductionSource(region, stage).write();
  }

  const BlockKernel &kernel;
  Room room;
  bool hasStages = false;
  SourceText out;
  RegionText region;
};

} // namespace

KernelText kernelSource(const BlockKernel &kernel, PayloadCache &payloads,
                        Room room) {
  return Writer(kernel, payloads, room).write();
}

} // namespace dl::cuda
