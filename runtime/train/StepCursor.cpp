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
      metrics(*session.plan().steps[step]), underWay(session.device(), step) {}

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
  done = begunUpdates = already;
  nextBatch = begunBatches = batchesOfUpdates(done, batches, step.accumulate);
  if (__builtin_add_overflow(done, more, &end))
    end = ~uint64_t(0);
  uint64_t limit = batchesOfUpdates(end, batches, step.accumulate) - nextBatch;
  loader = session.makeLoader(stepIndex, limit, nextBatch);
  return loader->start();
}

/// The next batch of the update that is being begun, or the update itself.
Status StepCursor::beginNext() {
  bool hasUpdate = programOf(step, fb::ProgramKind::Update) != nullptr;
  if (micro == 0) {
    uint64_t batches = loader->batchesPerEpoch();
    group =
        std::min<uint64_t>(step.accumulate, batches - begunBatches % batches);
    groupItems = 0;
    for (uint64_t m = 0; m < group; ++m)
      groupItems += loader->itemsOf(begunBatches + m);
  }
  uint64_t later = begunUpdates - done;
  Launch run;
  run.step = stepIndex;
  run.kind = fb::ProgramKind::Update;
  run.scalars = {static_cast<int64_t>(session.options().seed),
                 static_cast<int64_t>(runNumber + later), 0,
                 static_cast<int64_t>(groupItems),
                 static_cast<int64_t>(
                     later == 0 ? runEpoch : begunUpdates / updatesPerEpoch)};
  uint64_t items = 0;
  bool isBatch = micro < group;
  if (isBatch) {
    Expected<Batch> batch = loader->next();
    if (!batch)
      return batch.takeError();
    items = batch->items;
    run.kind = kindOfBatch(step, items);
    run.slot = batch->slot;
    run.scalars[2] = static_cast<int64_t>(micro++);
    ++begunBatches;
  }
  bool isLast = !isBatch || (micro == group && !hasUpdate);
  underWay.add(session.device().submit(run), {run.kind, items, isLast});
  if (isLast) {
    micro = 0;
    ++begunUpdates;
  }
  return {};
}

/// Whether it was the last of its update.
Expected<bool> StepCursor::finishOldest() {
  auto [ticket, part] = underWay.takeOldest();
  Expected<Report> report = session.device().wait(ticket);
  bool isUpdate = part.kind == fb::ProgramKind::Update;
  uint64_t batch = nextBatch;
  if (!isUpdate) {
    loader->release();
    lastKind = part.kind;
    ++nextBatch;
  }
  if (!report)
    return loader->ofData(report.takeError(), batch);
  if (isUpdate)
    metrics.addUpdate(*report);
  else
    metrics.addBatch(*report, part.items);
  return part.isLast;
}

void StepCursor::abandon() {
  while (!underWay.isEmpty())
    (void)finishOldest();
}

Status StepCursor::run(uint64_t number, uint64_t epoch, uint64_t ahead) {
  metrics.clear();
  runNumber = number;
  runEpoch = epoch;
  Status status;
  for (bool isComplete = false; !isComplete && status.ok();) {
    while (notBegun.ok() && !underWay.isFull() && begunUpdates - done <= ahead)
      notBegun = beginNext();
    if (underWay.isEmpty()) {
      status = notBegun;
      // (Micro-batches may have changed buffers.)
      hadNoBatch = micro == 0;
      break;
    }
    Expected<bool> last = finishOldest();
    if (last)
      isComplete = *last;
    else
      status = last.takeError();
  }
  if (!status.ok())
    abandon();
  done += !hadNoBatch;
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
