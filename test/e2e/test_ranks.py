"""All ranks of a mesh in one process: the results of one device, and the same bits however they run."""

import json

import numpy as np

import dltools
from . import support

DROPOUT = support.CONVNET.replace("  nn::Linear fc1{150, 20};", "  nn::Dropout drop{0.25};\n  nn::Linear fc1{150, 20};").replace(
    "F::relu(fc1(x.view({-1, 150})))", "F::relu(fc1(drop(x.view({-1, 150}))))")


class Ranks(support.ToolTest):
    """Batches of 15 and a last one of 9: the ranks' parts differ."""

    STEPS = 8

    def setUp(self):
        super().setUp()
        self.classification_data(items=39)
        self.write("net.dl", DROPOUT)

    def compile(self, plan, *arguments):
        self.dlcc("net.dl", "-D", "batch_size=15", "--dtype=f64", "-o", plan, *arguments)

    def train(self, plan, *arguments):
        """The losses and the weights."""
        events = self.events(plan, "--steps", str(self.STEPS), "--every", "log=1", "--save-final", "w.safetensors", *arguments)
        return [event["loss"] for event in events if event["event"] == "step"], self.load("w.safetensors")

    def same(self, first, second):
        self.assertEqual(first[0], second[0])
        self.assertEqual(sorted(first[1]), sorted(second[1]))
        for name, value in first[1].items():
            np.testing.assert_array_equal(value, second[1][name], name)

    def test_results_of_one_device(self):
        self.compile("one.plan")
        losses, weights = self.train("one.plan")
        for ranks in (2, 3, 4):
            for zero in (0, 1, 2, 3):
                self.compile("many.plan", f"--mesh=dp={ranks}", f"--zero={zero}")
                other, values = self.train("many.plan")
                np.testing.assert_allclose(other, losses, rtol=1e-10, atol=1e-10)
                self.assertEqual({n: v.shape for n, v in weights.items()}, {n: v.shape for n, v in values.items()})
                for name, value in weights.items():
                    np.testing.assert_allclose(values[name], value, rtol=1e-10, atol=1e-10, err_msg=name)

    def test_same_bits_however_they_run(self):
        self.compile("many.plan", "--mesh=dp=3", "--zero=1")
        expected = self.train("many.plan", "--threads", "1")
        for way in (["--threads", "2"], ["--ranks", "3", "--threads", "4"], ["--poison", "--order", "random:1"],
                    ["--poison", "--order", "random:2", "--threads", "3"], ["--link", "latency=1ms,bandwidth=1GB/s"]):
            self.same(expected, self.train("many.plan", *way))

    def test_resumed_on_another_mesh_file(self):
        """A checkpoint is logical: weights of one mesh begin a run on another."""
        self.compile("two.plan", "--mesh=dp=2", "--zero=3")
        self.compile("one.plan")
        self.train("two.plan")
        before = self.load("w.safetensors")
        for plan in ("one.plan", "two.plan"):
            self.dlrun(plan, "--steps", "0", "--init", "w.safetensors", "--save-final", "again.safetensors")
            for name, value in self.load("again.safetensors").items():
                np.testing.assert_array_equal(value, before[name], name)

    def test_stopped_and_resumed(self):
        self.compile("many.plan", "--mesh=dp=2", "--zero=2")
        whole = self.train("many.plan")
        self.dlrun("many.plan", "--steps", "3", "--out", "run")
        self.dlrun("resume", "run", "--steps", str(self.STEPS), "--save-final", "resumed.safetensors")
        for name, value in self.load("resumed.safetensors").items():
            np.testing.assert_array_equal(value, whole[1][name], name)

    def test_what_is_said(self):
        self.compile("many.plan", "--mesh=dp=2")
        start = self.events("many.plan", "--steps", "1", "--trace", "t.json")[0]
        self.assertEqual((start["mesh"], start["ranks"], start["engine"]), ("dp=2", 2, "virtual"))
        bench = self.events("bench", "many.plan", "--steps", "3")[-1]
        self.assertGreater(bench["comm_bytes"], 0)
        self.assertEqual(bench["allocations"], 0)
        with open(self.path("t.json"), encoding="utf-8") as file:
            trace = json.load(file)["traceEvents"]
        exchanges = [event for event in trace if event.get("cat") == "communicate"]
        self.assertEqual({event["pid"] for event in exchanges}, {1, 2})  # each rank has a group of rows
        self.assertEqual({event["args"]["tiles"] for event in exchanges}, {"0 to 1 of 1"})
        self.refuse(5, ["--ranks 3", "a mesh of dp=2", "--ranks 2"], dltools.DLRUN, "many.plan", "--ranks", "3")
        info = self.info("many.plan")
        self.assertEqual(sorted(rank for plan in info["plans"] for rank in plan["ranks"]), [0, 1])


if __name__ == "__main__":
    support.unittest.main()
