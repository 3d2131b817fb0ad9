#!/usr/bin/python3
"""Whole training loops, drawn at random, against PyTorch in f64: optimizers, schedulers, clipping, frozen and averaged weights, several losses,
gradients of gradients, states that change in a step, in all combinations. Each is run once more on a mesh or in parts of its batch, and resumed.

Without PyTorch the sizes of weights in training_values.json are compared, which `test/parity/test_trainings.py --write` makes with it (1.13).
`test/parity/test_trainings.py FIRST COUNT` tries others.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import unittest

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import dltools
from numpy_twin import safetensors
from parity.training_parts import OPTIMIZERS, PARTS, SCHEDULERS

try:
    import torch
except ImportError:
    torch = None

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "training_values.json")
SEEDS = range(40)
STEPS, BATCH = 12, 8
BOUND = 1e-9
ELSEWHERE = [["--mesh=dp=2"], ["--mesh=dp=4", "--zero=1"], ["--mesh=dp=2", "--zero=3"], ["--mesh=a=2,dp=2"], ["--microbatches=2"],
             ["--mesh=dp=2", "--zero=2", "--microbatches=2"], ["--recompute=*"], ["--mesh=dp=8"]]

MODEL = """#include <dl/dl.h>

namespace nn = dl::nn;
namespace F = dl::F;
namespace S = dl::optim::lr_scheduler;

struct Net : nn::Module {
  nn::Linear a{6, 8, {.bias = false}}, b{8, 8}, c{8, 3};
  nn::Embedding emb{5, 8};
%(members)s
  dl::Tensor forward(dl::Tensor x, dl::Tensor t) {
    auto n = x.size(0);
    auto h = a(x) + emb(t);
%(hidden)s
    h = dl::tanh(h);
    h = h + F::gelu(b(h));
    auto y = c(h);
%(output)s
    return y;
  }
};
%(types)s
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "t.npy", "y.npy"}, {.batch_size = %(batch)d});
  Net net;
%(before)s
  dl::optim::%(optimizer)s opt(net.parameters(), %(options)s);
%(scheduler)s
  p.train(data, [&](dl::Batch batch) -> dl::Metrics {
    auto x = batch[0], t = batch[1], y = batch[2];
    auto out = net(x, t);
    auto loss = F::mse_loss(out, y);
%(loss)s
    opt.zero_grad();
%(backward)s
%(gradients)s
    opt.step();
%(scheduled)s
%(after)s
    return {{"loss", loss}};
  });
}
"""

TORCH = """
class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.a, s.b, s.c, s.emb = nn.Linear(6, 8, bias=False), nn.Linear(8, 8), nn.Linear(8, 3), nn.Embedding(5, 8)
%(members)s
    def forward(s, x, t):
        n = x.size(0)
        h = s.a(x) + s.emb(t)
%(hidden)s
        h = torch.tanh(h)
        h = h + F.gelu(s.b(h))
        y = s.c(h)
%(output)s
        return y
%(types)s
net = Net()
%(before)s
load()
opt = torch.optim.%(optimizer)s(net.parameters(), %(options)s)
%(scheduler)s
for i, (x, t, y) in enumerate(batches):
    out = net(x, t)
    loss = F.mse_loss(out, y)
%(loss)s
    opt.zero_grad()
%(backward)s
%(gradients)s
    opt.step()
