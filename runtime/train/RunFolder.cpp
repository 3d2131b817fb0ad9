#include "runtime/train/RunFolder.h"

#include "runtime/base/AtomicFile.h"
#include "runtime/base/JsonReader.h"
#include "runtime/base/JsonWriter.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
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
  folder.root = path;
  while (folder.root.size() > 1 && folder.root.back() == '/')
    folder.root.pop_back();
  std::error_code error;
  if (create) {
    fs::create_directories(folder.root + "/checkpoints", error);
    if (error)
      return ioError("create the folder", folder.root, error);
  }
  folder.lock = ::open(folder.root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder.lock < 0)
    return ioError("open the folder", folder.root, lastError());
  if (flock(folder.lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Status(Code::Io, fmt::format("'{}': another dlrun is at work in "
                                        "this folder",
                                        folder.root));
  return folder;
}

bool RunFolder::holdsRun() const {
  return access((root + "/run.json").c_str(), F_OK) == 0;
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

Expected<RunRecord> RunFolder::record() const {
  std::string path = root + "/run.json";
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  std::span<const uint8_t> bytes = file->bytes();
  auto json =
      parseJson({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  if (!json)
    return Status(Code::Io, json.takeError().message()).within(path);
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
  if (!good)
    return Status(Code::Io, path + ": plan, folder or arguments are missing");
  return record;
}

std::string RunFolder::checkpointPath(uint64_t step) const {
  return fmt::format("{}/checkpoints/{}{:08}{}", root, prefix, step, suffix);
}

Expected<std::vector<uint64_t>> RunFolder::checkpoints() const {
  std::vector<uint64_t> steps;
  std::error_code error;
  std::string folder = root + "/checkpoints";
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename();
    if (!name.starts_with(prefix) || !name.ends_with(suffix))
      continue;
    auto step = parseUnsigned(std::string_view(name).substr(
        prefix.size(), name.size() - prefix.size() - suffix.size()));
    if (step)
      steps.push_back(*step);
  }
  if (error)
    return ioError("list the folder", folder, error);
  std::sort(steps.begin(), steps.end());
  return steps;
}

Status RunFolder::prune(uint64_t keep) const {
  auto steps = checkpoints();
  if (!steps)
    return steps.takeError();
  for (size_t i = 0; keep != 0 && i + keep < steps->size(); ++i)
    if (unlink(checkpointPath((*steps)[i]).c_str()) != 0)
      return ioError("remove", checkpointPath((*steps)[i]), lastError());
  return {};
}

void RunFolder::removeLeftovers() const {
  for (const std::string &folder : {root, root + "/checkpoints"}) {
    std::error_code error;
    std::vector<std::string> found;
    for (fs::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
      std::string name = at->path().filename();
      size_t mark = name.rfind(".tmp.");
      if (mark != std::string::npos &&
          parseUnsigned(std::string_view(name).substr(mark + 5)))
        found.push_back(at->path());
    }
    for (const std::string &path : found)
      unlink(path.c_str());
  }
}
