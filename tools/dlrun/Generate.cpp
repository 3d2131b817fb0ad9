#include "runtime/base/MappedFile.h"
#include "runtime/base/Numbers.h"
#include "runtime/train/Generation.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Paths.h"
#include "tools/dlrun/Process.h"
#include "tools/dlrun/Processes.h"
#include "tools/dlrun/Signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <unistd.h>

using namespace dlrun;
using namespace dlrt;

/// Between samples, as nanoGPT's.
static constexpr char separator[] = "---------------\n";

static std::vector<uint64_t> bytesOf(std::string_view text) {
  std::vector<uint64_t> bytes;
  for (char byte : text)
    bytes.push_back(static_cast<unsigned char>(byte));
  return bytes;
}

/// Of `--text-file`.
static Expected<std::string> readText(const std::string &path) {
  if (path != "-") {
    auto file = MappedFile::open(path);
    if (!file)
      return file.takeError();
    return std::string(file->bytes().begin(), file->bytes().end());
  }
  std::string text;
  char some[1 << 16];
  // (A signal interrupts the waiting, and no reading.)
  for (pollfd input{STDIN_FILENO, POLLIN, 0};;) {
    ssize_t count = poll(&input, 1, -1);
    if (count >= 0)
      count = read(STDIN_FILENO, some, sizeof some);
    if (count == 0 || stopSignal() != 0)
      break;
    if (count < 0 && errno != EINTR)
      return Status(Code::Io, fmt::format("cannot read standard input: {}",
                                          std::strerror(errno)));
    text.append(some, size_t(std::max<ssize_t>(0, count)));
  }
  return text;
}

/// Text goes in and comes out as its bytes, other tokens as numbers.
static Expected<std::vector<uint64_t>> promptOf(const Options &options,
                                                const LanguageModel &model) {
  bool isInFile = !options.textFile.empty();
  if (isInFile + options.text.has_value() + !options.tokens.empty() > 1)
    return Status(Code::Usage,
                  "--text, --text-file and --tokens: give one of them");
  if (!options.tokens.empty())
    return options.tokens;
  if (!options.text && !isInFile && !model.readsText())
    return Status(Code::Usage, "generate: what is to be gone on with? --tokens "
                               "N,N,... says it; this model's tokens are "
                               "numbers");
  if (!model.readsText() && model.vocabulary > 256)
    return Status(Code::Usage,
                  fmt::format("{}: this model has {} tokens, which are no "
                              "bytes; give their numbers, --tokens N,N,...",
                              isInFile ? "--text-file" : "--text",
                              model.vocabulary));
  if (!isInFile)
    return bytesOf(options.text.value_or("\n"));
  auto text = readText(options.textFile);
  if (!text)
    return text.takeError();
  if (text->empty())
    return Status(Code::Usage,
                  fmt::format("--text-file {}: it is empty", options.textFile));
  return bytesOf(*text);
}

/// What ends a sample.
static Expected<std::vector<std::vector<uint64_t>>>
stopsOf(const Options &options, const LanguageModel &model, bool areBytes) {
  std::vector<std::vector<uint64_t>> stops;
  if (!options.stops.empty() && !areBytes)
    return Status(Code::Usage, "--stop: here tokens are numbers; "
                               "--stop-tokens N,N,... says them");
  for (const std::string &text : options.stops)
    stops.push_back(bytesOf(text));
  for (uint64_t token : options.stopTokens)
    stops.push_back({token});
  for (const std::vector<uint64_t> &stop : stops)
    for (uint64_t token : stop)
      if (token >= model.knownTokens())
        return Status(Code::Usage,
                      fmt::format("token {} of a text's end: the model knows 0 "
                                  "to {}",
                                  token, model.knownTokens() - 1));
  return stops;
}

static std::string textOf(std::span<const uint64_t> tokens, bool areBytes) {
  std::string text;
  for (uint64_t token : tokens)
    if (areBytes)
      text += static_cast<char>(token);
    else
      text += fmt::format("{} ", token);
  return text;
}

