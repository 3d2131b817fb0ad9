#include "runtime/state/WeightMatch.h"

#include "runtime/base/Suggest.h"
#include "runtime/plan/DTypes.h"
#include "runtime/state/WeightConversion.h"
#include "runtime/state/Weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

using namespace dlrt;

/// The text behind `theirs` and a dot, or in the place of its '*'.
static std::optional<std::string> inPlace(const std::string &name,
                                          const NameMap &map) {
  const std::string &theirs = map.theirs;
  size_t star = theirs.find('*');
  if (star != std::string::npos) {
    std::string_view head = std::string_view(theirs).substr(0, star);
    std::string_view tail = std::string_view(theirs).substr(star + 1);
    if (name.size() < head.size() + tail.size() || !name.starts_with(head) ||
        !name.ends_with(tail))
      return std::nullopt;
    std::string ours = map.ours;
    size_t at = ours.find('*');
    if (at != std::string::npos)
      ours.replace(at, 1, name, head.size(),
                   name.size() - head.size() - tail.size());
    return ours;
  }
  if (name == theirs)
    return map.ours;
  bool ends = theirs.empty() || theirs.back() == '.';
  if (!name.starts_with(ends ? theirs : theirs + "."))
    return std::nullopt;
  // "module=" takes the prefix away with its dot, "=module" brings one.
  bool dotGoes = !ends && map.ours.empty();
  bool dotComes = ends && !map.ours.empty() && map.ours.back() != '.';
  return map.ours + (dotComes ? "." : "") +
         name.substr(theirs.size() + (dotGoes ? 1 : 0));
}

std::string dlrt::renamed(const std::string &name,
                          const std::vector<NameMap> &maps,
                          std::vector<size_t> *used) {
  for (size_t m = 0; m < maps.size(); ++m)
    if (auto ours = inPlace(name, maps[m])) {
      if (used)
        ++(*used)[m];
      return *ours;
    }
  return name;
}

Expected<std::vector<NameMap>> dlrt::parseNameMaps(const std::string &text) {
  std::vector<NameMap> maps;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string part = text.substr(at, end - at);
    size_t equals = part.find('=');
    auto stars = [](const std::string &s) {
      return std::count(s.begin(), s.end(), '*');
    };
    if (equals == std::string::npos || part == "=")
      return Status(Code::Usage,
                    fmt::format("'{}' is not THEIRS=OURS, a name of the file "
                                "(or what its names begin with) and the "
                                "model's",
                                part));
    NameMap map = {part.substr(0, equals), part.substr(equals + 1)};
    if (stars(map.theirs) > 1 || stars(map.ours) > stars(map.theirs))
      return Status(Code::Usage,
                    fmt::format("'{}': one '*' on the left, and at most one on "
                                "the right",
                                part));
    maps.push_back(std::move(map));
    at = end + 1;
  }
  return maps;
}

/// PyTorch's batch norms count their batches; a model without that counter
/// misses nothing.
static bool isCounter(const std::string &name) {
  constexpr std::string_view counter = "num_batches_tracked";
  return name == counter || (name.ends_with(counter) &&
                             name[name.size() - counter.size() - 1] == '.');
}

static std::string list(const std::vector<std::string> &names) {
  constexpr size_t most = 12;
  size_t shown = names.size() > most + 1 ? most : names.size();
  std::string text;
  for (size_t n = 0; n < shown; ++n)
    text += fmt::format("{}'{}'", n == 0 ? "" : ", ", names[n]);
  return shown == names.size()
             ? text
             : text + fmt::format(" and {} more", names.size() - shown);
}

std::string WeightMatch::place(const Chosen &tensor) const {
  return files.size() == 1 ? fmt::format("'{}'", tensor.name)
                           : fmt::format("'{}' of {}", tensor.name,
                                         sources[tensor.file].path);
}

Status WeightMatch::collect() {
  std::vector<size_t> used;
  std::vector<std::string> names;
  for (size_t f = 0; f < files.size(); ++f) {
    const WeightSource &source = sources[f];
    if (!source.continues) {
      used.assign(source.maps.size(), 0);
      names.clear();
    }
    bool isCheckpoint = files[f].metadata.count("dl.checkpoint") != 0;
    for (const auto &[name, entry] : files[f].tensors) {
      names.push_back(name);
      // What another optimizer has kept says nothing of the weights.
      if (isCheckpoint && name.starts_with("optim."))
        continue;
      std::string ours = renamed(name, source.maps, &used);
      offers.emplace(ours, Chosen{&entry, f, name});
      offered.push_back(ours);
    }
    bool isLast = f + 1 == files.size() || !sources[f + 1].continues;
    for (size_t m = 0; isLast && m < used.size(); ++m)
      if (used[m] == 0)
        return {Code::Usage,
                fmt::format("--init-map '{}={}': {} has no such name{}",
                            source.maps[m].theirs, source.maps[m].ours,
                            source.path,
                            didYouMean(source.maps[m].theirs, names))};
  }
  return {};
}

