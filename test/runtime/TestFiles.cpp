#include "test/runtime/TestFiles.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/wait.h>
#include <zlib.h>

using namespace dlrt::test;

TemporaryFolder::TemporaryFolder() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "dlrt-test-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw std::runtime_error("cannot make a temporary folder");
  root = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(root, ignored);
}

void dlrt::test::writeFile(const std::string &path, const Bytes &bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char *>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

Bytes dlrt::test::readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Bytes dlrt::test::compressed(const Bytes &bytes) {
  z_stream z = {};
  deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8,
               Z_DEFAULT_STRATEGY);
  Bytes out(deflateBound(&z, bytes.size()) + 64);
  z.next_in = const_cast<Bytef *>(bytes.data());
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

Bytes dlrt::test::npy(const std::string &descr, const std::string &shape,
                      const Bytes &data, int version) {
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': False, 'shape': " + shape + ", }";
  size_t fixed = version == 1 ? 10 : 12;
  while ((fixed + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  Bytes out = {0x93, 'N', 'U', 'M', 'P', 'Y', uint8_t(version), 0};
  for (size_t i = 0; i < fixed - 8; ++i)
    out.push_back(static_cast<uint8_t>(header.size() >> (8 * i)));
  out.insert(out.end(), header.begin(), header.end());
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

Bytes dlrt::test::floatBytes(const std::vector<float> &values) {
  Bytes out(values.size() * sizeof(float));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

Bytes dlrt::test::idx(const std::vector<uint32_t> &shape, const Bytes &data) {
  Bytes out = {0, 0, 8, static_cast<uint8_t>(shape.size())};
  for (uint32_t extent : shape)
    for (int shift = 24; shift >= 0; shift -= 8)
      out.push_back(static_cast<uint8_t>(extent >> shift));
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

Outcome dlrt::test::runCommand(const std::string &command) {
  TemporaryFolder folder;
  std::string out = folder.path("out"), err = folder.path("err");
  int status = std::system((command + " >" + out + " 2>" + err).c_str());
  Outcome outcome;
  outcome.exitCode =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  Bytes outBytes = readFile(out), errBytes = readFile(err);
  outcome.out.assign(outBytes.begin(), outBytes.end());
  outcome.err.assign(errBytes.begin(), errBytes.end());
  return outcome;
}
