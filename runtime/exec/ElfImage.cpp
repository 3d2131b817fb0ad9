#include "runtime/exec/ElfImage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace dlrt;

static Status damaged(std::string what) {
  return {Code::Plan, "the kernel image is damaged: " + std::move(what)};
}

namespace dlrt {

class ElfLoader {
public:
  explicit ElfLoader(std::span<const uint8_t> file)
      : file(file), page(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {}

  Expected<ElfImage> load() {
    DLRT_TRY(readHeaders());
    DLRT_TRY(checkSegments());
    DLRT_TRY(mapSegments());
    DLRT_TRY(readDynamic());
    DLRT_TRY(readSymbols());
    DLRT_TRY(protect());
    return std::move(image);
  }

private:
  static constexpr uint64_t maxSpan = uint64_t(1) << 30;

  Status readHeaders() {
    Elf64_Ehdr header;
    if (file.size() < sizeof(header))
      return damaged("it is too short");
    std::memcpy(&header, file.data(), sizeof(header));
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
        header.e_machine != EM_X86_64)
      return damaged("it is no shared object for x86-64");
    uint64_t bytes = uint64_t(header.e_phnum) * sizeof(Elf64_Phdr);
    if (header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phoff > file.size() || bytes > file.size() - header.e_phoff)
      return damaged("its program headers leave the file");
    segments.resize(header.e_phnum);
    if (bytes != 0)
      std::memcpy(segments.data(), file.data() + header.e_phoff, bytes);
    return {};
  }

  /// Loadable segments must ascend without sharing a page.
  Status checkSegments() {
    uint64_t end = 0;
    for (const Elf64_Phdr &s : segments) {
      if (s.p_type == PT_DYNAMIC)
        dynamic = s;
      if (s.p_type == PT_TLS)
        return damaged("it has thread-local data");
      if (s.p_type != PT_LOAD)
        continue;
      if (s.p_filesz > s.p_memsz || s.p_offset > file.size() ||
          s.p_filesz > file.size() - s.p_offset)
        return damaged("a segment leaves the file");
      if (s.p_vaddr > maxSpan || s.p_memsz > maxSpan - s.p_vaddr)
        return damaged("a segment is too large");
      if ((s.p_flags & PF_W) && (s.p_flags & PF_X))
        return damaged("a segment is writable and executable");
      if (s.p_vaddr / page * page < end)
        return damaged("its segments overlap");
      end = roundUp(s.p_vaddr + s.p_memsz);
    }
    if (end == 0)
      return damaged("it has no segment");
    image.span = end;
    return {};
  }

  Status mapSegments() {
    void *at = mmap(nullptr, image.span, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
      image.span = 0;
      return {Code::Unavailable, "no memory for the kernel image"};
    }
    image.base = static_cast<uint8_t *>(at);
    for (const Elf64_Phdr &s : segments)
      if (s.p_type == PT_LOAD && s.p_filesz != 0)
        std::memcpy(image.base + s.p_vaddr, file.data() + s.p_offset,
                    s.p_filesz);
    return {};
  }

  Status readDynamic() {
    if (!inside(dynamic.p_vaddr, dynamic.p_memsz) ||
        dynamic.p_vaddr % alignof(Elf64_Dyn) != 0)
      return damaged("its dynamic section leaves the image");
    for (uint64_t i = 0; i < dynamic.p_memsz / sizeof(Elf64_Dyn); ++i) {
      auto entry = read<Elf64_Dyn>(dynamic.p_vaddr + i * sizeof(Elf64_Dyn));
      switch (entry.d_tag) {
      case DT_NULL:
        return {};
      case DT_SYMTAB:
        symbolTable = entry.d_un.d_ptr;
        break;
      case DT_STRTAB:
        stringTable = entry.d_un.d_ptr;
        break;
      case DT_STRSZ:
        stringBytes = entry.d_un.d_val;
        break;
      case DT_HASH:
        hash = entry.d_un.d_ptr;
        break;
      case DT_GNU_HASH:
        gnuHash = entry.d_un.d_ptr;
        break;
      case DT_RELASZ:
      case DT_RELSZ:
      case DT_RELRSZ:
      case DT_PLTRELSZ:
        if (entry.d_un.d_val != 0)
          return damaged("it has dynamic relocations");
        break;
      case DT_NEEDED:
        return damaged("it needs another library");
      case DT_INIT:
      case DT_INIT_ARRAY:
        return damaged("it has initialisers");
      default:
        break;
      }
    }
    return {};
  }

