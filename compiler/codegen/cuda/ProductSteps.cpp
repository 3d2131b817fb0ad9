// How steps of a product come to shared memory, and when.
#include "compiler/codegen/cuda/ContractSource.h"
#include "dialects/graph/Check.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::Twine;

namespace dl::cuda {

ContractSource::Places
ContractSource::locateReads(const ContractForm::Side &side, StringRef origin) {
  Places places;
  unsigned along = (side.alongSums ? form.step : side.tile) / side.vector;
  unsigned across = form.threads() / along;
  std::string fast = "threadIdx.x % " + std::to_string(along) + "u",
              slow = "threadIdx.x / " + std::to_string(along) + "u";
  std::string vector = std::to_string(side.vector) + "u";
  std::string type = e.scope.type().str();
  for (unsigned i = 0; i < passes(side); ++i) {
    Place place;
    std::string moved = i == 0 ? "" : " + " + std::to_string(i * across) + "u";
    std::string inFast = side.vector == 1 ? fast : fast + " * " + vector;
    place.inTile = side.alongSums ? slow + moved : inFast;
    place.inStep = side.alongSums ? inFast : slow + moved;
    if (i == 0 || side.alongSums) {
      // The number of a vector where vectors lie along the side.
      unsigned unit = side.alongSums ? 1 : side.vector;
      std::string name = out.fresh("at");
      out.line("const " + type + " " + name + " = " +
               (unit == 1 ? origin.str() + " + " + place.inTile
                          : origin.str() + " / " + vector + " + " + fast) +
               ";");
      SmallVector<std::string, 2> inside;
      if (side.extent % side.tile != 0)
        inside.push_back(name + " < " + e.scope.number(side.extent / unit));
      locate(name, side.dims, unit);
      if (std::string condition = insideTensor(side.dims); !condition.empty())
        inside.push_back(condition);
      place.inside = llvm::join(inside, " && ");
      for (unsigned d : side.dims)
        place.side.push_back(dims[d]);
      place.neighbours = neighbours();
    } else {
      place.inside = places.front().inside;
      place.side = places.front().side;
      place.neighbours = places.front().neighbours;
    }
    places.push_back(place);
  }
  return places;
}

std::string ContractSource::inMemory(const ContractForm::Side &side,
                                     const Place &place,
                                     StringRef memory) const {
  StringRef row = place.inStep, column = place.inTile;
  if (form.keepsRows(side))
    std::swap(row, column);
  return (memory + " + (" + row + ") * " + Twine(form.pitch(side)) + "u + " +
          column)
      .str();
}

/// (Whatever is plain lies at such multiples.)
void ContractSource::copyLater(const ContractForm::Side &side,
                               const Place &place, StringRef memory,
                               ArrayRef<std::string> conditions) {
  if (!side.alongSums)
    setNeighbours(place.neighbours);
  moveTo(0);
  e.vector = side.vector;
  std::string from = e.addressOf(stage.op, side.operand, dims);
  e.vector = 1;
  DL_CHECK(!from.empty(), "a plain operand has addresses");
  out.line("copyLater(" + inMemory(side, place, memory) + ", " + from + ", " +
           (conditions.empty() ? "true" : llvm::join(conditions, " && ")) +
           ");");
}

void ContractSource::readStep(const ContractForm::Side &side,
                              const Places &places, StringRef registers,
                              StringRef memory) {
  std::string type = e.scope.type().str();
  for (auto [i, place] : llvm::enumerate(places)) {
    std::string k = out.fresh("k");
    unsigned unit = side.alongSums ? side.vector : 1;
    e.open("");
    std::string at = "k0 + " + place.inStep;
    out.line("const " + type + " " + k + " = " +
             (unit == 1 ? at : "(" + at + ") / " + std::to_string(unit) + "u") +
             ";");
    SmallVector<std::string> conditions;
    if (!place.inside.empty())
      conditions.push_back(place.inside);
    // Steps behind the last one are read, too.
    if (!form.isOneStep() || form.sumExtent % form.step != 0)
      conditions.push_back(k + " < " + e.scope.number(form.sumExtent / unit));
    auto slot = [&](unsigned l) {
      return registers.str() + "[" + std::to_string(i * wordsOf(side) + l) +
             "]";
    };
    locate(k, form.sums, unit);
    if (std::string inside = insideTensor(form.sums); !inside.empty())
      conditions.push_back(inside);
    for (auto [d, index] : llvm::zip(side.dims, place.side))
      dims[d] = index;
    // The same for all neighbours, which are inside together.
    auto borders = e.bordersOf(stage.op, side.operand, dims);
    llvm::append_range(conditions, borders);
    if (!memory.empty()) {
      copyLater(side, place, memory, conditions);
      e.close();
      continue;
    }
    if (!conditions.empty())
      for (unsigned l = 0; l < wordsOf(side); ++l)
        out.line(slot(l) + " = 0;");
    e.open(conditions.empty() ? ""
                              : "if (" + llvm::join(conditions, " && ") + ")");
    e.assume(borders);
    if (!side.alongSums)
      setNeighbours(place.neighbours);
    e.vector = side.vector;
    e.keepsNarrow = form.isNarrow;
    std::string before;
    for (unsigned l = 0; l < side.vector; ++l) {
      moveTo(l);
      std::string content = e.evaluateOperand(stage.op, side.operand, dims);
      if (!form.isNarrow || side.vector == 1)
        out.line(slot(l) + " = " + content + ";");
      else if (l % 2 == 1)
        out.line(slot(l / 2) + " = joined(" + before + ", " + content + ");");
      before = content;
    }
    e.vector = 1;
    e.keepsNarrow = false;
    e.close();
    e.close();
  }
}

void ContractSource::keepStep(const ContractForm::Side &side,
                              const Places &places, StringRef registers,
                              StringRef memory) {
  if (form.isNarrow)
    return keepNarrowStep(side, places, registers, memory);
  std::string pitch = std::to_string(form.pitch(side)) + "u";
  bool keepsRows = form.keepsRows(side);
  for (auto [i, place] : llvm::enumerate(places)) {
    auto slot = [&](unsigned l) {
      std::string name =
          registers.str() + "[" + std::to_string(i * side.vector + l) + "]";
      return form.tensorCores ? "roundToTf32(" + name + ")" : name;
    };
    std::string to =
        keepsRows
            ? memory.str() + " + (" + place.inTile + ") * " + pitch + " + " +
                  groupOf(place.inStep,
                          form.exchanged("(" + place.inTile + ")")) +
                  (side.vector == 4 ? "" : " + (" + place.inStep + ") % 4u")
            : memory.str() + " + (" + place.inStep + ") * " + pitch + " + " +
                  place.inTile;
    if (side.vector == 1) {
      out.line("(" + to + ")[0] = " + slot(0) + ";");
    } else if (side.alongSums && !keepsRows) {
      for (unsigned l = 0; l < side.vector; ++l)
        out.line("(" + to + ")[" + Twine(l) + "u * " + pitch +
                 "] = " + slot(l) + ";");
    } else {
      std::string list = slot(0);
      for (unsigned l = 1; l < side.vector; ++l)
        list += ", " + slot(l);
      out.line("store(" + to + ", Vec<" + element + ", " + Twine(side.vector) +
               ">{{" + list + "}});");
    }
  }
}

/// As it was read: along the sums or along the side.
void ContractSource::keepNarrowStep(const ContractForm::Side &side,
                                    const Places &places, StringRef registers,
                                    StringRef memory) {
  for (auto [i, place] : llvm::enumerate(places)) {
    std::string to = inMemory(side, place, memory);
    unsigned words = wordsOf(side);
    auto slot = [&](unsigned w) {
      return (registers + "[" + Twine(i * words + w) + "]").str();
    };
    if (side.vector == 1) {
      out.line("(" + to + ")[0] = (unsigned short)" + slot(0) + ";");
      continue;
    }
    std::string list = slot(0);
    for (unsigned w = 1; w < words; ++w)
      list += ", " + slot(w);
    out.line("store(reinterpret_cast<unsigned *>(" + to + "), Vec<unsigned, " +
             Twine(words) + ">{{" + list + "}});");
  }
}

/// A step of what the block has made, as far as the tile has it.
void ContractSource::findWhereItStays(const ContractForm::Side &side,
                                      StringRef name, StringRef origin,
                                      const Twine &step) {
  std::string pitch = std::to_string(side.stayingPitch) + "u",
              inSide = origin.str(),
              inSums = ("(" + step + ") * " + Twine(form.step) + "u").str();
  std::string &row = form.keepsRows(side) ? inSide : inSums;
  row = "(" + row + ") * " + pitch;
  out.line("const unsigned short *" + name + " = " + e.pointer(side.made) +
           " + " + inSide + " + " + inSums + ";");
}

void ContractSource::findWhereItIsKept(const ContractForm::Side &side,
                                       StringRef name) {
  out.line("unsigned short *" + name +
           " = reinterpret_cast<unsigned short *>(shared + " +
           Twine(side.keptAt) + ");");
}

void ContractSource::writeKept() {
  for (const ContractForm::Side *side : {&form.rows, &form.columns}) {
    if (!form.isKept(*side))
      continue;
    StringRef name = side == &form.rows ? "rows" : "columns";
    e.open("");
    findWhereItIsKept(*side, name);
    locate("batch", form.batches);
    out.line("const " + e.scope.type() + " k0 = 0;");
    readStep(*side, locateReads(*side, e.scope.number(0)), "", name);
    out.line("waitForCopies();");
    e.close();
  }
}

/// A side of which steps come, and where a thread reads its part of each.
struct ContractSource::Coming {
  const ContractForm::Side &side;
  std::string name, origin, ahead; // pointer, first number, registers
  Places places;
};

void ContractSource::readSides(ArrayRef<Coming> sides, const Twine &number) {
  std::string begin = form.splits > 1 ? "begin + " : "";
  e.open("");
  out.line("const " + e.scope.type() + " k0 = " + begin + "(" + number +
           ") * " + Twine(form.step) + "u;");
  for (const Coming &each : sides)
    readStep(each.side, each.places, each.ahead,
             form.isCopied(each.side) ? each.name : "");
  e.close();
}

void ContractSource::keepSides(ArrayRef<Coming> sides, const Twine &number) {
  e.open("");
  for (const Coming &each : sides)
    if (!form.isCopied(each.side)) {
      declareBuffer(each, "kept_", number);
      keepStep(each.side, each.places, each.ahead, "kept_" + each.name);
    }
  e.close();
}

/// One of two buffers, or the only one.
void ContractSource::declareBuffer(const Coming &each, StringRef prefix,
                                   const Twine &number) {
  unsigned ofRows = form.memory(form.rows),
           both = ofRows + form.memory(form.columns);
  std::string at = "memory";
  if (!form.isOneStep())
    at += (" + (" + number + ") % 2u * " + Twine(both) + "u").str();
  if (&each.side == &form.columns && ofRows != 0)
    at += " + " + std::to_string(ofRows) + "u";
  out.line(elementInTile() + " *" + prefix + each.name + " = " + at + ";");
}

void ContractSource::writeSteps() {
  std::vector<Coming> sides;
  for (const ContractForm::Side *side : {&form.rows, &form.columns}) {
    bool isRows = side == &form.rows;
    if (form.memory(*side) == 0)
      continue;
    sides.push_back({*side,
                     isRows ? "rows" : "columns",
                     isRows ? "row0" : "column0",
                     isRows ? "nextRows" : "nextColumns",
                     {}});
    Coming &each = sides.back();
    each.places = locateReads(*side, each.origin);
    // Two elements of bf16 are a word.
    if (!form.isCopied(*side))
      out.line(Twine(form.isNarrow ? "unsigned" : element) + " " + each.ahead +
               "[" + Twine(each.places.size() * wordsOf(*side)) + "];");
  }
  auto declare = [&](const Twine &number) {
    for (const Coming &each : sides)
      declareBuffer(each, "", number);
    findWhatIsThere(number);
  };
  if (form.isOneStep()) {
    declare("0u");
    readSides(sides, "0u");
    keepSides(sides, "0u");
    if (llvm::any_of(sides, [&](const Coming &each) {
          return form.isCopied(each.side);
        }))
      out.line("waitForCopies();");
    out.line("__syncthreads();");
    multiply([] {});
    out.line("__syncthreads();");
    return;
  }
  // While a step is multiplied, the next one comes to shared memory, and the
  // one after it to registers.
  readSides(sides, "0u");
  keepSides(sides, "0u");
  readSides(sides, "1u");
  out.line("__syncthreads();");
  std::string count =
      form.splits > 1
          ? "steps"
          : std::to_string(llvm::divideCeil(form.sumExtent, form.step)) + "u";
  e.open("for (unsigned s = 0; s < " + count + "; ++s)");
  declare("s");
  multiply([&] {
    keepSides(sides, "s + 1u");
    readSides(sides, "s + 2u");
  });
  out.line("__syncthreads();");
  e.close();
}

/// Pointers to sides of which nothing comes with a step.
void ContractSource::findWhatIsThere(const Twine &step) {
  for (const ContractForm::Side *side : {&form.rows, &form.columns}) {
    bool isRows = side == &form.rows;
    StringRef name = isRows ? "rows" : "columns";
    if (side->stays)
      findWhereItStays(*side, name, isRows ? "row0" : "column0", step);
    else if (form.isKept(*side))
      findWhereItIsKept(*side, name);
  }
}

} // namespace dl::cuda
