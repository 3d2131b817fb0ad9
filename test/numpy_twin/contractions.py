"""matmul, einsum, linear, conv2d, its transpose, max_pool2d and avg_pool2d."""

import numpy as np

from .autodiff import unbroadcast
from .shaping import note_ties
from .summation import product, total


def matmul(a, b):
    """PyTorch's rules: a vector is a row on the left and a column on the right, batch dims broadcast."""
    if a.value.ndim == 1 or b.value.ndim == 1:
        return vector_matmul(a, b)
    tape, turned = a.tape, lambda m: np.swapaxes(m, -1, -2)
    return tape.make(product(tape, a.value, b.value), [
        (a, lambda g: unbroadcast(tape, product(tape, g, turned(b.value)), a.shape)),
        (b, lambda g: unbroadcast(tape, product(tape, turned(a.value), g), b.shape))])


def vector_matmul(a, b):
    left = a.value.reshape(1, -1) if a.value.ndim == 1 else a.value
    right = b.value.reshape(-1, 1) if b.value.ndim == 1 else b.value
    tape, turned = a.tape, lambda m: np.swapaxes(m, -1, -2)
    full = product(tape, left, right)
    drop = ([-2] if a.value.ndim == 1 else []) + ([-1] if b.value.ndim == 1 else [])
    shape = [n for i, n in enumerate(full.shape) if i - full.ndim not in drop]
    pull_a = lambda g: unbroadcast(tape, product(tape, g.reshape(full.shape), turned(right)), left.shape)
    pull_b = lambda g: unbroadcast(tape, product(tape, turned(left), g.reshape(full.shape)), right.shape)
    return tape.make(full.reshape(shape), [(a, lambda g: pull_a(g).reshape(a.shape)),
                                           (b, lambda g: pull_b(g).reshape(b.shape))])


def contraction(tape, a, in_a, b, in_b, result):
    """The sum over all dims that `result` does not name; a dim of 1 meets any other of its name."""
    def reduced(x, names, other):
        alone = tuple(i for i, name in enumerate(names) if name not in other and name not in result)
        return (total(tape, x, alone) if alone else x), [n for n in names if n in other or n in result]
    (a, in_a), (b, in_b) = reduced(a, in_a, in_b), reduced(b, in_b, in_a)
    sizes = {}
    for name, size in [*zip(in_a, a.shape), *zip(in_b, b.shape)]:
        sizes[name] = max(size, sizes.get(name, 1))
    batch = [n for n in in_a if n in in_b and n in result]
    inner = [n for n in in_a if n in in_b and n not in result]
    rows, columns = [n for n in in_a if n not in in_b], [n for n in in_b if n not in in_a]
    def matrices(x, names, first, second):
        x = np.broadcast_to(x, [sizes[n] for n in names])
        count = lambda group: int(np.prod([sizes[n] for n in group]))
        x = x.transpose([names.index(n) for n in [*batch, *first, *second]])
        return x.reshape([*(sizes[n] for n in batch), count(first), count(second)])
    y = product(tape, matrices(a, in_a, rows, inner), matrices(b, in_b, inner, columns))
    order = batch + rows + columns
    return y.reshape([sizes[n] for n in order]).transpose([order.index(n) for n in result])


def einsum(equation, a, b):
    """PyTorch's, of two operands: "bthd,bshd->bhts"."""
    operands, result = equation.split("->")
    in_a, in_b = operands.split(",")
    tape = a.tape
    def pull(own, names, other, in_other):
        def gradient(g):
            kept = [n for n in names if n in result or n in in_other]
            full = contraction(tape, g, result, other.value, in_other, kept)
            full = full.reshape([1 if n not in kept else full.shape[kept.index(n)] for n in names])
            repeated = tuple(i for i, size in enumerate(own.shape) if size == 1 and full.shape[i] != 1)
            full = total(tape, full, repeated, keepdims=True) if repeated else full
            return np.broadcast_to(full, own.shape)
        return gradient
    return tape.make(contraction(tape, a.value, in_a, b.value, in_b, result),
                     [(a, pull(a, in_a, b, in_b)), (b, pull(b, in_b, a, in_a))])


