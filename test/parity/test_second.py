#!/usr/bin/python3
"""Second derivatives of each op against PyTorch's in f64: what dl::autograd::grad makes of a gradient with create_graph.

Of each case a number is compared in which every element of its product of Hessian and vector counts; PyTorch's are kept in
second_values.json, which `test/parity/test_second.py --write` makes with it.
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
from parity.op_cases import CASES, SHAPES
from parity.test_ops import parameters, weights_of

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "second_values.json")
# z is where their slopes have a kink, of which PyTorch takes the other side. Of one triangle of a symmetric matrix PyTorch
# has the derivatives of the whole, which are no derivatives of its own first ones.
KINKS = ("F::elu(z", "F::celu(z", "F::selu(z", "F::huber_loss(z", "dl::linalg::eigvalsh((z.mT().matmul(z) + dl::arange(5).to(dl::kFloat).diag()).triu()")
NAMES = list(SHAPES)


def direction(count, k):
    """What the gradient of parameter k is multiplied with."""
    return np.sin(np.arange(count) * 0.7 + k)


def program(texts):
    """A metric for each case."""
    members = "".join(f"  dl::Parameter {name} = dl::zeros({{{', '.join(map(str, shape))}}});\n"
                      for name, shape in SHAPES.items())
    lines = [f"    auto &{name} = m.{name};" for name in SHAPES]
    lines += [f'    second(r, "{i}", {text}, {{{", ".join(NAMES)}}});' for i, text in enumerate(texts)]
    return ("""#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;
namespace D = dl::distributions;

// Each parameter is used, if only with a factor of 0.
dl::Tensor with(dl::Tensor value, const dl::TensorList &all) {
  for (auto &one : all)
    value = value + one.sum() * 0;
  return value;
}
dl::Tensor counted(dl::Tensor v) { return (v * dl::arange(v.numel()).to(dl::kFloat).cos().view(v.sizes())).sum(); }
void second(dl::Metrics &r, const char *name, dl::Tensor v, dl::TensorList all) {
  auto slopes = dl::autograd::grad(with(counted(v + v * v / 2), all), all, {.create_graph = true});
  dl::Tensor along = dl::zeros({});
  for (int k = 0; k < slopes.size(); ++k) {
    auto direction = (dl::arange(slopes[k].numel()).to(dl::kFloat) * 0.7 + k).sin();
    along = along + (slopes[k] * direction.view(slopes[k].sizes())).sum();
  }
  dl::Tensor sum = dl::zeros({});
  for (auto &h : dl::autograd::grad(with(along, all), all))
    sum = sum + counted(h);
  r.add(name, sum);
}

struct Net : nn::Module {
""" + members + """};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"zero.npy"}, {.batch_size = 1});
  Net m;
  p.eval("all", data, [&](dl::Batch b) -> dl::Metrics {
    dl::Metrics r;
""" + "\n".join(lines) + "\n    return r;\n  });\n}\n")


def ours(texts):
    folder = tempfile.mkdtemp(prefix="dl-second-")
    try:
        with open(os.path.join(folder, "ops.dl"), "w", encoding="utf-8") as file:
            file.write(program(texts))
        np.save(os.path.join(folder, "zero.npy"), np.zeros((1, 1), np.float32))
        safetensors.save(os.path.join(folder, "initial.safetensors"), parameters())
        dltools.dlcc("ops.dl", "--dtype=f64", "-o", "ops.plan", cwd=folder)
        text = dltools.run(dltools.DLRUN, "eval", "ops.plan", "--init", "initial.safetensors", "--json", cwd=folder)
        event = next(e for e in map(json.loads, text.splitlines()) if e["event"] == "eval")
        return [float(event[str(i)]) for i in range(len(texts))]
    finally:
        shutil.rmtree(folder)


def theirs(text):
    """PyTorch's number and the size of what it is a sum of; None where it has no second derivative."""
    import torch

    leaves = {n: torch.tensor(v.astype(np.float64), requires_grad=True) for n, v in parameters().items()}
    unused = sum(leaf.sum() for leaf in leaves.values()) * 0
    space = {"torch": torch, "F": torch.nn.functional, "D": torch.distributions, **leaves}
    value = eval(text, space)  # pylint: disable=eval-used
    if not value.is_floating_point():
        return None
    try:
        slopes = torch.autograd.grad(((value + value * value / 2) * torch.from_numpy(weights_of(value.numel())).view(value.shape)).sum() + unused,
                                     list(leaves.values()), create_graph=True)
        along = sum((s * torch.from_numpy(direction(s.numel(), k)).view(s.shape)).sum() for k, s in enumerate(slopes))
        second = torch.autograd.grad(along + unused, list(leaves.values()))
    except RuntimeError as error:
        if "is not implemented" in str(error) or "is unsupported" in str(error):
            return None
        raise
    flat = [h.numpy().ravel() for h in second]
    number = float(sum(h @ weights_of(h.size) for h in flat)), float(sum(np.abs(h).sum() for h in flat))
    return number if np.isfinite(number).all() else None


def write():
    import torch

    torch.set_default_dtype(torch.float64)
    torch.distributions.Distribution.set_default_validate_args(False)  # of what a distribution is made of, too
    warnings.simplefilter("ignore")
    found = {text: theirs(other) for text, other in CASES if not text.startswith(KINKS)}
    lines = ",\n".join(f"{json.dumps(text)}: {json.dumps(number)}" for text, number in found.items() if number)
    with open(KEPT, "w", encoding="utf-8") as out:
        out.write("{\n" + lines + "\n}\n")


class Second(unittest.TestCase):
    def test_against_pytorch(self):
        with open(KEPT, encoding="utf-8") as file:
            kept = json.load(file)
        known = {text for text, _ in CASES}
        self.assertEqual(set(kept) - known, set())
        self.assertGreater(sum(size > 0 for _, size in kept.values()), 200)
        got = ours(list(kept))
        wrong = [f"{text}: {number}, PyTorch has {want}" for (text, (want, size)), number in zip(kept.items(), got)
                 if not abs(number - want) <= 1e-10 * max(1, size)]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()
