"""A plan trains on a machine that has nothing: dlrun, the libraries ldd names, a plan and data in an empty chroot."""

import os
import re
import shutil
import subprocess
import unittest

import dltools
from . import support

ALLOWED = re.compile(r"(ld-linux-x86-64|libc|libm|libz|libpthread|libdl|librt|libgcc_s|libstdc\+\+)\.so(\.\d+)*$")


class Bare(support.ToolTest):
    def test_needed_libraries(self):
        text = dltools.run("readelf", "-d", dltools.DLRUN)
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
        self.assertTrue(needed)
        for library in needed:
            self.assertRegex(library, ALLOWED)
        self.assertNotRegex(text, r"\((RPATH|RUNPATH)\)")

    def test_stripped_size(self):
        shutil.copy(dltools.DLRUN, self.path("dlrun"))
        dltools.run("strip", self.path("dlrun"))
        self.assertLessEqual(os.path.getsize(self.path("dlrun")), 5_000_000)

    def test_trains_in_an_empty_chroot(self):
        root = self.path("root")
        os.mkdir(root)
        enter = self.chroot_command(root)
        self.classification_data()
        self.write("net.dl", support.CONVNET)
        self.dlcc("net.dl", "-o", "root/net.plan")
        shutil.move(self.path("x.npy"), root)
        shutil.move(self.path("y.npy"), root)
        shutil.copy(dltools.DLRUN, os.path.join(root, "dlrun"))
        for library in re.findall(r"(/\S+)", dltools.run("ldd", dltools.DLRUN)):
            os.makedirs(root + os.path.dirname(library), exist_ok=True)
            shutil.copy(library, root + library)
        result = subprocess.run([*enter, "/dlrun", "/net.plan", "--epochs", "3", "--threads", "2", "--json",
                                 "--save-final", "/out.safetensors"], capture_output=True, text=True, env={})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('"event":"end","steps":12', result.stdout)
        self.assertTrue(os.path.exists(os.path.join(root, "out.safetensors")))
        self.assertEqual(self.strangers(root), [])

    def strangers(self, root):
        """What lies in the chroot besides dlrun, libraries, the plan and data."""
        known = re.compile(r".*\.so(\.\d+)*|dlrun|net\.plan|[xy]\.npy|out\.safetensors")
        return [name for _, _, names in os.walk(root) for name in names if not known.fullmatch(name)]

    def chroot_command(self, root):
        """How to run a command in a chroot here: as root, or in a user namespace."""
        chroot, unshare = (shutil.which(tool, path="/usr/sbin:/usr/bin:/sbin:/bin") for tool in ("chroot", "unshare"))
        for words in ([chroot, root], [unshare, "-r", chroot, root]):
            if None in words:
                continue
            probe = subprocess.run([*words, "/none"], capture_output=True, text=True)
            if probe.returncode == 127:  # the chroot was entered, and /none is not there
                return words
        raise unittest.SkipTest("neither chroot nor user namespaces are allowed here")


if __name__ == "__main__":
    unittest.main()
