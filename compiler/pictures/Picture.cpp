#include "compiler/pictures/Picture.h"

namespace dl::pictures {

const char *nameOf(Part part) {
  switch (part) {
  case Part::Input:
    return "input";
  case Part::Forward:
    return "forward";
  case Part::Saved:
    return "saved";
  case Part::Backward:
    return "backward";
  case Part::Update:
    return "update";
  case Part::Output:
    return "output";
  }
  return "";
}

} // namespace dl::pictures
