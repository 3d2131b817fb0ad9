"""Elements at indices, orders, borders, and images of other sizes."""

import numpy as np

from numpy_twin import choosing as H, contractions as C, elementwise as E, shaping as S

from .network_ops import images, pair
from .program import Dim
from .shape_ops import signed


def some_indices(b, dims, bound, negative=False):
    """Indices below `bound` that go down and up again: (text, twin) of a tensor of these dims."""
    step, start, most = b.number(1, 3), b.number(0, 6), bound - 1
    shown = ", ".join(d.text() for d in dims)
    total = " * ".join(d.text() for d in dims) or "1"
    text = f"(dl::arange({total}) * {step} - {start}).abs().minimum({most})"
    text += f".reshape({{{shown}}})"
    text += f" - {bound}" if negative else ""

    def run(env):
        shape = [d.extent(env["B"]) for d in dims]
        return np.minimum(np.abs(np.arange(int(np.prod(shape))) * step - start), most).reshape(shape)
    return text, run


def indexed_dim(b, min_rank=1):
    x = b.pick(lambda v: v.rank >= min_rank and v.rank < 5 and any(not d.batch for d in v.dims))
    return (None, None) if x is None else (x, b.choose([i for i, d in enumerate(x.dims) if not d.batch]))


def gathered(b):
    x, dim = indexed_dim(b)
    if x is None:
        return None
    dims = [Dim(b.number(1, 6)) if i == dim else d if d.batch or b.coin(0.7) else Dim(b.number(1, d.count))
            for i, d in enumerate(x.dims)]
    text, run = some_indices(b, dims, x.dims[dim].count)
    call = b.choose([f"{x.name}.gather({signed(b, dim, x.rank)}, {text})", f"dl::gather({x.name}, {dim}, {text})"])
    return b.propose(call, lambda env: H.gather(env[x.name], dim, run(env)), x)


def selected(b):
    """index_select, and a tensor among the indices."""
    x, dim = indexed_dim(b)
    if x is None:
        return None
    count = x.dims[dim].count
    dims = [Dim(b.number(1, 7))] if b.coin(0.7) else [Dim(b.number(1, 3)), Dim(b.number(1, 3))]
    wrap = b.coin(0.4)
    text, run = some_indices(b, dims, count, wrap and len(dims) > 0)
    if len(dims) == 1 and not wrap and b.coin():
        call = f"{x.name}.index_select({signed(b, dim, x.rank)}, {text})"
    else:
        call = f"{x.name}[{''.join('dl::Slice(), ' for _ in range(dim))}{text}]"
    return b.propose(call, lambda env: H.take(env[x.name], dim, run(env)), x)


def pairs_of_indices(b):
    """Two tensors among the indices: of neighbouring dims, or of others."""
    x = b.pick(lambda v: 2 <= v.rank <= 4 and sum(not d.batch for d in v.dims) >= 2)
    if x is None:
        return None
    first, second = sorted(b.rng.choice([i for i, d in enumerate(x.dims) if not d.batch], 2, replace=False).tolist())
    n = b.number(1, 5)
    text_a, run_a = some_indices(b, [Dim(n)], x.dims[first].count)
    text_b, run_b = some_indices(b, [Dim(b.number(1, 3)), Dim(n)], x.dims[second].count)
    parts = ["dl::Slice()"] * (second + 1)
    parts[first], parts[second] = text_a, text_b
    key = lambda env: tuple(run_a(env) if i == first else run_b(env) if i == second else slice(None) for i in range(second + 1))
    return b.propose(f"{x.name}[{', '.join(parts)}]", lambda env: H.moved(env[x.name], lambda p: p[key(env)]), x)


