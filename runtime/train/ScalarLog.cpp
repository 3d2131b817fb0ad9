#include "runtime/train/ScalarLog.h"

#include "runtime/base/JsonWriter.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/train/EventFile.h"
#include "runtime/train/RunFolder.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

using namespace dlrt;
namespace fs = std::filesystem;

static double wallTime() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

/// RFC 4180: a field with separators stands in quotes, with quotes doubled.
static std::string csvField(const std::string &text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

static std::vector<std::string> columnsOfEvaluations(const fb::PlanT &plan) {
  std::vector<std::string> names;
  for (const auto &step : plan.steps)
    for (const auto &metric : fullProgram(*step).metrics)
      if (!step->training && !step->predicts && metric->shape.empty() &&
          std::find(names.begin(), names.end(), metric->name) == names.end())
        names.push_back(metric->name);
  return names;
}

static std::vector<std::string> columnsOfTraining(const fb::PlanT &plan) {
  std::vector<std::string> names;
  auto add = [&](const fb::ProgramT &program) {
    for (const auto &metric : program.metrics)
      if (metric->shape.empty() &&
          std::find(names.begin(), names.end(), metric->name) == names.end())
        names.push_back(metric->name);
  };
  for (const auto &step : plan.steps)
    if (step->training) {
      add(fullProgram(*step));
      if (const auto *update = programOf(*step, fb::ProgramKind::Update))
        add(*update);
    }
  return names;
}

static bool hasSeveralTrainingSteps(const fb::PlanT &plan) {
  return std::ranges::count(plan.steps, true, &fb::StepT::training) > 1;
}

Expected<ScalarLog>
ScalarLog::open(const std::string &folder, const fb::PlanT &plan,
                const std::map<std::string, uint64_t> &lengths,
                std::vector<std::string> &warnings) {
  ScalarLog log;
  log.trainColumns = columnsOfTraining(plan);
  log.evalColumns = columnsOfEvaluations(plan);
  if (lengths.empty())
    DLRT_TRY(log.setAside(folder, plan, warnings));
  for (const char *name : fileNames) {
    auto known = lengths.find(name);
    uint64_t keep = known == lengths.end() ? 0 : known->second;
    auto file = AppendFile::open(folder + "/" + name, keep);
    if (!file)
      return file.takeError();
    if (file->size() < keep)
      warnings.push_back(fmt::format("'{}' has {} bytes, it had {} when the "
                                     "checkpoint was written; it goes on "
                                     "behind them",
                                     file->path(), file->size(), keep));
    log.files.push_back(std::move(*file));
    if (log.files.back().size() == 0)
      DLRT_TRY(log.files.back().append(log.head(log.files.size() - 1, plan)));
  }
  return log;
}

bool ScalarLog::fits(const std::string &folder, const fb::PlanT &plan) {
  ScalarLog log;
  log.trainColumns = columnsOfTraining(plan);
  log.evalColumns = columnsOfEvaluations(plan);
  for (size_t file : {size_t(TrainCsv), size_t(EvalCsv)}) {
    std::ifstream stream(folder + "/" + fileNames[file]);
    std::string line;
    if (std::getline(stream, line) && line + "\n" != log.head(file, plan))
      return false;
  }
  return true;
}

/// Rows that no checkpoint stands for are all that is left of a run that came
/// to grief: the next one does not write over them.
Status ScalarLog::setAside(const std::string &folder, const fb::PlanT &plan,
                           std::vector<std::string> &warnings) const {
  std::vector<std::string> filled;
  std::error_code error;
  for (size_t i = 0; i < std::size(fileNames); ++i) {
    auto size = fs::file_size(folder + "/" + fileNames[i], error);
    if (!error && size > head(i, plan).size())
      filled.push_back(fileNames[i]);
  }
  if (filled.empty())
    return {};
  std::string old = freeOldFolder(folder);
  fs::create_directory(old, error);
  for (const std::string &name : filled)
    if (!error)
      fs::rename(folder + "/" + name, old + "/" + name, error);
  if (error)
    return {Code::Io, fmt::format("cannot move the older logs into '{}': {}",
                                  old, error.message())};
  warnings.push_back(fmt::format("the older logs are in '{}' now", old));
  return {};
}

std::string ScalarLog::head(size_t file, const fb::PlanT &plan) const {
  bool named = file == EvalCsv || hasSeveralTrainingSteps(plan);
  std::string head = named ? "step,epoch,name" : "step,epoch";
  switch (file) {
  case TrainCsv:
    for (const std::string &column : trainColumns)
      head.append(1, ',').append(csvField(column));
    return head + "\n";
  case EpochsCsv:
    head += ",steps";
    for (const std::string &column : trainColumns)
      head.append(1, ',').append(csvField(column));
    return head + "\n";
  case EvalCsv:
    for (const std::string &column : evalColumns)
      head.append(1, ',').append(csvField(column));
    return head + "\n";
  case Tensorboard:
    return eventFileVersion(wallTime());
  default:
    return {};
  }
}

/// A metric that the step or evaluation does not have leaves its column empty.
Status ScalarLog::addRow(File file, const std::string &name,
                         TrainingPosition position,
                         const std::vector<std::string> &columns,
                         const std::vector<ScalarMetric> &metrics,
                         uint64_t steps) {
  std::string row = fmt::format("{},{}", position.step, position.epoch);
  if (!name.empty())
    row.append(1, ',').append(csvField(name));
  if (steps != 0)
    row += fmt::format(",{}", steps);
  for (const std::string &column : columns) {
    row += ",";
    for (const ScalarMetric &metric : metrics)
      if (metric.name == column)
        row += metricText(metric);
  }
  return files[file].append(row + "\n");
}

Status ScalarLog::addStep(const std::string &name, TrainingPosition position,
                          const std::vector<ScalarMetric> &metrics) {
  DLRT_TRY(addRow(TrainCsv, name, position, trainColumns, metrics));
  DLRT_TRY(addJson("step", name, position, metrics));
  return addTensorboard(name.empty() ? "train" : name, position, metrics);
}

Status ScalarLog::addEvaluation(TrainingPosition position,
                                const Evaluation &result) {
  DLRT_TRY(addRow(EvalCsv, result.name, position, evalColumns, result.metrics));
  DLRT_TRY(addJson("eval", result.name, position, result.metrics));
  return addTensorboard(result.name, position, result.metrics);
}

Status ScalarLog::addEpoch(TrainingPosition position, const EpochMean &mean,
                           bool named) {
  DLRT_TRY(addRow(EpochsCsv, named ? mean.name : "", position, trainColumns,
                  mean.metrics, mean.steps));
  DLRT_TRY(addJson("epoch", mean.name, position, mean.metrics, mean.steps));
  return addTensorboard(named ? mean.name + "_epoch" : "epoch", position,
                        mean.metrics);
}

Status ScalarLog::addJson(const char *event, const std::string &name,
                          TrainingPosition position,
                          const std::vector<ScalarMetric> &metrics,
                          uint64_t steps) {
  JsonWriter json;
  json.beginObject().field("event", event);
  if (!name.empty())
    json.field("name", name);
  json.field("step", position.step).field("epoch", position.epoch);
  if (steps != 0)
    json.field("mean_of_steps", steps);
  for (const ScalarMetric &metric : metrics)
    addMetric(json, metric);
  json.endObject();
  return files[Jsonl].append(json.text() + "\n");
}

Status ScalarLog::addTensorboard(const std::string &name,
                                 TrainingPosition position,
                                 const std::vector<ScalarMetric> &metrics) {
  std::vector<std::pair<std::string, double>> scalars;
  for (const ScalarMetric &metric : metrics)
    scalars.emplace_back(name + "/" + metric.name, metric.value);
  return files[Tensorboard].append(
      eventOfScalars(wallTime(), static_cast<int64_t>(position.step), scalars));
}

Status ScalarLog::flush() {
  for (AppendFile &file : files)
    DLRT_TRY(file.flush());
  return {};
}

Status ScalarLog::sync() const {
  for (const AppendFile &file : files)
    DLRT_TRY(file.sync());
  return {};
}

std::map<std::string, uint64_t> ScalarLog::lengths() const {
  std::map<std::string, uint64_t> all;
  for (size_t i = 0; i < files.size(); ++i)
    all[fileNames[i]] = files[i].size();
  return all;
}
