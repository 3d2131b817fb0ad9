"""Expressions of the DSL and of PyTorch that mean the same, on the same parameters.

z holds ties and values at bounds. In C++ and in Python the parameters are x, y, z, im, w, wg, wd and wm.
"""

from parity.choice_cases import CHOICES
from parity.distribution_cases import CDFS, DISTRIBUTIONS
from parity.factor_cases import FACTORS
from parity.fourier_cases import FOURIER
from parity.keyword_cases import KEYWORDS
from parity.matrix_cases import MATRICES
from parity.other_name_cases import OTHER_NAMES
from parity.position_cases import POSITIONS
from parity.scan_cases import SCANS
from parity.seldom_cases import SELDOM

SHAPES = {"x": (3, 4, 6), "y": (3, 4, 6), "im": (2, 4, 7, 8), "w": (5, 4, 3, 2), "wg": (6, 2, 3, 3),
          "wd": (4, 1, 3, 3), "wm": (8, 1, 2, 3), "z": (3, 5)}

# At a bound our clamp has no gradient; PyTorch 1.13, which these cases run, passes it on.
AT_BOUNDS = "torch.where((z > 0) & (z < 1), z, z.detach().clamp(0, 1))"

ACTIVATIONS = [
    ("[&] { auto t = x * 1; return F::relu(t, true) + t * y; }()", "(lambda t: F.relu(t, True) + t * y)(x * 1)"),
    ("[&] { auto t = x * 1, u = t; t = t + nn::LeakyReLU(0.2, true)(u); return t + u; }()",
     "F.leaky_relu(x, 0.2) * 3"),
    ("[&] { dl::TensorList l{x, y}; l[0] = l[1] * 2; l[-1] = l[0] + x; return l[1]; }()", "y * 2 + x"),
    ("F::leaky_relu(x, {.negative_slope = 0.3})", "F.leaky_relu(x, negative_slope=0.3)"), ("F::elu(x * 1, 0.5, true)", "F.elu(x, 0.5)"),
    ("F::silu(x)", "F.silu(x)"), ("F::gelu(x)", "F.gelu(x)"),
    ('F::gelu(x, {.approximate = "tanh"})', "F.gelu(x, approximate='tanh')"),
    ("x.clamp(-0.5, 0.5)", "x.clamp(-0.5, 0.5)"), ("x.clamp({.max = 0.1})", "x.clamp(max=0.1)"),
    ("x.clamp({.min = y})", "x.clamp(min=y)"), ("x.clamp(1, -1)", "x.clamp(1, -1)"), ("z.clamp(0, 1)", AT_BOUNDS),
    ("dl::clamp(x, y, 0.3)", "torch.clamp(x, min=y, max=torch.tensor(0.3))"), ("z.abs()", "z.abs()"),
    ("x.pow(2)", "x.pow(2)"), ("x.pow(3)", "x.pow(3)"), ("x.pow(-2)", "x.pow(-2)"), ("z.pow(2)", "z.pow(2)"),
    ("dl::pow(2, x)", "torch.pow(2, x)"), ("x.abs().pow(y)", "x.abs().pow(y)"), ("x.abs().pow(0.5)", "x.abs().pow(0.5)"),
    ("x.max(y)", "torch.max(x, y)"), ("dl::min(x, y)", "torch.min(x, y)"), ("dl::minimum(x, y)", "torch.minimum(x, y)"),
    ("z.maximum(0)", "z.maximum(torch.tensor(0.))"), ("dl::where(x > y, x, y * 2)", "torch.where(x > y, x, y * 2)"),
    ("x.where(y > 0, 0.0)", "x.where(y > 0, torch.tensor(0.))"), ("x.masked_fill(y > 0, 3)", "x.masked_fill(y > 0, 3)"),
]
REDUCTIONS = [
    ("x.var()", "x.var()"), ("x.var(false)", "x.var(unbiased=False)"), ("x.var(1)", "x.var(1)"),
    ("x.var({0, 2}, true, true)", "x.var((0, 2), True, True)"),
    ("x.var(-1, {.unbiased = false})", "x.var(-1, unbiased=False)"),
    ("dl::var(x, 2, {.correction = 2})", "torch.var(x, 2, correction=2)"), ("x.std(1, false)", "x.std(1, False)"),
    ("x.std()", "x.std()"), ("z.std(0)", "z.std(0)"), ("dl::std(x, {1, 2}, {.keepdim = true})", "torch.std(x, (1, 2), keepdim=True)"),
    ("x.logsumexp(1)", "x.logsumexp(1)"), ("x.logsumexp({0, -1}, true)", "x.logsumexp((0, -1), True)"),
    ("(x * 500).logsumexp(0)", "(x * 500).logsumexp(0)"), ("x.min()", "x.min()"), ("x.min(1).values", "x.min(1).values"),
    ("x.min(-1, true).indices", "x.min(-1, True).indices"), ("x.argmin()", "x.argmin()"),
    ("x.argmin(1, true)", "x.argmin(1, True)"), ("x.amin({0, 1})", "x.amin((0, 1))"), ("z.amin(0)", "z.amin(0)"),
    ("z.min()", "z.min()"), ("z.max()", "z.max()"), ("(x > y).amax(1).to(dl::kInt64)", "(x > y).amax(1).long()"),
    ("(x > y).min(1).values.to(dl::kFloat) * x.sum(1)", "(x > y).min(1).values.double() * x.sum(1)"),
]
SHAPING = [
    ("dl::cat({x, y})", "torch.cat([x, y])"), ("dl::cat({x, y, x}, -1)", "torch.cat([x, y, x], -1)"),
    ("dl::cat({x, y, x, y, x, y, x, y, y, x}, 1)", "torch.cat([x, y, x, y, x, y, x, y, y, x], 1)"),
    ("dl::stack({x, y})", "torch.stack([x, y])"), ("dl::stack({x, y}, -1)", "torch.stack([x, y], -1)"),
    ("dl::stack({x, y}, 2)", "torch.stack([x, y], 2)"), ("dl::cat(x.chunk(4, -1), 0)", "torch.cat(x.chunk(4, -1), 0)"),
    ("x.chunk(4, 2)[2]", "x.chunk(4, 2)[2]"), ("x.split(4, -1)[1]", "x.split(4, -1)[1]"),
    ("x.split({1, 3, 2}, 2)[1]", "x.split([1, 3, 2], 2)[1]"), ("x.unbind(1)[3]", "x.unbind(1)[3]"),
    ("x.slice(2, 1, -1, 2)", "x[:, :, 1:-1:2]"), ("x.slice(1, -3)", "x[:, -3:]"), ("x.slice(0, 0, 99)", "x[0:99]"),
    ("x.slice(1, 1, 8, dl::kEnd)", "x[:, 1:8:7]"), ("x[dl::Slice(0, dl::kEnd, dl::kEnd)]", "x[0:3:3]"),
    ("dl::cat(x.chunk(dl::kEnd, 1), 2)", "torch.cat(x.chunk(2**60, 1), 2)"), ("x.split(dl::kEnd, 1)[0]", "x.split(2**60, 1)[0]"),
    ("x.narrow(1, 1, 2)", "x.narrow(1, 1, 2)"), ("x.narrow(1, -3, 2)", "x.narrow(1, -3, 2)"),
    ("x.select(1, -1)", "x.select(1, -1)"), ("x[1]", "x[1]"), ("x[-1]", "x[-1]"),
    ("x[dl::Slice(), dl::Slice(1, 3), 0]", "x[:, 1:3, 0]"),
    ("x.index({0, dl::Ellipsis, dl::Slice(0, dl::kEnd, 3)})", "x[0, ..., ::3]"),
    ("x[dl::None, 1, dl::Ellipsis, dl::None]", "x[None, 1, ..., None]"), ("x[dl::Ellipsis, 2]", "x[..., 2]"),
    ("x.unflatten(2, {2, -1})", "x.unflatten(2, (2, 3))"), ("x.permute(2, 0, 1)", "x.permute(2, 0, 1)"),
    ("x.permute({-1, 0, 1})", "x.permute(-1, 0, 1)"), ("x.chunk<2>(2, -1).b", "x.chunk(2, -1)[1]"),
    ("dl::split<3>(x, {1, 3, 2}, 2).c", "torch.split(x, [1, 3, 2], 2)[2]"), ("x.unbind<3>().b", "x.unbind()[1]"),
    ("*++dl::begin(x)", "list(x)[1]"), ("(x > y).type_as(y) * y", "(x > y).type_as(y) * y"),
]
WINDOWS = [
    ("F::avg_pool2d(im, 2)", "F.avg_pool2d(im, 2)"),
    ("F::avg_pool2d(im, {3, 2}, {.stride = 2, .padding = 1})", "F.avg_pool2d(im, (3, 2), 2, 1)"),
    ("F::avg_pool2d(im, 3, {.stride = 2, .padding = {1, 0}, .ceil_mode = true})", "F.avg_pool2d(im, 3, 2, (1, 0), True)"),
    ("F::avg_pool2d(im, 3, {.stride = {3, 2}, .padding = 1, .ceil_mode = true, .count_include_pad = false})",
     "F.avg_pool2d(im, 3, (3, 2), 1, True, False)"),
    ("F::avg_pool2d(im, {4, 3}, {.padding = {2, 1}, .ceil_mode = true})",
     "F.avg_pool2d(im, (4, 3), padding=(2, 1), ceil_mode=True)"),
    ("F::avg_pool2d(im, 2, {.stride = 5, .padding = 1, .ceil_mode = true})", "F.avg_pool2d(im, 2, 5, 1, True)"),
    ("F::avg_pool2d(im, 3, {.count_include_pad = false, .divisor_override = 5})",
     "F.avg_pool2d(im, 3, count_include_pad=False, divisor_override=5)"),
    ("F::conv2d(im, w, {.padding = 2, .dilation = {2, 1}})", "F.conv2d(im, w, padding=2, dilation=(2, 1))"),
    ("F::conv2d(im, wg, {}, {.stride = 2, .padding = 1, .groups = 2})", "F.conv2d(im, wg, stride=2, padding=1, groups=2)"),
    ("F::conv2d(im, wd, {}, {.stride = {1, 2}, .padding = 1, .dilation = 2, .groups = 4})",
     "F.conv2d(im, wd, stride=(1, 2), padding=1, dilation=2, groups=4)"),
    ("F::conv2d(im, wm, {.groups = 4})", "F.conv2d(im, wm, groups=4)"),
    ('F::conv2d(im, w, {}, {.padding = "same"})', "F.conv2d(im, w, padding='same')"),
    ('F::conv2d(im, wd, {}, {.padding = "same", .dilation = {2, 1}, .groups = 4})',
     "F.conv2d(im, wd, padding='same', dilation=(2, 1), groups=4)"),
    ("F::max_pool2d(im, 2, 3)", "F.max_pool2d(im, 2, 3)"), ("F::max_pool2d(im, 3, {2, 1}, 1)", "F.max_pool2d(im, 3, (2, 1), 1)"),
    ("F::avg_pool2d(im, {3, 2}, {1, 2}, {1, 0})", "F.avg_pool2d(im, (3, 2), (1, 2), (1, 0))"),
]
# V: volumes. T: images with many equal maxima, and the gradients of others.
V = ("im.view(1, 2, 4, 7, 8)", "im.view(1, 2, 4, 7, 8)")
T = ("(im - im.detach() + im.round().detach())", "(im - im.detach() + im.round().detach())")
WINDOWS += [(ours.replace("$V", V[0]).replace("$T", T[0]), theirs.replace("$V", V[1]).replace("$T", T[1])) for ours, theirs in [
    ("F::max_pool2d(im, 3, {.stride = 2, .padding = 1, .ceil_mode = true})", "F.max_pool2d(im, 3, 2, 1, ceil_mode=True)"),
    ("F::max_pool2d($T, {2, 3}, {.stride = 3, .ceil_mode = true})", "F.max_pool2d($T, (2, 3), 3, ceil_mode=True)"),
    ("F::max_pool2d(im, 2, {.stride = 5, .padding = 1, .ceil_mode = true})", "F.max_pool2d(im, 2, 5, 1, ceil_mode=True)"),
    ("F::max_pool2d($T, {3, 2}, {.stride = {1, 2}, .padding = {1, 0}, .dilation = {2, 3}})",
     "F.max_pool2d($T, (3, 2), (1, 2), (1, 0), (2, 3))"),
    ("F::max_pool2d(im, 3, 2, 1, 2, true)", "F.max_pool2d(im, 3, 2, 1, 2, True)"),
    ("F::max_pool1d(x, 2, 3, 1)", "F.max_pool1d(x, 2, 3, 1)"), ("F::max_pool1d(x, 2, {.dilation = 3})", "F.max_pool1d(x, 2, dilation=3)"),
    ("F::avg_pool1d(x, 3, 2, 1, true, false)", "F.avg_pool1d(x, 3, 2, 1, True, False)"),
    ("F::avg_pool2d(im, {3, 2}, 2, {1, 0}, true, false)", "F.avg_pool2d(im, (3, 2), 2, (1, 0), True, False)"),
    ("F::max_pool3d($V, 2)", "F.max_pool3d($V, 2)"), ("F::max_pool3d($V, {3, 2, 2}, {2, 1, 3}, {1, 1, 0})", "F.max_pool3d($V, (3, 2, 2), (2, 1, 3), (1, 1, 0))"),
    ("F::max_pool3d($T.view(1, 2, 4, 7, 8), 3, {.stride = 2, .padding = 1, .ceil_mode = true})",
     "F.max_pool3d($T.view(1, 2, 4, 7, 8), 3, 2, 1, ceil_mode=True)"),
    ("F::max_pool3d($V, {2, 3, 2}, {.stride = 1, .dilation = {3, 2, 1}})", "F.max_pool3d($V, (2, 3, 2), 1, 0, (3, 2, 1))"),
    ("F::avg_pool3d($V, 2)", "F.avg_pool3d($V, 2)"), ("F::avg_pool3d($V, {2, 3, 2}, {1, 2, 2}, {0, 1, 1})", "F.avg_pool3d($V, (2, 3, 2), (1, 2, 2), (0, 1, 1))"),
    ("F::avg_pool3d($V, 3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false})", "F.avg_pool3d($V, 3, 2, 1, True, False)"),
    ("F::avg_pool3d($V, {3, 2, 3}, {.stride = {3, 3, 2}, .padding = {1, 0, 1}, .ceil_mode = true})",
     "F.avg_pool3d($V, (3, 2, 3), (3, 3, 2), (1, 0, 1), True)"),
    ("F::avg_pool3d($V, 2, {.divisor_override = 5})", "F.avg_pool3d($V, 2, divisor_override=5)"),
    ("F::conv2d(im, w, {}, {2, 1}, 1)", "F.conv2d(im, w, None, (2, 1), 1)"), ("F::conv2d(im, w, {}, {2, 2})", "F.conv2d(im, w, None, (2, 2))"),
    ("F::conv2d(im, wg, {}, 1, {2, 0}, {1, 2}, 2)", "F.conv2d(im, wg, None, 1, (2, 0), (1, 2), 2)"),
    ("F::conv1d(x, w.select(3, 0), {}, 2, 1)", "F.conv1d(x, w[..., 0].contiguous(), None, 2, 1)"),
    ('F::conv1d(x, w.select(2, 0), {.padding = "same", .dilation = 3})',
     "F.conv1d(x, w[:, :, 0].contiguous(), padding='same', dilation=3)"),
    ('F::conv1d(x, w.select(2, 0), {}, 1, "same")', "F.conv1d(x, w[:, :, 0].contiguous(), padding='same')"),
    ('F::conv3d($V, wg.view(3, 2, 2, 3, 3), {}, {.padding = "same", .dilation = {3, 1, 2}})',
     "F.conv3d($V, wg.view(3, 2, 2, 3, 3), padding='same', dilation=(3, 1, 2))"),
    ("F::conv3d($V, wg.view(3, 2, 2, 3, 3), {}, {1, 2, 3}, {1, 0, 1})", "F.conv3d($V, wg.view(3, 2, 2, 3, 3), None, (1, 2, 3), (1, 0, 1))"),
    ("F::conv_transpose1d(x, wg.view(4, 3, 9), {}, 2, 1)", "F.conv_transpose1d(x, wg.view(4, 3, 9), None, 2, 1)"),
    ("F::conv_transpose2d(im, wg.view(4, 3, 3, 3), {.stride = {2, 1}, .padding = 1, .output_padding = {1, 0}})", "F.conv_transpose2d(im, wg.view(4, 3, 3, 3), None, (2, 1), 1, (1, 0))"),
    ("F::conv_transpose2d(im, wg.view(4, 3, 3, 3), {}, 2, 0, 1, 2, 2)", "F.conv_transpose2d(im, wg.view(4, 3, 3, 3), None, 2, 0, 1, 2, 2)"),
    ("F::conv_transpose2d(im, wg.view(4, 3, 3, 3), {}, {1, 2}, {1, 0}, {2, 1}, 1, {3, 2})",
     "F.conv_transpose2d(im, wg.view(4, 3, 3, 3), None, (1, 2), (1, 0), (2, 1), 1, (3, 2))"),
    ("F::conv_transpose2d(im, wg.view(4, 3, 3, 3), {}, 1, 3, {1, 3}, 1, 4)", "F.conv_transpose2d(im, wg.view(4, 3, 3, 3), None, 1, 3, (1, 3), 1, 4)"),
    ("F::unfold(im, {3, 2}, {2, 1}, 1, {1, 2})", "F.unfold(im, (3, 2), (2, 1), 1, (1, 2))"), ("F::unfold(im, 2, {2, 2})", "F.unfold(im, 2, (2, 2))"),
    ("F::fold(F::unfold(im, 3, 1, 1, 2), {7, 8}, 3, 1, 1, 2)", "F.fold(F.unfold(im, 3, 1, 1, 2), (7, 8), 3, 1, 1, 2)"),
    ("F::interpolate(im, {14, 5})", "F.interpolate(im, (14, 5))"), ('F::interpolate(im, 5, {}, "bilinear", true)', "F.interpolate(im, 5, None, 'bilinear', True)"),
]]
# K: -3 .. 2; Q: integers, one of them the least there is.
K = ("(dl::arange(6) - 3)", "(torch.arange(6) - 3)")
Q = ("dl::where(dl::arange(4) == 2, -9223372036854775807 - 1, dl::arange(4) - 7)",
     "torch.where(torch.arange(4) == 2, torch.tensor(-2**63), torch.arange(4) - 7)")
