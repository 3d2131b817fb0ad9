"""Elements at indices that are data, in another order, repeated or put into borders; images of another size."""

import numpy as np

from .shaping import cat, index, max_, mean, note_ties


def moved(x, how, outside=0.0):
    """`how` arranges the positions of x's elements; -1 stands for `outside`."""
    positions = how(np.arange(x.value.size).reshape(x.shape))
    inside = positions >= 0
    value = np.where(inside, x.value.reshape(-1)[positions], x.tape.dtype.type(outside))

    def pull(g):
        out = np.zeros(x.value.size, x.value.dtype)
        np.add.at(out, positions[inside], g[inside])
        return out.reshape(x.shape)
    return x.tape.make(value, [(x, pull)])


def gather(x, dim, indices):
    return moved(x, lambda p: np.take_along_axis(p[tuple(
        slice(None) if i == dim else slice(0, n) for i, n in enumerate(indices.shape))], indices, dim))


def take(x, dim, indices):
    """Slices of a dim: index_select, embedding, x[indices]."""
    return moved(x, lambda p: np.take(p, indices, dim))


def put(x, key, y):
    """x with y at x[key], where no element is named twice."""
    value = x.value.copy()
    value[key] = y.value

    def pull(g):
        out = g.copy()
        out[key] = 0
        return out
    return x.tape.make(value, [(x, pull), (y, lambda g: g[key])])


def scatter_add(x, dim, indices, source):
    """x with the elements of source, as many as there are indices, added."""
    place = list(np.indices(indices.shape))
    place[dim] = indices
    used = tuple(slice(0, n) for n in indices.shape)
    value = x.value.copy()
    np.add.at(value, tuple(place), source.value[used])

    def pull(g):
        out = np.zeros_like(source.value)
        out[used] = g[tuple(place)]
        return out
    return x.tape.make(value, [(x, lambda g: g), (source, pull)])


def index_reduce(x, dim, rows, source, kind, include_self):
    """The mean or the greatest of the slices of source that the list of rows puts into one of x, which may be among them."""
    values, from_self, from_source = x.value.copy(), np.zeros_like(x.value), np.zeros_like(source.value)
    moved = lambda array: np.moveaxis(array, dim, 0)
    for row in range(x.value.shape[dim]):
        places = [k for k, other in enumerate(rows) if other == row]
        if not places:
            moved(from_self)[row] = 1
            continue
        parts = [moved(source.value)[k] for k in places] + ([moved(x.value)[row]] if include_self else [])
        if kind == "amax":
            note_ties(x, np.moveaxis(np.array(parts), 0, -1))
        kept = moved(values)[row] = np.mean(parts, 0) if kind == "mean" else np.max(parts, 0)
        taken = np.ones_like(parts) if kind == "mean" else np.array([part == kept for part in parts], dtype=x.value.dtype)
        shares = taken / taken.sum(0)
        for k, share in zip(places, shares):
            moved(from_source)[k] = share
        if include_self:
            moved(from_self)[row] = shares[-1]
    return x.tape.make(values, [(x, lambda g: g * from_self), (source, lambda g: np.take(g, rows, dim) * from_source)])


def cumsum(x, dim):
    def pull(g):
        return np.flip(np.cumsum(np.flip(g, dim), dim, dtype=g.dtype), dim)
    return x.tape.make(np.cumsum(x.value, dim, dtype=x.value.dtype), [(x, pull)])


def cumprod(x, dim):
    def pull(g):
        given = np.zeros_like(x.value)
        for i in range(x.value.shape[dim]):  # each factor: what the others make
            others = np.moveaxis(x.value.copy(), dim, 0)
            others[i] = 1
            products = np.cumprod(others, 0, dtype=g.dtype)
            np.moveaxis(given, dim, 0)[i] = np.sum(products[i:] * np.moveaxis(g, dim, 0)[i:], 0)
        return given
    return x.tape.make(np.cumprod(x.value, dim, dtype=x.value.dtype), [(x, pull)])


def recurrence(a, b, dim, reverse=False):
    """h[t] = a[t] * h[t-1] + b[t], with `reverse` h[t+1], from zero on."""
    def along(p):
        return np.moveaxis(np.flip(p, dim) if reverse else p, dim, 0)

    def back(p):
        p = np.moveaxis(p, 0, dim)
        return np.flip(p, dim) if reverse else p

    factors, values = along(a.value), along(b.value).copy()
    for t in range(1, len(values)):
        values[t] += factors[t] * values[t - 1]

    def slopes(g):
        g = along(g).copy()
        for t in range(len(g) - 1, 0, -1):
            g[t - 1] += factors[t] * g[t]
        return g

    def of_factors(g):
        before = np.concatenate([np.zeros_like(values[:1]), values[:-1]])
        return back(slopes(g) * before)
    return a.tape.make(back(values), [(a, of_factors), (b, lambda g: back(slopes(g)))])


def cummax(x, dim):
    """(values, indices), of equal ones the last."""
    rows = np.moveaxis(x.value, dim, 0)
    places, best = np.zeros(rows.shape, np.int64), rows[0]
    for t in range(1, len(rows)):
        x.tape.kink(rows[t] - best, tie=(rows[t] == best) & (rows[t] != 0))
        places[t] = np.where(rows[t] >= best, t, places[t - 1])
        best = np.maximum(best, rows[t])
    places = np.moveaxis(places, 0, dim)
    return moved(x, lambda p: np.take_along_axis(p, places, dim)), x.tape.make(places)


