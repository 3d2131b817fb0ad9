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
    op, twin = b.choose([("sum", S.sum_), ("mean", S.mean), ("amax", S.amax), ("amin", S.amin)])
    dims, keepdim = some_dims(b, x), b.coin()
    # Sums stay of the size of what was summed.
    scale, shrink = ("", lambda y: y) if op != "sum" else (" * 0.3", lambda y: E.mul(y, 0.3))
    if b.coin(0.15) and op in ("sum", "mean"):
        return b.propose(f"{x.name}.{op}(){scale}", lambda env: shrink(twin(env[x.name])), x)
    listed = ", ".join(str(signed(b, d, x.rank)) for d in dims)
    where = listed if len(dims) == 1 and b.coin() else "{" + listed + "}"
    keep = "" if not keepdim else b.choose([", true", ", {.keepdim = true}"])
    return b.propose(f"{x.name}.{op}({where}{keep}){scale}",
                     lambda env: shrink(twin(env[x.name], dims, keepdim)), x)


def spread(b):
    """var, std and logsumexp."""
    x = b.pick(min_rank=1)
    if x is None:
        return None
    dims, keepdim = some_dims(b, x), b.coin()
    listed = "{" + ", ".join(str(signed(b, d, x.rank)) for d in dims) + "}"
    if b.coin(0.3):
        keep = "" if not keepdim else b.choose([", true", ", {.keepdim = true}"])
        return b.propose(f"{x.name}.logsumexp({listed}{keep})", lambda env: S.logsumexp(env[x.name], dims, keepdim), x)
    op, twin = b.choose([("var", S.var), ("std", S.std)])
    unbiased = b.coin() and int(np.prod([x.dims[d].count for d in dims])) > 1 and not any(x.dims[d].batch for d in dims)
    if b.coin(0.2):
        everything = tuple(range(x.rank))
        if unbiased:
            return b.propose(f"{x.name}.{op}()", lambda env: twin(env[x.name], everything), x)
        return b.propose(f"dl::{op}({x.name}, false)", lambda env: twin(env[x.name], everything, 0), x)
    word = "true" if unbiased else "false"
    options = [f"{word}, {str(keepdim).lower()}", f"{{.unbiased = {word}, .keepdim = {str(keepdim).lower()}}}",
               f"{{.correction = {int(unbiased)}, .keepdim = {str(keepdim).lower()}}}"]
    return b.propose(f"{x.name}.{op}({listed}, {b.choose(options)})",
                     lambda env: twin(env[x.name], dims, int(unbiased), keepdim), x)


def maximum_along(b):
    """max(dim) or min(dim) with its indices as numbers, or argmax or argmin."""
    x = b.pick(min_rank=1)
    if x is None:
        return None
    dim = b.number(0, x.rank - 1)
    least = b.coin(0.4)
    word, along, at, over = ("min", S.min_, S.argmin, S.amin) if least else ("max", S.max_, S.argmax, S.amax)
    written = signed(b, dim, x.rank)
    if b.coin(0.3):
        return b.propose(f"{x.name}.arg{word}({written}, true).to(dl::kFloat) * 0.1 + {x.name}",
                         lambda env: E.add(E.mul(E.cast_float(at(env[x.name], dim, True)), 0.1), env[x.name]), x)
    if b.coin(0.3):
        return b.propose(f"{x.name}.{word}()", lambda env: over(env[x.name]), x)

    def both(env):
        values, indices = along(env[x.name], dim)
        return E.add(values, E.mul(E.cast_float(indices), 0.1))
    name = x.name
    return b.propose(f"[&] {{ auto [v, i] = {name}.{word}({written}); return v + i.to(dl::kFloat) * 0.1; }}()", both, x)


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
    if b.coin(0.3):
        name = b.fresh("flat")
        b.member(f"nn::Flatten {name}{{{start}}};" if start != 1 or b.coin() else f"nn::Flatten {name};")
        return b.propose(f"{name}({x.name})", run, x)
    return b.propose(f"{x.name}.flatten({start})", run, x)


def part(b):
    """slice, narrow, select, and several indices at once."""
    x = b.pick(lambda v: any(not d.batch and d.count > 1 for d in v.dims))
    if x is None:
        return None
    dim = b.choose([i for i, d in enumerate(x.dims) if not d.batch and d.count > 1])
    count, written = x.dims[dim].count, signed(b, dim, x.rank)
    start = b.number(0, count - 1)
    end, step = b.number(start + 1, count), b.number(1, 3)
    kind = b.number(0, 3)
    if kind == 0:
        last = end - count if end < count and b.coin() else end
        return b.propose(f"{x.name}.slice({written}, {start}, {last}, {step})",
                         lambda env: S.index(env[x.name], S.along(dim, np.s_[start:end:step])), x)
    if kind == 1:
        return b.propose(f"{x.name}.narrow({written}, {start}, {end - start})",
                         lambda env: S.index(env[x.name], S.along(dim, np.s_[start:end])), x)
    shown = start - count if b.coin() else start
    if kind == 2:
        return b.propose(f"{x.name}.select({written}, {shown})", lambda env: S.index(env[x.name], S.along(dim, start)), x)
    return indexed(b, x)


