"""Reductions, views, and tensors from nothing."""

import numpy as np

from numpy_twin import elementwise as E, philox as R, shaping as S

from .program import Dim, brace, product


def some_dims(b, x):
    count = b.number(1, x.rank)
    return sorted(b.rng.choice(x.rank, count, replace=False).tolist())


def signed(b, dim, rank):
    return dim - rank if b.coin() else dim


def reduction(b):
    x = b.pick(min_rank=1)
    if x is None:
        return None
    op, twin = b.choose([("sum", S.sum_), ("mean", S.mean), ("amax", S.amax)])
    dims, keepdim = some_dims(b, x), b.coin()
    # Sums stay of the size of what was summed.
    scale, shrink = ("", lambda y: y) if op != "sum" else (" * 0.3", lambda y: E.mul(y, 0.3))
    if b.coin(0.15) and op != "amax":
        return b.propose(f"{x.name}.{op}(){scale}", lambda env: shrink(twin(env[x.name])), x)
    listed = ", ".join(str(signed(b, d, x.rank)) for d in dims)
    where = listed if len(dims) == 1 and b.coin() else "{" + listed + "}"
    keep = "" if not keepdim else b.choose([", true", ", {.keepdim = true}"])
    return b.propose(f"{x.name}.{op}({where}{keep}){scale}",
                     lambda env: shrink(twin(env[x.name], dims, keepdim)), x)


def maximum_along(b):
    """max(dim) with its indices as numbers, or argmax."""
    x = b.pick(min_rank=1)
    if x is None:
        return None
    dim = b.number(0, x.rank - 1)
    written = signed(b, dim, x.rank)
    if b.coin(0.3):
        return b.propose(f"{x.name}.argmax({written}, true).to(dl::kFloat) * 0.1 + {x.name}",
                         lambda env: E.add(E.mul(E.cast_float(S.argmax(env[x.name], dim, True)), 0.1), env[x.name]), x)
    if b.coin(0.3):
        return b.propose(f"{x.name}.max()", lambda env: S.amax(env[x.name]), x)

    def both(env):
        values, indices = S.max_(env[x.name], dim)
        return E.add(values, E.mul(E.cast_float(indices), 0.1))
    name = x.name
    return b.propose(f"[&] {{ auto [v, i] = {name}.max({written}); return v + i.to(dl::kFloat) * 0.1; }}()", both, x)


