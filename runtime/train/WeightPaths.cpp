#include "runtime/train/WeightPaths.h"

#include "runtime/base/FilesLike.h"
#include "runtime/base/JsonReader.h"
#include "runtime/train/RunFolder.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

using namespace dlrt;
namespace fs = std::filesystem;

static constexpr std::string_view kIndexEnd = ".index.json";
static constexpr const char *kWhole = "model.safetensors";

/// {"weight_map": {"fc.weight": "model-00001-of-00002.safetensors", ...}}
static Expected<std::vector<std::string>>
partsOfIndex(const std::string &path) {
  auto json = readJson(path);
  if (!json)
    return json.takeError();
  const JsonValue *map = json->find("weight_map");
  std::set<std::string> names;
  if (map && map->kind == JsonValue::Kind::Object)
    for (const JsonMember &member : map->members)
      if (member.value.kind == JsonValue::Kind::String)
        names.insert(member.value.text);
  std::vector<std::string> parts;
  for (const std::string &name : names) {
    if (name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos)
      return Status(Code::Io,
                    fmt::format("{}: '{}' is not the name of a file beside it",
                                path, name));
    parts.push_back(fs::path(path).replace_filename(name).native());
  }
  if (parts.empty())
    return Status(Code::Io,
                  fmt::format("{}: it has no \"weight_map\", which says which "
                              "file holds which tensor",
                              path));
  return parts;
}

static Expected<std::vector<std::string>>
filesOfFolder(const std::string &path) {
  std::error_code error;
  if (fs::exists(path + "/run.json", error)) {
    auto checkpoint = RunFolder::newestCheckpoint(path);
    if (!checkpoint)
      return checkpoint.takeError();
    return std::vector<std::string>{std::move(*checkpoint)};
  }
  std::string whole = path + "/" + kWhole;
  if (std::string index = whole + std::string(kIndexEnd);
      fs::exists(index, error))
    return partsOfIndex(index);
  if (fs::exists(whole, error))
    return std::vector<std::string>{std::move(whole)};
  return Status(Code::Usage,
                fmt::format("'{}' is a folder and holds neither a run nor {}; "
                            "weights are a .safetensors file, or such a folder",
                            path, kWhole));
}

Expected<std::vector<std::string>>
dlrt::weightPaths(const std::string &argument) {
  std::error_code error;
  if (fs::is_directory(argument, error))
    return filesOfFolder(argument);
  if (argument.ends_with(kIndexEnd))
    return partsOfIndex(argument);
  std::vector<std::string> files = filesLike(argument);
  return files.empty() ? std::vector<std::string>{argument} : files;
}

Expected<std::vector<WeightSource>>
dlrt::weightSources(const std::vector<WeightSource> &arguments) {
  std::vector<WeightSource> sources;
  for (const WeightSource &argument : arguments) {
    auto paths = weightPaths(argument.path);
    if (!paths)
      return paths.takeError();
    for (size_t i = 0; i < paths->size(); ++i)
      sources.push_back({std::move((*paths)[i]), argument.maps, i != 0});
  }
  return sources;
}
