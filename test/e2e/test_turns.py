"""Several training steps: their turns, and what is kept of each."""

import csv
import itertools
import json
import os

import numpy as np

import dltools
import tensorboard_events
from . import support

USAGE = 2

# Two networks with optimizers, schedulers, random numbers and data of their own.
MODEL = support.HEAD + """
void dl_main(dl::Program &p) {
  auto real = dl::data::TensorDataset({"real.npy"}, {.batch_size = 6, .shuffle = true});
  auto noise = dl::data::TensorDataset({"noise.npy"}, {.batch_size = 4, .shuffle = true});
  nn::Linear generator{3, 2}, judge{2, 1};
  nn::Dropout drop{0.2};
  dl::optim::Adam optimizer_d(judge.parameters(), {.lr = p.setting("lr", 0.02)});
  dl::optim::Adam optimizer_g(generator.parameters(), {.lr = 0.01});
  dl::optim::lr_scheduler::StepLR scheduler_d(optimizer_d, 5, {.gamma = 0.5});
  dl::optim::lr_scheduler::ExponentialLR scheduler_g(optimizer_g, 0.9);
  p.train("disc", real, [&](dl::Batch b) -> dl::Metrics {
    auto fake = generator(dl::randn({b[0].size(0), 3}));
    auto real = judge(b[0]).mean();
    auto loss = F::softplus(-judge(drop(b[0]))).mean() + F::softplus(judge(fake.detach())).mean();
    optimizer_d.zero_grad();
    loss.backward();
    optimizer_d.step();
    scheduler_d.step();
    return {{"loss", loss}, {"real", real}};
  });
  p.train("gen", noise, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::softplus(-judge(generator(b[0]))).mean();
    optimizer_g.zero_grad();
    loss.backward();
    optimizer_g.step();
    return {{"loss", loss}, {"slope", generator.weight.grad()}};
  });
  p.each_epoch([&] { scheduler_g.step(); });
  p.eval("test", noise, [&](dl::Batch b) -> dl::Metrics { return {{"loss", judge(generator(b[0])).mean()}}; });
}
"""


# Counters of optimizers, schedulers and averages that are states, for there are two steps.
COUNTING = support.HEAD + """
struct Net : nn::Module { dl::Parameter v = dl::ones({3}), w = dl::ones({3}); };
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 4});
  Net m, mean;
  dl::optim::Adam a({{.params = m.v}}, {.lr = 0.1});
  dl::optim::RAdam b({{.params = m.w}}, {.lr = 0.1});
  dl::optim::lr_scheduler::ExponentialLR s(b, 0.5);
  dl::optim::swa_utils::AveragedModel average(mean, m);
  auto update = [](auto &optimizer, dl::Tensor loss) {
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  };
  p.train("one", data, [&](dl::Batch batch) -> dl::Metrics {
    auto loss = (batch[0] * m.v).mean();
    update(a, loss);
    average.update_parameters();
    return {{"loss", loss}};
  });
  p.train("two", data, [&](dl::Batch batch) -> dl::Metrics {
    auto loss = (batch[0] * m.w).mean();
    update(b, loss);
    s.step();
    return {{"loss", loss}};
  });
}
"""


class Accumulated(support.ToolTest):
    def test_counters_count_updates(self):
        """All batches are equal, so that it does not matter how many make an update."""
        np.save(self.path("x.npy"), np.abs(np.tile(np.random.default_rng(0).normal(size=(4, 3)), (6, 1))))
        self.write("m.dl", COUNTING)
        results = {}
        for count in (1, 2, 3):
            self.dlcc("m.dl", "--dtype=f64", f"--accumulate={count}")
            metrics = [e for e in self.events("m.plan", "--steps", 6, "--every", "log=1", "--save-final", "w.safetensors") if e["event"] == "step"]
            results[count] = self.load("w.safetensors"), [e["lr1"] for e in metrics if "lr1" in e]
        one, rates = results.pop(1)
        self.assertEqual(rates, [0.1, 0.05, 0.025])
        for weights, others in results.values():
            np.testing.assert_allclose(others, rates, rtol=1e-15)
            for name, values in one.items():
                np.testing.assert_allclose(weights[name], values, rtol=1e-13, err_msg=name)


    def test_a_step_without_an_update(self):
        np.save(self.path("x.npy"), np.ones((4, 3)))
        self.write("m.dl", COUNTING.replace("update(b, loss);", "loss.backward();"))
        self.refuse(1, ["m.dl:", "the step 'two' uses no gradients", "leave --accumulate out"], dltools.DLCC, "m.dl", "--accumulate=2", "-o", "m.plan")
        self.dlcc("m.dl")


