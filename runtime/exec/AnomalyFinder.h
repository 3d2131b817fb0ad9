// Finds the commands in which NaN begin, as torch.autograd.detect_anomaly does
// for the backward.
#ifndef DLRT_EXEC_ANOMALYFINDER_H
#define DLRT_EXEC_ANOMALYFINDER_H

#include "runtime/base/Status.h"
#include "runtime/exec/PreparedProgram.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace dlrt {

/// Looks at what each command has written, and at what it has read. NaN that no
/// state and no metric has in the end are nobody's concern: where() drops them.
class AnomalyFinder {
public:
  /// Numbers that a command reads or writes.
  struct Floats {
    const uint8_t *begin; ///< in the first input slot
    uint64_t bytes;
    uint64_t slotBytes; ///< from slot to slot; 0: the same for all
    bool isDouble, isWritten;
    bool isKept;             ///< of a state or a metric
    const std::string *name; ///< of the buffer
  };

  /// By command. Once, where the program stays.
  void describe(const PreparedProgram &program,
                std::vector<std::vector<Floats>> byCommand) {
    floats[&program] = std::move(byCommand);
  }

  /// After a command has run, and before anybody whom it waits for.
  void look(const PreparedProgram &program, uint32_t command, uint32_t slot);

  /// Whether the program that has run has made NaN, and where they begin.
  Status verdict();

private:
  std::unordered_map<const PreparedProgram *, std::vector<std::vector<Floats>>>
      floats;
  std::vector<std::string> origins;
  std::vector<Floats> made; ///< written, with NaN
  bool isKept = false;
};

} // namespace dlrt

#endif
