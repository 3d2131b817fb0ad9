"""Philox4x32-10 (Salmon et al., SC 2011) and the dropout made of it.

The counters (lo32(n), hi32(n), step, micro) for n = 0, 1, ... and the key
(lo32(seed) ^ lo32(key), hi32(seed) ^ hi32(key)), where `key` names the op, make
four words each: one sequence. Element i of a random tensor takes the word i of
it or, where it needs two, the words 2 i and 2 i + 1. Nothing depends on threads
or on the batch's neighbours.
"""

import numpy as np

MASK = np.uint64(0xFFFFFFFF)
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL = 0x9E3779B9, 0xBB67AE85


def philox(counter, key):
    """`counter`: four arrays of u32 values, `key`: two numbers. Four arrays of u32 values as u64."""
    c = [np.asarray(x, np.uint64) & MASK for x in counter]
    k = [int(x) & 0xFFFFFFFF for x in key]
    for _ in range(10):
        low, high = MULTIPLIERS[0] * c[0], MULTIPLIERS[1] * c[2]
        c = [(high >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), high & MASK,
             (low >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), low & MASK]
        k = [(k[i] + WEYL[i]) & 0xFFFFFFFF for i in (0, 1)]
    return c


def words(count, key, seed, step, micro):
    """The first `count` words of the sequence of one random op."""
    counter = np.arange(-(-count // 4), dtype=np.uint64)
    same = lambda value: np.full(len(counter), value & 0xFFFFFFFF, np.uint64)
    four = philox((counter & MASK, counter >> np.uint64(32), same(step), same(micro)),
                  ((seed ^ key) & 0xFFFFFFFF, ((seed ^ key) >> 32) & 0xFFFFFFFF))
    return np.stack(four, axis=1).reshape(-1)[:count]


def uniform(count, key, seed, step=0, micro=0):
    """In [0, 1), 24 bits."""
    return (words(count, key, seed, step, micro) >> np.uint64(8)).astype(np.float64) * 2.0 ** -24


def normal(count, key, seed, step=0, micro=0):
    """Mean 0, standard deviation 1 (Box and Muller)."""
    first, second = words(2 * count, key, seed, step, micro).reshape(-1, 2).T
    u1 = ((first >> np.uint64(8)).astype(np.float64) + 1) * 2.0 ** -24
    u2 = (second >> np.uint64(8)).astype(np.float64) * 2.0 ** -24
    return np.sqrt(-2 * np.log(u1)) * np.cos(2 * np.pi * u2)


def key_of(tape, base):
    """The key of the next random op: FNV-1a of "path#ordinal". `base` is the path of the module the op stands in,
    or the op's own name outside of any; the ordinal counts the random ops of that base in the step."""
    ordinal = tape.ordinals.get(base, 0)
    tape.ordinals[base] = ordinal + 1
    value = 14695981039346656037
    for byte in f"{base}#{ordinal}".encode():
        value = (value ^ byte) * 1099511628211 % 2 ** 64
    return value


def rand(tape, shape):
    count = int(np.prod(shape, dtype=np.int64))
    return tape.make(uniform(count, key_of(tape, "uniform"), tape.seed, tape.step, tape.micro).reshape(shape))


def randn(tape, shape):
    count = int(np.prod(shape, dtype=np.int64))
    return tape.make(normal(count, key_of(tape, "normal"), tape.seed, tape.step, tape.micro).reshape(shape))


def alpha_dropout(x, p, base):
    """Dropped elements become selu's least value; mean and variance stay."""
    tape, least = x.tape, 1.7580993408473766
    if not tape.training or p == 0:
        return tape.make(x.value, [(x, lambda g: g)])
    a = 1 / np.sqrt((least * least * p + 1) * (1 - p))
    count, cast = int(np.prod(x.shape, dtype=np.int64)), tape.dtype.type
    kept = (uniform(count, key_of(tape, base), tape.seed, tape.step, tape.micro) >= p).reshape(x.shape)
    return tape.make(np.where(kept, x.value, cast(-least)) * cast(a) + cast(least * a * p), [(x, lambda g: np.where(kept, g * cast(a), cast(0)))])


def dropout(x, p, base, channelwise=False):
    """Keeps an element with probability 1 - p and scales it by 1 / (1 - p); channelwise: whole [n, c] planes."""
    tape = x.tape
    if not tape.training or p == 0:
        return tape.make(x.value, [(x, lambda g: g)])
    shape = x.shape[:2] if channelwise else x.shape
    count, key = int(np.prod(shape, dtype=np.int64)), key_of(tape, base)
    kept = (uniform(count, key, tape.seed, tape.step, tape.micro) >= p).reshape(shape)
    if channelwise:
        kept = kept.reshape(shape + (1,) * (x.value.ndim - 2))
    scale = np.where(kept, tape.dtype.type(1 / (1 - p)), tape.dtype.type(0))
    return tape.make(x.value * scale, [(x, lambda g: g * scale)])
