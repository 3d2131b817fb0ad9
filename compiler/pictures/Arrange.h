// Rows and columns: the forward runs down on the left, what it saves stands in
// the middle, the backward runs up on the right of that, each gradient beside
// its op, and the update stands at the end, on the far right.
#pragma once

#include "compiler/pictures/Picture.h"

namespace dl::pictures {

struct Row {
  std::string module;
  /// Inputs, forward ops and outputs side by side. The last one is in the main
  /// chain, unless the chain passes by.
  std::vector<int> forward;
  bool inChain = false;
  std::vector<int> saved;
  /// From the lowest layer up. In the main chain is the first of a layer,
  /// unless the chain passes by.
  struct Layer {
    std::vector<int> nodes;
    bool inChain = false;
  };
  std::vector<Layer> backward;
  std::vector<int> update;
};

/// A box around rows: a module, or equal blocks of which one is shown.
struct Frame {
  std::string label; // "h.0.attn"
  std::string badge; // "× 12"
  int first, last;   // rows
  int depth;         // 0 is the outermost
};

struct Arrangement {
  std::vector<Row> rows;
  std::vector<Frame> frames;
};

Arrangement arrange(const Picture &picture);

} // namespace dl::pictures
