"""Products, layers, convolutions, pools, softmax and dropout."""

from numpy_twin import contractions as C, elementwise as E, losses as L, philox as R, shaping as S

from .program import Dim

# Products grow with their inner extent; this keeps them near 1.
SHRINK = 0.4


def shrink(y):
    return E.mul(y, SHRINK)


def matmul(b):
    """x times a new parameter, on either side; a vector now and then."""
    x = b.pick(min_rank=1)
    if x is None:
        return None
    right = b.coin(0.7) or x.rank < 2 or x.dims[-2].batch
    inner = x.dims[-1] if right else x.dims[-2]
    if inner.batch:
        return None
    other = [] if b.coin(0.2) else [Dim(b.width())]
    w = b.parameter([inner] + other if right else other + [inner], 0.8)
    left, second = (x, w) if right else (w, x)
    spelling = b.choose([f"dl::matmul({left.name}, {second.name})", f"{left.name}.matmul({second.name})"])
    return b.propose(f"{spelling} * {SHRINK}",
                     lambda env: shrink(C.matmul(env[left.name], env[second.name])), left, second)


def gram(b):
    """A tensor times its own transpose: two uses of one value."""
    x = b.pick(lambda v: 2 <= v.rank <= 4)
    if x is None:
        return None
    flip = b.coin()
    if x.dims[-1 if flip else -2].batch and x.rank == 2 and not flip:
        return None  # [B, B] has no place in a program whose batch may shrink
    t = f"{x.name}.transpose(-1, -2)"
    a, c = (x.name, t) if flip else (t, x.name)

    def run(env):
        v = env[x.name]
        w = S.transpose(v, -1, -2)
        return shrink(C.matmul(v, w) if flip else C.matmul(w, v))
    return b.propose(f"dl::matmul({a}, {c}) * {SHRINK}", run, x)


def stacks(b):
    """A product of two stacks whose leading dims are broadcast."""
    x = b.pick(lambda v: v.rank in (3, 4) and not v.dims[-1].batch)
    if x is None:
        return None
    lead = [Dim(1) if d.batch or b.coin(0.3) else d for d in x.dims[:-2]]
    w = b.parameter(lead + [x.dims[-1], Dim(b.width())], 0.8)
    return b.propose(f"dl::matmul({x.name}, {w.name}) * {SHRINK}",
                     lambda env: shrink(C.matmul(env[x.name], env[w.name])), x, w)


def einsum(b):
    """x times a new parameter: each dim of x stays, is shared or is summed, in any order; some of the parameter's are new."""
    x = b.pick(lambda v: 1 <= v.rank <= 4)
    if x is None:
        return None
    names = "bthdmn"
    shared, summed = [], []
    for name, dim in zip(names, x.dims):
        if not dim.batch and b.coin(0.6):
            shared.append(name)
            if b.coin(0.7):
                summed.append(name)
    new = [name for name in "xy" if b.coin(0.4)]
    shuffled = lambda items: [items[int(i)] for i in b.rng.permutation(len(items))]
    in_x, in_w = list(names[:x.rank]), shuffled(shared + new)
    rest = shuffled([n for n in in_x + new if n not in summed and not (n in in_x and x.dims[in_x.index(n)].batch)])
    result = [n for n in in_x if x.dims[in_x.index(n)].batch] + rest
    if not in_w:
        return None
    dims = [x.dims[in_x.index(n)] if n in in_x else Dim(b.width()) for n in in_w]
    w = b.parameter([Dim(1) if d.count != 1 and b.coin(0.05) else d for d in dims], 0.8)
    first, second = ((x.name, in_x), (w.name, in_w))[::1 if b.coin() else -1]
    equation = f"{''.join(first[1])},{''.join(second[1])}->{''.join(result)}"
    return b.propose(f'dl::einsum("{equation}", {first[0]}, {second[0]}) * {SHRINK}',
                     lambda env: shrink(C.einsum(equation, env[first[0]], env[second[0]])), x, w)


def linear(b):
    x = b.pick(lambda v: v.rank and not v.dims[-1].batch)
    if x is None:
        return None
    features, out, bias = x.dims[-1].count, b.width(), b.coin(0.7)
    if b.coin(0.3):
        w = b.parameter([Dim(out), Dim(features)], 0.6)
        c = b.parameter([Dim(out)], 0.6) if bias else None
        return b.propose(f"F::linear({x.name}, {w.name}{', ' + c.name if bias else ''})",
                         lambda env: C.linear(env[x.name], env[w.name], env[c.name] if bias else None), x)
    name = b.fresh("fc")
    weight = b.layer_weight(f"{name}.weight", (out, features))
    second = b.layer_weight(f"{name}.bias", (out,)) if bias else None
    options = "" if bias else ", {.bias = false}"
    b.member(f"nn::Linear {name}{{{features}, {out}{options}}};")
    return b.propose(f"{name}({x.name})",
                     lambda env: C.linear(env[x.name], env[weight], env[second] if bias else None), x)


