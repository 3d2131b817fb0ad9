"""Loops that are unrolled: a kernel for all times, whatever numbers they have; a sampler, which reads nothing of its data."""

import json
import os
import unittest

import numpy as np

import dltools
from . import support

TIMES = 40
MODEL = support.HEAD + """
struct Net : nn::Module {
  nn::Linear in{3, 8}, out{8, 2};
  dl::Tensor forward(dl::Tensor x, dl::Tensor t) { return out(F::tanh(in(dl::cat({x, t}, 1)))); }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 8});
  auto times = p.arg("times", 40);
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  auto betas = dl::linspace(1e-3, 0.2, 1000);
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b.data, b.data.narrow(1, 0, 1)).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
  p.predict("sample", data, [&](dl::Batch b) {
    auto x = dl::randn_like(b.data);
    for (long t = times; t-- > 0;)
      x = x - betas[25 * t] * net(x, dl::full({x.size(0), 1}, t * 0.37));
    return x;
  });
  p.predict("fixed", data, [&](dl::Batch b) {
    auto x = b.data;
    for (long t = times; t-- > 0;)
      x = x - betas[25 * t] * net(x, dl::full({x.size(0), 1}, t * 0.37)) + t * 1e-3;
    return x;
  });
}
"""


class Loops(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.x = np.random.default_rng(2).normal(size=(16, 2)).astype(np.float32)
        np.save(self.path("x.npy"), self.x)
        self.write("m.dl", MODEL)

    def predicted(self, step, *options, env=None):
        self.dlcc("m.dl", *options)
        self.dlrun("m.plan", "-q", "--steps", 0, "--save-final", "w.safetensors", env=env)
        return self.predict(env)[step]

    def predict(self, env=None):
        self.dlrun("predict", "m.plan", "--init", "w.safetensors", "--out", "out.safetensors", "-q", env=env)
        return {name.split(".")[0]: value for name, value in self.load("out.safetensors").items()}

    def test_each_time_has_its_numbers(self):
        found = self.predicted("fixed", "--dtype=f64")
        w = self.load("w.safetensors")
        x = self.x.astype(np.float64)
        for t in reversed(range(TIMES)):
            hidden = np.tanh(np.concatenate([x, np.full((16, 1), t * 0.37)], 1) @ w["in.weight"].T + w["in.bias"])
            x = x - np.linspace(1e-3, 0.2, 1000)[25 * t] * (hidden @ w["out.weight"].T + w["out.bias"]) + t * 1e-3
        np.testing.assert_allclose(found, x, rtol=1e-11, atol=1e-12)

    def test_they_are_one_code(self):
        def kernels(times):
            self.dlcc("m.dl", "-D", f"times={times}")
            return len(json.loads(self.dlrun("info", "m.plan", "--json"))["kernels"])
        self.assertEqual(kernels(40), kernels(20))
        self.assertLess(kernels(40), 40)

    def test_a_sampler_draws_for_each_item(self):
        found = self.predicted("sample")
        self.assertEqual(found.shape, (16, 2))
        self.assertEqual(len(np.unique(found[:, 0])), 16)
        np.save(self.path("x.npy"), np.zeros((11, 2), np.float32))
        fewer = self.predict()["sample"]
        self.assertEqual([fewer.shape, len(np.unique(fewer[:, 0]))], [(11, 2), 11])
        np.testing.assert_array_equal(fewer[:8], found[:8])

    @unittest.skipUnless(os.path.isdir(dltools.EMULATED), "there is no emulated GPU")
    def test_on_a_gpu(self):
        for dtype in ("f32", "f64"):
            cpu = self.predicted("fixed", "--dtype=" + dtype)
            gpu = self.predicted("fixed", "--dtype=" + dtype, "--target=cuda:source", env=dltools.emulated())
            np.testing.assert_allclose(gpu, cpu, rtol=1e-5 if dtype == "f32" else 1e-12, atol=1e-6 if dtype == "f32" else 1e-13)


if __name__ == "__main__":
    unittest.main()
