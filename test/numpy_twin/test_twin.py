"""Tests of the twin itself: gradients against central differences, values against slow loops."""

import itertools
import unittest

import numpy as np

from . import choosing as H, contractions as C, elementwise as E, layers as Y, losses as L, philox as R, shaping as S
from .autodiff import Tape, backward, gradient_of
from .optimizers import SGD, Adam


def positive(values):
    return np.abs(values) + 0.5


# name: (function of Vars, shapes of the operands, domain of the operands)
CASES = {
    "neg": (E.neg, [(2, 3)]), "abs": (E.abs_, [(2, 3)]), "exp": (E.exp, [(2, 3)]), "log": (E.log, [(2, 3)], positive),
    "log1p": (E.log1p, [(2, 3)], lambda values: np.abs(values) - 0.5),
    "sqrt": (E.sqrt, [(2, 3)], positive), "rsqrt": (E.rsqrt, [(2, 3)], positive), "sin": (E.sin, [(2, 3)]),
    "cos": (E.cos, [(2, 3)]), "tanh": (E.tanh, [(2, 3)]), "sigmoid": (E.sigmoid, [(2, 3)]), "erf": (E.erf, [(2, 3)]),
    "silu": (E.silu, [(2, 3)]), "gelu": (E.gelu, [(2, 3)]), "gelu_tanh": (E.gelu_tanh, [(2, 3)]),
    "clamp": (lambda x: E.clamp(x, -0.4, 0.6), [(2, 5)]), "clamp_min": (lambda x: E.clamp(x, -0.1), [(2, 3)]),
    "relu": (E.relu, [(2, 3)]), "sign": (E.sign, [(2, 3)]), "floor": (E.floor, [(2, 3)]),
    "add": (E.add, [(2, 3), (3,)]), "sub": (E.sub, [(1, 3), (2, 1)]), "mul": (E.mul, [(), (2, 3)]),
    "div": (E.div, [(2, 1, 3), (4, 1)], positive), "pow": (E.pow_, [(2, 3), (3,)], positive),
    "square": (lambda x: E.pow_(x, 2.0), [(2, 3)]), "rdiv": (lambda x: E.div(1.5, x), [(2, 3)], positive),
    "maximum": (E.maximum, [(2, 3), (3,)]), "minimum": (E.minimum, [(2, 3), (2, 1)]),
    "maximum_constant": (lambda x: E.maximum(x, 0.1), [(2, 3)]),
    "where": (lambda a, b: E.where(E.compare(a, b, np.less), a, b), [(2, 3), (3,)]),
    "where_constant": (lambda a: E.where(E.compare(a, 0.2, np.greater), a, -0.7), [(2, 3)]),
    "sum": (S.sum_, [(2, 3, 4)]), "sum_dims": (lambda x: S.sum_(x, (0, -1)), [(2, 3, 4)]),
    "mean_keepdim": (lambda x: S.mean(x, (1,), True), [(2, 3, 4)]),
    "amax": (S.amax, [(2, 3)]), "amax_dims": (lambda x: S.amax(x, (0, 2), True), [(2, 3, 4)]),
    "max": (lambda x: S.max_(x, -2)[0], [(2, 3, 4)]), "max_keepdim": (lambda x: S.max_(x, 0, True)[0], [(2, 3)]),
    "amin": (lambda x: S.amin(x, (0, 2)), [(2, 3, 4)]), "min": (lambda x: S.min_(x, 1, True)[0], [(2, 3, 4)]),
    "var": (S.var, [(3, 4)]), "var_dims": (lambda x: S.var(x, (0, 2), 0, True), [(2, 3, 4)]),
    "std": (lambda x: S.std(x, (1,)), [(2, 3, 4)]), "logsumexp": (lambda x: S.logsumexp(x, (0, -1)), [(2, 3, 4)]),
    "index": (lambda x: S.index(x, np.s_[1, ..., None, 1:4:2]), [(2, 3, 5)]),
    "cat": (lambda a, b, c: S.cat([a, b, c], 1), [(2, 3), (2, 1), (2, 2)]),
    "stack": (lambda a, b: S.stack([a, b], -1), [(2, 3), (2, 3)]),
    "reshape": (lambda x: S.reshape(x, (4, -1)), [(2, 2, 3)]), "transpose": (lambda x: S.transpose(x, 0, -1), [(2, 3, 4)]),
    "squeeze": (lambda x: S.squeeze(x, 1), [(2, 1, 3)]), "unsqueeze": (lambda x: S.unsqueeze(x, -1), [(2, 3)]),
    "expand": (lambda x: S.expand(x, (4, 2, -1)), [(1, 3)]),
    "matmul": (C.matmul, [(2, 3), (3, 4)]), "matmul_batch": (C.matmul, [(2, 1, 2, 3), (4, 3, 2)]),
    "matmul_vectors": (C.matmul, [(3,), (3,)]), "matmul_left": (C.matmul, [(3,), (2, 3, 4)]),
    "matmul_right": (C.matmul, [(5, 2, 3), (3,)]),
    "einsum_scores": (lambda a, b: C.einsum("bthd,bshd->bhts", a, b), [(2, 3, 2, 4), (2, 5, 2, 4)]),
    "einsum_sums": (lambda a, b: C.einsum("xhd,hdoy->ox", a, b), [(2, 3, 4), (3, 4, 5, 2)]),
    "einsum_broadcast": (lambda a, b: C.einsum("bmk,bkn->nbm", a, b), [(1, 2, 3), (4, 1, 2)]),
    "einsum_outer": (lambda a, b: C.einsum("i,jk->kij", a, b), [(2,), (3, 4)]),
    "linear": (C.linear, [(2, 4, 3), (5, 3), (5,)]), "linear_plain": (C.linear, [(3,), (5, 3)]),
    "conv2d": (C.conv2d, [(2, 3, 5, 6), (4, 3, 3, 2), (4,)]),
    "conv2d_strided": (lambda x, w: C.conv2d(x, w, None, (2, 3), (1, 2)), [(2, 2, 7, 6), (3, 2, 3, 2)]),
    "conv2d_dilated": (lambda x, w: C.conv2d(x, w, None, (2, 1), (1, 2), (2, 3)), [(1, 2, 9, 8), (2, 2, 3, 2)]),
    "conv2d_groups": (lambda x, w: C.conv2d(x, w, None, (1, 1), (1, 0), (1, 1), 2), [(2, 4, 4, 5), (6, 2, 3, 2)]),
    "conv2d_depthwise": (lambda x, w: C.conv2d(x, w, groups=3), [(2, 3, 4, 5), (3, 1, 3, 2)]),
    "avg_pool2d": (lambda x: C.avg_pool2d(x, (2, 3)), [(2, 3, 5, 6)]),
    "avg_pool2d_padded": (lambda x: C.avg_pool2d(x, (3, 2), (2, 1), (1, 1), True, False), [(1, 2, 6, 4)]),
    "avg_pool2d_ceil": (lambda x: C.avg_pool2d(x, (3, 3), (2, 2), (1, 0), True), [(1, 2, 6, 6)]),
    "max_pool2d": (lambda x: C.max_pool2d(x, (2, 2)), [(2, 3, 5, 6)]),
    "max_pool2d_padded": (lambda x: C.max_pool2d(x, (3, 2), (2, 1), (1, 1)), [(1, 2, 5, 4)]),
    "softmax": (lambda x: L.softmax(x, 1), [(3, 4)]), "log_softmax": (lambda x: L.log_softmax(x, 0), [(3, 4)]),
    "mse_mean": (L.mse_loss, [(3, 4), (3, 4)]), "mse_sum": (lambda a, b: L.mse_loss(a, b, "sum"), [(3, 4), (3, 4)]),
    "mse_none": (lambda a, b: L.mse_loss(a, b, "none"), [(3,), (3,)]),
    "dropout": (lambda x: R.dropout(x, 0.4, "drop"), [(5, 6)]),
    "alpha_dropout": (lambda x: R.alpha_dropout(x, 0.4, "drop"), [(5, 6)]),
    "put_slice": (lambda x, y: H.put(x, (slice(None), slice(1, 5, 2)), y), [(3, 6), (3, 2)]),
    "put_indices": (lambda x, y: H.put(x, (np.array([2, 0]), np.array([1, 1])), y), [(3, 2), (2,)]),
    "channel_shuffle": (lambda x: H.channel_shuffle(x, 2), [(2, 6, 3)]),
    "local_response_norm": (lambda x: Y.local_response_norm(x, 4, 0.5, 0.7, 1.5), [(2, 5, 3)]),
    "dropout2d": (lambda x: R.dropout(x, 0.4, "drop", True), [(3, 4, 2, 2)]),
    "gather": (lambda x: H.gather(x, 1, np.array([[0, 2, 2], [1, 1, 0]])), [(2, 3)]),
    "take": (lambda x: H.take(x, 0, np.array([[2, 0], [2, 2]])), [(3, 4)]),
    "scatter_add": (lambda x, y: H.scatter_add(x, 0, np.array([[1, 1], [1, 0]]), y), [(3, 4), (2, 3)]),
    "index_reduce": (lambda x, y: H.index_reduce(x, 0, np.array([1, 1, 3]), y, "amax", True), [(4, 2), (3, 2)]),
    "index_reduce_alone": (lambda x, y: H.index_reduce(x, 1, np.array([1, 1, 0]), y, "mean", False), [(2, 4), (2, 3)]),
    "cumsum": (lambda x: H.cumsum(x, 1), [(2, 5)]), "cumprod": (lambda x: H.cumprod(x, 0), [(4, 2)]),
    "recurrence": (lambda x, y: H.recurrence(x, y, 1), [(2, 5), (2, 5)]), "recurrence_back": (lambda x, y: H.recurrence(x, y, 0, True), [(4, 2), (4, 2)]),
    "cummax": (lambda x: H.cummax(x, 1)[0], [(2, 5)]),
    "sort": (lambda x: H.sort(x, 0, True)[0], [(4, 3)]),
    "topk": (lambda x: H.sort(x, 1, False, 2)[0], [(2, 5)]), "prod": (lambda x: H.prod(x, 1, True), [(2, 4)]),
    "triu": (lambda x: H.triangle(x, False, 1), [(2, 3, 4)]),
    "pad_reflect": (lambda x: H.pad(x, [(1, 2), (0, 3)], "reflect"), [(3, 4)]),
    "pad_constant": (lambda x: H.pad(x, [(-1, 2), (0, -1)], "constant", 0.5), [(3, 4)]),
    "unfold": (lambda x: H.unfold(x, (2, 3), (2, 1), (1, 0), (1, 2)), [(2, 2, 4, 6)]),
    "fold": (lambda x: H.fold(x, (4, 6), (2, 3), (2, 1), (1, 0), (1, 2)), [(2, 12, 6)]),
    "pixel_shuffle": (lambda x: H.pixel_shuffle(x, 2), [(1, 8, 2, 3)]),
    "nearest": (lambda x: H.nearest(x, (5, 2)), [(1, 2, 3, 4)]),
    "linear_resize": (lambda x: H.linear(x, (5, 2), False), [(1, 2, 3, 4)]),
    "linear_corners": (lambda x: H.linear(x, (5, 7), True), [(1, 2, 3, 4)]),
    "adaptive_avg": (lambda x: H.adaptive(x, (2, 3), False), [(1, 2, 5, 4)]),
    "adaptive_max": (lambda x: H.adaptive(x, (2, 3), True), [(1, 2, 5, 4)]),
    "conv_transpose2d": (lambda x, w, b: C.conv_transpose2d(x, w, b, (2, 3), (1, 0), (1, 0), (1, 2), 2),
                         [(2, 4, 3, 2), (4, 3, 3, 2), (6,)]),
    "leaky_relu": (lambda x: Y.leaky_relu(x, 0.2), [(2, 3)]), "elu": (lambda x: Y.elu(x, 0.7), [(2, 3)]), "celu": (lambda x: Y.celu(x, 1.5), [(2, 3)]),
    "selu": (Y.selu, [(2, 3)]), "relu6": (Y.relu6, [(2, 3)], lambda v: v * 5), "hardtanh": (lambda x: Y.hardtanh(x, -0.5, 0.3), [(2, 3)]),
    "hardsigmoid": (Y.hardsigmoid, [(2, 5)], lambda v: v * 3), "hardswish": (Y.hardswish, [(2, 5)], lambda v: v * 3),
    "softplus": (lambda x: Y.softplus(x, 2.0), [(2, 3)]), "softsign": (Y.softsign, [(2, 3)]), "logsigmoid": (Y.logsigmoid, [(2, 3)]),
    "mish": (Y.mish, [(2, 3)]), "threshold": (lambda x: Y.threshold(x, 0.2, 5.0), [(2, 3)]), "hardshrink": (Y.hardshrink, [(2, 3)]),
    "softshrink": (Y.softshrink, [(2, 3)]), "tanhshrink": (Y.tanhshrink, [(2, 3)]), "glu": (lambda x: Y.glu(x, 1), [(2, 4, 3)]),
    "standardized": (lambda x: Y.standardized(x, (0, 2)), [(3, 2, 4)]), "rms_norm": (lambda x: Y.rms_norm(x, (1,), 0.1), [(3, 4)]),
    "group_norm": (lambda x: Y.group_norm(x, 2), [(2, 4, 3)]), "affine": (lambda x, w, b: Y.affine(x, w, b, 1), [(2, 3, 2), (3,), (3,)]),
    "norm": (lambda x: Y.norm(x, 2, 1), [(2, 3, 2)]), "norm_cubic": (lambda x: Y.norm(x, 3, 0, True), [(3, 2)]),
    "remainder": (lambda x: Y.remainder(x, -0.7), [(2, 5)]), "fmod": (lambda x: Y.fmod(x, 0.7), [(2, 5)]),
    "max_pool": (lambda x: Y.max_pool(x, (2, 3, 2), (2, 1, 3), (1, 1, 0), (1, 2, 1), True), [(1, 2, 4, 6, 5)]),
    "avg_pool": (lambda x: Y.avg_pool(x, (2, 3, 2), (2, 1, 3), (1, 1, 0), True, False), [(1, 2, 4, 6, 5)]),
    "convolution": (lambda x, w: Y.convolution(x, w, (2, 1, 1), (1, 0, 1), (1, 2, 1)), [(2, 2, 3, 5, 4), (3, 2, 2, 2, 3)]),
    "transposed": (lambda x, w: Y.transposed(x, w, (2, 1, 3), (1, 0, 1), (1, 0, 2), (1, 2, 1)), [(2, 2, 3, 2, 2), (2, 3, 2, 2, 3)]),
    "l1_loss": (Y.l1_loss, [(3, 4), (3, 4)]), "smooth_l1": (lambda a, b: Y.smooth_l1_loss(a, b, "sum", 0.6), [(3, 4), (3, 4)]),
    "huber": (lambda a, b: Y.huber_loss(a, b, "none", 0.6), [(3, 4), (3, 4)]),
    "bce_with_logits": (Y.binary_cross_entropy_with_logits, [(3, 4), (3, 4)]), "kl_div": (Y.kl_div, [(3, 4), (3, 4)], positive),
    "poisson_nll": (Y.poisson_nll_loss, [(3, 4), (3, 4)]),
    "expm1": (E.expm1, [(2, 3)]), "exp2": (E.exp2, [(2, 3)]), "log2": (E.log2, [(2, 3)], positive), "log10": (E.log10, [(2, 3)], positive),
    "frac": (E.frac, [(2, 3)]),
    "two_uses": (lambda x: E.mul(E.add(x, E.sin(x)), x), [(2, 3)]),
}
for reduction, ignore in itertools.product(("mean", "sum", "none"), (-100, 2)):
    def with_labels(x, reduction=reduction, ignore=ignore, loss=L.nll_loss):
        return loss(x, x.tape.var(np.array([2, 0, 3, 1])), ignore, reduction)
    CASES[f"nll_{reduction}_{ignore}"] = (with_labels, [(4, 5)])
    CASES[f"cross_entropy_{reduction}_{ignore}"] = (
        lambda x, f=with_labels: f(x, loss=L.cross_entropy), [(4, 5)])
