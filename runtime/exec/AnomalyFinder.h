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
    fb::DType dtype;    ///< F32, F64 or BF16
    bool isWritten;
    bool isReceived;         ///< from another rank
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
  /// A set of origins by their numbers; the last one stands for all behind it.
  using Origins = uint64_t;
  static constexpr size_t mostOrigins = 64;
  struct Made {
    Floats range;
    Origins from;
  };

  std::vector<std::string> origins;
  std::vector<Made> made; ///< ranges that have NaN now
  Origins guilty = 0;     ///< whose NaN a state or a metric has
};

} // namespace dlrt

#endif
