#include "runtime/train/RunFolder.h"

#include "runtime/base/AtomicFile.h"
#include "runtime/base/JsonReader.h"
#include "runtime/base/JsonWriter.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/Numbers.h"
#include "runtime/state/Checkpoint.h"
#include "runtime/train/ScalarLog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

using namespace dlrt;
namespace fs = std::filesystem;

static constexpr std::string_view prefix = "step-", suffix = ".safetensors";

static Status ioError(const char *what, const std::string &path,
                      const std::error_code &error) {
  return {Code::Io,
          fmt::format("cannot {} '{}': {}", what, path, error.message())};
}

static std::error_code lastError() { return {errno, std::generic_category()}; }

/// As the folder calls itself: without slashes at its end.
static std::string withoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

void RunFolder::swap(RunFolder &other) {
  std::swap(root, other.root);
  std::swap(lock, other.lock);
}

RunFolder::~RunFolder() {
  if (lock >= 0)
    close(lock); // and unlocked
}

Expected<RunFolder> RunFolder::open(const std::string &path, bool create) {
  RunFolder folder;
  folder.root = withoutSlashes(path);
  std::error_code error;
  if (create) {
    fs::create_directories(folder.root, error);
    if (error)
      return ioError("create the folder", folder.root, error);
  }
  folder.lock = ::open(folder.root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder.lock < 0)
    return ioError("open the folder", folder.root, lastError());
  // (Some file systems have no locks.)
  if (flock(folder.lock, LOCK_EX | LOCK_NB) != 0 && errno != ENOLCK &&
      errno != EOPNOTSUPP && errno != ENOSYS) {
    if (errno != EWOULDBLOCK)
      return ioError("lock the folder", folder.root, lastError());
    return Status(Code::Io, fmt::format("'{}': another dlrun is at work in "
                                        "this folder",
                                        folder.root));
  }
  return folder;
}

bool RunFolder::holdsRun() const {
  return access((root + "/run.json").c_str(), F_OK) == 0;
}

std::string RunFolder::inTheWay(std::span<const uint8_t> plan) const {
  std::error_code error;
  // A run that was killed before it had a record has left its plan.
  if (fs::exists(fs::symlink_status(planPath(), error))) {
    auto file = MappedFile::open(planPath());
    if (!file || !std::ranges::equal(file->bytes(), plan))
      return "model.plan";
  }
  for (const char *name : ScalarLog::fileNames)
    if (fs::exists(fs::symlink_status(root + "/" + name, error)))
      return name;
  if (fs::exists(fs::symlink_status(bestPath(), error)))
    return "best.safetensors";
  std::string folder = root + "/checkpoints";
  fs::file_status status = fs::symlink_status(folder, error);
  bool taken = fs::is_directory(status) ? !fs::is_empty(folder, error)
                                        : fs::exists(status);
  return taken ? "checkpoints" : "";
}

static std::span<const uint8_t> bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

Status RunFolder::begin(const RunRecord &record,
                        std::span<const uint8_t> plan) {
  DLRT_TRY(writeFileAtomically(planPath(), {plan}));
  return rewrite(record);
}

Status RunFolder::rewrite(const RunRecord &record) const {
  JsonWriter json(/*indent=*/true);
  json.beginObject();
  json.field("format", 1).field("plan", record.planHash);
  json.field("folder", record.folder).array("arguments", record.arguments);
  if (!record.length.empty())
    json.field("length", record.length);
  if (!record.formerPlans.empty())
    json.array("former_plans", record.formerPlans);
  if (!record.library.empty())
    json.field("library", record.library);
  if (!record.told.empty())
    json.array("told", record.told);
  json.endObject();
  std::string text = json.text() + "\n";
  return writeFileAtomically(root + "/run.json", {bytesOf(text)});
}

static bool takeString(const JsonValue *value, std::string &out) {
  if (!value || value->kind != JsonValue::Kind::String)
    return false;
  out = value->text;
  return true;
}

Expected<RunRecord> RunFolder::recordIn(const std::string &folder) {
  std::string path = folder + "/run.json";
  auto json = readJson(path);
  if (!json)
    return json.takeError();
  RunRecord record;
  const JsonValue *format = json->find("format");
  if (!format || format->text != "1")
    return Status(Code::Io, path + ": this dlrun reads format 1");
  bool good = takeString(json->find("plan"), record.planHash) &&
              takeString(json->find("folder"), record.folder);
  const JsonValue *arguments = json->find("arguments");
  good = good && arguments && arguments->kind == JsonValue::Kind::Array;
  for (size_t i = 0; good && i < arguments->items.size(); ++i)
    good = takeString(&arguments->items[i], record.arguments.emplace_back());
  const JsonValue *length = json->find("length");
  good = good && (!length || takeString(length, record.length));
  const JsonValue *former = json->find("former_plans");
  good = good && (!former || former->kind == JsonValue::Kind::Array);
  for (size_t i = 0; good && former && i < former->items.size(); ++i)
    good = takeString(&former->items[i], record.formerPlans.emplace_back());
  const JsonValue *told = json->find("told");
  good = good && (!told || told->kind == JsonValue::Kind::Array);
  for (size_t i = 0; good && told && i < told->items.size(); ++i)
    good = takeString(&told->items[i], record.told.emplace_back());
  const JsonValue *library = json->find("library");
  good = good && (!library || takeString(library, record.library));
  if (!good)
    return Status(Code::Io, path + ": plan, folder or arguments are missing");
  return record;
}

static std::string checkpointName(uint64_t step) {
  return fmt::format("{}{:08}{}", prefix, step, suffix);
}

