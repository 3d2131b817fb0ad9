#include "runtime/data/Loader.h"
#include "runtime/data/Permutation.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace dlrt;
using namespace dlrt::test;

namespace {

/// Items 0..n-1 as one u64 each.
struct Numbers {
  std::vector<uint64_t> values;
  Dataset dataset;

  explicit Numbers(uint64_t count) : values(count) {
    std::iota(values.begin(), values.end(), 0);
    dataset.items = dataset.distinct = count;
    dataset.components.push_back(
        {reinterpret_cast<const uint8_t *>(values.data()), 8});
  }
};

std::vector<std::vector<uint64_t>> collect(const Dataset &dataset,
                                           LoaderOptions options, int batches) {
  std::vector<uint64_t> ring(options.slots * options.batchSize, ~0ull);
  Loader loader(dataset, options, [&](uint32_t, uint32_t slot, size_t) {
    return reinterpret_cast<uint8_t *>(&ring[slot * options.batchSize]);
  });
  EXPECT_TRUE(loader.start().ok());
  std::vector<std::vector<uint64_t>> found;
  for (int b = 0; b < batches; ++b) {
    Expected<Batch> batch = loader.next();
    EXPECT_TRUE(batch) << batch.status().message();
    const uint64_t *begin = &ring[batch->slot * options.batchSize];
    uint64_t rows =
        options.share ? options.share(0, batch->items).size : batch->items;
    found.emplace_back(begin, begin + rows);
    loader.release();
  }
  return found;
}

LoaderOptions options(uint64_t batchSize) {
  LoaderOptions o;
  o.batchSize = batchSize;
  o.slots = 3;
  return o;
}

} // namespace

TEST(Loader, FileOrderWithAShortLastBatch) {
  Numbers n(7);
  auto batches = collect(n.dataset, options(3), 5);
  std::vector<std::vector<uint64_t>> expected = {
      {0, 1, 2}, {3, 4, 5}, {6}, {0, 1, 2}, {3, 4, 5}};
  EXPECT_EQ(batches, expected);
}

namespace {

fb::DatasetT partOf(uint64_t all, std::vector<fb::SelectionT> selections) {
  fb::DatasetT plan;
  plan.items = selections.empty() ? all : selections.front().items;
  for (const fb::SelectionT &one : selections)
    plan.selections.push_back(std::make_unique<fb::SelectionT>(one));
  return plan;
}

fb::SelectionT selection(uint64_t first, uint64_t items, uint64_t of,
                         bool shuffled, uint64_t seed = 0) {
  fb::SelectionT one;
  one.first = first, one.items = items, one.of = of;
  one.shuffled = shuffled, one.seed = seed;
  return one;
}

/// The items of the part.
void select(Numbers &n, const fb::DatasetT &plan) {
  Expected<Selections> made = Selections::make(plan, n.dataset.items);
  ASSERT_TRUE(made);
  n.dataset.selections = std::move(*made);
  n.dataset.items = plan.items;
}

} // namespace

TEST(Loader, ASliceInItsOrder) {
  Numbers n(9);
  select(n, partOf(9, {selection(4, 5, 9, false)}));
  std::vector<std::vector<uint64_t>> expected = {{4, 5, 6}, {7, 8}, {4, 5, 6}};
  EXPECT_EQ(collect(n.dataset, options(3), 3), expected);
}

TEST(Loader, PartsOfASplitHaveEachItemOnce) {
  std::vector<uint64_t> all;
  for (auto [first, items] : {std::pair(0, 13), std::pair(13, 7)}) {
    Numbers n(20);
    uint64_t begin = first, count = items;
    select(n, partOf(20, {selection(begin, count, 20, true, 3)}));
    auto batches = collect(n.dataset, options(count), 2);
    EXPECT_EQ(batches[0], batches[1]); // of an epoch that is not shuffled
    LoaderOptions shuffled = options(count);
    shuffled.shuffle = true;
    auto others = collect(n.dataset, shuffled, 2);
    EXPECT_NE(others[0], others[1]);
    for (auto *batch : {&batches[0], &others[0], &others[1]})
      std::ranges::sort(*batch);
    EXPECT_EQ(others[0], batches[0]);
    EXPECT_EQ(others[1], batches[0]);
    all.insert(all.end(), batches[0].begin(), batches[0].end());
  }
  std::ranges::sort(all);
  EXPECT_EQ(all, Numbers(20).values);
}

