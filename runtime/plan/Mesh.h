// The mesh of ranks: coordinates, groups, and which part of a tensor is whose.
#ifndef DLRT_PLAN_MESH_H
#define DLRT_PLAN_MESH_H

#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dlrt {

/// Named axes, the slowest first; a rank's number is made of its coordinates.
/// No axes: one rank.
struct Mesh {
  struct Axis {
    std::string name;
    uint32_t size;
  };
  std::vector<Axis> axes;

  uint32_t ranks() const;
  uint32_t coordinate(uint32_t rank, size_t axis) const;
  /// Ranks that differ along `along` alone.
  uint32_t groupSize(const std::vector<uint32_t> &along) const;
  /// A rank's number within its group: of its coordinates along `along`, the
  /// first the slowest.
  uint32_t memberOf(uint32_t rank, const std::vector<uint32_t> &along) const;
  /// The rank with that number in a rank's group.
  uint32_t rankOf(uint32_t member, uint32_t rank,
                  const std::vector<uint32_t> &along) const;
  /// "dp=2,tp=2"; empty for one rank.
  std::string text() const;
};

/// A run of elements or items.
struct Block {
  uint64_t begin, size;
};

/// One of `blocks` blocks of ceil(size / blocks), the last ones shorter or
/// empty.
Block blockOf(uint64_t size, uint32_t number, uint32_t blocks);

/// A part of a tensor.
struct Box {
  std::vector<uint64_t> begin, extent; ///< by dim
  /// Of each dim the runs of neighbours that its elements are, and how far it
  /// is from the begin of one to that of the next: a block of each section.
  /// Empty: each dim is one run.
  struct Runs {
    uint64_t size = 0, stride = 0;
    bool operator==(const Runs &) const = default;
  };
  std::vector<Runs> runs = {};

  /// Where the part's element `i` of a dim is in the whole.
  uint64_t place(size_t dim, uint64_t i) const {
    if (runs.empty())
      return begin[dim] + i;
    const auto [size, stride] = runs[dim];
    return begin[dim] + i / size * stride + i % size;
  }
  /// Which element of the part is at that place; false if none is.
  bool find(size_t dim, uint64_t place, uint64_t &i) const;

  bool operator==(const Box &) const = default;
};

using Split = std::vector<std::unique_ptr<fb::DimSplitT>>;

/// What a rank has of a tensor of that shape. The split must be a checked one.
Box boxOf(const Mesh &mesh, const std::vector<uint64_t> &shape,
          const Split &split, uint32_t rank);

/// A rank's items of a batch.
Block itemsOf(const Mesh &mesh, const fb::ProgramT &program, uint32_t rank);

/// Whom a rank's communication means by a member.
uint32_t peerOf(const Mesh &mesh, const fb::CommunicateT &exchange,
                uint32_t member, uint32_t rank);

/// A launch's constants on a rank, of those that run a plan whose first is
/// `first`; false if one overflows.
bool constantsOf(const Mesh &mesh, const fb::LaunchT &launch, uint32_t first,
                 uint32_t rank, std::vector<int64_t> &out);

} // namespace dlrt

#endif
