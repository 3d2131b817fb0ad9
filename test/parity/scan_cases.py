"""Running sums, products, maxima and recurrences: as op_cases.py has expressions."""


def recurrence(a, b, dim, reverse=False):
    """What h[t] = a[t] * h[t-1] + b[t] is in PyTorch."""
    there = f".flip({dim})" if reverse else ""
    pairs = f"zip(({a}){there}.unbind({dim}), ({b}){there}.unbind({dim}))"
    steps = f"__import__('itertools').accumulate({pairs}, lambda h, now: (now[0], now[0] * h[1] + now[1]))"
    return f"torch.stack([h for _, h in {steps}], {dim}){there}"


# Some equal ones, some infinite.
HOLES, T_HOLES = "dl::where(x > 0.5, -dl::inf, x)", "torch.where(x > 0.5, -float('inf'), x)"

K, T_K = "(dl::arange(6) - 3)", "(torch.arange(6) - 3)"

SCANS = [
    ("dl::linear_recurrence(x, y.narrow(2, 0, 1), 1)", recurrence("x", "y[:, :, :1].expand(x.shape)", 1)),
    ("dl::linear_recurrence(x.sigmoid(), x, -1, true)", recurrence("x.sigmoid()", "x", 2, True)),
    ("dl::linear_recurrence(0.5, x, 0)", recurrence("torch.full_like(x, 0.5)", "x", 0)),
    ("dl::linear_recurrence(x, 1, 2)", recurrence("x", "torch.ones_like(x)", 2)),
    (f"dl::linear_recurrence({K}, 2, 0)", recurrence(T_K, f"torch.full_like({T_K}, 2)", 0)),
    ("(x > 0).cumsum(1)", "(x > 0).cumsum(1)"), (f"{K}.cummax(0).indices", f"{T_K}.cummax(0).indices"),
    (f"{K}.cummin(0).values", f"{T_K}.cummin(0).values"), ("(x > 0).to(dl::kUInt8).cummin(1).indices", "(x > 0).to(torch.uint8).cummin(1).indices"),
    ("dl::where(x > 1, dl::nan, x).cummax(1).indices", "torch.where(x > 1, float('nan'), x).cummax(1).indices"),
    ("dl::where(x > 1, dl::nan, x).cummin(2).indices", "torch.where(x > 1, float('nan'), x).cummin(2).indices"),
    (f"{HOLES}.cummax(2).indices", f"{T_HOLES}.cummax(2).indices"),
    (f"{HOLES}.logcumsumexp(2).exp()", f"{T_HOLES}.exp().cumsum(2)"),
    ("(x * 300).logcumsumexp(1)", "torch.stack([(x * 300)[:, :t + 1].logsumexp(1) for t in range(x.shape[1])], 1)"),
    ("dl::where(x > 1.5, dl::inf, x).detach().logcumsumexp(2).exp().reciprocal()",
     "torch.where(x > 1.5, float('inf'), x).detach().exp().cumsum(2).reciprocal()"),
    ("z.cumprod(1)", "z.cumprod(1)"), ("x.narrow(1, 0, 1).cumprod(1)", "x[:, :1].cumprod(1)"),
    ("x.narrow(2, 0, 1).cummax(2).values", "x[:, :, :1].cummax(2).values"),
    ("x.topk(1, 2, false).indices", "x.topk(1, 2, False).indices"), ("y.flatten().topk(11).values", "y.flatten().topk(11).values"),
    ("x.quantile(0.05, 2)", "x.quantile(0.05, 2)"), ("x.quantile(0.97, -1, true)", "x.quantile(0.97, -1, True)"),
    ("x.narrow(1, 0, 1).logcumsumexp(1)", "x[:, :1].logcumsumexp(1)"), ("x.select(2, 0).logcumsumexp(0)", "x[:, :, 0].logcumsumexp(0)"),
    ("(x * 0 + dl::tensor({-dl::inf, 0., 0., 0., 1., 1.})).detach().quantile(0.1, 2).exp()",
     "(x * 0 + torch.tensor([-float('inf'), 0, 0, 0, 1, 1])).detach().quantile(0.1, 2).exp()"),
    ("x.lerp(y, 0.75) + y.lerp(x, 0.25)", "x.lerp(y, 0.75) + y.lerp(x, 0.25)"),
    ("x.flatten().quantile(0.5)", "x.flatten().quantile(0.5)"), ("x.flatten().quantile(1.0)", "x.flatten().quantile(1.0)"),
    ("x.flatten().kthvalue(3).values", "x.flatten().kthvalue(3).values"),
    # One index for a row, as scatter wants it.
    ("x.gather(1, dl::tensor({2, 0, 1}).view({1, 3, 1}).expand({x.size(0), 3, x.size(2)}))",
     "x.gather(1, torch.tensor([2, 0, 1]).view(1, 3, 1).expand(x.shape[0], 3, x.shape[2]))"),
    ("dl::zeros_like(x).scatter_add(1, dl::tensor({2, 0}).view({1, 2, 1}).expand({x.size(0), 2, x.size(2)}), x.narrow(1, 0, 2))",
     "torch.zeros_like(x).scatter_add(1, torch.tensor([2, 0]).view(1, 2, 1).expand(x.shape[0], 2, x.shape[2]), x[:, :2])"),
]
