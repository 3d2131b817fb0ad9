"""What dlcc makes for GPUs, and what it refuses."""

import os
import unittest

import dltools

from . import support

NVRTC = any(os.path.exists(os.path.join(folder, name)) for folder in ("/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu", os.environ.get("DL_NVRTC", ""))
            for name in ("libnvrtc.so.13", "libnvrtc.so.12"))


class CudaCompile(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.classification_data(items=64)
        self.write("net.dl", support.CONVNET)

    def refused(self, code, words, *options, env=None):
        self.refuse(code, words, dltools.DLCC, "net.dl", *options, "-o", "no.plan", env=env)
        self.assertFalse(os.path.exists(self.path("no.plan")))

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_the_same_bytes_twice(self):
        for name in ("a", "b"):
            self.dlcc("net.dl", "--target=cuda:source", f"--emit=cu={name}.cu", "-o", f"{name}.plan")
        self.assertEqual(self.read("a.plan"), self.read("b.plan"))
        self.assertEqual(self.read("a.cu"), self.read("b.cu"))
        source = self.read("a.cu").decode()
        for part in ('extern "C" __global__ void __launch_bounds__', "net.dl:", "// conv2d ["):
            self.assertIn(part, source)
        self.assertNotIn(self.folder, source)

    @unittest.skipUnless(NVRTC, "there is no NVRTC")
    def test_machine_code(self):
        """A cubin for each chip, PTX for later ones; twice the same."""
        for name in ("a", "b"):
            self.dlcc("net.dl", "--target=cuda:sm_90,ptx_80", "-o", f"{name}.plan")
        self.assertEqual(self.read("a.plan"), self.read("b.plan"))
        images = self.info("a.plan")["images"]
        self.assertEqual([image["features"] for image in images], ["sm_90", "ptx_80"])

    def test_bindings_are_aligned_to_vectors(self):
        """Code that reads 16 bytes at once says so: launches of other addresses are refused."""
        self.dlcc("net.dl", "--target=cuda:source", "-o", "a.plan")
        for kernel in self.info("a.plan")["kernels"]:
            self.assertEqual(set(kernel["binding_aligns"]), {16}, kernel["name"])

    def test_what_is_refused(self):
        self.refused(2, "cpu, cuda and cuda:sm_90", "--target=tpu")
        self.refused(2, "'sm_9' is no architecture", "--target=cuda:sm_9")
        self.refused(2, "add --target=cuda", "--emit=cu")
        self.refused(2, "add --target=cuda", "--tf32")
        self.refused(2, "--tiles is about CPUs", "--target=cuda", "--tiles=2")
        self.refused(2, "--target-cpu is about CPUs", "--target=cuda", "--target-cpu=x86-64-v3")
        self.refused(3, "DL_NVRTC=FOLDER", "--target=cuda", env={"DL_NVRTC": self.folder})
