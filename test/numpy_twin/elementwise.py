"""Elementwise ops with NumPy broadcasting."""

import math

import numpy as np

from .autodiff import Var, unbroadcast

_erf = np.vectorize(math.erf, otypes=[np.float64])


def erf_values(x):
    """NumPy has no erf; the C library's, rounded to the dtype of x."""
    return _erf(x).astype(x.dtype) if x.size else x


def unary(x, value, derivative):
    """`derivative` is an array or None where the gradient is zero."""
    if derivative is None:
        return x.tape.make(value)
    return x.tape.make(value, [(x, lambda g: g * derivative)])


def neg(x):
    return unary(x, -x.value, np.full_like(x.value, -1))


def abs_(x):
    x.tape.kink(x.value)
    return unary(x, np.abs(x.value), np.sign(x.value))


def exp(x):
    y = np.exp(x.value)
    return unary(x, y, y)


def log(x):
    return unary(x, np.log(x.value), 1 / x.value)


def log1p(x):
    return unary(x, np.log1p(x.value), 1 / (1 + x.value))


def sqrt(x):
    y = np.sqrt(x.value)
    return unary(x, y, x.tape.dtype.type(0.5) / y)


def rsqrt(x):
    y = 1 / np.sqrt(x.value)
    return unary(x, y, x.tape.dtype.type(-0.5) * y / x.value)


def sin(x):
    return unary(x, np.sin(x.value), np.cos(x.value))


def cos(x):
    return unary(x, np.cos(x.value), -np.sin(x.value))


def tanh(x):
    y = np.tanh(x.value)
    return unary(x, y, 1 - y * y)


def sigmoid(x):
    """Computed from exp(-|x|), which cannot overflow."""
    e = np.exp(-np.abs(x.value))
    y = np.where(x.value >= 0, 1 / (1 + e), e / (1 + e)).astype(x.value.dtype)
    return unary(x, y, y * (1 - y))


def erf(x):
    slope = x.tape.dtype.type(2 / math.sqrt(math.pi))
    return unary(x, erf_values(x.value), slope * np.exp(-x.value * x.value))


def relu(x):
    x.tape.kink(x.value)
    return unary(x, np.where(x.value > 0, x.value, 0 * x.value), (x.value > 0).astype(x.value.dtype))


def silu(x):
    s = 1 / (1 + np.exp(-x.value))
    return unary(x, x.value * s, s * (1 + x.value * (1 - s)))


def gelu(x):
    """x times the normal distribution's share below x."""
    one = x.tape.dtype.type
    share = one(0.5) * (1 + erf_values(x.value * one(math.sqrt(0.5))))
    density = np.exp(one(-0.5) * x.value * x.value) * one(1 / math.sqrt(2 * math.pi))
    return unary(x, x.value * share, share + x.value * density)


def gelu_tanh(x):
    one = x.tape.dtype.type
    scale, cubic = one(math.sqrt(2 / math.pi)), one(0.044715)
    t = np.tanh(scale * (x.value + cubic * x.value ** 3))
    slope = scale * (1 + 3 * cubic * x.value * x.value)
    return unary(x, one(0.5) * x.value * (1 + t), one(0.5) * (1 + t) + one(0.5) * x.value * (1 - t * t) * slope)


def clamp(x, low=None, high=None):
    """Bounds are numbers; a value outside or at one passes no gradient."""
    inside = np.ones_like(x.value)
    for bound, side in ((low, np.less_equal), (high, np.greater_equal)):
        if bound is not None:
            bound = x.tape.dtype.type(bound)
            x.tape.kink(x.value - bound, tie=x.value == bound)
            inside[side(x.value, bound)] = 0
    return unary(x, np.clip(x.value, low, high).astype(x.value.dtype), inside)


def sign(x):
    x.tape.kink(x.value)
    return unary(x, np.sign(x.value), None)


def floor(x):
    x.tape.kink(x.value - np.round(x.value))
    return unary(x, np.floor(x.value), None)


def ceil(x):
    x.tape.kink(x.value - np.round(x.value))
    return unary(x, np.ceil(x.value), None)


def trunc(x):
    x.tape.kink(x.value - np.round(x.value))
    return unary(x, np.trunc(x.value), None)