INTEGERS = [
    (ours.replace("K", K[0]).replace("Q", Q[0]), theirs.replace("K", K[1]).replace("Q", Q[1])) for ours, theirs in [
        ("K.pow(2)", "K.pow(2)"), ("K.pow(0)", "K.pow(0)"), ("K.pow(1)", "K.pow(1)"), ("dl::pow(K, 7)", "torch.pow(K, 7)"),
        ("K.pow(3.0)", "K.pow(3.0)"), ("K.sign()", "K.sign()"), ("(K > 0).sign()", "(K > 0).sign()"),
        ("K.floor()", "K.floor()"), ("F::relu(K)", "F.relu(K)"), ("K.mul(K).to(dl::kUInt8).sign()", "K.mul(K).byte().sign()"),
        ("Q.min()", "Q.min()"), ("Q.amin(0)", "Q.amin(0)"), ("Q.argmin()", "Q.argmin()"), ("Q.argmax()", "Q.argmax()"),
        ("Q.min(0).values", "Q.min(0).values"), ("Q.min(0).indices", "Q.min(0).indices"),
        ("K.min(0, true).values", "K.min(0, True).values"),
        ("K % 4", "K % 4"), ("K % -4", "K % -4"), ("dl::remainder(Q, K[0] * 5)", "torch.remainder(Q, K[0] * 5)"), ("K.fmod(4)", "K.fmod(4)"),
        ("dl::fmod(Q, -3)", "torch.fmod(Q, -3)"), ("K.floor_divide(2)", "torch.floor_divide(K, 2)"), ("Q.floor_divide(-2)", "torch.floor_divide(Q, -2)"),
        ("dl::floor_divide(7, K * 2 + 1)", "torch.div(torch.tensor(7), K * 2 + 1, rounding_mode='floor')"),
        ("K.to(dl::kInt32) % Q[1].to(dl::kInt32)", "K.int() % Q[1].int()"), ("K % 2.5", "K % 2.5"),
        ("(K > 0) & (K < 2)", "(K > 0) & (K < 2)"), ("(K > 0) | (K < -1)", "(K > 0) | (K < -1)"), ("(K > 0) ^ (K > 1)", "(K > 0) ^ (K > 1)"),
        ("~(K > 0)", "~(K > 0)"),
        ("K.abs().to(dl::kUInt8).min()", "K.abs().byte().min()"),
        # Bytes beyond 127.
        *((f"(x * 90 + 128).clamp(0, 255).to(dl::kUInt8).{ours}", f"(x * 90 + 128).clamp(0, 255).byte().{theirs}") for ours, theirs in
          (("max()", "max()"), ("amax({0, 2})", "amax((0, 2))"), ("max(1).values", "max(1).values"), ("max(1).indices", "max(1).indices"), ("argmax(2)", "argmax(2)"))),
        ("dl::arange(5, -2, -3)", "torch.arange(5, -2, -3)"),
    ]
]
FRACTIONS = [
    ("dl::arange(0.5, 3.5)", "torch.arange(0.5, 3.5)"), ("dl::arange(0.0, 1.0, 0.1)", "torch.arange(0.0, 1.0, 0.1)"),
    ("dl::arange(2.5)", "torch.arange(2.5)"), ("dl::arange(1, -1, -0.75)", "torch.arange(1, -1, -0.75)"),
    ("dl::arange(0, 1.5f, 1)", "torch.arange(0, 1.5, 1)"),
    ("dl::arange(4, {.dtype = dl::kFloat}) / 8", "torch.arange(4, dtype=torch.double) / 8"),
    ("dl::arange(1, 5, {.dtype = dl::kInt32})", "torch.arange(1, 5, dtype=torch.int32)"),
    ("dl::arange(2.5, {.dtype = dl::kFloat})", "torch.arange(2.5)"),
    ("(x.detach() * 1e20).sin() * x", "(x.detach() * 1e20).sin() * x"), ("(x.detach() * 3e300).cos() * x", "(x.detach() * 3e300).cos() * x"),
]
# s: x squashed into (0, 1); c: classes, one of them 1 for ignore_index; l: one or minus one.
S = ("x.sigmoid()", "x.sigmoid()")
C = ("((dl::arange(18).view(3, 6) * 5).to(dl::kFloat) / 4.0).floor().to(dl::kInt64) - 4 * ((dl::arange(18).view(3, 6) * 5).to(dl::kFloat) / 16.0).floor().to(dl::kInt64)",
     "(torch.arange(18).view(3, 6) * 5 // 4) % 4")
