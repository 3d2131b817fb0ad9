#include "compiler/codegen/emit/EmitPlan.h"
#include "compiler/codegen/emit/Metadata.h"
#include "runtime/plan/CodeRecord.h"
#include "runtime/plan/InputRing.h"
#include "runtime/plan/PlanReader.h"
#include "runtime/plan/PlanWriter.h"

using namespace mlir;

namespace dl::emit {

static dlrt::Mesh meshOf(plan::PlanOp plan) {
  dlrt::Mesh mesh;
  for (auto axis : plan.getMesh().getAsRange<plan::AxisAttr>())
    mesh.axes.push_back(
        {axis.getName().str(), static_cast<uint32_t>(axis.getSize())});
  return mesh;
}

FailureOr<PlanFile> encodePlan(ArrayRef<plan::PlanOp> plans,
                               ArrayRef<Image> images) {
  plan::PlanOp first = plans.front();
  FailureOr<std::vector<dlrt::fb::PlanT>> metadata = buildMetadata(plans);
  if (failed(metadata))
    return failure();
  std::vector<dlrt::SectionView> sections;
  for (const Image &image : images) {
    auto entry = std::make_unique<dlrt::fb::ImageT>();
    entry->target = static_cast<dlrt::fb::Target>(first.getTarget());
    entry->features = image.features;
    entry->section = sections.size() + 1; // after the metadata
    metadata->front().images.push_back(std::move(entry));
    sections.push_back({dlrt::SectionKind::Image,
                        {reinterpret_cast<const uint8_t *>(image.bytes.data()),
                         image.bytes.size()}});
  }
  std::vector<uint8_t> record = dlrt::codeRecord(metadata->front());
  sections.push_back({dlrt::SectionKind::CodeRecord, record});
  std::vector<const dlrt::fb::PlanT *> all;
  for (const dlrt::fb::PlanT &each : *metadata)
    all.push_back(&each);
  std::vector<uint8_t> bytes = dlrt::packPlans(meshOf(first), all);
  PlanFile file{dlrt::sealPlan(bytes, sections)};
  auto loaded = dlrt::readPlan(std::span<const uint8_t>(file.bytes));
  if (!loaded)
    return first.emitOpError("cannot be loaded: ")
           << loaded.takeError().message();
  // Of a rank: the one that keeps most.
  for (const auto &each : loaded->plans) {
    uint64_t bytes = 0;
    for (const auto &step : each->steps)
      bytes += dlrt::inputRing(loaded->mesh, *each, *step).bytes();
    file.batchBytes = std::max(file.batchBytes, bytes);
  }
  return file;
}

} // namespace dl::emit
