#!/usr/bin/python3
"""Learning rates of schedulers, and what optimizers make of weights, against PyTorch in f64, step by step.

Without PyTorch its sequences in schedule_values.json are compared, which `test/parity/test_schedules.py --write` makes
with it (1.13).
"""

import json
import os
import shutil
import sys
import tempfile
import unittest
import warnings

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import dltools
from numpy_twin import safetensors

try:
    import torch
except ImportError:
    torch = None

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schedule_values.json")
STEPS, BATCHES = 36, 4  # in all, in an epoch
SIZE = 3

SGD = ("SGD", "{.lr = 0.1}", "SGD([p], lr=0.1)")
MOMENTUM = ("SGD", "{.lr = 0.1, .momentum = 0.9}", "SGD([p], lr=0.1, momentum=0.9)")
ADAM = ("Adam", "{.lr = 0.02}", "Adam([p], lr=0.02)")
WARM = ("S::LinearLR a{i}(o{i}, {{.start_factor = 0.1, .total_iters = 6}});", "a = S.LinearLR(o, 0.1, total_iters=6)")

# An optimizer, a scheduler in C++ and in Python ("" for none), and whether it is stepped by epoch.
SCHEDULES = [
    (SGD, "S::StepLR s{i}(o{i}, 3, {{.gamma = 0.5}});", "s = S.StepLR(o, 3, gamma=0.5)", False),
    (ADAM, "S::StepLR s{i}(o{i}, 2);", "s = S.StepLR(o, 2)", True),
    (SGD, "S::MultiStepLR s{i}(o{i}, {{2, 7, 7, 20}});", "s = S.MultiStepLR(o, [2, 7, 7, 20])", False),
    (SGD, "S::ConstantLR s{i}(o{i});", "s = S.ConstantLR(o)", False),
    (SGD, "S::ConstantLR s{i}(o{i}, {{.factor = 0.25, .total_iters = 3}});", "s = S.ConstantLR(o, 0.25, 3)", True),
    (SGD, "S::LinearLR s{i}(o{i});", "s = S.LinearLR(o)", False),
    (MOMENTUM, "S::LinearLR s{i}(o{i}, {{.start_factor = 0.5, .end_factor = 0.01, .total_iters = 11}});",
     "s = S.LinearLR(o, 0.5, 0.01, 11)", False),
    (SGD, "S::ExponentialLR s{i}(o{i}, 0.9);", "s = S.ExponentialLR(o, 0.9)", False),
    (SGD, "S::PolynomialLR s{i}(o{i});", "s = S.PolynomialLR(o)", False),
    (SGD, "S::PolynomialLR s{i}(o{i}, {{.total_iters = 9, .power = 2.5}});", "s = S.PolynomialLR(o, 9, 2.5)", False),
    (SGD, "S::CosineAnnealingLR s{i}(o{i}, 10);", "s = S.CosineAnnealingLR(o, 10)", False),
    (ADAM, "S::CosineAnnealingLR s{i}(o{i}, 5, {{.eta_min = 0.003}});", "s = S.CosineAnnealingLR(o, 5, 0.003)", True),
    (SGD, "S::CosineAnnealingWarmRestarts s{i}(o{i}, 7);", "s = S.CosineAnnealingWarmRestarts(o, 7)", False),
    (SGD, "S::CosineAnnealingWarmRestarts s{i}(o{i}, 4, {{.T_mult = 2, .eta_min = 0.01}});",
     "s = S.CosineAnnealingWarmRestarts(o, 4, 2, 0.01)", False),
    (MOMENTUM, "S::OneCycleLR s{i}(o{i}, 0.3, {{.total_steps = 37}});", "s = S.OneCycleLR(o, 0.3, total_steps=37)", False),
    (ADAM, 'S::OneCycleLR s{i}(o{i}, 0.3, {{.epochs = 9, .steps_per_epoch = 5, .pct_start = 0.4, .anneal_strategy = "linear", '
     ".div_factor = 10, .final_div_factor = 50, .three_phase = true}});",
     "s = S.OneCycleLR(o, 0.3, epochs=9, steps_per_epoch=5, pct_start=0.4, anneal_strategy='linear', div_factor=10, "
     "final_div_factor=50, three_phase=True)", False),
    (MOMENTUM, "S::CyclicLR s{i}(o{i}, 0.01, 0.3, {{.step_size_up = 5, .step_size_down = 8}});",
     "s = S.CyclicLR(o, 0.01, 0.3, step_size_up=5, step_size_down=8)", False),
    (MOMENTUM, 'S::CyclicLR s{i}(o{i}, 0.01, 0.3, {{.step_size_up = 4, .mode = "triangular2", .base_momentum = 0.7, .max_momentum = 0.95}});',
     "s = S.CyclicLR(o, 0.01, 0.3, step_size_up=4, mode='triangular2', base_momentum=0.7, max_momentum=0.95)", False),
    (SGD, 'S::CyclicLR s{i}(o{i}, 0.01, 0.3, {{.step_size_up = 6, .mode = "exp_range", .gamma = 0.9, .cycle_momentum = false}});',
     "s = S.CyclicLR(o, 0.01, 0.3, step_size_up=6, mode='exp_range', gamma=0.9, cycle_momentum=False)", False),
    (SGD, "S::LambdaLR s{i}(o{i}, [](dl::Scalar t) {{ return dl::pow(0.95, t) / (1 + t); }});",
     "s = S.LambdaLR(o, lambda t: 0.95 ** t / (1 + t))", False),
    (SGD, "S::LambdaLR s{i}(o{i}, [](auto t) {{ return dl::where(t < 4, (t + 1) / 4, dl::minimum(1.0, 2 / dl::sqrt(t))); }});",
     "s = S.LambdaLR(o, lambda t: (t + 1) / 4 if t < 4 else min(1.0, 2 / t ** 0.5))", True),
    (SGD, "S::MultiplicativeLR s{i}(o{i}, [](dl::Scalar) {{ return 0.95; }});", "s = S.MultiplicativeLR(o, lambda t: 0.95)", False),
    (ADAM, "S::MultiplicativeLR s{i}(o{i}, [](auto) {{ return 0.5; }});", "s = S.MultiplicativeLR(o, lambda t: 0.5)", True),
    (SGD, WARM[0] + " S::CosineAnnealingLR b{i}(o{i}, 20, {{.eta_min = 0.001}}); S::SequentialLR s{i}(o{i}, {{a{i}, b{i}}}, {{6}});",
     WARM[1] + "; b = S.CosineAnnealingLR(o, 20, 0.001); s = S.SequentialLR(o, [a, b], [6])", False),
    (SGD, WARM[0] + " S::ConstantLR b{i}(o{i}, {{.factor = 0.5}}); S::ExponentialLR c{i}(o{i}, 0.8); "
     "S::SequentialLR s{i}(o{i}, {{a{i}, b{i}, c{i}}}, {{4, 15}});",
     WARM[1] + "; b = S.ConstantLR(o, 0.5); c = S.ExponentialLR(o, 0.8); s = S.SequentialLR(o, [a, b, c], [4, 15])", False),
    (SGD, "S::ConstantLR a{i}(o{i}, {{.factor = 0.1, .total_iters = 2}}); S::ExponentialLR b{i}(o{i}, 0.9); "
     "S::ChainedScheduler s{i}(o{i}, {{a{i}, b{i}}});",
     "s = S.ChainedScheduler([S.ConstantLR(o, 0.1, 2), S.ExponentialLR(o, 0.9)])", False),
    (SGD, "S::LinearLR a{i}(o{i}, {{.start_factor = 0.3, .total_iters = 5}}); S::StepLR b{i}(o{i}, 3); S::ChainedScheduler s{i}({{a{i}, b{i}}});",
     "s = S.ChainedScheduler([S.LinearLR(o, 0.3, total_iters=5), S.StepLR(o, 3)])", False),
]
# Options in C++ and in Python.
OPTIMIZERS = [
    ("SGD", "{.lr = 0.1, .momentum = 0.9, .dampening = 0.5, .weight_decay = 0.1}",
     "SGD([p], lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.1)"),
    ("Adam", "{.betas = {0.8, 0.9}, .eps = 1e-3, .amsgrad = true}", "Adam([p], betas=(0.8, 0.9), eps=1e-3, amsgrad=True)"),
    ("AdamW", "{.lr = 0.05, .weight_decay = 0.3}", "AdamW([p], lr=0.05, weight_decay=0.3)"),
    ("Adagrad", "{}", "Adagrad([p])"),
    ("Adagrad", "{.lr = 0.1, .lr_decay = 0.2, .weight_decay = 0.1, .initial_accumulator_value = 0.3, .eps = 1e-4}",
     "Adagrad([p], lr=0.1, lr_decay=0.2, weight_decay=0.1, initial_accumulator_value=0.3, eps=1e-4)"),
    ("Adadelta", "{}", "Adadelta([p])"),
    ("Adadelta", "{.lr = 0.5, .rho = 0.8, .eps = 1e-3, .weight_decay = 0.1, .maximize = true}",
     "Adadelta([p], lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1, maximize=True)"),
    ("RMSprop", "{}", "RMSprop([p])"),
    ("RMSprop", "{.lr = 0.05, .alpha = 0.9, .eps = 1e-3, .weight_decay = 0.1, .momentum = 0.8, .centered = true}",
     "RMSprop([p], lr=0.05, alpha=0.9, eps=1e-3, weight_decay=0.1, momentum=0.8, centered=True)"),
    ("Adamax", "{}", "Adamax([p])"),
    ("Adamax", "{.lr = 0.05, .betas = {0.8, 0.9}, .eps = 1e-3, .weight_decay = 0.1, .maximize = true}",
     "Adamax([p], lr=0.05, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1, maximize=True)"),
    ("NAdam", "{}", "NAdam([p])"),
    ("NAdam", "{.lr = 0.05, .betas = {0.8, 0.9}, .eps = 1e-3, .weight_decay = 0.1, .momentum_decay = 0.02}",
     "NAdam([p], lr=0.05, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1, momentum_decay=0.02)"),
    ("RAdam", "{}", "RAdam([p])"),
    ("RAdam", "{.lr = 0.05, .betas = {0.8, 0.9}, .eps = 1e-3, .weight_decay = 0.1}",
     "RAdam([p], lr=0.05, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1)"),
    ("Rprop", "{}", "Rprop([p])"),
    ("Rprop", "{.lr = 0.1, .etas = {0.6, 1.5}, .step_sizes = {0.02, 0.3}, .maximize = true}",
     "Rprop([p], lr=0.1, etas=(0.6, 1.5), step_sizes=(0.02, 0.3), maximize=True)"),
    ("ASGD", "{}", "ASGD([p])"),
    ("ASGD", "{.lr = 0.05, .lambd = 0.1, .alpha = 0.6, .t0 = 9, .weight_decay = 0.1}",
     "ASGD([p], lr=0.05, lambd=0.1, alpha=0.6, t0=9, weight_decay=0.1)"),
    # Not in PyTorch 1.13, or not as in later versions: see below.
    ("NAdam", "{.lr = 0.05, .weight_decay = 0.1, .decoupled_weight_decay = true}", "Decoupled(NAdam([p], lr=0.05), 0.1)"),
    ("RAdam", "{.lr = 0.05, .weight_decay = 0.1, .decoupled_weight_decay = true}",
     "Decoupled(torch.optim.RAdam([p], lr=0.05), 0.1)"),
    ("Lion", "{}", "Lion([p])"),
    ("Lion", "{.lr = 0.01, .betas = {0.8, 0.7}, .weight_decay = 0.3}", "Lion([p], 0.01, (0.8, 0.7), 0.3)"),
]
CASES = SCHEDULES + [(one, "", "", False) for one in OPTIMIZERS]


