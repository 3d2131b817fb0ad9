#!/usr/bin/env bash
# Runs on a machine with a GPU what test/gpu/prepare.sh put into FOLDER. Needs Python with NumPy; contenders need PyTorch and JAX.
#
#   test/gpu/run.sh FOLDER [--part smoke,correct,…] [--models …] [--peers …] [--help]
python=${DL_PYTHON:-python3}
"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 exec "$python" "$(dirname "${BASH_SOURCE[0]}")/run.py" "$@"
