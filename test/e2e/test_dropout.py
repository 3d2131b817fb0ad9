"""Dropout as it leaves dlrun: how much it keeps, by what it scales, whole channels, and none in evaluations."""

import numpy as np

from . import support

MODEL = support.HEAD + """
struct Net : nn::Module {
  dl::Parameter one = dl::ones({1});
  nn::Dropout2d planes{0.25};
  dl::Tensor single, plane;
  dl::Tensor forward(dl::Tensor x) {
    single = F::dropout(x * one, 0.3);
    plane = planes(x * one);
    return single.mean() + plane.mean();
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 32});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.0});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b.data);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}, {"single", net.single}, {"plane", net.plane}};
  });
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b.data);
    return {{"mean", loss}};
  });
}
"""


class Dropout(support.ToolTest):
    def setUp(self):
        super().setUp()
        np.save(self.path("x.npy"), np.ones((64, 40, 9, 7), np.float32))
        self.write("drop.dl", MODEL)
        self.dlcc("drop.dl")

    def masks(self, steps, seed=0):
        self.dlrun("drop.plan", "--steps", steps, "--seed", seed, "-q", "--save-metrics", "m.safetensors")
        metrics = self.load("m.safetensors")
        return metrics["single"], metrics["plane"]

    def test_statistics(self):
        single, plane = self.masks(1)
        self.assertEqual(set(np.unique(single)), {np.float32(0), np.float32(1 / 0.7)})
        # 80640 independent draws: four standard deviations.
        self.assertAlmostEqual((single > 0).mean(), 0.7, delta=4 * np.sqrt(0.21 / single.size))
        self.assertEqual(set(np.unique(plane)), {np.float32(0), np.float32(1 / 0.75)})
        planes = plane.reshape(32 * 40, 63)
        self.assertTrue((planes == planes[:, :1]).all(), "a plane is dropped in part")
        self.assertAlmostEqual((planes[:, 0] > 0).mean(), 0.75, delta=4 * np.sqrt(0.1875 / len(planes)))

    def test_masks_change_with_step_and_seed(self):
        first, _ = self.masks(1)
        again, _ = self.masks(1)
        second, _ = self.masks(2)
        other, _ = self.masks(1, seed=1)
        np.testing.assert_array_equal(first, again)
        for mask in (second, other):
            self.assertAlmostEqual((mask == first).mean(), 0.7 ** 2 + 0.3 ** 2, delta=0.02)

    def test_none_in_evaluations(self):
        (event,) = [e for e in self.events("eval", "drop.plan") if e["event"] == "eval"]
        self.assertAlmostEqual(event["mean"], 2.0, delta=1e-5)