CASES["nll_3d"] = (lambda x: L.nll_loss(x, x.tape.var(np.arange(6).reshape(2, 3) % 4)), [(2, 4, 3)])


def scalar(function, arrays, weights):
    tape = Tape(seed=5)
    leaves = [tape.var(a) for a in arrays]
    out = function(*leaves)
    return leaves, S.sum_(E.mul(out, tape.var(weights)))


class Gradients(unittest.TestCase):
    def check(self, function, shapes, domain=lambda v: v):
        rng = np.random.default_rng(3)
        arrays = [domain(rng.normal(size=s)) for s in shapes]
        shape = function(*[Tape(seed=5).var(arrays[0])] if len(arrays) == 1 else self.vars(arrays)).shape
        weights = rng.normal(size=shape)
        leaves, loss = scalar(function, arrays, weights)
        self.assertGreater(loss.tape.margin, 1e-5, "the test's data stand at a kink")
        backward(loss)
        for number, array in enumerate(arrays):
            numeric = np.zeros_like(array)
            for index in np.ndindex(array.shape):
                sides = []
                for delta in (1e-6, -1e-6):
                    moved = [a.copy() for a in arrays]
                    moved[number][index] += delta
                    sides.append(float(scalar(function, moved, weights)[1].value))
                numeric[index] = (sides[0] - sides[1]) / 2e-6
            np.testing.assert_allclose(gradient_of(leaves[number]), numeric, rtol=2e-6, atol=2e-7)

    def vars(self, arrays):
        tape = Tape(seed=5)
        return [tape.var(a) for a in arrays]


