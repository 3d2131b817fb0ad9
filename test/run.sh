#!/usr/bin/env bash
# test/run.sh [SUITE...]: sets up, then runs all tests, or only the suites named (--list names them).
#
# The last line is "N passed, N failed, N skipped"; every skip is explained above it. Nothing here is timed:
# measurements are in test/bench.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/dev/setup.sh
exec /usr/bin/python3 test/suites.py "$@"
