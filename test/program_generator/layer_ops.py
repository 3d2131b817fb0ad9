"""Activations, norms, distances, convolutions and pools of volumes, and losses of pairs."""

import numpy as np

from numpy_twin import contractions as C, elementwise as E, layers as Y, losses as L, shaping as S

from .elementwise_ops import activation_among
from .network_ops import SHRINK, images, shrink
from .program import Dim
from .shape_ops import signed

# Twin, function, layer.
ACTIVATIONS = [
    (lambda x: Y.leaky_relu(x, 0.25), "F::rrelu({}, 0.125, 0.375)", "nn::RReLU {}{{0.25, 0.25}};"),
    (lambda x: Y.leaky_relu(x, 0.2), "F::leaky_relu({}, 0.2)", "nn::LeakyReLU {}{{0.2}};"), (lambda x: Y.elu(x, 0.7), "F::elu({}, 0.7)", "nn::ELU {}{{0.7}};"),
    (lambda x: Y.celu(x, 1.5), "F::celu({}, 1.5)", "nn::CELU {}{{1.5}};"), (Y.selu, "F::selu({})", "nn::SELU {};"), (Y.relu6, "F::relu6({})", "nn::ReLU6 {};"),
    (lambda x: Y.hardtanh(x, -0.9, 0.5), "F::hardtanh({}, -0.9, 0.5)", "nn::Hardtanh {}{{-0.9, 0.5}};"),
    (Y.hardswish, "F::hardswish({})", "nn::Hardswish {};"), (Y.hardsigmoid, "F::hardsigmoid({})", "nn::Hardsigmoid {};"),
    (lambda x: Y.softplus(x, 2.0), "F::softplus({}, 2)", "nn::Softplus {}{{2}};"), (Y.softsign, "F::softsign({})", "nn::Softsign {};"),
    (Y.logsigmoid, "F::logsigmoid({})", "nn::LogSigmoid {};"), (Y.mish, "F::mish({})", "nn::Mish {};"),
    (lambda x: Y.threshold(x, 0.2, 0.7), "F::threshold({}, 0.2, 0.7)", "nn::Threshold {}{{0.2, 0.7}};"), (Y.hardshrink, "F::hardshrink({})", "nn::Hardshrink {};"),
    (lambda x: Y.softshrink(x, 0.3), "F::softshrink({}, 0.3)", "nn::Softshrink {}{{0.3}};"), (Y.tanhshrink, "F::tanhshrink({})", "nn::Tanhshrink {};"),
]


activation = activation_among(ACTIVATIONS)


def gated(b):
    x = b.pick(lambda v: any(not d.batch and d.count % 2 == 0 for d in v.dims))
    if x is None:
        return None
    dim = b.choose([i for i, d in enumerate(x.dims) if not d.batch and d.count % 2 == 0])
    return b.propose(f"F::glu({x.name}, {signed(b, dim, x.rank)})", lambda env: Y.glu(env[x.name], dim), x)


def slopes(b):
    """prelu: one slope, or one for each channel."""
    x = b.pick(lambda v: v.rank >= 2 and not v.dims[1].batch)
    if x is None:
        return None
    count, name = x.dims[1].count if b.coin() else 1, b.fresh("act")
    weight = b.layer_weight(f"{name}.weight", (count,))
    b.member(f"nn::PReLU {name}{{{count if count > 1 or b.coin() else ''}}};")

    def run(env):
        value = env[x.name]
        slope = S.reshape(env[weight], [-1 if i == 1 and count > 1 else 1 for i in range(value.value.ndim)])
        return E.where(E.compare(value, 0.0, np.greater), value, E.mul(value, slope))
    return b.propose(f"{name}({x.name})", run, x)


def divided(b):
    """What a division by a number leaves."""
    x, size = b.pick(), round(float(b.rng.uniform(0.3, 1.5)), 2) * (1 if b.coin() else -1)
    twin, text = b.choose([(Y.remainder, "{} % {}"), (Y.remainder, "dl::remainder({}, {})"), (Y.fmod, "{}.fmod({})")])
    return b.propose(text.format(x.name, size), lambda env: twin(env[x.name], size), x)