def data():
    return np.random.RandomState(5).standard_normal((BATCHES, SIZE)).astype(np.float32)


def start(number):
    return np.random.RandomState(number).standard_normal(SIZE).astype(np.float32)


def program():
    """Every case has a parameter and an optimizer of its own; all are trained by one step."""
    made, steps, epochs = [], [], []
    for i, ((kind, options, _), scheduler, _, by_epoch) in enumerate(CASES):
        made.append(f"  dl::optim::{kind} o{i}({{m.p[{i}]}}, {options});\n  {scheduler.format(i=i)}\n")
        steps.append(f"    o{i}.step();\n")
        if scheduler:
            (epochs if by_epoch else steps).append(f"    s{i}.step();\n")
    return ("#include <dl/dl.h>\nnamespace nn = dl::nn;\nnamespace S = dl::optim::lr_scheduler;\n\n"
            f"struct Net : nn::Module {{\n  dl::Parameter p[{len(CASES)}];\n  Net() {{ for (auto &one : p) one = dl::zeros({{{SIZE}}}); }}\n}};\n\n"
            "void dl_main(dl::Program &p) {\n  auto data = dl::data::TensorDataset({\"x.npy\"}, {.batch_size = 1});\n  Net m;\n"
            + "".join(made) +
            "  p.train(data, [&](dl::Batch b) -> dl::Metrics {\n    dl::Tensor loss = dl::zeros({});\n"
            "    for (auto &one : m.p)\n      loss += ((one - b[0]) * (one - b[0])).sum() + one.sin().sum();\n    m.zero_grad();\n    loss.backward();\n"
            + "".join(steps) + "    return {{\"loss\", loss}};\n  });\n  p.each_epoch([&] {\n" + "".join(epochs) + "  });\n}\n")


