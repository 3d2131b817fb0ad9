// Standard streams that the caller has closed.
#ifndef TOOLS_STREAMS_STANDARDSTREAMS_H
#define TOOLS_STREAMS_STANDARDSTREAMS_H

#include <fcntl.h>

/// Opens those of the descriptors 0 to 2 that are closed on /dev/null: the next
/// file to be opened would be one of them, and get what is said to the user.
inline void keepStandardStreams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (fcntl(descriptor, F_GETFD) == -1)
      open("/dev/null", O_RDWR); // the lowest that is free
}

#endif
