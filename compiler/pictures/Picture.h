// What a picture of a training step shows, before anything has a place: boxes
// with text, and what leads from one to another. Knows nothing of MLIR, of
// Graphviz, or of SVG.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace dl::pictures {

enum class Part { Input, Forward, Saved, Backward, Update, Output };

/// "forward"; also the class of a box in the SVG.
const char *nameOf(Part part);

/// How much a picture shows.
enum class View { Blocks, Modules, Ops, Kernels };

/// One op of a kernel, of a folded module.
struct Member {
  std::string text; // "conv1/conv2d"
  Part part;
};

struct Node {
  std::string id; // "conv1/conv2d", unique and the same every time
  Part part = Part::Forward;
  std::string title;               // "conv2d"
  std::string detail;              // "[4,10,24,24] f32"
  std::vector<std::string> states; // read or written: "weight [10,1,5,5]"
  std::vector<Member> members;     // what it holds, where it holds several ops
  std::vector<std::string> ops;    // the ops it stands for: "graph.conv2d"
  std::string module;              // path, empty outside of modules
  std::string where;               // "mnist.dl:14:17"
  int64_t bytes = 0;               // of its results
  bool isExchange = false;         // bytes move between ranks
  int count = 1; // of equal nodes, of which only this one is shown
  /// The forward node beside which it stands; -1: none in particular.
  int anchor = -1;
};

struct Edge {
  enum Kind {
    Data,
    Keep, // from an op to a value that is kept for its gradient
    Use,  // from a kept value to the backward that reads it
    Turn  // from the loss to the first gradient
  };
  int from, to;
  Kind kind = Data;
  auto operator<=>(const Edge &) const = default;
};

/// Nodes [first, last] stand for `count` equal blocks, of which only the first
/// is shown.
struct Repeat {
  int first, last; // forward nodes
  int count;
  std::string names; // "h.0 … h.11"
};

struct Picture {
  std::string title;    // "mnist.dl: step train, batch of 4"
  std::string subtitle; // "21,840 parameters · 31 ops"
  View view = View::Blocks;
  std::vector<Node> nodes; // each part in the order of the program
  std::vector<Edge> edges;
  std::vector<Repeat> repeats;
};

} // namespace dl::pictures