def ours(*options):
    """The rates of each step by name, and in the end the weights and their averages."""
    folder = tempfile.mkdtemp(prefix="dl-schedules-")
    try:
        with open(os.path.join(folder, "m.dl"), "w", encoding="utf-8") as file:
            file.write(program())
        np.save(os.path.join(folder, "x.npy"), data())
        safetensors.save(os.path.join(folder, "init.safetensors"), {f"p.{i}": start(i) for i in range(len(CASES))})
        dltools.dlcc("m.dl", "--dtype=f64", "-o", "m.plan", *options, cwd=folder)
        events = dltools.events("m.plan", "--steps", STEPS, "--init", "init.safetensors", "--every", "log=1",
                                "--save-final", "out.safetensors", "--out", "run", cwd=folder)
        steps = [event for event in events if event["event"] == "step"]
        rates = {f"lr{i or ''}": [float(event[f"lr{i or ''}"]) for event in steps] for i in range(len(SCHEDULES))}
        weights = safetensors.load(os.path.join(folder, "out.safetensors"))
        (checkpoint,) = os.listdir(os.path.join(folder, "run", "checkpoints"))
        states = safetensors.load(os.path.join(folder, "run", "checkpoints", checkpoint))
        weights |= {name[name.index("p."):]: value for name, value in states.items() if name.endswith(".ax")}
        return rates | {name: [float(x) for x in array] for name, array in weights.items()}
    finally:
        shutil.rmtree(folder)


