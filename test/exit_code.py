"""exit_code.py N COMMAND...: runs it, its messages on standard output; fails unless it ends with exit code N."""

import subprocess
import sys

ended = subprocess.run(sys.argv[2:], stderr=subprocess.STDOUT, check=False).returncode
if ended != int(sys.argv[1]):
    sys.exit(f"exit code {ended} instead of {sys.argv[1]}: {' '.join(sys.argv[2:])}")
