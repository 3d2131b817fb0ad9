"""Distributions with long tails and of counts: as op_cases.py has expressions."""

COUNTS, T_COUNTS = "(y.abs() * 3).floor().detach()", "(y.abs() * 3).floor().detach()"

DISTRIBUTIONS = [
    ("D::StudentT(x.exp() + 0.5, y, 1.5).log_prob(x)", "D.StudentT(x.exp() + 0.5, y, 1.5).log_prob(x)"),
    ("D::StudentT(4).log_prob(x)", "D.StudentT(4.).log_prob(x)"),
    ("D::StudentT(x.exp() + 0.5, y, 1.5).entropy()", "D.StudentT(x.exp() + 0.5, y, 1.5).entropy()"),
    ("D::StudentT(x.exp() + 2.5, y, 1.5).variance()", "D.StudentT(x.exp() + 2.5, y, 1.5).variance"),
    ("D::StudentT((x * 2).exp(), y).variance().isnan()", "D.StudentT((x * 2).exp(), y).variance.isnan()"),
    ("D::StudentT((x * 2).exp(), y).variance().isinf()", "D.StudentT((x * 2).exp(), y).variance.isinf()"),
    ("D::Cauchy(y, x.exp()).log_prob(x)", "D.Cauchy(y, x.exp()).log_prob(x)"), ("D::Cauchy(y, x.exp()).entropy()", "D.Cauchy(y, x.exp()).entropy() + 0 * y"),
    ("D::HalfNormal(x.exp()).log_prob(y.abs())", "D.HalfNormal(x.exp()).log_prob(y.abs())"),
    ("D::HalfNormal(x.exp()).log_prob(y).exp()", "D.HalfNormal(x.exp(), validate_args=False).log_prob(y).exp()"),
    ("D::HalfNormal(x.exp()).entropy() + D::HalfNormal(x.exp()).mean() * D::HalfNormal(x.exp()).variance()",
     "D.HalfNormal(x.exp()).entropy() + D.HalfNormal(x.exp()).mean * D.HalfNormal(x.exp()).variance"),
    ("D::Weibull(x.exp(), y.exp() + 0.5).log_prob(y.abs() + 0.1)", "D.Weibull(x.exp(), y.exp() + 0.5).log_prob(y.abs() + 0.1)"),
    ("D::Weibull(x.exp(), y.exp() + 0.5).entropy()", "D.Weibull(x.exp(), y.exp() + 0.5).entropy()"),
    ("D::Weibull(x.exp(), y.exp() + 0.5).mean()", "D.Weibull(x.exp(), y.exp() + 0.5).mean"),
    ("D::Weibull(x.exp(), y.exp() + 0.5).variance()", "D.Weibull(x.exp(), y.exp() + 0.5).variance"),
    ("D::Pareto(0.1, x.exp()).log_prob(y.abs() + 0.1)", "D.Pareto(torch.tensor(0.1), x.exp()).log_prob(y.abs() + 0.1)"),
    ("D::Pareto(y.exp(), x.exp()).entropy()", "D.Pareto(y.exp(), x.exp()).entropy()"),
    ("D::Pareto(y.exp(), x.exp() + 2.1).variance() + D::Pareto(y.exp(), x.exp() + 1.1).mean()",
     "D.Pareto(y.exp(), x.exp() + 2.1).variance + D.Pareto(y.exp(), x.exp() + 1.1).mean"),
    ("D::Pareto(1., x.exp()).variance().isinf()", "D.Pareto(torch.ones_like(x), x.exp()).variance.isinf()"),
    (f"D::Geometric(x.sigmoid()).log_prob({COUNTS})", f"D.Geometric(x.sigmoid()).log_prob({T_COUNTS})"),
    (f"D::Geometric({{.logits = x}}).log_prob({COUNTS})", f"D.Geometric(logits=x).log_prob({T_COUNTS})"),
    ("D::Geometric(x.sigmoid()).entropy()", "D.Geometric(x.sigmoid()).entropy()"),
    ("D::Geometric(x.sigmoid()).mean() + D::Geometric(x.sigmoid()).variance()", "D.Geometric(x.sigmoid()).mean + D.Geometric(x.sigmoid()).variance"),
    (f"D::Binomial(12, x.sigmoid()).log_prob({COUNTS})", f"D.Binomial(12, x.sigmoid()).log_prob({T_COUNTS})"),
    (f"D::Binomial(12, {{.logits = x * 30}}).log_prob({COUNTS})", f"D.Binomial(12, logits=x * 30).log_prob({T_COUNTS})"),
    ("D::Binomial(12, x.sigmoid()).mean() * D::Binomial(12, x.sigmoid()).variance()", "D.Binomial(12, x.sigmoid()).mean * D.Binomial(12, x.sigmoid()).variance"),
    (f"D::NegativeBinomial(y.exp(), x.sigmoid()).log_prob({COUNTS})", f"D.NegativeBinomial(y.exp(), x.sigmoid()).log_prob({T_COUNTS})"),
    (f"D::NegativeBinomial(3., {{.logits = x}}).log_prob({COUNTS})", f"D.NegativeBinomial(3., logits=x).log_prob({T_COUNTS})"),
    ("D::NegativeBinomial(y.exp(), x.sigmoid()).mean() + D::NegativeBinomial(y.exp(), x.sigmoid()).variance()",
     "D.NegativeBinomial(y.exp(), x.sigmoid()).mean + D.NegativeBinomial(y.exp(), x.sigmoid()).variance"),
]

