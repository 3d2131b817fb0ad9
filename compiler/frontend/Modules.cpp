#include "compiler/frontend/Modules.h"

using namespace dl::frontend;

static std::string joinPath(const std::string &path, llvm::StringRef name) {
  return path.empty() ? name.str() : path + "." + name.str();
}

void Modules::enter(llvm::StringRef name, const void *module) {
  unmet.remove(module);
  if (walkPath.empty()) {
    ++walks;
    if (walkIsOurs)
      unusedWalks.insert(walks);
    walkIsOurs = false;
    results.push_back(std::make_unique<std::vector<dl_named_parameter>>());
    // A part that was walked on its own keeps the longer path of the whole.
    walkPath.push_back("");
    paths.try_emplace(module, "");
    return;
  }
  walkPath.push_back(joinPath(walkPath.back(), name));
  std::string &path = paths[module];
  if (walkPath.back().size() > path.size())
    path = walkPath.back();
}

void Modules::parameter(llvm::StringRef name, int parameter, bool listed) {
  nameTexts.push_back(joinPath(walkPath.back(), name));
  std::vector<dl_named_parameter> &found = *results.back();
  bool isNew = true;
  for (const Sighting &sighting : sightings[parameter])
    isNew &= sighting.walk != walks;
  if (isNew && listed)
    found.push_back({nameTexts.back().c_str(), parameter});
  if (sightings[parameter].empty())
    met.push_back(parameter);
  sightings[parameter].push_back({walks, nameTexts.back()});
}

void Modules::constant(llvm::StringRef name, int buffer) {
  std::vector<Sighting> &seen = sightings[buffer];
  if (seen.empty())
    constantBuffers.push_back(buffer);
  seen.push_back({walks, joinPath(walkPath.back(), name)});
}

std::vector<std::string> Modules::constants() const {
  std::vector<std::string> names;
  for (int buffer : constantBuffers)
    llvm::append_range(names, namesOf(buffer));
  return names;
}

void Modules::leave() { walkPath.pop_back(); }

std::string Modules::currentPath() const {
  if (calls.empty())
    return "";
  auto found = paths.find(calls.back().module);
  return found == paths.end() ? "" : found->second;
}

void Modules::markUsed(int parameter) {
  if (auto found = sightings.find(parameter); found != sightings.end())
    for (const Sighting &sighting : found->second)
      unusedWalks.erase(sighting.walk);
}

bool Modules::belongsToModel(int parameter) const {
  auto found = sightings.find(parameter);
  return found != sightings.end() &&
         llvm::any_of(found->second, [&](const Sighting &sighting) {
           return !unusedWalks.count(sighting.walk);
         });
}

int Modules::walkOf(int parameter) const {
  auto found = sightings.find(parameter);
  if (found == sightings.end())
    return -1;
  const Sighting *best = &found->second.front();
  for (const Sighting &sighting : found->second)
    if (llvm::StringRef(sighting.name).ends_with("." + best->name))
      best = &sighting;
  return best->walk;
}

std::vector<std::string> Modules::namesOf(int parameter) const {
  auto found = sightings.find(parameter);
  if (found == sightings.end())
    return {};
  int best = walkOf(parameter);
  std::vector<std::string> names;
  for (const Sighting &sighting : found->second)
    if (sighting.walk == best && !llvm::is_contained(names, sighting.name))
      names.push_back(sighting.name);
  return names;
}
