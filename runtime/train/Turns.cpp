#include "runtime/train/Turns.h"

#include "runtime/base/Numbers.h"
#include "runtime/base/Suggest.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dlrt;

static constexpr uint64_t mostUpdates = 1'000'000'000;

static Status usage(std::string message) {
  return {Code::Usage, std::move(message)};
}

Expected<std::vector<TurnWish>> dlrt::parseAlternate(const std::string &text) {
  std::vector<TurnWish> wishes;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string part = text.substr(at, end - at);
    size_t colon = std::min(part.find(':'), part.size());
    std::string number = part.substr(std::min(colon + 1, part.size()));
    auto updates = parseUnsigned(number);
    if (colon == 0 || colon == part.size())
      return usage(fmt::format("'{}' is not STEP:N, such as disc:5", part));
    if (!updates || *updates == 0 || *updates > mostUpdates)
      return usage(fmt::format("'{}': '{}' is not a whole number from 1 to {}",
                               part, number, mostUpdates));
    wishes.push_back({part.substr(0, colon), *updates});
    at = end + 1;
  }
  return wishes;
}

std::string dlrt::alternateText(const std::vector<TurnWish> &wishes) {
  std::string text;
  for (const TurnWish &wish : wishes)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", wish.step,
                        wish.updates);
  return text;
}

static std::string listText(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

/// Each training step must have its turn.
static Status check(const std::vector<std::string> &names,
                    const std::vector<TurnWish> &wishes) {
  std::string option = "--alternate " + alternateText(wishes);
  for (const TurnWish &wish : wishes) {
    bool known = std::ranges::count(names, wish.step) != 0;
    if (!known)
      return usage(fmt::format("{}: the plan has no training step '{}'{}; it "
                               "has {}",
                               option, wish.step, didYouMean(wish.step, names),
                               listText(names)));
    if (std::ranges::count(wishes, wish.step, &TurnWish::step) > 1)
      return usage(
          fmt::format("{}: '{}' stands there twice", option, wish.step));
  }
  for (const std::string &name : names)
    if (std::ranges::count(wishes, name, &TurnWish::step) == 0)
      return usage(fmt::format("{}: the training step '{}' is missing; each "
                               "has its turn, such as {}:1",
                               option, name, name));
  return {};
}

Expected<Turns> Turns::create(const fb::PlanT &plan,
                              const std::vector<TurnWish> &wishes) {
  std::vector<std::string> names;
  std::vector<uint32_t> places;
  for (uint32_t s = 0; s < plan.steps.size(); ++s)
    if (plan.steps[s]->training) {
      names.push_back(plan.steps[s]->name);
      places.push_back(s);
    }
  if (names.empty())
    return usage("the plan has no training step");
  std::vector<TurnWish> all = wishes;
  if (wishes.empty())
    for (const std::string &name : names)
      all.push_back({name});
  DLRT_TRY(check(names, all));
  Turns turns;
  turns.written = alternateText(all);
  uint64_t end = 0;
  for (const TurnWish &wish : all) {
    auto at = std::ranges::find(names, wish.step) - names.begin();
    turns.order.push_back(places[static_cast<size_t>(at)]);
    turns.ends.push_back(end += wish.updates);
  }
  return turns;
}

size_t Turns::turnAt(uint64_t place) const {
  size_t turn = 0;
  while (ends[turn] <= place)
    ++turn;
  return turn;
}

uint64_t Turns::updatesOf(size_t turn, uint64_t place, uint64_t count) const {
  uint64_t begin = turn == 0 ? 0 : ends[turn - 1], end = ends[turn];
  // Those before a place of this round.
  auto before = [&](uint64_t at) { return std::clamp(at, begin, end) - begin; };
  uint64_t rounds = count / length(), last = place + count % length();
  uint64_t found = rounds * (end - begin) - before(place);
  return last < length() ? found + before(last)
                         : found + (end - begin) + before(last - length());
}

uint64_t Turns::untilFirstHasDone(uint64_t count, uint64_t place) const {
  uint64_t own = ends.front();
  uint64_t left = own - std::min(own, place); // of its turn of this round
  if (place != 0 && count < left)
    return count;
  uint64_t ofRound = place == 0 ? 0 : length() - place;
  uint64_t later = place == 0 ? count : count - left, rounds;
  if (__builtin_mul_overflow(later / own, length(), &rounds) ||
      __builtin_add_overflow(rounds, ofRound + later % own, &rounds))
    return ~uint64_t(0);
  return rounds;
}
