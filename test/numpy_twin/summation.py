"""Sums and products of matrices, in the order NumPy chooses or strictly one term after the other.

In f32 the order decides the error: NumPy adds pairwise, BLAS in blocks, a simple
loop (and a kernel that keeps its sum in one register) in sequence, where errors
of equal terms add up. All are right; random_programs.py asks for both to learn
how far f32 results of a program may lie apart.
"""

import numpy as np


def total(tape, array, axis=None, keepdims=False):
    """array.sum over `axis`: None, a number or a tuple."""
    if not tape.sequential or array.size == 0:
        return array.sum(axis=axis, keepdims=keepdims)
    axes = tuple(range(array.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    axes = tuple(a % array.ndim for a in axes)
    kept = [i for i in range(array.ndim) if i not in axes]
    rows = np.transpose(array, kept + list(axes)).reshape([array.shape[i] for i in kept] + [-1])
    result = np.add.accumulate(rows, axis=-1)[..., -1]
    return result.reshape([1 if i in axes else n for i, n in enumerate(array.shape)]) if keepdims else result


def product(tape, a, b):
    """a @ b for matrices and stacks of them."""
    if not tape.sequential:
        return a @ b
    result = np.zeros(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + (a.shape[-2], b.shape[-1]), a.dtype)
    for k in range(a.shape[-1]):
        result += a[..., :, k, None] * b[..., None, k, :]
    return result
