"""Training curves against PyTorch's, from the same weights and batches.

f64: every step's scalars within 1e-9 of PyTorch's, and the weights' sizes in the end. f32: the root of the mean square
distance to the f64 curve is at most twice that of PyTorch in f32, plus 4 ULP of the loss. bf16: at most three times that of
PyTorch's autocast, and over all cases no more in the mean: what is rounded once moves a whole curve, so that one
distance is one draw. And no weight has lost the bits that bf16 has not. f64 and f32 both with the kernels for AVX2
and, where the processor has it, with those for AVX-512. Where PyTorch can be imported it runs along, and must agree with
the curves that are kept in curves/. A device that is emulated takes a quarter of the steps in f64.
"""

import os
import shutil
import tempfile
import unittest

import numpy as np

import dltools

from . import curves, ours
from .cases import BY_NAME, CASES, STEPS

try:
    from . import oracle
except ImportError:
    oracle = None

ULP = 2.0 ** -23


def differences_f64(got, weights, kept, count=STEPS):
    """What is wrong with a run of so many steps in f64, as lines."""
    wrong = []
    if sorted(got) != sorted(kept["f64"]):
        return [f"scalars {sorted(got)}, PyTorch has {sorted(kept['f64'])}"]
    for name, want in kept["f64"].items():
        want = np.array(want)[:count]
        if len(got[name]) != len(want):
            return [f"{len(got[name])} steps"]
        error = np.nan_to_num(np.abs(got[name] - want) / np.abs(want), nan=np.inf)
        if not np.all(error <= 1e-9):
            wrong.append(f"{name}: {np.max(error):.2g} at step {int(np.argmax(error)) + 1}, 1e-9 is allowed")
    if count < STEPS:  # no weights of then are kept
        return wrong
    sizes = curves.norms(weights)
    if sorted(sizes) != sorted(kept["norms"]):
        return wrong + [f"weights {sorted(sizes)}, PyTorch has {sorted(kept['norms'])}"]
    for name, want in kept["norms"].items():
        if not abs(sizes[name] - want) <= 1e-9 * want:
            wrong.append(f"{name}: its size is {sizes[name]}, in PyTorch {want}")
    return wrong


def distances_bf16(got, kept):
    """(scalar, our distance, that of PyTorch) of a run in mixed precision, where rounding is seen at all."""
    for name, theirs in kept["bf16_rms"].items():
        want = np.array(kept["f64"][name])
        if theirs > 64 * ULP * curves.rms(want):
            yield name, curves.rms(got[name] - want), theirs


def distances_f32(got, kept):
    """(scalar, our distance, the distance allowed) of a run in f32."""
    for name, want in kept["f64"].items():
        want = np.array(want)
        allowed = 2 * kept["f32_rms"][name] + 4 * ULP * curves.rms(want)
        yield name, curves.rms(got[name] - want), allowed


