"""Activations, norms, convolutions and pools of volumes, and losses of pairs, each from its definition with its derivative."""

import numpy as np

from .elementwise import add, mul, unary
from .losses import reduce_loss
from .shaping import axes, note_ties, reshape
from .summation import total


def pieces(x, function, slope, kinks=()):
    """A function of one number that has another formula beyond each of `kinks`."""
    for kink in kinks:
        x.tape.kink(x.value - x.tape.dtype.type(kink), tie=(x.value == kink) & (kink != 0))
    with np.errstate(over="ignore"):
        return unary(x, function(x.value).astype(x.value.dtype), slope(x.value).astype(x.value.dtype))


def sigmoid_of(v):
    e = np.exp(-np.abs(v))
    return np.where(v >= 0, 1 / (1 + e), e / (1 + e))


def softplus_of(v):
    return np.maximum(v, 0) + np.log1p(np.exp(-np.abs(v)))


def leaky_relu(x, slope=0.01):
    return pieces(x, lambda v: np.where(v > 0, v, v * slope), lambda v: np.where(v > 0, 1, slope), [0])


def elu(x, alpha=1.0):
    return pieces(x, lambda v: np.where(v > 0, v, alpha * np.expm1(np.minimum(v, 0))),
                  lambda v: np.where(v > 0, 1, alpha * np.exp(np.minimum(v, 0))), [0])


def celu(x, alpha=1.0):
    return pieces(x, lambda v: np.where(v > 0, v, alpha * np.expm1(np.minimum(v, 0) / alpha)),
                  lambda v: np.where(v > 0, 1, np.exp(np.minimum(v, 0) / alpha)), [0])


def selu(x):
    return mul(elu(x, 1.6732632423543772), 1.0507009873554805)


def hardtanh(x, low=-1.0, high=1.0):
    return pieces(x, lambda v: np.clip(v, low, high), lambda v: (v > low) & (v < high), [low, high])


def relu6(x):
    return hardtanh(x, 0, 6)


def hardsigmoid(x):
    return pieces(x, lambda v: np.clip(v / 6 + 0.5, 0, 1), lambda v: np.where(np.abs(v) < 3, 1 / 6, 0), [-3, 3])


def hardswish(x):
    return pieces(x, lambda v: v * np.clip(v + 3, 0, 6) / 6,
                  lambda v: np.where(v < -3, 0, np.where(v <= 3, v / 3 + 0.5, 1)), [-3, 3])


def softplus(x, beta=1.0):
    return pieces(x, lambda v: softplus_of(beta * v) / beta, lambda v: sigmoid_of(beta * v))


def softsign(x):
    return pieces(x, lambda v: v / (1 + np.abs(v)), lambda v: 1 / np.square(1 + np.abs(v)))


def logsigmoid(x):
    return pieces(x, lambda v: -softplus_of(-v), lambda v: sigmoid_of(-v))


def mish(x):
    def slope(v):
        t = np.tanh(softplus_of(v))
        return t + v * (1 - t * t) * sigmoid_of(v)
    return pieces(x, lambda v: v * np.tanh(softplus_of(v)), slope)


def threshold(x, at, value):
    return pieces(x, lambda v: np.where(v > at, v, value), lambda v: v > at, [at])


def hardshrink(x, size=0.5):
    return pieces(x, lambda v: np.where(np.abs(v) > size, v, 0), lambda v: np.abs(v) > size, [-size, size])


def softshrink(x, size=0.5):
    return pieces(x, lambda v: np.sign(v) * np.maximum(np.abs(v) - size, 0), lambda v: np.abs(v) > size, [-size, size])


def tanhshrink(x):
    return pieces(x, lambda v: v - np.tanh(v), lambda v: np.square(np.tanh(v)))


def glu(x, dim):
    first, second = np.split(x.value, 2, dim)
    gate = sigmoid_of(second).astype(x.value.dtype)
    return x.tape.make(first * gate, [(x, lambda g: np.concatenate([g * gate, g * first * gate * (1 - gate)], dim))])


def standardized(x, dims, eps=1e-5):
    """With the variance that divides by the count."""
    dims = axes(x, dims)
    count = x.tape.dtype.type(np.prod([x.shape[d] for d in dims]))
    mean = lambda v: total(x.tape, v, dims, True) / count
    rest = x.value - mean(x.value)
    scale = 1 / np.sqrt(mean(rest * rest) + x.tape.dtype.type(eps))
    y = rest * scale
    return x.tape.make(y, [(x, lambda g: scale * (g - mean(g) - y * mean(g * y)))])


def rms_norm(x, dims, eps=None):
    dims = axes(x, dims)
    count = x.tape.dtype.type(np.prod([x.shape[d] for d in dims]))
    mean = lambda v: total(x.tape, v, dims, True) / count
    scale = 1 / np.sqrt(mean(x.value * x.value) + x.tape.dtype.type(np.finfo(x.value.dtype).eps if eps is None else eps))
    y = x.value * scale
    return x.tape.make(y, [(x, lambda g: scale * (g - y * mean(g * y)))])


