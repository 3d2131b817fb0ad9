// Which items of the files a data set of a plan has.
#ifndef DLRT_DATA_SELECTIONS_H
#define DLRT_DATA_SELECTIONS_H

#include "runtime/base/Status.h"
#include "runtime/data/Permutation.h"
#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <vector>

namespace dlrt {

/// Of a part of a part, one after the other. None: all items are there.
class Selections {
public:
  Selections() = default;
  /// Refuses files that have other items than those that were divided: fewer,
  /// or another number where the order is drawn.
  static Expected<Selections> make(const fb::DatasetT &dataset,
                                   uint64_t itemsOfFiles);

  bool empty() const { return all.empty(); }
  /// Whether items that follow one another do so in the files.
  bool keepOrder() const;
  /// The item of the files.
  uint64_t operator()(uint64_t item) const;

private:
  struct One {
    uint64_t first;
    bool shuffled;
    Permutation order;
  };
  std::vector<One> all;
};

/// "5,000 of 60,000 items, drawn with seed 42"; only the number where all are
/// there.
std::string itemsText(const fb::DatasetT &dataset, uint64_t items);

/// Which items those are, and whether they come in their order, as one word for
/// records: "items:45000+0/60000~1,shuffled".
std::string selectionWord(const fb::DatasetT &dataset, bool shuffled);

} // namespace dlrt

#endif