def embedding(b):
    x = b.pick(lambda v: v.rank in (1, 2, 3))
    if x is None:
        return None
    rows, width = b.width(), b.width()
    text, run = some_indices(b, x.dims, rows)
    padding = b.number(0, rows - 1) if b.coin(0.2) else None
    shown = "" if padding is None else f", {{.padding_idx = {padding}}}"
    if b.coin():
        name = b.fresh("embedding")
        b.member(f"nn::Embedding {name}{{{rows}, {width}{shown}}};")
        weight, call = b.layer_weight(f"{name}.weight", (rows, width)), f"{name}({text})"
    else:
        weight = b.parameter([Dim(rows), Dim(width)], 0.8).name
        call = f"F::embedding({text}, {weight}{shown})"

    def chosen(env):
        at, w = run(env), env[weight]
        y = H.take(w, 0, at)
        if padding is None:
            return y
        kept = np.expand_dims(at != padding, -1)
        return w.tape.make(y.value, [(y, lambda g: np.where(kept, g, 0))])
    return b.propose(call, chosen, x)


def added_at(b):
    """scatter_add, index_add and index_reduce into a tensor of the pool."""
    x, dim = indexed_dim(b)
    if x is None:
        return None
    dims = [Dim(b.number(1, 6)) if i == dim else d for i, d in enumerate(x.dims)]
    fill = b.number(1, 5) / 4
    source = [Dim(dims[dim].count) if i == dim else Dim(1) for i in range(x.rank)]
    y = b.parameter(source, 0.8)
    spread = f"{y.name}.expand({{{', '.join(d.text() for d in dims)}}})"
    expand = lambda env: S.expand(env[y.name], [d.extent(env["B"]) for d in dims])
    if b.coin():
        text, run = some_indices(b, dims, x.dims[dim].count)
        return b.propose(f"{x.name}.scatter_add({signed(b, dim, x.rank)}, {text}, {spread})",
                         lambda env: H.scatter_add(env[x.name], dim, run(env), expand(env)), x, y)
    text, run = some_indices(b, [dims[dim]], x.dims[dim].count)
    if b.coin():
        kind, own = ["mean", "amax"][b.number(0, 1)], b.coin()
        return b.propose(f"{x.name}.index_reduce({signed(b, dim, x.rank)}, {text}, {spread}, \"{kind}\", {{.include_self = {str(own).lower()}}})",
                         lambda env: H.index_reduce(env[x.name], dim, run(env).reshape(-1), expand(env), kind, own), x, y)

    def all_rows(env):
        shape = [d.extent(env["B"]) for d in dims]
        return np.broadcast_to(run(env).reshape([-1 if i == dim else 1 for i in range(x.rank)]), shape)
    return b.propose(f"{x.name}.index_add({signed(b, dim, x.rank)}, {text}, {spread}, {{.alpha = {fill}}})",
                     lambda env: H.scatter_add(env[x.name], dim, all_rows(env), E.mul(expand(env), fill)), x, y)


