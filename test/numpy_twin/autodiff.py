"""A small reverse-mode autodiff on NumPy arrays.

A Var holds a value and, for each Var it was made from, the function that turns
the gradient of this value into the gradient of that one. A Tape fixes the
floating-point dtype of a run and collects how close it came to a kink (a tie of
a maximum, relu at zero, ...): near a kink two correct programs may disagree, so
the caller rejects such runs.
"""

import numpy as np

from .summation import total


class Tape:
    def __init__(self, dtype=np.float64, seed=0, step=0, micro=0, training=True, sequential=False):
        self.dtype = np.dtype(dtype)
        self.seed, self.step, self.micro, self.training = seed, step, micro, training
        self.sequential = sequential  # see summation.py
        self.ordinals = {}  # random ops so far, by the name their keys are made from
        self.margin = np.inf  # smallest distance to a kink
        self.largest = 0.0  # largest absolute value seen

    def var(self, value):
        """A leaf: floats are rounded to the dtype of the run, all else stays as it is."""
        value = np.asarray(value)
        if value.dtype.kind == "f":
            value = value.astype(self.dtype)
        return Var(self, value)

    def make(self, value, parents=()):
        """The result of an op. `parents`: pairs of (Var, gradient function)."""
        out = self.var(value)
        if out.value.dtype.kind == "f":
            out.parents = [(p, pull) for p, pull in parents if p.value.dtype.kind == "f"]
            if out.value.size:
                self.largest = max(self.largest, float(np.max(np.abs(out.value))))
        return out

    def kink(self, distance, tie=None):
        """Notes distances to a kink. Zero counts as safe, since zeros (after a relu or a dropout)
        are exact in every precision, except where `tie` says that it is an accident."""
        distance = np.abs(np.asarray(distance, np.float64))
        if tie is not None and np.any(tie):
            self.margin = 0.0
        distance = distance[distance > 0]
        if distance.size:
            self.margin = min(self.margin, float(distance.min()))


class Var:
    __slots__ = ("tape", "value", "parents", "grad")

    def __init__(self, tape, value):
        self.tape, self.value, self.parents, self.grad = tape, value, [], None

    @property
    def shape(self):
        return self.value.shape


def unbroadcast(tape, gradient, shape):
    """Sums a gradient over the dims along which an operand of `shape` was broadcast."""
    lead = gradient.ndim - len(shape)
    stretched = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and gradient.shape[i + lead] != 1)
    if stretched:
        gradient = total(tape, gradient, stretched)
    return gradient.reshape(shape)


def topological(root):
    """Every Var that `root` depends on, inputs first, without recursion."""
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        var, done = stack.pop()
        if done:
            order.append(var)
        elif id(var) not in seen:
            seen.add(id(var))
            stack.append((var, True))
            stack.extend((parent, False) for parent, _ in var.parents)
    return order


def backward(loss):
    """Fills `.grad` of everything `loss` depends on."""
    assert loss.value.size == 1
    order = topological(loss)
    for var in order:
        var.grad = None
    loss.grad = np.ones_like(loss.value)
    for var in reversed(order):
        for parent, pull in var.parents:
            gradient = np.asarray(pull(var.grad), parent.value.dtype)
            assert gradient.shape == parent.shape, (gradient.shape, parent.shape)
            parent.grad = gradient if parent.grad is None else parent.grad + gradient
    for var in order:
        if var.grad is None:
            var.grad = np.zeros_like(var.value)


def gradient_of(var):
    return np.zeros_like(var.value) if var.grad is None else var.grad
