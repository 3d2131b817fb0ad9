"""What several processes leave behind and go on from: checkpoints, best weights, predictions, one trace."""

import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

import numpy as np

import dltools
from e2e import support
from mpi import launch
from mpi.test_processes import ProcessTest

# Sizes that do not divide, and a last batch that is short.
MODEL = support.HEAD + """
struct Net : nn::Module {
  nn::Linear first{9, 13};
  nn::Linear last{13, 5};
  nn::Dropout drop{0.2};
  dl::Tensor forward(dl::Tensor x) { return last(drop(F::relu(first(x)))); }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"a.npy", "b.npy"}, {.batch_size = 10, .shuffle = true});
  Net model;
  dl::optim::Adam optimizer(model.parameters(), {.lr = 0.01});
  dl::Mesh mesh{{"dp", 2}, {"tp", 1}};
  dl::parallel::tensor(model, {{"first", "colwise", "tp"}, {"last", "rowwise", "tp"}});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(model(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    auto out = model(b.data);
    return {{"loss", F::cross_entropy(out, b.target)}, {"accuracy", out.argmax(1).eq(b.target).mean()}};
  });
  p.predict("answers", data, [&](dl::Batch b) -> dl::Metrics { return {{"logits", model(b.data)}}; });
}
"""
MESHES = {"two": ("--mesh", "dp=2", "--zero=3"), "four": ("--mesh", "dp=2,tp=2", "--zero=1"), "three": ("--mesh", "dp=3", "--zero=2")}