def local_response_norm(x, size, alpha, beta, k):
    cast, channels = x.tape.dtype.type, x.shape[1]

    def window_sum(v, before):
        padded = np.pad(v, [(0, 0), (before, size - 1 - before)] + [(0, 0)] * (v.ndim - 2))
        return sum(padded[:, i:i + channels] for i in range(size))
    share = cast(alpha / size)
    base = window_sum(x.value * x.value, size // 2) * share + cast(k)
    scale = base ** cast(-beta)
    slope = lambda g: window_sum(g * x.value * scale / base, size - 1 - size // 2) * (cast(-2 * beta) * share)
    return x.tape.make(x.value * scale, [(x, lambda g: g * scale + x.value * slope(g))])


def group_norm(x, groups, eps=1e-5):
    return reshape(standardized(reshape(x, (x.shape[0], groups, -1)), (2,), eps), x.shape)


def affine(x, weight=None, bias=None, along=None):
    """weight * x + bias; `along`: the dim that their only dim is one of."""
    place = lambda v: v if along is None else reshape(v, [-1 if i == along else 1 for i in range(x.value.ndim)])
    x = x if weight is None else mul(x, place(weight))
    return x if bias is None else add(x, place(bias))


def norm(x, p, dim, keepdim=False):
    """Of zeros the slope is 0."""
    sizes = np.abs(x.value)
    value = total(x.tape, sizes ** p, (dim,), True) ** x.tape.dtype.type(1 / p)
    x.tape.kink(value)
    slope = np.sign(x.value) * (sizes / np.where(value > 0, value, 1)) ** (p - 1)
    shaped = value if keepdim else value.squeeze(dim)
    return x.tape.make(shaped, [(x, lambda g: (g if keepdim else np.expand_dims(g, dim)) * slope)])


def remainder(x, y):
    """The sign of y."""
    rest = np.remainder(x.value, x.value.dtype.type(y))
    x.tape.kink(np.minimum(np.abs(rest), np.abs(np.abs(y) - np.abs(rest))))
    return unary(x, rest, np.ones_like(rest))


def fmod(x, y):
    """The sign of x."""
    rest = np.fmod(x.value, x.value.dtype.type(y))
    x.tape.kink(np.minimum(np.abs(rest), np.abs(np.abs(y) - np.abs(rest))))
    return unary(x, rest, np.ones_like(rest))


# Windows of any number of dims.

def outputs(n, kernel, stride, padding, dilation=1, ceil_mode=False):
    """How many windows there are; with ceil_mode the last one may reach behind the padding, if it begins before it."""
    room = n + 2 * padding - dilation * (kernel - 1) - 1
    count = room // stride + 1
    return count + (1 if ceil_mode and room % stride and count * stride < n + padding else 0)


def taps(kernel, stride, dilation, out):
    """For each place of the kernel what it sees of all windows: a key of [N, C, ...]."""
    for place in np.ndindex(*kernel):
        yield place, (slice(None), slice(None)) + tuple(
            slice(t * d, t * d + s * (o - 1) + 1, s) for t, d, s, o in zip(place, dilation, stride, out))


def around(x, padding, fill, behind):
    return np.pad(x, [(0, 0), (0, 0)] + list(zip(padding, behind)), constant_values=fill)


def inside(x, padding, size):
    return x[(slice(None), slice(None)) + tuple(slice(p, p + n) for p, n in zip(padding, size))]


def max_pool(x, kernel, stride, padding, dilation, ceil_mode=False):
    """The gradient goes to the first maximum of each window."""
    size = x.shape[2:]
    out = [outputs(*each, ceil_mode) for each in zip(size, kernel, stride, padding, dilation)]
    behind = [max(p, (o - 1) * s + (k - 1) * d + 1 - n - p)
              for n, k, s, p, d, o in zip(size, kernel, stride, padding, dilation, out)]
    padded = around(x.value, padding, -np.inf, behind)
    keys = [key for _, key in taps(kernel, stride, dilation, out)]
    views = np.stack([padded[key] for key in keys], -1)
    best = views.argmax(-1)
    note_ties(x, views)

    def pull(g):
        full = np.zeros_like(padded)
        for number, key in enumerate(keys):
            full[key] += np.where(best == number, g, 0)
        return inside(full, padding, size)
    return x.tape.make(views.max(-1), [(x, pull)])


def avg_pool(x, kernel, stride, padding, ceil_mode=False, count_include_pad=True):
    """Sums of what is inside, over what counts."""
    size = x.shape[2:]
    out = [outputs(n, k, s, p, 1, ceil_mode) for n, k, s, p in zip(size, kernel, stride, padding)]
    behind = [max(p, (o - 1) * s + k - n - p) for n, k, s, p, o in zip(size, kernel, stride, padding, out)]
    none = [1] * len(size)
    counted = np.ones([1, 1, *size], x.value.dtype)
    counted = around(counted, padding, 1.0 if count_include_pad else 0.0, padding)
    counted = around(counted, [0] * len(size), 0.0, [b - p for b, p in zip(behind, padding)])
    keys = [key for _, key in taps(kernel, stride, none, out)]
    divisor = sum(counted[key] for key in keys)
    padded = around(x.value, padding, 0.0, behind)

    def pull(g):
        full = np.zeros_like(padded)
        for key in keys:
            full[key] += g / divisor
        return inside(full, padding, size)
    return x.tape.make(sum(padded[key] for key in keys) / divisor, [(x, pull)])


def convolution(x, weight, stride, padding, dilation):
    """[N, C, ...] and [O, C, ...]."""
    size, kernel = x.shape[2:], weight.shape[2:]
    out = [outputs(*each) for each in zip(size, kernel, stride, padding, dilation)]
    padded = around(x.value, padding, 0.0, padding)
    places = list(taps(kernel, stride, dilation, out))
    at = lambda place: weight.value[(slice(None), slice(None)) + place]
    value = sum(np.einsum("nc...,oc->no...", padded[key], at(place)) for place, key in places)

    def pull_x(g):
        full = np.zeros_like(padded)
        for place, key in places:
            full[key] += np.einsum("no...,oc->nc...", g, at(place))
        return inside(full, padding, size)

    def pull_weight(g):
        full = np.zeros_like(weight.value)
        for place, key in places:
            full[(slice(None), slice(None)) + place] = np.einsum("nop,ncp->oc", *(
                v.reshape(*v.shape[:2], -1) for v in (g, padded[key])))
        return full
    return x.tape.make(value, [(x, pull_x), (weight, pull_weight)])


def transposed(x, weight, stride, padding, output_padding, dilation):
    """[N, C, ...] and [C, O, ...]: each element of x adds a multiple of the kernel."""
    size, kernel = x.shape[2:], weight.shape[2:]
    whole = [(n - 1) * s + d * (k - 1) + o + 1 for n, s, d, k, o in zip(size, stride, dilation, kernel, output_padding)]
    full = np.zeros((x.shape[0], weight.shape[1], *(max(w, p) for w, p in zip(whole, padding))), x.value.dtype)
    places = list(taps(kernel, stride, dilation, size))
    at = lambda place: weight.value[(slice(None), slice(None)) + place]
    for place, key in places:
        full[key] += np.einsum("nc...,co->no...", x.value, at(place))
    to = [w - 2 * p for w, p in zip(whole, padding)]
    spread = lambda g: around(g, padding, 0.0, padding)

    def pull_x(g):
        return sum(np.einsum("no...,co->nc...", spread(g)[key], at(place)) for place, key in places)

    def pull_weight(g):
        made, wide = np.zeros_like(weight.value), spread(g)
        for place, key in places:
            made[(slice(None), slice(None)) + place] = np.einsum("ncp,nop->co", *(
                v.reshape(*v.shape[:2], -1) for v in (x.value, wide[key])))
        return made
    return x.tape.make(inside(full, padding, to), [(x, pull_x), (weight, pull_weight)])


# Losses of pairs of numbers.

def l1_loss(a, b, reduction="mean"):
    d = a.value - b.value
    a.tape.kink(d, tie=d == 0)
    return reduce_loss(a.tape, np.abs(d), [(a, lambda g: g * np.sign(d)), (b, lambda g: -g * np.sign(d))], reduction, d.size)


def huber(a, b, bend, scale, reduction):
    """scale * (d^2 / 2 up to bend, and on in a straight line)."""
    d = a.value - b.value
    near, slope = np.abs(d) < bend, scale * np.clip(d, -bend, bend)
    values = scale * np.where(near, d * d / 2, bend * (np.abs(d) - bend / 2))
    return reduce_loss(a.tape, values, [(a, lambda g: g * slope), (b, lambda g: -g * slope)], reduction, d.size)


def smooth_l1_loss(a, b, reduction="mean", beta=1.0):
    return huber(a, b, beta, 1 / beta, reduction)


def huber_loss(a, b, reduction="mean", delta=1.0):
    return huber(a, b, delta, 1.0, reduction)


def binary_cross_entropy_with_logits(x, t, reduction="mean"):
    v = x.value
    values = np.maximum(v, 0) - v * t.value + np.log1p(np.exp(-np.abs(v)))
    return reduce_loss(x.tape, values, [(x, lambda g: g * (sigmoid_of(v) - t.value)), (t, lambda g: -g * v)], reduction, v.size)


def kl_div(x, t, reduction="mean"):
    v, p = x.value, t.value
    return reduce_loss(x.tape, p * (np.log(p) - v), [(x, lambda g: -g * p), (t, lambda g: g * (np.log(p) + 1 - v))], reduction, v.size)


def poisson_nll_loss(x, t, reduction="mean"):
    e = np.exp(x.value)
    return reduce_loss(x.tape, e - t.value * x.value, [(x, lambda g: g * (e - t.value)), (t, lambda g: -g * x.value)],
                       reduction, e.size)
