// The dump in FORMAT.md is what the writer writes.
#include "runtime/plan/CodeRecord.h"
#include "test/runtime/TestPlan.h"

#include <cstdio>

using namespace dlrt;
using namespace dlrt::test;

/// As `hexdump -C` prints it, repeated lines folded.
static std::string hexdump(const Bytes &file) {
  std::string out;
  char text[32];
  bool folded = false;
  for (size_t at = 0; at < file.size(); at += 16) {
    size_t count = std::min<size_t>(16, file.size() - at);
    bool same = at != 0 && count == 16 &&
                std::equal(file.begin() + at, file.begin() + at + 16,
                           file.begin() + at - 16);
    if (same) {
      out += folded ? "" : "*\n";
      folded = true;
      continue;
    }
    folded = false;
    std::snprintf(text, sizeof(text), "%08zx ", at);
    out += text;
    for (size_t i = 0; i < 16; ++i) {
      std::snprintf(text, sizeof(text), i < count ? " %02x" : "   ",
                    i < count ? file[at + i] : 0);
      out += i == 8 ? " " : "";
      out += text;
    }
    out += "  |";
    for (size_t i = 0; i < count; ++i)
      out += file[at + i] >= 0x20 && file[at + i] < 0x7f ? char(file[at + i])
                                                         : '.';
    out += "|\n";
  }
  std::snprintf(text, sizeof(text), "%08zx\n", file.size());
  return out + text;
}

TEST(Format, DumpInTheDocumentation) {
  fb::PlanT plan;
  plan.producer = "dlcc";
  plan.model = "a.dl";
  plan.arena_bytes = 64;
  plan.parameters = 2;
  plan.ranks = {0};
  plan.buffers.push_back(std::make_unique<fb::BufferT>());
  plan.buffers[0]->bytes = 8;
  auto state = std::make_unique<fb::StateT>();
  state->name = "w";
  state->shape = {2};
  state->layout = {fb::PhysicalDim(0, 1, 2, 1)};
  state->init = std::make_unique<fb::InitT>();
  state->init->kind = fb::InitKind::Constant;
  state->init->a = 0.5;
  plan.states.push_back(std::move(state));
  auto image = std::make_unique<fb::ImageT>();
  image->features = "x86-64-v3";
  image->section = 1;
  plan.images.push_back(std::move(image));
  Bytes code = {'C', 'O', 'D', 'E'};
  Bytes record = codeRecord(plan);
  Bytes file = sealPlan(packPlan(plan), {{SectionKind::Image, code},
                                         {SectionKind::CodeRecord, record}});
  EXPECT_TRUE(readPlan(file));

  Bytes page = readFile(TEST_SOURCE_ROOT "/runtime/plan/FORMAT.md");
  std::string text(page.begin(), page.end());
  EXPECT_NE(text.find("```\n" + hexdump(file) + "```\n"), std::string::npos)
      << hexdump(file);
}
