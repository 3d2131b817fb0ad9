#!/usr/bin/python3
"""Each op against PyTorch in f64: its value, and the gradients of all of them together.

Without PyTorch the sums of op_values.json are compared, which `test/parity/test_ops.py --write` makes with it.
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
from numpy_twin import safetensors
from parity.op_cases import CASES, SHAPES

try:
    import torch
    import torch.nn.functional as F
    import torch.distributions as D
except ImportError:
    torch = F = D = None

# Gradients of these would hide all others of their parameter.
STEEP = {"x.pow(-2)": 1e-5, "x.abs().pow(y)": 1e-3, "(x * 1e6) % 0.1": 1e-5, "(x * 9).tan()": 1e-5, "(x * 9).sinh()": 1e-9,
         "(x * 9).cosh()": 1e-9, "dl::sinh(x * 100)": 1e-117}
KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "op_values.json")


def parameters():
    rng = np.random.default_rng(1)
    values = {name: rng.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}
    values["z"] = np.tile(np.array([[0, 1, -1, 2, 2]], np.float32), (3, 1))
    values["z"][1, 0] = 1
    return values


def weights_of(count):
    """No two elements of a value count the same."""
    return np.cos(np.arange(count, dtype=np.float64))


def program():
    """All values as metrics, and the gradients of one loss of all of them."""
    members = "".join(f"  dl::Parameter {name} = dl::zeros({{{', '.join(map(str, shape))}}});\n"
                      for name, shape in SHAPES.items())
    lines = [f"    auto &{name} = m.{name};" for name in SHAPES] + ["    dl::Tensor loss = b[0].sum();"]
    for i, (text, _) in enumerate(CASES):
        lines += [f'    {{ dl::Tensor v = {text}; r.add("v{i}", v); if (v.is_floating_point()) loss = loss + '
                  f"(v * dl::arange(v.numel()).to(dl::kFloat).cos().view(v.sizes())).sum() * dl::cos({i}.0) * {STEEP.get(text, 1.0)}; }}"]
    lines += ["    optimizer.zero_grad();", "    loss.backward();", "    optimizer.step();"]
    lines += [f'    r.add("grad.{name}", {name}.grad());' for name in SHAPES]
    return ("#include <dl/dl.h>\nnamespace nn = dl::nn;\nnamespace F = dl::F;\nnamespace D = dl::distributions;\n\nstruct Net : nn::Module {\n" + members +
            '};\n\nvoid dl_main(dl::Program &p) {\n  auto data = dl::data::TensorDataset({"zero.npy"}, {.batch_size = 1});\n'
            "  Net m;\n  dl::optim::SGD optimizer(m.parameters(), {.lr = 0.0});\n"
            "  p.train(data, [&](dl::Batch b) -> dl::Metrics {\n    dl::Metrics r;\n" + "\n".join(lines) +
            "\n    return r;\n  });\n}\n")


def ours():
    """Name to array."""
    folder = tempfile.mkdtemp(prefix="dl-ops-")
    try:
        with open(os.path.join(folder, "ops.dl"), "w", encoding="utf-8") as file:
            file.write(program())
        np.save(os.path.join(folder, "zero.npy"), np.zeros((1, 1), np.float32))
        safetensors.save(os.path.join(folder, "initial.safetensors"), parameters())
        dltools.dlcc("ops.dl", "--dtype=f64", "-o", "ops.plan", cwd=folder)
        dltools.dlrun("ops.plan", "--steps", 1, "-q", "--init", "initial.safetensors", "--save-metrics",
                      "values.safetensors", cwd=folder)
        return safetensors.load(os.path.join(folder, "values.safetensors"))
    finally:
        shutil.rmtree(folder)


def theirs():
    torch.set_default_dtype(torch.float64)
    D.Distribution.set_default_validate_args(False)  # of what a distribution is made of, too
    try:
        names = {n: torch.tensor(v.astype(np.float64), requires_grad=True) for n, v in parameters().items()}
        values, loss = {}, 0
        for i, (ours_text, text) in enumerate(CASES):
            value = eval(text, {"torch": torch, "F": F, "D": D, **names})  # pylint: disable=eval-used
            values[f"v{i}"] = value.detach().numpy()
            if value.is_floating_point():
                loss = loss + (value * torch.from_numpy(weights_of(value.numel())).view(value.shape)).sum() * np.cos(float(i)) * STEEP.get(
                    ours_text, 1.0)
        loss.backward()
        return values | {f"grad.{n}": v.grad.numpy() for n, v in names.items()}
    finally:
        torch.set_default_dtype(torch.float32)


def digest(array):
    """What is kept of a value: its shape and a sum in which every element counts."""
    flat = np.asarray(array, np.float64).ravel()
    return [list(np.shape(array)), float(flat @ weights_of(flat.size)), float(np.abs(flat).sum())]


def differs(got, want, kept):
    """What is wrong with a value, or None. `want`: PyTorch's, if it is there."""
    if want is not None:
        if np.shape(got) != np.shape(want):
            return f"shape {np.shape(got)}, PyTorch has {np.shape(want)}"
        if np.asarray(got).dtype.kind != np.asarray(want).dtype.kind:
            return f"holds {np.asarray(got).dtype}, PyTorch has {np.asarray(want).dtype}"
        if np.asarray(got).dtype.kind != "f":
            return None if np.array_equal(got, want) else f"is {got}, PyTorch has {want}"
        error = np.max(np.abs(got - want)) / max(1.0, np.max(np.abs(want)))
        return None if error <= 1e-11 else f"differs by {error:.3g}"
    shape, total, size = digest(got)
    if shape != kept[0]:
        return f"shape {shape}, PyTorch has {kept[0]}"
    return None if abs(total - kept[1]) <= 1e-10 * max(1, kept[2]) and abs(size - kept[2]) <= 1e-10 * max(1, kept[2]) \
        else f"sums are {total} and {size}, PyTorch has {kept[1]} and {kept[2]}"


class Ops(unittest.TestCase):
    def test_values_and_gradients(self):
        with open(KEPT, encoding="utf-8") as file:
            kept = json.load(file)
        got, want = ours(), theirs() if torch else {}
        texts = {f"v{i}": text for i, (text, _) in enumerate(CASES)}
        self.assertEqual(sorted(got), sorted(kept))
        wrong = [(texts.get(name, name), differs(got[name], want.get(name), kept[name])) for name in kept]
        wrong = [f"{text}: {problem}" for text, problem in wrong if problem]
        self.assertEqual(wrong, [])
        self.assertEqual(set(STEEP) - set(texts.values()), set())
        for name in SHAPES:
            self.assertLess(kept[f"grad.{name}"][2], 1e5, "one op's gradient hides the others'")
        # The values that are kept are PyTorch's, and show a wrong one.
        for name, value in want.items():
            self.assertIsNone(differs(value, None, kept[name]), texts.get(name, name))
        self.assertIsNotNone(differs(got["v0"] * (1 + 1e-8), None, kept["v0"]))
        self.assertIsNotNone(differs(got["v0"].T, None, kept["v0"]))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        with open(KEPT, "w", encoding="utf-8") as out:
            lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(digest(value))}" for name, value in theirs().items())
            out.write("{\n" + lines + "\n}\n")
    else:
        unittest.main()
