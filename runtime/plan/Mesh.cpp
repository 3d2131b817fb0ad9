#include "runtime/plan/Mesh.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dlrt;

uint32_t Mesh::ranks() const {
  uint32_t count = 1;
  for (const Axis &axis : axes)
    count *= axis.size;
  return count;
}

uint32_t Mesh::coordinate(uint32_t rank, size_t axis) const {
  for (size_t a = axes.size(); a-- > axis + 1;)
    rank /= axes[a].size;
  return rank % axes[axis].size;
}

uint32_t Mesh::groupSize(const std::vector<uint32_t> &along) const {
  uint32_t count = 1;
  for (uint32_t axis : along)
    count *= axes[axis].size;
  return count;
}

uint32_t Mesh::memberOf(uint32_t rank,
                        const std::vector<uint32_t> &along) const {
  uint32_t member = 0;
  for (uint32_t axis : along)
    member = member * axes[axis].size + coordinate(rank, axis);
  return member;
}

uint32_t Mesh::rankOf(uint32_t member, uint32_t rank,
                      const std::vector<uint32_t> &along) const {
  for (size_t i = along.size(); i-- > 0;) {
    uint32_t axis = along[i], stride = 1;
    for (size_t a = axis + 1; a < axes.size(); ++a)
      stride *= axes[a].size;
    rank -= coordinate(rank, axis) * stride;
    rank += member % axes[axis].size * stride;
    member /= axes[axis].size;
  }
  return rank;
}

std::string Mesh::text() const {
  std::string text;
  for (const Axis &axis : axes)
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : ",", axis.name, axis.size);
  return text;
}

Block dlrt::blockOf(uint64_t size, uint32_t number, uint32_t blocks) {
  uint64_t length = size / blocks + (size % blocks != 0);
  // No product that could overflow: the blocks before end within the size.
  uint64_t begin =
      length == 0 || number > size / length ? size : number * length;
  return {begin, std::min(length, size - begin)};
}

Box dlrt::boxOf(const Mesh &mesh, const std::vector<uint64_t> &shape,
                const Split &split, uint32_t rank) {
  Box box = {std::vector<uint64_t>(shape.size(), 0), shape};
  for (const auto &part : split) {
    const uint32_t dim = part->dim;
    const uint64_t section = shape[dim] / part->sections;
    Block block = blockOf(section, mesh.memberOf(rank, part->axes),
                          mesh.groupSize(part->axes));
    box.begin[dim] = block.begin;
    box.extent[dim] = block.size * part->sections;
    if (part->sections == 1)
      continue;
    box.runs.resize(shape.size());
    box.runs[dim] = {block.size, section};
  }
  for (size_t dim = 0; dim < box.runs.size(); ++dim) {
    Box::Runs &runs = box.runs[dim];
    if (runs.stride == 0)
      runs.size = box.extent[dim];
    runs.size = std::max<uint64_t>(runs.size, 1); // of nothing, too
  }
  return box;
}

bool Box::find(size_t dim, uint64_t place, uint64_t &i) const {
  i = place - begin[dim]; // or wraps around
  if (!runs.empty() && runs[dim].stride != 0) {
    const auto [size, stride] = runs[dim];
    if (place < begin[dim] || i % stride >= size)
      return false;
    i = i / stride * size + i % stride;
  }
  return i < extent[dim];
}

Block dlrt::itemsOf(const Mesh &mesh, const fb::ProgramT &program,
                    uint32_t rank) {
  return blockOf(program.batch_items, mesh.memberOf(rank, program.split),
                 mesh.groupSize(program.split));
}

uint32_t dlrt::peerOf(const Mesh &mesh, const fb::CommunicateT &exchange,
                      uint32_t member, uint32_t rank) {
  if (exchange.relative)
    member = (mesh.memberOf(rank, exchange.axes) + member) %
             mesh.groupSize(exchange.axes);
  return mesh.rankOf(member, rank, exchange.axes);
}

bool dlrt::constantsOf(const Mesh &mesh, const fb::LaunchT &launch,
                       uint32_t first, uint32_t rank,
                       std::vector<int64_t> &out) {
  out = launch.constants;
  if (launch.constant_steps.empty())
    return true;
  auto step = launch.constant_steps.begin();
  for (int64_t &value : out)
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
      int64_t distance = int64_t(mesh.coordinate(rank, axis)) -
                         int64_t(mesh.coordinate(first, axis));
      int64_t growth;
      if (__builtin_mul_overflow(*step++, distance, &growth) ||
          __builtin_add_overflow(value, growth, &value))
        return false;
    }
  return true;
}