# Arguments, and a value.
CDFS = [(f"D::{name}({arguments}).{function}({value})", f"D.{name}({twins}).{function}({value})")
        for name, arguments, twins, at in (
            ("Normal", "y, x.exp()", "y, x.exp()", "x * 2"),
            ("Uniform", "y, y + x.exp()", "y, y + x.exp()", "x * 2"),
            ("Laplace", "y, x.exp()", "y, x.exp()", "x * 2"),
            ("Gumbel", "y, x.exp()", "y, x.exp()", "y + x.abs()"),
            ("Cauchy", "y, x.exp()", "y, x.exp()", "x * 2"),
            ("LogNormal", "y, x.exp()", "y, x.exp()", "(x + y).abs() + 0.1"),
            ("Exponential", "x.exp()", "x.exp()", "(x + y).abs()"),
            ("HalfNormal", "x.exp()", "x.exp()", "(x + y).abs()"),
            ("Weibull", "y.exp(), x.exp() + 0.5", "y.exp(), x.exp() + 0.5", "(x + y).abs() + 0.1"),
            ("Pareto", "y.abs(), x.exp() + 0.5", "y.abs(), x.exp() + 0.5", "y.abs() * 2"),
            ("TransformedDistribution", "D::Normal(y, x.exp()), D::TanhTransform(), D::AffineTransform(0.5, -2.0)",
             "D.Normal(y, x.exp()), [D.TanhTransform(), D.AffineTransform(0.5, -2.0)]", "0.5 - 2 * x.tanh()"),
            ("TransformedDistribution", "D::Normal(y, x.exp()), D::AffineTransform(x, y), D::SigmoidTransform(), D::AffineTransform(0.0, -1.0)",
             "D.Normal(y, x.exp()), [D.AffineTransform(x, y), D.SigmoidTransform(), D.AffineTransform(0.0, -1.0)]", "-x.sigmoid()"))
        for function, value in (("cdf", at), ("icdf", "(x * 0.3 + y * 0.2).sigmoid()"))] + [
    ("D::Normal(x, 2.0).cdf(0.5) + D::Normal(0.0, x.exp()).icdf(0.3)",
     "D.Normal(x, 2.0).cdf(torch.tensor(0.5)) + D.Normal(0.0, x.exp()).icdf(torch.tensor(0.3))"),
    ("D::MixtureSameFamily(D::Categorical({.logits = x}), D::Normal(y, x.exp())).cdf(y.select(2, 0))",
     "D.MixtureSameFamily(D.Categorical(logits=x), D.Normal(y, x.exp())).cdf(y[:, :, 0])")]
