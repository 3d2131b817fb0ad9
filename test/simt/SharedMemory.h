// The shared memory of a block: the dynamic part, and the copies of __shared__
// variables in an image's thread-local storage. And where the image lies.
#ifndef DL_TEST_SIMT_SHARED_MEMORY_H
#define DL_TEST_SIMT_SHARED_MEMORY_H

#include "test/simt/Interface.h"
#include "test/simt/Scheduler.h"

namespace dlsimt {

class SharedMemory {
public:
  SharedMemory();
  ~SharedMemory();

  /// For all blocks of a launch.
  void prepare(const Image &image, unsigned dynamicBytes);
  /// NaN everywhere: a block finds nothing in it.
  void poison();
  /// Whether the bytes behind the dynamic part are as `poison` left them; what
  /// lies in further pages faults.
  bool intact() const;

  unsigned char *dynamicMemory() const { return base; }
  Span dynamicPart() const {
    return {uintptr_t(base), uintptr_t(base) + dynamicBytes};
  }
  Span staticPart() const { return variables; }
  /// The image's code and constants.
  Span imagePart() const { return code; }
  /// Of the dynamic part, with what does not belong to this launch.
  Span reserved() const;

private:
  unsigned char *base = nullptr;
  unsigned dynamicBytes = 0;
  Span variables, code;
};

} // namespace dlsimt

#endif
