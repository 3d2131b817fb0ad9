#include "compiler/codegen/kernel/KernelCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace dl::kernel {

/// Files begin with the hash of what follows: code that is damaged is not run.
static constexpr size_t checksumBytes = 16;

static std::string hashOf(ArrayRef<char> bytes) {
  XXH128_hash_t hash = xxh3_128bits(ArrayRef<uint8_t>(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  char text[checksumBytes];
  for (int i = 0; i < 8; ++i) {
    text[i] = static_cast<char>(hash.high64 >> (56 - 8 * i));
    text[8 + i] = static_cast<char>(hash.low64 >> (56 - 8 * i));
  }
  return std::string(text, checksumBytes);
}

KernelCache KernelCache::inUserFolder() {
  if (auto cache = sys::Process::GetEnv("XDG_CACHE_HOME");
      cache && sys::path::is_absolute(*cache))
    return KernelCache(*cache + "/dlcc");
  SmallString<128> home;
  if (!sys::path::home_directory(home) || !sys::path::is_absolute(home))
    return KernelCache();
  return KernelCache((home + "/.cache/dlcc").str());
}

std::string KernelCache::keyOf(ArrayRef<char> madeFrom) {
  return toHex(hashOf(madeFrom), /*LowerCase=*/true);
}

std::string KernelCache::pathOf(StringRef key) const {
  // pruneCache() looks at files with this prefix only.
  return (Twine(folder) + "/llvmcache-" + key).str();
}

std::optional<SmallVector<char, 0>> KernelCache::load(StringRef key) const {
  if (!enabled())
    return std::nullopt;
  std::string path = pathOf(key);
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file || (*file)->getBufferSize() < checksumBytes)
    return std::nullopt;
  StringRef contents = (*file)->getBuffer();
  StringRef object = contents.drop_front(checksumBytes);
  if (hashOf(ArrayRef<char>(object.data(), object.size())) !=
      contents.take_front(checksumBytes))
    return std::nullopt;
  return SmallVector<char, 0>(object.begin(), object.end());
}

void KernelCache::store(StringRef key, ArrayRef<char> object) const {
  if (!enabled() || sys::fs::create_directories(folder))
    return;
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(folder + "/new-%%%%%%%%%%%%");
  if (!file) {
    consumeError(file.takeError());
    return;
  }
  bool written;
  {
    raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
    stream << hashOf(object) << StringRef(object.data(), object.size());
    stream.flush();
    written = !stream.has_error();
    stream.clear_error();
  }
  // Renaming is atomic: readers see a whole file or none.
  consumeError(written ? file->keep(pathOf(key)) : file->discard());
}

void KernelCache::prune() const {
  if (!enabled())
    return;
  CachePruningPolicy policy;
  policy.Expiration = std::chrono::hours(30 * 24);
  policy.MaxSizeBytes = uint64_t(256) << 20;
  pruneCache(folder, policy);
}

} // namespace dl::kernel
