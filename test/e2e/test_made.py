"""Tensors from nothing: numbers in order that are made outside of steps, whole random numbers."""

import numpy as np

import dltools
from . import support

MODEL = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 4});
  nn::Linear model{6, 1};
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  %s
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    model(b.data).mean().backward();
    optimizer.step();
    %s
  });
}
"""


class Made(support.ToolTest):
    def values(self, outside, inside, *options):
        np.save(self.path("x.npy"), np.arange(24, dtype=np.float32).reshape(4, 6))
        self.write("m.dl", MODEL % (outside, inside))
        self.dlcc("m.dl", *options)
        self.dlrun("m.plan", "-q", "--steps", 1, "--no-shuffle", "--save-metrics", "metrics.safetensors")
        return self.load("metrics.safetensors")

    def test_outside_of_steps(self):
        """The same bits as inside."""
        made = ["dl::linspace(-1, 2, 6)", "dl::arange(6)", "dl::arange(0.5, 3.5, 0.5) * 3 - 0.1", "dl::arange(9, -3, -2, {.dtype = dl::kInt32})"]
        for dtype in ("f32", "f64"):
            outside = "".join(f"auto t{i} = {text};\n  " for i, text in enumerate(made))
            metrics = ", ".join(f'{{"o{i}", b.data * 0 + t{i}}}, {{"i{i}", b.data * 0 + {text}}}' for i, text in enumerate(made))
            found = self.values(outside, f"return {{{metrics}}};", f"--dtype={dtype}")
            for i, text in enumerate(made):
                self.assertEqual(found[f"o{i}"].tobytes(), found[f"i{i}"].tobytes(), text)
            np.testing.assert_allclose(found["o0"][0], np.linspace(-1, 2, 6), rtol=1e-6)
            np.testing.assert_array_equal(found["o3"][0], np.arange(9, -3, -2))

    def test_computed_outside_of_steps(self):
        """A position's sines, a mask, literal numbers: the same bits in training and in an evaluation, and no weights."""
        made = {"pe": "dl::stack({dl::sin(at * rate), dl::cos(at * rate)}, -1).flatten(1)", "mask": "dl::tril(dl::ones({6, 6})) == 0",
                "number": "dl::tensor({{0.5, 1.5}, {2., 3.}}) * dl::tensor({1, 2})"}
        self.write("net.dl", support.HEAD + """
struct Net : nn::Module {
  nn::Linear fc{6, 1};
  dl::Buffer pe, mask, number;
  Net() {
    auto at = dl::arange(6).unsqueeze(1), rate = dl::exp(dl::arange(0, 4, 2) * -0.5);
""" + "".join(f"    {name} = {text};\n" for name, text in made.items()) + """  }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 3});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    net.fc(b.data.masked_fill(net.mask[0], 0.0)).mean().backward();
    optimizer.step();
    return {{"pe", net.pe}, {"mask", net.mask}, {"number", net.number}};
  });
  p.predict("all", data, [&](dl::Batch b) { return b.data.unsqueeze(2) + net.pe.sum(1, true); });
}
""")
        np.save(self.path("x.npy"), np.arange(24, dtype=np.float32).reshape(4, 6))
        self.dlcc("net.dl", "--dtype=f64")
        self.dlrun("net.plan", "-q", "--steps", 1, "--save-metrics", "metrics.safetensors", "--save-final", "w.safetensors")
        found = self.load("metrics.safetensors")
        angle = np.arange(6)[:, None] * np.exp(-0.5 * np.arange(0, 4, 2))
        pe = np.stack([np.sin(angle), np.cos(angle)], -1).reshape(6, 4)
        np.testing.assert_allclose(found["pe"], pe, rtol=1e-14, atol=1e-15)
        np.testing.assert_array_equal(found["mask"], np.tril(np.ones((6, 6))) == 0)
        np.testing.assert_array_equal(found["number"], [[0.5, 3], [2, 6]])
        self.assertEqual(sorted(self.load("w.safetensors")), ["fc.bias", "fc.weight"])
        self.dlrun("predict", "net.plan", "-q", "--init", "w.safetensors", "--out", "all.npy")
        expected = np.arange(24).reshape(4, 6, 1) + pe.sum(1, keepdims=True)
        np.testing.assert_allclose(np.load(self.path("all.npy")), expected, rtol=1e-14)

    def test_whole_random_numbers(self):
        found = self.values("", "return {{\"a\", dl::randint(-3, 4, {70, 100})}, {\"b\", dl::randint(2, {50, 50})}};")
        self.assertEqual(found["a"].dtype, np.int64)
        counts = np.array([(found["a"] == n).sum() for n in range(-3, 4)])
        self.assertEqual(counts.sum(), 7000)
        self.assertLess(np.abs(counts - 1000).max(), 130)
        self.assertLess(abs(found["b"].mean() - 0.5), 0.05)

    def test_choices(self):
        """Samples have the frequencies they are to have; those of gumbel_softmax that are hard are ones and zeros."""
        found = self.values("", """
    auto p = (dl::zeros({5000, 1}) + dl::tensor({0.1, 0.2, 0.7})).detach();
    namespace D = dl::distributions;
    auto hard = F::gumbel_softmax(p.log(), {.tau = 0.3, .hard = true});
    return {{"categorical", D::Categorical(p).sample()}, {"logits", D::Categorical({.logits = p.log() + 3}).sample()},
            {"bernoulli", D::Bernoulli(p).sample()}, {"normal", D::Normal(p * 10, 0.5).rsample()}, {"hard", hard},
            {"soft", F::gumbel_softmax(p.log(), 0.3)}};""")
        for name in ("categorical", "logits"):
            self.assertEqual(found[name].shape, (5000,))
            np.testing.assert_allclose(np.bincount(found[name]) / 5000, [0.1, 0.2, 0.7], atol=0.025)
        np.testing.assert_allclose(found["bernoulli"].mean(0), [0.1, 0.2, 0.7], atol=0.025)
        np.testing.assert_allclose(found["normal"].mean(0), [1, 2, 7], atol=0.03)
        np.testing.assert_allclose(found["normal"].std(0), 0.5, atol=0.02)
        np.testing.assert_allclose(found["hard"].sum(1), 1, atol=1e-6)
        np.testing.assert_allclose(found["hard"].max(1), 1, atol=1e-6)
        np.testing.assert_allclose(found["hard"].mean(0), [0.1, 0.2, 0.7], atol=0.025)
        np.testing.assert_allclose(found["soft"].sum(1), 1, atol=1e-6)
        self.assertLess(found["soft"].max(1).min(), 0.6)

    def test_draws_of_distributions(self):
        """Their means and variances are those that the distribution says, and a quarter of them is below the first quartile."""
        quartiles = {"Uniform": 1.5, "Laplace": 1 - 2 * np.log(2), "LogNormal": np.exp(1 - 0.5 * 0.6744897501960817), "Exponential": np.log(4 / 3) / 2,
                     "Gumbel": 1 - 2 * np.log(np.log(4)), "HalfNormal": 2 * 0.3186393639643752, "Weibull": 2 * np.log(4 / 3) ** (1 / 1.5),
                     "Pareto": 2 * (4 / 3) ** (1 / 8), "StudentT": 1 - 2 * 0.7027221}  # of 9 degrees, by quadrature
        given = {"Uniform": "z + 1, 3.", "Laplace": "z + 1, 2.", "LogNormal": "z + 1, 0.5", "Exponential": "z + 2", "Gumbel": "z + 1, 2.",
                 "HalfNormal": "z + 2", "Weibull": "z + 2, 1.5", "Pareto": "z + 2, 8.", "StudentT": "9., z + 1, 2."}
        lines = "".join(f"""
    {{ D::{name} d({given[name]}); r.add("{name}", d.sample()); r.add("{name}_mean", d.mean()[0]); r.add("{name}_variance", d.variance()[0]); }}"""
                        for name in quartiles)
        found = self.values("", "namespace D = dl::distributions; auto z = dl::zeros({60000}); dl::Metrics r;" + lines + "\n    return r;")
        for name, quartile in quartiles.items():
            draws, variance = found[name], found[name + "_variance"]
            self.assertLess(abs(draws.mean() - found[name + "_mean"]), 5 * np.sqrt(variance / 60000), name)
            self.assertLess(abs(draws.var() / variance - 1), 0.1, name)
            self.assertLess(abs((draws < quartile).mean() - 0.25), 0.01, name)

    def test_draws_of_counts_and_of_cauchy(self):
        """Cauchy's quartiles, which are all it has; counts as often as their probability says."""
        found = self.values("", """
    namespace D = dl::distributions;
    auto z = dl::zeros({60000});
    D::Geometric geometric(z + 0.3);
    D::Binomial binomial(7, z + 0.4);
    auto k = dl::arange(8).to(dl::kFloat);
    return {{"cauchy", D::Cauchy(z + 1, 2.).sample()}, {"geometric", geometric.sample()}, {"binomial", binomial.sample()},
            {"geometric_chance", D::Geometric(dl::zeros({8}) + 0.3).log_prob(k).exp()},
            {"binomial_chance", D::Binomial(7, dl::zeros({8}) + 0.4).log_prob(k).exp()}};""")
        for chance, bound in ((0.25, -1), (0.5, 1), (0.75, 3)):
            self.assertLess(abs((found["cauchy"] < bound).mean() - chance), 0.01)
        for name in ("geometric", "binomial"):
            for k, chance in enumerate(found[name + "_chance"]):
                self.assertLess(abs((found[name] == k).mean() - chance), 5 * np.sqrt(chance / 60000) + 1e-6, (name, k))
        self.assertEqual(set(np.unique(found["binomial"])) - set(range(8)), set())

    def test_draws_of_gamma(self):
        """Mean, variance and skewness, on both sides of a concentration of 1; of a sum of chances, and as a scalar for mixup."""
        found = self.values("", """
    namespace D = dl::distributions;
    auto z = dl::zeros({60000, 1});
    auto all = z + dl::tensor({0.2, 0.9, 1.0, 4.0});
    return {{"gamma", D::Gamma(all, 2.0).sample()}, {"beta", D::Beta(all, 0.5).sample()}, {"dirichlet", D::Dirichlet(all).sample()},
            {"mixup", D::Beta(0.2, 0.2).sample()}};""")
        shape = np.array([0.2, 0.9, 1.0, 4.0])
        draws = found["gamma"].astype(np.float64) * 2
        error = np.sqrt(shape / 60000)
        np.testing.assert_array_less(np.abs(draws.mean(0) - shape), 5 * error)
        np.testing.assert_allclose(draws.var(0), shape, rtol=0.1)
        # The third moment of a standardised one is 2 / sqrt(concentration); quantiles of the exponential distribution are known.
        skew = (((draws - draws.mean(0)) / draws.std(0)) ** 3).mean(0)
        np.testing.assert_allclose(skew, 2 / np.sqrt(shape), rtol=0.2)
        for chance in (0.1, 0.5, 0.9, 0.99):
            self.assertLess(abs((draws[:, 2] < -np.log(1 - chance)).mean() - chance), 0.01)
        beta = found["beta"].astype(np.float64)
        np.testing.assert_allclose(beta.mean(0), shape / (shape + 0.5), atol=0.01)
        np.testing.assert_allclose(beta.var(0), shape * 0.5 / ((shape + 0.5) ** 2 * (shape + 1.5)), rtol=0.1)
        self.assertTrue((beta >= 0).all() and (beta <= 1).all())
        np.testing.assert_allclose(found["dirichlet"].sum(1), 1, atol=1e-5)
        np.testing.assert_allclose(found["dirichlet"].mean(0), shape / shape.sum(), atol=0.01)
        self.assertEqual(found["mixup"].shape, ())
        self.assertTrue(0 <= found["mixup"] <= 1)

    def test_long_scans_are_rounded_once_an_element(self):
        """In f32 they go on in f64: each result is the f64 one, rounded."""
        found = self.values("", """
    auto x = dl::rand({50000}), y = 1 + (x - 0.5) * 1e-3;
    return {{"x", x}, {"y", y}, {"sum", x.cumsum(0)}, {"product", y.cumprod(0)}, {"recurrence", dl::linear_recurrence(0.999, x, 0, true)}};""")
        x, y = found["x"].astype(np.float64), found["y"].astype(np.float64)
        back, h = np.zeros(50000), 0.0
        for t in range(49999, -1, -1):
            h = back[t] = np.float64(np.float32(0.999)) * h + x[t]
        for name, want in (("sum", np.cumsum(x)), ("product", np.cumprod(y)), ("recurrence", back)):
            np.testing.assert_allclose(found[name], want, rtol=6e-8, atol=0)

    def test_division_by_zero(self):
        text = "return {{\"a\", 7 %% (b.data.to(dl::kInt64) - %d)}};"
        found = self.values("", text % 40)
        np.testing.assert_array_equal(found["a"], np.remainder(7, np.arange(24).reshape(4, 6) - 40))
        self.write("m.dl", MODEL % ("", text % 9))
        self.dlcc("m.dl")
        self.refuse(1, ["m.dl:", "remainder: an integer divided by 0"], dltools.DLRUN, "m.plan", "--steps", 1, "-q")
