// What a host image of CUDA C++ kernels and the scheduler of its threads know
// of each other. Included by every image: no header of the C++ library.
#ifndef DL_TEST_SIMT_INTERFACE_H
#define DL_TEST_SIMT_INTERFACE_H

namespace dlsimt {

constexpr unsigned interfaceVersion = 2;

struct Index3 {
  unsigned x = 1, y = 1, z = 1;
};

/// What the lanes of a warp do together. Lanes that meet must agree.
enum class Collective : unsigned {
  SyncWarp,
  ShuffleIndex,
  ShuffleXor,
  ShuffleDown,
  ShuffleUp,
  Ballot,
  MmaTf32,
  MmaBf16,
  LoadMatrix,
  LoadMatrixTransposed,
};

/// What a lane brings to a collective and takes from it.
struct Deposit {
  unsigned in[8];
  unsigned out[4];
  unsigned source;     ///< of a shuffle: the lane whose `in` it wants
  const void *pointer; ///< of a matrix load: the lane's row
};

/// The machine that a kernel runs on. Indices are those of the running thread.
struct Machine {
  Index3 thread, block, blockSize, gridSize;
  unsigned lane = 0;
  /// The block has used an atomic function, which may have told it that others
  /// have written.
  bool usedAtomics = false;
  unsigned char *dynamicShared = nullptr;
  void (*syncThreads)() = nullptr;
  /// How many of the block's threads came with true.
  unsigned (*syncThreadsCount)(bool) = nullptr;
  void (*meet)(Collective, unsigned mask, Deposit &) = nullptr;
  /// 16 bytes that land when their group is waited for, zeros if `from` is
  /// null.
  void (*startCopy)(void *to, const void *from, unsigned bytes) = nullptr;
  void (*commitCopies)() = nullptr;
  void (*waitForCopies)(unsigned pending) = nullptr;
  /// For images that report their accesses.
  void (*access)(const void *at, unsigned long bytes, bool writes,
                 const void *code) = nullptr;
  void (*fail)(const char *what) = nullptr;
};

struct Kernel {
  const char *name;
  void (*invoke)(void *const *arguments);
  const unsigned *sizes; ///< of the arguments
  unsigned arguments;
  unsigned maxThreads; ///< of __launch_bounds__
};

struct Image {
  unsigned version;
  bool reportsAccesses; ///< through Machine::access
  const Kernel *kernels;
  unsigned count;
  void (*connect)(Machine *);
  /// Somewhere in the calling host thread's copy of the image's __shared__
  /// variables, which are thread_local there.
  void *(*sharedAnchor)();
};

/// `extern "C"`, exported by every image under this name.
using ImageOf = const Image *();
#define DL_SIMT_IMAGE dl_simt_image
#define DL_SIMT_IMAGE_NAME "dl_simt_image"

} // namespace dlsimt

#endif
