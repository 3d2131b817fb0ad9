#!/usr/bin/env bash
# Runs on a machine with a GPU what test/gpu/prepare.sh put into FOLDER, which may also be a .tar.gz of it. Needs Python with NumPy;
# contenders need PyTorch and JAX.
#
#   test/gpu/run.sh FOLDER [--part smoke,correct,…] [--models …] [--peers …] [--help]
python=${DL_PYTHON:-python3}
"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
if [ -f "${1:-}" ]; then
  unpacked=$(mktemp -d)
  trap 'rm -rf "$unpacked"' EXIT
  tar xzf "$1" -C "$unpacked" && set -- "$unpacked" "${@:2}"
fi
PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 "$python" "$(dirname "${BASH_SOURCE[0]}")/run.py" "$@"
