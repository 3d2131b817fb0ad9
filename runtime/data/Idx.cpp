#include "runtime/data/Idx.h"

#include "runtime/data/Gunzip.h"
#include "runtime/plan/DTypes.h"

#include <fmt/format.h>

using namespace dlrt;

/// Larger files are not MNIST; the limit keeps a wrong header of a compressed
/// file from asking for all memory.
static constexpr uint64_t maxBytes = uint64_t(1) << 34;

static uint32_t bigEndian(const uint8_t *at) {
  return uint32_t(at[0]) << 24 | uint32_t(at[1]) << 16 | uint32_t(at[2]) << 8 |
         uint32_t(at[3]);
}

static Status parseHeader(std::span<const uint8_t> header, unsigned rank,
                          std::vector<uint64_t> &shape, uint64_t &bytes) {
  uint32_t magic = bigEndian(header.data());
  constexpr uint32_t unsignedBytes = 0x800;
  if (magic != (unsignedBytes | rank))
    return {Code::Io, fmt::format("not an IDX file of bytes with {} dims: it "
                                  "starts with {:#010x}, not {:#010x}",
                                  rank, magic, unsignedBytes | rank)};
  for (unsigned d = 0; d < rank; ++d)
    shape.push_back(bigEndian(header.data() + 4 + 4 * d));
  if (!elementCount(shape, bytes) || bytes > maxBytes)
    return {Code::Io, fmt::format("its header says {}, which is too large",
                                  shapeText(shape))};
  return {};
}

static Status readCompressed(IdxFile &idx, unsigned rank) {
  Gunzip gunzip(idx.file.bytes());
  std::vector<uint8_t> header(4 + 4 * rank);
  DLRT_TRY(gunzip.read(header));
  uint64_t bytes;
  DLRT_TRY(parseHeader(header, rank, idx.shape, bytes));
  idx.memory = std::make_unique_for_overwrite<uint8_t[]>(bytes);
  DLRT_TRY(gunzip.read({idx.memory.get(), bytes}));
  DLRT_TRY(gunzip.expectEnd());
  idx.data = idx.memory.get();
  idx.file = MappedFile();
  return {};
}

static Status readPlain(IdxFile &idx, unsigned rank) {
  size_t header = 4 + 4 * rank;
  std::span<const uint8_t> file = idx.file.bytes();
  if (file.size() < header)
    return {Code::Io, fmt::format("it has only {} bytes", file.size())};
  uint64_t bytes;
  DLRT_TRY(parseHeader(file, rank, idx.shape, bytes));
  if (file.size() - header != bytes)
    return {Code::Io,
            fmt::format("its header says {}, so {} bytes, but it has {}",
                        shapeText(idx.shape), bytes + header, file.size())};
  idx.data = file.data() + header;
  return {};
}

Expected<IdxFile> dlrt::openIdx(const std::string &path, unsigned rank) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  IdxFile idx;
  idx.file = std::move(*file);
  Status status = isGzip(idx.file.bytes()) ? readCompressed(idx, rank)
                                           : readPlain(idx, rank);
  if (!status.ok())
    return std::move(status).within(path);
  return idx;
}
