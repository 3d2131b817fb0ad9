#include "test/simt/SharedMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <link.h>
#include <sys/mman.h>

namespace dlsimt {

static constexpr size_t page = 4096;
static constexpr size_t mappedBytes = (maxSharedBytes + page - 1) / page * page;

static size_t pagesOf(size_t bytes) { return (bytes + page - 1) / page * page; }

SharedMemory::SharedMemory() {
  void *memory = mmap(nullptr, mappedBytes + 2 * page, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    perror("simt: shared memory");
    abort();
  }
  base = static_cast<unsigned char *>(memory) + page;
}

SharedMemory::~SharedMemory() { munmap(base - page, mappedBytes + 2 * page); }

namespace {
struct ObjectSpans {
  uintptr_t image, anchor;
  Span variables, code;
};
} // namespace

/// Of the object that has `image` in it, and `anchor` in its thread-local
/// block.
static ObjectSpans spansOf(const void *image, const void *anchor) {
  ObjectSpans spans = {uintptr_t(image), uintptr_t(anchor), {}, {}};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto &spans = *static_cast<ObjectSpans *>(data);
        Span code = {UINTPTR_MAX, 0}, variables;
        for (size_t i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr) &header = info->dlpi_phdr[i];
          uintptr_t first = info->dlpi_addr + header.p_vaddr;
          if (header.p_type == PT_LOAD)
            code = {std::min(code.first, first),
                    std::max(code.end, first + header.p_memsz)};
          if (header.p_type == PT_TLS)
            variables = {uintptr_t(info->dlpi_tls_data),
                         uintptr_t(info->dlpi_tls_data) + header.p_memsz};
        }
        if (!code.holds(spans.image, 1))
          return 0;
        spans.code = code;
        if (variables.holds(spans.anchor, 1))
          spans.variables = variables;
        return 1;
      },
      &spans);
  return spans;
}

void SharedMemory::prepare(const Image &image, unsigned bytes) {
  size_t before = pagesOf(dynamicBytes), now = pagesOf(bytes);
  if (now > before)
    mprotect(base + before, now - before, PROT_READ | PROT_WRITE);
  else if (now < before)
    mprotect(base + now, before - now, PROT_NONE);
  dynamicBytes = bytes;
  ObjectSpans spans = spansOf(&image, image.sharedAnchor());
  variables = spans.variables;
  code = spans.code;
}

void SharedMemory::poison() {
  memset(base, 0xff, pagesOf(dynamicBytes));
  memset(reinterpret_cast<void *>(variables.first), 0xff,
         variables.end - variables.first);
}

bool SharedMemory::intact() const {
  const unsigned char *end = base + pagesOf(dynamicBytes);
  return std::all_of(base + dynamicBytes, const_cast<unsigned char *>(end),
                     [](unsigned char c) { return c == 0xff; });
}

Span SharedMemory::reserved() const {
  return {uintptr_t(base) - page, uintptr_t(base) + mappedBytes + page};
}

} // namespace dlsimt
