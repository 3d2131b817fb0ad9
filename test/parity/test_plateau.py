#!/usr/bin/python3
"""ReduceLROnPlateau against PyTorch's own class: the rates of each epoch, for metrics that are given.

Without PyTorch its sequences in plateau_values.json are compared, which `test/parity/test_plateau.py --write` makes with
it (1.13).
"""

import json
import os
import shutil
import sys
import tempfile
import unittest

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import dltools

try:
    import torch
except ImportError:
    torch = None

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plateau_values.json")
EPOCHS = 60

# Options in C++ and in Python, the learning rate, and how the metric goes.
CASES = [
    ("", "", 0.1, "noisy"),
    ('"min", {.patience = 2}', "patience=2", 0.1, "noisy"),
    ('"max", {.factor = 0.5, .patience = 1}', "mode='max', factor=0.5, patience=1", 0.3, "noisy"),
    ("{.factor = 0.7, .patience = 0, .cooldown = 3}", "factor=0.7, patience=0, cooldown=3", 0.1, "rising"),
    ("{.factor = 0.3, .patience = 1, .min_lr = 0.002}", "factor=0.3, patience=1, min_lr=0.002", 0.1, "rising"),
    ("{.patience = 0, .eps = 1e-3}", "patience=0, eps=1e-3", 0.1, "rising"),
    ('{.patience = 3, .threshold = 0.2, .threshold_mode = "abs"}', "patience=3, threshold=0.2, threshold_mode='abs'", 0.1,
     "falling"),
    ('{.mode = "max", .patience = 1, .threshold = 0.1}', "mode='max', patience=1, threshold=0.1", 0.1, "rising"),
    ('{.mode = "max", .patience = 2, .threshold = 0.1, .threshold_mode = "abs"}',
     "mode='max', patience=2, threshold=0.1, threshold_mode='abs'", 0.1, "rising"),
    ("{.factor = 0.9, .patience = 2}", "factor=0.9, patience=2", 0.1, "broken"),
    ("{.factor = 0, .patience = 4}", "factor=0, patience=4", 0.1, "rising"),
    ("{.threshold = 1}", "threshold=1", 0.1, "falling"),
]


def metrics(kind):
    t, noise = np.arange(EPOCHS), np.random.RandomState(3).standard_normal(EPOCHS)
    values = {"noisy": np.exp(-t / 10) + 0.05 * np.abs(noise), "rising": 0.5 + 0.02 * t, "falling": 2 - 0.03 * t,
              "broken": np.where(t % 3 == 1, np.nan, np.where(t > 40, np.inf, 1 + 0.1 * noise))}
    return values[kind]


def program():
    """Every case has a parameter, an optimizer and a metric of its own; the buffer counts the epochs, of one step each."""
    made = "".join(f"  dl::optim::SGD o{i}({{m.p[{i}]}}, {{.lr = {rate}}});\n"
                   f"  S::ReduceLROnPlateau s{i}(o{i}{options and ', ' + options});\n"
                   for i, (options, _, rate, _) in enumerate(CASES))
    return (f"""#include <dl/dl.h>
namespace nn = dl::nn;
namespace S = dl::optim::lr_scheduler;

struct Net : nn::Module {{
  dl::Parameter p[{len(CASES)}];
  dl::Buffer epochs = dl::zeros({{}}, dl::kInt64);
  Net() {{ for (auto &one : p) one = dl::zeros({{1}}); }}
}};

void dl_main(dl::Program &p) {{
  auto data = dl::data::TensorDataset({{"metrics.npy"}}, {{.batch_size = 1}});
  Net m;
{made}  p.train(data, [&](dl::Batch b) -> dl::Metrics {{
    dl::Tensor loss = b[0].sum() * 0;
    for (auto &one : m.p)
      loss += one.sum();
    m.zero_grad();
    loss.backward();
    m.epochs = m.epochs + 1;
""" + "".join(f"    o{i}.step();\n" for i in range(len(CASES))) + """    return {{"loss", loss}};
  });
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    auto now = b[0].squeeze(0).index_select(1, (m.epochs - 1).view({1})).squeeze(1);
    dl::Metrics metrics;
""" + "".join(f'    metrics.add("m{i}", now[{i}]);\n' for i in range(len(CASES))) + """    return metrics;
  });
""" + "".join(f'  s{i}.step("test.m{i}");\n' for i in range(len(CASES))) + "}\n")


def rates(events):
    steps = [event for event in events if event["event"] == "step"]
    return {f"lr{i or ''}": [float(event[f"lr{i or ''}"]) for event in steps] for i in range(len(CASES))}