def frac(x):
    x.tape.kink(x.value - np.round(x.value))
    return unary(x, x.value - np.trunc(x.value), np.ones_like(x.value))


def round_(x):
    """Halves to the even number."""
    away = np.abs(x.value - np.floor(x.value) - 0.5)
    x.tape.kink(away, tie=away == 0)
    return unary(x, np.rint(x.value), None)


def expm1(x):
    return unary(x, np.expm1(x.value), np.exp(x.value))


def exp2(x):
    y = np.exp2(x.value)
    return unary(x, y, y * x.tape.dtype.type(math.log(2)))


def log2(x):
    return unary(x, np.log2(x.value), 1 / (x.value * x.tape.dtype.type(math.log(2))))


def log10(x):
    return unary(x, np.log10(x.value), 1 / (x.value * x.tape.dtype.type(math.log(10))))


def lift(tape, operand):
    """A Python number becomes a constant of the run's dtype."""
    return operand if isinstance(operand, Var) else tape.var(np.asarray(float(operand)))


def binary(a, b, function, pull_a=None, pull_b=None):
    """`pull_*`: gradient of the result to gradient of the operand, before unbroadcasting."""
    tape = a.tape if isinstance(a, Var) else b.tape
    a, b = lift(tape, a), lift(tape, b)
    parents = []
    if pull_a:
        parents.append((a, lambda g: unbroadcast(tape, pull_a(g, a.value, b.value), a.shape)))
    if pull_b:
        parents.append((b, lambda g: unbroadcast(tape, pull_b(g, a.value, b.value), b.shape)))
    return tape.make(function(a.value, b.value), parents)


def add(a, b):
    return binary(a, b, np.add, lambda g, x, y: g, lambda g, x, y: g)


def sub(a, b):
    return binary(a, b, np.subtract, lambda g, x, y: g, lambda g, x, y: -g)


def mul(a, b):
    return binary(a, b, np.multiply, lambda g, x, y: g * y, lambda g, x, y: g * x)


def div(a, b):
    return binary(a, b, np.divide, lambda g, x, y: g / y, lambda g, x, y: -g * x / (y * y))


def pow_(a, b):
    return binary(
        a, b, np.power,
        lambda g, x, y: g * y * np.power(x, y - 1),
        # The exponent of a square is a constant and its base may be negative.
        lambda g, x, y: g * np.power(x, y) * np.log(np.where(x > 0, x, np.ones_like(x))))


def extremum(a, b, function):
    """maximum and minimum; the generator keeps away from ties, where conventions differ."""
    tape = a.tape if isinstance(a, Var) else b.tape

    def note(x, y):
        tape.kink(x - y, tie=x == y)
        return function(x, y)
    return binary(a, b, note,
                  lambda g, x, y: g * (function(x, y) == x), lambda g, x, y: g * (function(x, y) != x))


def maximum(a, b):
    return extremum(a, b, np.maximum)


def minimum(a, b):
    return extremum(a, b, np.minimum)


def compare(a, b, function):
    tape = a.tape if isinstance(a, Var) else b.tape
    a, b = lift(tape, a), lift(tape, b)
    if a.value.dtype.kind == "f":
        tape.kink(a.value - b.value, tie=a.value == b.value)
    return tape.make(function(a.value, b.value))


def logical(function, *operands):
    return operands[0].tape.make(function(*(o.value for o in operands)))


def where(condition, a, b):
    tape, c = condition.tape, condition.value
    a, b = lift(tape, a), lift(tape, b)
    return tape.make(np.where(c, a.value, b.value), [
        (a, lambda g: unbroadcast(tape, np.where(c, g, 0), a.shape)),
        (b, lambda g: unbroadcast(tape, np.where(c, 0, g), b.shape))])


def cast_float(x):
    """`to` the floating-point dtype of the run: the gradient passes."""
    return x.tape.make(x.value.astype(x.tape.dtype), [(x, lambda g: g)])


def cast_int(x):
    """`to` i64 truncates; no gradient."""
    if x.value.dtype.kind == "f":
        x.tape.kink(x.value - np.round(x.value))
    return x.tape.make(np.trunc(x.value).astype(np.int64))
