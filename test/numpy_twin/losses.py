"""softmax, log_softmax and the losses."""

import numpy as np

from .summation import total


def log_softmax(x, dim):
    shifted = x.value - x.value.max(axis=dim, keepdims=True)
    value = shifted - np.log(total(x.tape, np.exp(shifted), dim, True))
    return x.tape.make(value, [(x, lambda g: g - np.exp(value) * total(x.tape, g, dim, True))])


def softmax(x, dim):
    e = np.exp(x.value - x.value.max(axis=dim, keepdims=True))
    value = e / total(x.tape, e, dim, True)
    return x.tape.make(value, [(x, lambda g: value * (g - total(x.tape, g * value, dim, True)))])


def reduce_loss(tape, values, parents, reduction, count):
    """`values`: the loss of each item; `parents`: (Var, pull of the items' gradient)."""
    scale = tape.dtype.type(1) / tape.dtype.type(count) if reduction == "mean" else tape.dtype.type(1)
    if reduction == "none":
        return tape.make(values, parents)
    spread = lambda pull: lambda g: pull(np.broadcast_to(g * scale, values.shape))
    return tape.make(total(tape, values) * scale, [(p, spread(pull)) for p, pull in parents])


def nll_loss(logprob, target, ignore_index=-100, reduction="mean"):
    """logprob [N, C, ...], target [N, ...]; the mean divides by the targets that are kept."""
    kept = target.value != ignore_index
    index = np.expand_dims(np.where(kept, target.value, 0), 1).astype(np.int64)
    picked = np.take_along_axis(logprob.value, index, 1).squeeze(1)
    values = np.where(kept, -picked, 0).astype(logprob.value.dtype)

    def pull(g):
        out = np.zeros_like(logprob.value)
        np.put_along_axis(out, index, np.expand_dims(np.where(kept, -g, 0), 1).astype(out.dtype), 1)
        return out

    return reduce_loss(logprob.tape, values, [(logprob, pull)], reduction, kept.sum())


def cross_entropy(x, target, ignore_index=-100, reduction="mean"):
    return nll_loss(log_softmax(x, 1), target, ignore_index, reduction)


def mse_loss(a, b, reduction="mean"):
    difference = a.value - b.value
    return reduce_loss(a.tape, difference * difference,
                       [(a, lambda g: 2 * g * difference), (b, lambda g: -2 * g * difference)],
                       reduction, difference.size)