def reshape(b):
    """Merges two neighbours or splits a dim, sometimes with -1."""
    x = b.pick(min_rank=1)
    if x is None:
        return None
    dims = list(x.dims)
    at = b.number(0, x.rank - 1)
    divisors = [d for d in range(2, dims[at].count) if dims[at].count % d == 0]
    if divisors and not dims[at].batch and x.rank < 5 and b.coin(0.7):
        part = b.choose(divisors)
        dims[at:at + 1] = [Dim(part), Dim(dims[at].count // part)]
    elif at + 1 < x.rank and (merged := product(dims[at:at + 2])):
        dims[at:at + 2] = [merged]
    else:
        return None
    return view(b, x, dims, b.choose(["view", "reshape"]))


def view(b, x, dims, word="view"):
    """A statement that gives x the shape `dims`."""
    shown = [d.text() for d in dims]
    if b.coin(0.4) and dims:
        shown[b.number(0, len(dims) - 1)] = "-1"
    return b.propose(f"{x.name}.{word}({{{', '.join(shown)}}})",
                     lambda env: S.reshape(env[x.name], [d.extent(env["B"]) for d in dims]), x)


def transpose(b):
    x = b.pick(min_rank=2)
    if x is None:
        return None
    if x.rank == 2 and b.coin(0.3):
        return b.propose(f"{x.name}.t()", lambda env: S.transpose(env[x.name], 0, 1), x)
    if b.coin(0.3):
        order = b.rng.permutation(x.rank).tolist()
        return b.propose(f"{x.name}.permute({{{', '.join(map(str, order))}}})",
                         lambda env: permuted(env[x.name], order), x)
    i, j = b.rng.choice(x.rank, 2, replace=False).tolist()
    return b.propose(f"{x.name}.transpose({signed(b, i, x.rank)}, {signed(b, j, x.rank)})",
                     lambda env: S.transpose(env[x.name], i, j), x)


def permuted(x, order):
    back = np.argsort(order)
    return x.tape.make(np.transpose(x.value, order), [(x, lambda g: np.transpose(g, back))])


def squeeze(b):
    x = b.pick(lambda v: any(d.one for d in v.dims))
    if x is None:
        return None
    dim = b.choose([i for i, d in enumerate(x.dims) if d.one])
    return b.propose(f"{x.name}.squeeze({signed(b, dim, x.rank)})", lambda env: S.squeeze(env[x.name], dim), x)


def unsqueeze(b):
    x = b.pick(lambda v: v.rank < 4)
    if x is None:
        return None
    dim = b.number(0, x.rank)
    written = dim - x.rank - 1 if b.coin() else dim
    return b.propose(f"{x.name}.unsqueeze({written})", lambda env: S.unsqueeze(env[x.name], dim), x)


def expand(b):
    x = b.pick(lambda v: v.rank < 4 and all(not d.batch for d in v.dims))
    if x is None:
        return None
    dims = [Dim(b.number(2, 5)) if d.one else d for d in x.dims]
    shown = ["-1" if d == old and b.coin(0.3) else d.text() for d, old in zip(dims, x.dims)]
    if b.coin() or dims == x.dims:
        lead = Dim(1, True) if b.coin() else Dim(b.number(1, 4))
        dims, shown = [lead] + dims, [lead.text()] + shown
    return b.propose(f"{x.name}.expand({{{', '.join(shown)}}})",
                     lambda env: S.expand(env[x.name], [d.extent(env["B"]) for d in dims]), x)


def flatten(b):
    x = b.pick(min_rank=2)
    if x is None:
        return None
    start = b.number(0, x.rank - 2)
    if product(x.dims[start:]) is None:
        return None

    def run(env):
        shape = env[x.name].shape
        return S.reshape(env[x.name], list(shape[:start]) + [-1])
    return b.propose(f"{x.name}.flatten({start})", run, x)


def constant(b):
    """A tensor made in the step, of the shape of another."""
    x = b.pick()
    c = b.number(1, 9) / 4
    text, value = b.choose([(f"dl::zeros({brace(x.dims)})", 0.0), (f"dl::ones({brace(x.dims)})", 1.0),
                            (f"dl::full({brace(x.dims)}, {c})", c), (f"dl::full_like({x.name}, {c})", c)])
    return b.propose(f"{text} - {x.name}",
                     lambda env: E.sub(env[x.name].tape.var(np.full(env[x.name].shape, value)), env[x.name]), x)


def arange(b):
    x = b.pick(lambda v: v.rank and not v.dims[-1].batch)
    if x is None:
        return None
    start, count, step = b.number(-2, 3), x.dims[-1].count, b.number(1, 3)
    text = f"dl::arange({start}, {start + count * step}, {step})"
    if b.coin():
        text, start, step = f"dl::arange({count})", 0, 1
    values = np.arange(start, start + count * step, step, dtype=float)
    return b.propose(f"{text}.to(dl::kFloat) * 0.1 + {x.name}",
                     lambda env: E.add(E.mul(env[x.name].tape.var(values), 0.1), env[x.name]), x)


def random_numbers(b):
    x = b.pick()
    word, draw = b.choose([("rand", R.rand), ("randn", R.randn)])
    return b.propose(f"dl::{word}({brace(x.dims)}) * {x.name}",
                     lambda env: E.mul(draw(env[x.name].tape, env[x.name].shape), env[x.name]), x)


OPS = [(reduction, 4), (maximum_along, 1), (reshape, 3), (transpose, 3), (squeeze, 1), (unsqueeze, 1), (expand, 2),
       (flatten, 1), (constant, 0.7), (arange, 0.5), (random_numbers, 0.5)]