def put(b):
    """Parts that are assigned: by themselves, or changed while views of them are there."""
    x, dim = indexed_dim(b)
    if x is None:
        return None
    count, kind = x.dims[dim].count, b.number(0, 5)
    start, step = b.number(0, count - 1), b.number(1, 3)
    end = b.number(start + 1, count)
    chosen = b.rng.permutation(count)[:b.number(1, min(count, 256))].tolist()  # more would belong into a file
    places = slice(start, end, step) if kind < 3 else chosen
    key, written = S.along(dim, places), signed(b, dim, x.rank)
    dims = [Dim(len(range(count)[places]) if kind < 3 else len(chosen)) if i == dim else d for i, d in enumerate(x.dims)]
    y = b.parameter([Dim(d.count) if i == dim else Dim(1) for i, d in enumerate(dims)], 0.8)
    spread = f"{y.name}.expand({{{', '.join(d.text() for d in dims)}}})"
    source = lambda env: S.expand(env[y.name], [d.extent(env["B"]) for d in dims])
    index = "dl::tensor({" + ", ".join(map(str, chosen)) + "})"
    before = "".join("dl::Slice(), " for _ in range(dim))
    if kind == 0:
        return b.propose(f"{x.name}.slice_scatter({spread}, {written}, {start}, {end}, {step})", lambda env: H.put(env[x.name], key, source(env)), x, y)
    if kind == 1:  # the view follows
        text = f"auto t = {x.name}.clone(); auto v = t.slice({written}, {start}, {end}, {step}); t.tanh_(); v += {spread}; t[{before}{start}].mul_(0.5); return v.mean() * 0.5 + t;"

        def run(env):
            t = E.tanh(env[x.name])
            t = H.put(t, key, E.add(S.index(t, key), source(env)))
            first = S.along(dim, start)
            t = H.put(t, first, E.mul(S.index(t, first), 0.5))
            return E.add(E.mul(S.mean(S.index(t, key)), 0.5), t)
        return b.propose(f"[&] {{ {text} }}()", run, x, y)
    if kind == 2:  # all parts, one after the other
        text = f"auto t = dl::zeros_like({x.name}); for (dl::i64 i = 0; i < {count}; ++i) t[{before}i] = {x.name}.select({written}, {count - 1} - i); return t;"
        return b.propose(f"[&] {{ {text} }}()", lambda env: H.moved(env[x.name], lambda p: np.flip(p, dim)), x)
    if kind == 3:
        return b.propose(f"{x.name}.index_copy({written}, {index}, {spread})", lambda env: H.put(env[x.name], key, source(env)), x, y)
    if kind == 4:
        return b.propose(f"{x.name}.index_put({{{before}{index}}}, {spread}, true)",
                         lambda env: H.put(env[x.name], key, E.add(S.index(env[x.name], key), source(env))), x, y)
    value = b.number(-4, 4) / 4
    return b.propose(f"{x.name}.index_fill({written}, {index}, {value})",
                     lambda env: H.put(env[x.name], key, E.add(E.mul(S.index(env[x.name], key), 0.0), value)), x)


def ordered(b):
    x = b.pick(lambda v: v.rank and not any(d.batch and i == v.rank for i, d in enumerate(v.dims)))
    if x is None:
        return None
    dim = b.number(0, x.rank - 1)
    written, kind = signed(b, dim, x.rank), b.number(0, 7)
    if kind == 0 or x.dims[dim].batch:
        return b.propose(f"{x.name}.cumsum({written}) * 0.3", lambda env: E.mul(H.cumsum(env[x.name], dim), 0.3), x)
    if kind == 4:
        return b.propose(f"{x.name}.cumprod({written})", lambda env: H.cumprod(env[x.name], dim), x)
    if kind == 5:
        return b.propose(f"{x.name}.logcumsumexp({written})", lambda env: E.log(H.cumsum(E.exp(env[x.name]), dim)), x)
    if kind == 6:
        def running(env):
            values, places = H.cummax(env[x.name], dim)
            return E.add(values, E.mul(E.cast_float(places), 0.1))
        return b.propose(f"[&] {{ auto [v, i] = {x.name}.cummax({written}); return v + i.to(dl::kFloat) * 0.1; }}()", running, x)
    if kind == 7:
        back = b.coin()
        return b.propose(f"dl::linear_recurrence({x.name}.sigmoid(), {x.name}, {written}, {str(back).lower()})",
                         lambda env: H.recurrence(E.sigmoid(env[x.name]), env[x.name], dim, back), x)
    descending = b.coin()
    word = str(descending).lower()
    if kind == 1:
        return b.propose(f"{x.name}.sort({written}, {word}).values", lambda env: H.sort(env[x.name], dim, descending)[0], x)
    if kind == 2:
        return b.propose(f"{x.name}.argsort({written}, {word}).to(dl::kFloat) * 0.1 + {x.name}",
                         lambda env: E.add(E.mul(E.cast_float(H.sort(env[x.name], dim, descending)[1]), 0.1), env[x.name]), x)
    k = b.number(1, x.dims[dim].count)

    def both(env):
        values, places = H.sort(env[x.name], dim, descending, k)
        return E.add(values, E.mul(E.cast_float(places), 0.1))
    return b.propose(f"[&] {{ auto [v, i] = {x.name}.topk({k}, {written}, {word}); return v + i.to(dl::kFloat) * 0.1; }}()", both, x)


