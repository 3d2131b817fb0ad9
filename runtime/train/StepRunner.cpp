#include "runtime/train/StepRunner.h"

#include "runtime/plan/StepPrograms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

using namespace dlrt;

uint64_t dlrt::stepsOf(uint64_t batches, uint32_t accumulate) {
  return (batches + accumulate - 1) / accumulate;
}

StepRunner::StepRunner(Session &session, uint32_t step)
    : session(session), step(*session.plan().steps[step]), stepIndex(step),
      metrics(*session.plan().steps[step]) {}

static uint64_t saturatingProduct(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? ~uint64_t(0) : product;
}

Expected<std::unique_ptr<StepRunner>>
StepRunner::create(Session &session, uint32_t step, const RunLength &length) {
  DLRT_TRY(session.openData(step));
  std::unique_ptr<StepRunner> runner(new StepRunner(session, step));
  uint64_t batches = session.batchesPerEpoch(step);
  uint32_t accumulate = runner->step.accumulate;
  runner->perEpoch = stepsOf(batches, accumulate);
  runner->total = length.steps
                      ? *length.steps
                      : saturatingProduct(length.epochs, runner->perEpoch);
  uint64_t limit = length.steps ? saturatingProduct(*length.steps, accumulate)
                                : saturatingProduct(length.epochs, batches);
  // A step never crosses the border of epochs, so its number tells its batch.
  runner->done = length.done;
  if (length.done != 0) {
    runner->nextBatch = length.done / runner->perEpoch * batches +
                        length.done % runner->perEpoch * accumulate;
    runner->currentEpoch = (length.done - 1) / runner->perEpoch;
  }
  limit -= std::min(limit, runner->nextBatch);
  runner->loader = session.makeLoader(step, limit, runner->nextBatch);
  DLRT_TRY(runner->loader->start());
  return runner;
}

Expected<Report> StepRunner::launch(const Launch &launch) {
  Device &device = session.device();
  return device.wait(device.submit(launch));
}

Status StepRunner::runBatch(uint64_t micro, uint64_t groupItems) {
  Expected<Batch> next = loader->next();
  if (!next)
    return next.takeError();
  const Batch &batch = *next;
  lastKind = kindOfBatch(step, batch.items);
  Launch run;
  run.step = stepIndex;
  run.kind = lastKind;
  run.slot = batch.slot;
  run.scalars = {static_cast<int64_t>(session.options().seed),
                 static_cast<int64_t>(done), static_cast<int64_t>(micro),
                 static_cast<int64_t>(groupItems),
                 static_cast<int64_t>(batch.epoch)};
  Expected<Report> report = launch(run);
  loader->release();
  if (!report)
    return report.takeError();
  metrics.addBatch(*report, batch.items);
  return {};
}

Status StepRunner::run() {
  uint64_t batches = loader->batchesPerEpoch();
  currentEpoch = nextBatch / batches;
  uint64_t left = batches - nextBatch % batches;
  uint64_t group = std::min<uint64_t>(step.accumulate, left);
  atEpochEnd = group == left;
  uint64_t items = 0;
  for (uint64_t m = 0; m < group; ++m)
    items += loader->itemsOf(nextBatch + m);
  metrics.clear();
  Status status;
  for (uint64_t m = 0; m < group && status.ok(); ++m)
    status = runBatch(m, items);
  if (status.ok() && programOf(step, fb::ProgramKind::Update)) {
    Launch update;
    update.step = stepIndex;
    update.kind = fb::ProgramKind::Update;
    update.scalars = {static_cast<int64_t>(session.options().seed),
                      static_cast<int64_t>(done), 0,
                      static_cast<int64_t>(items),
                      static_cast<int64_t>(currentEpoch)};
    Expected<Report> report = launch(update);
    if (report)
      metrics.addUpdate(*report);
    else
      status = report.takeError();
  }
  nextBatch += group;
  ++done;
  if (!status.ok())
    return std::move(status).within(fmt::format("step {}", done));
  return {};
}

/// A scalar of several micro-batches is their mean.
static void setScalar(MetricValues &values, double value) {
  if (values.dtype == fb::DType::F32) {
    float narrow = static_cast<float>(value);
    std::memcpy(values.data.data(), &narrow, sizeof(narrow));
  } else if (values.dtype == fb::DType::F64) {
    std::memcpy(values.data.data(), &value, sizeof(value));
  }
}

Expected<std::vector<MetricValues>> StepRunner::allMetrics() {
  std::vector<MetricValues> all;
  for (fb::ProgramKind kind : {lastKind, fb::ProgramKind::Update}) {
    auto values =
        readMetrics(session.plans(), stepIndex, kind, session.device());
    if (!values)
      return values.takeError();
    std::move(values->begin(), values->end(), std::back_inserter(all));
  }
  for (const ScalarMetric &scalar : metrics.values())
    for (MetricValues &values : all)
      if (values.name == scalar.name && values.shape.empty())
        setScalar(values, scalar.value);
  return all;
}
