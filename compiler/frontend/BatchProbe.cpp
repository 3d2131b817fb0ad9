#include "compiler/frontend/BatchProbe.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/SourceLine.h"
#include "dialects/graph/Step.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sstream>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace dl::frontend;

namespace {

constexpr int64_t kNoDim = -1;

/// What is noted of one op, by its place in the trace.
struct Mark {
  size_t place;
  int64_t dim, power; // kNoDim, 0: none
};

class Comparison {
public:
  Comparison(Trace &first, Trace &doubled) : first(first), doubled(doubled) {}

  std::vector<Mark> marks;

  /// Why the traces are not the same step for two sizes of batch; "" if they
  /// are.
  std::string run() {
    auto &before = first.body()->getOperations();
    auto &now = doubled.body()->getOperations();
    size_t place = 0;
    auto a = before.begin();
    auto b = now.begin();
    for (; a != before.end() && b != now.end(); ++a, ++b, ++place) {
      if (isa<dl::graph::ReturnOp>(*a) != isa<dl::graph::ReturnOp>(*b))
        break;
      if (isa<dl::graph::ReturnOp>(*a))
        return compareEnds();
      if (!compare(*a, *b, place))
        return "`" + a->getName().stripDialect().str() + "`" + placeOf(*a) +
               " is another operation for a batch of " +
               std::to_string(doubled.batch);
    }
    if (a == before.end() && b == now.end())
      return compareEnds();
    return "the step has other operations for a batch of " +
           std::to_string(doubled.batch);
  }

private:
  static std::string placeOf(Operation &op) {
    std::string line = dl::graph::sourceLineOf(op.getLoc()).lineText();
    return line.empty() ? "" : " at " + line;
  }

  std::string compareEnds() {
    bool same = llvm::equal(
        first.metrics, doubled.metrics, [&](const Metric &a, const Metric &b) {
          return a.name == b.name && isSame(a.value, b.value);
        });
    return same && first.errorFlags.size() == doubled.errorFlags.size()
               ? ""
               : "the step returns something else for a batch of " +
                     std::to_string(doubled.batch);
  }

  bool isSame(Value before, Value now) const {
    auto argument = dyn_cast<BlockArgument>(now);
    if (!argument)
      return firstOf.lookup(now) == before;
    auto other = dyn_cast<BlockArgument>(before);
    if (!other)
      return false;
    const Argument &a = first.arguments[other.getArgNumber()],
                   &b = doubled.arguments[argument.getArgNumber()];
    return a.kind == b.kind && a.state == b.state &&
           (a.kind != Argument::Input ||
            other.getArgNumber() == argument.getArgNumber());
  }

  /// Equal, or as much larger as the batch.
  static bool scales(int64_t before, int64_t now) {
    return now == before || now == before * BatchProbe::factor;
  }

  /// The dim that grows, if one or several do; nothing where the types differ
  /// otherwise.
  static std::optional<int64_t> growingDim(Type before, Type now) {
    auto a = cast<RankedTensorType>(before), b = cast<RankedTensorType>(now);
    if (a.getElementType() != b.getElementType() || a.getRank() != b.getRank())
      return std::nullopt;
    int64_t grows = kNoDim;
    for (auto [d, from, to] : llvm::enumerate(a.getShape(), b.getShape())) {
      if (from == to)
        continue;
      if (!scales(from, to))
        return std::nullopt;
      grows = grows == kNoDim ? static_cast<int64_t>(d) : dl::graph::kNotByItem;
    }
    return grows;
  }

  /// The power of the batch's size that a number goes with. Twice and half are
  /// exact.
  static std::optional<int64_t> powerOf(Attribute before, Attribute now) {
    auto a = dyn_cast<FloatAttr>(before), b = dyn_cast<FloatAttr>(now);
    if (!a || !b)
      return std::nullopt;
    double from = a.getValueAsDouble(), to = b.getValueAsDouble();
    double factor = BatchProbe::factor;
    return to == from * factor   ? std::optional(1)
           : to == from / factor ? std::optional(-1)
                                 : std::nullopt;
  }

