// Colours, the same in SVG, DOT and the memory picture.
#pragma once

#include "compiler/pictures/Picture.h"

namespace dl::pictures {

struct Paint {
  const char *fill, *line;
};

inline Paint paintOf(Part part) {
  switch (part) {
  case Part::Forward:
    return {"#CFE3F7", "#5B8DBF"};
  case Part::Saved:
    return {"orange", "#B87300"};
  case Part::Backward:
    return {"lightgrey", "#7D7D7D"};
  case Part::Update:
    return {"#F6D3DC", "#BF7187"};
  case Part::Input:
  case Part::Output:
    return {"#FFFFFF", "#4A4A4A"};
  }
  return {"#FFFFFF", "#4A4A4A"};
}

/// Of gradients of weights, paler than the backward: no other stage waits.
inline constexpr Paint weightGradientPaint = {"#EFEFEF", "#A5A5A5"};
/// Of exchanges between ranks.
inline constexpr Paint exchangePaint = {"#D9F2E3", "#3C9A66"};

inline constexpr const char *parameterFill = "#FFE8B3";
inline constexpr const char *frameLine = "#B4C0CC";
inline constexpr const char *frameFill = "#F5F8FB";
inline constexpr const char *fontFamily =
    "Helvetica, Arial, 'DejaVu Sans', sans-serif";

} // namespace dl::pictures