def indexed(b, x):
    shown, key = [], []
    for d in x.dims[:b.number(1, x.rank)]:
        if d.batch or b.coin(0.3):
            shown.append("dl::Slice()"), key.append(slice(None))
        elif b.coin(0.4):
            at = b.number(0, d.count - 1)
            shown.append(str(at - d.count if b.coin() else at)), key.append(at)
        else:
            start = b.number(0, d.count - 1)
            end, step = b.number(start + 1, d.count), b.number(1, 2)
            shown.append(f"dl::Slice({start}, {end}, {step})"), key.append(slice(start, end, step))
        if b.coin(0.1):
            shown.append("dl::None"), key.append(None)
    if b.coin(0.2):
        shown.append("dl::Ellipsis"), key.append(Ellipsis)
    shown = ", ".join(shown)
    return b.propose(b.choose([f"{x.name}[{shown}]", f"{x.name}.index({{{shown}}})"]),
                     lambda env: S.index(env[x.name], tuple(key)), x)


def joined(b):
    """cat or stack of two to four tensors, now and then of more than an element looks at."""
    x = b.pick(lambda v: v.rank < 4)
    if x is None:
        return None
    count = 11 if b.coin(0.08) else b.number(2, 4)
    same = [v for v in b.pool if v.dims == x.dims]
    parts = [x] + [b.choose(same) for _ in range(count - 1)]
    names = ", ".join(v.name for v in parts)
    if x.rank == 0 or b.coin(0.4):
        dim = b.number(0, x.rank)
        written = dim - x.rank - 1 if b.coin() else dim
        return b.propose(f"dl::stack({{{names}}}, {written})", lambda env: S.stack([env[v.name] for v in parts], dim), *parts)
    dims = [i for i, d in enumerate(x.dims) if not d.batch or count == 2]
    if not dims:
        return None
    dim = b.choose(dims)
    if not x.dims[dim].batch:  # the other extents must agree, this one need not
        alike = [v for v in b.pool if v.rank == x.rank and not v.dims[dim].batch
                 and v.dims[:dim] + v.dims[dim + 1:] == x.dims[:dim] + x.dims[dim + 1:]]
        parts = [x] + [b.choose(alike) for _ in range(count - 1)]
    names = ", ".join(v.name for v in parts)
    return b.propose(f"dl::cat({{{names}}}, {signed(b, dim, x.rank)})",
                     lambda env: S.cat([env[v.name] for v in parts], dim), *parts)


def parted(b):
    """chunk, split, tensor_split and unbind, with the parts put together in another order."""
    x = b.pick(lambda v: any(not d.batch and d.count > 1 for d in v.dims))
    if x is None:
        return None
    dim = b.choose([i for i, d in enumerate(x.dims) if not d.batch and d.count > 1])
    count, written = x.dims[dim].count, signed(b, dim, x.rank)
    kind = b.number(0, 2)
    if kind == 0:
        chunks = b.number(2, 4)
        call, size = f"chunk({chunks}, {written})", -(-count // chunks)
        if chunks <= count and (chunks + count) % 2:
            call, size = f"tensor_split({chunks}, {written})", None
            bounds = [part * (count // chunks) + min(part, count % chunks) for part in range(chunks + 1)]
    elif kind == 1:
        size = b.number(1, count)
        call = f"split({size}, {written})"
    else:
        first = b.number(1, count - 1)
        call, size = f"split({{{first}, {count - first}}}, {written})" if first % 2 else f"tensor_split({{{first}}}, {written})", None
        bounds = [0, first, count]
    if size:
        bounds = [*range(0, count, size), count]
    bounds = bounds if len(bounds) < 12 else None
    if bounds is None:
        return None
    keys = [S.along(dim, slice(a, c)) for a, c in zip(bounds, bounds[1:])]
    if b.coin(0.5):  # only one part is used
        at = b.number(0, len(keys) - 1)
        return b.propose(f"{x.name}.{call}[{at}]", lambda env: S.index(env[x.name], keys[at]), x)
    run = lambda env: S.cat([S.index(env[x.name], key) for key in [*keys[1:], keys[0]]], dim)
    return b.propose(f"[&] {{ auto p = {x.name}.{call}; dl::TensorList q; for (int i = 0; i < p.size(); ++i) "
                     f"q.push_back(p[(i + 1) % p.size()]); return dl::cat(q, {dim}); }}()", run, x)


def unflatten(b):
    x = b.pick(lambda v: v.rank < 4 and any(not d.batch and d.count % 2 == 0 for d in v.dims))
    if x is None:
        return None
    dim = b.choose([i for i, d in enumerate(x.dims) if not d.batch and d.count % 2 == 0])
    shape = lambda env: [*env[x.name].shape[:dim], 2, -1, *env[x.name].shape[dim + 1:]]
    text = f"{signed(b, dim, x.rank)}, {{2, {b.choose([-1, x.dims[dim].count // 2])}}}"
    run = lambda env: S.reshape(env[x.name], shape(env))
    if b.coin(0.3):
        name = b.fresh("apart")
        b.member(f"nn::Unflatten {name}{{{text}}};")
        return b.propose(f"{name}({x.name})", run, x)
    return b.propose(f"{x.name}.unflatten({text})", run, x)


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


OPS = [(reduction, 4), (maximum_along, 1.5), (spread, 2), (part, 3), (joined, 2), (parted, 1.5), (unflatten, 0.5), (reshape, 3), (transpose, 3), (squeeze, 1), (unsqueeze, 1), (expand, 2),
       (flatten, 1), (constant, 0.7), (arange, 0.5), (random_numbers, 0.5)]