  static bool sameShape(Attribute before, Attribute now) {
    if (auto a = dyn_cast_or_null<DenseI64ArrayAttr>(before),
        b = dyn_cast_or_null<DenseI64ArrayAttr>(now);
        a && b)
      return llvm::equal(a.asArrayRef(), b.asArrayRef(), scales);
    auto a = dyn_cast_or_null<TypeAttr>(before),
         b = dyn_cast_or_null<TypeAttr>(now);
    return a && b && isa<RankedTensorType>(a.getValue()) &&
           isa<RankedTensorType>(b.getValue()) &&
           growingDim(a.getValue(), b.getValue());
  }

  bool compare(Operation &before, Operation &now, size_t place) {
    if (before.getName() != now.getName() ||
        before.getNumOperands() != now.getNumOperands() ||
        before.getNumResults() != now.getNumResults() ||
        !llvm::all_of(llvm::zip(before.getOperands(), now.getOperands()),
                      [&](auto pair) {
                        return isSame(std::get<0>(pair), std::get<1>(pair));
                      }))
      return false;
    Mark mark = {place, kNoDim, 0};
    for (NamedAttribute attribute : before.getAttrDictionary()) {
      Attribute a = attribute.getValue(), b = now.getAttr(attribute.getName());
      if (a == b || attribute.getName() == dl::graph::kBatchDim)
        continue;
      std::optional<int64_t> power = powerOf(a, b);
      bool isNumber = before.getNumOperands() == 0 && power;
      if (isNumber)
        mark.power = *power;
      else if (!sameShape(a, b))
        mark.dim = dl::graph::kNotByItem;
    }
    for (auto [a, b] : llvm::zip(before.getResults(), now.getResults())) {
      std::optional<int64_t> dim = growingDim(a.getType(), b.getType());
      if (!dim)
        return false;
      if (mark.dim == kNoDim || *dim == dl::graph::kNotByItem)
        mark.dim = *dim;
      firstOf[b] = a;
    }
    if (mark.dim != kNoDim || mark.power != 0)
      marks.push_back(mark);
    return true;
  }

  Trace &first, &doubled;
  llvm::DenseMap<Value, Value> firstOf;
};

} // namespace

/// Lines of three numbers; then, instead, a word on why not.
static std::string textOf(const std::vector<Mark> &marks) {
  std::string text;
  for (const Mark &mark : marks)
    text += std::to_string(mark.place) + " " + std::to_string(mark.dim) + " " +
            std::to_string(mark.power) + "\n";
  return text;
}

static void markOps(const std::string &text, Trace &first) {
  std::istringstream lines(text);
  Mark mark;
  auto op = first.body()->begin();
  size_t at = 0;
  while (lines >> mark.place >> mark.dim >> mark.power) {
    for (; at < mark.place; ++at)
      ++op;
    Builder builder(op->getContext());
    if (mark.dim != kNoDim)
      op->setAttr(dl::graph::kBatchDim, builder.getI64IntegerAttr(mark.dim));
    if (mark.power != 0)
      op->setAttr(dl::graph::kBatchPower,
                  builder.getI64IntegerAttr(mark.power));
  }
}

static std::string readAll(int descriptor) {
  std::string all;
  char chunk[4096];
  for (;;) {
    ssize_t size = read(descriptor, chunk, sizeof chunk);
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return all;
    all.append(chunk, static_cast<size_t>(size));
  }
}

bool BatchProbe::begin(Channel &channel, Trace &first, double seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
  std::fflush(nullptr); // or both write it
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    channel.redirect(ends[1]);
    // What the model prints, it has printed.
    if (int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0) {
      dup2(nowhere, STDOUT_FILENO);
      dup2(nowhere, STDERR_FILENO);
    }
    itimerval limit = {};
    limit.it_value.tv_sec = static_cast<time_t>(seconds) + 1;
    setitimer(ITIMER_REAL, &limit, nullptr);
    return true;
  }
  close(ends[1]);
  std::string received = child < 0 ? "" : readAll(ends[0]);
  close(ends[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  Result result;
  bool ended = parseRecords(received, result) && result.exitCode == 0;
  first.isMarked = ended && result.probed;
  if (first.isMarked)
    markOps(*result.probed, first);
  else
    first.mixes = ended && !result.messages.empty()
                      ? result.messages
                      : "the model takes no batch of another size than " +
                            std::to_string(first.batch);
  return false;
}

void BatchProbe::finish(Channel &channel, Trace &first, Trace &doubled) {
  Comparison comparison(first, doubled);
  if (std::string why = comparison.run(); !why.empty())
    channel.message(why);
  else
    channel.probed(textOf(comparison.marks));
  channel.end(0);
}
