#include "runtime/data/Dataset.h"
#include "runtime/data/Pictures.h"
#include "runtime/plan/Validator.h"
#include "runtime/state/Distribution.h"
#include "runtime/state/Philox.h"

#include <algorithm>
#include <cstring>

using namespace dlrt;

/// Enough that a model cannot learn them by heart in a short run.
static constexpr uint64_t syntheticItems = 1024;
static constexpr uint64_t syntheticBytes = uint64_t(64) << 20;

static void fillComponent(const fb::InputComponentT &component, bool picture,
                          uint64_t elements, uint64_t stream, uint8_t *out) {
  auto word = [&](uint64_t i) {
    return philox(
        {static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), 0, 0},
        philoxKey(0, stream))[0];
  };
  auto put = [&](uint64_t i, auto value) {
    std::memcpy(out + i * sizeof(value), &value, sizeof(value));
  };
  for (uint64_t i = 0; i < elements; ++i) {
    uint32_t random = word(i);
    switch (component.dtype) {
    case fb::DType::F32:
      put(i, static_cast<float>(unitInterval(random)));
      break;
    case fb::DType::F64:
      put(i, unitInterval(random));
      break;
    case fb::DType::I64:
      put(i, int64_t(random & 1));
      break;
    case fb::DType::I32:
      put(i, int32_t(random & 1));
      break;
    case fb::DType::U8:
      put(i, static_cast<uint8_t>(picture ? random >> 8 : random & 1));
      break;
    case fb::DType::Bool:
      put(i, uint8_t(random & 1));
      break;
    case fb::DType::BF16: // no input has it
      break;
    }
  }
}

Dataset dlrt::syntheticDataset(const fb::DatasetT &dataset) {
  Dataset out;
  out.source = "synthetic data";
  out.synthetic = true;
  out.items = dataset.items;
  uint64_t total = 0;
  for (const auto &component : dataset.components) {
    uint64_t bytes = 0;
    itemBytes(*component, bytes);
    total += bytes;
  }
  out.distinct =
      std::clamp<uint64_t>(syntheticBytes / std::max<uint64_t>(total, 1), 1,
                           std::min(syntheticItems, out.items));
  for (size_t c = 0; c < dataset.components.size(); ++c) {
    const fb::InputComponentT &component = *dataset.components[c];
    DatasetComponent added;
    itemBytes(component, added.itemBytes);
    uint64_t elements = out.distinct;
    for (uint64_t extent : component.shape)
      elements *= extent;
    out.memory.push_back(
        std::make_unique<uint8_t[]>(added.itemBytes * out.distinct));
    // Bytes may be labels, whatever their shape; of pictures it is known.
    bool picture = c == 0 && (isOfPictures(dataset) ||
                              dataset.kind == fb::DatasetKind::ImageFolder);
    fillComponent(component, picture, elements, c, out.memory.back().get());
    added.data = out.memory.back().get();
    out.components.push_back(added);
  }
  return out;
}
