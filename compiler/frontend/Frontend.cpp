#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/Evaluation.h"
#include "compiler/frontend/Guard.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/ExecutionEngine/Orc/Shared/OrcError.h"
#include <chrono>
#include <csignal>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dl::frontend;

static constexpr double kCompileSeconds = 60; // for Clang alone

/// Functions that are called and nowhere defined.
static std::string describeUndefined(const std::set<std::string> &symbols,
                                     const CompiledModel &model) {
  std::string messages;
  for (const std::string &symbol : symbols) {
    if (llvm::StringRef(symbol).starts_with("__emutls_v."))
      return model.path + ": error: thread-local variables of a library, as in "
                          "std::call_once and std::future, cannot be used in a "
                          ".dl\n";
    Message message;
    auto declared = model.types.undefined.find(symbol);
    if (declared != model.types.undefined.end()) {
      const DeclaredFunction &function = declared->second;
      message.at = {function.file, function.line, function.column, ""};
      message.text = "`" + function.name + "` is declared but not defined";
    } else {
      message.text = "`" + llvm::demangle(symbol) + "` is used but not defined";
    }
    messages += render(message);
  }
  return messages;
}

static std::string describeMissingMain(const CompiledModel &model) {
  const DeclaredFunction &near = model.types.nearlyMain;
  Message message;
  message.text = "there is no `void dl_main(dl::Program &p)`, where a program "
                 "starts";
  message.at = {model.path, 0, 0, ""};
  if (!near.name.empty()) {
    message.at = {near.file, near.line, near.column, ""};
    message.text += near.name == "dl_main"
                        ? "; this dl_main takes something else"
                        : "; is it this function, " + near.name + "?";
  }
  return render(message);
}

[[noreturn]] static void reportJitError(llvm::Error error, const Jit &jit,
                                        Channel &channel,
                                        const CompiledModel &model) {
  std::string text, taken;
  llvm::handleAllErrors(
      std::move(error),
      [&](const llvm::orc::DuplicateDefinition &duplicate) {
        taken = llvm::demangle(duplicate.getSymbolName());
      },
      [&](const llvm::ErrorInfoBase &other) { text = other.message(); });
  if (!taken.empty())
    channel.message(model.path + ": error: the model defines `" + taken +
                    "`, a name that is taken while it is evaluated; give the "
                    "function another one\n");
  else if (jit.undefined.empty())
    channel.message("error: the model could not be loaded: " + text + "\n");
  channel.message(describeUndefined(jit.undefined, model));
  channel.end(jit.undefined.empty() && taken.empty() ? 70 : 1);
}

static void callMain(void *entry, Reporter &reporter) {
  char program = 0; // dl::Program is an empty class
  try {
    reinterpret_cast<void (*)(void *)>(entry)(&program);
  } catch (const std::exception &exception) {
    reporter.failAt(reporter.stack.userFrames(Guard::throwSite()),
                    std::string("uncaught exception: ") + exception.what());
  } catch (...) {
    const std::type_info *type = abi::__cxa_current_exception_type();
    reporter.failAt(
        reporter.stack.userFrames(Guard::throwSite()),
        "uncaught exception" +
            (type ? " of type " +
                        llvm::demangle(std::string("_ZTS") + type->name())
                            .substr(18)
                  : ""));
  }
}

static std::vector<Jit::Symbol> symbolsFor(const CompiledModel &model,
                                           Evaluation &evaluation) {
  std::vector<Jit::Symbol> symbols = abiSymbols(evaluation);
  if (model.whyParsed.empty())
    for (const PrecompiledDsl::Symbol &symbol : dl_precompiled_dsl.symbols)
      symbols.push_back({symbol.name, symbol.address, symbol.isFunction != 0});
  return symbols;
}

