#include "runtime/train/Prediction.h"

#include "runtime/plan/StepPrograms.h"

#include <fmt/format.h>

#include <chrono>
#include <span>

using namespace dlrt;

std::vector<StreamedTensor> dlrt::predictedTensors(const Session &session,
                                                   uint32_t step,
                                                   const std::string &prefix) {
  std::vector<StreamedTensor> tensors;
  for (const auto &result : fullProgram(*session.plan().steps[step]).metrics) {
    std::vector<uint64_t> shape = result->shape;
    shape[0] = session.dataset(step).items;
    tensors.push_back({prefix + result->name, result->dtype, std::move(shape)});
  }
  return tensors;
}

/// Items of the batch, or all of those that run one by one with this one.
static uint64_t leftOver(const Session &session, uint32_t step,
                         const Batch &batch) {
  return session.kindOf(step, batch.items) == fb::ProgramKind::Item
             ? session.batchesPerEpoch(step) - session.fullBatches(step)
             : batch.items;
}

static Status runBatch(Session &session, uint32_t stepIndex, Loader &loader,
                       const RowSink &sink, uint64_t place = 0) {
  Expected<Batch> next = loader.next();
  if (!next)
    return next.takeError();
  const Batch &batch = *next;
  Launch run;
  run.step = stepIndex;
  run.kind = session.kindOf(stepIndex, batch.items);
  run.slot = batch.slot;
  run.scalars = {static_cast<int64_t>(session.options().seed), 0,
                 static_cast<int64_t>(batch.index),
                 static_cast<int64_t>(leftOver(session, stepIndex, batch))};
  run.scalars[6] = static_cast<int64_t>(place);
  Device &device = session.device();
  Expected<Report> report = device.wait(device.submit(run));
  loader.release();
  if (!report)
    return loader.ofData(report.takeError(), batch.index);
  auto values = readMetrics(session.plans(), stepIndex, run.kind, device);
  if (!values)
    return values.takeError();
  // A batch that was filled up has rows of nobody.
  for (size_t i = 0; sink && i < values->size(); ++i) {
    const MetricValues &rows = (*values)[i];
    size_t bytes = rows.data.size() / rows.shape[0] * batch.items;
    DLRT_TRY(sink(i, std::span(rows.data).first(bytes)));
  }
  return {};
}

Status dlrt::predictToken(Session &session, uint32_t step, uint64_t place,
                          const RowSink &sink) {
  std::unique_ptr<Loader> loader = session.makeLoader(step, 1);
  DLRT_TRY(loader->start());
  return runBatch(session, step, *loader, sink, place);
}

Expected<Prediction> dlrt::predict(Session &session, uint32_t stepIndex,
                                   const RowSink &sink,
                                   const std::function<bool()> &goOn) {
  auto begin = std::chrono::steady_clock::now();
  uint64_t batches = session.batchesPerEpoch(stepIndex);
  std::unique_ptr<Loader> loader = session.makeLoader(stepIndex, batches);
  DLRT_TRY(loader->start());
  Prediction result;
  result.name = displayName(*session.plan().steps[stepIndex]);
  for (uint64_t b = 0; b < batches && result.complete; ++b) {
    result.complete = goOn();
    if (result.complete)
      DLRT_TRY(runBatch(session, stepIndex, *loader, sink)
                   .within(fmt::format("'{}', batch {}", result.name, b + 1)));
  }
  result.items = session.dataset(stepIndex).items;
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  return result;
}