def block(b):
    """A module of the user's with modules inside."""
    x = b.pick(lambda v: v.rank and not v.dims[-1].batch)
    if x is None:
        return None
    kind, name = b.fresh("Block"), b.fresh("part")
    features, out, p = x.dims[-1].count, b.width(), b.number(1, 6) / 10
    b.struct(f"struct {kind} : nn::Module {{\n  nn::Linear inner{{{features}, {out}}};\n  nn::Dropout drop{{{p}}};\n"
             f"  dl::Tensor forward(dl::Tensor x) {{ return drop(F::relu(inner(x))); }}\n}};")
    b.member(f"{kind} {name};")
    weight = b.layer_weight(f"{name}.inner.weight", (out, features))
    bias = b.layer_weight(f"{name}.inner.bias", (out,))
    return b.propose(f"{name}({x.name})",
                     lambda env: R.dropout(E.relu(C.linear(env[x.name], env[weight], env[bias])), p, f"{name}.drop"), x)


def images(b, smallest=1):
    fits = lambda d: not d.batch and d.count >= smallest
    return b.pick(lambda v: v.rank == 4 and not v.dims[1].batch and fits(v.dims[2]) and fits(v.dims[3]))


def pair(values):
    return str(values[0]) if values[0] == values[1] else f"{{{values[0]}, {values[1]}}}"


def window_options(b, stride, padding, standard_stride):
    parts = [f".stride = {pair(stride)}"] if tuple(stride) != tuple(standard_stride) else []
    parts += [f".padding = {pair(padding)}"] if any(padding) else []
    return parts


