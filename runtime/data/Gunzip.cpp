#include "runtime/data/Gunzip.h"

#include <fmt/format.h>

#include <algorithm>
#include <zlib.h>

using namespace dlrt;

/// zlib counts in 32 bits.
static constexpr size_t maxPiece = size_t(1) << 30;

bool dlrt::isGzip(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

struct Gunzip::Stream {
  z_stream z = {};
  std::span<const uint8_t> rest;
  bool usable = false, ended = false;

  /// Inflates into `out` until it is full or the stream ends.
  Status inflateInto(std::span<uint8_t> &out) {
    while (!out.empty() && !ended) {
      if (z.avail_in == 0) {
        z.next_in = const_cast<Bytef *>(rest.data());
        z.avail_in = static_cast<uInt>(std::min(rest.size(), maxPiece));
        rest = rest.subspan(z.avail_in);
      }
      uInt piece = static_cast<uInt>(std::min(out.size(), maxPiece));
      z.next_out = out.data();
      z.avail_out = piece;
      int result = inflate(&z, Z_NO_FLUSH);
      out = out.subspan(piece - z.avail_out);
      if (result == Z_STREAM_END)
        ended = true;
      else if (result == Z_BUF_ERROR ||
               (result == Z_OK && z.avail_in == 0 && rest.empty() &&
                !out.empty() && z.avail_out != 0))
        return {Code::Io, "the compressed data end too early"};
      else if (result != Z_OK)
        return {Code::Io, fmt::format("the compressed data are damaged ({})",
                                      z.msg ? z.msg : "zlib error")};
    }
    return {};
  }
};

Gunzip::Gunzip(std::span<const uint8_t> compressed)
    : stream(std::make_unique<Stream>()) {
  stream->rest = compressed;
  constexpr int gzipOnly = 16 + MAX_WBITS;
  stream->usable = inflateInit2(&stream->z, gzipOnly) == Z_OK;
}

Gunzip::~Gunzip() {
  if (stream->usable)
    inflateEnd(&stream->z);
}

Status Gunzip::read(std::span<uint8_t> out) {
  if (!stream->usable)
    return {Code::Unavailable, "no memory to decompress"};
  DLRT_TRY(stream->inflateInto(out));
  if (!out.empty())
    return {Code::Io, fmt::format("{} bytes are missing at the end of the "
                                  "decompressed data",
                                  out.size())};
  return {};
}

Status Gunzip::expectEnd() {
  uint8_t extra;
  std::span<uint8_t> out(&extra, 1);
  DLRT_TRY(stream->inflateInto(out));
  if (out.empty())
    return {Code::Io, "more data than its header says"};
  return {};
}
