"""The examples compile, train and tell it as documented."""

import os
import re
import sys

import dltools
from . import support


class Examples(support.ToolTest):
    def test_check_accepts_each_example(self):
        folder = os.path.join(dltools.ROOT, "examples")
        names = [n for n in sorted(os.listdir(folder)) if os.path.isfile(support.example(n))]
        self.assertIn("mnist", names)
        for name in names:
            script = os.path.join(folder, name, "generate.py")
            with open(support.example(name), encoding="utf-8") as file:
                if re.search("data::T[a-z]*Dataset", file.read()) and os.path.exists(script):
                    dltools.run(sys.executable, script, self.folder)
            self.dlcc(support.example(name), "--check")

    def linear_data(self):
        dltools.run(sys.executable, os.path.join(dltools.ROOT, "examples/linear/generate.py"), self.folder)

    def test_linear_learns(self):
        self.linear_data()
        self.dlcc(support.example("linear"), "-o", "linear.plan")
        events = self.events("linear.plan", "--epochs", 5, "--every", "log=1")
        losses = [e["loss"] for e in events if e["event"] == "step"]
        self.assertEqual([e["step"] for e in events if e["event"] == "step"], list(range(1, len(losses) + 1)))
        self.assertLess(losses[-1], 0.01 * losses[0])

    def test_parallel_ops_learns(self):
        dltools.run(sys.executable, os.path.join(dltools.ROOT, "examples/parallel_ops/generate.py"), self.folder)
        self.dlcc(support.example("parallel_ops"), "-o", "p.plan")
        losses = [e["loss"] for e in self.events("p.plan", "--epochs", 5, "--every", "log=1") if e["event"] == "step"]
        self.assertLess(losses[-1], 0.05 * losses[0])

    def test_mlp_learns_and_evaluates(self):
        self.dlcc(support.example("mnist_mlp"), "-o", "mlp.plan")
        data = support.fake_mnist()
        events = self.events("mlp.plan", "--epochs", 1, "--data", data, "--save-final", "w.safetensors")
        kinds = [e["event"] for e in events]
        self.assertEqual((kinds[0], kinds[-1], kinds.count("eval")), ("start", "end", 1))
        (evaluated,) = [e for e in events if e["event"] == "eval"]
        self.assertEqual((evaluated["name"], evaluated["step"]), ("test", 938))
        self.assertGreater(evaluated["accuracy"], 0.95)
        (again,) = [e for e in self.events("eval", "mlp.plan", "--data", data, "--init", "w.safetensors") if e["event"] == "eval"]
        self.assertEqual((again["loss"], again["accuracy"]), (evaluated["loss"], evaluated["accuracy"]))

    def test_mnist_trains_some_steps(self):
        self.dlcc(support.example("mnist"), "-o", "mnist.plan")
        events = self.events("mnist.plan", "--steps", 1500, "--data", support.fake_mnist(), "--every", "log=1")
        losses = [e["loss"] for e in events if e["event"] == "step"]
        self.assertEqual(len(losses), 1500)
        self.assertLess(sum(losses[-100:]), 0.6 * sum(losses[:100]))

    def test_text_output(self):
        """stdout carries data, stderr the talk; lines in a file, no carriage returns."""
        self.linear_data()
        self.dlcc(support.example("linear"), "-o", "linear.plan")
        result = dltools.call([dltools.DLRUN, "linear.plan", "--epochs", 2], self.folder)
        self.assertEqual(result.returncode, 0)
        self.assertNotIn("\r", result.stderr + result.stdout)
        self.assertRegex(result.stderr, re.compile(r"loss"))

    def test_the_readme_is_true(self):
        """Its model compiles, and its message is the one that comes."""
        with open(os.path.join(dltools.ROOT, "README.md"), encoding="utf-8") as file:
            readme = file.read()
        model = re.search(r"```cpp\n(.*?)```", readme, re.S)[1]
        self.write("net.dl", model)
        self.dlcc("net.dl", "--check")
        self.write("net.dl", model.replace("fc{2304, 10}", "fc{2340, 10}"))
        message = re.search(r"```\n(net\.dl:.*?)```", readme, re.S)[1]
        self.refuse(1, message, dltools.DLCC, "net.dl", "--check")

    def test_settings_are_listed(self):
        said = self.dlcc(support.example("mnist"), "--help")
        for name in ("batch_size", "lr", "momentum"):
            self.assertIn(name, said)
