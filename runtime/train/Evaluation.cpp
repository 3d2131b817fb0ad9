#include "runtime/train/Evaluation.h"

#include "runtime/plan/StepPrograms.h"

#include <fmt/format.h>

#include <chrono>

using namespace dlrt;

static Status runBatch(Session &session, uint32_t stepIndex, Loader &loader,
                       TrainingPosition position, ScalarMetrics &metrics) {
  const fb::StepT &step = *session.plan().steps[stepIndex];
  Expected<Batch> next = loader.next();
  if (!next)
    return next.takeError();
  const Batch &batch = *next;
  Launch run;
  run.step = stepIndex;
  run.kind = kindOfBatch(step, batch.items);
  run.slot = batch.slot;
  // Batches stand where a training step has its micro-batches, so that random
  // numbers differ between them.
  run.scalars = {
      static_cast<int64_t>(session.options().seed),
      static_cast<int64_t>(position.step), static_cast<int64_t>(batch.index),
      static_cast<int64_t>(batch.items), static_cast<int64_t>(position.epoch)};
  Device &device = session.device();
  Expected<Report> report = device.wait(device.submit(run));
  loader.release();
  if (!report)
    return report.takeError().within(
        fmt::format("'{}', batch {}", displayName(step), batch.index + 1));
  metrics.addBatch(*report, batch.items);
  return {};
}

Expected<Evaluation> dlrt::evaluate(Session &session, uint32_t stepIndex,
                                    TrainingPosition position,
                                    const std::function<bool()> &goOn) {
  auto begin = std::chrono::steady_clock::now();
  DLRT_TRY(session.openData(stepIndex));
  const fb::StepT &step = *session.plan().steps[stepIndex];
  uint64_t batches = session.batchesPerEpoch(stepIndex);
  std::unique_ptr<Loader> loader = session.makeLoader(stepIndex, batches);
  DLRT_TRY(loader->start());
  ScalarMetrics metrics(step);
  Evaluation result;
  result.name = displayName(step);
  for (uint64_t b = 0; b < batches; ++b) {
    if (!goOn()) {
      result.complete = false;
      break;
    }
    DLRT_TRY(runBatch(session, stepIndex, *loader, position, metrics));
  }
  result.items = metrics.items();
  result.metrics = metrics.values();
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  return result;
}
