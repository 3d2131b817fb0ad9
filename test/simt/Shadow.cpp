#include "test/simt/Shadow.h"

#include <algorithm>

namespace dlsimt {

static void addRead(std::array<Access, 3> &reads, const Access &now) {
  // Reads that are ordered before this one say nothing that it does not.
  for (Access &read : reads)
    if (read.isBefore(now)) {
      read = now;
      // Its older ones go too, so that no thread has two places.
      for (Access &other : reads)
        if (&other != &read && other.isBefore(now))
          other = {};
      return;
    }
  // Three other threads: if they are of one warp, one of another is worth more.
  bool oneWarp =
      reads[0].warp() == reads[1].warp() && reads[0].warp() == reads[2].warp();
  if (oneWarp && now.warp() != reads[0].warp())
    reads[2] = now;
}

Conflict ShadowCell::note(const Access &now, bool writes) {
  if (!write.isBefore(now))
    return {writes ? Conflict::WriteAfterWrite : Conflict::ReadAfterWrite,
            write.thread};
  if (!writes) {
    addRead(reads, now);
    return {};
  }
  for (const Access &read : reads)
    if (!read.isBefore(now))
      return {Conflict::WriteAfterRead, read.thread};
  write = now;
  return {};
}

Conflict Shadow::note(size_t at, size_t bytes, const Access &now, bool writes) {
  for (size_t end = at + bytes; at < end;) {
    Word &word = words[at / 4];
    bool whole = at % 4 == 0 && end - at >= 4;
    if (!whole && !word.bytes) {
      word.bytes = std::make_unique<std::array<ShadowCell, 4>>();
      word.bytes->fill(word);
    }
    if (!word.bytes) {
      Conflict conflict = word.ShadowCell::note(now, writes);
      if (conflict.kind != Conflict::None)
        return conflict;
      at += 4;
      continue;
    }
    for (size_t next = std::min(end, at / 4 * 4 + 4); at < next; ++at)
      if (Conflict conflict = (*word.bytes)[at % 4].note(now, writes);
          conflict.kind != Conflict::None)
        return conflict;
  }
  return {};
}

/// Memory of the device comes and goes between launches.
void DeviceShadow::beginLaunch() {
  words = Pages();
  bytes = Pages();
  launch = run + 1;
}

DeviceShadow::Cell &DeviceShadow::Pages::at(uintptr_t number) {
  uintptr_t page = number / cells;
  if (last.first != page || !last.second) {
    auto &found = known[page];
    if (!found)
      found = std::make_unique<std::array<Cell, cells>>();
    last = {page, found.get()};
  }
  return (*last.second)[number % cells];
}

Conflict DeviceShadow::note(uintptr_t at, size_t size, const Access &now,
                            bool writes, bool mayReadOthers) {
  bool inWords = at % 4 == 0 && size % 4 == 0;
  uintptr_t unit = inWords ? 4 : 1;
  Pages &pages = inWords ? words : bytes;
  for (uintptr_t i = at / unit; i < (at + size) / unit; ++i) {
    Cell &cell = pages.at(i);
    if (Conflict conflict = cell.note(now, writes);
        conflict.kind != Conflict::None)
      return conflict;
    if (isOther(cell.writer) && (writes || !mayReadOthers))
      return {writes ? Conflict::WriteAfterWrite : Conflict::ReadAfterWrite, 0,
              true};
    if (writes) {
      if (isOther(cell.reader) || isOther(cell.otherReader))
        return {Conflict::WriteAfterRead, 0, true};
      cell.writer = run;
    } else if (cell.reader != run) {
      cell.otherReader = cell.reader;
      cell.reader = run;
    }
  }
  return {};
}

} // namespace dlsimt
