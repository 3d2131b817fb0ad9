#include "runtime/exec/TransportErrand.h"

#include <algorithm>

using namespace dlrt;

/// What a transport's users need besides: the word that stops a run.
static constexpr uint64_t tagsOfOthers = 2;

namespace {

class TransportErrand final : public Errand {
public:
  explicit TransportErrand(Transport &transport) : transport(transport) {}

  void begin(uint32_t slot) override {
    transport.start(*exchanges[slot < exchanges.size() ? slot : 0]);
  }

  /// The messages of a run with that slot.
  Status prepare(const Meeting &meeting, const MeetingPlaces &places,
                 uint32_t slot) {
    auto messagesOf = [&](const std::vector<Meeting::Message> &list) {
      std::vector<Message> messages;
      for (const Meeting::Message &m : list)
        messages.push_back(
            {places.address(m.rank, m.range, slot), m.range.bytes(), m.peer});
      return messages;
    };
    auto exchange = transport.prepare(
        messagesOf(meeting.sends), messagesOf(meeting.receives),
        meeting.order + tagsOfOthers, [this] { ended(); });
    if (!exchange)
      return exchange.takeError();
    exchanges.push_back(std::move(*exchange));
    return {};
  }

private:
  Transport &transport;
  std::vector<std::unique_ptr<Exchange>> exchanges; ///< by slot, or one for all
};

} // namespace

Expected<std::unique_ptr<Errand>>
dlrt::transportErrand(Transport &transport, const Meeting &meeting,
                      const MeetingPlaces &places) {
  if (meeting.sends.empty() && meeting.receives.empty())
    return std::unique_ptr<Errand>();
  auto errand = std::make_unique<TransportErrand>(transport);
  for (uint32_t slot = 0; slot < places.slots; ++slot)
    DLRT_TRY(errand->prepare(meeting, places, slot));
  return std::unique_ptr<Errand>(std::move(errand));
}
