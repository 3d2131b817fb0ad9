#include "compiler/codegen/emit/EmitPlan.h"
#include "compiler/codegen/emit/Metadata.h"
#include "runtime/plan/CodeRecord.h"
#include "runtime/plan/InputRing.h"
#include "runtime/plan/PlanWriter.h"
#include "runtime/plan/RaceVerifier.h"
#include "runtime/plan/Validator.h"

using namespace mlir;

namespace dl::emit {

FailureOr<PlanFile> encodePlan(plan::PlanOp plan, ArrayRef<Image> images) {
  FailureOr<dlrt::fb::PlanT> metadata = buildMetadata(plan);
  if (failed(metadata))
    return failure();
  std::vector<dlrt::SectionView> sections;
  for (const Image &image : images) {
    auto entry = std::make_unique<dlrt::fb::ImageT>();
    entry->features = image.features;
    entry->section = sections.size() + 1; // after the metadata
    metadata->images.push_back(std::move(entry));
    sections.push_back({dlrt::SectionKind::Image,
                        {reinterpret_cast<const uint8_t *>(image.elf.data()),
                         image.elf.size()}});
  }
  std::vector<uint8_t> record = dlrt::codeRecord(*metadata);
  sections.push_back({dlrt::SectionKind::CodeRecord, record});
  std::vector<uint8_t> bytes = dlrt::packPlan(*metadata);
  std::vector<dlrt::SectionView> all = sections;
  all.insert(all.begin(), {dlrt::SectionKind::Metadata, bytes});
  dlrt::Status status = dlrt::validatePlan(*metadata, all);
  if (status.ok())
    status = dlrt::verifyNoRaces(*metadata);
  if (!status.ok())
    return plan.emitOpError("cannot be loaded: ") << status.message();
  PlanFile file{dlrt::sealPlan(bytes, sections)};
  for (const auto &step : metadata->steps)
    file.batchBytes += dlrt::inputRing(*metadata, *step).bytes();
  return file;
}

} // namespace dl::emit
