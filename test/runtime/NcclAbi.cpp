// Compiles only if the device's Nccl.h says what nccl.h says: arguments,
// layouts, numbers. Built where nccl.h is.
#include "runtime/device/cuda/Nccl.h"
#include "test/abi/SameCall.h"

#include <nccl.h>

namespace dlrt::cuda::nccl {

using dlabi::IsSame;

#define CHECK(member, symbol, result, arguments)                               \
  static_assert(IsSame<result(*) arguments, decltype(&::symbol)>::value,       \
                #symbol);
DLRT_NCCL_FUNCTIONS(CHECK)
#undef CHECK

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));
static_assert(Library::leastVersion == NCCL_VERSION(2, 16, 0));

#define CHECK(ours, theirs) static_assert(int(ours) == int(theirs), #theirs)
CHECK(statusSuccess, ncclSuccess);
CHECK(statusInProgress, ncclInProgress);
CHECK(typeByte, ncclInt8);
#undef CHECK

} // namespace dlrt::cuda::nccl
