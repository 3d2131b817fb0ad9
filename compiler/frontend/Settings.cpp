#include "compiler/frontend/Settings.h"
#include "compiler/frontend/Suggest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace dl::frontend;
using llvm::StringRef;

const std::string *Settings::given(StringRef name) {
  const std::string *last = nullptr;
  for (const auto &[key, value] : options.settings)
    if (key == name)
      last = &value;
  return last;
}

void Settings::remember(StringRef name, const std::string &value,
                        StringRef help) {
  // A step's function is run for each size of batch.
  std::vector<Frame> frames = reporter.stack.userFrames();
  Frame here = frames.empty() ? Frame() : frames.front();
  auto [before, isNew] = places.try_emplace(name.str(), here);
  if (!isNew &&
      (before->second.file != here.file || before->second.line != here.line ||
       before->second.column != here.column))
    reporter.fail(
        "'" + name.str() + "' was asked for before, at " + before->second.file +
        ":" + std::to_string(before->second.line) + "; keep what it returned");
  if (!isNew)
    return;
  asked.push_back(name.str());
  reporter.channel.setting({name.str(), value, help.str()});
}

void Settings::misfit(StringRef name, StringRef value, StringRef wanted) {
  reporter.failPlain("-D " + name.str() + "=" + value.str() + ": `" +
                         name.str() + "` is " + wanted.str(),
                     2);
}

long long Settings::integer(StringRef name, long long standard,
                            StringRef help) {
  long long result = standard;
  if (const std::string *value = given(name);
      value && StringRef(*value).getAsInteger(10, result))
    misfit(name, *value, "an integer");
  remember(name, std::to_string(result), help);
  return result;
}

double Settings::number(StringRef name, double standard, StringRef help) {
  double result = standard;
  if (const std::string *value = given(name);
      value && StringRef(*value).getAsDouble(result))
    misfit(name, *value, "a number");
  char shown[32];
  std::snprintf(shown, sizeof shown, "%g", result);
  remember(name, shown, help);
  return result;
}

bool Settings::boolean(StringRef name, bool standard, StringRef help) {
  bool result = standard;
  if (const std::string *value = given(name)) {
    bool yes = *value == "true" || *value == "1",
         no = *value == "false" || *value == "0";
    if (!yes && !no)
      misfit(name, *value, "true or false");
    result = yes;
  }
  remember(name, result ? "true" : "false", help);
  return result;
}

const char *Settings::text(StringRef name, StringRef standard, StringRef help) {
  const std::string *value = given(name);
  texts.push_back(value ? *value : standard.str());
  remember(name, texts.back(), help);
  return texts.back().c_str();
}

void Settings::checkAllAsked() {
  for (const auto &[name, value] : options.settings) {
    if (llvm::is_contained(asked, name))
      continue;
    std::string better = nearest(name, asked);
    std::string said = options.model + " has no setting `" + name + "`";
    if (!better.empty())
      said += "; did you mean `" + better + "`?";
    else
      said += asked.empty() ? "; it has none"
                            : "; it has " + llvm::join(asked, ", ");
    reporter.failPlain(said, 2);
  }
}
