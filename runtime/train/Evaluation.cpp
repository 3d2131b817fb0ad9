#include "runtime/train/Evaluation.h"

#include "runtime/plan/StepPrograms.h"
#include "runtime/train/UnderWay.h"

#include <fmt/format.h>

#include <chrono>

using namespace dlrt;

namespace {

/// The batches of one evaluation, as many under way as the device likes.
class EvaluationRun {
public:
  EvaluationRun(Session &session, uint32_t step, Loader &loader,
                TrainingPosition position)
      : session(session), stepIndex(step), step(*session.plan().steps[step]),
        loader(loader), position(position),
        fullBatches(session.fullBatches(step)),
        itemsLeft(session.runsItems(step)
                      ? session.batchesPerEpoch(step) - fullBatches
                      : 0),
        underWay(session.device(), step) {}
  /// After a failure some may be left.
  ~EvaluationRun() {
    while (!underWay.isEmpty())
      (void)session.device().wait(underWay.takeOldest().ticket);
  }

  bool isFull() const { return underWay.isFull(); }
  bool isEmpty() const { return underWay.isEmpty(); }

  Status begin() {
    Expected<Batch> batch = loader.next();
    if (!batch)
      return batch.takeError();
    fb::ProgramKind kind = session.kindOf(stepIndex, batch->items);
    submit(*batch, kind);
    return {};
  }
  /// What is left over has all been begun: its metrics.
  bool needsUpdate() const { return itemsLeft != 0; }
  void beginUpdate() {
    submit({0, itemsLeft, 0, fullBatches}, fb::ProgramKind::Update);
  }

  Status finishOldest(ScalarMetrics &metrics) {
    auto [ticket, part] = underWay.takeOldest();
    const Batch &batch = part.batch;
    Expected<Report> report = session.device().wait(ticket);
    if (part.kind != fb::ProgramKind::Update)
      loader.release();
    if (!report)
      return loader.ofData(report.takeError(), batch.index)
          .within(
              part.kind == fb::ProgramKind::Item
                  ? fmt::format("'{}', item {}", displayName(step),
                                fullBatches * fullProgram(step).batch_items +
                                    batch.index - fullBatches)
                  : fmt::format("'{}', batch {}", displayName(step),
                                batch.index + 1));
    if (part.kind != fb::ProgramKind::Item)
      metrics.addBatch(*report, batch.items);
    return {};
  }

private:
  /// A batch, and which program has it.
  struct Part {
    Batch batch;
    fb::ProgramKind kind = fb::ProgramKind::Full;
  };

  void submit(const Batch &batch, fb::ProgramKind kind) {
    bool isItem = kind == fb::ProgramKind::Item;
    Launch run;
    run.step = stepIndex;
    run.kind = kind;
    run.slot = batch.slot;
    // Batches stand where a training step has its micro-batches, so that random
    // numbers differ between them.
    run.scalars = {
        static_cast<int64_t>(session.options().seed),
        static_cast<int64_t>(position.step),
        static_cast<int64_t>(batch.index),
        static_cast<int64_t>(isItem ? itemsLeft : batch.items),
        static_cast<int64_t>(position.epoch),
        static_cast<int64_t>(isItem ? batch.index - fullBatches : 0)};
    underWay.add(session.device().submit(run), {batch, kind});
  }

  Session &session;
  const uint32_t stepIndex;
  const fb::StepT &step;
  Loader &loader;
  const TrainingPosition position;
  const uint64_t fullBatches, itemsLeft; ///< those that run one by one
  UnderWay<Part> underWay;
};

} // namespace

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
  EvaluationRun run(session, stepIndex, *loader, position);
  bool updates = run.needsUpdate();
  for (uint64_t begun = 0;;) {
    while (begun < batches && result.complete && !run.isFull()) {
      result.complete = goOn();
      if (!result.complete)
        break;
      DLRT_TRY(run.begin());
      ++begun;
    }
    if (begun == batches && updates && !run.isFull()) {
      run.beginUpdate();
      updates = false;
    }
    if (run.isEmpty())
      break;
    DLRT_TRY(run.finishOldest(metrics));
  }
  result.items = metrics.items();
  result.metrics = metrics.values();
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  return result;
}
