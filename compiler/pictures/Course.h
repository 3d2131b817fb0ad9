// How the commands of a step follow each other on the stages of a pipeline.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace dl::pictures {

/// A command of the program of a stage's rank.
struct CourseCommand {
  double seconds = 0; // on one core; of an exchange, until it has arrived
  std::vector<unsigned> after;     // earlier commands of the program
  std::optional<int64_t> exchange; // its place among those of all ranks
};

struct Course {
  double period = 0; // seconds from one step to the next
  double idle = 0;   // the part of all stages' time without a command
};

/// As `dlrun` runs them with a core a rank, step after step: of what is ready,
/// first what an exchange waits for, then in the program's order. An exchange
/// begins where all of its stages have come to it, and keeps no core busy. A
/// stage begins a step when it has ended the one before, whatever others do.
Course followCommands(std::vector<std::vector<CourseCommand>> stages);

} // namespace dl::pictures
