"""When evaluations run, and what they decide."""

import csv
import math
import os

import numpy as np

import dltools
from . import support

TRAINING, USAGE = 1, 2

# The loss of the evaluation falls for some steps and then rises: the training data pull away from it.
MODEL = support.HEAD + """
struct Point : nn::Module {
  dl::Parameter w = dl::zeros({1});
  dl::Tensor forward(dl::Tensor x) { return (x - w).square().mean(); }
};

void dl_main(dl::Program &p) {
  auto train = dl::data::TensorDataset({"far.npy"}, {.batch_size = 4});
  auto test = dl::data::TensorDataset({"near.npy"}, {.batch_size = 4});
  Point model;
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.05});
  p.train(train, [&](dl::Batch b) -> dl::Metrics {
    auto loss = model(b[0]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
  p.eval("test", test, [&](dl::Batch b) -> dl::Metrics { return {{"loss", model(b[0])}, {"height", -model(b[0])}}; });
}
"""


class Evaluations(support.ToolTest):
    def setUp(self):
        super().setUp()
        np.save(self.path("far.npy"), np.full((16, 1), 4, np.float32))
        np.save(self.path("near.npy"), np.full((8, 1), 1, np.float32))
        self.write("m.dl", MODEL)
        self.dlcc("m.dl")

    def evals(self, *arguments):
        return [e for e in self.events("m.plan", *arguments) if e["event"] == "eval"]

    def test_the_last_step_is_evaluated(self):
        self.assertEqual([e["step"] for e in self.evals("--steps", 6)], [4, 6])
        self.assertEqual([e["step"] for e in self.evals("--steps", 7, "--every", "eval=3")], [3, 6, 7])
        self.assertEqual(self.evals("--steps", 6, "--every", "eval=0"), [])
        self.assertEqual(self.evals("--steps", 0), [])

    def test_all_items_are_evaluated(self):
        """Whatever a data set for training drops and shuffles: parts of it have that from it."""
        np.save(self.path("near.npy"), np.arange(11, dtype=np.float32)[:, None])
        self.write("m.dl", MODEL.replace('{"near.npy"}, {.batch_size = 4}', '{"near.npy"}, {.batch_size = 4, .shuffle = true, .drop_last = true}')
                   .replace('p.eval("test", test', 'p.eval("test", dl::data::random_split(test, {4, 7})[1]'))
        self.dlcc("m.dl", "-o", "m.plan")
        losses = set()
        for seed in range(3):
            said = self.dlrun("m.plan", "-q", "--steps", 1, "--seed", seed)
            self.assertIn("; 7 items, ", said)
            losses.add(said.split(" (")[0])
        self.assertEqual(len(losses), 1)

    def test_what_waits_for_evaluations_that_never_come(self):
        for every, words in (("eval=0", True), ("eval=99", True), ("eval=4", False)):
            said = dltools.call([dltools.DLRUN, "m.plan", "-q", "--epochs", "2", "--every", every, "--out", every, "--keep-best", "min:test.loss",
                                 "--stop-when", "test.loss not better in 3"], self.folder).stderr
            for what in "--keep-best keeps nothing", "--stop-when ends nothing":
                self.assertEqual(f"without evaluations (--every {every}), {what}" in said, words, said)

    def test_means_of_an_epoch(self):
        """Of all items that an epoch trained on; of a run that goes on within one, of the steps that it did."""
        np.save(self.path("far.npy"), np.arange(11, dtype=np.float32)[:, None])  # batches of 4, 4 and 3
        self.dlcc("m.dl")
        events = self.events("m.plan", "--epochs", 2, "--every", "log=1", "--out", "run")
        losses = [e["loss"] for e in events if e["event"] == "step"]
        means = [e for e in events if e["event"] == "epoch"]
        self.assertEqual([(e["name"], e["epoch"], e["step"], e["mean_of_steps"]) for e in means], [("train", 0, 3, 3), ("train", 1, 6, 3)])
        for epoch, mean in enumerate(means):
            self.assertAlmostEqual(mean["loss"], np.average(losses[3 * epoch:3 * epoch + 3], weights=[4, 4, 3]), places=5)
        said = dltools.call([dltools.DLRUN, "m.plan", "--steps", "4", "--out", "on"], self.folder).stderr
        self.assertIn(f"train: loss {means[0]['loss']:.4f} (epoch 0, mean of 3 steps)\n", said)
        said = dltools.call([dltools.DLRUN, "resume", "on", "--epochs", "2"], self.folder).stderr
        self.assertIn(f"train: loss {np.average(losses[4:6], weights=[4, 3]):.4f} (epoch 1, mean of 2 steps)\n", said)
        for silent in (["-q"], ["--every", "log=0"]):
            self.assertNotIn("mean of", dltools.call([dltools.DLRUN, "m.plan", *silent], self.folder).stderr)

    def test_lines_carry_the_epoch(self):
        result = dltools.call([dltools.DLRUN, "m.plan", "--steps", "6"], self.folder)
        self.assertIn("step 6/6 | epoch 1 | loss ", result.stderr)
        self.assertRegex(result.stdout, r"(?m)^test: loss .* \(epoch 1, step 6; 8 items, ")

    def best(self):
        rows = self.evals("--epochs", 10, "--every", "eval=1")
        return min(rows, key=lambda e: e["loss"])

    def test_the_best_weights_are_kept(self):
        best = self.best()
        self.assertNotIn(best["step"], (1, 40))
        self.dlrun("m.plan", "-q", "--epochs", 10, "--every", "eval=1", "--out", "run", "--keep-best", "min:test.loss")
        self.dlrun("m.plan", "-q", "--epochs", 10, "--every", "eval=1", "--out", "high", "--keep-best", "max:height")
        for run in ("run", "high"):
            (row,) = [e for e in self.events("eval", "m.plan", "--init", f"{run}/best.safetensors") if e["event"] == "eval"]
            self.assertEqual(row["loss"], best["loss"])

    def test_a_resumed_run_knows_the_best(self):
        self.dlrun("m.plan", "-q", "--steps", 20, "--every", "eval=1", "--out", "run", "--keep-best", "min:test.loss")
        with open(self.path("run/best.safetensors"), "rb") as file:
            before = file.read()
        self.dlrun("resume", "run", "-q", "--steps", 30)
        with open(self.path("run/best.safetensors"), "rb") as file:
            self.assertEqual(before, file.read())

    def test_training_stops_when_nothing_gets_better(self):
        best = self.best()
        events = self.events("m.plan", "--epochs", 10, "--every", "eval=1", "--stop-when", "test.loss not better in 5")
        self.assertEqual(events[-1]["steps"], best["step"] + 5)
        self.assertIn("test.loss was not better in 5 evaluations", events[-1]["stopped_early"])
        text = dltools.call([dltools.DLRUN, "m.plan", "--epochs", "10", "--every", "eval=1", "--stop-when",
                             "max:test.height not better in 5"], self.folder)
        self.assertEqual(text.returncode, 0)
        self.assertIn("stopped early", text.stderr)
        self.assertIn(f"step {best['step']}", text.stderr)

    def test_a_run_that_has_stopped_stays_stopped(self):
        best = self.best()
        common = ("-q", "--every", "eval=1", "--stop-when", "test.loss not better in 5")
        self.dlrun("m.plan", *common, "--steps", best["step"] + 2, "--out", "run")
        for steps in (30, 40):
            self.dlrun("resume", "run", "-q", "--steps", steps)
            with open(self.path("run/eval.csv"), encoding="utf-8") as file:
                self.assertEqual([int(row["step"]) for row in csv.DictReader(file)][-1], best["step"] + 5)
        self.dlrun("resume", "run", "-q", "--steps", 40, "--stop-when", "test.loss not better in 7")
        with open(self.path("run/eval.csv"), encoding="utf-8") as file:
            self.assertEqual([int(row["step"]) for row in csv.DictReader(file)][-1], best["step"] + 7)

    def test_halt_on_sees_evaluations(self):
        result = dltools.call([dltools.DLRUN, "m.plan", "--epochs", "10", "--every", "eval=1", "--halt-on", "test.loss>1.5"],
                              self.folder)
        self.assertEqual(result.returncode, TRAINING)
        self.assertRegex(result.stderr, r"step \d+: test.loss is .* \(--halt-on test.loss>1.5\)")
        np.save(self.path("near.npy"), np.full((8, 1), math.nan, np.float32))
        self.refuse(TRAINING, "test.loss is nan", dltools.DLRUN, "m.plan", "--epochs", "2", "--halt-on", "nan")
        # What was trained before is none of its business.
        result = dltools.call([dltools.DLRUN, "m.plan", "--epochs", "2", "--halt-on", "nan", "--out", "run"], self.folder)
        self.assertEqual(result.returncode, TRAINING)
        self.assertIn("what was trained until then is kept", result.stderr)
        self.assertEqual(len(os.listdir(self.path("run/checkpoints"))), 1)

    def test_wrong_goals(self):
        for option, value, words in (
                ("--keep-best", "test.loss", ["neither max:METRIC nor min:METRIC"]),
                ("--keep-best", "min:test.los", ["did you mean 'test.loss'"]),
                ("--keep-best", "min:depth", ["test.loss, test.height"]),
                ("--stop-when", "test.loss", ["not better in"]),
                ("--stop-when", "test.loss not better in 0", ["not better in"]),
                ("--stop-when", "test.height not better in 3", ["max:test.height not better in 3"]),
                ("--stop-when", "test.heigt not better in 3", ["did you mean 'test.height'"]),
                ("--halt-on", "test.los>3", ["did you mean 'test.loss'"])):
            self.refuse(USAGE, words, dltools.DLRUN, "m.plan", "--out", "run", option, value)
        self.refuse(USAGE, "--out", dltools.DLRUN, "m.plan", "--keep-best", "min:test.loss")


class Slopes(support.ToolTest):
    def test_where_a_value_has_no_room(self):
        """As PyTorch's: infinite, as the value is, and no NaN."""
        np.save(self.path("x.npy"), np.array([[1.0], [2.0]]))
        self.write("m.dl", support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 2});
  p.eval("at", data, [&](dl::Batch b) -> dl::Metrics {
    auto slope = [&](dl::Tensor y, dl::Tensor x) { return dl::autograd::grad(y.sum(), x)[0].sum(); };
    auto x = b[0];
    return {{"expm1", slope(dl::expm1(x * 800), x)}, {"sinh", slope(dl::sinh(x * 800), x)}, {"down", slope(dl::sinh(x * -800), x)}};
  });
}
""")
        self.dlcc("m.dl", "--dtype=f64")
        (event,) = [e for e in self.events("eval", "m.plan") if e["event"] == "eval"]
        self.assertEqual([event[name] for name in ("expm1", "sinh", "down")], ["inf", "inf", "-inf"])
