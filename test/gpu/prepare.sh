#!/usr/bin/env bash
# Compiles on this machine, which needs no GPU, all that test/gpu/run.sh runs on another one.
#
#   test/gpu/prepare.sh FOLDER [--target cuda:sm_90] [--groups examples,models,…] [--only CASE,…] [--jobs N]
exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/prepare.py" "$@"