def last_dims(b):
    """A tensor and how many of its last dims are no batch."""
    x = b.pick(lambda v: v.rank and not v.dims[-1].batch)
    if x is None:
        return None, 0
    most = next((i for i, d in enumerate(reversed(x.dims)) if d.batch), x.rank)
    return x, b.number(1, most)


def last_norm(b):
    """layer_norm and rms_norm."""
    x, count = last_dims(b)
    if x is None:
        return None
    shape, dims = [d.count for d in x.dims[x.rank - count:]], list(range(x.rank - count, x.rank))
    listed = str(shape[0]) if count == 1 and b.coin() else "{" + ", ".join(map(str, shape)) + "}"
    mean, has_weight = b.coin(), b.coin(0.7)
    has_bias, name = mean and has_weight and b.coin(0.7), b.fresh("norm")
    weight = b.layer_weight(f"{name}.weight", shape) if has_weight else None
    bias = b.layer_weight(f"{name}.bias", shape) if has_bias else None
    options = [".eps = 1e-2"] + ([] if has_weight else [".elementwise_affine = false"]) + (
        [".bias = false"] if mean and has_weight and not has_bias else [])
    layer = "LayerNorm" if mean else "RMSNorm"
    b.member(f"nn::{layer} {name}{{{listed}, {{{', '.join(options)}}}}};")

    def run(env):
        y = Y.standardized(env[x.name], dims, 1e-2) if mean else Y.rms_norm(env[x.name], dims, 1e-2)
        return Y.affine(y, env[weight] if weight else None, env[bias] if bias else None)
    return b.propose(f"{name}({x.name})", run, x)


def local_norm(b):
    x = b.pick(lambda v: 3 <= v.rank <= 5 and v.dims[0].batch and not any(d.batch for d in v.dims[1:]))
    if x is None:
        return None
    size, alpha, beta, k = b.number(1, 4), b.number(1, 8) / 8, b.number(2, 6) / 8, b.number(4, 12) / 8
    name = b.fresh("norm")
    b.member(f"nn::LocalResponseNorm {name}{{{size}, {alpha}, {beta}, {k}}};")
    return b.propose(f"{name}({x.name})", lambda env: Y.local_response_norm(env[x.name], size, alpha, beta, k), x)


def channel_norm(b):
    """GroupNorm, InstanceNorm and BatchNorm, which has the statistics of the batch."""
    x = b.pick(lambda v: 3 <= v.rank <= 5 and v.dims[0].batch and not any(d.batch for d in v.dims[1:]))
    if x is None:
        return None
    channels, name, rank = x.dims[1].count, b.fresh("norm"), x.rank
    kind, has_weight = b.choose(["group", "instance", "batch"]), b.coin(0.7)
    weight = b.layer_weight(f"{name}.weight", (channels,)) if has_weight else None
    bias = b.layer_weight(f"{name}.bias", (channels,)) if has_weight else None
    word = str(has_weight).lower()
    if kind == "group":
        groups = b.choose([g for g in range(1, channels + 1) if channels % g == 0])
        layer, twin = f"nn::GroupNorm {name}{{{groups}, {channels}, 0.01, {word}}};", lambda v: Y.group_norm(v, groups, 0.01)
    elif kind == "instance":
        layer = f"nn::InstanceNorm{rank - 2}d {name}{{{channels}, {{.eps = 0.01, .affine = {word}}}}};"
        twin = lambda v: Y.standardized(v, range(2, rank), 0.01)
    else:
        layer = f"nn::BatchNorm{rank - 2}d {name}{{{channels}, {{.eps = 0.01, .affine = {word}, .track_running_stats = false}}}};"
        twin = lambda v: Y.standardized(v, [0, *range(2, rank)], 0.01)
        if int(np.prod([d.count for d in x.dims[2:]])) < 2:
            return None  # a batch of one would have nothing to divide by
    b.member(layer)
    return b.propose(f"{name}({x.name})", lambda env: Y.affine(
        twin(env[x.name]), env[weight] if weight else None, env[bias] if bias else None, 1), x)


