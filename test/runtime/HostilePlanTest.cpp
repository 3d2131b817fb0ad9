// Files whose checksum is right, but whose content is not: the reader must
// answer, whatever the bytes are.
#include "runtime/exec/Executor.h"
#include "runtime/plan/CodeRecord.h"
#include "test/runtime/ParallelPlan.h"

#include <cstring>

using namespace dlrt;
using namespace dlrt::test;

namespace {

struct Counts {
  int refused = 0, accepted = 0;
};

void tryFile(const Bytes &file, Counts &counts) {
  Expected<LoadedPlan> loaded = readPlan(file);
  if (!loaded) {
    ++counts.refused;
    EXPECT_FALSE(loaded.status().message().empty());
    return;
  }
  ++counts.accepted;
  // What is accepted must also be preparable, or be refused in words.
  uint32_t ranks = loaded->mesh.ranks();
  if (arenaBytes(*loaded) < (1 << 20) && ranks <= 4)
    (void)Executor::create(*loaded, {1, "", false, {}, {0, ranks, ranks}, {}});
}

/// Changed metadata with the image and the code record of the plan.
Bytes resealed(std::span<const uint8_t> metadata) {
  static const Bytes image = readFile(TEST_KERNELS);
  static const Bytes record = codeRecord(regressionPlan(10, 2).plan);
  return sealPlan(metadata, {{SectionKind::Image, image},
                             {SectionKind::CodeRecord, record}});
}

} // namespace

TEST(HostilePlan, MutationsOfEveryMetadataByte) {
  Bytes metadata = packPlan(regressionPlan(10, 2).plan);
  Counts counts;
  for (size_t at = 0; at < metadata.size(); ++at)
    for (uint8_t change : {0x01, 0x80, 0xff}) {
      Bytes mutated = metadata;
      mutated[at] ^= change;
      tryFile(resealed(mutated), counts);
    }
  // Names and unused numbers may change without harm; most may not.
  EXPECT_GT(counts.refused, counts.accepted / 4);
}

TEST(HostilePlan, MutationsOfPlansOfSeveralRanks) {
  ParallelRegression plan(10);
  Bytes metadata =
      packPlans(plan.mesh, {&plan.ranks[0].plan, &plan.ranks[1].plan});
  Bytes image = readFile(TEST_KERNELS);
  Bytes record = codeRecord(plan.ranks[0].plan);
  Counts counts;
  for (size_t at = 0; at < metadata.size(); ++at)
    for (uint8_t change : {0x01, 0x80, 0xff}) {
      Bytes mutated = metadata;
      mutated[at] ^= change;
      tryFile(sealPlan(mutated, {{SectionKind::Image, image},
                                 {SectionKind::CodeRecord, record}}),
              counts);
    }
  EXPECT_GT(counts.refused, counts.accepted / 4);
}

TEST(HostilePlan, WordsOfExtremeValues) {
  Bytes metadata = packPlan(regressionPlan(10, 2).plan);
  Counts counts;
  for (size_t at = 0; at + 8 <= metadata.size(); at += 4)
    for (uint64_t value : {~uint64_t(0), uint64_t(1) << 63, uint64_t(1) << 32,
                           uint64_t(0x7fffffffffffffff)}) {
      Bytes mutated = metadata;
      std::memcpy(mutated.data() + at, &value, 8);
      tryFile(resealed(mutated), counts);
    }
  EXPECT_GT(counts.refused, 0);
}

TEST(HostilePlan, MutationsOfTheImageHeaders) {
  PlanBuilder plan = regressionPlan(10);
  Bytes metadata = packPlan(plan.plan), record = codeRecord(plan.plan);
  Bytes image = readFile(TEST_KERNELS);
  for (size_t at = 0; at < std::min<size_t>(image.size(), 1024); ++at) {
    Bytes mutated = image;
    mutated[at] ^= 0xff;
    Bytes file = sealPlan(metadata, {{SectionKind::Image, mutated},
                                     {SectionKind::CodeRecord, record}});
    LoadedPlan loaded = mustLoad(file);
    (void)ElfImage::load(loaded.sections[1].bytes);
  }
}

TEST(HostilePlan, SharedTablesDoNotMultiply) {
  // Vectors of one table again and again: a small file that would unpack to
  // gigabytes.
  flatbuffers::FlatBufferBuilder b;
  std::vector<uint32_t> large(20000, 0);
  std::vector<fb::Range> ranges(20000);
  auto launch = fb::CreateLaunchDirect(b, 0, &ranges);
  auto command = fb::CreateCommandDirect(b, fb::Work::Launch, launch.Union(),
                                         fb::Resource::Compute, &large);
  std::vector<flatbuffers::Offset<fb::Command>> commands(100, command);
  auto program =
      fb::CreateProgramDirect(b, fb::ProgramKind::Full, 1, &commands);
  std::vector<flatbuffers::Offset<fb::Program>> programs(100, program);
  auto step = fb::CreateStepDirect(b, "s", true, 0, 1, &programs);
  std::vector<flatbuffers::Offset<fb::Step>> list(100, step);
  auto steps = b.CreateVector(list);
  fb::PlanBuilder plan(b);
  plan.add_steps(steps);
  std::vector<flatbuffers::Offset<fb::Plan>> plans = {plan.Finish()};
  fb::FinishPlanFileBuffer(b, fb::CreatePlanFileDirect(b, nullptr, &plans));
  Bytes file = sealPlan({b.GetBufferPointer(), b.GetSize()}, {});
  Expected<LoadedPlan> loaded = readPlan(file);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.status().code(), Code::Plan);
}
