#include "tools/dlcc/Arguments.h"
#include "compiler/frontend/Suggest.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/graph/PipelineOrder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <functional>
#include <limits>

using llvm::StringRef;

namespace dl::dlcc {
namespace {

constexpr int wrongUse = 2, notInThisVersion = 3;

class Parser {
public:
  Parser(int argc, const char *const *argv) : words(argv + 1, argv + argc) {}

  Arguments parse() {
    for (at = 0; at < words.size() && result.exitCode == 0; ++at)
      parseWord(words[at]);
    if (result.exitCode == 0 && !result.help && !result.version)
      complete();
    return std::move(result);
  }

private:
  enum Value { None, Optional, Required };
  struct Option {
    const char *name;
    Value value;
    std::function<void(Parser &, StringRef)> set;
  };

  void fail(const std::string &text, int exitCode = wrongUse) {
    if (result.exitCode != 0)
      return;
    result.exitCode = exitCode;
    result.error = text;
  }

  template <class Number>
  void number(StringRef option, StringRef text, Number least, Number &target,
              Number most = std::numeric_limits<Number>::max()) {
    Number value;
    if (!parseNumber(text, value) || value < least)
      fail(option.str() + "=" + text.str() + ": a number of at least " +
           llvm::formatv("{0}", least).str() + " is wanted");
    else if (value > most)
      fail(option.str() + "=" + text.str() + ": a number of at most " +
           llvm::formatv("{0}", most).str() + " is wanted");
    else
      target = value;
  }
  static bool parseNumber(StringRef text, int64_t &value) {
    return !text.getAsInteger(10, value);
  }
  static bool parseNumber(StringRef text, double &value) {
    return !text.getAsDouble(value);
  }

  static const std::vector<Option> &options();
  void parseWord(StringRef word);
  void unknown(StringRef word);
  void setting(StringRef text);
  void dtype(StringRef text);
  void mesh(StringRef text);
  void f32(StringRef text) { modules("--f32", text, result.f32); }
  void recompute(StringRef text) {
    modules("--recompute", text, result.recompute);
  }
  void modules(StringRef option, StringRef text,
               std::vector<std::string> &list);
  void schedule(StringRef text);
  void report(StringRef text);
  void target(StringRef text);
  void view(StringRef text);
  void emit(StringRef list);
  void emitOne(StringRef kind, StringRef path);
  void complete();
  void checkFiles();
  std::string beside(StringRef suffix) const {
    return llvm::sys::path::stem(result.model).str() + suffix.str();
  }