  /// Neither hash table states the symbol count directly in all files.
  Expected<uint64_t> symbolCount() {
    if (hash != 0) {
      if (!inside(hash, 8))
        return damaged("its hash table leaves the image");
      return uint64_t(read<uint32_t>(hash + 4));
    }
    if (gnuHash == 0 || !inside(gnuHash, 16))
      return damaged("it has no hash table");
    uint64_t buckets = read<uint32_t>(gnuHash);
    uint64_t firstHashed = read<uint32_t>(gnuHash + 4);
    uint64_t table = gnuHash + 16 + 8 * uint64_t(read<uint32_t>(gnuHash + 8));
    if (!inside(table, 4 * buckets))
      return damaged("its hash table leaves the image");
    uint64_t last = 0;
    for (uint64_t b = 0; b < buckets; ++b)
      last = std::max<uint64_t>(last, read<uint32_t>(table + 4 * b));
    if (last < firstHashed)
      return firstHashed;
    uint64_t chain = table + 4 * buckets + 4 * (last - firstHashed);
    for (;; chain += 4, ++last) {
      if (!inside(chain, 4))
        return damaged("its hash table leaves the image");
      if (read<uint32_t>(chain) & 1)
        return last + 1;
    }
  }

  Status readSymbols() {
    Expected<uint64_t> count = symbolCount();
    if (!count)
      return count.takeError();
    if (*count > image.span / sizeof(Elf64_Sym) ||
        !inside(symbolTable, *count * sizeof(Elf64_Sym)) ||
        !inside(stringTable, stringBytes) || stringBytes == 0 ||
        image.base[stringTable + stringBytes - 1] != 0)
      return damaged("its symbol table leaves the image");
    for (uint64_t i = 1; i < *count; ++i) {
      auto symbol = read<Elf64_Sym>(symbolTable + i * sizeof(Elf64_Sym));
      if (symbol.st_name >= stringBytes)
        return damaged("a symbol has no name");
      std::string_view name(reinterpret_cast<const char *>(
          image.base + stringTable + symbol.st_name));
      if (symbol.st_shndx == SHN_UNDEF)
        return damaged(fmt::format("symbol '{}' is undefined", name));
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
          executable(symbol.st_value))
        image.symbols.emplace(name, symbol.st_value);
    }
    return {};
  }

  Status protect() {
    // Gaps between segments become inaccessible.
    bool done = mprotect(image.base, image.span, PROT_NONE) == 0;
    for (const Elf64_Phdr &s : segments) {
      if (s.p_type != PT_LOAD || s.p_memsz == 0)
        continue;
      uint64_t begin = s.p_vaddr / page * page;
      int access = (s.p_flags & PF_R ? PROT_READ : 0) |
                   (s.p_flags & PF_W ? PROT_WRITE : 0) |
                   (s.p_flags & PF_X ? PROT_EXEC : 0);
      done &= mprotect(image.base + begin,
                       roundUp(s.p_vaddr + s.p_memsz) - begin, access) == 0;
    }
    return done ? Status()
                : Status(Code::Unavailable,
                         "the system does not allow executable memory");
  }

  bool executable(uint64_t address) const {
    return std::any_of(
        segments.begin(), segments.end(), [&](const Elf64_Phdr &s) {
          return s.p_type == PT_LOAD && (s.p_flags & PF_X) &&
                 address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz;
        });
  }
  bool inside(uint64_t at, uint64_t bytes) const {
    return at <= image.span && bytes <= image.span - at;
  }
  template <typename T> T read(uint64_t at) const {
    T value;
    std::memcpy(&value, image.base + at, sizeof(value));
    return value;
  }
  uint64_t roundUp(uint64_t at) const { return (at + page - 1) / page * page; }

  std::span<const uint8_t> file;
  uint64_t page;
  std::vector<Elf64_Phdr> segments;
  Elf64_Phdr dynamic = {};
  uint64_t symbolTable = 0, stringTable = 0, stringBytes = 0;
  uint64_t hash = 0, gnuHash = 0;
  ElfImage image;
};

} // namespace dlrt

Expected<ElfImage> ElfImage::load(std::span<const uint8_t> bytes) {
  return ElfLoader(bytes).load();
}

ElfImage::~ElfImage() {
  if (base)
    munmap(base, span);
}

KernelEntry ElfImage::find(std::string_view name) const {
  auto found = symbols.find(name);
  if (found == symbols.end())
    return nullptr;
  return reinterpret_cast<KernelEntry>(base + found->second);
}