P = ("y.softmax(1)", "y.softmax(1)")
L = ("dl::where(dl::arange(3) == 1, -1, 1)", "torch.where(torch.arange(3) == 1, -1, 1)")
W = ("dl::linspace(0.5, 2, 4)", "torch.linspace(0.5, 2, 4)")


def placed(cases):
    names = {"S": S, "C": C, "P": P, "L": L, "W": W, "I": I, "G": G, "V": V, "T": T}
    for ours, theirs in cases:
        for name, (a, b) in names.items():
            ours, theirs = ours.replace(f"${name}", f"({a})"), theirs.replace(f"${name}", f"({b})")
        yield ours, theirs


MORE_ACTIVATIONS = [
    (f"F::{name}({x}{more})", f"F.{name}({x}{theirs})") for x in ("x", "z", "(x * 30)") for name, more, theirs in [
        ("leaky_relu", "", ""), ("leaky_relu", ", 0.3", ", 0.3"), ("elu", "", ""), ("elu", ", 0.7", ", 0.7"), ("celu", ", 1.5", ", 1.5"),
        ("selu", "", ""), ("relu6", "", ""), ("hardtanh", "", ""), ("hardtanh", ", -2, 0.5", ", -2, 0.5"), ("hardswish", "", ""),
        ("softplus", "", ""), ("softplus", ", 2, 1", ", 2, 1"), ("softsign", "", ""), ("logsigmoid", "", ""),
        ("mish", "", ""), ("threshold", ", 0.2, 5", ", 0.2, 5"), ("hardshrink", "", ""), ("softshrink", ", 0.3", ", 0.3"),
        ("tanhshrink", "", ""), ("softmin", ", 1", ", 1")]
] + [
    ("F::elu(x, {.alpha = 2})", "F.elu(x, 2)"), ("F::celu(x, {.alpha = 2})", "F.celu(x, 2)"), ("F::softplus(x, {.beta = 2})", "F.softplus(x, 2)"),
    ("F::hardtanh(x, {.min_val = -0.2})", "F.hardtanh(x, -0.2)"),
    # At its corners as since PyTorch 2.
    ("F::hardswish(z - z.detach() + 3)", "z - z.detach() + 3"), ("F::hardswish(z - z.detach() - 3)", "(z - z.detach()) * 0"),
    # PyTorch's gradient has a sixth in f32.
    ("F::hardsigmoid(x * 5)", "F.relu6(x * 5 + 3) / 6"),
    ("F::glu(x)", "F.glu(x)"), ("F::glu(x, 1)", "F.glu(x, 1)"), ("F::prelu(x, w.select(0, 1).select(1, 0).select(1, 0))", "F.prelu(x, w[1, :, 0, 0])"),
     ("F::prelu(x, z.select(0, 0).narrow(0, 3, 1))", "F.prelu(x, z[0, 3:4])")]
