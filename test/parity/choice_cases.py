"""Bins, bits, choices as vectors, transformed distributions: as op_cases.py has expressions."""

EDGES, T_EDGES = "dl::tensor({-1.0, -0.25, 0.5, 0.5, 1.5})", "torch.tensor([-1.0, -0.25, 0.5, 0.5, 1.5]).to(x)"
ROUNDED, T_ROUNDED = "(x * 2).round() / 2", "(x * 2).round() / 2"
I, T_I = "(x * 9).floor().to(dl::kInt64)", "(x * 9).floor().long()"
J, T_J = "(dl::arange(6) * 5 - 7)", "(torch.arange(6) * 5 - 7)"
BYTES, T_BYTES = "(x > 0).to(dl::kUInt8)", "(x > 0).to(torch.uint8)"
CHANCES, T_CHANCES = "y.exp()", "y.exp()"
# Some point of the simplex.
POINT, T_POINT = "x.softmax(-1)", "x.softmax(-1)"
CHOICE, T_CHOICE = "F::one_hot(x.argmax(-1), 6).to(dl::kFloat)", "F.one_hot(x.argmax(-1), 6).to(x)"

# Bags of a list: the second one is empty, the last one has nothing but padding.
INDICES, T_INDICES = "dl::tensor({0, 1, 3, 1, 2, 0, 1})", "torch.tensor([0, 1, 3, 1, 2, 0, 1])"
OFFSETS, T_OFFSETS = "dl::tensor({0, 2, 2, 6, 7})", "torch.tensor([0, 2, 2, 6, 7])"
TABLE, T_TABLE = "x[0]", "x[0]"


def transformed(base, t_base, transforms, t_transforms, value, t_value):
    return f"D::TransformedDistribution({base}, {transforms}).log_prob({value})", f"D.TransformedDistribution({t_base}, [{t_transforms}]).log_prob({t_value})"


NORMAL, T_NORMAL = "D::Normal(y, x.exp())", "D.Normal(y, x.exp())"

