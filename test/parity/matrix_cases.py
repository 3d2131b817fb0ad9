"""Small matrices, and distributions that need them: as op_cases.py has expressions."""

M, TM = "x.narrow(2, 1, 4)", "x[:, :, 1:5]"
SPD, TSPD = "(y.matmul(y.mT()) + dl::eye(4))", "(y @ y.mT + torch.eye(4))"
L, TL = f"dl::linalg::cholesky({SPD})", f"torch.linalg.cholesky({TSPD})"

MATRICES = [
    (f"dl::linalg::inv({M})", f"torch.linalg.inv({TM})"), (f"dl::linalg::det({M})", f"torch.linalg.det({TM})"),
    (f"dl::linalg::slogdet({M}).sign", f"torch.linalg.slogdet({TM})[0]"),
    (f"dl::linalg::slogdet({M}).logabsdet", f"torch.linalg.slogdet({TM})[1]"),
    # Singular ones; their gradients are not finite.
    ("dl::linalg::det((wd.select(1, 0) * dl::tensor({1., 0., 1.})).detach())", "torch.linalg.det((wd[:, 0] * torch.tensor([1., 0., 1.])).detach())"),
    ("dl::linalg::slogdet((w.flatten(1).slice(1, 0, 5) * 0).detach()).logabsdet.exp()",
     "torch.linalg.slogdet((w.flatten(1)[:5, :5] * 0).detach())[1].exp()"),
    # The first pivot is 0, the matrix in front has one dim.
    ("dl::linalg::inv(wd.select(1, 0) * (1 - dl::eye(3)))", "torch.linalg.inv(wd[:, 0] * (1 - torch.eye(3)))"),
    ("dl::inverse(w.flatten(1).slice(0, 0, 5).slice(1, 0, 5))", "torch.inverse(w.flatten(1)[:5, :5])"),
    (f"dl::cholesky_solve({L}, {L}) + dl::cholesky_inverse({L})", f"torch.cholesky_solve({TL}, {TL}) + torch.cholesky_inverse({TL})"),
    (f"dl::cholesky_solve({SPD}, {L}.mT(), true) + dl::cholesky_inverse({L}.mT(), true)", f"torch.cholesky_solve({TSPD}, {TL}.mT.contiguous(), True) + torch.cholesky_inverse({TL}.mT.contiguous(), True)"),
    (f"dl::logdet({SPD})", f"torch.logdet({TSPD})"), (f"dl::linalg::cholesky({SPD})", f"torch.linalg.cholesky({TSPD})"),
    (f"{SPD}.cholesky() + {SPD}.inverse()", f"torch.linalg.cholesky({TSPD}) + {TSPD}.inverse()"),
    (f"{SPD}.logdet() + {M}.det()", f"{TSPD}.logdet() + {TM}.det()"),
    (f"dl::linalg::slogdet({M})[1] * dl::linalg::slogdet({M})[0]", f"torch.linalg.slogdet({TM})[1] * torch.linalg.slogdet({TM})[0]"),
    (f"dl::linalg::matrix_power({M}, 3) + {M}.matrix_power(0) + dl::matrix_power({SPD}, -2)", f"torch.linalg.matrix_power({TM}, 3) + {TM}.matrix_power(0) + torch.matrix_power({TSPD}, -2)"),
    ("dl::linalg::vector_norm(x, 3, 1) + dl::linalg::norm(y)", "torch.linalg.vector_norm(x, 3, 1) + torch.linalg.norm(y)"),
    ("dl::linalg::matrix_norm(x)", "torch.linalg.matrix_norm(x)"),
    (f"dl::linalg::solve({M}, y)", f"torch.linalg.solve({TM}, y)"),
    (f"dl::linalg::solve({M}, y.select(2, 0))", f"torch.linalg.solve({TM}, y[:, :, 0])"),
    (f"dl::linalg::solve({M}.select(0, 0), y)", f"torch.linalg.solve({TM}[0], y)"),
    (f"dl::linalg::solve_triangular({M}, y, {{}})", f"torch.linalg.solve_triangular({TM}, y, upper=False)"),
    (f"dl::linalg::solve_triangular({M}, y, {{.upper = true}})", f"torch.linalg.solve_triangular({TM}, y, upper=True)"),
    (f"dl::linalg::solve_triangular({M}, y, {{.upper = true, .unitriangular = true}})",
     f"torch.linalg.solve_triangular({TM}, y, upper=True, unitriangular=True)"),
    (f"dl::linalg::solve_triangular({M}.select(0, 1), y.mT(), {{.left = false}})",
     f"torch.linalg.solve_triangular({TM}[1], y.mT, upper=False, left=False)"),
    (f"D::MultivariateNormal(x.select(2, 0), {SPD}).log_prob(y.select(2, 1))",
     f"D.MultivariateNormal(x[:, :, 0], {TSPD}).log_prob(y[:, :, 1])"),
    (f"D::MultivariateNormal(x.select(2, 0), {{.scale_tril = {L}.select(0, 0)}}).log_prob(y.select(2, 1))",
     f"D.MultivariateNormal(x[:, :, 0], scale_tril={TL}[0]).log_prob(y[:, :, 1])"),
    (f"D::MultivariateNormal(x.select(2, 0), {{.precision_matrix = {SPD}}}).entropy()",
     f"D.MultivariateNormal(x[:, :, 0], precision_matrix={TSPD}).entropy()"),
    (f"D::kl_divergence(D::MultivariateNormal(x.select(2, 0), {SPD}), D::MultivariateNormal(y.select(2, 0), {{.scale_tril = {L}}}))",
     f"D.kl_divergence(D.MultivariateNormal(x[:, :, 0], {TSPD}), D.MultivariateNormal(y[:, :, 0], scale_tril={TL}))"),
] + [(expression.replace("MIX", f"D::MixtureSameFamily(D::Categorical({{.logits = x}}), {ours})").replace("EVENT", value),
      theirs.replace("MIX", f"D.MixtureSameFamily(D.Categorical(logits=x), {twin})").replace("EVENT", place))
     for ours, twin, value, place in (
         ("D::Normal(y, x.exp())", "D.Normal(y, x.exp())", "y.select(2, 0)", "y[:, :, 0]"),
         ("D::Independent(D::Normal(y.unsqueeze(-1) * dl::ones({2}), 0.5), 1)",
          "D.Independent(D.Normal(y.unsqueeze(-1) * torch.ones(2), 0.5), 1)", "y.slice(2, 0, 2)", "y[:, :, 0:2]"))
     for expression, theirs in (("MIX.log_prob(EVENT)", "MIX.log_prob(EVENT)"), ("MIX.mean()", "MIX.mean"),
                                ("MIX.variance()", "MIX.variance"))]