def rearranged(b):
    x = b.pick(lambda v: 1 <= v.rank <= 4)
    if x is None:
        return None
    dim = b.number(0, x.rank - 1)
    written, kind, name = signed(b, dim, x.rank), b.number(0, 5), x.name
    if kind == 0:
        return b.propose(f"{name}.flip({written})", lambda env: H.moved(env[name], lambda p: np.flip(p, dim)), x)
    if kind == 1:
        shift = b.number(-9, 9)
        return b.propose(f"{name}.roll({shift}, {written})", lambda env: H.moved(env[name], lambda p: np.roll(p, shift, dim)), x)
    if kind == 2:
        counts = [b.number(1, 2) if not d.batch else 1 for d in x.dims]
        counts = [b.number(1, 2)] + counts if x.rank < 4 and b.coin(0.3) else counts
        return b.propose(f"{name}.repeat({{{', '.join(map(str, counts))}}})",
                         lambda env: H.moved(env[name], lambda p: np.tile(p, counts)), x)
    if kind == 3:
        times = b.number(1, 3)
        if not x.dims[dim].batch and b.coin(0.4):
            each = [b.number(0, 2) for _ in range(x.dims[dim].count - 1)] + [1]
            return b.propose(f"{name}.repeat_interleave({{{', '.join(map(str, each))}}}, {written})",
                             lambda env: H.moved(env[name], lambda p: np.repeat(p, each, dim)), x)
        return b.propose(f"{name}.repeat_interleave({times}, {written})",
                         lambda env: H.moved(env[name], lambda p: np.repeat(p, times, dim)), x)
    if kind == 4 and x.rank >= 2:
        lower, diagonal = b.coin(), b.number(-2, 2)
        return b.propose(f"{name}.{'tril' if lower else 'triu'}({diagonal or ''})", lambda env: H.triangle(env[name], lower, diagonal), x)
    if x.dims[dim].batch or x.dims[dim].count > 12:
        return None
    keep = b.coin()
    return b.propose(f"{name}.prod({written}, {str(keep).lower()})", lambda env: H.prod(env[name], dim, keep), x)


def padded(b):
    x = b.pick(lambda v: 1 <= v.rank <= 4 and not v.dims[-1].batch)
    if x is None:
        return None
    mode = b.choose(["constant", "reflect", "replicate", "circular"])
    count = b.number(1, x.rank)
    while any(d.batch for d in x.dims[x.rank - count:]):
        count -= 1
    widths = [(0, 0)] * (x.rank - count)
    for d in x.dims[x.rank - count:]:
        most = {"constant": 3, "reflect": min(3, d.count - 1), "replicate": 3, "circular": min(3, d.count)}[mode]
        least = -1 if mode == "constant" and d.count > 2 else 0
        widths.append((b.number(least, most), b.number(least, most)))
    listed = "{" + ", ".join(f"{a}, {c}" for a, c in reversed(widths[x.rank - count:])) + "}"
    value = b.number(-4, 4) / 4 if mode == "constant" else 0.0
    run = lambda env: H.pad(env[x.name], widths, mode, value)
    layer = {"constant": "ConstantPad", "reflect": "ReflectionPad", "replicate": "ReplicationPad", "circular": "CircularPad"}[mode]
    if count <= 3 and b.coin(0.4):
        name = b.fresh("border")
        layer, extra = ("ZeroPad", "") if mode == "constant" and value == 0 else (layer, f", {value}" if mode == "constant" else "")
        b.member(f"nn::{layer}{count}d {name}{{{listed}{extra}}};")
        return b.propose(f"{name}({x.name})", run, x)
    tail = f', "{mode}"' if mode != "constant" else f', "constant", {value}' if value or b.coin() else ""
    return b.propose(f"F::pad({x.name}, {listed}{tail})", run, x)


