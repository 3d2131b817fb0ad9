// The transport over the site's MPI, through a plug-in that is opened at run
// time.
#ifndef DLRT_COMM_MPI_MPITRANSPORT_H
#define DLRT_COMM_MPI_MPITRANSPORT_H

#include "runtime/comm/Transport.h"

#include <string>
#include <vector>

namespace dlrt {

/// Joins the run that the launcher has begun. Unavailable where the plug-in or
/// its MPI is missing: the message says what to do. `failure` must not return.
Expected<std::unique_ptr<Transport>> openMpi(TransportFailure failure);

/// Where the plug-in is looked for, in order: $DLRUN_MPI_PLUGIN alone if it is
/// set, else beside dlrun and in ../lib from there.
std::vector<std::string> mpiPluginPlaces();

} // namespace dlrt

#endif
