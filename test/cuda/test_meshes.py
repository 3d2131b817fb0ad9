"""Plans of meshes for CUDA: all ranks on one emulated device, beside the same ranks on the CPU."""

import json
import unittest

import dltools
from e2e import support
from . import test_trainings
from .test_trainings import SOURCE


class Meshes(test_trainings.OnBoth):
    EXAMPLES = {"mnist": ["--mesh=dp=2"], "mlp_mesh": [], "two_parts": []}

    def test_examples(self):
        """dp alone, dp x pp x tp with micro-batches, a pipeline."""
        for dtype, bound in (("f64", 1e-11), ("f32", 2e-5)):
            for name, flags in self.EXAMPLES.items():
                with self.subTest(f"{name} {dtype}"):
                    self.assert_close(*self.example(name, [*flags, f"--dtype={dtype}"], "--steps", 8, "--every", "eval=0"), bound)


class Runs(test_trainings.OnBoth):
    def setUp(self):
        super().setUp()
        self.classification_data(items=70)
        self.write("net.dl", support.CONVNET)

    def compiled(self, *flags, name="mesh.plan"):
        self.dlcc("net.dl", SOURCE, *flags, "-o", name)
        return name

    def weights(self, plan, *options, order="random"):
        return self.trained(plan, dltools.ORDERS[order], *options)[0]

    def test_zero_gives_equal_bits(self):
        """With a short last batch; parameters of odd extents are in unequal parts."""
        runs = [self.weights(self.compiled("--mesh=dp=2", f"--zero={stage}"), "--epochs", 2) for stage in range(4)]
        for stage, run in enumerate(runs):
            self.assertEqual(run, runs[0], f"ZeRO {stage} has other bits than ZeRO 0")

    def test_accumulation_and_a_short_last_batch(self):
        self.assert_close(*self.both("net.dl", ["--mesh=dp=2", "--accumulate=3", "--dtype=f64"], "--epochs", 2), 1e-11)

    def test_any_order_of_its_commands(self):
        plan = self.compiled("--mesh=dp=2", "--zero=2")
        self.assertEqual(self.weights(plan, "--steps", 6, "--poison", "--order", "random:3"), self.weights(plan, "--steps", 6))

    def test_goes_on_on_another_mesh(self):
        """From the ranks of one device to one rank of it, and back; the bits are those of the ranks that go on."""
        mesh, one = self.compiled("--mesh=dp=2", "--zero=3"), self.compiled(name="one.plan")
        whole = self.weights(mesh, "--steps", 9)
        self.dlrun(mesh, "-q", "--steps", 4, "--out", "run", env=dltools.emulated())
        dltools.run(dltools.DLRUN, "resume", "run", "-q", "--steps", 9, "--save-final", "same.w", cwd=self.folder, env=dltools.emulated())
        with open(self.path("same.w"), "rb") as file:
            self.assertEqual(file.read(), whole)
        self.dlrun(mesh, "-q", "--steps", 4, "--out", "other", env=dltools.emulated())
        dltools.run(dltools.DLRUN, "resume", "other", "--plan", one, "-q", "--steps", 9, "--save-final", "other.w", cwd=self.folder,
                    env=dltools.emulated())
        with open(self.path("other.w"), "rb") as file:
            self.assert_close([whole], [file.read()], 2e-5)

    def test_trace_has_the_commands_of_all_ranks(self):
        plan = self.compiled("--mesh=dp=2")
        self.dlrun(plan, "-q", "--steps", 2, "--trace", "trace.json", env=dltools.emulated())
        with open(self.path("trace.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        kernels = {rank: sum(event["ph"] == "X" and event["pid"] == rank + 1 and "kernel" in event["args"] for event in events)
                   for rank in range(2)}
        self.assertGreater(min(kernels.values()), 10, kernels)

    def test_exchanges_are_not_delayed(self):
        self.refuse(2, ["--link is for plans of processors"], dltools.DLRUN, self.compiled("--mesh=dp=2"), "--link", "latency=1us",
                    env=dltools.emulated())


if __name__ == "__main__":
    unittest.main()