ROUNDED = [
    (f"{x}.{name}()", f"{x}.{name}()") for x in ("(x * 3)", "(z * 0.5)", "(z * 1.5)") for name in ("round", "ceil", "trunc", "frac", "expm1", "exp2")
] + [
    ("x.abs().log2()", "x.abs().log2()"), ("dl::log10(x.abs())", "torch.log10(x.abs())"), ("(x * 1e-9).expm1()", "(x * 1e-9).expm1()"),
    ("dl::lerp(x, y, 0.3)", "torch.lerp(x, y, 0.3)"), ("x.lerp(y, y)", "x.lerp(y, y)"),
    ("(z / z).detach().nan_to_num(2.5)", "(z / z).detach().nan_to_num(2.5)"), ("(x / 0.0).detach().nan_to_num(0, 3, -4)", "(x / 0.0).detach().nan_to_num(0, 3, -4)"),
    ("(z / z).isnan()", "(z / z).isnan()"), ("(1.0 / z).isinf()", "(1.0 / z).isinf()"), ("(1.0 / z).isfinite()", "(1.0 / z).isfinite()"),
    ("x % 0.7", "x % 0.7"), ("dl::remainder(x, y)", "torch.remainder(x, y)"), ("x.fmod(y)", "x.fmod(y)"), ("dl::fmod(x * 5, -0.3)", "torch.fmod(x * 5, -0.3)"),
    ("5.5 % x", "torch.remainder(torch.tensor(5.5), x)"), ("(x * 1e6) % 0.1", "(x * 1e6) % 0.1"), ("(z * 0.5) % 0.5", "(z * 0.5) % 0.5"),
    ("dl::ones({3}) % 0.1", "torch.ones(3) % 0.1"), ("(x * 10).floor_divide(y)", "torch.floor_divide(x.detach() * 10, y.detach())"),
    ("dl::ones({3}).floor_divide(0.1)", "torch.floor_divide(torch.ones(3), 0.1)"),
    ("x.clip(-0.5, 0.5)", "x.clip(-0.5, 0.5)"), ("dl::clamp_min(x, 0.2)", "torch.clamp(x, min=0.2)"), ("x.clamp_max(0.1)", "x.clamp(max=0.1)"),
    ("dl::logical_xor(x > 0, y > 0)", "torch.logical_xor(x > 0, y > 0)"),
    ("dl::addcmul(x, y, y, {.value = 0.3})", "torch.addcmul(x, y, y, value=0.3)"), ("dl::addcdiv(x, y, $S)", "torch.addcdiv(x, y, $S)"),
    ("x.norm()", "x.norm()"), ("x.norm(2, 1)", "x.norm(2, 1)"), ("(z * 0).norm(2, {0, 1}, true)", "(z * 0).norm(2, (0, 1), True)"),
    ("x.norm(1, {0, 2})", "x.norm(1, (0, 2))"), ("x.norm(3, -1)", "x.norm(3, -1)"),
    ("x.norm({.dim = -1, .keepdim = true})", "x.norm(dim=-1, keepdim=True)"), ("dl::norm(x, 3, 1, {.keepdim = true})", "torch.norm(x, 3, 1, True)"), ("x.norm(__builtin_inf(), 1)", "x.norm(float('inf'), 1)"),
    ("dl::norm(z, 0, 1)", "torch.norm(z, 0, 1)"), ("(x > 1).any()", "(x > 1).any()"), ("(x > 1).any(1)", "(x > 1).any(1)"),
    ("dl::all(x < 1, -1, true)", "torch.all(x < 1, -1, True)"), ("(x < 9).all()", "(x < 9).all()"),
]
SAMPLED = [
    ("dl::add(x, y, {.alpha = -0.3})", "torch.add(x, y, alpha=-0.3)"), ("x.sub(2, {.alpha = 3})", "x.sub(2, alpha=3)"),
] + [
    (f'F::grid_sample(im, {grid}, {{.mode = "{mode}", .padding_mode = "{padding}", .align_corners = {str(align).lower()}}})',
     f"F.grid_sample(im, {grid}, mode='{mode}', padding_mode='{padding}', align_corners={align})")
    for grid in ("(x.view(2, 3, 6, 2) * 1.3)",) for mode in ("bilinear", "nearest") for padding in ("zeros", "border", "reflection")
    for align in (False, True)
] + [
    ("F::affine_grid(y.view(-1)[dl::Slice(0, 12)].view(2, 2, 3), {2, 4, 5, 3})", "F.affine_grid(y.view(-1)[:12].view(2, 2, 3), (2, 4, 5, 3), align_corners=False)"),
    ("F::affine_grid(y.view(-1)[dl::Slice(0, 12)].view(2, 2, 3), {2, 4, 1, 3}, true)", "F.affine_grid(y.view(-1)[:12].view(2, 2, 3), (2, 4, 1, 3), align_corners=True)"),
    ("F::grid_sample(im, F::affine_grid(y.view(-1)[dl::Slice(0, 12)].view(2, 2, 3), im.sizes()))",
     "F.grid_sample(im, F.affine_grid(y.view(-1)[:12].view(2, 2, 3), im.shape, align_corners=False), align_corners=False)"),
    ("D::Categorical({.logits = x}).log_prob((y > 0)[dl::Ellipsis, 1])", "D.Categorical(logits=x).log_prob((y > 0)[..., 1].long())"),
    ("D::Categorical(x.exp()).entropy()", "D.Categorical(x.exp()).entropy()"), ("D::Categorical({.logits = x}).entropy()", "D.Categorical(logits=x).entropy()"),
    ("D::Normal(x, y.exp()).log_prob(0.3)", "D.Normal(x, y.exp()).log_prob(torch.tensor(0.3))"), ("D::Normal(0.5, x.exp()).entropy()", "D.Normal(0.5, x.exp()).entropy()"),
    ("D::Bernoulli({.logits = x}).log_prob((y > 0).to(dl::kFloat))", "D.Bernoulli(logits=x).log_prob((y > 0).double())"),
    ("D::Bernoulli(x.sigmoid()).entropy()", "D.Bernoulli(x.sigmoid()).entropy()"),
    ("D::kl_divergence(D::Normal(x, y.exp()), D::Normal(0, 1))", "D.kl_divergence(D.Normal(x, y.exp()), D.Normal(0., 1.))"),
    ("dl::lgamma(x * 3)", "torch.lgamma(x * 3)"), ("(x.exp() * 5).lgamma()", "(x.exp() * 5).lgamma()"), ("dl::digamma(x * 3)", "torch.digamma(x * 3)"), ("y.exp().digamma()", "y.exp().digamma()"),
    ("dl::erfinv(x.tanh())", "torch.erfinv(x.tanh())"), ("dl::special::gammaln(y.exp())", "torch.special.gammaln(y.exp())"),
    ("dl::logcumsumexp(x * 5, 1)", "torch.logcumsumexp(x * 5, 1)"), ("x.cummax(-1).values", "x.cummax(-1).values"), ("z.cummax(1).indices", "z.cummax(1).indices"),
    ("dl::cummin(x, 1).values", "torch.cummin(x, 1).values"), ("z.cummin(-1).indices", "z.cummin(-1).indices"),
    ("D::Uniform(y.neg().exp().neg(), 9.).log_prob(x.sigmoid())", "D.Uniform(-(-y).exp(), torch.full_like(y, 9), validate_args=False).log_prob(x.sigmoid())"),
    ("D::Laplace(y, x.exp()).log_prob(x.sigmoid())", "D.Laplace(y, x.exp()).log_prob(x.sigmoid())"), ("D::Laplace(y, x.exp()).entropy()", "D.Laplace(y, x.exp()).entropy()"),
    ("D::LogNormal(y, x.exp()).log_prob(x.sigmoid())", "D.LogNormal(y, x.exp()).log_prob(x.sigmoid())"), ("D::LogNormal(y, x.exp()).entropy()", "D.LogNormal(y, x.exp()).entropy()"),
    ("D::LogNormal(y, x.sigmoid()).mean()", "D.LogNormal(y, x.sigmoid()).mean"), ("D::LogNormal(y, x.sigmoid()).variance()", "D.LogNormal(y, x.sigmoid()).variance"),
    ("D::Exponential(y.exp()).log_prob(x.sigmoid())", "D.Exponential(y.exp()).log_prob(x.sigmoid())"), ("D::Exponential(y.exp()).entropy()", "D.Exponential(y.exp()).entropy()"),
    ("D::Gumbel(y, x.exp()).log_prob(x.sigmoid())", "D.Gumbel(y, x.exp()).log_prob(x.sigmoid())"), ("D::Gumbel(y, x.exp()).entropy()", "D.Gumbel(y, x.exp()).entropy()"),
    ("D::Gumbel(y, x.exp()).variance()", "D.Gumbel(y, x.exp()).variance"), ("D::Gamma(y.exp(), x.exp()).log_prob(x.sigmoid())", "D.Gamma(y.exp(), x.exp()).log_prob(x.sigmoid())"),
    ("D::Gamma(y.exp(), x.exp()).entropy()", "D.Gamma(y.exp(), x.exp()).entropy()"), ("D::Beta(y.exp(), x.exp()).log_prob(x.sigmoid())", "D.Beta(y.exp(), x.exp()).log_prob(x.sigmoid())"),
    ("D::Beta(y.exp(), x.exp()).entropy()", "D.Beta(y.exp(), x.exp()).entropy()"), ("D::Beta(y.exp(), x.exp()).variance()", "D.Beta(y.exp(), x.exp()).variance"),
    ("D::Dirichlet(y.exp()).log_prob(x.softmax(-1))", "D.Dirichlet(y.exp()).log_prob(x.softmax(-1))"), ("D::Dirichlet(y.exp()).entropy()", "D.Dirichlet(y.exp()).entropy()"),
    ("D::Poisson(y.exp()).log_prob((x.exp() * 3).floor())", "D.Poisson(y.exp()).log_prob((x.exp() * 3).floor())"),
    ("D::Independent(D::Normal(y, x.exp()), 2).log_prob(x)", "D.Independent(D.Normal(y, x.exp()), 2).log_prob(x)"), ("D::Independent(D::Normal(y, x.exp()), 1).entropy()", "D.Independent(D.Normal(y, x.exp()), 1).entropy()"),
    ("D::kl_divergence(D::Bernoulli({.logits = x}), D::Bernoulli({.logits = y}))", "D.kl_divergence(D.Bernoulli(logits=x), D.Bernoulli(logits=y))"),
    ("D::kl_divergence(D::Laplace(x, y.exp()), D::Laplace(y, x.exp()))", "D.kl_divergence(D.Laplace(x, y.exp()), D.Laplace(y, x.exp()))"),
    ("D::kl_divergence(D::Exponential(x.exp()), D::Exponential(y.exp()))", "D.kl_divergence(D.Exponential(x.exp()), D.Exponential(y.exp()))"),
    ("D::kl_divergence(D::Gamma(x.exp(), y.exp()), D::Gamma(y.exp(), x.exp()))", "D.kl_divergence(D.Gamma(x.exp(), y.exp()), D.Gamma(y.exp(), x.exp()))"),
    ("D::kl_divergence(D::Beta(x.exp(), y.exp()), D::Beta(y.exp(), x.exp()))", "D.kl_divergence(D.Beta(x.exp(), y.exp()), D.Beta(y.exp(), x.exp()))"),
    ("D::kl_divergence(D::Dirichlet(x.exp()), D::Dirichlet(y.exp()))", "D.kl_divergence(D.Dirichlet(x.exp()), D.Dirichlet(y.exp()))"),
    ("D::kl_divergence(D::Independent(D::Normal(x, 1.), 1), D::Independent(D::Normal(y, 2.), 1))", "D.kl_divergence(D.Independent(D.Normal(x, torch.ones_like(x)), 1), D.Independent(D.Normal(y, 2 * torch.ones_like(y)), 1))"),
    ("D::kl_divergence(D::Categorical({.logits = x}), D::Categorical({.logits = y}))", "D.kl_divergence(D.Categorical(logits=x), D.Categorical(logits=y))"),
    # Actions that are forbidden.
    ("D::Categorical({.logits = x.masked_fill(dl::arange(6).eq(1), -dl::inf)}).entropy()",
     "D.Categorical(logits=x.masked_fill(torch.arange(6) == 1, -float('inf'))).entropy()"),
    # PyTorch has NaN in its gradient.
    ("D::kl_divergence(D::Categorical({.logits = x.detach().masked_fill(dl::arange(6).eq(1), -dl::inf)}), D::Categorical({.logits = y.detach().masked_fill(dl::arange(6).eq(1), -dl::inf)}))",
     "D.kl_divergence(D.Categorical(logits=x.detach().masked_fill(torch.arange(6) == 1, -float('inf'))), D.Categorical(logits=y.detach().masked_fill(torch.arange(6) == 1, -float('inf'))))"),
]
MADE = [
    ("x.repeat(2, 1, 3)", "x.repeat(2, 1, 3)"), ("x.repeat({2, 2, 1, 3, 1})", "x.repeat(2, 2, 1, 3, 1)"), ("x.tile({2, 3})", "x.tile((2, 3))"),
    ("x.movedim(0, 2)", "x.movedim(0, 2)"), ("x.movedim({0, 1}, {2, 0})", "x.movedim((0, 1), (2, 0))"), ("dl::movedim(x, {-1, 0}, {0, 1})", "torch.movedim(x, (-1, 0), (0, 1))"), ("dl::movedim(x, -1, 0)", "torch.movedim(x, -1, 0)"), ("x.swapaxes(0, 1)", "x.swapaxes(0, 1)"),
    ("dl::linspace(-1, 2, 7)", "torch.linspace(-1, 2, 7)"), ("dl::linspace(3, 4, 1)", "torch.linspace(3, 4, 1)"),
    ("dl::zeros(2, 3)", "torch.zeros(2, 3)"), ("dl::ones(4)", "torch.ones(4)"), ("dl::masked_fill(x, y > 0, -dl::inf).exp()", "x.masked_fill(y > 0, -float('inf')).exp()"),
    ("dl::eye(4)", "torch.eye(4)"), ("dl::eye(2, 3)", "torch.eye(2, 3)"), ("F::one_hot($C, 5)", "F.one_hot($C, 5)"),
    ("dl::meshgrid({x[0][0], y[0][1]})[0]", "torch.meshgrid(x[0, 0], y[0, 1], indexing='ij')[0]"),
    ('dl::meshgrid({x[0][0], y[0][1], z[0]}, "xy")[1]', "torch.meshgrid(x[0, 0], y[0, 1], z[0], indexing='xy')[1]"),
    ("x[0][0].dot(y[1][2])", "x[0, 0].dot(y[1, 2])"), ("dl::outer(x[0][0], z[1])", "torch.outer(x[0, 0], z[1])"),
    ("dl::addmm(x[0], y[0].narrow(1, 0, 4), y[1], {.beta = 0.5, .alpha = 2})", "torch.addmm(x[0], y[0][:, :4], y[1], beta=0.5, alpha=2)"),
    ("dl::baddbmm(x, y.narrow(2, 0, 4), y)", "torch.baddbmm(x, y[:, :, :4], y)"),
]
COMPOSED = [
    ("dl::atan2(z - z.detach(), z.detach() * 0 + dl::where(z > 0, 0.0, 1.0))", "torch.where(z > 0, 0., 1.) * (z - z.detach())"),
    ("dl::sinc(x)", "torch.sinc(x)"), ("z.sinc()", "torch.where(z == 0, 1 - (3.141592653589793 * z) ** 2 / 6, torch.sinc(torch.where(z == 0, z.detach() + 0.1, z)))"),
    ("x.sigmoid().logit()", "x.sigmoid().logit()"), ("dl::logit(x.sigmoid(), 0.3)", "torch.logit(x.sigmoid(), 0.3)"),
    ("dl::xlogy(x, y.exp())", "torch.xlogy(x, y.exp())"), ("(x - x.detach()).xlogy(y.detach())", "torch.xlogy(x - x.detach(), y.detach())"),
    ("x.hypot(y)", "x.hypot(y)"), ("dl::hypot(x * 1e200, y * 1e200) / 1e200", "torch.hypot(x, y)"), ("dl::xlogy(z * 0, 1 / z.abs().relu())", "z * 0"), ("dl::logaddexp(x, y * 30)", "torch.logaddexp(x, y * 30)"), ("x.logaddexp(x)", "torch.logaddexp(x, x)"), ("dl::logaddexp(z, z * z)", "torch.logaddexp(z, z * z)"), ("z.pow(0)", "z.pow(0)"),
    ("dl::where(y > 0, -dl::inf, x).logaddexp(dl::where(y > 0, -dl::inf, y)).exp()", "torch.where(y > 0, x * 0, torch.logaddexp(x, y).exp())"),
    ("dl::isclose(x, x + 1e-6)", "torch.isclose(x, x + 1e-6)"), ("(x / 0.0).isclose(x / 0.0)", "torch.isclose(x / 0, x / 0)"),
    ("dl::isclose(x / 0.0, y / 0.0)", "torch.isclose(x / 0, y / 0)"), ("x.isclose(y, 0.5, 0.1)", "torch.isclose(x, y, 0.5, 0.1)"),
    ('dl::div(x, y, {.rounding_mode = "floor"})', "torch.div(x, y, rounding_mode='floor')"), ('dl::div(x, 0.3, {.rounding_mode = "trunc"})', "torch.div(x, 0.3, rounding_mode='trunc')"),
    ('dl::div(dl::arange(9) - 4, 3, {.rounding_mode = "trunc"})', "torch.div(torch.arange(9) - 4, 3, rounding_mode='trunc')"), ("dl::div(x, y.exp(), {})", "x / y.exp()"),
    ("dl::where(x > 1, dl::nan, x).median(2).values.isnan()", "torch.where(x > 1, float('nan'), x).median(2).values.isnan()"), ("dl::where(x > 1, dl::nan, x).quantile(0.4, 1).isnan()", "torch.where(x > 1, float('nan'), x).quantile(0.4, 1).isnan()"),
    ("dl::where(x > 1, dl::nan, x).median().isnan()", "torch.tensor(True)"), ("(x > 0).diff()", "(x > 0).diff()"), ("dl::nansum(dl::arange(4))", "torch.arange(4).sum()"),
    ("dl::where(x > 0, x, dl::nan).nansum(1)", "torch.nansum(torch.where(x > 0, x, float('nan')), 1)"), ("dl::nanmean(dl::where(x > -1, x, dl::nan), {0, 2}, true)", "torch.nanmean(torch.where(x > -1, x, float('nan')), (0, 2), True)"),
    ("dl::count_nonzero(z, 1)", "torch.count_nonzero(z, 1)"), ("x.take_along_dim(dl::arange(5) * 3)", "x.take_along_dim(torch.arange(5) * 3)"), ("x.sum().quantile(0.5, 0)", "x.sum().quantile(0.5, 0)"),
    ("x[0].kron(z)", "x[0].kron(z)"), ("dl::inner(x.permute({2, 1, 0}), z.t())", "torch.inner(x.permute(2, 1, 0), z.t())"),
    ("z.count_nonzero()", "z.count_nonzero()"), ("z.count_nonzero({0})", "z.count_nonzero(0)"),
    ("dl::nansum(dl::where(x > 0, x, dl::nan))", "torch.nansum(torch.where(x > 0, x, float('nan')))"),
    ("dl::where(x > 0, x, dl::nan).nanmean()", "torch.nanmean(torch.where(x > 0, x, float('nan')))"),
    ("x.kthvalue(2).values", "x.kthvalue(2).values"), ("dl::kthvalue(x, 3, 1, true).indices", "torch.kthvalue(x, 3, 1, True).indices"),
    ("x.median()", "x.median()"), ("x.median(1).values", "x.median(1).values"), ("dl::median(x, -1, true).indices", "torch.median(x, -1, True).indices"),
    ("x.quantile(0.3)", "x.quantile(0.3)"), ("dl::quantile(x, 0.5, 1)", "torch.quantile(x, 0.5, 1)"), ("x.quantile(1, 2, true)", "x.quantile(1, 2, True)"),
    ("z[0].broadcast_to({2, 5})", "z[0].broadcast_to(2, 5)"), ("x.mT()", "x.mT"), ("x.ravel()", "x.ravel()"), ("x.diff()", "x.diff()"),
    ("dl::diff(x, 2, 1)", "torch.diff(x, 2, 1)"), ("x.unfold(2, 3, 2)", "x.unfold(2, 3, 2)"), ("x.unfold(1, 2, 1)", "x.unfold(1, 2, 1)"),
    ("x.take_along_dim(y.argsort(1), 1)", "x.take_along_dim(y.argsort(1), 1)"),
    ("dl::take_along_dim(x, y.narrow(0, 0, 1).argsort(-1).narrow(2, 0, 2), -1)", "torch.take_along_dim(x, y[:1].argsort(-1)[:, :, :2], -1)"),
    ("x[0].mv(y[1][0])", "x[0].mv(y[1, 0])"), ("dl::mv(x[0], y[1][0])", "torch.mv(x[0], y[1, 0])"), ("dl::inner(x, y[0])", "torch.inner(x, y[0])"), ("x.inner(z[0][2])", "torch.inner(x, z[0, 2])"),
    ("dl::tensordot(x, y.permute({1, 2, 0}))", "torch.tensordot(x, y.permute(1, 2, 0))"), ("dl::tensordot(x, y, {0, 2}, {0, 2})", "torch.tensordot(x, y, ([0, 2], [0, 2]))"),
    ("dl::tensordot(x, y.permute({2, 1, 0}), {0, 2}, {2, 0})", "torch.tensordot(x, y.permute(2, 1, 0), ([0, 2], [2, 0]))"),
    ("dl::tensordot(x.matmul(y.mT()), y.matmul(x.mT()), {1, 2}, {-1, 1})", "torch.tensordot(x @ y.mT, y @ x.mT, ([1, 2], [-1, 1]))"),
    ("dl::tensordot(x, z, 0)", "torch.tensordot(x, z, 0)"), ("dl::tensordot(x, y, {2, 0}, {-1, 0})", "torch.tensordot(x, y, ([2, 0], [-1, 0]))"),
    ("dl::cross(x, y, 0)", "torch.cross(x, y, 0)"), ("dl::cross(x.narrow(2, 1, 3), y.narrow(2, 0, 3))", "torch.cross(x[:, :, 1:4], y[:, :, :3])"), ("x.narrow(2, 1, 3).cross(y.narrow(2, 0, 3), -1)", "torch.cross(x[:, :, 1:4], y[:, :, :3], -1)"),
    ("dl::kron(x[0], z)", "torch.kron(x[0], z)"), ("dl::kron(x, z)", "torch.kron(x, z)"), ("dl::cdist(x, y)", "torch.cdist(x, y)"), ("dl::cdist(x[0], y[1], 1)", "torch.cdist(x[0], y[1], 1)"),
    ("dl::hstack({x, y})", "torch.hstack([x, y])"), ("dl::hstack({z[0], z[1]})", "torch.hstack([z[0], z[1]])"), ("dl::vstack({z, z[0]})", "torch.vstack([z, z[0]])"),
    ("dl::randperm(7).sort().values", "torch.arange(7)"), ("dl::randint_like(x, 3, 4)", "torch.full_like(x, 3).long()"), ("dl::bernoulli((x > 0).to(dl::kFloat))", "(x > 0).double()"),
    ("x.norm(0.5, 1)", "x.norm(0.5, 1)"), ("(z * z).norm(0.5)", "(z * z + 0).norm(0.5)"),
]
RMS = "{0} * torch.rsqrt(({0} ** 2).mean({1}, keepdim=True) + {2})"
GQA = ("(lambda k, v: torch.softmax(((torch.cat([x, y]) @ k.transpose(1, 2)) * 6 ** -0.5){}, -1) @ v)"
       "(*(t.repeat_interleave(2, 0) for t in (y, x + y)))")
