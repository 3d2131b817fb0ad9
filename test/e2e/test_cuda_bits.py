"""Maps have the CPU's bits on a GPU: elementary functions, their gradients, division and what is drawn. On the emulated device."""

import os
import unittest

import numpy as np

import dltools
from e2e import support
from numpy_twin import safetensors

# Of x > 0 and of y, in the order in which each gets a parameter whose gradient it is.
VALUES = ["dl::exp(y)", "dl::log(x)", "dl::sin(y * 10)", "dl::cos(y * 10)", "dl::tanh(y)", "dl::erf(y)", "dl::pow(x, y)", "dl::pow(y, 3)", "x / y",
          "dl::sqrt(x)", "F::gelu(y)", "F::dropout(x, 0.3)", "dl::rand({61, 37})", "dl::randn({61, 37})"]
SHAPE = (61, 37)
MODEL = support.HEAD + "struct Net : nn::Module {\n" + "".join(
    f"  dl::Parameter {name} = dl::zeros({{61, 37}});\n" for name in ["x", "y"] + [f"w{i}" for i in range(len(VALUES))]) + """};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"zero.npy"}, {.batch_size = 1});
  Net m;
  dl::optim::SGD optimizer(m.parameters(), {.lr = 1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto &x = m.x, &y = m.y;
    dl::Tensor loss = b[0].sum();
""" + "".join(f"    loss = loss + ({value} * m.w{i}).sum();\n" for i, value in enumerate(VALUES)) + """    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


@unittest.skipUnless(os.path.isdir(dltools.EMULATED), "there is no emulated GPU")
class CudaBits(support.ToolTest):
    def setUp(self):
        super().setUp()
        random = np.random.RandomState(1)
        initial = {f"w{i}": random.standard_normal(SHAPE).astype(np.float32) for i in range(len(VALUES))}
        initial |= {"x": np.exp(2 * random.standard_normal(SHAPE)).astype(np.float32), "y": 3 * random.standard_normal(SHAPE).astype(np.float32)}
        safetensors.save(self.path("initial.safetensors"), initial)
        np.save(self.path("zero.npy"), np.zeros((1, 1), np.float32))
        self.write("model.dl", MODEL)

    def weights(self, *options, env=None):
        """After one step: what they were, less their gradients."""
        self.dlcc("model.dl", "-o", "model.plan", *options)
        self.dlrun("model.plan", "--steps", 1, "-q", "--init", "initial.safetensors", "--save-final", "final.safetensors", env=env)
        return self.load("final.safetensors")

    def check(self, dtype):
        cpu = self.weights("--dtype=" + dtype)
        gpu = self.weights("--dtype=" + dtype, "--target=cuda:source", env=dltools.emulated())
        for name in cpu:
            self.assertTrue(np.isfinite(cpu[name]).mean() > 0.9, name)
            self.assertTrue(np.array_equal(cpu[name], gpu[name], equal_nan=True), VALUES[int(name[1:])] if name[0] == "w" else f"gradient of {name}")

    def test_f32(self):
        self.check("f32")

    def test_f64(self):
        self.check("f64")


if __name__ == "__main__":
    unittest.main()
