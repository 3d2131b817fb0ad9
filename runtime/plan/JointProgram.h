// The programs of ranks that run together, as one list of commands.
#ifndef DLRT_PLAN_JOINTPROGRAM_H
#define DLRT_PLAN_JOINTPROGRAM_H

#include "runtime/plan/PlanSet.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dlrt {

/// A communication between ranks, as far as those at hand take part in it.
/// Their numbers are indices of the ranks at hand; peers are ranks of the mesh.
struct Meeting {
  struct Member {
    uint32_t rank;
    const fb::CommunicateT *work;
  };
  /// Between ranks at hand, or of one to itself.
  struct Copy {
    uint32_t from, to;
    fb::Range source, target;
  };
  /// A range of a rank at hand, which goes to a rank elsewhere or comes from
  /// it.
  struct Message {
    uint32_t rank, peer;
    fb::Range range;
  };

  uint64_t order = 0;
  std::vector<Member> members;
  std::vector<Copy> copies;
  /// In the order in which they are matched.
  std::vector<Message> sends, receives;
  /// The most that one rank at hand gives to others or gets from them.
  uint64_t bytes = 0;
};

/// A rank's command, or a communication of several.
struct JointCommand {
  struct Part {
    uint32_t rank;   ///< index of those at hand
    uint32_t number; ///< in that rank's program
  };
  std::vector<Part> parts;        ///< one, but of a communication
  std::vector<uint32_t> after;    ///< earlier ones; ascending, each once
  std::optional<Meeting> meeting; ///< of a communication
};

/// The programs of one kind of a step of `ranks` (of the mesh), put together in
/// an order that all dependencies respect. A communication is one command, for
/// which all of its members at hand wait.
Expected<std::vector<JointCommand>>
joinPrograms(const PlanSet &set, std::span<const uint32_t> ranks, uint32_t step,
             fb::ProgramKind kind);

} // namespace dlrt

#endif