SDPA = "torch.softmax(((x @ y.transpose(1, 2)) * {}){}, -1) @ (x + y)"
# Queries enough for blocks of them, no two the same.
ROWS = ("x.repeat({{1, {0}, 1}}) * (dl::arange(4 * {0}).to(dl::kFloat) * 0.37).cos().view({{4 * {0}, 1}})",
        "(x.repeat(1, {0}, 1) * (torch.arange(4 * {0}) * 0.37).cos().view(-1, 1))")
NORMS = [
    ("F::batch_norm(x, {}, {}, y.mean({0, 2}), y.amax({0, 2}), true)", "F.batch_norm(x, None, None, y.mean((0, 2)), y.amax((0, 2)), True)"),
    ("F::batch_norm(x, nullptr, nullptr, {}, {}, true, 0.1, 1e-2)", "F.batch_norm(x, None, None, None, None, True, 0.1, 1e-2)"),
    ("F::layer_norm(x, {6}, {})", "F.layer_norm(x, (6,))"), ("F::group_norm(x, 2, {})", "F.group_norm(x, 2)"), ("F::hardshrink(x, {.lambd = 0.2})", "F.hardshrink(x, 0.2)"),
    ("F::layer_norm(x, {6}, {.eps = 0.5})", "F.layer_norm(x, (6,), eps=0.5)"), ("F::group_norm(x, 2, {.weight = $W, .eps = 0.1})", "F.group_norm(x, 2, $W, eps=0.1)"),
    ("F::layer_norm(x, {6})", "F.layer_norm(x, (6,))"), ("F::layer_norm(x, 6)", "F.layer_norm(x, (6,))"),
    ("F::instance_norm(x)", "F.instance_norm(x)"), ("F::instance_norm(im.view(1, 2, 4, 7, 8), x[0][0].narrow(0, 0, 2), y[0][0].narrow(0, 0, 2), 1e-3)",
     "F.instance_norm(im.view(1, 2, 4, 7, 8), weight=x[0, 0, :2], bias=y[0, 0, :2], eps=1e-3)"), ("F::layer_norm(x, {4, 6}, y[0], y[1], 1e-3)", "F.layer_norm(x, (4, 6), y[0], y[1], 1e-3)"),
    ("F::rms_norm(x, {6})", RMS.format("x", "-1", "2 ** -52")), ("F::rms_norm(x, {4, 6}, y[0], 0.1)", RMS.format("x", "(1, 2)", "0.1") + " * y[0]"),
    ("F::group_norm(x, 2)", "F.group_norm(x, 2)"), ("F::group_norm(im, 4, $W, $W, 1e-3)", "F.group_norm(im, 4, $W, $W, 1e-3)"),
    ("F::instance_norm(im)", "F.instance_norm(im)"), ("F::normalize(x)", "F.normalize(x)"), ("F::normalize(z, 1, 0)", "F.normalize(z, 1, 0)"),
    ("F::normalize(x, {.p = 3, .dim = -1})", "F.normalize(x, 3, -1)"), ("F::cosine_similarity(x, y)", "F.cosine_similarity(x, y)"),
    ("F::cosine_similarity(x, y, {.dim = -1, .eps = 1e-3})", "F.cosine_similarity(x, y, -1, 1e-3)"),
    ("F::cosine_similarity(x, y, -1)", "F.cosine_similarity(x, y, -1)"), ("F::pairwise_distance(x, y)", "F.pairwise_distance(x, y)"),
    ("F::pairwise_distance(x, y, 1, 1e-6, true)", "F.pairwise_distance(x, y, 1, 1e-6, True)"),
    ("F::scaled_dot_product_attention(x, y, x + y)", SDPA.format("6 ** -0.5", "")),
    ("F::scaled_dot_product_attention(x, y, x + y, {}) * F::scaled_dot_product_attention(x, y, x + y, dl::Tensor())", "(" + SDPA.format("6 ** -0.5", "") + ") ** 2"),
    ("F::scaled_dot_product_attention(x, y, x + y, {.is_causal = true, .scale = 0.3})",
     SDPA.format("0.3", ".masked_fill(torch.ones(4, 4).tril() == 0, -float('inf'))")),
    *[(f"F::scaled_dot_product_attention({ROWS[0].format(q)}, y.repeat({{1, {k}, 1}}), x.repeat({{1, {k}, 1}}), {{.is_causal = true}})",
       f"torch.softmax(({ROWS[1].format(q)} @ y.repeat(1, {k}, 1).transpose(1, 2) * 6 ** -0.5).masked_fill("
       f"torch.ones({4 * q}, {4 * k}).tril() == 0, -float('inf')), -1) @ x.repeat(1, {k}, 1)")
      for q, k in ((130, 130), (260, 66), (130, 140))],
    # Two heads of queries for each of keys: of three dims, of four with a mask for each head of queries, and with one for all.
    ("F::scaled_dot_product_attention(dl::cat({x, y}), y, x + y, {.is_causal = true, .enable_gqa = true})",
     GQA.format(".masked_fill(torch.ones(4, 4).tril() == 0, -float('inf'))")),
    ("F::scaled_dot_product_attention(dl::cat({x, y}), y.expand({2, 3, 4, 6}), (x + y).expand({2, 3, 4, 6}), {.enable_gqa = true})",
     GQA.format("") + ".expand(2, 6, 4, 6)"),
    ("F::scaled_dot_product_attention(dl::cat({x, y})[dl::None], y[dl::None], (x + y)[dl::None], {.attn_mask = dl::cat({y, x}).narrow(-1, 0, 4)[dl::None],"
     " .enable_gqa = true})[0]", GQA.format(" + torch.cat([y, x])[..., :4]")),
    ("F::scaled_dot_product_attention(dl::cat({x, y})[dl::None], y[dl::None], (x + y)[dl::None], {.attn_mask = (dl::arange(4) > 0).expand({1, 1, 4, 4}),"
     " .enable_gqa = true})[0]", GQA.format(".masked_fill(torch.arange(4) == 0, -float('inf'))")),
    ("F::scaled_dot_product_attention(x, y, x + y, y[0].narrow(1, 0, 4))", SDPA.format("6 ** -0.5", " + y[0][:, :4]")),
    ("F::scaled_dot_product_attention(x, y, x + y, {.attn_mask = dl::arange(4) > 0})",
     SDPA.format("6 ** -0.5", ".masked_fill(torch.arange(4) == 0, -float('inf'))")),
]