def lengths(b):
    """Norms along a dim, and what is made of them."""
    x = b.pick(min_rank=1)
    if x is None:
        return None
    dim, p = b.number(0, x.rank - 1), b.choose([2, 2, 3])
    written, kind, keep = signed(b, dim, x.rank), b.number(0, 3), b.coin()
    if kind == 0:
        return b.propose(f"{x.name}.norm({p}, {written}, {str(keep).lower()})", lambda env: Y.norm(env[x.name], p, dim, keep), x)
    if kind == 1:
        return b.propose(f"F::normalize({x.name}, {{.p = {p}, .dim = {written}, .eps = 0.05}})", lambda env: E.div(
            env[x.name], E.clamp(Y.norm(env[x.name], p, dim, True), 0.05)), x)
    y = b.parameter([Dim(1) if d.batch else d for d in x.dims], 1.0)
    if kind == 2:
        def cosine(env):
            u, v = (E.div(env[z.name], E.clamp(Y.norm(env[z.name], 2, dim, True), 0.05)) for z in (x, y))
            return S.sum_(E.mul(u, v), (dim,))
        return b.propose(f"F::cosine_similarity({x.name}, {y.name}, {written}, 0.05)", cosine, x, y) if not x.dims[dim].batch else None
    return b.propose(f"F::pairwise_distance({x.name}, {y.name}, {p}, 1e-3)", lambda env: Y.norm(
        E.add(E.sub(env[x.name], env[y.name]), 1e-3), p, x.rank - 1), x, y)


def mixed(b):
    """lerp and addcmul."""
    x = b.pick()
    y, share = b.partner(x), b.number(1, 9) / 10
    if b.coin():
        return b.propose(f"dl::lerp({x.name}, {y.name}, {share})", lambda env: E.add(
            env[x.name], E.mul(E.sub(env[y.name], env[x.name]), share)), x, y)
    return b.propose(f"dl::addcmul({x.name}, {y.name}, {y.name}, {{.value = {share}}})", lambda env: E.add(
        env[x.name], E.mul(E.mul(env[y.name], env[y.name]), share)), x, y)


def spaced(b):
    """Times numbers in order, made in the step."""
    x = b.pick(lambda v: v.rank and not v.dims[-1].batch)
    if x is None:
        return None
    count, start, end = x.dims[-1].count, b.number(-4, 4) / 4, b.number(5, 9) / 4
    step = (end - start) / (count - 1) if count > 1 else 0.0
    return b.propose(f"{x.name} * dl::linspace({start}, {end}, {count})", lambda env: E.mul(
        env[x.name], env[x.name].tape.var(start + step * np.arange(count))), x)


def some_or_all(b):
    x = b.pick(min_rank=1)
    if x is None:
        return None
    dim, word = b.number(0, x.rank - 1), b.choose(["any", "all"])
    c = round(float(b.rng.uniform(-1, 1)), 2) or 0.25

    def run(env):
        held = E.compare(env[x.name], c, np.greater)
        found = held.tape.make(getattr(np, word)(held.value, axis=dim, keepdims=True))
        return E.mul(E.cast_float(found), env[x.name])
    return b.propose(f"({x.name} > {c}).{word}({signed(b, dim, x.rank)}, true).to(dl::kFloat) * {x.name}", run, x)


def masks(b):
    """Comparisons joined by & | ^ ~."""
    x = b.pick()
    first, second = (round(float(b.rng.uniform(-1, 1)), 2) or 0.25 for _ in range(2))
    sign, logic = b.choose([("&", np.logical_and), ("|", np.logical_or), ("^", np.logical_xor)])

    def run(env):
        v = env[x.name]
        held = E.logical(logic, E.compare(v, first, np.greater), E.logical(np.logical_not, E.compare(v, second, np.greater)))
        return E.where(held, v, E.mul(v, 0.5))
    return b.propose(f"dl::where(({x.name} > {first}) {sign} ~({x.name} > {second}), {x.name}, {x.name} * 0.5)", run, x)