def resized(b):
    x = images(b, 1)
    if x is None:
        return None
    size = [x.dims[2].count, x.dims[3].count]
    linear, corners = b.coin(), False
    if b.coin(0.4):
        factor = b.number(2, 3)
        to, shown = [n * factor for n in size], f".scale_factor = {factor}"
    else:
        to = [b.number(1, 2 * n + 1) for n in size]
        shown = f".size = {pair(to)}"
    if linear:
        corners = b.coin()
        shown += ', .mode = "bilinear"' + (", .align_corners = true" if corners else "")
    run = lambda env: H.linear(env[x.name], to, corners) if linear else H.nearest(env[x.name], to)
    if b.coin(0.4):
        name = b.fresh("resize")
        layer = "Upsample" if not corners and linear else "UpsamplingBilinear2d" if linear else "UpsamplingNearest2d"
        b.member(f"nn::{layer} {name}{{{{{shown}}}}};")
        return b.propose(f"{name}({x.name})", run, x)
    return b.propose(f"F::interpolate({x.name}, {{{shown}}})", run, x)


def adaptive(b):
    x = images(b, 1)
    if x is None:
        return None
    maximum, flat = b.coin(), b.coin(0.3)
    size = [x.dims[2].count, x.dims[3].count]
    to = [b.number(1, n + 1) for n in size]
    word, layer = ("max", "Max") if maximum else ("avg", "Avg")
    if flat:
        text, to = f"{x.name}.flatten(2)", [to[0]]
        start = lambda env: S.reshape(env[x.name], [*env[x.name].shape[:2], -1])
    else:
        text, start = x.name, lambda env: env[x.name]
    rank, shown = len(to), str(to[0]) if flat else pair(to)
    run = lambda env: H.adaptive(start(env), to, maximum)
    if b.coin(0.4):
        name = b.fresh("pool")
        b.member(f"nn::Adaptive{layer}Pool{rank}d {name}{{{shown}}};")
        return b.propose(f"{name}({text})", run, x)
    return b.propose(f"F::adaptive_{word}_pool{rank}d({text}, {shown})", run, x)


def transposed_convolution(b):
    x = images(b, 1)
    if x is None:
        return None
    kernel, stride = [b.number(1, 3) for _ in "hw"], [b.number(1, 3) for _ in "hw"]
    dilation = [b.number(1, 2) for _ in "hw"]
    padding = [b.number(0, 1) if n > 2 else 0 for n in (x.dims[2].count, x.dims[3].count)]
    more = [b.number(0, s - 1) for s in stride]
    channels = x.dims[1].count
    groups = b.choose([g for g in range(1, channels + 1) if channels % g == 0]) if b.coin(0.4) else 1
    out, bias, name = b.number(1, 4), b.coin(), b.fresh("grow")
    weight = b.layer_weight(f"{name}.weight", (channels, out, *kernel))
    second = b.layer_weight(f"{name}.bias", (out * groups,)) if bias else None
    b.member(f"nn::ConvTranspose2d {name}{{{channels}, {out * groups}, {pair(kernel)}, {{.stride = {pair(stride)}, .padding = {pair(padding)}, "
             f".output_padding = {pair(more)}, .groups = {groups}, .bias = {str(bias).lower()}, .dilation = {pair(dilation)}}}}};")
    return b.propose(f"{name}({x.name})", lambda env: C.conv_transpose2d(
        env[x.name], env[weight], env[second] if bias else None, stride, padding, more, dilation, groups), x)


