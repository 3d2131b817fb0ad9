#include "runtime/train/StepCursor.h"

#include "runtime/plan/StepPrograms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

using namespace dlrt;

uint64_t dlrt::stepsOf(uint64_t batches, uint32_t accumulate) {
  return (batches + accumulate - 1) / accumulate;
}

StepCursor::StepCursor(Session &session, uint32_t step)
    : session(session), step(*session.plan().steps[step]), stepIndex(step),
      metrics(*session.plan().steps[step]) {}

Expected<std::unique_ptr<StepCursor>> StepCursor::create(Session &session,
                                                         uint32_t step) {
  DLRT_TRY(session.openData(step));
  std::unique_ptr<StepCursor> cursor(new StepCursor(session, step));
  cursor->updatesPerEpoch =
      stepsOf(session.batchesPerEpoch(step), cursor->step.accumulate);
  return cursor;
}

/// Batches of so many updates from the beginning on. An update never crosses
/// the border of epochs, so their number tells the batch.
static uint64_t batchesOfUpdates(uint64_t updates, uint64_t batches,
                                 uint32_t accumulate) {
  uint64_t perEpoch = stepsOf(batches, accumulate), whole;
  if (__builtin_mul_overflow(updates / perEpoch, batches, &whole) ||
      __builtin_add_overflow(whole, updates % perEpoch * accumulate, &whole))
    return ~uint64_t(0);
  return whole;
}

Status StepCursor::start(uint64_t already, uint64_t more) {
  uint64_t batches = session.batchesPerEpoch(stepIndex), end;
  done = already;
  nextBatch = batchesOfUpdates(done, batches, step.accumulate);
  if (__builtin_add_overflow(done, more, &end))
    end = ~uint64_t(0);
  uint64_t limit = batchesOfUpdates(end, batches, step.accumulate) - nextBatch;
  loader = session.makeLoader(stepIndex, limit, nextBatch);
  return loader->start();
}

Expected<Report> StepCursor::launch(const Launch &launch) {
  Device &device = session.device();
  return device.wait(device.submit(launch));
}

Status StepCursor::runBatch(uint64_t number, uint64_t runEpoch, uint64_t micro,
                            uint64_t groupItems) {
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
                 static_cast<int64_t>(number), static_cast<int64_t>(micro),
                 static_cast<int64_t>(groupItems),
                 static_cast<int64_t>(runEpoch)};
  Expected<Report> report = launch(run);
  loader->release();
  if (!report)
    return report.takeError();
  metrics.addBatch(*report, batch.items);
  return {};
}

Status StepCursor::run(uint64_t number, uint64_t runEpoch) {
  uint64_t batches = loader->batchesPerEpoch();
  uint64_t left = batches - nextBatch % batches;
  uint64_t group = std::min<uint64_t>(step.accumulate, left);
  uint64_t items = 0;
  for (uint64_t m = 0; m < group; ++m)
    items += loader->itemsOf(nextBatch + m);
  metrics.clear();
  Status status;
  for (uint64_t m = 0; m < group && status.ok(); ++m)
    status = runBatch(number, runEpoch, m, items);
  if (status.ok() && programOf(step, fb::ProgramKind::Update)) {
    Launch update;
    update.step = stepIndex;
    update.kind = fb::ProgramKind::Update;
    update.scalars = {static_cast<int64_t>(session.options().seed),
                      static_cast<int64_t>(number), 0,
                      static_cast<int64_t>(items),
                      static_cast<int64_t>(runEpoch)};
    Expected<Report> report = launch(update);
    if (report)
      metrics.addUpdate(*report);
    else
      status = report.takeError();
  }
  nextBatch += group;
  ++done;
  return status;
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

Expected<std::vector<MetricValues>> StepCursor::allMetrics() {
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