# Three steps of four items: targets, input lengths, target lengths. Of the second one an item does not fit.
CTC = ("(dl::arange(8).view(4, 2) - 3).abs() + 1, 3 - (dl::arange(4) == 2).to(dl::kInt64), 1 + (dl::arange(4) > 1).to(dl::kInt64)",
       "(torch.arange(8).view(4, 2) - 3).abs() + 1, 3 - (torch.arange(4) == 2).long(), 1 + (torch.arange(4) > 1).long()")
CTC_SHORT = ("(dl::arange(8).view(4, 2) - 3).abs(), 3 - 2 * (dl::arange(4) == 2).to(dl::kInt64), 2 * (dl::arange(4) > 0).to(dl::kInt64)",
             "(torch.arange(8).view(4, 2) - 3).abs(), 3 - 2 * (torch.arange(4) == 2).long(), 2 * (torch.arange(4) > 0).long()")
LABELS = ("dl::stack({dl::arange(3), dl::where(dl::arange(3) > 0, dl::arange(3) - 1, 3), dl::full({3}, -1), dl::arange(3), dl::arange(3), dl::arange(3)}, 1)",
          "torch.stack([torch.arange(3), torch.where(torch.arange(3) > 0, torch.arange(3) - 1, 3), torch.full((3,), -1), "
          "torch.arange(3), torch.arange(3), torch.arange(3)], 1)")
MORE = [
    ("x.cumprod(1)", "x.cumprod(1)"), ("dl::cumprod(z, -1)", "torch.cumprod(z, -1)"), ("K.cumprod(0)", "K.cumprod(0)"),
    ("dl::eye(4, dl::kBool)", "torch.eye(4, dtype=torch.bool)"), ("dl::eye(2, 3, dl::kInt64)", "torch.eye(2, 3, dtype=torch.long)"),
    ('F::interpolate(im, {.size = {11, 5}, .mode = "bicubic"})', "F.interpolate(im, (11, 5), mode='bicubic')"),
    ('F::interpolate(im, {.size = {3, 13}, .mode = "bicubic", .align_corners = true})',
     "F.interpolate(im, (3, 13), mode='bicubic', align_corners=True)"),
    ('F::interpolate(im, {.scale_factor = {1.7, 0.6}, .mode = "bicubic"})', "F.interpolate(im, scale_factor=(1.7, 0.6), mode='bicubic')"),
    ('F::interpolate(im, {.size = {3, 5}, .mode = "area"})', "F.interpolate(im, (3, 5), mode='area')"),
    ('F::interpolate(x, {.scale_factor = 0.5, .mode = "area"})', "F.interpolate(x, scale_factor=0.5, mode='area')"),
    ("F::conv_transpose3d(im.view(1, 2, 4, 7, 8), wg.view(2, 3, 2, 3, 3), {}, {.stride = {2, 1, 3}, .padding = {1, 0, 1}, .output_padding = {1, 0, 2}})",
     "F.conv_transpose3d(im.view(1, 2, 4, 7, 8), wg.view(2, 3, 2, 3, 3), None, (2, 1, 3), (1, 0, 1), (1, 0, 2))"),
    ("F::conv_transpose3d(im.view(1, 4, 2, 7, 8), w.view(4, 5, 1, 3, 2), x[0][0].narrow(0, 0, 5), {.dilation = {1, 2, 1}})",
     "F.conv_transpose3d(im.view(1, 4, 2, 7, 8), w.view(4, 5, 1, 3, 2), x[0][0][:5], dilation=(1, 2, 1))"),
    ("F::conv_transpose3d(im.view(1, 4, 2, 7, 8), wg.view(4, 3, 3, 3, 1), {}, {.groups = 2})",
     "F.conv_transpose3d(im.view(1, 4, 2, 7, 8), wg.view(4, 3, 3, 3, 1), groups=2)"),
]
MORE = [(a.replace("K.", K[0] + "."), b.replace("K.", K[1] + ".")) for a, b in MORE]