TEST(Loader, APartOfAPart) {
  Numbers whole(20), part(20);
  select(whole, partOf(20, {selection(5, 10, 20, true, 3)}));
  select(part, partOf(20, {selection(2, 4, 10, true, 8),
                           selection(5, 10, 20, true, 3)}));
  auto outer = collect(whole.dataset, options(10), 1)[0];
  auto inner = collect(part.dataset, options(4), 1)[0];
  Permutation order(10, 8, ~uint64_t(0));
  for (uint64_t i = 0; i < 4; ++i)
    EXPECT_EQ(inner[i], outer[order(2 + i)]);
}

TEST(Loader, FilesThatAPartIsNotOf) {
  EXPECT_TRUE(Selections::make(partOf(9, {selection(4, 5, 9, false)}), 12));
  EXPECT_FALSE(Selections::make(partOf(9, {selection(4, 5, 9, false)}), 8));
  EXPECT_FALSE(Selections::make(partOf(9, {selection(4, 5, 9, true)}), 12));
}

TEST(Loader, DropsTheShortBatch) {
  Numbers n(7);
  LoaderOptions o = options(3);
  o.dropLast = true;
  auto batches = collect(n.dataset, o, 3);
  std::vector<std::vector<uint64_t>> expected = {
      {0, 1, 2}, {3, 4, 5}, {0, 1, 2}};
  EXPECT_EQ(batches, expected);
}

TEST(Loader, FillsTheLastBatchWithItsLastItem) {
  Numbers n(7);
  LoaderOptions o = options(3);
  o.fillLast = true;
  o.share = [](uint32_t, uint64_t) { return Block{0, 3}; };
  std::vector<std::vector<uint64_t>> expected = {
      {0, 1, 2}, {3, 4, 5}, {6, 6, 6}, {0, 1, 2}};
  EXPECT_EQ(collect(n.dataset, o, 4), expected);
  n.dataset.atHand = true; // gathered by next()
  EXPECT_EQ(collect(n.dataset, o, 4), expected);
}

TEST(Loader, ShufflesByEpoch) {
  Numbers n(100);
  LoaderOptions o = options(10);
  o.shuffle = true;
  o.seed = 4;
  auto batches = collect(n.dataset, o, 20);
  for (uint64_t epoch = 0; epoch < 2; ++epoch) {
    Permutation order(100, 4, epoch);
    for (uint64_t i = 0; i < 100; ++i)
      EXPECT_EQ(batches[epoch * 10 + i / 10][i % 10], order(i));
  }
}

TEST(Loader, StartsAnywhere) {
  Numbers n(100);
  LoaderOptions o = options(7);
  o.shuffle = true;
  auto all = collect(n.dataset, o, 40);
  o.firstBatch = 13;
  auto rest = collect(n.dataset, o, 27);
  EXPECT_EQ(std::vector(all.begin() + 13, all.end()), rest);
}

TEST(Loader, EndsWhileItsRingIsFull) {
  Numbers n(1000);
  for (int round = 0; round < 50; ++round)
    collect(n.dataset, options(1), round % 5);
}

TEST(Loader, ManyBatchesThroughASmallRing) {
  Numbers n(50000);
  auto batches = collect(n.dataset, options(1), 50000);
  for (uint64_t i = 0; i < batches.size(); ++i)
    ASSERT_EQ(batches[i][0], i);
}

TEST(Loader, SyntheticItemsRepeat) {
  Numbers n(3);
  n.dataset.items = 8;
  auto batches = collect(n.dataset, options(8), 1);
  EXPECT_EQ(batches[0], (std::vector<uint64_t>{0, 1, 2, 0, 1, 2, 0, 1}));
}

TEST(Loader, RanksTakePartsOfTheSameOrder) {
  Numbers n(23);
  LoaderOptions o = options(8); // the last batch has 7 items
  o.shuffle = true;
  o.seed = 9;
  auto whole = collect(n.dataset, o, 6);
  for (uint32_t ranks : {2u, 3u, 5u, 9u}) {
    std::vector<std::vector<uint64_t>> joined(6);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      o.share = [=](uint32_t, uint64_t items) {
        return blockOf(items, rank, ranks);
      };
      auto part = collect(n.dataset, o, 6);
      for (size_t b = 0; b < 6; ++b)
        joined[b].insert(joined[b].end(), part[b].begin(), part[b].end());
    }
    EXPECT_EQ(joined, whole) << ranks << " ranks";
  }
}

