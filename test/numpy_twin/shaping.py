"""Reductions and ops that move elements."""

import numpy as np

from .autodiff import unbroadcast
from .summation import total


def axes(x, dims):
    return tuple(range(x.value.ndim)) if dims is None else tuple(d % x.value.ndim for d in dims)


def restore(array, shape, dims, keepdim):
    """Puts reduced dims back as extents of 1."""
    return array if keepdim else array.reshape([1 if i in dims else n for i, n in enumerate(shape)])


def sum_(x, dims=None, keepdim=False):
    dims = axes(x, dims)
    return x.tape.make(total(x.tape, x.value, dims, keepdim), [
        (x, lambda g: np.broadcast_to(restore(g, x.shape, dims, keepdim), x.shape))])


def mean(x, dims=None, keepdim=False):
    dims = axes(x, dims)
    count = x.tape.dtype.type(np.prod([x.shape[d] for d in dims], dtype=np.int64))
    return x.tape.make(total(x.tape, x.value, dims, keepdim) / count, [
        (x, lambda g: np.broadcast_to(restore(g / count, x.shape, dims, keepdim), x.shape))])


def note_ties(x, rows):
    """Distance of the largest to the second largest along the last dim of `rows`."""
    if rows.shape[-1] > 1:
        top = np.partition(rows, -2, axis=-1)
        gap = top[..., -1] - top[..., -2]
        x.tape.kink(gap, tie=(gap == 0) & (top[..., -1] != 0))


def rows_along(x, dims):
    kept = [i for i in range(x.value.ndim) if i not in dims]
    return np.transpose(x.value, kept + list(dims)).reshape([x.shape[i] for i in kept] + [-1])


def amax(x, dims=None, keepdim=False):
    """Equal maxima share the gradient evenly."""
    dims = axes(x, dims)
    note_ties(x, rows_along(x, dims))
    top = x.value.max(axis=dims, keepdims=True)
    hits = (x.value == top).astype(x.value.dtype)
    share = hits / hits.sum(axis=dims, keepdims=True)
    value = top if keepdim else x.value.max(axis=dims)
    return x.tape.make(value, [(x, lambda g: restore(g, x.shape, dims, keepdim) * share)])


def max_(x, dim, keepdim=False):
    """(values, indices); the gradient goes to the first maximum."""
    dim %= x.value.ndim
    note_ties(x, rows_along(x, (dim,)))
    index = np.expand_dims(x.value.argmax(axis=dim), dim)
    value = np.take_along_axis(x.value, index, dim)

    def pull(g):
        out = np.zeros_like(x.value)
        np.put_along_axis(out, index, restore(g, x.shape, (dim,), keepdim), dim)
        return out

    shaped = (lambda a: a) if keepdim else (lambda a: a.squeeze(dim))
    return x.tape.make(shaped(value), [(x, pull)]), x.tape.make(shaped(index))


def argmax(x, dim, keepdim=False):
    return max_(x, dim, keepdim)[1]


def negated(x):
    return x.tape.make(-x.value, [(x, lambda g: -g)])


def amin(x, dims=None, keepdim=False):
    return negated(amax(negated(x), dims, keepdim))


def min_(x, dim, keepdim=False):
    values, indices = max_(negated(x), dim, keepdim)
    return negated(values), indices


def argmin(x, dim, keepdim=False):
    return min_(x, dim, keepdim)[1]


def var(x, dims=None, correction=1, keepdim=False):
    dims = axes(x, dims)
    count = x.tape.dtype.type(np.prod([x.shape[d] for d in dims], dtype=np.int64))
    rest = x.value - total(x.tape, x.value, dims, True) / count
    free = count - x.tape.dtype.type(correction)
    return x.tape.make(total(x.tape, rest * rest, dims, keepdim) / free, [
        (x, lambda g: restore(g, x.shape, dims, keepdim) * 2 * rest / free)])


def std(x, dims=None, correction=1, keepdim=False):
    """The slope is infinite where nothing varies: PyTorch's gradient is 0 there."""
    variance = var(x, dims, correction, keepdim)
    value = np.sqrt(variance.value)
    slope = np.where(value > 0, 0.5 / np.where(value > 0, value, 1), 0).astype(value.dtype)
    x.tape.kink(np.where(value > 0, value, 1))
    return x.tape.make(value, [(variance, lambda g: g * slope)])


def logsumexp(x, dims, keepdim=False):
    dims = axes(x, dims)
    top = x.value.max(axis=dims, keepdims=True)
    shifted = np.exp(x.value - top)
    sums = total(x.tape, shifted, dims, True)
    value = np.log(sums) + top
    shaped = value if keepdim else value.reshape([n for i, n in enumerate(x.shape) if i not in dims])
    return x.tape.make(shaped, [(x, lambda g: restore(g, x.shape, dims, keepdim) * (shifted / sums))])


def index(x, key):
    """x[key] for a key of numbers, slices, None and Ellipsis."""
    def pull(g):
        out = np.zeros_like(x.value)
        out[key] = g
        return out
    return x.tape.make(x.value[key], [(x, pull)])


def along(dim, key):
    """A key that cuts one dim."""
    return (slice(None),) * dim + (key,)


def cat(parts, dim):
    ends = np.cumsum([p.shape[dim] for p in parts])
    pulls = [(p, lambda g, end=end, n=p.shape[dim]: np.take(g, range(end - n, end), dim)) for p, end in zip(parts, ends)]
    return parts[0].tape.make(np.concatenate([p.value for p in parts], dim), pulls)


def stack(parts, dim):
    return cat([reshape(p, np.expand_dims(p.value, dim).shape) for p in parts], dim)


def reshape(x, shape):
    return x.tape.make(x.value.reshape(shape), [(x, lambda g: g.reshape(x.shape))])


def transpose(x, a, b):
    return x.tape.make(np.swapaxes(x.value, a, b), [(x, lambda g: np.swapaxes(g, a, b))])


def squeeze(x, dim):
    return reshape(x, np.squeeze(x.value, dim).shape)


def unsqueeze(x, dim):
    return reshape(x, np.expand_dims(x.value, dim).shape)


def expand(x, shape):
    """PyTorch's expand: -1 keeps the extent of an existing dim."""
    lead = len(shape) - x.value.ndim
    full = [x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape)]
    return x.tape.make(np.broadcast_to(x.value, full), [(x, lambda g: unbroadcast(x.tape, g, x.shape))])
