// Which options and commands there are, and what an option's value does.
#ifndef DLRUN_OPTIONTABLE_H
#define DLRUN_OPTIONTABLE_H

#include "runtime/base/Status.h"
#include "tools/dlrun/Options.h"

#include <span>
#include <string>
#include <string_view>

namespace dlrun {

/// Options of the launcher: of -np, and not passed on to its processes.
inline constexpr unsigned kLauncherOption = 1u << 31;
/// What a run is told by it when it goes on, it knows from then on. (Its
/// length, settings and turns it knows by other ways; all else is of the
/// process.)
inline constexpr unsigned kRememberedOption = 1u << 30;

struct OptionInfo {
  const char *name;  ///< without dashes
  unsigned commands; ///< a bit for each that has it, by number
  bool takesValue;
  dlrt::Status (*apply)(Options &, const std::string &value);

  bool isOf(Command command) const {
    return (commands & 1u << unsigned(command)) != 0;
  }
};

std::span<const OptionInfo> optionTable();

/// By number.
std::span<const char *const> namesOfCommands();

/// An option that comparable tools have and this one has not yet.
bool isForLater(std::string_view name);

} // namespace dlrun

#endif
