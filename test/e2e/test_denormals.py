"""dlrun --flush-denormals: numbers below the smallest normal one are kept, or are zeros."""

import numpy as np

import dltools
from . import support

# Adds to the weight what comes of the batch. A product may be denormal, and an operand.
MODEL = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 64});
  auto x = dl::Parameter(dl::zeros({64, 300}));
  dl::optim::SGD optimizer({x}, {.lr = 1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    auto loss = (x * (b[0] * p.arg("factor", 1.0))).sum();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class Denormals(support.ToolTest):
    def added(self, value, factor, *options, compiled=(), run=None):
        """What one step has made of zeros: -value * factor."""
        np.save(self.path("x.npy"), np.full((64, 300), value, np.float32))
        self.write("net.dl", MODEL)
        self.dlcc("net.dl", "-D", f"factor={factor}", "-o", "net.plan", *compiled)
        run = run or self.dlrun
        run("net.plan", "-q", "--steps", 1, "--save-final", "w.safetensors", *options)
        (weight,) = self.load("w.safetensors").values()
        self.assertEqual(len(np.unique(weight)), 1)
        return weight.flat[0]

    def test_results_and_operands(self):
        small = -np.float32(1e-20) * np.float32(1e-20)  # 1e-40
        operand = -np.float32(1e-39) * np.float32(1e10)
        self.assertLess(small, 0)
        for options in [], ["--threads", 1], ["--poison", "--order", "random:3"]:
            self.assertEqual(self.added(1e-20, 1e-20, *options), small)
            self.assertEqual(self.added(1e-20, 1e-20, "--flush-denormals", *options), 0)
            self.assertEqual(self.added(1e-39, 1e10, *options), operand)
            self.assertEqual(self.added(1e-39, 1e10, "--flush-denormals", *options), 0)
        self.assertEqual(self.added(1e-20, 1e-20, "--flush-denormals", compiled=["--mesh=dp=4"]), 0)
        self.assertEqual(self.added(1e-20, 1e-16, "--flush-denormals"), -np.float32(1e-20) * np.float32(1e-16))

    def test_a_run_goes_on_as_it_began(self):
        np.save(self.path("x.npy"), np.full((64, 300), 1e-20, np.float32))
        self.write("net.dl", MODEL)
        self.dlcc("net.dl", "-D", "factor=1e-20")
        for options in [], ["--flush-denormals"]:
            self.dlrun("net.plan", "-q", "--steps", 1, "--out", f"run{len(options)}", *options)
            dltools.run(dltools.DLRUN, "resume", f"run{len(options)}", "-q", "--steps", 2, "--save-final", self.path("w.safetensors"), cwd=self.folder)
            (weight,) = self.load("w.safetensors").values()
            self.assertEqual((weight == 0).all(), bool(options))

    def test_not_on_gpus(self):
        np.save(self.path("x.npy"), np.full((64, 300), 1e-20, np.float32))
        self.write("net.dl", MODEL)
        self.dlcc("net.dl", "--target=cuda:source")
        self.refuse(3, ["--flush-denormals", "leave it out"], dltools.DLRUN, "net.plan", "--steps", 1, "--flush-denormals", env=dltools.emulated())


if __name__ == "__main__":
    support.unittest.main()
