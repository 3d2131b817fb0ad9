#include "runtime/plan/PlanWriter.h"

#include "runtime/base/AtomicFile.h"
#include "runtime/plan/PlanSet.h"

#include <algorithm>
#include <cstring>

using namespace dlrt;
using Format = ContainerFormat;

std::vector<uint8_t>
dlrt::packPlans(const Mesh &mesh, const std::vector<const fb::PlanT *> &plans) {
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  std::vector<flatbuffers::Offset<fb::Axis>> axes;
  for (const Mesh::Axis &axis : mesh.axes)
    axes.push_back(fb::CreateAxisDirect(builder, axis.name.c_str(), axis.size));
  std::vector<flatbuffers::Offset<fb::Plan>> packed;
  for (const fb::PlanT *plan : plans) {
    if (packed.empty()) {
      packed.push_back(fb::Plan::Pack(builder, plan));
      continue;
    }
    fb::PlanT own = *plan;
    dropShared(own);
    packed.push_back(fb::Plan::Pack(builder, &own));
  }
  auto allAxes = axes.empty() ? 0 : builder.CreateVector(axes);
  auto allPlans = builder.CreateVector(packed);
  fb::FinishPlanFileBuffer(builder,
                           fb::CreatePlanFile(builder, allAxes, allPlans));
  return {builder.GetBufferPointer(),
          builder.GetBufferPointer() + builder.GetSize()};
}

std::vector<uint8_t> dlrt::packPlan(const fb::PlanT &plan) {
  return packPlans({}, {&plan});
}

template <typename Int>
static void store(std::vector<uint8_t> &file, size_t at, Int value) {
  std::memcpy(file.data() + at, &value, sizeof(value));
}

static uint64_t alignUp(uint64_t at) {
  return (at + Format::alignment - 1) / Format::alignment * Format::alignment;
}

std::vector<uint8_t> dlrt::sealPlan(std::span<const uint8_t> metadata,
                                    const std::vector<SectionView> &sections) {
  std::vector<SectionView> all = {{SectionKind::Metadata, metadata}};
  all.insert(all.end(), sections.begin(), sections.end());

  std::vector<uint8_t> file(Format::headerBytes +
                            all.size() * Format::entryBytes);
  for (size_t i = 0; i < all.size(); ++i) {
    uint64_t offset = alignUp(file.size());
    size_t entry = Format::headerBytes + i * Format::entryBytes;
    store(file, entry, static_cast<uint32_t>(all[i].kind));
    store(file, entry + 8, offset);
    store(file, entry + 16, static_cast<uint64_t>(all[i].bytes.size()));
    file.resize(offset);
    file.insert(file.end(), all[i].bytes.begin(), all[i].bytes.end());
  }
  std::copy(std::begin(Format::magic), std::end(Format::magic), file.begin());
  store(file, Format::versionAt, Format::version);
  store(file, Format::sectionCountAt, static_cast<uint32_t>(all.size()));
  store(file, Format::fileSizeAt, static_cast<uint64_t>(file.size()));
  Checksum checksum;
  checksum.add(std::span<const uint8_t>(file).subspan(Format::headerBytes));
  store(file, Format::checksumAt, checksum.value());
  return file;
}

Status dlrt::writePlan(const std::string &path,
                       std::span<const uint8_t> metadata,
                       const std::vector<SectionView> &sections) {
  return writeFileAtomically(path, {sealPlan(metadata, sections)});
}