TEST(Loader, RefusesWhatNobodyWouldEverGather) {
  Numbers n(6);
  LoaderOptions o = options(2);
  o.batchLimit = 5;
  uint64_t ring[6];
  auto place = [&](uint32_t, uint32_t slot, size_t) {
    return reinterpret_cast<uint8_t *>(&ring[2 * slot]);
  };
  auto refusal = [](Loader &loader) {
    Expected<Batch> batch = loader.next();
    EXPECT_FALSE(batch);
    return batch.status().message();
  };
  Loader loader(n.dataset, o, place);
  EXPECT_EQ(refusal(loader),
            "a batch is asked for before the loader has started");
  ASSERT_TRUE(loader.start().ok());
  for (int b = 0; b < 3; ++b)
    ASSERT_TRUE(loader.next());
  EXPECT_EQ(refusal(loader),
            "batch 4 is asked for while all 3 slots are in use");
  for (int b = 3; b < 5; ++b) {
    loader.release();
    ASSERT_TRUE(loader.next());
  }
  EXPECT_EQ(refusal(loader), "batch 6 is asked for, the loader ends after 5");
}

TEST(Loader, RefusesOptionsThatGiveNoBatch) {
  Numbers n(6);
  LoaderOptions o = options(8);
  o.dropLast = true;
  auto verdict = [&] {
    Loader loader(n.dataset, o, {});
    return loader.start().message();
  };
  EXPECT_EQ(verdict(), "6 items do not fill a batch of 8");
}

/// One thread gathers for all ranks of a process; one that has no use for a
/// component gets none.
TEST(Loader, GathersForSeveralRanks) {
  Numbers n(7);
  LoaderOptions o = options(4);
  o.ranks = 3;
  o.share = [](uint32_t rank, uint64_t items) {
    return blockOf(items, rank, 2); // rank 2 would have nothing
  };
  uint64_t ring[2][3][2] = {};
  Loader loader(
      n.dataset, o, [&](uint32_t rank, uint32_t slot, size_t) -> uint8_t * {
        return rank == 2 ? nullptr
                         : reinterpret_cast<uint8_t *>(ring[rank][slot]);
      });
  ASSERT_TRUE(loader.start().ok());
  ASSERT_TRUE(loader.next());
  EXPECT_EQ(ring[0][0][0], 0u);
  EXPECT_EQ(ring[0][0][1], 1u);
  EXPECT_EQ(ring[1][0][0], 2u);
  EXPECT_EQ(ring[1][0][1], 3u);
  ASSERT_TRUE(loader.next()); // of three items
  EXPECT_EQ(ring[0][1][1], 5u);
  EXPECT_EQ(ring[1][1][0], 6u);
  EXPECT_EQ(ring[1][1][1], 0u);
}

namespace {

/// A file of u64 rows behind a header of 24 bytes.
struct RowsOnDisk {
  TemporaryFolder folder;
  std::string path = folder.path("rows");
  Dataset dataset;

  RowsOnDisk(uint64_t items, uint64_t inFile) {
    std::vector<uint64_t> rows(3 + inFile);
    std::iota(rows.begin() + 3, rows.end(), 0);
    Bytes bytes(rows.size() * 8);
    std::memcpy(bytes.data(), rows.data(), bytes.size());
    writeFile(path, bytes);
    auto file = RandomFile::open(path);
    EXPECT_TRUE(file) << file.status().message();
    dataset.randomFiles.push_back(
        std::make_unique<RandomFile>(std::move(*file)));
    DatasetComponent rowsOfFile;
    rowsOfFile.itemBytes = 8;
    rowsOfFile.file = dataset.randomFiles[0].get();
    rowsOfFile.fileOffset = 24;
    dataset.components = {rowsOfFile};
    dataset.items = dataset.distinct = items;
  }
};

} // namespace

TEST(Loader, RowsThatAreReadAreThoseOfMemory) {
  constexpr uint64_t items = 103;
  RowsOnDisk disk(items, items);
  Numbers memory(items);
  for (bool shuffle : {false, true})
    for (uint32_t slots : {1u, 2u, 3u, 16u})
      for (int round = 0; round < 20; ++round) {
        LoaderOptions o = options(4);
        o.shuffle = shuffle;
        o.slots = slots;
        o.firstBatch = static_cast<uint64_t>(round);
        ASSERT_EQ(collect(disk.dataset, o, 60), collect(memory.dataset, o, 60));
      }
}