[[noreturn]] static void runChild(const Options &options, int descriptor) {
  dup2(STDERR_FILENO, STDOUT_FILENO); // stdout is for data of dlcc
  prctl(PR_SET_PDEATHSIG, SIGKILL);   // nobody would read the result
  Channel channel(descriptor);
  Guard::limitMemory(options.memoryLimitBytes);
  CompiledModel model =
      compileModel(options.model, options.includeFolders, dl_precompiled_dsl);
  channel.message(model.messages);
  if (!model.whyParsed.empty())
    channel.whyParsed(model.whyParsed);
  for (const std::string &file : model.files)
    channel.file(file);
  if (model.exitCode != 0)
    channel.end(model.exitCode);
  if (!model.types.hasMain) {
    channel.message(describeMissingMain(model));
    channel.end(1);
  }

  static Evaluation evaluation(options, channel, model);
  Jit jit;
  if (llvm::Error error =
          jit.load(std::move(model.code), symbolsFor(model, evaluation)))
    reportJitError(std::move(error), jit, channel, model);
  llvm::Expected<void *> entry = jit.lookup("_Z7dl_mainRN2dl7ProgramE");
  if (!jit.rejected.empty()) {
    channel.message(model.path +
                    ": error: asm() of the model is no assembly "
                    "of this machine:\n" +
                    jit.rejected);
    channel.end(1);
  }
  if (!entry)
    reportJitError(entry.takeError(), jit, channel, model);
  Guard::start(evaluation.reporter, options.timeLimitSeconds);
  if (llvm::Error error = jit.initialize())
    reportJitError(std::move(error), jit, channel, model);
  callMain(*entry, evaluation.reporter);
  Guard::stop();
  evaluation.settings.checkAllAsked();
  channel.bytecode(evaluation.graph.finish());
  channel.end(0);
}

/// Everything the child writes until it ends or the time is over.
static std::string receive(int descriptor, double seconds, bool &late) {
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(seconds));
  std::string received;
  char chunk[65536];
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                    deadline - Clock::now())
                    .count();
    late = left <= 0;
    pollfd waiting = {descriptor, POLLIN, 0};
    if (late)
      return received;
    if (poll(&waiting, 1, static_cast<int>(std::min<long long>(left, 1000))) <=
        0)
      continue;
    ssize_t size = read(descriptor, chunk, sizeof chunk);
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return received;
    received.append(chunk, static_cast<size_t>(size));
  }
}

static Result failed(int exitCode, std::string text) {
  Result result;
  result.exitCode = exitCode;
  result.messages = "error: " + text + "\n";
  return result;
}

/// The encoding, if it is one of two or four bytes a character. Text begins
/// with a mark or with ASCII.
static const char *wideEncoding(llvm::StringRef beginning) {
  using llvm::StringRef;
  struct Encoding {
    const char *name;
    StringRef mark;
    unsigned width, ascii; // bytes of a character; which of them has ASCII
  };
  static constexpr Encoding encodings[] = {
      {"UTF-32LE", StringRef("\xff\xfe\0\0", 4), 4, 0},
      {"UTF-32BE", StringRef("\0\0\xfe\xff", 4), 4, 3},
      {"UTF-16LE", StringRef("\xff\xfe", 2), 2, 0},
      {"UTF-16BE", StringRef("\xfe\xff", 2), 2, 1}};
  for (const Encoding &encoding : encodings) {
    if (beginning.starts_with(encoding.mark))
      return encoding.name;
    bool isWide = beginning.size() == 4;
    for (unsigned i = 0; isWide && i < 4; ++i)
      isWide = (beginning[i] != 0) == (i % encoding.width == encoding.ascii);
    if (isWide)
      return encoding.name;
  }
  return nullptr;
}

Result dl::frontend::evaluate(const Options &options) {
  int file = open(options.model.c_str(), O_RDONLY | O_CLOEXEC);
  char beginning[4];
  ssize_t size = file < 0 ? -1 : read(file, beginning, sizeof beginning);
  if (size < 0)
    return failed(4,
                  "cannot read " + options.model + ": " + std::strerror(errno));
  close(file);
  if (const char *encoding =
          wideEncoding({beginning, static_cast<size_t>(size)}))
    return failed(1, options.model + " is " + encoding +
                         " text, and a .dl is UTF-8; save it as that, or: "
                         "iconv -f " +
                         encoding + " -t UTF-8");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return failed(70, std::string("pipe: ") + std::strerror(errno));
  std::fflush(nullptr); // or the child writes it again
  pid_t child = fork();
  if (child < 0)
    return failed(70, std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    runChild(options, ends[1]);
  }
  close(ends[1]);
  bool late = false;
  std::string received =
      receive(ends[0], kCompileSeconds + options.timeLimitSeconds, late);
  close(ends[0]);
  if (late)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  Result result;
  if (parseRecords(received, result))
    return result;
  result.exitCode = 1;
  if (late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM))
    result.messages +=
        options.model +
        ": error: it takes too long to compile and evaluate this\n";
  else if (WIFSIGNALED(status))
    result.messages += options.model + ": error: the model crashed (" +
                       strsignal(WTERMSIG(status)) + ")\n";
  else
    result.messages +=
        options.model +
        ": error: the model ended the process that evaluates it\n";
  return result;
}
