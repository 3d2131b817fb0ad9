#!/usr/bin/env bash
# examples/run.sh NAME [-- dlrun options]: compiles examples/NAME/NAME.dl and trains it, two epochs unless told.
#
#   examples/run.sh mnist
#   examples/run.sh mnist -- --epochs 5 --seed 1 --save-final mnist.safetensors
#
# The first run installs and builds what is missing; later runs start at once.
set -euo pipefail
caller=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

usage() {
  sed -n '2,7s/^# \{0,1\}//p' examples/run.sh >&2
  echo "examples: $(cd examples && ls -d */ | tr -d '/' | tr '\n' ' ')" >&2
  exit 2
}

name=${1:-}
[ -n "$name" ] && [ -f "examples/$name/$name.dl" ] || usage
shift
if [ $# -gt 0 ]; then
  [ "$1" = -- ] || usage
  shift
fi
options=("$@")
model=$root/examples/$name/$name.dl
plan=$root/build/examples/$name.plan

given() { # given OPTION...: does the user's command line have one of them?
  local wanted option
  for wanted in "$@"; do
    for option in "${options[@]}"; do
      case "$option" in "$wanted" | "$wanted"=*) return 0 ;; esac
    done
  done
  return 1
}

has_mnist() { # has_mnist FOLDER: the four files, plain or compressed
  local file
  for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    [ -f "$1/$file-ubyte" ] || [ -f "$1/$file-ubyte.gz" ] || return 1
  done
}

# Generated into a folder beside and renamed, so that an interrupted run leaves no half data set.
generate() { # generate SCRIPT FOLDER
  echo "generating data in ${2#"$root/"}"
  rm -rf "$2.part"
  python3 "$1" "$2.part"
  rm -rf "$2"
  mv "$2.part" "$2"
}

# Which data the model trains on, decided and said before anything slow begins.
digits=no # real, generated or no
if grep -q 'data::MNIST' "$model" && ! given --data; then
  digits=real
  users=$(cd "$caller" && cd "${DL_DATA:-/nowhere}" 2>/dev/null && pwd) || users=
  if [ -n "$users" ] && has_mnist "$users/mnist"; then
    DL_DATA=$users
  elif has_mnist data/mnist; then
    DL_DATA=$root/data
  else
    digits=generated
    DL_DATA=$root/data/generated
    echo "MNIST is not here: training on generated digits instead. Put the four real files (train-images-idx3-ubyte[.gz], ...) into data/mnist, or set DL_DATA to the folder that has them in mnist/."
  fi
  export DL_DATA
fi

if [ -f "examples/$name/CMakeLists.txt" ]; then # a program of its own, which runs the plan: as for a user who installs dlrun
  tools/dev/setup.sh dlcc dlrun libdlrun
  cmake --install build/release --prefix build/installed >/dev/null
  cmake -S "examples/$name" -B "build/examples/$name" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++-22 \
    -DCMAKE_PREFIX_PATH="$root/build/installed" >/dev/null
  cmake --build "build/examples/$name"
  echo "build/examples/$name/$name build/examples/$name/$name.plan ${options[*]}"
  cd "$caller"
  exec "$root/build/examples/$name/$name" "$root/build/examples/$name/$name.plan" "${options[@]}"
fi

tools/dev/setup.sh dlcc dlrun

[ "$digits" != generated ] || has_mnist "$DL_DATA/mnist" || generate examples/mnist/generate.py "$DL_DATA/mnist"
compile_in=$root
if grep -q 'data::T[a-z]*Dataset' "$model"; then # its files lie in the working directory of dlcc
  compile_in=$root/data/$name
  [ -d "$compile_in" ] || generate "examples/$name/generate.py" "$compile_in"
  given --data || options=(--data "$compile_in" "${options[@]}")
fi

bin=$root/build/release/bin
if [ ! -f "$plan" ] || [ -n "$(find "$bin/dlcc" "examples/$name" -newer "$plan" -type f -print -quit)" ]; then
  mkdir -p build/examples
  echo "dlcc examples/$name/$name.dl -o build/examples/$name.plan"
  (cd "$compile_in" && "$bin/dlcc" "$(realpath --relative-to=. "$model")" -o "$plan")
fi

given --epochs --steps || options=(--epochs 2 "${options[@]}")
echo "dlrun build/examples/$name.plan ${options[*]}"
cd "$caller"
exec "$bin/dlrun" "$plan" "${options[@]}"
