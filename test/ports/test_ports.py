"""Known PyTorch programs, ported line by line, beside PyTorch: losses, lines, two devices.

f64: every loss of 100 steps within 1e-9 * max(1, |x|) of PyTorch's, and the sizes of the weights in the end. f32: the distance
to PyTorch's f64 losses is at most twice that of PyTorch in f32, plus 4 ULP. Where PyTorch can be imported it runs along, and
must agree with what losses/ keeps of it: test/ports/run.py --write.
"""

import json
import os
import re
import shutil
import tempfile
import unittest

import numpy as np

import dltools

from . import ours
from .cases import BY_NAME, HERE, PORTS

try:
    from . import twins
except ImportError:
    twins = None

ULP = 2.0 ** -23
MOST_LINES = 1.1


def load(port):
    with open(port.curve(), encoding="utf-8") as file:
        return json.load(file)


def lines(path):
    """Those that are not empty and no comment."""
    with open(path, encoding="utf-8") as file:
        return sum(not re.fullmatch(r"\s*((//|#(?!include)).*)?", line.rstrip("\n")) for line in file)


def line_ratio(port):
    return lines(port.path("model.dl")) / lines(port.path("model.py"))


def distance(got, want):
    """The largest error, relative to values above 1; infinite where the lengths differ."""
    want = np.array(want)
    if got is None or got.shape != want.shape:
        return np.inf
    return float(np.max(np.nan_to_num(np.abs(got - want) / np.maximum(1, np.abs(want)), nan=np.inf)))


def problems_f64(got, weights, kept):
    """What is wrong with a run in f64, as lines."""
    wrong = [] if sorted(got) == sorted(kept["f64"]) else [f"scalars {sorted(got)}, PyTorch has {sorted(kept['f64'])}"]
    for name, want in kept["f64"].items():
        error = distance(got.get(name), want)
        if not error <= 1e-9:
            wrong.append(f"{name}: off by {error:.2g}, 1e-9 is allowed")
    sizes = {name: float(np.linalg.norm(array.astype(np.float64))) for name, array in weights.items()}
    if sorted(sizes) != sorted(kept["norms"]):
        return wrong + [f"weights {sorted(sizes)}, PyTorch has {sorted(kept['norms'])}"]
    return wrong + [f"{name}: its size is {sizes[name]}, in PyTorch {want}"
                    for name, want in kept["norms"].items() if not abs(sizes[name] - want) <= 1e-9 * max(1, want)]


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def distances_f32(got, kept):
    """(scalar, our distance, the distance allowed) of a run in f32."""
    for name, want in kept["f64"].items():
        want = np.array(want)
        same = got[name].shape == want.shape
        yield name, rms(got[name] - want) if same else np.inf, 2 * kept["f32_rms"][name] + 4 * ULP * rms(want)


class Ports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="dl-ports-")
        self.addCleanup(shutil.rmtree, self.folder)

    def reference(self, port):
        """PyTorch's losses: of now where it is there, and then equal to those kept."""
        kept = load(port)
        if twins is None:
            return kept
        now = twins.make(port)
        for name, curve in kept["f64"].items():
            error = distance(np.array(now["f64"][name]), curve)
            self.assertLess(error, 1e-10, f"{name}: PyTorch differs from losses/{port.name}.json; run test/ports/run.py --write")
        return now

    def check(self, port):
        reference = self.reference(port)
        ours.write(port, self.folder)
        got, weights = ours.train(port, self.folder, "f64")
        wrong = problems_f64(got, weights, reference)
        single, _ = ours.train(port, self.folder, "f32")
        report = []
        for name, far, allowed in distances_f32(single, reference):
            report.append(f"{name} {far:.1e} of {allowed:.1e}")
            if not far <= allowed:
                wrong.append(f"{name}: f32 is {far:.2g} from the f64 losses, {allowed:.2g} is allowed")
        worst = max(distance(got.get(name), want) for name, want in reference["f64"].items())
        print(f"{port.name}: lines {line_ratio(port):.2f}, f64 {worst:.1e}, f32 {', '.join(report)}", flush=True)
        if port.mesh:
            divided, _ = ours.train(port, self.folder, "f64", "--mesh", "dp=2")
            for name, want in got.items():
                error = distance(divided.get(name), want)
                if not error <= 1e-10:
                    wrong.append(f"{name}: on two devices off by {error:.2g}, 1e-10 is allowed")
        self.assertEqual(wrong, [])

    def test_lines(self):
        """No port is longer than its twin by more than a tenth."""
        self.assertEqual({port.name: line_ratio(port) for port in PORTS if line_ratio(port) > MOST_LINES}, {})

    def test_every_folder_is_a_port(self):
        folders = {name for name in os.listdir(HERE) if os.path.exists(os.path.join(HERE, name, "model.dl"))}
        self.assertEqual(folders, set(BY_NAME))
        self.assertGreaterEqual(sum(port.mesh for port in PORTS), 5)

    def test_control(self):
        """A learning rate that is off by a millionth is found out, and two equal halves of a batch instead of two."""
        port = BY_NAME["mlp"]
        ours.write(port, self.folder)
        path = os.path.join(self.folder, "model.dl")
        text = port.text("model.dl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(".lr = 0.05", ".lr = 0.05000005"))
        got, weights = ours.train(port, self.folder, "f64")
        self.assertNotEqual(problems_f64(got, weights, load(port)), [])


def add_tests():
    for port in PORTS:
        def test(self, port=port):
            self.check(port)
        setattr(Ports, "test_" + port.name, test)


add_tests()
