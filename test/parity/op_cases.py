"""Expressions of the DSL and of PyTorch that mean the same, on the same parameters.

z holds ties and values at bounds. In C++ and in Python the parameters are x, y, z, im, w, wg, wd and wm.
"""

SHAPES = {"x": (3, 4, 6), "y": (3, 4, 6), "im": (2, 4, 7, 8), "w": (5, 4, 3, 2), "wg": (6, 2, 3, 3),
          "wd": (4, 1, 3, 3), "wm": (8, 1, 2, 3), "z": (3, 5)}

ACTIVATIONS = [
    ("F::silu(x)", "F.silu(x)"), ("F::gelu(x)", "F.gelu(x)"),
    ('F::gelu(x, {.approximate = "tanh"})', "F.gelu(x, approximate='tanh')"),
    ("x.clamp(-0.5, 0.5)", "x.clamp(-0.5, 0.5)"), ("x.clamp({.max = 0.1})", "x.clamp(max=0.1)"),
    ("x.clamp({.min = y})", "x.clamp(min=y)"), ("x.clamp(1, -1)", "x.clamp(1, -1)"), ("z.clamp(0, 1)", "z.clamp(0, 1)"),
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
    ("x.permute({-1, 0, 1})", "x.permute(-1, 0, 1)"),
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
    ("F::conv2d(im, w, {}, {.padding = 2, .dilation = {2, 1}})", "F.conv2d(im, w, padding=2, dilation=(2, 1))"),
    ("F::conv2d(im, wg, {}, {.stride = 2, .padding = 1, .groups = 2})", "F.conv2d(im, wg, stride=2, padding=1, groups=2)"),
    ("F::conv2d(im, wd, {}, {.stride = {1, 2}, .padding = 1, .dilation = 2, .groups = 4})",
     "F.conv2d(im, wd, stride=(1, 2), padding=1, dilation=2, groups=4)"),
    ("F::conv2d(im, wm, {}, {.groups = 4})", "F.conv2d(im, wm, groups=4)"),
]
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
        ("K.abs().to(dl::kUInt8).min()", "K.abs().byte().min()"), ("dl::arange(5, -2, -3)", "torch.arange(5, -2, -3)"),
    ]
]
FRACTIONS = [
    ("dl::arange(0.5, 3.5)", "torch.arange(0.5, 3.5)"), ("dl::arange(0.0, 1.0, 0.1)", "torch.arange(0.0, 1.0, 0.1)"),
    ("dl::arange(2.5)", "torch.arange(2.5)"), ("dl::arange(1, -1, -0.75)", "torch.arange(1, -1, -0.75)"),
    ("dl::arange(0, 1.5f, 1)", "torch.arange(0, 1.5, 1)"),
]
CASES = ACTIVATIONS + REDUCTIONS + SHAPING + WINDOWS + INTEGERS + FRACTIONS
