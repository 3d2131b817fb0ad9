"""AveragedModel: averages of weights, with PyTorch's rules."""

import numpy as np

from . import support

MODEL = support.HEAD + """
struct Net : nn::Module {
  nn::Linear fc{3, 2};
  dl::Tensor forward(dl::Tensor x) { return fc(x); }
};
struct Both : nn::Module {
  Net model, ema;
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 8});
  Both both;
  dl::optim::SGD optimizer(both.model.parameters(), {.lr = 0.1});
  dl::optim::swa_utils::AveragedModel averages(both.ema, both.model%s);
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::mse_loss(both.model(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    averages.update_parameters();
    return {{"loss", loss}};
  });
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    return {{"loss", F::mse_loss(both.ema(b.data), b.target)}};
  });
}
"""


class Averages(support.ToolTest):
    def weights(self, options, steps):
        """The weights and their averages after each step."""
        self.write("m.dl", MODEL % options)
        self.dlcc("m.dl", "--dtype=f64")
        for step in range(1, steps + 1):
            self.dlrun("m.plan", "-q", "--steps", step, "--no-shuffle", "--save-final", "w.safetensors")
            found = self.load("w.safetensors")
            yield found["model.fc.weight"], found["ema.fc.weight"]

    def test_exponential(self):
        self.regression_data()
        average = None
        for weight, found in self.weights(", {.decay = 0.9}", 5):
            average = weight if average is None else 0.9 * average + 0.1 * weight
            np.testing.assert_allclose(found, average, rtol=1e-12)

    def test_equal(self):
        self.regression_data()
        seen = []
        for weight, found in self.weights("", 4):
            seen.append(weight)
            np.testing.assert_allclose(found, np.mean(seen, 0), rtol=1e-12)

    def test_evaluations_use_the_averages(self):
        x, y = self.regression_data()
        for _, average in self.weights(", {.decay = 0.5}", 3):
            pass
        bias = self.load("w.safetensors")["ema.fc.bias"]
        (event,) = [e for e in self.events("eval", "m.plan", "--init", "w.safetensors") if e["event"] == "eval"]
        self.assertAlmostEqual(float(event["loss"]), np.square(x @ average.T + bias - y).mean(), places=9)