CHOICES = [
    (f"dl::searchsorted({EDGES}, {ROUNDED})", f"torch.searchsorted({T_EDGES}, {T_ROUNDED})"),
    (f"dl::searchsorted({EDGES}, {ROUNDED}, {{.right = true}})", f"torch.searchsorted({T_EDGES}, {T_ROUNDED}, right=True)"),
    (f"dl::searchsorted({EDGES}, {ROUNDED}, {{.side = \"right\"}})", f"torch.searchsorted({T_EDGES}, {T_ROUNDED}, side='right')"),
    ("dl::searchsorted(x.sort(-1).values, y.narrow(2, 0, 2))", "torch.searchsorted(x.sort(-1).values, y[:, :, :2].contiguous())"),
    (f"dl::bucketize({ROUNDED}, {EDGES}, {{.right = true}})", f"torch.bucketize({T_ROUNDED}, {T_EDGES}, right=True)"),
    (f"dl::searchsorted({EDGES}, dl::where(x > 1, dl::nan, x))", f"torch.searchsorted({T_EDGES}, torch.where(x > 1, float('nan'), x))"),
    (f"dl::isin({I}, {J})", f"torch.isin({T_I}, {T_J})"),
    (f"{I} & {J}", f"{T_I} & {T_J}"), (f"{I} | {J}", f"{T_I} | {T_J}"), (f"{I} ^ {J}", f"{T_I} ^ {T_J}"), (f"~{I}", f"~{T_I}"),
    (f"({I} & 6) ^ (3 | {J})", f"({T_I} & 6) ^ (3 | {T_J})"), (f"({I} << 3) + ({I} >> 2)", f"({T_I} << 3) + ({T_I} >> 2)"),
    (f"({I}.to(dl::kInt32) << 28) >> 31", f"({T_I}.int() << 28) >> 31"), (f"({I} << 60) >> 63", f"({T_I} << 60) >> 63"), (f"({BYTES} ^ 254) << 3", f"({T_BYTES} ^ 254) << 3"),
    (f"{I}.to(dl::kInt32) & {BYTES}", f"{T_I}.int() & {T_BYTES}"), (f"(x > 0) | {I}.to(dl::kInt32)", f"(x > 0) | {T_I}.int()"), (f"{BYTES} ^ 255", f"{T_BYTES} ^ 255"), (f"~{BYTES} & {BYTES}", f"~{T_BYTES} & {T_BYTES}"), (f"{BYTES} | {J}", f"{T_BYTES} | {T_J}"),
    ("(x > 0) & (y > 0)", "(x > 0) & (y > 0)"), ("(x > 0) ^ true", "(x > 0) ^ True"), (f"(x > 0) & {J}", f"(x > 0) & {T_J}"),
    ("dl::bitwise_xor((x > 0), (y > 0)) | dl::bitwise_not(x > 1)", "torch.bitwise_xor(x > 0, y > 0) | torch.bitwise_not(x > 1)"),
    ("dl::full({2}, dl::finfo(x.dtype()).max) * 1e-300", "torch.full((2,), torch.finfo(x.dtype).max) * 1e-300"), ("dl::full({2}, dl::finfo(x.dtype()).eps)", "torch.full((2,), torch.finfo(x.dtype).eps)"),
    ("dl::full({2}, dl::iinfo(dl::kInt64).min)", "torch.full((2,), torch.iinfo(torch.int64).min)"), ("dl::full({2}, dl::iinfo(dl::kUInt8).max)", "torch.full((2,), 255)"),
    (f"D::OneHotCategorical({CHANCES}).log_prob({CHOICE})", f"D.OneHotCategorical({T_CHANCES}).log_prob({T_CHOICE})"),
    ("D::OneHotCategorical({.logits = x}).entropy()", "D.OneHotCategorical(logits=x).entropy()"),
    ("D::OneHotCategorical({.logits = x}).mean() + D::OneHotCategorical({.logits = x}).variance()", "D.OneHotCategorical(logits=x).mean + D.OneHotCategorical(logits=x).variance"),
    ("D::kl_divergence(D::OneHotCategorical({.logits = x}), D::OneHotCategorical({.logits = y}))", "D.kl_divergence(D.OneHotCategorical(logits=x), D.OneHotCategorical(logits=y))"),
    ("D::OneHotCategoricalStraightThrough({.logits = x}).rsample().sum(-1)", "torch.ones(3, 4).to(x)"),
    (f"D::RelaxedOneHotCategorical(0.7, {CHANCES}).log_prob({POINT})", f"D.RelaxedOneHotCategorical(torch.tensor(0.7).to(x), {T_CHANCES}).log_prob({T_POINT})"),
    ("D::RelaxedOneHotCategorical(0.7, {.logits = y}).rsample().sum(-1).detach()", "torch.ones(3, 4).to(x)"),
    ("D::RelaxedBernoulli(0.7, y.sigmoid()).log_prob(x.sigmoid())", "D.RelaxedBernoulli(torch.tensor(0.7).to(x), y.sigmoid()).log_prob(x.sigmoid())"),
    *[(f'F::embedding_bag({INDICES}, {TABLE}, {{.mode = "{mode}", .padding_idx = {padding}, .offsets = {OFFSETS}}})',
       f"F.embedding_bag({T_INDICES}, {T_TABLE}, {T_OFFSETS}, mode='{mode}', padding_idx={padding})") for mode in ("sum", "mean", "max") for padding in (1, 3)],
    (f"F::embedding_bag({INDICES}, {TABLE}, {{.offsets = dl::tensor({{0, 2, 2, 7}}), .include_last_offset = true}})",
     f"F.embedding_bag({T_INDICES}, {T_TABLE}, torch.tensor([0, 2, 2, 7]), include_last_offset=True)"),
    (f'F::embedding_bag({INDICES}, {TABLE}, {{.mode = "sum", .per_sample_weights = y[0].flatten().narrow(0, 0, 7), .offsets = {OFFSETS}}})',
     f"F.embedding_bag({T_INDICES}, {T_TABLE}, {T_OFFSETS}, mode='sum', per_sample_weights=y[0].flatten()[:7])"),
    transformed(NORMAL, T_NORMAL, "D::TanhTransform()", "D.TanhTransform()", "(x * 0.5).tanh()", "(x * 0.5).tanh()"),
    transformed(NORMAL, T_NORMAL, "D::ExpTransform(), D::AffineTransform(0.5, y.exp())", "D.ExpTransform(), D.AffineTransform(0.5, y.exp())", "x.exp() + 0.6", "x.exp() + 0.6"),
    transformed(NORMAL, T_NORMAL, "D::SigmoidTransform()", "D.SigmoidTransform()", "x.sigmoid()", "x.sigmoid()"),
    transformed(NORMAL, T_NORMAL, "D::SoftplusTransform()", "D.SoftplusTransform()", "x.exp()", "x.exp()"),
    transformed("D::Independent(D::Normal(y, x.exp()), 1)", "D.Independent(D.Normal(y, x.exp()), 1)", "D::TanhTransform(), D::AffineTransform(1.0, 2.0)",
                "D.TanhTransform(), D.AffineTransform(1.0, 2.0)", "(x * 0.5).tanh() * 2 + 1", "(x * 0.5).tanh() * 2 + 1"),
    ("(D::TransformedDistribution(D::Normal(y, 1.0), D::TanhTransform()).rsample().abs() <= 1).all()", "torch.tensor(True)"),
]
