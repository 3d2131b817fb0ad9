#include "tools/dlcc/Diagnostics.h"
#include "compiler/frontend/Message.h"
#include "mlir/IR/Location.h"

using namespace mlir;

namespace dl::dlcc {
namespace {

/// Takes apart what the front end put together: the module path around a chain
/// of calls.
void collect(Location location, std::string &modulePath,
             std::vector<frontend::Frame> &frames) {
  if (auto named = dyn_cast<NameLoc>(location)) {
    if (modulePath.empty())
      modulePath = named.getName().str();
    collect(named.getChildLoc(), modulePath, frames);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    collect(call.getCallee(), modulePath, frames);
    collect(call.getCaller(), modulePath, frames);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    if (!fused.getLocations().empty())
      collect(fused.getLocations().front(), modulePath, frames);
  } else if (auto place = dyn_cast<FileLineColLoc>(location)) {
    frames.push_back(
        {place.getFilename().str(), place.getLine(), place.getColumn(), ""});
  }
}

} // namespace

std::string renderDiagnostic(Diagnostic &diagnostic) {
  std::string modulePath;
  std::vector<frontend::Frame> frames;
  collect(diagnostic.getLocation(), modulePath, frames);
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
    return frontend::renderError(diagnostic.str(), modulePath, frames);
  frontend::Message message;
  message.severity = diagnostic.getSeverity() == DiagnosticSeverity::Warning
                         ? frontend::Message::Warning
                         : frontend::Message::Note;
  message.text = diagnostic.str();
  message.module = modulePath;
  if (!frames.empty())
    message.at = frames.front();
  return frontend::render(message);
}

} // namespace dl::dlcc
