"""Setting up says how far it is, also where there is no terminal."""

import os
import re
import shutil
import subprocess

import dltools
from . import support

NINJA = """#!/bin/sh
for i in $(seq 30); do echo "[$i/30] Building file$i.o"; done
exit %d
"""


# Compiles for GPUs as soon as there is an NVRTC beside it.
DLCC = """#!/bin/sh
[ -e %s ] && exit 0
echo "error: no NVRTC" >&2
exit 3
"""
# What is asked of pip and of zipfile.
PYTHON = """#!/bin/sh
echo "$*" >> %s
if [ "$2" = pip ]; then mkdir -p build/nvrtc && touch build/nvrtc/one.whl && exit %d; fi
mkdir -p build/nvrtc/nvidia/cu13/lib && touch build/nvrtc/nvidia/cu13/lib/libnvrtc.so.13 build/nvrtc/nvidia/cu13/lib/libnvrtc-builtins.so.13.0
"""


class Setup(support.ToolTest):
    def setUp(self):
        super().setUp()
        for folder in ("tools/dev", "build/release/bin", "fake"):
            os.makedirs(self.path(folder))
        shutil.copy(os.path.join(dltools.ROOT, "tools/dev/setup.sh"), self.path("tools/dev"))
        self.write("tools/dev/packages.txt", "bash\n")
        self.write("build/release/build.ninja", "")

    def program(self, name, text):
        self.write(name, text)
        os.chmod(self.path(name), 0o755)

    def run_setup(self, *options, code=0):
        self.program("fake/ninja", NINJA % code)
        return subprocess.run([self.path("tools/dev/setup.sh"), *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "PATH": self.path("fake") + ":" + os.environ["PATH"]}, check=False)

    def test_a_first_build_tells_how_far_it_is(self):
        result = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stdout)
        done = [int(n) for n in re.findall(r"^setup: (\d+) of 30 ", result.stdout, re.M)]
        self.assertEqual(done[-1], 30)
        self.assertEqual(done, sorted(set(done)))
        self.assertTrue(8 <= len(done) <= 12, done)

    def test_a_later_one_is_silent(self):
        self.write("build/release/bin/dlcc", "")
        os.chmod(self.path("build/release/bin/dlcc"), 0o755)
        self.assertEqual(self.run_setup().stdout, "")

    def test_one_that_fails_says_why(self):
        result = self.run_setup(code=1)
        self.assertEqual(result.returncode, 1)
        self.assertIn("Building file29.o", result.stdout)
        self.assertIn("the build failed, see build/build.log", result.stdout)

    def cuda_setup(self, needs, pip=0):
        """With a dlcc that needs a file; what it said, and what Python was asked for."""
        self.program("build/release/bin/dlcc", DLCC % needs)
        self.program("fake/python3", PYTHON % (self.path("asked"), pip))
        result = self.run_setup("--cuda")
        asked = []
        if os.path.exists(self.path("asked")):
            with open(self.path("asked"), encoding="utf-8") as file:
                asked = file.read().splitlines()
        return result, asked

    def test_an_nvrtc_that_is_there_is_used(self):
        result, asked = self.cuda_setup("tools")
        self.assertEqual((result.returncode, result.stdout, asked), (0, "", []))

    def test_nvrtc_is_fetched_where_it_is_missing(self):
        result, asked = self.cuda_setup("build/release/nvrtc/libnvrtc.so.13")
        self.assertEqual((result.returncode, result.stdout), (0, "setup: fetching NVRTC, 90 MB\n"))
        self.assertIn("nvidia-cuda-nvrtc==13.0.*", asked[0])
        self.assertEqual(sorted(os.listdir(self.path("build/release/nvrtc"))), ["libnvrtc-builtins.so.13.0", "libnvrtc.so.13"])

    def test_one_that_does_not_help_or_come_is_an_error(self):
        result, _ = self.cuda_setup("nowhere")
        self.assertEqual(result.returncode, 1)
        self.assertIn("error: no NVRTC\nsetup: dlcc cannot use the NVRTC in build/release/nvrtc", result.stdout)
        result, _ = self.cuda_setup("nowhere", pip=1)
        self.assertEqual(result.returncode, 1)
        self.assertIn("setup: pip cannot fetch nvidia-cuda-nvrtc", result.stdout)