%(scheduled)s
%(after)s
"""


class Training:
    """Of a seed: its source here and in PyTorch, batches, and where else it is tried."""

    def __init__(self, seed):
        draw = random.Random(seed)
        number = lambda low, high: round(draw.uniform(low, high), 3)
        self.parts = [part for part in PARTS if draw.random() < part["chance"]]
        kinds = [part["name"] for part in self.parts]
        self.parts = [part for i, part in enumerate(self.parts) if not set(part.get("not", ())) & set(kinds[:i])]
        name, options = draw.choice(OPTIMIZERS)
        chosen = {key: values(number) for key, (chance, values) in options.items() if draw.random() < chance}
        here, there = draw.choice(SCHEDULERS)(number, draw)
        numbers = {"z": number(0.1, 0.5), "steps": STEPS}
        self.name = " ".join([name, *(part["name"] for part in self.parts), here.split("(")[0]])
        place = {"optimizer": name, "batch": BATCH}
        self.here = MODEL % {**place, **self.code(0, numbers), "options": "{" + ", ".join(f".{k} = {cpp(v)}" for k, v in chosen.items()) + "}",
                             "scheduler": "  " + here, "scheduled": "    schedule.step();" if here else ""}
        self.there = TORCH % {**place, **self.code(1, numbers), "options": ", ".join(f"{k}={v!r}" for k, v in chosen.items()),
                              "scheduler": there, "scheduled": "    schedule.step()" if here else ""}
        self.elsewhere = draw.choice(ELSEWHERE)
        self.resumes = draw.random() < 0.3
        source = np.random.RandomState(seed)
        count = STEPS * BATCH
        self.data = {"x": source.standard_normal((count, 6)), "t": source.randint(0, 5, count), "y": source.standard_normal((count, 3))}

    def code(self, side, numbers):
        """What the parts add at each place: 0 in C++, 1 in Python."""
        indent = {"members": (2, 8), "hidden": (4, 8), "output": (4, 8), "types": (0, 0), "before": (2, 0)}
        lines = {place: [] for place in ("members", "hidden", "output", "types", "before", "loss", "backward", "gradients", "after")}
        for part in self.parts:
            for place, texts in part["code"].items():
                lines[place] += [line % numbers for line in texts[side].split("\n")]
        if not lines["backward"]:
            lines["backward"] = [("loss.backward();", "loss.backward()")[side]]
        return {place: "\n".join(" " * indent.get(place, (4, 4))[side] + line for line in all_of) for place, all_of in lines.items()}

    def weights(self, states):
        """What everybody begins with: of each state's name and shape alone."""
        result = {}
        for name, state in sorted(states.items()):
            draws = np.random.RandomState(sum(map(ord, name))).standard_normal(state.shape)
            if state.dtype.kind != "f":
                result[name] = np.zeros_like(state)
            else:
                result[name] = np.abs(draws) + 0.5 if name.endswith("running_var") else 0.3 * draws
        # (Copies begin as what they are copies of.)
        return {name: result.get(name.split(".", 1)[1], value) if name.startswith(("target.", "mean.")) else value for name, value in result.items()}

    def run(self, folder):
        """Final states here; those of the other way to run it have to be theirs."""
        path = lambda name: os.path.join(folder, name)
        for name, array in self.data.items():
            np.save(path(f"{name}.npy"), array)
        with open(path("net.dl"), "w", encoding="utf-8") as file:
            file.write(self.here)
        call = lambda *command: dltools.run(*command, cwd=folder)
        call(dltools.DLCC, "net.dl", "--dtype=f64", "-o", "net.plan")
        call(dltools.DLCC, "net.dl", "--dtype=f64", *self.elsewhere, "-o", "other.plan")
        call(dltools.DLRUN, "net.plan", "-q", "--steps", 0, "--save-final", "shapes.w")
        self.initial = self.weights(safetensors.load(path("shapes.w")))
        safetensors.save(path("init.w"), self.initial)
        finals = []
        for plan in "net.plan", "other.plan":
            call(dltools.DLRUN, plan, "-q", "--init", "init.w", "--save-final", "final.w")
            finals.append(safetensors.load(path("final.w")))
        if self.resumes:
            call(dltools.DLRUN, "other.plan", "-q", "--init", "init.w", "--steps", 5, "--out", "run")
            call(dltools.DLRUN, "resume", "run", "-q", "--epochs", 1, "--save-final", "final.w")
            finals.append(safetensors.load(path("final.w")))
            if distance(finals[1], finals[2])[0] != 0:
                raise AssertionError(f"resumed, {distance(finals[1], finals[2])[1]} has other bits")
        worst, name = distance(finals[0], finals[1])
        if worst > BOUND:
            raise AssertionError(f"{name} is {worst:.1e} away with {' '.join(self.elsewhere)}")
        return finals[0]

    def run_torch(self):
        """Final states in PyTorch, from `initial`."""
        place = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "Sched": torch.optim.lr_scheduler, "swa": torch.optim.swa_utils}
        tensors = {name: torch.tensor(array) for name, array in self.data.items()}
        place["batches"] = [[tensors[name][i * BATCH:(i + 1) * BATCH] for name in "xty"] for i in range(STEPS)]
        # (What two networks have alike is named by the second one, too.)
        prefixes = {"net": "", "critic": "", "target": "target.", "mean": "mean."}
        modules = lambda: [(prefix, place[name]) for name, prefix in prefixes.items() if name in place]

        def states():
            return {prefix + name: state for prefix, module in modules() for name, state in module.state_dict().items() if prefix + name in self.initial}

        def load():
            for name, state in states().items():
                state.copy_(torch.tensor(np.array(self.initial[name])))

        place["load"] = load
        was = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            exec(self.there, place)  # pylint: disable=exec-used
        finally:
            torch.set_default_dtype(was)
        return {name: state.detach().numpy() for name, state in states().items()}