class Lion:
    """As https://github.com/lucidrains/lion-pytorch, written from its README."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        (self.p,), self.lr, self.betas, self.decay, self.mean = params, lr, betas, weight_decay, 0

    def step(self):
        grad = self.p.grad
        with torch.no_grad():
            self.p -= self.lr * self.decay * self.p
            self.p -= self.lr * torch.sign(self.betas[0] * self.mean + (1 - self.betas[0]) * grad)
        self.mean = self.betas[1] * self.mean + (1 - self.betas[1]) * grad


class NAdam:
    """From the documentation of PyTorch 2: 1.13 has one factor too many, and its products are f32."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3):
        (self.p,), self.lr, self.betas, self.eps, self.decay, self.psi = params, lr, betas, eps, weight_decay, momentum_decay
        self.param_groups = [{"params": params, "lr": lr}]
        self.count, self.product, self.mean, self.square = 0, 1.0, 0, 0

    def step(self):
        self.count += 1
        grad = self.p.grad + self.decay * self.p.detach()
        now, following = (self.betas[0] * (1 - 0.5 * 0.96 ** (t * self.psi)) for t in (self.count, self.count + 1))
        self.product *= now
        self.mean = self.betas[0] * self.mean + (1 - self.betas[0]) * grad
        self.square = self.betas[1] * self.square + (1 - self.betas[1]) * grad ** 2
        mean = following * self.mean / (1 - self.product * following) + (1 - now) * grad / (1 - self.product)
        with torch.no_grad():
            self.p -= self.lr * mean / (torch.sqrt(self.square / (1 - self.betas[1] ** self.count)) + self.eps)


