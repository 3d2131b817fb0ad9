#include "test/runtime/PlanRefusals.h"

using namespace dlrt;
using namespace dlrt::test;

TEST(Validator, Selections) {
  uint64_t items = 10; // of the plan
  auto part = [](uint64_t first, uint64_t items, uint64_t of,
                 size_t times = 1) {
    return [=](auto &p) {
      for (size_t i = 0; i < times; ++i) {
        auto one = std::make_unique<fb::SelectionT>();
        one->first = first, one->items = items, one->of = of;
        p.datasets[0]->selections.push_back(std::move(one));
      }
    };
  };
  expectRefusal(part(0, items + 1, 100), "are none of");
  expectRefusal(part(91, items, 100), "are none of");
  expectRefusal(part(~uint64_t(0), items, 100), "are none of");
  expectRefusal(part(0, items, items - 1), "are none of");
  expectRefusal(part(0, items, uint64_t(1) << 49), "are none of");
  expectRefusal(part(0, items, 100, 2), "are none of");
  expectRefusal(part(0, items, items, 9), "too many parts");
}

TEST(Validator, Samplers) {
  // It draws from the items of a part.
  auto sampler = [](uint64_t of, uint64_t part, const char *weights = "w.npy") {
    return [=](auto &p) {
      p.datasets[0]->sampler = std::make_unique<fb::SamplerT>();
      p.datasets[0]->sampler->of = of;
      p.datasets[0]->sampler->weights = weights;
      if (part == 0)
        return;
      auto one = std::make_unique<fb::SelectionT>();
      one->items = part, one->of = 100;
      p.datasets[0]->selections.push_back(std::move(one));
    };
  };
  EXPECT_EQ(after(sampler(7, 0)), "");
  EXPECT_EQ(after(sampler(7, 7)), "");
  expectRefusal(sampler(7, 8), "are none of");
  expectRefusal(sampler(0, 0), "draws from 0 items");
  expectRefusal(sampler(uint64_t(1) << 49, 0), "items");
  expectRefusal(sampler(7, 0, "w\n"), "draws from 7 items");
}