@unittest.skipIf(launch.missing(), launch.missing())
class RunTest(ProcessTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(3)
        np.save(self.path("a.npy"), rng.normal(size=(67, 9)).astype(np.float32))
        np.save(self.path("b.npy"), rng.integers(0, 5, 67))
        self.write("net.dl", MODEL)

    def mesh(self, name):
        if not os.path.exists(self.path(name + ".plan")):
            self.dlcc("net.dl", *MESHES[name], "-o", name + ".plan")
        return name + ".plan"

    def np(self, ranks, *arguments, code=0):
        result = self.dlrun_np(ranks, *arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def bytes(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


class Checkpoints(RunTest):
    def test_a_run_is_that_of_virtual_ranks(self):
        """Every file of the folder but those with times in them."""
        options = ["--epochs", "2", "-q", "--every", "ckpt=3,log=1", "--keep", "0", "--keep-best", "max:test.accuracy"]
        self.dlrun(self.mesh("two"), *options, "--out", "virtual", "--save-final", "v.safetensors")
        self.np(2, self.mesh("two"), *options, "--out", "processes", "--save-final", "p.safetensors")
        names = sorted(os.listdir(self.path("virtual/checkpoints")))
        self.assertEqual(names, sorted(os.listdir(self.path("processes/checkpoints"))))
        self.assertGreater(len(names), 3)
        for name in ["model.plan", "train.csv", "eval.csv"] + ["checkpoints/" + name for name in names]:
            if name.endswith(".csv"):
                continue
            self.assertEqual(self.bytes("virtual/" + name), self.bytes("processes/" + name), name)
        self.assertEqual(self.bytes("v.safetensors"), self.bytes("p.safetensors"))
        self.assertTrue(os.path.exists(self.path("processes/best.safetensors")))

    def test_by_the_clock_of_rank_0(self):
        """Looked at seldom, by all after the same step."""
        self.np(2, self.mesh("two"), "--steps", "5", "-q", "--every", "eval=0,ckpt=0s", "--keep", "0", "--out", "each")
        self.assertEqual(sorted(os.listdir(self.path("each/checkpoints"))), [f"step-{step:08}.safetensors" for step in range(1, 6)])
        options = ["--steps", "20000", "-q", "--out"]
        self.np(2, self.mesh("two"), *options, "some", "--every", "eval=0,ckpt=0.05s", "--keep", "0", "--save-final", "s.safetensors")
        self.np(2, self.mesh("two"), *options, "none", "--every", "eval=0,ckpt=1h", "--keep", "0", "--save-final", "n.safetensors")
        self.assertEqual(self.bytes("s.safetensors"), self.bytes("n.safetensors"))
        self.assertEqual(os.listdir(self.path("none/checkpoints")), ["step-00020000.safetensors"])
        # As often as there were 50 ms, and so seldom.
        written = os.listdir(self.path("some/checkpoints"))
        self.assertTrue(1 < len(written) < 1000, written)

    def test_goes_on_from_any_engine_on_any_mesh(self):
        """Half by processes of one mesh, the rest by another, against the same with virtual ranks all the way."""
        for first, ranks, then, more in (("two", 2, "four", 4), ("four", 4, "two", 2), ("two", 2, "three", 3)):
            self.dlrun(self.mesh(first), "--steps", "5", "-q", "--out", "v", "--every", "eval=0")
            self.dlrun("resume", "v", "--plan", self.mesh(then), "--steps", "11", "-q", "--save-final", "v.safetensors")
            self.np(ranks, self.mesh(first), "--steps", "5", "-q", "--out", "p", "--every", "eval=0")
            self.np(more, "resume", "p", "--plan", self.mesh(then), "--steps", "11", "-q", "--save-final", "p.safetensors")
            self.assertEqual(self.bytes("v.safetensors"), self.bytes("p.safetensors"), (first, then))
            # And once more, with one process for all ranks.
            self.dlrun("resume", "p", "--steps", "14", "-q", "--save-final", "p.safetensors")
            self.dlrun("resume", "v", "--steps", "14", "-q", "--save-final", "v.safetensors")
            self.assertEqual(self.bytes("v.safetensors"), self.bytes("p.safetensors"), (first, then))
            for folder in "vp":
                shutil.rmtree(self.path(folder))

    def test_stopped_and_killed_runs_give_the_bits_of_an_undisturbed_one(self):
        steps = ["--steps", "6000", "--every", "ckpt=50,eval=0"]
        self.np(2, self.mesh("two"), "--steps", "6000", "--every", "eval=0", "-q", "--save-final", "one.safetensors")
        rng = random.Random(4)
        command = [dltools.DLRUN, "-np", "2", self.path(self.mesh("two")), *steps, "--out", "run", "--resume", "auto", "-q",
                   "--save-final", "two.safetensors"]
        codes = []
        for kind in ("term", "kill", "term", "kill"):
            process = subprocess.Popen(command, cwd=self.folder, env=self.env, stderr=subprocess.PIPE, text=True)
            before = self.checkpoints()
            end = time.monotonic() + 30
            while time.monotonic() < end and process.poll() is None and self.checkpoints() == before:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.1))
            if kind == "term":
                process.send_signal(signal.SIGTERM)
            else:
                for pid in list(launch.ranks_of(self.folder).values())[:1]:
                    os.kill(pid, signal.SIGKILL)
            _, said = process.communicate(timeout=60)
            codes.append(process.returncode)
            self.assertIn(process.returncode, (75, 0) if kind == "term" else (6, 0), said)
        self.assertEqual(codes[:2], [75, 6])
        self.np(*[2, *command[3:]])
        self.assertEqual(self.bytes("one.safetensors"), self.bytes("two.safetensors"))

    def checkpoints(self):
        folder = self.path("run/checkpoints")
        return sorted(name for name in os.listdir(folder) if ".tmp." not in name) if os.path.exists(folder) else []

    def test_refused_on_all_with_one_word(self):
        self.np(2, self.mesh("two"), "--steps", "2", "-q", "--out", "run")
        for ranks, arguments, code, words in (
                (2, [self.mesh("two"), "--out", "run"], 2, "it holds a run"),
                (2, ["resume", "nothing"], 4, "nothing"),
                (2, ["resume", "run", "--seed", "3"], 2, "seed"),
                (4, ["resume", "run"], 5, "dlrun -np 2 fits"),
                (2, [self.mesh("two"), "--out", "a.npy"], 4, "a.npy")):
            result = self.np(ranks, *arguments, code=code)
            self.assertIn(words, result.stderr)
            self.assertEqual(result.stderr.count("error: "), 1, result.stderr)
        with open(self.path("run/checkpoints/step-00000002.safetensors"), "r+b") as file:
            file.seek(-3, os.SEEK_END)
            file.write(b"abc")
        self.assertIn("damaged", self.np(2, "resume", "run", code=4).stderr)

    def test_a_full_disk_is_a_warning_and_then_an_error(self):
        """The folder of checkpoints takes no files: training goes on, on all ranks alike, and its last save fails."""
        self.np(2, self.mesh("two"), "--steps", "2", "-q", "--out", "run")
        folder = self.path("run/checkpoints")
        os.rename(folder + "/step-00000002.safetensors", self.path("kept"))
        os.rmdir(folder)
        os.symlink(self.path("missing"), folder)
        result = self.np(2, self.mesh("two"), "--steps", "4", "-q", "--out", "run", "--resume", "auto", code=4)
        self.assertIn("cannot", result.stderr)

    def test_ranks_must_want_the_same(self):
        plan = self.mesh("two")

        def two(first, second):
            return self.call("mpirun", "-np", "1", dltools.DLRUN, plan, *first, ":", "-np", "1", dltools.DLRUN, plan, *second)
        for first, second, word in ((["--out", "a"], [], "--out on rank 0"), (["--set", "optim.lr=0.1"], [], "--set optim.lr=0.1 on rank 0"),
                                    (["--trace", "t"], [], "--trace on rank 0")):
            self.assert_refused(two(first, second), 5, "the ranks do not agree", word)
        self.assertFalse(os.path.exists(self.path("a")))


class Results(RunTest):
    def setUp(self):
        super().setUp()
        self.dlrun(self.mesh("two"), "--steps", "5", "-q", "--out", "run", "--every", "eval=0")

    def test_predictions(self):
        self.dlrun("predict", self.mesh("two"), "--init", "run", "--out", "v.npy", "-q")
        for name, ranks in (("two", 2), ("four", 4)):
            self.np(ranks, "predict", self.mesh(name), "--init", "run", "--out", "p.npy", "-q")
            self.assertEqual(np.load(self.path("p.npy")).shape, (67, 5))
            np.testing.assert_allclose(np.load(self.path("v.npy")), np.load(self.path("p.npy")), atol=1e-6)
        self.np(2, "predict", "run", "--out", "p.npy", "-q")
        self.assertEqual(self.bytes("v.npy"), self.bytes("p.npy"))
        self.assertIn("cannot write", self.np(2, "predict", "run", "--out", "none/p.npy", code=4).stderr)

    def test_evaluations(self):
        one = self.dlrun("eval", "run", "--json")
        for arguments in (["run"], [self.mesh("two"), "--init", "run"]):
            result = self.np(2, "eval", *arguments, "--json").stdout
            evaluations = [[dltools.without_times(line) for line in text.splitlines() if '"eval"' in line] for text in (one, result)]
            self.assertEqual(evaluations[0], evaluations[1])
            self.assertEqual(len(evaluations[0]), 1)

    def test_other_weights_on_one_rank(self):
        self.dlrun(self.mesh("two"), "--steps", "1", "-q", "--save-final", "w.safetensors")
        words = [dltools.DLRUN, "eval", self.mesh("two"), "--init"]
        result = self.call("mpirun", "-np", "1", *words, "w.safetensors", ":", "-np", "1", *words, "run")
        self.assert_refused(result, 5, "--init: w.safetensors", "on rank 1")


class Traces(RunTest):
    def rows(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            trace = json.load(file)
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        return trace["otherData"], spans

    def test_one_file_for_all_ranks(self):
        """Each rank's commands stand in its own rows, at times of one clock."""
        plan = self.mesh("four")
        self.dlrun(plan, "--steps", "3", "-q", "--trace", "v.json", "--threads", "1", "--every", "eval=0")
        self.np(4, plan, "--steps", "3", "-q", "--trace", "p.json", "--threads", "1", "--every", "eval=0")
        self.assertEqual([name for name in os.listdir(self.folder) if "json.rank" in name], [])
        (_, virtual), (facts, processes) = self.rows("v.json"), self.rows("p.json")
        self.assertEqual(facts["processes"], 4)
        for rank in range(1, 5):
            def kernels(spans):
                return sorted((span["name"], span["args"]["command"]) for span in spans
                              if span["pid"] == rank and "kernel" in span["args"] and span["cat"] != "communication"
                              and span["args"]["tiles"].startswith("0 to"))
            self.assertGreater(len(kernels(virtual)), 10)
            self.assertEqual(kernels(virtual), kernels(processes), rank)
        steps = [span for span in processes if "kernel" not in span["args"]]
        self.assertEqual(len(steps), 3 * 4)
        # The ranks did each step at the same time, for they wait for each other.
        for update in range(3):
            same = [span for span in steps if span["args"]["update"] == update]
            self.assertLess(max(span["ts"] for span in same), min(span["ts"] + span["dur"] for span in same))

    def test_hosts_with_clocks_of_their_own(self):
        env = launch.environment(self.path("hosts"))
        result = self.dlrun_np(4, "-H", "ha:2,hb:2", self.mesh("four"), "--steps", "2", "-q", "--trace", "p.json", "--every", "eval=0", env=env)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.rows("p.json")[0]["processes"], 4)
