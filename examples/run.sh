#!/usr/bin/env bash
# examples/run.sh NAME [-- dlrun options]: compiles examples/NAME/NAME.dl and trains it, two epochs unless told.
#
#   examples/run.sh mnist
#   examples/run.sh mnist -- --epochs 5 --seed 1 --save-final mnist.safetensors
#
# The first run installs and builds what is missing; later runs start at once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  sed -n '2,7s/^# \{0,1\}//p' "examples/run.sh" >&2
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
model=examples/$name/$name.dl
plan=build/examples/$name.plan

given() { # given OPTION... : does the user's command line have one of them?
  local wanted option
  for wanted in "$@"; do
    for option in "${options[@]}"; do
      case "$option" in "$wanted" | "$wanted"=*) return 0 ;; esac
    done
  done
  return 1
}
options=("$@")

has_mnist() { # has_mnist FOLDER: the four files, plain or compressed
  local file
  for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    [ -f "$1/$file-ubyte" ] || [ -f "$1/$file-ubyte.gz" ] || return 1
  done
}

# Where the real files are missing, digits of our own stand in.
generated=data/generated
substitute=0
if grep -q 'data::MNIST' "$model" && ! given --data; then
  if ! { [ -n "${DL_DATA:-}" ] && has_mnist "$DL_DATA/mnist"; } && ! has_mnist data/mnist; then
    substitute=1
    echo "MNIST is not here: training on generated digits instead. Put the four real files (train-images-idx3-ubyte[.gz], ...) into data/mnist, or set DL_DATA to the folder that has them in mnist/."
  fi
fi

tools/dev/setup.sh dlcc dlrun

if [ "$substitute" = 1 ]; then
  export DL_DATA=$generated
  if ! has_mnist "$generated/mnist"; then
    echo "generating 70,000 images in $generated/mnist"
    # Written beside and renamed, so that an interrupted run leaves no half data set.
    rm -rf "$generated/mnist.part"
    python3 examples/mnist/generate.py "$generated/mnist.part"
    rm -rf "$generated/mnist"
    mv "$generated/mnist.part" "$generated/mnist"
  fi
elif [ -z "${DL_DATA:-}" ] || ! has_mnist "$DL_DATA/mnist"; then
  unset DL_DATA # the model's own folder, data/mnist, has the files
fi

bin=build/release/bin
if [ ! -f "$plan" ] || [ -n "$(find "$bin/dlcc" "examples/$name" -newer "$plan" -type f -print -quit)" ]; then
  mkdir -p build/examples
  echo "$bin/dlcc $model -o $plan"
  "$bin/dlcc" "$model" -o "$plan"
fi

given --epochs --steps || options=(--epochs 2 "${options[@]}")
echo "$bin/dlrun $plan ${options[*]}"
exec "$bin/dlrun" "$plan" "${options[@]}"