class Plateaus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(KEPT, encoding="utf-8") as file:
            cls.kept = json.load(file)
        cls.folder = tempfile.mkdtemp(prefix="dl-plateau-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        with open(os.path.join(cls.folder, "m.dl"), "w", encoding="utf-8") as file:
            file.write(program())
        np.save(os.path.join(cls.folder, "metrics.npy"), np.array([[metrics(case[3]) for case in CASES]]))
        dltools.dlcc("m.dl", "--dtype=f64", "-o", "m.plan", cwd=cls.folder)

    def run_all(self, *arguments):
        return rates(dltools.events(*arguments, "--every", "log=1", cwd=self.folder))

    def test_as_pytorch(self):
        """To the last bit: the operations are PyTorch's."""
        self.assertEqual(self.run_all("m.plan", "--epochs", EPOCHS), self.kept)

    def test_the_values_kept_are_pytorchs(self):
        if not torch:
            self.skipTest("needs PyTorch")
        self.assertEqual(theirs(), self.kept)

    def test_each_case_reduces(self):
        """A case whose rate never changes would show nothing."""
        self.assertEqual([name for name, values in self.kept.items() if len(set(values)) == 1], [])

    def test_resumed_runs_go_on(self):
        """Counters, best values and rates are in the checkpoint."""
        for first in (1, 7, 23):
            out = f"run{first}"
            begun = self.run_all("m.plan", "--epochs", first, "--out", out)
            rest = self.run_all("resume", out, "--epochs", EPOCHS)
            self.assertEqual({name: begun[name] + rest[name] for name in begun}, self.kept)

    def test_a_rate_that_is_said_anew_is_reduced_from_there(self):
        self.run_all("m.plan", "--epochs", 20, "--out", "anew")
        got = self.run_all("resume", "anew", "--epochs", EPOCHS, "--set", "optim3.lr=8")["lr3"]
        factors = np.array(self.kept["lr3"][20:]) / self.kept["lr3"][20]
        np.testing.assert_allclose(got, 8 * factors, rtol=1e-12)

    def test_by_steps(self):
        """An evaluation each two steps: PyTorch's scheduler sees each second value."""
        got = self.run_all("m.plan", "--epochs", 20, "--every", "eval=2")
        kept = theirs(20, 2) if torch else None
        self.assertEqual(got["lr3"], kept["lr3"] if kept else got["lr3"])
        self.assertNotEqual(got["lr3"], self.kept["lr3"][:20])

    def test_the_last_of_a_run_that_goes_on(self):
        """--steps ends with an evaluation, which changes nothing of what comes later if none is due there."""
        whole = self.run_all("m.plan", "--epochs", 20, "--every", "eval=2")
        for first in 4, 7:
            out = f"until{first}"
            begun = self.run_all("m.plan", "--steps", first, "--every", "eval=2", "--out", out)
            rest = self.run_all("resume", out, "--steps", 20, "--every", "eval=2")
            self.assertEqual({name: begun[name] + rest[name] for name in begun}, whole)

    def test_a_min_lr_for_each_group(self):
        """Two groups have one least rate, one has another; all are reduced when the metric says so."""
        options = "patience=1, factor=0.5, min_lr=[0.04, 0.002, 0.04]"
        text = program()
        text = text[:text.index("  dl::optim::SGD")] + """  dl::optim::SGD o({{.params = m.p[0]}, {.params = m.p[1], .lr = 0.3}, {.params = m.p[2], .lr = 0.5}}, {.lr = 0.1});
  S::ReduceLROnPlateau s(o, {.factor = 0.5, .patience = 1, .min_lr = {0.04, 0.002, 0.04}});
""" + text[text.index("  p.train"):text.index("    o0.step()")] + "    o.step();\n" + text[text.index("    return {{"):text.index("  s0.step")]
        with open(os.path.join(self.folder, "groups.dl"), "w", encoding="utf-8") as file:
            file.write(text + '  s.step("test.m3");\n}\n')
        dltools.dlcc("groups.dl", "--dtype=f64", "-o", "groups.plan", cwd=self.folder)
        events = dltools.events("groups.plan", "--epochs", EPOCHS, "--every", "log=1", cwd=self.folder)
        got = [[float(event[name]) for name in ("lr", "lr.group1", "lr.group2")] for event in events if event["event"] == "step"]
        rates, bad, expected = [0.1, 0.3, 0.5], 0, []
        for epoch in range(EPOCHS):
            expected.append(rates)
            bad = bad + 1 if epoch else 0
            if bad > 1:
                rates, bad = [max(rate / 2, least) for rate, least in zip(rates, (0.04, 0.002, 0.04))], 0
        self.assertEqual(got, expected)
        if torch:
            optimizer = torch.optim.SGD([{"params": [torch.zeros(1)], "lr": lr} for lr in expected[0]], lr=1)
            scheduler = eval(f"torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, {options})")  # pylint: disable=eval-used
            for epoch, now in enumerate(expected):
                self.assertEqual([group["lr"] for group in optimizer.param_groups], now)
                scheduler.step(metrics("rising")[epoch])

    def test_without_evaluations(self):
        result = dltools.call([dltools.DLRUN, "m.plan", "--every", "eval=0", "--epochs", 3], cwd=self.folder)
        self.assertIn("warning: without evaluations (--every eval=0), ReduceLROnPlateau changes nothing", result.stderr)

    def test_it_is_said(self):
        result = dltools.call([dltools.DLRUN, "m.plan", "--epochs", 30], cwd=self.folder)
        self.assertIn("optim3.lr is 0.07 from here on: ReduceLROnPlateau\n", result.stderr)
        info = dltools.info("m.plan", cwd=self.folder)
        self.assertEqual(info["plateaus"][3], {
            "metric": "test.m3", "settings": ["optim3.lr"], "mode": "min", "factor": 0.7, "patience": 0, "threshold": 1e-4,
            "threshold_mode": "relative", "cooldown": 3, "min_lr": 0, "eps": 1e-8})


def theirs(epochs=EPOCHS, every=1):
    result = {}
    for i, (_, options, rate, kind) in enumerate(CASES):
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=rate)
        scheduler = eval(f"torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, {options})")  # pylint: disable=eval-used
        rates_of = result[f"lr{i or ''}"] = []
        for epoch in range(epochs):
            rates_of.append(optimizer.param_groups[0]["lr"])
            if epoch % every == every - 1:
                scheduler.step(metrics(kind)[epoch])
    return result


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        with open(KEPT, "w", encoding="utf-8") as out:
            lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in theirs().items())
            out.write("{\n" + lines + "\n}\n")
    else:
        unittest.main()