def sort(x, dim, descending=False, count=None):
    """(values, indices), the first `count` of them."""
    order = np.argsort(-x.value if descending else x.value, dim, kind="stable")
    values = np.take_along_axis(x.value, order, dim)
    gaps = np.abs(np.diff(values, axis=dim))
    x.tape.kink(gaps, tie=(gaps == 0) & (np.take(values, range(1, values.shape[dim]), dim) != 0))
    order = np.take(order, range(count or order.shape[dim]), dim)
    return moved(x, lambda p: np.take_along_axis(p, order, dim)), x.tape.make(order)


def prod(x, dim, keepdim=False):
    """The slope of an element is the product of the others."""
    count = x.shape[dim]
    others = np.stack([np.prod(np.delete(x.value, i, dim), dim) for i in range(count)], dim)
    value = np.prod(x.value, dim, keepdims=keepdim)
    return x.tape.make(value, [(x, lambda g: (g if keepdim else np.expand_dims(g, dim)) * others)])


def triangle(x, lower, diagonal):
    kept = np.tril if lower else np.triu
    return moved(x, lambda p: kept(p + 1, diagonal) - 1)


def pad(x, widths, mode, value=0.0):
    """`widths`: before and after each dim, from the first; negative ones cut."""
    word = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    fill = {"constant_values": -1} if mode == "constant" else {}

    def how(p):
        cut = tuple(slice(max(-a, 0), n - max(-c, 0)) for (a, c), n in zip(widths, p.shape))
        return np.pad(p[cut], [(max(a, 0), max(c, 0)) for a, c in widths], mode=word, **fill)
    return moved(x, how, value)


def windows(p, kernel, stride, padding, dilation):
    """Positions [N, C * kernel, windows] of what unfold cuts out."""
    p = np.pad(p, [(0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2], constant_values=-1)
    taps = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            part = p[:, :, i * dilation[0]:, j * dilation[1]:]
            end = [n - d * (k - 1) for n, d, k in zip(p.shape[2:], dilation, kernel)]
            taps.append(part[:, :, :end[0]:stride[0], :end[1]:stride[1]])
    stacked = np.stack(taps, 2)
    return stacked.reshape(p.shape[0], p.shape[1] * len(taps), -1)


def unfold(x, kernel, stride, padding, dilation):
    return moved(x, lambda p: windows(p, kernel, stride, padding, dilation))


def fold(x, size, kernel, stride, padding, dilation):
    """The transpose of unfold."""
    channels = x.shape[1] // (kernel[0] * kernel[1])
    shape = (x.shape[0], channels, *size)
    positions = windows(np.arange(np.prod(shape)).reshape(shape), kernel, stride, padding, dilation)
    inside = positions >= 0
    value = np.zeros(np.prod(shape), x.value.dtype)
    np.add.at(value, positions[inside], x.value[inside])
    return x.tape.make(value.reshape(shape), [(x, lambda g: np.where(inside, g.reshape(-1)[positions], 0))])


def pixel_shuffle(x, r):
    n, c, h, w = x.shape
    return moved(x, lambda p: p.reshape(n, c // r // r, r, r, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, -1, h * r, w * r))


def pixel_unshuffle(x, r):
    n, c, h, w = x.shape
    return moved(x, lambda p: p.reshape(n, c, h // r, r, w // r, r).transpose(0, 1, 3, 5, 2, 4).reshape(n, -1, h // r, w // r))


def channel_shuffle(x, groups):
    return moved(x, lambda p: p.reshape(p.shape[0], groups, p.shape[1] // groups, -1).swapaxes(1, 2).reshape(p.shape))


def nearest(x, sizes):
    """Places are rounded to f32, as PyTorch does it for all types."""
    for dim, to in enumerate(sizes, 2):
        place = np.floor(np.arange(to, dtype=np.float32) * np.float32(x.shape[dim] / to)).astype(int)
        x = take(x, dim, np.minimum(place, x.shape[dim] - 1))
    return x


def linear(x, sizes, corners):
    """A matrix for each dim, two weights a row."""
    for dim, to in enumerate(sizes, 2):
        size, dtype = x.shape[dim], x.tape.dtype.type
        if size == to:
            continue
        if corners:
            at = np.arange(to, dtype=dtype) * dtype((size - 1) / (to - 1) if to > 1 else 0)
        else:
            at = np.maximum((np.arange(to, dtype=dtype) + dtype(0.5)) * dtype(size / to) - dtype(0.5), dtype(0))
        first = np.minimum(np.floor(at).astype(int), size - 1)
        weights = np.zeros((to, size), x.value.dtype)
        np.add.at(weights, (np.arange(to), first), 1 - (at - first.astype(dtype)))
        np.add.at(weights, (np.arange(to), np.minimum(first + 1, size - 1)), at - first.astype(dtype))
        along = lambda m, v, dim=dim: np.moveaxis(np.tensordot(m, v, (1, dim)), 0, dim)
        x = x.tape.make(along(weights, x.value), [(x, lambda g, w=weights, a=along: a(w.T, g))])
    return x


def adaptive(x, sizes, maximum):
    """Pools into so many parts of each of the last dims."""
    for dim, parts in enumerate(sizes, x.value.ndim - len(sizes)):
        size, key = x.shape[dim], (slice(None),) * dim
        pieces = [index(x, key + (slice(i * size // parts, -(-(i + 1) * size // parts)),)) for i in range(parts)]
        pool = (lambda v: max_(v, dim, True)[0]) if maximum else (lambda v: mean(v, [dim], True))
        x = cat([pool(piece) for piece in pieces], dim)
    return x
