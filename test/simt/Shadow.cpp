#include "test/simt/Shadow.h"

namespace dlsimt {

void Shadow::addRead(Cell &cell, const Access &now) {
  // Reads that are ordered before this one say nothing that it does not.
  for (Access &read : cell.reads)
    if (read.isBefore(now)) {
      read = now;
      // Its older ones go too, so that no thread has two places.
      for (Access &other : cell.reads)
        if (&other != &read && other.isBefore(now))
          other = {};
      return;
    }
  // Three other threads: if they are of one warp, one of another is worth more.
  bool oneWarp = cell.reads[0].warp() == cell.reads[1].warp() &&
                 cell.reads[0].warp() == cell.reads[2].warp();
  if (oneWarp && now.warp() != cell.reads[0].warp())
    cell.reads[2] = now;
}

Conflict Shadow::note(size_t at, size_t bytes, const Access &now, bool writes) {
  for (size_t i = at; i < at + bytes; ++i) {
    Cell &cell = cells[i];
    if (!cell.write.isBefore(now))
      return {writes ? Conflict::WriteAfterWrite : Conflict::ReadAfterWrite,
              cell.write.thread};
    if (!writes) {
      addRead(cell, now);
      continue;
    }
    for (const Access &read : cell.reads)
      if (!read.isBefore(now))
        return {Conflict::WriteAfterRead, read.thread};
    cell.write = now;
  }
  return {};
}

} // namespace dlsimt