class ASGD:
    """From the documentation of PyTorch: its own rates are f32."""

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0):
        (self.p,), self.lr, self.lambd, self.alpha, self.t0, self.decay = params, lr, lambd, alpha, t0, weight_decay
        self.count, self.ax = 0, torch.zeros(SIZE)

    def step(self):
        eta = self.lr / (1 + self.lambd * self.lr * self.count) ** self.alpha
        with torch.no_grad():
            grad = self.p.grad + self.decay * self.p
            self.p *= 1 - self.lambd * eta
            self.p -= eta * grad
            self.ax = self.ax + (self.p - self.ax) / max(1, self.count - self.t0)
        self.count += 1


class Decoupled:
    """decoupled_weight_decay of later versions: the parameter shrinks first."""

    def __init__(self, optimizer, decay):
        self.optimizer, self.decay = optimizer, decay

    def step(self):
        group = self.optimizer.param_groups[0]
        with torch.no_grad():
            group["params"][0].mul_(1 - group["lr"] * self.decay)
        self.optimizer.step()


def theirs():
    batches = torch.from_numpy(data().astype(np.float64))
    result = {}
    warnings.simplefilter("ignore", UserWarning)  # PyTorch's SequentialLR about its own call
    for i, ((_, _, optimizer), _, scheduler, by_epoch) in enumerate(CASES):
        p = torch.tensor(start(i).astype(np.float64), requires_grad=True)
        names = {"torch": torch, "p": p, "S": torch.optim.lr_scheduler, "Lion": Lion, "NAdam": NAdam, "ASGD": ASGD, "Decoupled": Decoupled}
        own = optimizer.startswith(("Lion", "NAdam", "ASGD", "Decoupled"))
        names["o"] = eval(optimizer if own else "torch.optim." + optimizer, names)  # pylint: disable=eval-used
        exec(scheduler, names)  # pylint: disable=exec-used
        rates = []
        for step in range(STEPS):
            p.grad = None
            (((p - batches[step % BATCHES]) ** 2).sum() + p.sin().sum()).backward()
            if scheduler:
                rates.append(names["o"].param_groups[0]["lr"])
            names["o"].step()
            if scheduler and (not by_epoch or step % BATCHES == BATCHES - 1):
                names["s"].step()
        if scheduler:
            result[f"lr{i or ''}"] = rates
        result[f"p.{i}"] = p.tolist()
        if hasattr(names["o"], "ax"):
            result[f"p.{i}.ax"] = names["o"].ax.tolist()
    return result


def differing(got, want):
    """The names whose numbers are not equal up to 1e-12."""
    return [name for name in want if not np.allclose(got[name], want[name], rtol=1e-12, atol=1e-15)]


class Schedules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(KEPT, encoding="utf-8") as file:
            cls.kept = json.load(file)
        cls.got = ours()

    def test_as_pytorch(self):
        self.assertEqual(sorted(self.got), sorted(self.kept))
        self.assertEqual(differing(self.got, self.kept), [])

    def test_the_values_kept_are_pytorchs(self):
        if not torch:
            self.skipTest("needs PyTorch")
        self.assertEqual(differing(theirs(), self.kept), [])

    def test_a_wrong_rate_is_seen(self):
        """Each case depends on its numbers: a step later all rates that still change differ."""
        late = {name: values[1:] + values[-1:] for name, values in self.got.items() if name.startswith("lr")}
        self.assertEqual(sorted(differing(late, {name: self.kept[name] for name in late})), sorted(late))
        self.assertTrue(differing({"p.0": [x * (1 + 1e-9) for x in self.kept["p.0"]]}, {"p.0": self.kept["p.0"]}))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        with open(KEPT, "w", encoding="utf-8") as out:
            lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in theirs().items())
            out.write("{\n" + lines + "\n}\n")
    else:
        unittest.main()
