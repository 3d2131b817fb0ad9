#include "compiler/frontend/CallStack.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Object/ELFObjectFile.h"
#include <execinfo.h>

using namespace dl::frontend;
using namespace llvm;

// GDB's interface to JITs, which LLVM's debugger support fills in: the one
// place that knows the objects at their final addresses.
namespace {
struct JitCodeEntry {
  JitCodeEntry *next, *previous;
  const char *object;
  uint64_t size;
};
struct JitDescriptor {
  uint32_t version, action;
  JitCodeEntry *relevant, *first;
};

struct DebugFunction {
  uint64_t begin, end;
  std::string name;
};
} // namespace

extern "C" JitDescriptor __jit_debug_descriptor;

struct CallStack::Object {
  std::unique_ptr<object::ObjectFile> file;
  std::unique_ptr<DWARFContext> dwarf;
  std::vector<DebugFunction> functions;
};

/// "Net::forward" of "(anonymous namespace)::Net::forward(dl::Tensor)"; what a
/// lambda stands in, for a lambda.
static std::string shortName(StringRef mangled) {
  std::string name = demangle(mangled);
  static constexpr StringLiteral anonymous = "(anonymous namespace)::";
  for (size_t at; (at = name.find(anonymous.data())) != std::string::npos;)
    name.erase(at, anonymous.size());
  name = name.substr(0, name.find('('));
  int depth = 0;
  for (size_t i = name.size(); i > 0; --i) {
    char c = name[i - 1];
    depth += c == '>' ? 1 : c == '<' ? -1 : 0;
    if (c == ' ' && depth == 0) // a template's name comes after its result type
      return name.substr(i);
  }
  return name;
}

CallStack::CallStack(std::vector<std::string> folders)
    : foreignFolders(std::move(folders)) {}
CallStack::~CallStack() = default;

ProgramCounters CallStack::capture() {
  ProgramCounters counters(160);
  int count = backtrace(counters.data(), static_cast<int>(counters.size()));
  counters.resize(static_cast<size_t>(count));
  return counters;
}

void CallStack::loadObjects() {
  if (__jit_debug_descriptor.first == lastEntry)
    return;
  for (auto *entry = __jit_debug_descriptor.first; entry && entry != lastEntry;
       entry = entry->next) {
    MemoryBufferRef bytes(StringRef(entry->object, entry->size), "jit");
    Expected<std::unique_ptr<object::ObjectFile>> file =
        object::ObjectFile::createObjectFile(bytes);
    if (!file) {
      consumeError(file.takeError());
      continue;
    }
    auto added = std::make_unique<Object>();
    added->file = std::move(*file);
    for (const object::ELFSymbolRef symbol : added->file->symbols()) {
      Expected<object::SymbolRef::Type> type = symbol.getType();
      Expected<object::section_iterator> section = symbol.getSection();
      Expected<uint64_t> value = symbol.getValue();
      Expected<StringRef> name = symbol.getName();
      if (type && section && value && name &&
          *type == object::SymbolRef::ST_Function &&
          *section != added->file->section_end()) {
        uint64_t begin = *value + (*section)->getAddress();
        added->functions.push_back(
            {begin, begin + symbol.getSize(), name->str()});
        continue;
      }
      consumeError(type.takeError());
      consumeError(section.takeError());
      consumeError(value.takeError());
      consumeError(name.takeError());
    }
    added->dwarf = DWARFContext::create(*added->file);
    objects.push_back(std::move(added));
  }
  lastEntry = __jit_debug_descriptor.first;
}

const Frame *CallStack::resolve(void *counter) {
  auto [slot, isNew] = known.try_emplace(counter);
  if (!isNew)
    return slot->second.get();
  loadObjects();
  uint64_t address = reinterpret_cast<uint64_t>(counter) -
                     1; // inside of the call, not after it
  for (const std::unique_ptr<Object> &object : objects) {
    uint64_t section = object::SectionedAddress::UndefSection;
    for (const object::SectionRef &candidate : object->file->sections())
      if (candidate.isText() && address >= candidate.getAddress() &&
          address < candidate.getAddress() + candidate.getSize())
        section = candidate.getIndex();
    if (section == object::SectionedAddress::UndefSection)
      continue;
    std::optional<DILineInfo> info = object->dwarf->getLineInfoForAddress(
        {address, section},
        DILineInfoSpecifier(
            DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath));
    if (!info || info->Line == 0)
      return nullptr;
    StringRef file = info->FileName;
    file.consume_front("./");
    if (any_of(foreignFolders,
               [&](StringRef folder) { return file.starts_with(folder); }))
      return nullptr;
    auto frame = std::make_unique<Frame>();
    frame->file = file.str();
    frame->line = info->Line;
    frame->column = info->Column;
    for (const DebugFunction &function : object->functions)
      if (address >= function.begin && address < function.end)
        frame->function = shortName(function.name);
    return (known[counter] = std::move(frame)).get();
  }
  return nullptr;
}

std::vector<Frame> CallStack::userFrames(ArrayRef<void *> counters) {
  std::vector<Frame> frames;
  for (void *counter : counters)
    if (const Frame *frame = resolve(counter))
      frames.push_back(*frame);
  return frames;
}