std::string RunFolder::checkpointIn(const std::string &folder, uint64_t step) {
  return withoutSlashes(folder) + "/checkpoints/" + checkpointName(step);
}

std::string RunFolder::bestIn(const std::string &folder) {
  return withoutSlashes(folder) + "/best.safetensors";
}

/// The step of a checkpoint's file name, if it is the name we give it.
static std::optional<uint64_t> stepOf(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix))
    return std::nullopt;
  auto step = parseUnsigned(
      name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()));
  return step && name == checkpointName(*step) ? step : std::nullopt;
}

Expected<std::vector<uint64_t>> RunFolder::checkpoints() const {
  std::vector<uint64_t> steps;
  std::error_code error;
  std::string folder = root + "/checkpoints";
  if (!fs::exists(folder, error) && !error)
    return steps;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (auto step = stepOf(at->path().filename().native()))
      steps.push_back(*step);
  if (error)
    return ioError("list the folder", folder, error);
  std::sort(steps.begin(), steps.end());
  return steps;
}

Expected<std::vector<uint64_t>>
RunFolder::checkpointsUpTo(std::optional<uint64_t> step) const {
  auto steps = checkpoints();
  if (!steps || !step)
    return steps;
  auto found = std::ranges::find(*steps, *step);
  if (found == steps->end()) {
    std::string known;
    for (uint64_t other : *steps)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", other);
    return Status(Code::Usage,
                  fmt::format("--from {}: the run in '{}' has {}{}", *step,
                              root,
                              known.empty() ? "no checkpoint yet"
                                            : "checkpoints of these steps: ",
                              known));
  }
  steps->erase(found + 1, steps->end());
  return steps;
}

Expected<std::string> RunFolder::newestCheckpoint(const std::string &path) {
  RunFolder folder;
  folder.root = path;
  auto steps = folder.checkpoints();
  if (!steps)
    return steps.takeError();
  if (steps->empty())
    return Status(Code::Io,
                  fmt::format("the run in '{}' has no checkpoint yet", path));
  return folder.checkpointPath(steps->back());
}

Expected<std::string> dlrt::checkpointFile(const std::string &path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return path;
  if (!fs::exists(path + "/run.json", error))
    return Status(Code::Usage,
                  fmt::format("'{}' is a folder and holds no run; a checkpoint "
                              "is a .safetensors file, or in the folder of a "
                              "run",
                              path));
  return RunFolder::newestCheckpoint(path);
}

std::optional<uint64_t> RunFolder::newestFinite() const {
  auto steps = checkpoints();
  if (!steps)
    return std::nullopt;
  auto found = std::find_if(steps->rbegin(), steps->rend(), [&](uint64_t step) {
    return isFiniteCheckpoint(checkpointPath(step));
  });
  return found == steps->rend() ? std::nullopt : std::optional(*found);
}

Status RunFolder::prune(uint64_t keep) const {
  auto steps = checkpoints();
  if (!steps)
    return steps.takeError();
  auto good = newestFinite();
  for (size_t i = 0; keep != 0 && i + keep < steps->size(); ++i) {
    std::string path = checkpointPath((*steps)[i]);
    if ((*steps)[i] == good)
      continue;
    if (unlink(path.c_str()) != 0 && errno != ENOENT)
      return ioError("remove", path, lastError());
  }
  return {};
}

std::string dlrt::freeOldFolder(const std::string &folder) {
  std::error_code error;
  std::string old;
  unsigned number = 0;
  do
    old = fmt::format("{}/old-{}", folder, ++number);
  while (fs::exists(fs::symlink_status(old, error)));
  return old;
}

Expected<std::string> RunFolder::setAsideBehind(uint64_t step) const {
  auto steps = checkpoints();
  if (!steps)
    return steps.takeError();
  std::erase_if(*steps, [&](uint64_t other) { return other <= step; });
  if (steps->empty())
    return std::string();
  std::string old = freeOldFolder(root);
  std::error_code error, none;
  fs::create_directories(old + "/checkpoints", error);
  for (const char *name : ScalarLog::fileNames)
    if (!error && fs::exists(root + "/" + name, error) && !error)
      fs::copy_file(root + "/" + name, old + "/" + name, error);
  if (error) {
    fs::remove_all(old, none);
    return ioError("copy the logs into", old, error);
  }
  auto best = CheckpointFile::open(bestPath());
  if (best && best->facts.step > step)
    fs::rename(bestPath(), bestIn(old), error);
  // The newest first: what is left, if this is cut short, is a run.
  for (auto at = steps->rbegin(); !error && at != steps->rend(); ++at)
    fs::rename(checkpointPath(*at), checkpointIn(old, *at), error);
  if (error)
    return ioError("move newer checkpoints into", old, error);
  return old;
}

/// A file of ours under the name it has until it is whole.
static bool isLeftover(std::string_view name) {
  size_t mark = name.rfind(".tmp.");
  if (mark == std::string_view::npos || !parseUnsigned(name.substr(mark + 5)))
    return false;
  std::string_view whole = name.substr(0, mark);
  return whole == "model.plan" || whole == "run.json" ||
         whole == "best.safetensors" || stepOf(whole);
}

Status RunFolder::prepare() const {
  std::error_code error;
  std::string checkpointFolder = root + "/checkpoints";
  fs::create_directory(checkpointFolder, error);
  if (error)
    return ioError("create the folder", checkpointFolder, error);
  for (const std::string &folder : {root, checkpointFolder}) {
    std::vector<std::string> found;
    for (fs::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error))
      if (isLeftover(at->path().filename().native()))
        found.push_back(at->path());
    for (const std::string &path : found)
      unlink(path.c_str());
  }
  return {};
}