TEST(Loader, ManyReadersEndWithTheirLimit) {
  RowsOnDisk disk(40, 40);
  for (uint64_t limit = 0; limit < 12; ++limit) {
    LoaderOptions o = options(4);
    o.shuffle = true;
    o.slots = 8;
    o.batchLimit = limit;
    collect(disk.dataset, o, static_cast<int>(limit));
    collect(disk.dataset, o, static_cast<int>(limit / 2));
  }
}

TEST(Loader, AFileThatGotShorterIsAnErrorOfItsBatch) {
  RowsOnDisk disk(40, 20); // in file order, batch 5 is the first without data
  for (uint32_t slots : {1u, 4u, 16u}) {
    LoaderOptions o = options(4);
    o.slots = slots;
    std::vector<uint64_t> ring(slots * 4);
    Loader loader(disk.dataset, o, [&](uint32_t, uint32_t slot, size_t) {
      return reinterpret_cast<uint8_t *>(&ring[slot * 4]);
    });
    ASSERT_TRUE(loader.start().ok());
    for (int b = 0; b < 5; ++b) {
      ASSERT_TRUE(loader.next()) << b;
      loader.release();
    }
    Expected<Batch> missing = loader.next();
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.status().code(), Code::Io);
    EXPECT_NE(missing.status().message().find("got shorter"),
              std::string::npos);
  }
}

TEST(Loader, ConvertsItemsAndRefusesWhatDoesNotFit) {
  std::vector<int64_t> values = {1, -2, 3, int64_t(1) << 31, 5, 6};
  Dataset dataset;
  dataset.items = dataset.distinct = 6;
  DatasetComponent component;
  component.data = reinterpret_cast<const uint8_t *>(values.data());
  component.itemBytes = 8;
  component.convert = itemConverter(FileElement::I64, fb::DType::I32);
  component.elements = 1;
  component.batchBytes = 4;
  dataset.components = {component};
  std::vector<int32_t> ring(3 * 3);
  LoaderOptions o = options(3);
  Loader loader(dataset, o, [&](uint32_t, uint32_t slot, size_t) {
    return reinterpret_cast<uint8_t *>(&ring[slot * 3]);
  });
  ASSERT_TRUE(loader.start().ok());
  ASSERT_TRUE(loader.next());
  EXPECT_EQ((std::vector<int32_t>(ring.begin(), ring.begin() + 3)),
            (std::vector<int32_t>{1, -2, 3}));
  Expected<Batch> second = loader.next();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.status().code(), Code::Training);
  EXPECT_NE(second.status().message().find("item 3 "), std::string::npos);
}

TEST(Loader, Conversions) {
  auto convert = [](FileElement from, fb::DType to, auto value, auto result) {
    ItemConverter converter = itemConverter(from, to);
    ASSERT_TRUE(converter);
    decltype(result) out;
    ASSERT_TRUE(converter(reinterpret_cast<const uint8_t *>(&value), 1,
                          reinterpret_cast<uint8_t *>(&out)));
    EXPECT_EQ(out, result);
  };
  convert(FileElement::F64, fb::DType::F32, 0.1, 0.1f);
  convert(FileElement::F32, fb::DType::F64, 0.1f, double(0.1f));
  for (auto [half, value] : std::initializer_list<std::pair<uint16_t, float>>{
           {0x3c00, 1.0f},
           {0xc500, -5.0f},
           {0x7bff, 65504.0f},
           {0x0400, 0x1p-14f},
           {0x03ff, 1023 * 0x1p-24f},
           {0x8001, -0x1p-24f},
           {0x8000, -0.0f},
           {0xfc00, -INFINITY},
           {0x3555, 0x1.554p-2f}}) {
    convert(FileElement::F16, fb::DType::F32, half, value);
    convert(FileElement::F16, fb::DType::F64, half, double(value));
  }
  convert(FileElement::U8, fb::DType::I64, uint8_t(200), int64_t(200));
  convert(FileElement::I32, fb::DType::U8, int32_t(255), uint8_t(255));
  convert(FileElement::I64, fb::DType::Bool, int64_t(1), uint8_t(1));
  convert(FileElement::Bool, fb::DType::I32, uint8_t(1), int32_t(1));
  convert(FileElement::I8, fb::DType::I32, int8_t(-5), int32_t(-5));
  convert(FileElement::I16, fb::DType::I32, int16_t(-300), int32_t(-300));
  convert(FileElement::U16, fb::DType::I32, uint16_t(65535), int32_t(65535));
  convert(FileElement::U32, fb::DType::I64, 4294967295u, int64_t(4294967295));
  convert(FileElement::U64, fb::DType::I64, uint64_t(7), int64_t(7));
  uint64_t large = uint64_t(1) << 63;
  int64_t out;
  EXPECT_FALSE(itemConverter(FileElement::U64, fb::DType::I64)(
      reinterpret_cast<const uint8_t *>(&large), 1,
      reinterpret_cast<uint8_t *>(&out)));
  EXPECT_FALSE(itemConverter(FileElement::I64, fb::DType::F32));
  EXPECT_FALSE(itemConverter(FileElement::F32, fb::DType::I64));
}