def linear(x, weight, bias=None):
    """x [..., K] times weight [N, K] transposed, plus bias."""
    tape, rows = x.tape, lambda a: a.reshape(-1, a.shape[-1])
    value = product(tape, rows(x.value), weight.value.T).reshape(*x.shape[:-1], weight.shape[0])
    parents = [(x, lambda g: product(tape, rows(g), weight.value).reshape(x.shape)),
               (weight, lambda g: product(tape, rows(g).T, rows(x.value)))]
    if bias is not None:
        value = value + bias.value
        parents.append((bias, lambda g: total(tape, rows(g), 0)))
    return tape.make(value, parents)


def taps(kernel):
    return [(dy, dx) for dy in range(kernel[0]) for dx in range(kernel[1])]


def extents(size, kernel, stride, padding, dilation=(1, 1)):
    return [(size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)]


def window(padded, tap, out, stride, dilation=(1, 1)):
    """What one tap of the kernel sees: a strided view of the padded image."""
    (dy, dx), (sy, sx) = [t * d for t, d in zip(tap, dilation)], stride
    return padded[:, :, dy:dy + sy * (out[0] - 1) + 1:sy, dx:dx + sx * (out[1] - 1) + 1:sx]


def pad_image(image, padding, value=0.0):
    py, px = padding
    return np.pad(image, ((0, 0), (0, 0), (py, py), (px, px)), constant_values=value)


def crop(padded, padding, size):
    return padded[:, :, padding[0]:padding[0] + size[0], padding[1]:padding[1] + size[1]]


