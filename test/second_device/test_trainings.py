"""What trains end to end, trained on a device whose memory the host cannot reach and which runs only what is waited for."""

import os
import subprocess
import sys
import unittest

import dltools
from e2e import support

LAZY = os.path.join(dltools.BIN, "dlrun_lazy")
TEST = os.path.join(dltools.ROOT, "test")


class Trainings(support.ToolTest):
    """The modules of test/e2e that train, with the other device in dlrun's place."""

    def module(self, name):
        result = subprocess.run([sys.executable, "-m", "unittest", f"e2e.{name}"], cwd=TEST, text=True,
                                env={**os.environ, "DL_DLRUN": LAZY}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, result.stdout[-6000:])
        self.assertRegex(result.stdout, r"Ran [1-9]\d* tests?")

    @unittest.skipUnless(support.real_mnist(), "DL_DATA names no folder with mnist")
    def test_accuracy(self):
        self.module("test_accuracy")

    def test_data(self):
        self.module("test_data")

    def test_determinism(self):
        self.module("test_determinism")

    def test_dropout(self):
        self.module("test_dropout")

    def test_examples(self):
        self.module("test_examples")

    def test_results(self):
        self.module("test_results")

    def test_resume(self):
        self.module("test_resume")

    def test_signals(self):
        self.module("test_signals")


class Weights(support.ToolTest):
    """The same bytes of weights and of metrics on both devices."""

    def trained(self, plan, *options):
        files = {}
        for tool in (dltools.DLRUN, LAZY):
            name = os.path.basename(tool)
            dltools.run(tool, plan, "-q", "--save-final", f"{name}.w", "--save-metrics", f"{name}.m", *options, cwd=self.folder)
            files[name] = [self.bytes(f"{name}.{kind}") for kind in "wm"]
        self.assertEqual(files["dlrun"], files["dlrun_lazy"])
        return files["dlrun"]

    def bytes(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def example(self, name, *options):
        with open(support.example(name), encoding="utf-8") as file:
            reads_mnist = "data::MNIST" in file.read()
        if reads_mnist:
            options = (*options, "--data", support.fake_mnist())
        else:
            dltools.run(sys.executable, os.path.join(dltools.ROOT, "examples", name, "generate.py"), self.folder)
        self.dlcc(support.example(name), "-o", f"{name}.plan", *support.smaller(name))
        self.trained(f"{name}.plan", "--steps", 40, "--threads", 2, *options)

    def test_every_example(self):
        folder = os.path.join(dltools.ROOT, "examples")
        names = [n for n in sorted(os.listdir(folder)) if os.path.isfile(support.example(n))]
        self.assertIn("mnist", names)
        for name in names:
            with self.subTest(name):
                self.example(name)

    def test_accumulation_in_any_order(self):
        self.classification_data(items=70)
        self.write("net.dl", support.CONVNET)
        self.dlcc("net.dl", "--accumulate=3")
        plain = self.trained("net.plan", "--epochs", 3)
        self.assertEqual(plain, self.trained("net.plan", "--epochs", 3, "--poison", "--order", "random:5", "--threads", 3))

