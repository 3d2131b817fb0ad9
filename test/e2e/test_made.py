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

    def test_whole_random_numbers(self):
        found = self.values("", "return {{\"a\", dl::randint(-3, 4, {70, 100})}, {\"b\", dl::randint(2, {50, 50})}};")
        self.assertEqual(found["a"].dtype, np.int64)
        counts = np.array([(found["a"] == n).sum() for n in range(-3, 4)])
        self.assertEqual(counts.sum(), 7000)
        self.assertLess(np.abs(counts - 1000).max(), 130)
        self.assertLess(abs(found["b"].mean() - 0.5), 0.05)

    def test_division_by_zero(self):
        text = "return {{\"a\", 7 %% (b.data.to(dl::kInt64) - %d)}};"
        found = self.values("", text % 40)
        np.testing.assert_array_equal(found["a"], np.remainder(7, np.arange(24).reshape(4, 6) - 40))
        self.write("m.dl", MODEL % ("", text % 9))
        self.dlcc("m.dl")
        self.refuse(1, ["m.dl:", "remainder: an integer divided by 0"], dltools.DLRUN, "m.plan", "--steps", 1, "-q")