def cpp(value):
    if isinstance(value, tuple):
        return "{" + ", ".join(map(cpp, value)) + "}"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def distance(wanted, got):
    """The largest one, relative, and of which state."""
    worst = [(float(np.max(np.abs(array - got[name]), initial=0)) / (1e-3 + float(np.max(np.abs(array), initial=0))), name)
             for name, array in wanted.items()]
    return max((far if far == far else np.inf, name) for far, name in worst)


def sizes(states):
    """Of each state two sums."""
    weight = lambda array: np.cos(np.arange(array.size)).reshape(array.shape)
    return {name: [float(np.sum(array * array)), float(np.sum(array * weight(array)))] for name, array in sorted(states.items())}


class Trainings(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def check(self, seed, kept=None):
        training = Training(seed)
        with self.subTest(seed=seed, training=training.name):
            folder = os.path.join(self.folder, str(seed))
            os.makedirs(folder)
            final = training.run(folder)
            if torch:
                there = training.run_torch()
                self.assertEqual(set(there), set(final))
                worst, name = distance({name: np.asarray(array) for name, array in there.items()}, final)
                self.assertLess(worst, BOUND, name)
            if kept is None:
                return sizes(final)
            self.compare(final, kept)
        return None

    def compare(self, final, kept):
        self.assertEqual(set(kept), set(final))
        for name, numbers in sizes(final).items():
            np.testing.assert_allclose(numbers, kept[name], rtol=BOUND, atol=BOUND, err_msg=name)

    def test_kept(self):
        with open(KEPT, encoding="utf-8") as file:
            kept = json.load(file)
        self.assertEqual(len(kept), len(SEEDS))
        for seed in SEEDS:
            self.check(seed, kept[str(seed)])

    def test_a_difference_is_seen(self):
        with open(KEPT, encoding="utf-8") as file:
            kept = json.load(file)
        seed = next(seed for seed in SEEDS if "Rprop" not in Training(seed).name) # which sees signs alone
        training = Training(seed)
        training.here = training.here.replace("h + F::gelu(b(h))", "h + 1.001 * F::gelu(b(h))")
        final = training.run(self.folder)
        with self.assertRaises(AssertionError):
            self.compare(final, kept[str(seed)])

    def test_all_parts_are_drawn(self):
        drawn = {part["name"] for seed in SEEDS for part in Training(seed).parts}
        self.assertEqual({part["name"] for part in PARTS} - drawn, set())
        names = " ".join(Training(seed).name for seed in SEEDS)
        self.assertGreater(sum(name in names for name, _ in OPTIMIZERS), len(OPTIMIZERS) - 3)


def main():
    class Others(Trainings):
        def runTest(self):
            first, count = (int(text) for text in sys.argv[1:3])
            for seed in range(first, first + count):
                self.check(seed)

    if sys.argv[1:] == ["--write"]:
        test = Trainings()
        test.setUp()
        values = {str(seed): test.check(seed) for seed in SEEDS}
        with open(KEPT, "w", encoding="utf-8") as file:
            file.write("{\n" + ",\n".join(f'"{seed}": {json.dumps(value)}' for seed, value in values.items()) + "\n}\n")
        test.doCleanups()
    elif len(sys.argv) == 3:
        sys.exit(not unittest.TextTestRunner().run(Others()).wasSuccessful())
    else:
        unittest.main()


if __name__ == "__main__":
    main()