def conv2d(x, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    """NCHW image, OIHW kernel, cross-correlation: one small matrix product for each tap and group."""
    size, kernel = x.shape[2:], weight.shape[2:]
    out = extents(size, kernel, stride, padding, dilation)
    padded = pad_image(x.value, padding)
    value = np.zeros((x.shape[0], weight.shape[0], *out), x.value.dtype)
    ins, outs = weight.shape[1], weight.shape[0] // groups
    parts = [(tap, slice(k * ins, (k + 1) * ins), slice(k * outs, (k + 1) * outs))
             for tap in taps(kernel) for k in range(groups)]
    for tap, c, o in parts:
        value[:, o] += np.einsum("nchw,oc->nohw", window(padded[:, c], tap, out, stride, dilation),
                                 weight.value[o, :, tap[0], tap[1]])

    def pull_x(g):
        full = np.zeros_like(padded)
        for tap, c, o in parts:
            window(full[:, c], tap, out, stride, dilation)[...] += np.einsum(
                "nohw,oc->nchw", g[:, o], weight.value[o, :, tap[0], tap[1]])
        return crop(full, padding, size)

    def pull_weight(g):
        full = np.zeros_like(weight.value)
        for tap, c, o in parts:
            outputs = np.moveaxis(g[:, o], 1, 0).reshape(outs, -1)
            inputs = np.moveaxis(window(padded[:, c], tap, out, stride, dilation), 1, -1).reshape(-1, ins)
            full[o, :, tap[0], tap[1]] = product(x.tape, outputs, inputs)
        return full

    parents = [(x, pull_x), (weight, pull_weight)]
    if bias is not None:
        value = value + bias.value.reshape(1, -1, 1, 1)
        parents.append((bias, lambda g: total(x.tape, g, (0, 2, 3))))
    return x.tape.make(value, parents)


def max_pool2d(x, kernel, stride=None, padding=(0, 0)):
    """The gradient goes to the first maximum of each window."""
    stride = stride or kernel
    size, out = x.shape[2:], extents(x.shape[2:], kernel, stride, padding)
    padded = pad_image(x.value, padding, -np.inf)
    views = np.stack([window(padded, tap, out, stride) for tap in taps(kernel)], axis=-1)
    best = views.argmax(axis=-1)
    note_ties(x, views)

    def pull(g):
        full = np.zeros_like(padded)
        for number, tap in enumerate(taps(kernel)):
            window(full, tap, out, stride)[...] += np.where(best == number, g, 0)
        return crop(full, padding, size)

    return x.tape.make(views.max(axis=-1), [(x, pull)])


def pooled(n, kernel, stride, padding, ceil_mode):
    """How many windows there are along a dim of n elements; each begins in the input or its near padding."""
    count = (n + 2 * padding - kernel) // stride + 1
    more = ceil_mode and (n + 2 * padding - kernel) % stride and count * stride < n + padding
    return count + bool(more)


def avg_pool2d(x, kernel, stride=None, padding=(0, 0), ceil_mode=False, count_include_pad=True, divisor_override=None):
    """One product with a matrix of averages for each of the two dims of the image."""
    stride = stride or kernel
    sides, counts = [], []
    for n, k, s, p in zip(x.shape[2:], kernel, stride, padding):
        side = np.zeros((pooled(n, k, s, p, ceil_mode), n), x.value.dtype)
        for row in range(len(side)):
            first, last = row * s - p, row * s - p + k
            side[row, max(first, 0):min(last, n)] = 1
            counts.append((min(last, n + p) - first) if count_include_pad else min(last, n) - max(first, 0))
        sides.append(side)
    high = np.array(counts[:len(sides[0])], x.value.dtype)
    wide = np.array(counts[len(sides[0]):], x.value.dtype)
    divisor = x.tape.dtype.type(divisor_override) if divisor_override else high[:, None] * wide
    sums = lambda a, left, right: np.einsum("yh,nchw,xw->ncyx", left, a, right)
    return x.tape.make(sums(x.value, *sides) / divisor, [
        (x, lambda g: sums(g / divisor, sides[0].T, sides[1].T))])


def conv_transpose2d(x, weight, bias, stride, padding, output_padding, dilation, groups):
    """Each pixel of x [N,C,H,W] adds a multiple of the kernel [C,O/groups,KH,KW]."""
    kernel, tape = weight.shape[2:], x.tape
    size = [(n - 1) * s - 2 * p + d * (k - 1) + o + 1
            for n, s, p, d, k, o in zip(x.shape[2:], stride, padding, dilation, kernel, output_padding)]
    ins, outs = x.shape[1] // groups, weight.shape[1]
    full = np.zeros((x.shape[0], outs * groups, *(n + 2 * p for n, p in zip(size, padding))), x.value.dtype)
    parts = [(tap, slice(k * ins, (k + 1) * ins), slice(k * outs, (k + 1) * outs))
             for tap in taps(kernel) for k in range(groups)]
    see = lambda a, tap, o: window(a[:, o], tap, x.shape[2:], stride, dilation)
    for tap, c, o in parts:
        see(full, tap, o)[...] += np.einsum("nchw,co->nohw", x.value[:, c], weight.value[c, :, tap[0], tap[1]])

    def pull_x(g):
        g, out = pad_image(g, padding), np.zeros_like(x.value)
        for tap, c, o in parts:
            out[:, c] += np.einsum("nohw,co->nchw", see(g, tap, o), weight.value[c, :, tap[0], tap[1]])
        return out

    def pull_weight(g):
        g, out = pad_image(g, padding), np.zeros_like(weight.value)
        for tap, c, o in parts:
            out[c, :, tap[0], tap[1]] += np.einsum("nchw,nohw->co", x.value[:, c], see(g, tap, o))
        return out
    y = tape.make(crop(full, padding, size), [(x, pull_x), (weight, pull_weight)])
    if bias is None:
        return y
    return tape.make(y.value + bias.value.reshape(-1, 1, 1), [(y, lambda g: g), (bias, lambda g: total(tape, g, (0, 2, 3)))])