def conv2d(b):
    x = images(b)
    if x is None:
        return None
    size = [x.dims[2].count, x.dims[3].count]
    padding = [b.number(0, 2) if b.coin(0.4) else 0 for _ in size]
    kernel = [b.number(1, min(4, n + 2 * p)) for n, p in zip(size, padding)]
    stride = [b.number(1, 3) if b.coin(0.4) else 1 for _ in size]
    dilation = [b.number(1, max(1, (n + 2 * p - 1) // max(1, k - 1))) if b.coin(0.3) else 1
                for n, p, k in zip(size, padding, kernel)]
    dilation = [min(d, 3) for d in dilation]
    channels, out, bias = x.dims[1].count, b.width(), b.coin(0.7)
    groups = b.choose([g for g in range(1, channels + 1) if channels % g == 0]) if b.coin(0.4) else 1
    out = out if groups == 1 else groups * b.number(1, 3)
    parts = window_options(b, stride, padding, (1, 1))
    parts += [f".dilation = {pair(dilation)}"] if dilation != [1, 1] else []
    parts += [f".groups = {groups}"] if groups > 1 else []
    twin = lambda x, weight, bias: C.conv2d(x, weight, bias, stride, padding, dilation, groups)
    if b.coin(0.3):
        w = b.parameter([Dim(n) for n in (out, channels // groups, *kernel)], 0.5)
        c = b.parameter([Dim(out)], 0.5) if bias else None
        options = f", {{{', '.join(parts)}}}" if parts else ""
        second = c.name if bias else "{}"
        tail = f", {second}{options}" if bias or options else ""
        return b.propose(f"F::conv2d({x.name}, {w.name}{tail})",
                         lambda env: twin(env[x.name], env[w.name], env[c.name] if bias else None), x)
    name = b.fresh("conv")
    weight = b.layer_weight(f"{name}.weight", (out, channels // groups, *kernel))
    second = b.layer_weight(f"{name}.bias", (out,)) if bias else None
    parts += [] if bias else [".bias = false"]
    options = f", {{{', '.join(parts)}}}" if parts else ""
    b.member(f"nn::Conv2d {name}{{{channels}, {out}, {pair(kernel)}{options}}};")
    return b.propose(f"{name}({x.name})",
                     lambda env: twin(env[x.name], env[weight], env[second] if bias else None), x)


def max_pool2d(b):
    x = images(b, 2)
    if x is None:
        return None
    size = [x.dims[2].count, x.dims[3].count]
    kernel = [b.number(1, min(3, n)) for n in size]
    stride = [b.number(1, 3) for _ in size] if b.coin(0.4) else kernel
    padding = [b.number(0, k // 2) if b.coin(0.3) else 0 for k in kernel]
    parts = window_options(b, stride, padding, kernel)
    options = f", {{{', '.join(parts)}}}" if parts else ""
    run = lambda env: C.max_pool2d(env[x.name], kernel, stride, padding)
    if b.coin(0.4):
        name = b.fresh("pool")
        b.member(f"nn::MaxPool2d {name}{{{pair(kernel)}{options}}};")
        return b.propose(f"{name}({x.name})", run, x)
    return b.propose(f"F::max_pool2d({x.name}, {pair(kernel)}{options})", run, x)


def avg_pool2d(b):
    x = images(b, 2)
    if x is None:
        return None
    size = [x.dims[2].count, x.dims[3].count]
    kernel = [b.number(1, min(4, n)) for n in size]
    stride = [b.number(1, 3) for _ in size] if b.coin(0.5) else kernel
    padding = [b.number(0, k // 2) if b.coin(0.4) else 0 for k in kernel]
    ceil, counts, divisor = b.coin(0.3), b.coin(0.6), b.number(1, 5) if b.coin(0.1) else 0
    parts = window_options(b, stride, padding, kernel)
    parts += [".ceil_mode = true"] if ceil else []
    parts += [] if counts else [".count_include_pad = false"]
    parts += [f".divisor_override = {divisor}"] if divisor else []
    options = f", {{{', '.join(parts)}}}" if parts else ""
    run = lambda env: C.avg_pool2d(env[x.name], kernel, stride, padding, ceil, counts, divisor)
    if b.coin(0.4):
        name = b.fresh("pool")
        b.member(f"nn::AvgPool2d {name}{{{pair(kernel)}{options}}};")
        return b.propose(f"{name}({x.name})", run, x)
    return b.propose(f"F::avg_pool2d({x.name}, {pair(kernel)}{options})", run, x)


def layers(b):
    """An nn::ModuleList of layers of one width."""
    x = b.pick(lambda v: v.rank and not v.dims[-1].batch and v.dims[-1].count < 40)
    if x is None:
        return None
    name, features, count = b.fresh("layers"), x.dims[-1].count, b.number(1, 3)
    b.member(f"nn::ModuleList {name}{{{', '.join([f'nn::Linear{{{features}, {features}}}'] * count)}}};")
    access = lambda i, part: f"nn::as<nn::Linear>($.{name}[{i}])->{part}"
    weights = [(b.layer_weight(f"{name}.{i}.weight", (features, features), access=access(i, "weight")),
                b.layer_weight(f"{name}.{i}.bias", (features,), access=access(i, "bias"))) for i in range(count)]

    def run(env):
        y = env[x.name]
        for weight, bias in weights:
            y = E.tanh(C.linear(y, env[weight], env[bias]))
        return y
    return b.propose(f"[&] {{ dl::Tensor y = {x.name}; for (auto &layer : {name}) y = layer(y).tanh(); return y; }}()", run, x)


def softmax(b):
    x = b.pick(min_rank=1)
    if x is None:
        return None
    dim = b.number(0, x.rank - 1)
    written = dim - x.rank if b.coin() else dim
    op, twin = b.choose([("softmax", L.softmax), ("log_softmax", L.log_softmax)])
    layer = {"softmax": "nn::Softmax", "log_softmax": "nn::LogSoftmax"}[op]
    run = lambda env: twin(env[x.name], dim)
    if b.coin(0.3):
        name = b.fresh("norm")
        b.member(f"{layer} {name}{{{written}}};")
        return b.propose(f"{name}({x.name})", run, x)
    return b.propose(b.choose([f"F::{op}({x.name}, {written})", f"{x.name}.{op}({written})"]), run, x)


def dropout(b):
    x = b.pick(min_rank=1)
    if x is None:
        return None
    planes = x.rank >= 2 and b.coin(0.4)
    word, layer = ("dropout2d", "Dropout2d") if planes else ("dropout", "Dropout")
    p = b.number(1, 7) / 10
    if b.coin():
        name = b.fresh("drop")
        b.member(f"nn::{layer} {name}{{{p}}};")
        return b.propose(f"{name}({x.name})", lambda env: R.dropout(env[x.name], p, name, planes), x)
    return b.propose(f"F::{word}({x.name}, {p})", lambda env: R.dropout(env[x.name], p, "dropout", planes), x)


def alpha_dropout(b):
    x, p = b.pick(min_rank=1), b.number(1, 7) / 10
    if x is None:
        return None
    name = b.fresh("drop")
    b.member(f"nn::AlphaDropout {name}{{{p}}};")
    return b.propose(f"{name}({x.name})", lambda env: R.alpha_dropout(env[x.name], p, name), x)


OPS = [(matmul, 4), (gram, 1), (stacks, 1), (einsum, 3), (linear, 4), (block, 1), (conv2d, 6), (max_pool2d, 4), (avg_pool2d, 3), (layers, 1), (softmax, 2),
       (dropout, 3), (alpha_dropout, 0.5)]