class Parity(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="dl-parity-")
        self.addCleanup(shutil.rmtree, self.folder)

    def reference(self, case):
        """PyTorch's curves: of now where it is there, and then equal to those kept."""
        kept = curves.load(case)
        if oracle is None:
            return kept
        now = curves.make(case)
        for name, curve in now["f64"].items():
            error = np.max(np.abs(np.array(curve) - kept["f64"][name]) / np.abs(curve))
            self.assertLess(error, 1e-10, f"{name}: PyTorch differs from curves/{case.name}.json; run test/parity/curves.py")
        return now

    def problems(self, case, reference, cpu):
        """What is wrong with a case's runs, as lines."""
        folder = os.path.join(self.folder, case.name)
        os.makedirs(folder)
        ours.write_data(case, folder)
        count = STEPS // 4 if dltools.ON_CUDA and not case.turns else STEPS
        got, weights = ours.train(case, folder, "f64", cpu=cpu, count=count)
        wrong = differences_f64(got, weights, reference, count)
        worst = max(float(np.max(np.abs(got[name] - want[:count]) / np.abs(want[:count]))) for name, want in reference["f64"].items())
        got, _ = ours.train(case, folder, "f32", cpu=cpu)
        report = []
        for name, distance, allowed in distances_f32(got, reference):
            report.append(f"{name} {distance:.1e} of {allowed:.1e}")
            if not distance <= allowed:
                wrong.append(f"{name}: f32 is {distance:.2g} from the f64 curve, {allowed:.2g} is allowed")
        print(f"{case.name}, {cpu}: f64 {worst:.1e}, f32 {', '.join(report)}", flush=True)
        return [f"{case.name}: {line}" for line in wrong]

    def check(self, case):
        self.assertEqual(self.problems(case, self.reference(case), "x86-64-v3"), [])

    def test_bf16(self):
        wrong, logarithms = [], []
        for case in CASES:
            if dltools.ON_CUDA and "Mesh" in case.text():
                continue
            folder = os.path.join(self.folder, case.name)
            os.makedirs(folder)
            ours.write_data(case, folder)
            got, weights = ours.train(case, folder, "bf16")
            self.assertTrue(all(np.all(np.isfinite(curve)) for curve in got.values()), case.name)
            wrong += [f"{case.name}, {name}: rounded to bf16" for name, array in weights.items()
                      if array.dtype == np.float32 and np.unique(array).size > 2 and not np.any(array.view(np.uint32) & 0xFFFF)]
            found = list(distances_bf16(got, curves.load(case)))
            print(f"{case.name}: bf16 {', '.join(f'{name} {ours_:.1e} of {theirs:.1e}' for name, ours_, theirs in found)}", flush=True)
            wrong += [f"{case.name}, {name}: {ours_ / theirs:.1f} times that of PyTorch" for name, ours_, theirs in found if not ours_ <= 3 * theirs]
            logarithms += [np.log(ours_ / theirs) for _, ours_, theirs in found]
        self.assertEqual(wrong, [])
        self.assertGreater(len(logarithms), 30)
        self.assertLess(np.exp(np.mean(logarithms)), 1)

    def test_control_bf16(self):
        """A run in f32 is far nearer: what is compared is the rounding."""
        case = BY_NAME["attention"]
        ours.write_data(case, self.folder)
        got, _ = ours.train(case, self.folder, "f32")
        self.assertTrue(all(ours_ < 0.05 * theirs for _, ours_, theirs in distances_bf16(got, curves.load(case))))

    @unittest.skipIf(dltools.ON_CUDA, "about kernels for CPUs")
    @unittest.skipUnless(dltools.has_avx512(), "this processor has no AVX-512: only the kernels for AVX2 are compared")
    def test_avx512(self):
        # The kept curves: that PyTorch still agrees with them is asked above, case by case.
        wrong = [line for case in CASES for line in self.problems(case, curves.load(case), "x86-64-v4")]
        self.assertEqual(wrong, [])

    def test_every_source_is_here(self):
        """No .dl of the examples, nor of the models, is without a case."""
        sources = {os.path.relpath(os.path.join(folder, name), dltools.ROOT)
                   for root in ("examples", "test/parity/models")
                   for folder, _, names in os.walk(os.path.join(dltools.ROOT, root)) for name in names if name.endswith(".dl")}
        self.assertEqual(sources, {case.source for case in CASES})

    def refuse(self, name, setting):
        """Control: a model that differs a little is found out."""
        case = BY_NAME[name]
        ours.write_data(case, self.folder)
        got, weights = ours.train(case, self.folder, "f64", "-D", setting)
        self.assertNotEqual(differences_f64(got, weights, curves.load(case)), [], setting)

    def test_control_lr(self):
        self.refuse("mlp_adamw", f"lr={3e-3 * (1 + 1e-6)!r}")

    def test_control_beta2(self):
        self.refuse("mlp_adamw", f"beta2={0.98 * (1 + 1e-6)!r}")

    def test_control_lr_of_sgd(self):
        self.refuse("frozen_backbone", f"lr={0.05 * (1 + 1e-6)!r}")

    def test_control_lr_of_attention(self):
        self.refuse("attention", f"lr={2e-3 * (1 + 1e-6)!r}")

    def test_control_f32(self):
        case = BY_NAME["mlp_adamw"]
        ours.write_data(case, self.folder)
        got, _ = ours.train(case, self.folder, "f32", "-D", f"lr={3e-3 * (1 + 1e-4)!r}")
        self.assertTrue(any(distance > allowed for _, distance, allowed in distances_f32(got, curves.load(case))))


def add_tests():
    for case in CASES:
        def test(self, case=case):
            self.check(case)
        setattr(Parity, "test_" + case.name.replace("/", "_"), test)


add_tests()
