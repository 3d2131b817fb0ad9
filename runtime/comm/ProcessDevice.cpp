#include "runtime/comm/ProcessDevice.h"

using namespace dlrt;

std::string RankProgress::doing(bool &waits) const {
  waits = false;
  std::lock_guard lock(mutex);
  const char *text = device ? device->doing(waits) : nullptr;
  return text ? text : "";
}

ProcessDevice::~ProcessDevice() {
  std::lock_guard lock(progress.mutex);
  progress.device = nullptr;
}

Ticket ProcessDevice::submit(const Launch &launch) {
  progress.step.store(static_cast<uint64_t>(launch.scalars[1]) + 1,
                      std::memory_order_relaxed);
  progress.launches.fetch_add(1, std::memory_order_relaxed);
  progress.phase.store(RankPhase::Steps, std::memory_order_relaxed);
  return own->submit(launch);
}

Expected<Report> ProcessDevice::wait(Ticket ticket) {
  return own->wait(ticket);
}

Status ProcessDevice::read(const BufferPlace &from,
                           std::span<uint8_t> into) const {
  progress.phase.store(RankPhase::Files, std::memory_order_relaxed);
  if (from.rank == transport.rank()) {
    BufferPlace here = from;
    here.rank = 0;
    DLRT_TRY(own->read(here, into));
  }
  return transport.broadcast(from.rank, into);
}

Status ProcessDevice::write(const BufferPlace &to,
                            std::span<const uint8_t> from) {
  if (to.rank != transport.rank())
    return {};
  BufferPlace here = to;
  here.rank = 0;
  return own->write(here, from);
}

uint8_t *ProcessDevice::inputAddress(const InputPlace &place) const {
  if (place.rank != transport.rank())
    return nullptr;
  InputPlace here = place;
  here.rank = 0;
  return own->inputAddress(here);
}