def counted(b):
    """Whole numbers divided: their quotient, or what it leaves."""
    x = b.pick()
    by, whole = b.choose([-3, -2, 2, 3, 4]), f"({x.name} * 3.7).to(dl::kInt64)"
    text, twin = b.choose([(f"{whole} % {by}", np.remainder), (f"{whole}.floor_divide({by})", np.floor_divide), (f"{whole}.fmod({by})", np.fmod),
                           (f"({whole} & {by})", np.bitwise_and), (f"({whole} | {by})", np.bitwise_or), (f"({whole} ^ {by})", np.bitwise_xor)])

    def run(env):
        number = E.cast_int(E.mul(env[x.name], 3.7))
        return E.mul(E.cast_float(number.tape.make(twin(number.value, by))), env[x.name])
    return b.propose(f"({text}).to(dl::kFloat) * {x.name}", run, x)


def attended(b):
    x = b.pick(lambda v: 2 <= v.rank <= 4 and not v.dims[-1].batch and not v.dims[-2].batch)
    if x is None:
        return None
    rows, width, causal = x.dims[-2].count, x.dims[-1].count, b.coin()
    w = b.parameter([Dim(rows), Dim(width)], 0.8)

    def run(env):
        v, k = env[x.name], env[w.name]
        scores = E.mul(C.matmul(v, S.transpose(k, -1, -2)), width ** -0.5)
        if causal:
            held = scores.tape.make(np.tril(np.ones((rows, rows), bool)))
            scores = E.where(held, scores, -np.inf)
        return C.matmul(L.softmax(scores, scores.value.ndim - 1), k)
    options = ", {.is_causal = true}" if causal else ""
    return b.propose(f"F::scaled_dot_product_attention({x.name}, {w.name}, {w.name}{options})", run, x, w)


def triple(values):
    return str(values[0]) if len(set(values)) == 1 else "{" + ", ".join(map(str, values)) + "}"


