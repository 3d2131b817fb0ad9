#include "compiler/frontend/Message.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace dl::frontend;

static constexpr size_t kLongestStack = 12;

static std::string sourceLine(const Frame &at) {
  auto buffer = llvm::MemoryBuffer::getFile(at.file);
  if (!buffer || at.line == 0)
    return "";
  llvm::StringRef rest = (*buffer)->getBuffer();
  for (unsigned line = 1; line < at.line && !rest.empty(); ++line)
    rest = rest.split('\n').second;
  return rest.split('\n').first.rtrim('\r').str();
}

static void renderSource(llvm::raw_ostream &os, const Frame &at) {
  std::string line = sourceLine(at);
  if (line.empty())
    return;
  std::string number = std::to_string(at.line);
  std::string margin(std::max<size_t>(5, number.size() + 1), ' ');
  os << margin.substr(number.size()) << number << " | " << line << "\n";
  if (at.column == 0 || at.column > line.size() + 1)
    return;
  os << margin << " | ";
  for (unsigned i = 0; i + 1 < at.column; ++i)
    os << (line[i] == '\t' ? '\t' : ' ');
  os << "^\n";
}

std::string dl::frontend::render(const Message &message) {
  static constexpr llvm::StringLiteral names[] = {
      "error: ", "warning: ", "note: "};
  std::string text;
  llvm::raw_string_ostream os(text);
  const Frame &at = message.at;
  if (!at.file.empty()) {
    os << at.file << ":";
    if (at.line)
      os << at.line << ":";
    if (at.line && at.column)
      os << at.column << ":";
    os << " ";
  }
  os << names[message.severity] << message.text;
  if (message.severity == Message::Note && !at.function.empty())
    os << " [" << at.function << "]";
  os << "\n";
  if (!message.module.empty()) {
    os << "  in module '" << message.module << "'";
    if (!at.function.empty())
      os << " [" << at.function << "]";
    os << "\n";
  }
  renderSource(os, at);
  if (!message.help.empty())
    os << "  help: " << message.help << "\n";
  return text;
}

static bool samePlace(const Frame &a, const Frame &b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

std::string dl::frontend::renderError(llvm::StringRef text,
                                      llvm::StringRef module,
                                      llvm::ArrayRef<Frame> stack,
                                      llvm::StringRef help) {
  Message error;
  error.text = text.str();
  error.module = module.str();
  if (!stack.empty())
    error.at = stack.front();
  std::string rendered = render(error);
  size_t shown = 1;
  for (size_t i = 1; i < stack.size(); ++i) {
    // A recursion is the same call over and over.
    size_t repeated = 0;
    while (i < stack.size() && samePlace(stack[i], stack[i - 1]))
      ++repeated, ++i;
    if (repeated)
      rendered += "  and again " + std::to_string(repeated) +
                  (repeated == 1 ? " time\n" : " times\n");
    if (i == stack.size())
      break;
    if (shown++ == kLongestStack) {
      rendered += "  and " + std::to_string(stack.size() - i) + " calls more\n";
      break;
    }
    rendered += render({Message::Note, "called from here", stack[i], "", ""});
  }
  if (!help.empty())
    rendered += "  help: " + help.str() + "\n";
  return rendered;
}