# I: indices of dim 1, one of them twice; G: of dim 2.
I = ("(dl::arange(5) * 3 % 4)", "(torch.arange(5) * 3 % 4)")
G = ("(dl::arange(24).view(3, 4, 2) * 5 % 6)", "(torch.arange(24).view(3, 4, 2) * 5 % 6)")
CHOSEN = [
    ("x.index_select(1, $I)", "x.index_select(1, $I)"), ("dl::index_select(x, -1, $I)", "torch.index_select(x, -1, $I)"), ("x[$I % 3]", "x[$I % 3]"),
    ("x.index({dl::Slice(), $I})", "x[:, $I]"), ("x.index({$I % 3, dl::Slice(), $I})", "x[$I % 3, :, $I]"),
    ("x.index({dl::arange(3) - 3, $I.narrow(0, 1, 3)})", "x[torch.arange(3) - 3, $I[1:4]]"), ("x.gather(2, $G)", "x.gather(2, $G)"),
    ("dl::scatter_add(x, 2, $G, y.narrow(2, 3, 2))", "torch.scatter_add(x, 2, $G, y.narrow(2, 3, 2))"),
    ("x.index_add(1, $I, dl::cat({y, y.narrow(1, 0, 1)}, 1), {.alpha = 0.5})", "x.index_add(1, $I, torch.cat([y, y[:, :1]], 1), alpha=0.5)"),
    ("x.scatter_reduce(1, $I.view(1, 5, 1).expand({3, 5, 6}), dl::cat({y, y.narrow(1, 0, 1)}, 1), \"amax\")", "x.scatter_reduce(1, $I.view(1, 5, 1).expand(3, 5, 6), torch.cat([y, y[:, :1]], 1), 'amax')"),
    ("x.scatter_reduce(2, $G, y.narrow(2, 3, 2), \"mean\", {.include_self = false})", "x.scatter_reduce(2, $G, y[:, :, 3:5], 'mean', include_self=False)"),
    ("dl::index_reduce(x, 1, $I, dl::cat({y, y.narrow(1, 0, 1)}, 1), \"amin\", {.include_self = false})", "torch.index_reduce(x, 1, $I, torch.cat([y, y[:, :1]], 1), 'amin', include_self=False)"),
    ("dl::bincount($I, {.minlength = 4}) * 1.0", "torch.bincount($I, minlength=4) * 1.0"),
    ("F::embedding($C, y[0])", "F.embedding($C, y[0])"), ("F::embedding($C, y[0], {.padding_idx = 2})", "F.embedding($C, y[0], padding_idx=2)"),
    ("x.cumsum(1)", "x.cumsum(1)"), ("dl::cumsum(x > 0, -1)", "torch.cumsum(x > 0, -1)"), ("x.sort(1).values", "x.sort(1).values"),
    ("x.sort(-1, true).indices", "x.sort(-1, True).indices"), ("z.sort({.dim = 1, .stable = true}).indices", "torch.sort(z, dim=1, stable=True).indices"),
    ("x.argsort(0, true)", "x.argsort(0, True)"), ("x.topk(3).values", "x.topk(3).values"), ("x.topk(2, 1, false).indices", "x.topk(2, 1, False).indices"),
    ("x.flip({0, 2})", "x.flip(0, 2)"), ("x.roll({2, -1}, {0, 2})", "x.roll((2, -1), (0, 2))"), ("x.roll(3)", "x.roll(3)"),
    ("x.repeat_interleave(3, 1)", "x.repeat_interleave(3, 1)"), ("x.repeat_interleave(2)", "x.repeat_interleave(2)"),
    ("x.tril(1)", "x.tril(1)"), ("dl::triu(x, -1)", "torch.triu(x, -1)"), ("x.prod()", "x.prod()"), ("z.prod(1, true)", "z.prod(1, True)"),
    ("x.softmax(1)", "x.softmax(1)"), ("F::log_softmax(x * 30, -1)", "F.log_softmax(x * 30, -1)"), ("x.matmul(y.transpose(1, 2))", "x @ y.transpose(1, 2)"),
    ('dl::einsum("bij,bkj->kbi", x, y)', "torch.einsum('bij,bkj->kbi', x, y)"),
]
PRODUCTS = [
    (f'dl::einsum("{equation}", {operands})', f"torch.einsum('{equation}', {operands})") for equation, operands in [
        ("...i,...i->...", "x, y"), ("b...,b...->...b", "x, y"), ("...ij,...kj", "x, y"), ("i...j,jk->k...", "x, y[0].t()"),
        ("bij,bkj,bkl->bil", "x, y, x"), ("bij,ckj,ik->bc", "x, y, y[0][:, :4]"), ("ij,j,i->", "x[0], y[0][0], y[0].t()[0]"), ("bij->jb", "x"),
        ("bij->", "x"), ("b...", "x"), ("...->...", "x"), ("ii->i", "x[0][:, :4]"), ("bii->b", "x[:, :, :4]"), ("bii,bi->i", "x[:, :, :4], y[:, :, 0]"),
        ("iij,jki->k", "y.transpose(0, 1)[:3], x.permute(2, 1, 0)"), ("a,b,c->cab", "x[0, 0], y[0, :, 1], x[:, 1, 1]"),
        # Matrices that lie between each other.
        ("bikc,bjkc->bijc", "im, im.exp()"), ("bikc,bjkc->bkijc", "im, im.exp()"), ("bkic,bkjc->cbij", "im * 0.1, im.tanh()"),
        ("bikc,bkc->bic", "im, im.exp().sum(1)")]
]
# Slices of these have names of Python above.
PRODUCTS = [(a.replace("y[0][:, :4]", "y[0].narrow(1, 0, 4)").replace("x[0][:, :4]", "x[0].narrow(1, 0, 4)").replace("x[:, :, :4]", "x.narrow(2, 0, 4)")
             .replace("y[:, :, 0]", "y.select(2, 0)").replace("[:3]", ".narrow(0, 0, 3)").replace("y[0, :, 1]", "y[0].select(1, 1)")
             .replace("x[:, 1, 1]", "x.select(2, 1).select(1, 1)"), b) for a, b in PRODUCTS]
DIAGONALS = [
    (f"{x}.diagonal({at})", f"{x}.diagonal({at})") for x, at in [("x", ""), ("x", "1, 1, 2"), ("x", "-2, 1, 2"), ("x", "-3, -1, 0"), ("z", "4")]
] + [
    (f"dl::diag_embed({x}{at})", f"torch.diag_embed({x}{at})") for x, at in [("x", ""), ("z", ", 2"), ("z", ", -1"), ("x", ", 1, 0, 2"), ("z", ", 0, 2, 0")]
] + [("dl::diag(z)", "torch.diag(z)"), ("z[0].diag(-2)", "z[0].diag(-2)"), ("z.trace()", "z.trace()"), ("(1.0 / z).detach().diag_embed()[0][0][1]", "(1.0 / z).detach().diag_embed()[0][0][1]")]
TRIGONOMETRY = [
    (f"{x}.{name}()", f"{x}.{name}()") for name in ("tan", "sinh", "cosh", "asinh", "atan") for x in ("x", "z", "(x * 9)", "(z * 1e-8)")
] + [
    (f"(x * 0.3).tanh().{name}()", f"(x * 0.3).tanh().{name}()") for name in ("asin", "acos", "atanh")
] + [
    ("(x * x + 1.01).acosh()", "(x * x + 1.01).acosh()"), ("x.atan2(y)", "x.atan2(y)"), ("dl::atan2(y * 9, x)", "torch.atan2(y * 9, x)"),
    ("z.atan2(z + 0.5)", "z.atan2(z + 0.5)"), ("z.atan2(-1)", "torch.atan2(z, torch.tensor(-1.))"), ("dl::sinh(x * 100)", "torch.sinh(x * 100)"), ("dl::atan((x / 0.0).detach())", "torch.atan((x / 0.0).detach())"),
]
BAGS = [
    (f'F::embedding_bag($C, y[0], {{.mode = "{mode}"{ours}}})', f"F.embedding_bag($C, y[0], mode='{mode}'{theirs})")
    for mode in ("sum", "mean", "max") for ours, theirs in [("", ""), (", .padding_idx = 1", ", padding_idx=1"), (", .padding_idx = -4", ", padding_idx=-4")]
] + [
    ('F::embedding_bag($C, y[0], {.mode = "sum", .per_sample_weights = x.select(1, 0)})', "F.embedding_bag($C, y[0], mode='sum', per_sample_weights=x[:, 0])"),
    ("F::bilinear(x, y.narrow(2, 0, 4), w.reshape(5, 6, 4))", "F.bilinear(x, y.narrow(2, 0, 4), w.reshape(5, 6, 4))"),
    ("F::bilinear(x[0], y[0], wd.reshape(6, 6).unsqueeze(0), z[0].narrow(0, 0, 1))", "F.bilinear(x[0], y[0], wd.reshape(6, 6).unsqueeze(0), z[0, :1])"),
]
LITERAL = [
    ("dl::tensor({0.5, 2.0, -1.0, 3.0, 0.25, 1.0}) * x", "torch.tensor([0.5, 2.0, -1.0, 3.0, 0.25, 1.0]) * x"), ("dl::tensor({3, -1, 3})", "torch.tensor([3, -1, 3])"),
    ("dl::tensor({true, false}).to(dl::kInt64)", "torch.tensor([True, False]).long()"), ("dl::tensor({{1, 2}, {3, 4}})", "torch.tensor([[1, 2], [3, 4]])"),
    ("dl::tensor({1, 0.5}) * 3", "torch.tensor([1, 0.5]) * 3"), ("dl::tensor(2.5) * z", "torch.tensor(2.5) * z"), ("dl::tensor(7)", "torch.tensor(7)"),
    ("x.index_select(2, dl::tensor({4, 0, 4}))", "x.index_select(2, torch.tensor([4, 0, 4]))"),
    ("F::cross_entropy(x, $C, {.weight = dl::tensor({0.5, 1.0, 2.0, 0.0})})", "F.cross_entropy(x, $C, torch.tensor([0.5, 1, 2, 0]))"),
] + [
    (f"dl::{name}({at})", f"torch.{name}({at})") for name in ("tril_indices", "triu_indices") for at in ("4, 4", "3, 5, -1", "5, 3, 1", "4, 4, -2", "2, 6, 3")
] + [
    ("x.scatter(2, $G, 1.5)", "x.scatter(2, $G, 1.5)"), ("dl::zeros({3, 6}).scatter(1, $C.narrow(1, 0, 1), 1)", "torch.zeros(3, 6).scatter(1, $C[:, :1], 1)"),
    ("x.scatter(1, (dl::arange(18).view(3, 1, 6) * 5 % 4), y.narrow(1, 1, 1))", "x.scatter(1, (torch.arange(18).view(3, 1, 6) * 5 % 4), y[:, 1:2])"),
    ("dl::scatter(dl::arange(12).view(3, 4), 1, dl::tensor({{3, 0}, {1, 2}}), dl::tensor({{-1, -2}, {-3, -4}}))",
     "torch.scatter(torch.arange(12).view(3, 4), 1, torch.tensor([[3, 0], [1, 2]]), torch.tensor([[-1, -2], [-3, -4]]))"),
]
RESIZED = [
    ("F::pad(im, {1, 2, 0, -1})", "F.pad(im, (1, 2, 0, -1))"), ('F::pad(x, {2, 0, 1, 1}, {.value = 3})', "F.pad(x, (2, 0, 1, 1), 'constant', 3)"),
    ('F::pad(im, {3, 2, 1, 0}, "reflect")', "F.pad(im, (3, 2, 1, 0), 'reflect')"), ('F::pad(x, {7, 2}, "replicate")', "F.pad(x, (7, 2), 'replicate')"),
    ('F::pad(im, {2, 3, 7, 0}, {.mode = "circular"})', "F.pad(im, (2, 3, 7, 0), 'circular')"),
    ("F::interpolate(im, {.scale_factor = 2})", "F.interpolate(im, scale_factor=2)"), ("F::interpolate(x, {.size = 4})", "F.interpolate(x, 4)"),
    ('F::interpolate(im, {.size = {5, 13}, .mode = "bilinear"})', "F.interpolate(im, (5, 13), mode='bilinear')"),
    ('F::interpolate(im, {.scale_factor = 1.6, .mode = "bilinear"})', "F.interpolate(im, scale_factor=1.6, mode='bilinear')"),
    ('F::interpolate(x, {.size = 9, .mode = "linear", .align_corners = true})', "F.interpolate(x, 9, mode='linear', align_corners=True)"),
    ('F::interpolate($V, {.size = {3, 9, 5}, .mode = "trilinear"})', "F.interpolate($V, (3, 9, 5), mode='trilinear')"),
    ("F::adaptive_avg_pool1d(x, 4)", "F.adaptive_avg_pool1d(x, 4)"), ("F::adaptive_avg_pool2d(im, {3, 5})", "F.adaptive_avg_pool2d(im, (3, 5))"),
    ("F::adaptive_avg_pool2d(im, 1)", "F.adaptive_avg_pool2d(im, 1)"), ("F::adaptive_avg_pool3d($V, {2, 3, 1})", "F.adaptive_avg_pool3d($V, (2, 3, 1))"),
    ("F::adaptive_max_pool1d(x, 4)", "F.adaptive_max_pool1d(x, 4)"), ("F::adaptive_max_pool2d($T, {3, 5})", "F.adaptive_max_pool2d($T, (3, 5))"),
    ("F::adaptive_max_pool3d($V, {2, 3, 1})", "F.adaptive_max_pool3d($V, (2, 3, 1))"),
    ("F::local_response_norm(im, 3, 0.5, 0.6, 2)", "F.local_response_norm(im, 3, 0.5, 0.6, 2)"), ("F::local_response_norm(im, 2)", "F.local_response_norm(im, 2)"),
    ("F::channel_shuffle(im, 2)", "im.view(2, 2, 2, 7, 8).transpose(1, 2).reshape(2, 4, 7, 8)"),
    ("F::pixel_shuffle(im, 2)", "F.pixel_shuffle(im, 2)"), ("F::pixel_unshuffle(im.narrow(2, 0, 6), 2)", "F.pixel_unshuffle(im[:, :, :6], 2)"),
]


