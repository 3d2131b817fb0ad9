"""What is used seldom: as op_cases.py has expressions."""

IX, T_IX = "(y * 2).floor().to(dl::kInt64).remainder(4)", "((y * 2).floor().long() % 4)"
IZ, T_IZ = "(z + 1).to(dl::kInt64)", "(z + 1).long()"

SELDOM = [
    ("x.repeat_interleave({2, 0, 3, 3}, 1)", "x.repeat_interleave(torch.tensor([2, 0, 3, 3]), 1)"),
    ("x.repeat_interleave({2}, 1)", "x.repeat_interleave(torch.tensor([2]), 1)"),
    ("dl::repeat_interleave(x, {0, 0, 1, 1, 4, 0}, {.dim = -1})", "torch.repeat_interleave(x, torch.tensor([0, 0, 1, 1, 4, 0]), -1)"),
    ("dl::repeat_interleave(z[0], {1, 2, 3, 0, 1})", "torch.repeat_interleave(z[0], torch.tensor([1, 2, 3, 0, 1]))"),
    ("x.repeat_interleave(dl::tensor({2, 0, 3, 3}), 1, {.output_size = 8})", "x.repeat_interleave(torch.tensor([2, 0, 3, 3]), 1)"),
    ("x.repeat_interleave(z[0].abs().to(dl::kInt64)[dl::Slice(0, 3)], {.dim = 0, .output_size = 2})",
     "x.repeat_interleave(z[0].abs().long()[:3], 0)"),
    ("dl::repeat_interleave(z[0], z[0].abs().to(dl::kInt32), {.output_size = 6})", "torch.repeat_interleave(z[0], z[0].abs().int())"),
    (f'x.scatter_reduce(1, {IX}, y, "prod")', f"x.scatter_reduce(1, {T_IX}, y, 'prod')"),
    (f'x.scatter_reduce(1, {IX}, y, "prod", {{.include_self = false}})', f"x.scatter_reduce(1, {T_IX}, y, 'prod', include_self=False)"),
    # Of z some factors are 0.
    (f'dl::scatter_reduce(z, 1, {IZ}, z, "prod")', f"torch.scatter_reduce(z, 1, {T_IZ}, z, 'prod')"),
    (f'dl::scatter_reduce(z, 0, {IZ}.clamp_max(2), z * 2, "prod", {{.include_self = false}})',
     f"torch.scatter_reduce(z, 0, {T_IZ}.clamp_max(2), z * 2, 'prod', include_self=False)"),
    (f'dl::scatter_reduce((z * 3).to(dl::kInt64), 1, {IZ}, {IZ} + 1, "prod")',
     f"torch.scatter_reduce((z * 3).long(), 1, {T_IZ}, {T_IZ} + 1, 'prod')"),
    ('x.index_reduce(1, dl::tensor({3, 1, 3}), y.narrow(1, 0, 3), "prod")', "x.index_reduce(1, torch.tensor([3, 1, 3]), y[:, :3], 'prod')"),
    ('x.index_reduce(2, dl::tensor({3, 1, 3}), y.narrow(2, 0, 3), "prod", {.include_self = false})',
     "x.index_reduce(2, torch.tensor([3, 1, 3]), y[:, :, :3], 'prod', include_self=False)"),
]