def sequences(b):
    """Convolutions and pools of one dim."""
    x = b.pick(lambda v: v.rank == 3 and not v.dims[1].batch and not v.dims[2].batch)
    if x is None:
        return None
    channels, size = x.dims[1].count, x.dims[2].count
    wide = lambda v: S.unsqueeze(v, 2)
    kernel, stride, padding = b.number(1, min(3, size)), b.number(1, 2), 0
    kind = b.number(0, 3)
    if kind == 0:
        padding = b.number(0, kernel // 2)
        return b.propose(f"F::max_pool1d({x.name}, {kernel}, {{.stride = {stride}, .padding = {padding}}})",
                         lambda env: S.squeeze(C.max_pool2d(wide(env[x.name]), (1, kernel), (1, stride), (0, padding)), 2), x)
    if kind == 1:
        return b.propose(f"F::avg_pool1d({x.name}, {kernel}, {{.stride = {stride}}})",
                         lambda env: S.squeeze(C.avg_pool2d(wide(env[x.name]), (1, kernel), (1, stride), (0, 0), False, True, 0), 2), x)
    padding, out, name = b.number(0, 2), b.number(1, 5), b.fresh("conv")
    forward = kind == 2
    shape = (out, channels, kernel) if forward else (channels, out, kernel)
    weight, bias = b.layer_weight(f"{name}.weight", shape), b.layer_weight(f"{name}.bias", (out,))
    if not forward:
        padding = 0
    layer = "Conv1d" if forward else "ConvTranspose1d"
    b.member(f"nn::{layer} {name}{{{channels}, {out}, {kernel}, {{.stride = {stride}, .padding = {padding}}}}};")

    def run(env):
        w = wide(env[weight])
        if forward:
            y = C.conv2d(wide(env[x.name]), w, env[bias], (1, stride), (0, padding))
        else:
            y = C.conv_transpose2d(wide(env[x.name]), w, env[bias], (1, stride), (0, 0), (0, 0), (1, 1), 1)
        return S.squeeze(y, 2)
    return b.propose(f"{name}({x.name})", run, x)


def cut_up(b):
    """unfold, fold of what it gives, pixel_shuffle and its inverse."""
    x = images(b, 2)
    if x is None:
        return None
    groups = b.number(1, 4)
    if x.dims[1].count % groups == 0 and b.coin(0.3):
        return b.propose(f"F::channel_shuffle({x.name}, {groups})", lambda env: H.channel_shuffle(env[x.name], groups), x)
    if x.dims[1].count % 4 == 0 and b.coin():
        return b.propose(f"F::pixel_shuffle({x.name}, 2)", lambda env: H.pixel_shuffle(env[x.name], 2), x)
    size = [x.dims[2].count, x.dims[3].count]
    if size[0] % 2 == size[1] % 2 == 0 and b.coin():
        return b.propose(f"F::pixel_unshuffle({x.name}, 2)", lambda env: H.pixel_unshuffle(env[x.name], 2), x)
    kernel, stride = [b.number(1, min(3, n)) for n in size], [b.number(1, 2) for _ in size]
    padding = [b.number(0, 1) for _ in size]
    dilation = [b.number(1, 2) if k * 2 - 1 <= n else 1 for k, n in zip(kernel, size)]
    options = f"{{.dilation = {pair(dilation)}, .padding = {pair(padding)}, .stride = {pair(stride)}}}"
    cut = f"F::unfold({x.name}, {pair(kernel)}, {options})"
    twin = lambda env: H.unfold(env[x.name], kernel, stride, padding, dilation)
    if b.coin():
        return b.propose(cut, twin, x)
    return b.propose(f"F::fold({cut}, {pair(size)}, {pair(kernel)}, {options}) * 0.3",
                     lambda env: E.mul(H.fold(twin(env), size, kernel, stride, padding, dilation), 0.3), x)


OPS = [(gathered, 2), (selected, 2), (pairs_of_indices, 1.5), (embedding, 2), (added_at, 2), (put, 1.5), (ordered, 3), (rearranged, 3), (padded, 3),
       (resized, 3), (adaptive, 2), (transposed_convolution, 3), (sequences, 3), (cut_up, 2)]
