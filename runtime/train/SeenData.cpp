#include "runtime/train/SeenData.h"

#include <fmt/format.h>

#include <sstream>

using namespace dlrt;

std::string dlrt::seenData(const Session &session) {
  std::string files, items;
  for (uint32_t step : session.trainingSteps()) {
    for (std::optional<uint64_t> hash :
         session.dataset(step).samples(session.readComponents(step)))
      files += (files.empty() ? "" : " ") +
               (hash ? fmt::format("{:016x}", *hash) : "-");
    const auto &data =
        *session.plan().datasets[session.plan().steps[step]->dataset];
    items +=
        " " + selectionWord(data, data.shuffle && session.options().shuffle);
  }
  return files + items;
}

std::optional<std::string> dlrt::otherData(const std::string &before,
                                           const std::string &now) {
  std::istringstream a(before), b(now);
  std::string one, other;
  while (a >> one && b >> other)
    if (one != other && one != "-" && other != "-")
      return one.starts_with("items:")
                 ? ": the plan takes other items of them, or in another order, "
                   "so that an evaluation may see some that were trained on"
                 : "";
  return std::nullopt;
}
