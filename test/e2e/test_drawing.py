"""Numbers that are drawn by weights, means and rates that are data; all parameters as one vector."""

import numpy as np

import dltools
from . import support

MODEL = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 2000});
  nn::Linear model{5, 3};
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.0});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    model(b.data).mean().backward();
    optimizer.step();
    %s
  });
}
"""


class Drawing(support.ToolTest):
    def values(self, body):
        weights = np.tile(np.array([1, 0, 2, 5, 8], np.float32), (2000, 1))
        np.save(self.path("x.npy"), weights)
        self.write("m.dl", MODEL % body)
        self.dlcc("m.dl")
        self.dlrun("m.plan", "-q", "--steps", 1, "--seed", 3, "--save-metrics", "metrics.safetensors", "--save-final", "w.safetensors")
        return self.load("metrics.safetensors")

    def test_multinomial(self):
        found = self.values('return {{"one", b.data.multinomial(1)}, {"all", dl::multinomial(b.data, 4)}, {"again", b.data.multinomial(6, true)}, '
                            '{"row", b.data[0].multinomial(2, true)}};')
        shares = np.array([1, 0, 2, 5, 8]) / 16
        self.assertEqual([found[name].shape for name in ("one", "all", "again", "row")], [(2000, 1), (2000, 4), (2000, 6), (2,)])
        for name in ("one", "again"):
            got = np.bincount(found[name].ravel(), minlength=5) / found[name].size
            self.assertEqual(got[1], 0, "a weight of 0")
            np.testing.assert_allclose(got, shares, atol=5 * np.sqrt(0.25 / found[name].size))
        np.testing.assert_array_equal(np.sort(found["all"], axis=1), np.tile([0, 2, 3, 4], (2000, 1)))
        # The second one of those that are left: sum over the first of p_i p_j / (1 - p_i).
        second = [sum(shares[i] * shares[j] / (1 - shares[i]) for i in range(5) if i != j) for j in range(5)]
        np.testing.assert_allclose(np.bincount(found["all"][:, 1], minlength=5) / 2000, second, atol=0.056)

    def test_too_little_to_choose(self):
        for draw, said in (("b.data.multinomial(5)", "multinomial: fewer than 5 weights above 0"),
                           ("(b.data * 0).multinomial(2, true)", "multinomial: no weight is above 0"),
                           ("(b.data - 1).multinomial(4)", "multinomial: fewer than 4 weights above 0")):
            self.write("m.dl", MODEL % f'return {{{{"drawn", {draw}}}}};')
            np.save(self.path("x.npy"), np.tile(np.array([1, 0, 2, 5, 8], np.float32), (2000, 1)))
            self.dlcc("m.dl")
            self.refuse(1, ["m.dl:13:", said], dltools.DLRUN, "m.plan", "-q", "--steps", 1)

    def test_normal_and_exponential(self):
        found = self.values('return {{"both", dl::normal(b.data, b.data + 1)}, {"mean", dl::normal(b.data, 0.5)}, {"std", dl::normal(-1.0, b.data + 1)}, '
                            '{"numbers", dl::normal(3, 2, {500, 7})}, {"waits", dl::empty_like(b.data).exponential_(4)}};')
        place = np.array([1, 0, 2, 5, 8], np.float64)
        for name, mean, std in (("both", place, place + 1), ("mean", place, 0.5), ("std", -1, place + 1)):
            scaled = (found[name] - mean) / std
            np.testing.assert_allclose(scaled.mean(0), 0, atol=5 / np.sqrt(2000))
            np.testing.assert_allclose(scaled.std(0), 1, atol=5 / np.sqrt(4000))
        self.assertEqual(found["numbers"].shape, (500, 7))
        np.testing.assert_allclose([found["numbers"].mean(), found["numbers"].std()], [3, 2], atol=0.2)
        waits = np.sort(found["waits"].ravel())
        self.assertGreaterEqual(waits[0], 0)
        self.assertLess(np.max(np.abs(1 - np.exp(-4 * waits) - np.arange(10000) / 10000)), 0.02, "Kolmogorov's distance")

    def test_parameters_as_a_vector(self):
        found = self.values('auto v = nn::utils::parameters_to_vector(model.parameters());\n'
                            '    nn::utils::vector_to_parameters(v * 2 + 1, model.parameters());\n'
                            '    return {{"v", v}};')
        after = self.load("w.safetensors")
        np.testing.assert_array_equal(np.concatenate([after["weight"].ravel(), after["bias"]]), found["v"] * 2 + 1)