  std::vector<std::string> words;
  size_t at = 0;
  std::vector<std::string> emits;
  bool viewGiven = false;
  Arguments result;
};

const std::vector<Parser::Option> &Parser::options() {
  static const std::vector<Option> all = {
      {"-o", Required, [](Parser &p, StringRef v) { p.result.plan = v.str(); }},
      {"-D", Required, [](Parser &p, StringRef v) { p.setting(v); }},
      {"-I", Required,
       [](Parser &p, StringRef v) {
         p.result.includeFolders.push_back(v.str());
       }},
      {"--dtype", Required, [](Parser &p, StringRef v) { p.dtype(v); }},
      {"--accumulate", Required,
       [](Parser &p, StringRef v) {
         p.number<int64_t>("--accumulate", v, 1, p.result.accumulate,
                           std::numeric_limits<uint32_t>::max());
       }},
      {"--mesh", Required, [](Parser &p, StringRef v) { p.mesh(v); }},
      {"--zero", Required,
       [](Parser &p, StringRef v) {
         p.number<int64_t>("--zero", v, 0, p.result.mesh.zero.emplace(), 3);
       }},
      {"--microbatches", Required,
       [](Parser &p, StringRef v) {
         p.number<int64_t>("--microbatches", v, 1,
                           p.result.mesh.microBatches.emplace(), 65536);
       }},
      {"--schedule", Required, [](Parser &p, StringRef v) { p.schedule(v); }},
      {"--stages-per-rank", Required,
       [](Parser &p, StringRef v) {
         p.number<int64_t>("--stages-per-rank", v, 1,
                           p.result.mesh.stagesPerRank.emplace(), 65536);
       }},
      {"--target", Required, [](Parser &p, StringRef v) { p.target(v); }},
      {"--f32", Required, [](Parser &p, StringRef v) { p.f32(v); }},
      {"--tf32", None, [](Parser &p, StringRef) { p.result.tf32 = true; }},
      {"--own-kernels", None,
       [](Parser &p, StringRef) { p.result.ownKernels = true; }},
      {"--target-cpu", Required,
       [](Parser &p, StringRef v) { p.result.targetCpu = v.str(); }},
      {"--machine", Required,
       [](Parser &p, StringRef v) { p.result.machine = v.str(); }},
      {"--emit", Required,
       [](Parser &p, StringRef v) { p.emits.push_back(v.str()); }},
      {"--report", Optional, [](Parser &p, StringRef v) { p.report(v); }},
      {"--view", Required, [](Parser &p, StringRef v) { p.view(v); }},
      {"--step", Required, [](Parser &p, StringRef v) { p.result.step = v; }},
      {"--check", None, [](Parser &p, StringRef) { p.result.check = true; }},
      {"-ffuse", None, [](Parser &p, StringRef) { p.result.fuse = true; }},
      {"-fno-fuse", None, [](Parser &p, StringRef) { p.result.fuse = false; }},
      {"--keep-all", None,
       [](Parser &p, StringRef) { p.result.keepAll = true; }},
      {"--keep-below", Required,
       [](Parser &p, StringRef v) {
         p.number<int64_t>("--keep-below", v, 1, p.result.keepBelow);
       }},
      {"--recompute", Required, [](Parser &p, StringRef v) { p.recompute(v); }},
      {"--tiles", Required,
       [](Parser &p, StringRef v) {
         p.number<int64_t>("--tiles", v, 1, p.result.tiles);
       }},
      {"--threads", Required,
       [](Parser &p, StringRef v) {
         p.number<int64_t>("--threads", v, 1, p.result.threads);
       }},
      {"--eval-timeout", Required,
       [](Parser &p, StringRef v) {
         p.number<double>("--eval-timeout", v, 0.1, p.result.evalTimeout);
       }},
      {"--max-ops", Required,
       [](Parser &p, StringRef v) {
         p.number<int64_t>("--max-ops", v, 1, p.result.maxOps);
       }},
      {"-h", None, [](Parser &p, StringRef) { p.result.help = true; }},
      {"--help", None, [](Parser &p, StringRef) { p.result.help = true; }},
      {"--version", None,
       [](Parser &p, StringRef) { p.result.version = true; }},
  };
  return all;
}

void Parser::parseWord(StringRef word) {
  if (!word.starts_with("-") || word == "-") {
    if (!result.model.empty())
      return fail("two models: " + result.model + " and " + word.str() +
                  "; dlcc compiles one");
    result.model = word.str();
    return;
  }
  for (const Option &option : options()) {
    StringRef rest = word;
    if (!rest.consume_front(option.name))
      continue;
    bool isShort = StringRef(option.name).size() == 2;
    if (!rest.empty() &&
        (option.value == None || !(rest.front() == '=' || isShort)))
      continue;
    bool given = rest.consume_front("=") || !rest.empty();
    if (option.value == Required && !given) {
      if (at + 1 == words.size())
        return fail(word.str() + " needs a value");
      rest = words[++at];
    }
    return option.set(*this, rest);
  }
  unknown(word);
}

void Parser::unknown(StringRef word) {
  std::vector<std::string> names;
  for (const Option &option : options())
    names.push_back(option.name);
  StringRef name = word.split('=').first;
  // As other compilers call it.
  std::string better =
      name.starts_with("--out") ? "-o FILE" : frontend::nearest(name, names);
  fail("there is no option " + word.str() +
       (better.empty() ? "; see dlcc --help"
                       : "; did you mean " + better + "?"));
}

void Parser::setting(StringRef text) {
  auto [name, value] = text.split('=');
  if (name.empty() || !text.contains('='))
    return fail("-D " + text.str() + ": -D name=value is wanted");
  result.settings.emplace_back(name.str(), value.str());
}

void Parser::dtype(StringRef text) {
  if (text == "tf32")
    return fail(
        "--dtype=tf32: products on tensor cores are asked for by --tf32");
  if (text == "fp16" || text == "f16" || text == "float16" || text == "half" ||
      text == "fp8")
    return fail("--dtype=" + text.str() +
                    ": not in this version; bf16 has the range of f32",
                notInThisVersion);
  if (text != "f32" && text != "f64" && text != "bf16") {
    StringRef better = llvm::StringSwitch<StringRef>(text.lower())
                           .Cases({"bfloat16", "bfloat", "bf16"}, "bf16")
                           .Cases({"float32", "float", "fp32", "f32"}, "f32")
                           .Cases({"float64", "double", "fp64", "f64"}, "f64")
                           .Default("");
    return fail("--dtype=" + text.str() + ": f32, f64 and bf16 are known" +
                (better.empty() ? "" : "; did you mean " + better.str() + "?"));
  }
  result.dtype = text.str();
}

void Parser::report(StringRef text) {
  if (!text.empty() && text != "json")
    fail("--report=" + text.str() + ": there is --report and --report=json");
  (text == "json" ? result.reportJson : result.report) = true;
}

void Parser::schedule(StringRef text) {
  // interleaved:3, as --stages-per-rank=3.
  auto [name, stages] = text.split(':');
  if (name == "interleaved" && !stages.empty()) {
    number<int64_t>("--schedule=interleaved", stages, 1,
                    result.mesh.stagesPerRank.emplace(), 65536);
    text = name;
  }
  if (!graph::pipelineScheduleOf(text))
    return fail("--schedule=" + text.str() + ": " +
                graph::kPipelineSchedules.str() + " are known");
  result.mesh.schedule = text.str();
}

void Parser::modules(StringRef option, StringRef text,
                     std::vector<std::string> &list) {
  llvm::SmallVector<StringRef> patterns;
  text.split(patterns, ',');
  for (StringRef pattern : patterns) {
    if (pattern.empty())
      return fail((option + "=" + text + ": " + option +
                   "=MODULE,... is wanted, as in 'h.*'")
                      .str());
    list.push_back(pattern.str());
  }
}

/// "cpu", "cuda", "cuda:sm_90,ptx_80".
void Parser::target(StringRef text) {
  auto [name, list] = text.split(':');
  result.cudaArchitectures.clear();
  if (text == "cpu")
    return;
  if (name != "cuda" || text == "cuda:")
    return fail("--target=" + text.str() +
                ": cpu, cuda and cuda:sm_90,ptx_80,... are known");
  llvm::SmallVector<StringRef> items{"sm_90", "ptx_80"};
  if (!list.empty()) {
    items.clear();
    list.split(items, ',');
  }
  for (StringRef item : items) {
    StringRef number = item;
    bool isChip = number.consume_front("sm_");
    if (isChip)
      number.consume_back("a");
    else
      number.consume_front("ptx_");
    int64_t chip = 0;
    if (item != "source" &&
        (number == item || number.getAsInteger(10, chip) || chip < 75))
      return fail("--target=" + text.str() + ": '" + item.str() +
                  "' is no architecture; sm_80, sm_90 or sm_100 is a chip, "
                  "ptx_80 is code that later chips translate");
    if (!llvm::is_contained(result.cudaArchitectures, item))
      result.cudaArchitectures.push_back(item.str());
  }
}

/// "dp=2,tp=4", the slowest axis first.
void Parser::mesh(StringRef text) {
  llvm::SmallVector<StringRef> items;
  text.split(items, ',');
  result.mesh.axes.clear();
  int64_t ranks = 1;
  for (StringRef item : items) {
    auto [name, number] = item.split('=');
    int64_t size = 0;
    if (name.empty() || number.getAsInteger(10, size) || size < 1)
      return fail("--mesh=" + text.str() + ": '" + item.str() +
                  "' is not AXIS=RANKS; --mesh dp=2,tp=4 is wanted");
    for (const auto &[known, other] : result.mesh.axes)
      if (known == name)
        return fail("--mesh=" + text.str() + ": the axis '" + known +
                    "' is there twice");
    ranks = ranks > 65536 || size > 65536 ? 1 << 20 : ranks * size;
    if (ranks > 65536)
      return fail("--mesh=" + text.str() + ": at most 65536 ranks");
    result.mesh.axes.emplace_back(name.str(), size);
  }
}

void Parser::view(StringRef text) {
  static const std::vector<std::string> known = {"blocks", "modules", "ops",
                                                 "kernels", "devices"};
  if (llvm::is_contained(known, text)) {
    result.view = text.str();
    viewGiven = true;
    return;
  }
  std::string better = frontend::nearest(text, known);
  fail("--view=" + text.str() + ": " +
       (better.empty() ? "blocks, modules, ops, kernels and devices are known"
                       : "did you mean " + better + "?"));
}

void Parser::emit(StringRef list) {
  llvm::SmallVector<StringRef> items;
  list.split(items, ',');
  for (StringRef item : items) {
    auto [kind, path] = item.split('=');
    emitOne(kind, path);
  }
}

void Parser::emitOne(StringRef kind, StringRef path) {
  static const std::vector<std::string> known = {
      "graph.dot",  "graph.svg",   "memory.svg", "timeline.svg", "mlir",
      "kernels.so", "report.json", "machine",    "cu",           "deps"};
  static const std::vector<std::string> later = {
      "summary",       "graph.html",   "graph.json", "memory.pickle",
      "schedule.json", "schedule.svg", "ptx",        "cubin",
      "onnx",          "compile-flags"};
  auto [name, phase] = kind.split(':');
  if (llvm::is_contained(later, name))
    return fail("--emit=" + name.str() + ": not in this version",
                notInThisVersion);
  if (!llvm::is_contained(known, name)) {
    std::string better = frontend::nearest(name, known);
    return fail("--emit=" + name.str() + ": " +
                (better.empty() ? llvm::join(known, ", ") + " are known"
                                : "did you mean " + better + "?"));
  }
  if (name != "mlir" && !phase.empty())
    return fail("--emit=" + kind.str() + ": only mlir has phases");
  if (name == "mlir" && !phase.empty() &&
      !llvm::is_contained(phaseNames(), phase))
    return fail("--emit=" + kind.str() + ": the phases are " +
                llvm::join(phaseNames(), ", "));
  Output output{name.str(), phase.empty() ? "import" : phase.str(), path.str()};
  if (output.path.empty())
    output.path =
        name == "mlir" || name == "machine" ? "-" : beside("." + name.str());
  result.outputs.push_back(output);
}

/// Whether two names are those of one file that a write would replace.
static bool sameFile(StringRef a, StringRef b) {
  namespace fs = llvm::sys::fs;
  if (a == "-" || b == "-" || (fs::exists(a) && !fs::is_regular_file(a)))
    return false;
  if (fs::equivalent(a, b))
    return true;
  llvm::SmallString<256> wholeA = a, wholeB = b;
  for (auto *path : {&wholeA, &wholeB}) {
    fs::make_absolute(*path);
    llvm::sys::path::remove_dots(*path, /*remove_dot_dot=*/true);
  }
  return wholeA == wholeB;
}

/// What is read must not be written over, and two outputs are two files.
void Parser::checkFiles() {
  std::vector<std::pair<std::string, std::string>> written = {
      {"the plan", result.plan}};
  if (result.check)
    written.clear();
  for (const Output &output : result.outputs) {
    std::string what = "--emit=" + output.kind;
    for (const auto &[file, name] : {std::pair("the model ", result.model),
                                     {"--machine=", result.machine}})
      if (!name.empty() && sameFile(output.path, name))
        return fail(what + " would replace " + file + name +
                    "; name another file");
    for (const auto &[other, path] : written)
      if (sameFile(output.path, path))
        return fail(what + " and " + other + " would be one file, " + path);
    written.emplace_back(what, output.path);
  }
  for (const std::string &folder : result.includeFolders)
    if (!llvm::sys::fs::is_directory(folder))
      return fail("-I " + folder + ": there is no such folder");
}

void Parser::complete() {
  if (result.model.empty())
    return fail("which model? dlcc model.dl; see dlcc --help");
  if (StringRef(result.model).ends_with(".plan"))
    return fail("'" + result.model + "' is compiled already; 'dlrun " +
                result.model + "' trains it");
  if (result.plan.empty())
    result.plan = beside(".plan");
  if (sameFile(result.plan, result.model))
    return fail("the plan would replace the model " + result.model +
                "; name another file with -o");
  for (const std::string &list : emits)
    emit(list);
  if (viewGiven && llvm::none_of(result.outputs, [](const Output &output) {
        return StringRef(output.kind).starts_with("graph.");
      }))
    fail("--view=" + result.view +
         ": it is about a picture of the graph; add --emit=graph.svg");
  for (const Output &output : result.outputs)
    if (result.check &&
        (output.kind == "memory.svg" || output.kind == "timeline.svg" ||
         output.kind == "kernels.so" || output.kind == "cu" ||
         ((result.view == "kernels" || result.view == "devices") &&
          StringRef(output.kind).starts_with("graph."))))
      fail("--emit=" + output.kind +
           ": --check stops before there are kernels; leave it out");
  for (const Output &output : result.outputs)
    if (result.check && (output.kind == "report.json" ||
                         output.kind == "machine" || output.kind == "deps" ||
                         (output.kind == "mlir" && output.phase != "import")))
      fail("--emit=" + output.kind +
           (output.kind == "mlir" ? ":" + output.phase : "") +
           ": --check stops when the model has been evaluated; leave it out");
  if (result.check && (result.report || result.reportJson))
    fail("--report is about a plan; --check stops before there is one; leave "
         "it out");
  for (const Output &output : result.outputs)
    if (output.kind == "cu" && result.cudaArchitectures.empty())
      fail("--emit=cu: source of CUDA kernels; add --target=cuda");
  if (result.mesh.stagesPerRank)
    if (std::string why = graph::whyNotOnEachRank(result.mesh.schedule,
                                                  *result.mesh.stagesPerRank);
        !why.empty())
      fail("--stages-per-rank=" + std::to_string(*result.mesh.stagesPerRank) +
           ": " + why);
  if (result.tiles > 0 && !result.cudaArchitectures.empty())
    fail("--tiles is about CPUs; leave it out, or take --target=cpu");
  if (!result.f32.empty() && result.dtype != "bf16")
    fail("--f32: all products are " + result.dtype + "; add --dtype=bf16");
  if (result.tf32 && result.cudaArchitectures.empty())
    fail("--tf32: CPUs have no tensor cores; add --target=cuda");
  for (const std::string &chip : result.cudaArchitectures)
    if ((chip == "sm_75" || chip == "ptx_75") &&
        (result.tf32 || result.dtype == "bf16"))
      fail((result.tf32 ? "--tf32: " : "--dtype=bf16: ") + chip +
           " has no tensor cores for it; sm_80 is the first with such");
  if (result.ownKernels && result.cudaArchitectures.empty())
    fail("--own-kernels: plans for CPUs call no library; add --target=cuda");
  if (!result.cudaArchitectures.empty() && !result.targetCpu.empty())
    fail("--target-cpu is about CPUs; leave it out, or take --target=cpu");
  for (const Output &output : result.outputs)
    if (result.view == "devices" && output.kind == "graph.dot")
      fail("--view=devices: a picture for people; take --emit=graph.svg");
  checkFiles();
}

} // namespace

std::string replacedBy(const Arguments &arguments, StringRef path) {
  if (!arguments.check && sameFile(arguments.plan, path))
    return "the plan";
  for (const Output &output : arguments.outputs)
    if (sameFile(output.path, path))
      return "--emit=" + output.kind;
  return "";
}

Arguments parseArguments(int argc, const char *const *argv) {
  return Parser(argc, argv).parse();
}

const char *helpText() {
  return R"(dlcc: compile a training program (a C++ file using <dl/dl.h>) into an execution plan

Examples:
  dlcc mnist.dl && dlrun mnist.plan --epochs 2
  dlcc mnist.dl -D batch_size=64 -o mnist64.plan --report
  dlcc mnist.dl --check                  evaluate and check shapes only
  dlcc mnist.dl --help                   the settings this model has (for -D)

Usage: dlcc [options] MODEL.dl

Output
  -o FILE                the plan (default: MODEL.plan in this folder)
  --emit=KIND[=FILE],... also write: graph.svg, graph.dot, memory.svg, timeline.svg (when stages of a pipeline
                         compute what, as predicted), report.json, kernels.so, cu (the source of kernels for CUDA),
                         mlir[:PHASE] (to standard output unless FILE is given; PHASE is import, backward, partition,
                         layout, fuse or schedule), machine (what the plan was made for, in the form of --machine; to
                         standard output), deps (the files that were read, as a rule for make and ninja)
  --view=VIEW            how much a graph shows: blocks (default), modules, kernels (in these, equal
                         neighbours are folded), ops, or devices (a column for each class of ranks)
  --step=NAME            the step of pictures (default: train, else the first; of memory.svg all)
  --report[=json]        parameters, FLOPs, bytes, kernels, fusions, memory, expected time
  --check                evaluate the model and stop: no code, no plan

Model
  -D NAME=VALUE          set what the model asks for with p.arg()
  -I FOLDER              where #include "..." looks, besides the model's folder
  --dtype=f32|f64|bf16   the type of all floats (default: f32); bf16 is mixed precision, as autocast: products
                         read and give bf16 and add in f32; parameters, their gradients and all else are f32
  --f32=MODULE,...       with --dtype=bf16: products of these modules ('h.*' is h.0, h.1, ...) stay f32
  --accumulate=N         micro-batches for one update, by the mean of their gradients (default: 1)
  --mesh=AXIS=N,...      ranks that run the plan together, the slowest axis first; batches are divided along dp
  --zero=0|1|2|3         what is divided along dp besides the batch: 1 the slots of optimizers, 2 also what
                         --accumulate adds up, 3 parameters, too (default: 0)
  --microbatches=N       parts of a training batch that are done one after the other, for pipelines and to save
                         memory; the result is that of the whole batch (default: 1)
  --schedule=gpipe|1f1b|interleaved[:STAGES]|zb-h1|zb-v
                         in which order the stages of a pipeline, along pp, do them (default: 1f1b); interleaved is
                         1f1b with several stages on each rank, zb-h1 is 1f1b with gradients of weights where stages
                         would wait, and zb-v is that with two stages on each rank, the first and the last on one
  --stages-per-rank=N    of interleaved (default: 2)

Compilation
  --target=cpu|cuda[:ARCHITECTURE,...]
                         what the plan runs on. For NVIDIA's GPUs: sm_80, sm_90, sm_100 are chips, ptx_80 is for
                         all later ones, too (default: sm_90,ptx_80); needs NVRTC, but no GPU
  --tf32                 products of f32 on tensor cores, which round their operands to 10 bits of mantissa
                         (default: as IEEE 754 says)
  --own-kernels          no product is left to cuBLASLt, which computes those that it is faster at (see --report)
  --target-cpu=NAME      for this CPU alone (default: x86-64-v3, x86-64-v4 and, for products in bf16, x86-64-v4 with
                         AVX512-BF16, all in the plan)
  --machine=FILE         describes the machine that will run the plan: lines of KEY = VALUE, by which fusion, tiles
                         and sharing among threads are decided; what a file leaves out is that of an x86-64 with
                         2 FMA ports (--emit=machine writes all keys). h100, h200, a100 and rtx4090 are known by name;
                         of --target=cuda h100 is the default. What cannot fit into its memory is refused
  -fno-fuse              one kernel for each operation
  --recompute=MODULE,... activation checkpointing: values within these modules ('h.*' is h.0, h.1, ...) are not kept for
                         the backward, which computes them again from what goes in. dl::checkpoint() in the
                         model does the same
  --keep-all             the backward reads every value that it needs from memory, and makes none again from others
                         but those of checkpoints (attention over long rows is one)
  --keep-below=N         it makes none of fewer than N bytes again (default: 65536)
  --tiles=N              at most N tiles a kernel: with 1, threads share no kernel, only independent
                         ones (default: as many as are worth a thread)
  --threads=N            that compile kernels (default: all cores)
  --eval-timeout=S       seconds the model may take to build its graph (default: 20)
  --max-ops=N            operations it may make (default: 1000000)

  -h, --help             this text; after a model, its settings
  --version

Exit codes: 0 done, 1 the model is wrong, 2 wrong use, 3 cannot be done on the target or not in
this version, 4 cannot read or write, 70 a bug of dlcc
)";
}

} // namespace dl::dlcc