Status WeightMatch::find() {
  DLRT_TRY(collect());
  for (const fb::StateT *state : states)
    if (isWeight(*state)) {
      ++weightCount;
      matchState(*state);
    } else { // a checkpoint may give weights; what else it has does not disturb
      known.push_back(state->name);
    }
  sayMissing();
  sayLeftOver();
  return {};
}

void WeightMatch::matchState(const fb::StateT &state) {
  std::vector<std::string> names = {state.name};
  names.insert(names.end(), state.aliases.begin(), state.aliases.end());
  known.insert(known.end(), names.begin(), names.end());
  bool found = false;
  for (const std::string &name : names)
    for (auto [at, end] = offers.equal_range(name); at != end; ++at) {
      found = true;
      takeOffer(state, name, at->second);
    }
  if (!found && !isCounter(state.name))
    missing.push_back(state.name);
}

void WeightMatch::takeOffer(const fb::StateT &state, const std::string &name,
                            const Chosen &offer) {
  const SafetensorsEntry &entry = *offer.entry;
  if (entry.shape != state.shape) {
    lines.push_back(fmt::format("{} has shape {}, the model's{} is {}",
                                place(offer), shapeText(entry.shape),
                                name == offer.name ? "" : " '" + name + "'",
                                shapeText(state.shape)));
    return;
  }
  if (Status status = checkConversion(entry.dtype, state.dtype); !status.ok()) {
    lines.push_back(fmt::format("{}: {}", place(offer), status.message()));
    return;
  }
  auto [before, isNew] = chosen.try_emplace(&state, offer);
  if (isNew)
    return;
  const Chosen &other = before->second;
  if (other.file != offer.file)
    lines.push_back(fmt::format("'{}' is in {} and in {}", state.name,
                                sources[other.file].path,
                                sources[offer.file].path));
  else if (other.entry->dtype != entry.dtype ||
           !std::ranges::equal(other.entry->data, entry.data))
    lines.push_back(fmt::format("'{}' and '{}' differ, but the model ties them",
                                other.name, offer.name));
  before->second = offer; // of several files, the last one
}

/// What some of the file's names have in front of all of the model's that are
/// missing: "model." of a wrapper. "" where there is none, or several.
std::string WeightMatch::commonPrefix() const {
  std::string found;
  for (const std::string &other : offered) {
    if (missing.empty() || !other.ends_with("." + missing[0]))
      continue;
    std::string prefix = other.substr(0, other.size() - missing[0].size());
    bool fitsAll = std::ranges::all_of(missing, [&](const std::string &name) {
      return std::ranges::count(offered, prefix + name) != 0;
    });
    if (fitsAll && !found.empty() && found != prefix)
      return "";
    if (fitsAll)
      found = prefix;
  }
  return found;
}

void WeightMatch::sayMissing() {
  if (missing.empty())
    return;
  std::string prefix = commonPrefix();
  lines.push_back(fmt::format(
      "{} of the model's weights {} missing: {}{}", missing.size(),
      missing.size() == 1 ? "is" : "are", list(missing),
      prefix.empty()
          ? didYouMean(missing[0], offered)
          : fmt::format("; in the file they begin with '{}', which "
                        "--init-map '{}=' takes away",
                        prefix, prefix.substr(0, prefix.size() - 1))));
}

void WeightMatch::sayLeftOver() {
  std::sort(known.begin(), known.end());
  std::vector<std::string> extra;
  for (const auto &[name, offer] : offers)
    if (!std::binary_search(known.begin(), known.end(), name) &&
        std::ranges::find(constants, name) == constants.end() &&
        !isCounter(name))
      extra.push_back(name);
  if (!extra.empty())
    lines.push_back(
        fmt::format("the model has no weight {}{}", list(extra),
                    commonPrefix().empty() ? didYouMean(extra[0], known) : ""));
}

const WeightMatch::Chosen *WeightMatch::of(const fb::StateT &state) const {
  auto found = chosen.find(&state);
  return found == chosen.end() ? nullptr : &found->second;
}
