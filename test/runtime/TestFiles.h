// Temporary files and the data formats that tests write.
#ifndef DLRT_TEST_TESTFILES_H
#define DLRT_TEST_TESTFILES_H

#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrt::test {

/// A folder that is removed with everything in it.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string path(const std::string &name) const { return root + "/" + name; }
  const std::string &string() const { return root; }

private:
  std::string root;
};

using Bytes = std::vector<uint8_t>;

void writeFile(const std::string &path, const Bytes &bytes);
Bytes readFile(const std::string &path);
Bytes compressed(const Bytes &bytes);

/// A .npy file; `descr` as NumPy writes it.
Bytes npy(const std::string &descr, const std::string &shape, const Bytes &data,
          int version = 1);
Bytes floatBytes(const std::vector<float> &values);

/// An IDX file of bytes.
Bytes idx(const std::vector<uint32_t> &shape, const Bytes &data);

/// What a command printed and how it ended.
struct Outcome {
  int exitCode = 0;
  std::string out, err;
};
Outcome runCommand(const std::string &command);

} // namespace dlrt::test

#endif
