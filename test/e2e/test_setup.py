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


class Setup(support.ToolTest):
    def setUp(self):
        super().setUp()
        for folder in ("tools/dev", "build/release/bin", "fake"):
            os.makedirs(self.path(folder))
        shutil.copy(os.path.join(dltools.ROOT, "tools/dev/setup.sh"), self.path("tools/dev"))
        self.write("tools/dev/packages.txt", "bash\n")
        self.write("build/release/build.ninja", "")

    def run_setup(self, code=0):
        self.write("fake/ninja", NINJA % code)
        os.chmod(self.path("fake/ninja"), 0o755)
        return subprocess.run([self.path("tools/dev/setup.sh")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
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