for case, parts in CASES.items():
    setattr(Gradients, "test_" + case.replace("-", "_"), lambda self, parts=parts: self.check(*parts))


class Control(unittest.TestCase):
    def test_a_wrong_gradient_is_caught(self):
        wrong = lambda x: E.unary(x, np.sin(x.value), 0.999 * np.cos(x.value))
        with self.assertRaises(AssertionError):
            Gradients.check(Gradients(), wrong, [(2, 3)])


class Values(unittest.TestCase):
    def test_conv2d_by_definition(self):
        rng = np.random.default_rng(1)
        x, w = rng.normal(size=(2, 3, 6, 5)), rng.normal(size=(4, 3, 3, 2))
        tape = Tape()
        got = C.conv2d(tape.var(x), tape.var(w), None, (2, 1), (1, 0)).value
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)))
        for n, o, r, c in np.ndindex(got.shape):
            want = (padded[n, :, 2 * r:2 * r + 3, c:c + 2] * w[o]).sum()
            self.assertAlmostEqual(got[n, o, r, c], want, places=12)

    def test_max_pool2d_by_definition(self):
        x = np.random.default_rng(2).normal(size=(1, 2, 5, 5))
        got = C.max_pool2d(Tape().var(x), (3, 3), (2, 2), (1, 1)).value
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
        for n, c, r, q in np.ndindex(got.shape):
            self.assertEqual(got[n, c, r, q], padded[n, c, 2 * r:2 * r + 3, 2 * q:2 * q + 3].max())

    def test_conv2d_groups_by_definition(self):
        rng = np.random.default_rng(4)
        x, w = rng.normal(size=(2, 4, 7, 6)), rng.normal(size=(6, 2, 3, 2))
        got = C.conv2d(Tape().var(x), Tape().var(w), None, (1, 2), (0, 0), (2, 1), 2).value
        for n, o, r, c in np.ndindex(got.shape):
            part = x[n, o // 3 * 2:o // 3 * 2 + 2, r:r + 5:2, 2 * c:2 * c + 2]
            self.assertAlmostEqual(got[n, o, r, c], (part * w[o]).sum(), places=12)

    def test_pools_of_images_and_volumes_agree(self):
        x = np.random.default_rng(5).normal(size=(2, 3, 7, 6))
        pools = [
            (C.max_pool2d, Y.max_pool, ((3, 2), (2, 1), (1, 1)), ((1, 1),)), (C.avg_pool2d, Y.avg_pool, ((3, 2), (2, 3), (1, 0), True, False), ()),
            (C.avg_pool2d, Y.avg_pool, ((3, 3), (3, 2), (1, 1), True, True), ())]
        for flat, general, options, more in pools:
            np.testing.assert_allclose(general(Tape().var(x), *options, *more).value, flat(Tape().var(x), *options).value, rtol=1e-13)

    def test_avg_pool2d_by_definition(self):
        """PyTorch's documented cases: what a window averages over at the rims."""
        x = np.arange(1.0, 6).reshape(1, 1, 1, 5)
        pool = lambda *more: C.avg_pool2d(Tape().var(x), (1, 3), (1, 2), *more).value.ravel()
        np.testing.assert_allclose(pool(), [2, 4])
        np.testing.assert_allclose(pool((0, 1)), [1, 3, 3])
        np.testing.assert_allclose(pool((0, 1), False, False), [1.5, 3, 4.5])
        np.testing.assert_allclose(C.avg_pool2d(Tape().var(x), (1, 2), (1, 2), (0, 0), True).value.ravel(), [1.5, 3.5, 5])
        np.testing.assert_allclose(pool((0, 0), False, True, 2), [3, 6])

    def test_sums_of_softmax(self):
        x = Tape().var(np.random.default_rng(3).normal(size=(3, 7)) * 30)
        np.testing.assert_allclose(L.softmax(x, 1).value.sum(1), 1)
        np.testing.assert_allclose(np.exp(L.log_softmax(x, 0).value).sum(0), 1)

    def test_ties(self):
        tape = Tape()
        x = tape.var(np.array([[0.0, 0.0, -1.0]]))
        backward(S.sum_(S.amax(x, (1,))))
        np.testing.assert_array_equal(x.grad, [[0.5, 0.5, 0]])
        backward(S.sum_(S.max_(x, 1)[0]))
        np.testing.assert_array_equal(x.grad, [[1, 0, 0]])
        self.assertGreater(tape.margin, 0)  # zeros tie exactly ...
        S.amax(tape.var(np.array([2.0, 2.0])))
        self.assertEqual(tape.margin, 0)  # ... other values by accident

    def test_f32_stays_f32(self):
        tape = Tape(np.float32)
        x = tape.var(np.ones((2, 2)))
        loss = L.mse_loss(E.mul(E.add(x, 0.3), 1.7), E.div(2.0, E.erf(x)))
        backward(loss)
        self.assertEqual((loss.value.dtype, x.grad.dtype), (np.float32, np.float32))


class Sequential(unittest.TestCase):
    """Adding term by term gives the same sums."""

    def test_same_gradients(self):
        rng = np.random.default_rng(4)
        values = [rng.normal(size=s) for s in ((2, 3, 7, 6), (4, 3, 3, 2), (4,), (5, 7))]
        results = []
        for sequential in (False, True):
            tape = Tape(sequential=sequential)
            x, w, bias, m = [tape.var(v) for v in values]
            y = C.matmul(C.conv2d(x, w, bias, (1, 1), (0, 1)), S.transpose(m, 0, 1))
            loss = S.mean(E.mul(L.softmax(y, 1), S.sum_(C.matmul(y, tape.var(np.ones(5))))))
            backward(loss)
            results.append([loss.value] + [gradient_of(v) for v in (x, w, bias, m)])
        for one, other in zip(*results):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)

    def test_equal_terms_show_the_order(self):
        tape = Tape(np.float32, sequential=True)
        x = tape.var(np.full(5000, 0.1))
        self.assertGreater(abs(float(S.sum_(x).value) - 500), 1e-3)
        self.assertLess(abs(float(S.sum_(Tape(np.float32).var(np.full(5000, 0.1))).value) - 500), 1e-3)


