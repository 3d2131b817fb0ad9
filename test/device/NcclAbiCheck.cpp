// Compiles only if the emulated library's NcclApi.h says what nccl.h says:
// layouts and numbers. Built where nccl.h is.
#include "test/device/NcclApi.h"

#include <nccl.h>

namespace emulated::nccl {

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));

#define CHECK(ours, theirs) static_assert(int(ours) == int(theirs), #theirs)
CHECK(Success, ncclSuccess);
CHECK(SystemError, ncclSystemError);
CHECK(InternalError, ncclInternalError);
CHECK(InvalidArgument, ncclInvalidArgument);
CHECK(InvalidUsage, ncclInvalidUsage);
CHECK(RemoteError, ncclRemoteError);
CHECK(Int8, ncclInt8);
CHECK(Uint8, ncclUint8);
#undef CHECK

} // namespace emulated::nccl
