#!/bin/sh
# runtime/comm/mpi/build.sh [-o FILE]: builds dlrun's plug-in for this machine's MPI with its compiler, $MPICC or mpicc.
#
# Without -o it is written as dlrun_mpi.so beside the dlrun in PATH, where dlrun looks for it (else set DLRUN_MPI_PLUGIN).
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
mpicc=${MPICC:-mpicc}
out=
if [ "${1:-}" = -o ] && [ -n "${2:-}" ]; then
  out=$2
elif [ $# -gt 0 ]; then
  echo "usage: $0 [-o FILE]" >&2
  exit 2
elif dlrun=$(command -v dlrun); then
  out=$(dirname "$(readlink -f "$dlrun")")/dlrun_mpi.so
else
  echo "$0: dlrun is not in PATH; say where the plug-in goes: -o FILE" >&2
  exit 2
fi
if ! command -v "$mpicc" >/dev/null; then
  echo "$0: there is no '$mpicc'; install MPI's development files (Debian: apt install libopenmpi-dev), or set MPICC" >&2
  exit 3
fi
# In one step: dlrun may be looking for it.
"$mpicc" -std=c99 -O2 -shared -fPIC -I"$root" "$root/runtime/comm/mpi/MpiPlugin.c" -o "$out.part"
mv "$out.part" "$out"
echo "$out"