class Turns(support.ToolTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(0)
        np.save(self.path("real.npy"), rng.normal(size=(32, 2)).astype(np.float32))
        np.save(self.path("noise.npy"), rng.normal(size=(18, 3)).astype(np.float32))
        self.write("m.dl", MODEL)

    def steps(self, *arguments):
        return [e for e in self.events(*arguments, "--every", "log=1") if e["event"] == "step"]

    def names(self, *arguments):
        return "".join(e["name"][0] for e in self.steps("m.plan", *arguments))

    def test_order_and_length(self):
        self.dlcc("m.dl")
        self.assertEqual(self.names("--steps", 5), "dgdgd")
        self.assertEqual(self.names("--steps", 9, "--alternate", "disc:3,gen:1"), "dddgdddgd")
        self.assertEqual(self.names("--steps", 6, "--alternate", "gen:1,disc:2"), "gddgdd")
        # An epoch of disc has 6 batches, one of gen 5; with the last turn of the others it ends.
        self.assertEqual(self.names(), "dg" * 6)
        self.assertEqual(self.names("--alternate", "gen:1,disc:1"), "gd" * 5)
        self.assertEqual(self.names("--alternate", "disc:4,gen:1", "--epochs", 2), "ddddgddddgdddd" + "g")
        rows = self.steps("m.plan", "--alternate", "disc:4,gen:1", "--epochs", 2)
        self.assertEqual([e["epoch"] for e in rows], [0] * 7 + [1] * 8)
        evals = [e for e in self.events("m.plan", "--alternate", "disc:4,gen:1", "--epochs", 2) if e["event"] == "eval"]
        self.assertEqual([(e["step"], e["epoch"]) for e in evals], [(7, 0), (15, 1)])

    def test_each_has_its_own_rhythm(self):
        self.dlcc("m.dl")
        rows = [e for e in self.events("m.plan", "--steps", 24, "--every", "log=3", "--alternate", "disc:3,gen:1") if e["event"] == "step"]
        self.assertEqual([(e["name"], e["step"]) for e in rows],
                         [("disc", 3), ("disc", 7), ("disc", 11), ("gen", 12), ("disc", 15), ("disc", 19), ("disc", 23), ("gen", 24)])

    def test_refused(self):
        self.dlcc("m.dl")
        for text, words in (("disk:5,gen:1", ["no training step 'disk'", "did you mean 'disc'?"]),
                            ("disc:0,gen:1", "'0' is not a whole number from 1"),
                            ("disc:-1,gen:1", "'-1' is not a whole number from 1"),
                            ("disc:5", "the training step 'gen' is missing"),
                            ("disc,gen", "'disc' is not STEP:N"),
                            ("", "'' is not STEP:N"),
                            ("test:1,disc:1,gen:1", "no training step 'test'"),
                            ("disc:1,gen:1,disc:1", "'disc' stands there twice")):
            self.refuse(USAGE, words, dltools.DLRUN, "m.plan", "--alternate", text)
        self.refuse(USAGE, "--alternate: not an option of 'dlrun eval'", dltools.DLRUN, "eval", "m.plan", "--alternate", "disc:1,gen:1")
        self.refuse(USAGE, ["no step has a scalar metric 'disk.loss'", "did you mean 'disc.loss'?"],
                    dltools.DLRUN, "m.plan", "--halt-on", "disk.loss>1")

    def test_means_of_an_epoch(self):
        """One for each of them, where the first one's ends."""
        self.dlcc("m.dl")
        events = self.events("m.plan", "--epochs", 2, "--every", "log=1")
        items = {"disc": itertools.cycle([6, 6, 6, 6, 6, 2]), "gen": itertools.cycle([4, 4, 4, 4, 2])}
        for mean in [e for e in events if e["event"] == "epoch"]:
            losses = [e["loss"] for e in events if e["event"] == "step" and e["name"] == mean["name"] and e["epoch"] == mean["epoch"]]
            self.assertEqual(mean["mean_of_steps"], len(losses))
            weights = list(itertools.islice(items[mean["name"]], len(losses)))
            self.assertAlmostEqual(mean["loss"], np.average(losses, weights=weights), places=5)
        self.assertEqual([e["name"] for e in events if e["event"] == "epoch"], ["disc", "gen"] * 2)

    def test_halt_on(self):
        self.dlcc("m.dl")
        for metric, step in (("disc.loss", 1), ("gen.loss", 2), ("loss", 1)):
            result = dltools.call([dltools.DLRUN, "m.plan", "--halt-on", metric + ">0.01"], self.folder)
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"step {step}: {'gen' if step == 2 else 'disc'}.loss is ", result.stderr)

    def test_metrics_of_each(self):
        self.dlcc("m.dl")
        self.dlrun("m.plan", "--steps", 7, "--alternate", "disc:2,gen:1", "--save-metrics", "m.safetensors")
        rows = self.steps("m.plan", "--steps", 7, "--alternate", "disc:2,gen:1")
        saved = self.load("m.safetensors")
        self.assertEqual(sorted(saved), ["disc.loss", "disc.lr", "disc.real", "gen.loss", "gen.lr1", "gen.slope"])
        self.assertEqual(saved["gen.slope"].shape, (2, 3))
        self.assertEqual(float(saved["disc.real"]), np.float32(rows[6]["real"]))
        self.assertEqual(float(saved["gen.loss"]), np.float32(rows[5]["loss"]))

    def test_logs(self):
        self.dlcc("m.dl")
        rows = self.steps("m.plan", "--steps", 8, "--out", "run", "--alternate", "disc:3,gen:1")
        with open(self.path("run/train.csv"), encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        self.assertEqual(list(table[0]), ["step", "epoch", "name", "loss", "real", "lr", "lr1"])
        self.assertEqual([(int(row["step"]), row["name"]) for row in table], [(e["step"], e["name"]) for e in rows])
        self.assertEqual([row["real"] == "" for row in table], [e["name"] == "gen" for e in rows])
        with open(self.path("run/events.jsonl"), encoding="utf-8") as file:
            self.assertEqual([e for e in map(json.loads, file) if e["event"] == "step"], rows)
        tags = {tag for event in tensorboard_events.read(self.path("run/events.out.tfevents.dlrun"), check=True) for tag in event.get("scalars", {})}
        tags = {tag for tag in tags if not tag.startswith("test/")}
        metrics = {"disc/loss", "disc/real", "disc/lr", "gen/loss", "gen/lr1"}
        self.assertEqual(tags, metrics | {metric.replace("/", "_epoch/") for metric in metrics})

    def test_bench_tells_them_apart(self):
        self.dlcc("m.dl")
        events = self.events("bench", "m.plan", "--steps", 8, "--alternate", "disc:3,gen:1")
        self.assertEqual([(e["name"], e["steps"]) for e in events if e["event"] == "bench"], [("disc", 6), ("gen", 2)])
        self.assertEqual([e["allocations"] for e in events if e["event"] == "bench"], [0, 0])

    def check_resumed(self, plan, *options):
        """A run stopped at any step, in the middle of a turn too, comes to the bits of one that was not."""
        self.dlrun(plan, "--steps", 23, "--save-final", "whole.safetensors", "--out", "whole", *options)
        for stop in range(1, 16):
            self.dlrun(plan, "--steps", stop, "--out", f"run{stop}", *options)
            self.dlrun("resume", f"run{stop}", "--steps", 23, "--save-final", self.path("parts.safetensors"))
            name = "checkpoints/step-00000023.safetensors"
            with open(self.path(f"run{stop}/{name}"), "rb") as ours, open(self.path(f"whole/{name}"), "rb") as theirs:
                ours, theirs = ours.read(), theirs.read()
            sizes = [int.from_bytes(data[:8], "little") for data in (ours, theirs)]
            facts, want = (json.loads(data[8:8 + size])["__metadata__"] for data, size in zip((ours, theirs), sizes))
            for key in ("dl.cursor.disc", "dl.cursor.gen", "dl.turns", "dl.place", "dl.step", "dl.epoch"):
                self.assertEqual(facts[key], want[key], f"{key}, stopped at {stop}")
            self.assertEqual(ours[8 + sizes[0]:], theirs[8 + sizes[1]:], f"stopped at {stop}")  # slots and counters, too
            with open(self.path("parts.safetensors"), "rb") as ours, open(self.path("whole.safetensors"), "rb") as theirs:
                self.assertEqual(ours.read(), theirs.read(), f"stopped at {stop}")

    def test_resume(self):
        self.dlcc("m.dl")
        self.check_resumed("m.plan", "--alternate", "disc:5,gen:2")

    def test_resume_with_accumulation(self):
        self.dlcc("m.dl", "--accumulate=2")
        self.check_resumed("m.plan", "--alternate", "disc:2,gen:3", "--set", "lr=0.03")

    def test_resume_on_a_mesh(self):
        self.dlcc("m.dl", "--mesh", "dp=2")
        self.check_resumed("m.plan")

    def test_other_turns_from_here_on(self):
        self.dlcc("m.dl")
        self.dlrun("m.plan", "--steps", 4, "--out", "run", "--alternate", "disc:3,gen:2")
        first = self.steps("resume", "run", "--steps", 7, "--alternate", "gen:1,disc:1")
        self.assertEqual("".join(e["name"][0] for e in first), "gdg")
        # What was said last holds.
        self.assertEqual("".join(e["name"][0] for e in self.steps("resume", "run", "--steps", 10)), "dgd")
        self.assertEqual(self.facts("run", 10)["dl.cursor.disc"].split()[0], "6")

    def facts(self, run, step):
        with open(self.path(f"{run}/checkpoints/step-{step:08}.safetensors"), "rb") as file:
            return json.loads(file.read(int.from_bytes(file.read(8), "little")))["__metadata__"]

    def test_the_same_on_a_mesh(self):
        self.dlcc("m.dl", "--dtype=f64")
        self.dlcc("m.dl", "--dtype=f64", "--mesh", "dp=2", "-o", "two.plan")
        one, two = (self.steps(plan, "--steps", 40, "--alternate", "disc:3,gen:1") for plan in ("m.plan", "two.plan"))
        self.assertEqual(len(one), 40)
        for a, b in zip(one, two):
            self.assertEqual(a["name"], b["name"])
            self.assertLess(abs(a["loss"] - b["loss"]), 1e-12)

    def test_another_mesh_in_the_middle_of_a_turn(self):
        self.dlcc("m.dl", "--dtype=f64")
        self.dlcc("m.dl", "--dtype=f64", "--mesh", "dp=2", "-o", "two.plan")
        whole = self.steps("m.plan", "--steps", 20, "--alternate", "disc:5,gen:2")
        self.dlrun("m.plan", "--steps", 9, "--alternate", "disc:5,gen:2", "--out", "run")
        rest = self.steps("resume", "run", "--plan", "two.plan", "--steps", 20)
        self.assertEqual([e["step"] for e in rest], list(range(10, 21)))
        for a, b in zip(whole[9:], rest):
            self.assertEqual(a["name"], b["name"])
            self.assertLess(abs(a["loss"] - b["loss"]), 1e-12)

    def test_other_training_steps_are_refused(self):
        self.dlcc("m.dl")
        self.write("n.dl", MODEL.replace('"gen"', '"maker"'))
        self.dlcc("n.dl")
        self.dlrun("m.plan", "--steps", 3, "--out", "run")
        self.refuse(USAGE, "has other training steps than", dltools.DLRUN, "resume", "run", "--plan", "n.plan", "--steps", "5")

    def test_one_step_has_no_turns(self):
        self.regression_data()
        self.write("one.dl", support.LINEAR)
        self.dlcc("one.dl")
        self.refuse(USAGE, "no training step 'disc'", dltools.DLRUN, "one.plan", "--alternate", "disc:2")
        self.dlrun("one.plan", "--steps", 3, "--alternate", "train:2", "--out", "run")
        self.assertNotIn("dl.turns", self.facts("run", 3))
        self.assertTrue(os.path.exists(self.path("run/train.csv")))
