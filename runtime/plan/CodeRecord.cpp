#include "runtime/plan/CodeRecord.h"

#include <algorithm>
#include <string>

using namespace dlrt;

namespace {

class RecordWriter {
public:
  template <typename Int> void put(Int value) {
    for (size_t i = 0; i < sizeof(value); ++i)
      bytes.push_back(static_cast<uint8_t>(uint64_t(value) >> 8 * i));
  }
  void put(const std::string &text) {
    put(static_cast<uint32_t>(text.size()));
    bytes.insert(bytes.end(), text.begin(), text.end());
  }

  std::vector<uint8_t> bytes;
};

} // namespace

std::vector<uint8_t> dlrt::codeRecord(const fb::PlanT &plan) {
  RecordWriter out;
  out.put(static_cast<uint32_t>(plan.kernels.size()));
  for (const auto &kernel : plan.kernels) {
    out.put(kernel->name);
    out.put(static_cast<uint32_t>(kernel->variants.size()));
    for (const auto &variant : kernel->variants) {
      out.put(static_cast<uint8_t>(variant->target));
      out.put(variant->entry);
      out.put(variant->tiles);
      out.put(variant->scratch_bytes);
      out.put(variant->threads);
      out.put(variant->shared_bytes);
    }
    out.put(static_cast<uint32_t>(kernel->binding_bytes.size()));
    for (uint64_t bytes : kernel->binding_bytes)
      out.put(bytes);
    for (uint32_t align : kernel->binding_aligns)
      out.put(align);
    for (bool writes : kernel->writes)
      out.put(static_cast<uint8_t>(writes));
    out.put(static_cast<uint32_t>(kernel->constants.size()));
    for (const fb::ConstantRange &range : kernel->constants) {
      out.put(range.min());
      out.put(range.max());
      out.put(range.multiple_of());
    }
  }
  out.put(static_cast<uint32_t>(plan.images.size()));
  for (const auto &image : plan.images) {
    out.put(static_cast<uint8_t>(image->target));
    out.put(image->features);
    out.put(image->section);
  }
  return out.bytes;
}

Status dlrt::checkCodeRecord(const fb::PlanT &plan,
                             const std::vector<SectionView> &sections) {
  auto isRecord = [](const SectionView &section) {
    return section.kind == SectionKind::CodeRecord;
  };
  auto found = std::find_if(sections.begin(), sections.end(), isRecord);
  if (found == sections.end() ||
      std::find_if(found + 1, sections.end(), isRecord) != sections.end())
    return {Code::Plan, "the plan is damaged: it must have one record of its "
                        "code"};
  std::vector<uint8_t> expected = codeRecord(plan);
  if (!std::equal(expected.begin(), expected.end(), found->bytes.begin(),
                  found->bytes.end()))
    return {Code::Plan, "wrong plan: its kernels are not those that its code "
                        "was made for"};
  return {};
}
