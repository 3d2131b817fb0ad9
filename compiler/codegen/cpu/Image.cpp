#include "compiler/codegen/cpu/Image.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using object::ELF64LE;
using ElfFile = object::ELFFile<ELF64LE>;

namespace dl::cpu {
namespace {

/// A folder that goes away with its contents.
class TemporaryFolder {
public:
  static Expected<TemporaryFolder> create() {
    TemporaryFolder folder;
    if (std::error_code error =
            sys::fs::createUniqueDirectory("dlcc-link", folder.path))
      return createStringError(error, "cannot make a folder to link in: " +
                                          error.message());
    return folder;
  }
  TemporaryFolder(TemporaryFolder &&other) : path(std::move(other.path)) {
    other.path.clear();
  }
  ~TemporaryFolder() {
    if (!path.empty())
      sys::fs::remove_directories(path);
  }
  std::string file(const Twine &name) const {
    return (path + "/" + name).str();
  }

private:
  TemporaryFolder() = default;
  SmallString<128> path;
};

StringRef asString(ArrayRef<char> bytes) {
  return StringRef(bytes.data(), bytes.size());
}

Error refuse(const NamedObject &object, const Twine &reason) {
  return createStringError("kernel '" + object.name +
                           "' cannot be part of an image: " + reason);
}

Error checkSections(const NamedObject &object, const ElfFile &file) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const ELF64LE::Shdr &section : *sections) {
    if (!(section.sh_flags & ELF::SHF_ALLOC) || section.sh_size == 0)
      continue;
    Expected<StringRef> name = file.getSectionName(section);
    if (!name)
      return name.takeError();
    if (section.sh_flags & ELF::SHF_TLS)
      return refuse(object, "it has thread-local data in section " + *name);
    if (section.sh_flags & ELF::SHF_WRITE)
      return refuse(object, "it has writable data in section " + *name);
  }
  return Error::success();
}

Error checkSymbols(const NamedObject &object, const ElfFile &file) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  std::vector<std::string> undefined;
  for (const ELF64LE::Shdr &section : *sections) {
    if (section.sh_type != ELF::SHT_SYMTAB)
      continue;
    auto symbols = file.symbols(&section);
    auto names = file.getStringTableForSymtab(section);
    if (!symbols || !names)
      return joinErrors(symbols.takeError(), names.takeError());
    // The first symbol is a placeholder.
    for (const ELF64LE::Sym &symbol : symbols->drop_front())
      if (symbol.isUndefined()) {
        Expected<StringRef> name = symbol.getName(*names);
        if (!name)
          return name.takeError();
        undefined.push_back(name->str());
      }
  }
  if (undefined.empty())
    return Error::success();
  return refuse(object, "it needs " + join(undefined, ", ") +
                            ", which no kernel defines");
}

/// Kernels are complete in themselves, so that each can be judged alone and the
/// message names the one to blame.
Error checkObject(const NamedObject &object) {
  Expected<ElfFile> file = ElfFile::create(asString(object.bytes));
  if (!file)
    return refuse(object, toString(file.takeError()));
  if (Error error = checkSections(object, *file))
    return error;
  return checkSymbols(object, *file);
}

/// What the runtime relies on, read from the result rather than believed.
Error checkImage(ArrayRef<char> image) {
  Expected<ElfFile> file = ElfFile::create(asString(image));
  if (!file)
    return file.takeError();
  auto headers = file->program_headers();
  if (!headers)
    return headers.takeError();
  for (const ELF64LE::Phdr &header : *headers) {
    if (header.p_type == ELF::PT_TLS)
      return createStringError("the linked image has thread-local data");
    if (header.p_type == ELF::PT_LOAD && (header.p_flags & ELF::PF_W))
      return createStringError("the linked image has a writable segment");
  }
  auto entries = file->dynamicEntries();
  if (!entries)
    return entries.takeError();
  for (const ELF64LE::Dyn &entry : *entries) {
    auto tag = entry.getTag();
    if (tag == ELF::DT_RELA || tag == ELF::DT_REL || tag == ELF::DT_JMPREL ||
        tag == ELF::DT_RELR)
      return createStringError("the linked image has dynamic relocations");
    if (tag == ELF::DT_NEEDED)
      return createStringError("the linked image needs another library");
  }
  return Error::success();
}

/// Names without their folder: lld's messages show paths.
std::string cleanMessage(std::string text, StringRef folder) {
  for (size_t at; (at = text.find(folder)) != std::string::npos;)
    text.erase(at, folder.size());
  for (size_t at; (at = text.find("ld.lld: error: ")) != std::string::npos;)
    text.erase(at, 15);
  return StringRef(text).trim().str();
}

Error runLinker(ArrayRef<std::string> inputs, const std::string &output,
                StringRef folder) {
  std::vector<const char *> arguments = {
      "ld.lld", "-shared", "-o", output.c_str(), "-soname=kernels.so",
      // Nothing left for a dynamic linker: no symbol to find, none that could
      // be replaced, no table to write.
      "--no-undefined", "-Bsymbolic", "-z", "now", "-z", "text", "-z",
      "rodynamic", "-z", "max-page-size=4096", "-z", "noseparate-code",
      // The same bytes for the same input.
      "--build-id=none", "--hash-style=gnu", "--threads=1", "--strip-all",
      "--no-eh-frame-hdr", "--icf=none", "--no-gc-sections",
      "--color-diagnostics=never", "--error-limit=10"};
  for (const std::string &input : inputs)
    arguments.push_back(input.c_str());

  // lld keeps its state in globals.
  static std::mutex mutex;
  static bool usable = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!usable)
    return createStringError("the linker crashed before and cannot run again");
  std::string messages;
  raw_string_ostream stream(messages);
  lld::Result result =
      lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode == 0)
    return Error::success();
  return createStringError("cannot link the kernels: " +
                           cleanMessage(messages, folder));
}

Error writeFile(const std::string &path, ArrayRef<char> bytes) {
  std::error_code error;
  raw_fd_ostream stream(path, error);
  if (!error) {
    stream << asString(bytes);
    stream.close();
    error = stream.error();
  }
  if (!error)
    return Error::success();
  stream.clear_error(); // or its destructor ends the process
  return createStringError(error,
                           "cannot write " + path + ": " + error.message());
}

} // namespace

Expected<std::vector<char>> linkImage(ArrayRef<NamedObject> objects) {
  if (objects.empty())
    return createStringError("there are no kernels to link");
  for (const NamedObject &object : objects)
    if (Error error = checkObject(object))
      return error;

  Expected<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  std::vector<std::string> inputs;
  for (const NamedObject &object : objects) {
    inputs.push_back(folder->file(Twine(inputs.size()) + ".o"));
    if (Error error = writeFile(inputs.back(), object.bytes))
      return error;
  }
  std::string output = folder->file("kernels.so");
  if (Error error = runLinker(inputs, output, folder->file("")))
    return error;

  auto buffer = MemoryBuffer::getFile(output, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError(), "cannot read the linked image");
  std::vector<char> image((*buffer)->getBufferStart(),
                          (*buffer)->getBufferEnd());
  if (Error error = checkImage(image))
    return error;
  return image;
}

} // namespace dl::cpu
