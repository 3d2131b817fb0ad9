// Which tensor of which weight file a state gets, and what does not fit.
#ifndef DLRT_STATE_WEIGHTMATCH_H
#define DLRT_STATE_WEIGHTMATCH_H

#include "runtime/base/Status.h"
#include "runtime/plan/plan_generated.h"
#include "runtime/state/Safetensors.h"

#include <map>
#include <string>
#include <vector>

namespace dlrt {

/// How a name of a file becomes one of the model's. `theirs` is a whole name,
/// or what a name begins with up to a dot ("encoder" for "encoder.0.weight";
/// "" for all), or has one '*' for any text, which `ours` takes over.
struct NameMap {
  std::string theirs, ours;
};

/// "THEIRS=OURS", or several with commas between.
Expected<std::vector<NameMap>> parseNameMaps(const std::string &text);

/// The name after the first map that fits; `used` counts them.
std::string renamed(const std::string &name, const std::vector<NameMap> &maps,
                    std::vector<size_t> *used = nullptr);

/// A weight file and what its names are in the model.
struct WeightSource {
  std::string path;
  std::vector<NameMap> maps;
  /// It and the file before it are parts of one, and have the same maps.
  bool continues = false;
};

class WeightMatch {
public:
  /// All of them must outlive the match. Files may have `constants`, which are
  /// not looked at.
  WeightMatch(const std::vector<const fb::StateT *> &states,
              const std::vector<std::string> &constants,
              const std::vector<WeightSource> &sources,
              const std::vector<SafetensorsFile> &files)
      : states(states), constants(constants), sources(sources), files(files) {}

  struct Chosen {
    const SafetensorsEntry *entry = nullptr;
    size_t file = 0;
    std::string name; ///< in the file
  };

  /// Looks at everything. Maps that fit no name are an error here; all else is
  /// a line of `problems`.
  Status find();

  /// Null for a state that no file has, or none that fits.
  const Chosen *of(const fb::StateT &state) const;
  size_t matched() const { return chosen.size(); }
  size_t weights() const { return weightCount; }
  /// What is missing, left over, of another shape or dtype, or there twice.
  const std::vector<std::string> &problems() const { return lines; }

private:
  Status collect();
  void matchState(const fb::StateT &state);
  void takeOffer(const fb::StateT &state, const std::string &name,
                 const Chosen &offer);
  std::string commonPrefix() const;
  void sayMissing();
  void sayLeftOver();
  std::string place(const Chosen &tensor) const;

  const std::vector<const fb::StateT *> &states;
  const std::vector<std::string> &constants;
  const std::vector<WeightSource> &sources;
  const std::vector<SafetensorsFile> &files;
  std::multimap<std::string, Chosen> offers; ///< by the name in the model
  std::vector<std::string> offered, known, missing, lines;
  std::map<const fb::StateT *, Chosen> chosen;
  size_t weightCount = 0;
};

} // namespace dlrt

#endif
