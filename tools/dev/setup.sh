#!/usr/bin/env bash
# tools/dev/setup.sh [--yes] [--cuda] [TARGET...]: installs what is missing, configures build/release and builds.
#
# With --cuda it also sees to NVRTC, by which dlcc compiles for GPUs: one that is there is used; else NVIDIA's wheel of it
# is fetched by pip (90 MB) and put beside the tools, where dlcc looks. Debian's own is CUDA 11, and knows no C++20.
#
# As root it installs without asking; otherwise it asks before using sudo (--yes: does not ask). When nothing is
# missing it only asks ninja, which takes a fraction of a second. With targets, packages for tests alone are left out.
# DL_CMAKE_OPTIONS are given to cmake where nothing is configured so far.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

yes=0 cuda=0
while [ "${1:-}" = --yes ] || [ "${1:-}" = --cuda ]; do
  [ "$1" = --yes ] && yes=1 || cuda=1
  shift
done

without="^$"
[ $# = 0 ] || without="# tests alone:"
[ $cuda = 1 ] || without="$without\|# CUDA alone:"

die() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

wanted_packages() { grep -v "$without" tools/dev/packages.txt | sed 's/#.*//' | tr -s ' \n' '\n' | grep .; }

missing_packages() {
  local have
  # One query for all: dpkg-query fails where it does not know a package, which is an answer too.
  have=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $(wanted_packages) 2>/dev/null || true)
  wanted_packages | while read -r package; do
    grep -qx "installed $package" <<<"$have" || echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# The suite of security updates lies beside the main archive of the mirror that this machine uses.
security_source() {
  local uri
  uri=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    sed -nE 's/^(deb +(\[[^]]*\] +)?|URIs: *)([a-z]+:\/\/[^ ]*\/debian)\/?( .*)?$/\3/p' | head -n 1)
  [ -n "$uri" ] && echo "deb $uri-security bookworm-security main"
}

candidate() { [ "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p')" != "(none)" ] && apt-cache show "$1" >/dev/null 2>&1; }

update_lists() { as_root apt-get update -qq || die "apt-get update failed"; }

ensure_candidates() {
  local package line list=/etc/apt/sources.list.d/bookworm-security.list
  for package in "$@"; do
    candidate "$package" && continue
    line=$(security_source) || true
    if [ -n "$line" ] && [ ! -e "$list" ]; then
      echo "setup: $package is not in this machine's package sources; adding the suite bookworm-security, which has LLVM 22"
      echo "$line" | as_root tee "$list" >/dev/null
      update_lists
      candidate "$package" && continue
    fi
    die "no package source of this machine has $package.
  LLVM 22 for Debian 12 is in the suite bookworm-security: add it to /etc/apt/sources.list, run apt-get update, and try again."
  done
}

install_packages() {
  command -v apt-get >/dev/null || die "these packages of Debian 12 (or what corresponds to them) are needed: $*"
  echo "setup: to install: $*"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "there is no sudo here; as root: apt-get install $*"
    if [ "$yes" = 0 ]; then
      local answer=""
      printf 'setup: install them with sudo? [Y/n] '
      read -r answer || die "cannot ask here; run tools/dev/setup.sh --yes, or as root: apt-get install $*"
      case "$answer" in [nN]*) die "nothing installed" ;; esac
    fi
  fi
  export DEBIAN_FRONTEND=noninteractive
  update_lists
  ensure_candidates "$@"
  # stdin: an installation script must never wait for an answer.
  as_root apt-get install -y -qq --no-install-recommends "$@" </dev/null >build/install.log 2>&1 ||
    { tail -n 20 build/install.log >&2; die "apt-get install failed, see build/install.log"; }
}

# Of ninja's lines, "[30/420] Building ...", one for each tenth of the work.
each_tenth() {
  awk -F '[][/]' '$2 > 0 && int(10 * $2 / $3) > tenths { tenths = int(10 * $2 / $3); print "setup: " $2 " of " $3 " steps done"; fflush() }'
}

build_failed() {
  tail -n 60 build/build.log >&2
  die "the build failed, see build/build.log"
}

mkdir -p build
missing=$(missing_packages)
if [ -n "$missing" ]; then
  install_packages $missing
  [ ! -f build/release/build.ninja ] || cmake --preset release >build/configure.log 2>&1 # it may find what it had not
fi

if [ ! -f build/release/build.ninja ]; then
  echo "setup: configuring build/release"
  # shellcheck disable=SC2086 # several options
  cmake --preset release ${DL_CMAKE_OPTIONS:-} >build/configure.log 2>&1 || { tail -n 30 build/configure.log >&2; die "cmake failed"; }
fi

build_all() {
  if [ -x build/release/bin/dlcc ]; then
    ninja -C build/release --quiet "$@" >build/build.log 2>&1 || build_failed
    return
  fi
  echo "setup: building in build/release, which takes minutes the first time"
  if [ -t 1 ]; then # with ninja's own line of progress
    ninja -C build/release "$@" || die "the build failed"
  else
    NINJA_STATUS='[%f/%t] ' ninja -C build/release "$@" 2>&1 | tee build/build.log | each_tenth || build_failed
  fi
}
build_all "$@"

# Whether dlcc finds an NVRTC, which it says with exit code 3.
compiles_for_cuda() {
  local code=0
  build/release/bin/dlcc examples/mnist_mlp/mnist_mlp.dl --target=cuda -o build/cuda.plan >build/cuda.log 2>&1 || code=$?
  rm -f build/cuda.plan
  [ $code = 0 ] || [ $code = 3 ] || { cat build/cuda.log >&2; die "dlcc --target=cuda failed"; }
  return $code
}

# 13.0: a driver takes PTX of its own version and of older ones, and those of CUDA 13.0 are the oldest of CUDA 13.
fetch_nvrtc() {
  echo "setup: fetching NVRTC, 90 MB"
  rm -rf build/nvrtc
  python3 -m pip download --quiet --no-deps --only-binary :all: --dest build/nvrtc 'nvidia-cuda-nvrtc==13.0.*' >build/nvrtc.log 2>&1 ||
    { tail -n 5 build/nvrtc.log >&2; die "pip cannot fetch nvidia-cuda-nvrtc, see build/nvrtc.log"; }
  python3 -m zipfile -e build/nvrtc/*.whl build/nvrtc
  mkdir -p build/release/nvrtc
  cp build/nvrtc/nvidia/cu13/lib/libnvrtc.so.13 build/nvrtc/nvidia/cu13/lib/libnvrtc-builtins.so.13.0 build/release/nvrtc
  rm -rf build/nvrtc
}

if [ $cuda = 1 ] && ! compiles_for_cuda; then
  fetch_nvrtc
  compiles_for_cuda || { cat build/cuda.log >&2; die "dlcc cannot use the NVRTC in build/release/nvrtc"; }
fi