def losses():
    for how in ("mean", "sum", "none"):
        kind, word = f'.reduction = "{how}"', f"reduction='{how}'"
        for ours, theirs in [
                ("l1_loss(z, z * z", "l1_loss(z, z * z"), ("mse_loss(x, y", "mse_loss(x, y"),
                ("binary_cross_entropy_with_logits(x, $P", "binary_cross_entropy_with_logits(x, $P"),
                ("soft_margin_loss(x[1], x[0].sign().detach()", "soft_margin_loss(x[1], x[0].sign().detach()"),
                ("kl_div(x, $P", "kl_div(x, $P")]:
            yield f"F::{ours}, {{{kind}}})", f"F.{theirs}, {word})"
        yield f"F::multilabel_margin_loss(x[0].narrow(0, 0, 3), {LABELS[0]}, {{{kind}}})", f"F.multilabel_margin_loss(x[0][:3], {LABELS[1]}, {word})"
        yield f"F::ctc_loss(x.log_softmax(2), {CTC[0]}, {{{kind}}})", f"F.ctc_loss(x.log_softmax(2), {CTC[1]}, {word})"
        yield (f"F::ctc_loss(x.log_softmax(2), {CTC_SHORT[0]}, {{.blank = 5, {kind}, .zero_infinity = true}})",
               f"F.ctc_loss(x.log_softmax(2), {CTC_SHORT[1]}, 5, {word}, zero_infinity=True)")
        for ours, theirs in [
                ("smooth_l1_loss(x, y, {%s, .beta = 0.4})", "smooth_l1_loss(x, y, %s, beta=0.4)"),
                ("smooth_l1_loss(x, x.detach(), {%s, .beta = 0.4})", "smooth_l1_loss(x, x.detach(), %s, beta=0.4)"),
                ("huber_loss(x, x.detach(), {%s, .delta = 2})", "huber_loss(x, x.detach(), %s, delta=2)"),
                ("huber_loss(z, z * z, {%s, .delta = 2})", "huber_loss(z, z * z, %s, delta=2)"),
                ("binary_cross_entropy($S, $P, {.weight = $W.view(-1, 1), %s})", "binary_cross_entropy($S, $P, $W.view(-1, 1), %s)"),
                ("binary_cross_entropy_with_logits(x, $P, {.weight = y[0].detach(), %s, .pos_weight = $W.view(-1, 1)})",
                 "binary_cross_entropy_with_logits(x, $P, y[0].detach(), pos_weight=$W.view(-1, 1), %s)"),
                ("kl_div(x, y, {%s, .log_target = true})", "kl_div(x, y, %s, log_target=True)"),
                ("cosine_embedding_loss(x[0].narrow(0, 0, 3), y[0].narrow(0, 0, 3), $L, {.margin = -0.5, %s})",
                 "cosine_embedding_loss(x[0][:3], y[0][:3], $L, -0.5, %s)"),
                ("margin_ranking_loss(x, y, y.sign(), {.margin = 0.2, %s})", "margin_ranking_loss(x, y, y.sign(), 0.2, %s)"),
                ("hinge_embedding_loss(x, y.sign(), {.margin = 0.7, %s})", "hinge_embedding_loss(x, y.sign(), 0.7, %s)"),
                ("triplet_margin_loss(x, y, x * y, {.margin = 2, %s})", "triplet_margin_loss(x, y, x * y, 2, %s)"),
                ("triplet_margin_loss(x, y, x * y, {.p = 1, .swap = true, %s})", "triplet_margin_loss(x, y, x * y, p=1, swap=True, %s)"),
                ("multi_margin_loss(x.transpose(1, 2)[0], $C[0], {.weight = $W, %s})", "multi_margin_loss(x.transpose(1, 2)[0], $C[0], weight=$W, %s)"),
                ("multi_margin_loss(x.transpose(1, 2)[1], $C[1], {.p = 2, .margin = 0.5, %s})",
                 "multi_margin_loss(x.transpose(1, 2)[1], $C[1], p=2, margin=0.5, %s)"),
                ("multilabel_soft_margin_loss(x[0], $P[0], {.weight = y[0][0], %s})", "multilabel_soft_margin_loss(x[0], $P[0], y[0][0], %s)"),
                ("poisson_nll_loss(x, z.sum() * $S * 3, {.full = true, %s})", "poisson_nll_loss(x, z.sum() * $S * 3, full=True, %s)"),
                ("poisson_nll_loss($S, $P * 4, {.log_input = false, %s})", "poisson_nll_loss($S, $P * 4, log_input=False, %s)"),
                ("gaussian_nll_loss(x, y, $S, {.full = true, .eps = 0.4, %s})", "gaussian_nll_loss(x, y, $S, full=True, eps=0.4, %s)"),
                ("nll_loss(x, $C, {.weight = $W, .ignore_index = 1, %s})", "nll_loss(x, $C, $W, ignore_index=1, %s)"),
                ("cross_entropy(x, $C, {%s, .label_smoothing = 0.1})", "cross_entropy(x, $C, label_smoothing=0.1, %s)"),
                ("cross_entropy(x, $C, {.weight = $W, .ignore_index = 1, %s, .label_smoothing = 0.2})",
                 "cross_entropy(x, $C, $W, ignore_index=1, label_smoothing=0.2, %s)"),
                ("cross_entropy(x, $P, {%s})", "cross_entropy(x, $P, %s)"),
                ("cross_entropy(x, $P, {.weight = $W, %s, .label_smoothing = 0.2})", "cross_entropy(x, $P, $W, label_smoothing=0.2, %s)")]:
            yield "F::" + ours.replace("%s", kind), "F." + theirs.replace("%s", word)
    yield 'F::kl_div(x, $P, {.reduction = "batchmean"})', "F.kl_div(x, $P, reduction='batchmean')"
    yield "F::binary_cross_entropy((z > 0).to(dl::kFloat) + z * 0, $S.detach().select(1, 0).narrow(1, 0, 5))", "F.binary_cross_entropy((z > 0).double() + z * 0, $S.detach()[:, 0, :5])"


CASES = ACTIVATIONS + REDUCTIONS + SHAPING + WINDOWS + INTEGERS + FRACTIONS + list(
    placed(MORE_ACTIVATIONS + ROUNDED + MADE + COMPOSED + NORMS + MORE + CHOSEN + RESIZED + LITERAL + PRODUCTS + DIAGONALS + TRIGONOMETRY + BAGS + SAMPLED + MATRICES + SCANS + FOURIER + CHOICES + KEYWORDS + DISTRIBUTIONS + list(losses()) + SELDOM + CDFS + FACTORS + OTHER_NAMES + POSITIONS))
