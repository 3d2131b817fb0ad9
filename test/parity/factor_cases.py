"""Matrices as products of others: as op_cases.py has expressions. Of vectors whose signs are chance, what has none."""

M, TM = "x.narrow(2, 1, 4)", "x[:, :, 1:5]"
S, TS = "(y.matmul(y.mT()) - dl::eye(4))", "(y @ y.mT - torch.eye(4))"
ODD, TODD = "(z.mT().matmul(z) + dl::arange(5).to(dl::kFloat).diag())", "(z.mT @ z + torch.arange(5.).diag())"
# Of rank 2, with singular values that are equal.
LOW, TLOW = "(dl::eye(4, 6) * dl::tensor({1., 1., 0., 0., 0., 0.}))", "(torch.eye(4, 6) * torch.tensor([1., 1, 0, 0, 0, 0]))"

REDUCED = "{.full_matrices = false}"
FACTORS = [
    ("dl::linalg::qr(x).Q", "torch.linalg.qr(x)[0]"), ("dl::linalg::qr(x).R", "torch.linalg.qr(x)[1]"),
    ("dl::linalg::qr(y.mT())[0]", "torch.linalg.qr(y.mT)[0]"), ("dl::linalg::qr(y.mT())[1].sin()", "torch.linalg.qr(y.mT)[1].sin()"),
    (f'dl::linalg::qr({M}, "complete").Q * y.narrow(2, 0, 4)', f"torch.linalg.qr({TM}, mode='complete')[0] * y[:, :, 0:4]"),
    ("dl::linalg::qr(w.flatten(1)).R", "torch.linalg.qr(w.flatten(1))[1]"),
    # Nothing to reflect, and a first element of 0.
    ("dl::linalg::qr(dl::eye(4, 3)).R + dl::linalg::qr(dl::ones({4, 3}).tril(-1) + dl::eye(4, 3).flip(0)).Q.detach().sum()",
     "torch.linalg.qr(torch.eye(4, 3))[1] + torch.linalg.qr(torch.ones(4, 3).tril(-1) + torch.eye(4, 3).flip(0))[0].sum()"),
    (f"dl::linalg::eigh({S}).eigenvalues", f"torch.linalg.eigh({TS})[0]"), (f"dl::linalg::eigvalsh({S}) * 2", f"torch.linalg.eigvalsh({TS}) * 2"),
    (f"[&] {{ auto [l, v] = dl::linalg::eigh({S}); return (v * l.sin().unsqueeze(1)).matmul(v.mT()) + v.square(); }}()",
     f"(lambda l, v: (v * l.sin().unsqueeze(1)) @ v.mT + v.square())(*torch.linalg.eigh({TS}))"),
    (f"[&] {{ auto f = dl::linalg::eigh({ODD}); return f[1].abs() * f[0]; }}()", f"(lambda l, v: v.abs() * l)(*torch.linalg.eigh({TODD}))"),
    (f'dl::linalg::eigvalsh({ODD}.triu(), "U")', f"torch.linalg.eigvalsh({TODD}.triu(), 'U')"),
    ("dl::linalg::eigvalsh(dl::eye(3) * 2)", "torch.linalg.eigvalsh(torch.eye(3) * 2)"),
    ("dl::linalg::eigh(z.narrow(1, 0, 1).unsqueeze(-1) + 2).eigenvalues", "torch.linalg.eigh(z[:, :1].unsqueeze(-1) + 2)[0]"),
    (f"dl::linalg::svd(x, {REDUCED}).S", "torch.linalg.svd(x, False)[1]"), ("dl::linalg::svd(y.mT(), false).S.log()", "torch.linalg.svd(y.mT, False)[1].log()"),
    (f"[&] {{ auto [u, s, vh] = dl::linalg::svd(x, {REDUCED}); return (u * s.sqrt().unsqueeze(1)).matmul(vh) * u.square().sum() * vh.narrow(1, 0, 2).square().sum(); }}()",
     "(lambda u, s, vh: (u * s.sqrt().unsqueeze(1)) @ vh * u.square().sum() * vh[:, :2].square().sum())(*torch.linalg.svd(x, False))"),
    (f"[&] {{ auto f = dl::linalg::svd(x.mT() - y.mT(), {REDUCED}); return f[0].square() + f[1].unsqueeze(1) + f[2].abs().sum(); }}()",
     "(lambda u, s, vh: u.square() + s.unsqueeze(1) + vh.abs().sum())(*torch.linalg.svd(x.mT - y.mT, False))"),
    # The nearest rotation (Kabsch).
    (f"[&] {{ auto [u, s, vh] = dl::linalg::svd({M}); return u.matmul(vh); }}()", f"(lambda u, s, vh: u @ vh)(*torch.linalg.svd({TM}))"),
    ("dl::linalg::svdvals(w.flatten(1))", "torch.linalg.svdvals(w.flatten(1))"),
    (f"dl::linalg::svdvals({LOW}) * x.sum()", f"torch.linalg.svdvals({TLOW}) * x.sum()"),
    # What the loss uses of it has gradients, though the vectors have none.
    ("dl::linalg::svd(x.narrow(1, 0, 2).repeat({1, 2, 1}), {.full_matrices = false}).S.narrow(1, 0, 2)",
     "torch.linalg.svdvals(x[:, :2].repeat(1, 2, 1))[:, :2]"),
    ("dl::linalg::pinv(x)", "torch.linalg.pinv(x)"), ("dl::linalg::pinv(y.mT()) * 2", "torch.linalg.pinv(y.mT) * 2"),
    ("dl::linalg::pinv(x.narrow(1, 0, 2).repeat({1, 2, 1}))", "torch.linalg.pinv(x[:, :2].repeat(1, 2, 1))"),
    (f"dl::linalg::pinv({M}, {{.rtol = 0.3}})", f"torch.linalg.pinv({TM}, rtol=0.3)"),
    ("dl::linalg::lstsq(x.mT(), y.mT()).solution", "torch.linalg.lstsq(x.mT, y.mT).solution"),
    ("dl::linalg::lstsq(x, y).solution", "torch.linalg.lstsq(x, y).solution"),
    ("dl::linalg::lstsq(w.flatten(1).mT(), y.flatten().narrow(0, 0, 24)).solution", "torch.linalg.lstsq(w.flatten(1).mT, y.flatten()[:24].unsqueeze(1)).solution[:, 0]"),
    ("dl::linalg::matrix_norm(x, 2, true) + dl::linalg::matrix_norm(x, -2, true)", "torch.linalg.matrix_norm(x, 2, keepdim=True) + torch.linalg.matrix_norm(x, -2, keepdim=True)"),
    ("dl::linalg::matrix_norm(x, 1) - dl::linalg::matrix_norm(x, -dl::inf)", "torch.linalg.matrix_norm(x, 1) - torch.linalg.matrix_norm(x, -float('inf'))"),
    ('dl::linalg::matrix_norm(x, "nuc") + dl::linalg::matrix_norm(y, "fro")', "torch.linalg.matrix_norm(x, 'nuc') + torch.linalg.matrix_norm(y, 'fro')"),
    ("dl::linalg::norm(z, dl::inf) + dl::linalg::norm(z[0], 1) + dl::linalg::norm(x[0], \"nuc\")",
     "torch.linalg.norm(z, float('inf')) + torch.linalg.norm(z[0], 1) + torch.linalg.norm(x[0], 'nuc')"),
    (f"dl::linalg::cond({M}).log()", f"torch.linalg.cond({TM}).log()"), (f"dl::linalg::matrix_rank(x) + dl::linalg::matrix_rank({LOW})", f"torch.linalg.matrix_rank(x) + torch.linalg.matrix_rank({TLOW})"),
]