namespace {

/// Shows what is written while it is, or in an event behind each sample.
class Show {
public:
  Show(const Options &options, bool areBytes, std::span<const uint64_t> prompt)
      : options(options), areBytes(areBytes), prompt(prompt) {}

  void next(uint64_t sample, uint64_t token) {
    if (options.json)
      return;
    if (sample + 1 != begun)
      writeStdout((begun++ ? std::string("\n") + separator : "") +
                  textOf(prompt, areBytes));
    writeStdout(textOf({&token, 1}, areBytes));
  }

  void end(const Generation &result) const {
    if (!options.json)
      writeStdout("\n");
    for (size_t s = 0; options.json && s < result.samples.size(); ++s) {
      Event said("sample");
      const Generation::Sample &sample = result.samples[s];
      said.field("sample", s).array("tokens", sample.tokens);
      if (areBytes)
        said.field("text", std::string_view(textOf(sample.tokens, true)));
      bool isWhole = sample.tokens.size() == prompt.size() + options.newTokens;
      std::string_view reason = isWhole ? "length" : "interrupted";
      said.field("finish_reason", sample.stopped ? "stop" : reason);
      said.send();
    }
  }

private:
  const Options &options;
  bool areBytes;
  std::span<const uint64_t> prompt;
  uint64_t begun = 0; ///< samples
};

} // namespace

static void reportSpeed(const Options &options, const Generation &result,
                        size_t prompt, double seconds) {
  uint64_t tokens = 0;
  for (const auto &sample : result.samples)
    tokens += sample.tokens.size() - prompt;
  if (options.json)
    Event("end")
        .field("samples", result.samples.size())
        .field("new_tokens", tokens)
        .field("generate_seconds", seconds)
        .field("seconds", secondsSinceStart())
        .field("peak_rss_bytes", peakResidentBytes())
        .send();
  if (options.json || options.quiet || tokens == 0)
    return;
  double perSecond = static_cast<double>(tokens) / seconds;
  writeStderr(fmt::format("{} tokens, {} a second\n", withCommas(tokens),
                          perSecond < 100
                              ? fmt::format("{:.1f}", perSecond)
                              : withCommas(static_cast<uint64_t>(perSecond))));
}

Expected<int> dlrun::runGenerate(const Options &given) {
  if (Processes *run = Processes::current(); run && run->transport().size() > 1)
    return Status(Code::Usage, "generate: it runs in one process, with all "
                               "ranks of the plan; start it without a "
                               "launcher");
  auto found = withRunFolder(given);
  if (!found)
    return found.takeError();
  const Options &options = *found;
  DLRT_TRY(checkOutputs(options));
  auto opened = openSession(options);
  if (!opened)
    return opened.takeError();
  Session &session = **opened;
  auto model = findLanguageModel(session, options.generation);
  if (!model)
    return model.takeError().within(options.plan);
  auto prompt = promptOf(options, *model);
  if (int stopped = stopSignal())
    return 128 + stopped;
  if (!prompt)
    return prompt.takeError();
  DLRT_TRY(checkWeightsNamed(options, session.plan()));
  bool areBytes = options.tokens.empty();
  auto stops = stopsOf(options, *model, areBytes);
  if (!stops)
    return stops.takeError();
  DLRT_TRY(beginStates(session));
  auto begin = std::chrono::steady_clock::now();
  Show show(options, areBytes, *prompt);
  int signal = 0;
  GenerationOptions wanted{*prompt, options.newTokens, options.samples, *stops,
                           options.sampling};
  auto result =
      generate(session, *model, wanted, [&](uint64_t sample, uint64_t token) {
        show.next(sample, token);
        signal = stopSignal();
        return signal == 0 && stdoutStatus().ok();
      });
  if (!result)
    return result.takeError();
  show.end(*result);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  reportSpeed(options, *result, prompt->size(), seconds.count());
  DLRT_TRY(saveTrace(options, session));
  return signal == 0 ? 0 : 128 + signal;
}
