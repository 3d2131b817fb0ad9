#include "compiler/pictures/Course.h"
#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace dl::pictures {
namespace {

/// The first ones fill the pipeline.
constexpr int steps = 4;

class Follower {
public:
  explicit Follower(std::vector<std::vector<CourseCommand>> given)
      : programs(std::move(given)), stages(programs.size()) {
    for (size_t s = 0; s < programs.size(); ++s) {
      Stage &stage = stages[s];
      stage.successors.resize(programs[s].size());
      stage.rank = placesOf(programs[s]);
      for (size_t c = 0; c < programs[s].size(); ++c) {
        const CourseCommand &command = programs[s][c];
        for (unsigned before : command.after)
          stage.successors[before].push_back(c);
        if (command.exchange)
          ++members[*command.exchange];
        else
          busy += command.seconds;
      }
    }
    for (size_t s = 0; s < programs.size(); ++s)
      beginStep(s, 0);
  }

  Course run() {
    while (!events.empty()) {
      double now = events.top().time;
      // All that ends now, before anybody chooses what to begin.
      while (!events.empty() && events.top().time == now) {
        Event event = events.top();
        events.pop();
        if (!programs[event.stage][event.command].exchange)
          stages[event.stage].works = false;
        finish(event.stage, event.command, now);
      }
      for (size_t s = 0; s < stages.size(); ++s)
        beginNext(s, now);
    }
    Course course;
    course.period = (stages[0].begun[steps - 1] - stages[0].begun[1]) /
                    static_cast<double>(steps - 2);
    double all = course.period * static_cast<double>(stages.size());
    course.idle = all > 0 ? 1 - busy / all : 0;
    return course;
  }

private:
  struct Event {
    double time;
    size_t stage, command;
    bool operator<(const Event &other) const {
      return std::tie(other.time, other.stage, other.command) <
             std::tie(time, stage, command);
    }
  };
  struct Stage {
    std::vector<std::vector<size_t>> successors;
    std::vector<size_t> rank;                  // by command: when it is chosen
    std::vector<size_t> waiting;               // by command
    std::set<std::pair<size_t, size_t>> ready; // rank and command
    size_t unfinished = 0;
    bool works = false;
    std::vector<double> begun; // by step
  };
  struct Meeting {
    int64_t arrived = 0;
    double seconds = 0;
    std::vector<std::pair<size_t, size_t>> parts; // stage and command
  };

  /// As the runtime puts them (`putAwaitedFirst`).
  static std::vector<size_t>
  placesOf(const std::vector<CourseCommand> &program) {
    std::vector<bool> awaited(program.size(), false);
    for (size_t c = program.size(); c-- > 0;) {
      if (program[c].exchange)
        awaited[c] = true;
      if (awaited[c])
        for (unsigned before : program[c].after)
          awaited[before] = true;
    }
    std::vector<size_t> places(program.size());
    size_t next = 0;
    for (bool wanted : {true, false})
      for (size_t c = 0; c < program.size(); ++c)
        if (awaited[c] == wanted)
          places[c] = next++;
    return places;
  }

  void beginStep(size_t s, double now) {
    Stage &stage = stages[s];
    stage.begun.push_back(now);
    if (stage.begun.size() > steps)
      return;
    const auto &program = programs[s];
    stage.unfinished = program.size();
    stage.waiting.resize(program.size());
    for (size_t c = 0; c < program.size(); ++c)
      stage.waiting[c] = program[c].after.size();
    for (size_t c = 0; c < program.size(); ++c)
      if (stage.waiting[c] == 0)
        makeReady(s, c, now);
    if (stage.begun.size() == 1)
      beginNext(s, now);
  }

  void makeReady(size_t s, size_t c, double now) {
    const CourseCommand &command = programs[s][c];
    if (!command.exchange) {
      stages[s].ready.insert({stages[s].rank[c], c});
      return;
    }
    auto key = std::pair(stages[s].begun.size(), *command.exchange);
    Meeting &meeting = meetings[key];
    meeting.parts.push_back({s, c});
    meeting.seconds = std::max(meeting.seconds, command.seconds);
    if (++meeting.arrived < members[*command.exchange])
      return;
    for (auto [stage, part] : meeting.parts)
      events.push({now + meeting.seconds, stage, part});
    meetings.erase(key);
  }

  void beginNext(size_t s, double now) {
    Stage &stage = stages[s];
    if (stage.works || stage.ready.empty())
      return;
    size_t c = stage.ready.begin()->second;
    stage.ready.erase(stage.ready.begin());
    stage.works = true;
    events.push({now + programs[s][c].seconds, s, c});
  }

  void finish(size_t s, size_t c, double now) {
    Stage &stage = stages[s];
    for (size_t successor : stage.successors[c])
      if (--stage.waiting[successor] == 0)
        makeReady(s, successor, now);
    if (--stage.unfinished == 0)
      beginStep(s, now);
  }

  std::vector<std::vector<CourseCommand>> programs;
  std::vector<Stage> stages;
  std::map<int64_t, int64_t> members; // stages of an exchange
  std::map<std::pair<size_t, int64_t>, Meeting> meetings;
  std::priority_queue<Event> events;
  double busy = 0; // of all stages in a step
};

} // namespace

Course followCommands(std::vector<std::vector<CourseCommand>> stages) {
  for (const auto &program : stages)
    if (program.empty())
      return {};
  return Follower(std::move(stages)).run();
}

} // namespace dl::pictures