class Random(unittest.TestCase):
    def test_published_vectors(self):
        """The known answers that come with the authors' Random123."""
        ones = 0xFFFFFFFF
        for counter, key, want in [
                ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
                ([ones] * 4, [ones] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
                ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
                 "d16cfe09 94fdcceb 5001e420 24126ea1")]:
            got = " ".join(f"{int(word):08x}" for word in R.philox(counter, key))
            self.assertEqual(got, want)

    def test_words_of_elements(self):
        """Word w of the sequence is word w % 4 of counter w / 4; two of them are 2 i and 2 i + 1."""
        seed, key, step, micro = 5 << 33 | 3, 1 << 40 | 6, 7, 2
        known = [R.philox([n, 0, step, micro], [seed & 0xFFFFFFFF ^ 6, seed >> 32 ^ 1 << 8]) for n in range(3)]
        one = [known[i // 4][i % 4] for i in range(11)]
        two = [known[i // 2][2 * (i % 2) + j] for i in range(5) for j in range(2)]
        self.assertEqual([int(x) for x in R.words(11, key, seed, step, micro)], [int(x) for x in one])
        self.assertEqual([int(x) for x in R.words(10, key, seed, step, micro)], [int(x) for x in two])
        draws = R.uniform(11, key, seed, step, micro)
        np.testing.assert_array_equal(draws, [(int(x) >> 8) / 2 ** 24 for x in one])

    def test_dropout(self):
        tape = Tape(seed=9, step=4)
        y = R.dropout(tape.var(np.ones((100, 1000))), 0.3, "d").value
        self.assertEqual(set(np.unique(y)), {0.0, 1 / 0.7})
        self.assertLess(abs((y > 0).mean() - 0.7), 0.01)
        planes = R.dropout(tape.var(np.ones((50, 20, 3, 3))), 0.5, "d", True).value.reshape(1000, 9)
        self.assertTrue((planes == planes[:, :1]).all())
        self.assertLess(abs((planes > 0).mean() - 0.5), 0.06)
        still = R.dropout(Tape(training=False).var(np.ones(5)), 0.3, "d").value
        np.testing.assert_array_equal(still, np.ones(5))


    def test_normal(self):
        x = R.randn(Tape(seed=3), (100000,)).value
        self.assertLess(abs(x.mean()), 0.02)
        self.assertLess(abs(x.std() - 1), 0.02)

    def test_keys_differ_by_name_and_ordinal(self):
        tape = Tape()
        keys = [R.key_of(tape, base) for base in ("a", "a", "b")]
        self.assertEqual(len(set(keys)), 3)
        self.assertEqual(keys[0], R.key_of(Tape(), "a"))


class Optimizers(unittest.TestCase):
    def test_sgd_by_hand(self):
        optimizer = SGD(lr=0.1, momentum=0.5, weight_decay=0.25)
        weights = {"w": np.array([2.0])}
        optimizer.step(weights, {"w": np.array([1.0])})  # g = 1 + 0.5, buffer = 1.5
        self.assertAlmostEqual(weights["w"][0], 1.85)
        optimizer.step(weights, {"w": np.array([1.0])})  # g = 1.4625, buffer = 0.75 + 1.4625
        self.assertAlmostEqual(weights["w"][0], 1.85 - 0.1 * 2.2125)

    def test_nesterov_and_dampening(self):
        optimizer = SGD(lr=1.0, momentum=0.5, nesterov=True)
        weights = {"w": np.array([0.0])}
        optimizer.step(weights, {"w": np.array([1.0])})
        self.assertAlmostEqual(weights["w"][0], -1.5)
        optimizer = SGD(lr=1.0, momentum=0.5, dampening=0.75)
        weights = {"w": np.array([0.0])}
        for want in (-1.0, -1.75):
            optimizer.step(weights, {"w": np.array([1.0])})
            self.assertAlmostEqual(weights["w"][0], want)

    def test_adam_by_hand(self):
        # The first step is lr in size, whatever the gradient: both corrections undo the averages' start from zero.
        for options in ({}, {"amsgrad": True}, {"betas": (0.5, 0.75)}):
            weights = {"w": np.array([2.0, 2.0])}
            Adam(lr=0.25, eps=0.0, **options).step(weights, {"w": np.array([1e-3, -7.0])})
            np.testing.assert_allclose(weights["w"], [1.75, 2.25])
        optimizer = Adam(lr=1.0, betas=(0.5, 0.5), eps=0.0)
        weights = {"w": np.array([0.0])}
        optimizer.step(weights, {"w": np.array([1.0])})
        optimizer.step(weights, {"w": np.array([3.0])})  # averages 1.75 / 0.75 and sqrt(4.75 / 0.75)
        self.assertAlmostEqual(weights["w"][0], -1 - (1.75 / 0.75) / np.sqrt(4.75 / 0.75))
        optimizer.step(weights, {"w": np.array([0.0])})
        plain = weights["w"][0]
        # AMSGrad divides by the largest average so far.
        optimizer = Adam(lr=1.0, betas=(0.5, 0.5), eps=0.0, amsgrad=True)
        weights = {"w": np.array([0.0])}
        for gradient in (1.0, 3.0, 0.0):
            optimizer.step(weights, {"w": np.array([gradient])})
        self.assertGreater(weights["w"][0], plain)

    def test_weight_decay_of_adam(self):
        weights = {"w": np.array([4.0])}
        Adam(lr=0.5, weight_decay=0.25, decoupled=True).step(weights, {"w": np.array([0.0])})
        self.assertAlmostEqual(weights["w"][0], 3.5)  # only shrinks
        weights = {"w": np.array([4.0])}
        Adam(lr=0.5, weight_decay=0.25).step(weights, {"w": np.array([0.0])})
        self.assertAlmostEqual(weights["w"][0], 3.5)  # the decay is the gradient: a step of lr
        weights = {"w": np.array([4.0])}
        Adam(lr=0.5, maximize=True).step(weights, {"w": np.array([1.0])})
        self.assertAlmostEqual(weights["w"][0], 4.5)


if __name__ == "__main__":
    unittest.main()