namespace {
/// Items that are made: their number, and of which epoch and seed they are.
class Made : public ItemSource {
public:
  explicit Made(uint64_t fails = ~0ull) : fails(fails) {}
  std::unique_ptr<ItemReader> reader(uint64_t seed) const override {
    struct Reader : ItemReader {
      uint64_t seed, fails;
      Status read(uint64_t item, uint64_t epoch, uint8_t *to) override {
        if (item == fails)
          return {Code::Training, "item 61 is damaged"};
        if (item != 0 && item - 1 == fails)
          throw std::bad_alloc();
        uint64_t value = seed << 40 | epoch << 20 | item;
        std::memcpy(to, &value, sizeof(value));
        return {};
      }
    };
    auto made = std::make_unique<Reader>();
    made->seed = seed, made->fails = fails;
    return made;
  }
  uint64_t fails;
};

Dataset made(const Made &source, uint64_t items) {
  Dataset dataset;
  dataset.items = dataset.distinct = items;
  DatasetComponent component;
  component.itemBytes = 8;
  component.source = &source;
  dataset.components.push_back(component);
  return dataset;
}
} // namespace

TEST(Loader, MakesItemsOfTheirEpoch) {
  Made source;
  Dataset dataset = made(source, 100);
  for (uint32_t slots : {1u, 8u}) {
    LoaderOptions o = options(7);
    o.slots = slots;
    o.seed = 5;
    o.shuffle = true;
    std::vector<std::vector<uint64_t>> batches = collect(dataset, o, 45);
    for (uint64_t b = 0; b < batches.size(); ++b) {
      Permutation order;
      order.reset(100, 5, b / 15);
      for (uint64_t i = 0; i < batches[b].size(); ++i)
        ASSERT_EQ(batches[b][i],
                  uint64_t(5) << 40 | b / 15 << 20 | order(b % 15 * 7 + i));
    }
  }
}

TEST(Loader, StopsWhileItemsAreMade) {
  Made source;
  Dataset dataset = made(source, 100000);
  for (int round = 0; round < 20; ++round) {
    LoaderOptions o = options(1000);
    o.slots = 8;
    collect(dataset, o, round % 4);
  }
}

TEST(Loader, ItemsThatCannotBeMadeEndTheirBatch) {
  for (uint64_t fails : {61u, 60u}) {
    Made source(fails);
    Dataset dataset = made(source, 100);
    LoaderOptions o = options(1);
    o.slots = 8;
    o.firstBatch = 1 + fails / 2;
    std::vector<uint64_t> ring(8);
    Loader loader(dataset, o, [&](uint32_t, uint32_t slot, size_t) {
      return reinterpret_cast<uint8_t *>(&ring[slot]);
    });
    ASSERT_TRUE(loader.start().ok());
    for (uint64_t b = o.firstBatch; b < fails; ++b) {
      ASSERT_TRUE(loader.next()) << b;
      loader.release();
    }
    Expected<Batch> batch = loader.next();
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.status().message(), "item 61 is damaged");
  }
  Made source(60);
  Dataset dataset = made(source, 100);
  LoaderOptions o = options(1);
  o.firstBatch = 61; // the one with no memory
  uint64_t ring[3];
  Loader loader(dataset, o, [&](uint32_t, uint32_t slot, size_t) {
    return reinterpret_cast<uint8_t *>(&ring[slot]);
  });
  ASSERT_TRUE(loader.start().ok());
  EXPECT_EQ(loader.next().status().message(), "no memory to read a batch");
}
