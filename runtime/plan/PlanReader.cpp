#include "runtime/plan/PlanReader.h"

#include "runtime/plan/CodeRecord.h"
#include "runtime/plan/CommunicationProof.h"
#include "runtime/plan/RaceVerifier.h"
#include "runtime/plan/UnpackBudget.h"

#include <fmt/format.h>

#include <optional>

using namespace dlrt;

static Status damaged(const char *what) {
  return {Code::Plan, fmt::format("the plan is damaged: {}", what)};
}

/// Sources share their texts, which each gets a copy of: a source takes some 30
/// bytes in the file and names an op, its module and a line of the model.
static constexpr size_t unpackedTimes = 16;
/// No honest plan of many ranks comes near it.
static constexpr size_t mostShared = size_t(1) << 34;

static Status readMetadata(std::span<const uint8_t> bytes, LoadedPlan &out) {
  // The verifier's constructor asserts a limit of 2 GiB instead of saying so.
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return damaged("the metadata is larger than 2 GiB");
  // A table takes at least 8 bytes (its offset in a vector and its vtable
  // offset), so more visits than that mean shared tables.
  flatbuffers::Verifier verifier(
      bytes.data(), bytes.size(), /*max_depth=*/16,
      static_cast<flatbuffers::uoffset_t>(bytes.size() / 8 + 16));
  if (!fb::VerifyPlanFileBuffer(verifier))
    return damaged("the metadata is not a well-formed table");
  const fb::PlanFile *file = fb::GetPlanFile(bytes.data());
  std::optional<size_t> copied =
      unpackedBytes(*file, unpackedTimes * bytes.size());
  // Each plan gets a copy of what they share.
  size_t plans = file->plans() ? file->plans()->size() : 0;
  if (!copied || (plans > 1 && *copied > mostShared / plans))
    return damaged("the metadata has misaligned vectors, or refers to the same "
                   "bytes again and again");
  fb::PlanFileT unpacked;
  file->UnPackTo(&unpacked);
  Expected<PlanSet> set = gatherPlans(std::move(unpacked));
  if (!set)
    return set.takeError();
  static_cast<PlanSet &>(out) = std::move(*set);
  return {};
}

static Status load(std::span<const uint8_t> bytes, LoadedPlan &out) {
  Expected<std::vector<SectionView>> sections = readContainer(bytes);
  if (!sections)
    return sections.takeError();
  out.sections = std::move(*sections);
  out.checksum = storedChecksum(bytes);
  if (out.sections.empty() || out.sections[0].kind != SectionKind::Metadata)
    return damaged("the first section is not metadata");
  DLRT_TRY(readMetadata(out.sections[0].bytes, out));
  DLRT_TRY(validatePlans(out, out.sections));
  DLRT_TRY(checkCodeRecord(out.first(), out.sections));
  for (const auto &plan : out.plans)
    DLRT_TRY(verifyNoRaces(*plan));
  return verifyCommunication(out);
}

Expected<LoadedPlan> dlrt::readPlan(std::span<const uint8_t> bytes) {
  LoadedPlan out;
  DLRT_TRY(load(bytes, out));
  return out;
}

Expected<LoadedPlan> dlrt::readPlan(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  LoadedPlan out;
  out.file = std::move(*file);
  DLRT_TRY(load(out.file.bytes(), out).within(path));
  return out;
}