def volumes(b):
    """Images as volumes of one channel: pools."""
    x = images(b, 1)
    if x is None:
        return None
    size = [d.count for d in x.dims[1:]]
    kernel = [b.number(1, min(3, n)) for n in size]
    stride = [b.number(1, 3) for _ in size] if b.coin() else kernel
    padding = [b.number(0, k // 2) if b.coin(0.3) else 0 for k in kernel]
    ceil, maximum, counts = b.coin(0.3), b.coin(), b.coin(0.6)
    parts = [f".stride = {triple(stride)}"] if stride != kernel else []
    parts += [f".padding = {triple(padding)}"] if any(padding) else []
    dilation = [1, 1, 1]
    if maximum and b.coin(0.3):
        dilation = [b.number(1, 2) if 2 * k - 1 <= n else 1 for k, n in zip(kernel, size)]
        parts += [f".dilation = {triple(dilation)}"]
    parts += [".ceil_mode = true"] if ceil else []
    parts += [] if maximum or counts else [".count_include_pad = false"]
    options = f", {{{', '.join(parts)}}}" if parts else ""

    def run(env):
        v = S.unsqueeze(env[x.name], 1)
        pool = Y.max_pool(v, kernel, stride, padding, dilation, ceil) if maximum else Y.avg_pool(v, kernel, stride, padding, ceil, counts)
        return S.squeeze(pool, 1)
    word, layer = ("max", "Max") if maximum else ("avg", "Avg")
    if b.coin(0.4):
        name = b.fresh("pool")
        b.member(f"nn::{layer}Pool3d {name}{{{triple(kernel)}{options}}};")
        return b.propose(f"{name}({x.name}.unsqueeze(1)).squeeze(1)", run, x)
    return b.propose(f"F::{word}_pool3d({x.name}.unsqueeze(1), {triple(kernel)}{options}).squeeze(1)", run, x)


def pools_of_images(b):
    """max_pool2d with holes in its windows, or windows beyond the border."""
    x = images(b, 2)
    if x is None:
        return None
    size = [d.count for d in x.dims[2:]]
    kernel = [b.number(1, min(3, n)) for n in size]
    stride = [b.number(1, 3) for _ in size]
    padding = [b.number(0, k // 2) for k in kernel]
    dilation = [b.number(1, 2) if 2 * k - 1 <= n else 1 for k, n in zip(kernel, size)]
    ceil, pair = b.coin(), lambda v: f"{{{v[0]}, {v[1]}}}"
    run = lambda env: Y.max_pool(env[x.name], kernel, stride, padding, dilation, ceil)
    return b.propose(f"F::max_pool2d({x.name}, {pair(kernel)}, {pair(stride)}, {pair(padding)}, {pair(dilation)}, {str(ceil).lower()})", run, x)


def convolution_of_volumes(b):
    x = images(b, 1)
    if x is None:
        return None
    size = [d.count for d in x.dims[1:]]
    forward, out, bias, name = b.coin(), b.number(1, 3), b.coin(), b.fresh("conv")
    kernel = [b.number(1, min(2, n)) for n in size]
    stride, dilation = [b.number(1, 2) for _ in size], [1, 1, 1]
    padding = [b.number(0, 1) if n > 2 else 0 for n in size]
    more = [b.number(0, s - 1) for s in stride]
    weight = b.layer_weight(f"{name}.weight", (out, 1, *kernel) if forward else (1, out, *kernel))
    second = b.layer_weight(f"{name}.bias", (out,)) if bias else None
    parts = [f".stride = {triple(stride)}, .padding = {triple(padding)}"]
    parts += [] if forward else [f".output_padding = {triple(more)}"]
    parts += [f".bias = {str(bias).lower()}"]
    layer = "nn::Conv3d" if forward else "nn::ConvTranspose3d"
    b.member(f"{layer} {name}{{1, {out}, {triple(kernel)}, {{{', '.join(parts)}}}}};")

    def run(env):
        v = S.unsqueeze(env[x.name], 1)
        y = Y.convolution(v, env[weight], stride, padding, dilation) if forward else Y.transposed(
            v, env[weight], stride, padding, more, dilation)
        y = Y.affine(y, None, env[second] if bias else None, 1)
        return S.reshape(shrink(y), [y.shape[0], y.shape[1] * y.shape[2], *y.shape[3:]])
    return b.propose(f"{name}({x.name}.unsqueeze(1)).flatten(1, 2) * {SHRINK}", run, x)


# Twin, function, layer, and the second operand as it is used.
LOSSES = [
    (L.mse_loss, "mse_loss", "MSELoss", [], {}), (Y.l1_loss, "l1_loss", "L1Loss", [], {}),
    (Y.smooth_l1_loss, "smooth_l1_loss", "SmoothL1Loss", [".beta = 0.4"], {"beta": 0.4}), (Y.huber_loss, "huber_loss", "HuberLoss", [".delta = 0.6"], {"delta": 0.6}),
    (Y.binary_cross_entropy_with_logits, "binary_cross_entropy_with_logits", "BCEWithLogitsLoss", None, {}),
    (Y.kl_div, "kl_div", "KLDivLoss", None, {}), (Y.poisson_nll_loss, "poisson_nll_loss", "PoissonNLLLoss", [], {}),
]


def pair_loss(b, x, y):
    """A loss of two tensors of one shape: a proposal."""
    twin, function, layer, own, numbers = b.choose(LOSSES)
    reduction = b.choose(["mean", "sum", "none"])
    parts = ([] if reduction == "mean" else [f'.reduction = "{reduction}"']) + (own or [])
    options = ", ".join(parts)
    second = lambda env: E.sigmoid(env[y.name]) if own is None else env[y.name]
    target = f"{y.name}.sigmoid()" if own is None else y.name
    end, finish = (".mean()", S.mean) if reduction == "none" else ("", lambda v: v)
    text = f"F::{function}({x.name}, {target}{', {' + options + '}' if options else ''})"
    if b.coin(0.3):
        name = b.fresh("criterion")
        b.member(f"nn::{layer} {name}{{{'{' + options + '}' if options else ''}}};")
        text = f"{name}({x.name}, {target})"
    return b.propose(text + end, lambda env: finish(twin(env[x.name], second(env), reduction, **numbers)), x, y)


OPS = [(activation, 4), (gated, 1), (slopes, 1), (divided, 1.5), (last_norm, 3), (channel_norm, 3), (local_norm, 1), (lengths, 2), (mixed, 1), (spaced, 1), (some_or_all, 1),
       (masks, 1), (counted, 1), (attended, 2), (volumes, 3), (pools_of_images, 2), (convolution_of_volumes, 2)]
