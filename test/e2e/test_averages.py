"""AveragedModel: averages of weights, with PyTorch's rules."""

import json

import numpy as np

from . import support

TARGET = support.HEAD + """
struct Net : nn::Module {
  nn::Linear fc{3, 2};
  nn::BatchNorm1d bn{2};
  dl::Tensor forward(dl::Tensor x) { return bn(fc(x)); }
};
struct Both : nn::Module {
  Net online, target;
  Both() {
    int linears = 0;
    for (auto &m : modules())
      if (auto *linear = nn::as<nn::Linear>(m)) {
        linear->weight.data().normal_(0, 3);
        linear->bias.data().fill_(0.5);
        ++linears;
      }
    if (linears == 2)
      target.load_state_dict(online.state_dict());
    target.requires_grad_(false);
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 8});
  Both both;
  dl::optim::SGD optimizer(both.online.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::mse_loss(both.online(b.data), b.target).view(1);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    %s
    return {{"loss", loss}};
  });
}
"""
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


class Targets(support.ToolTest):
    """A second network that follows the first by hand."""

    def states(self, text, steps):
        self.write("t.dl", TARGET % text)
        self.dlcc("t.dl", "--dtype=f64")
        for step in range(steps + 1):
            self.dlrun("t.plan", "-q", "--steps", step, "--no-shuffle", "--save-final", "w.safetensors")
            found = self.load("w.safetensors")
            names = [name[7:] for name in found if name.startswith("online.")]
            yield {name: (found["online." + name], found["target." + name]) for name in names}

    def test_both_begin_alike_and_one_follows(self):
        self.regression_data()
        text = "for (auto [p, q] : dl::zip(both.target.parameters(), both.online.parameters()))\n      p.data().mul_(0.9).add_(q.data(), {.alpha = 0.1});"
        before = None
        for step, now in enumerate(self.states(text, 3)):
            for name, (online, target) in now.items():
                if not step:
                    np.testing.assert_array_equal(target, online, name)
                elif name.startswith("fc") or name in ("bn.weight", "bn.bias"):
                    np.testing.assert_allclose(target, 0.9 * before[name][1] + 0.1 * online, rtol=1e-14, err_msg=name)
            if not step:
                self.assertGreater(np.abs(now["fc.weight"][0]).max(), 2)
                np.testing.assert_array_equal(now["fc.bias"][0], 0.5)
            before = now
        self.assertGreater(np.abs(before["fc.weight"][0] - before["fc.weight"][1]).max(), 1e-6)

    def test_states_are_copied_in_a_step(self):
        """Parameters, and what a batch norm has seen; the loss, [1], is a number in the log."""
        self.regression_data()
        for step, now in enumerate(self.states("both.target.load_state_dict(both.online.state_dict());", 2)):
            for name, (online, target) in now.items():
                np.testing.assert_array_equal(target, online, name)
        self.assertNotEqual(now["bn.running_mean"][0].max(), 0)
        events = self.events("t.plan", "--steps", 1, "--every", "log=1")
        self.assertEqual([event["event"] for event in events if "loss" in event], ["step"])


class Averages(support.ToolTest):
    def test_buffers(self):
        """Those of the model, or averages of what are no whole numbers."""
        self.regression_data()
        for options, average in ((", {.decay = 0.9}", 0), (", {.decay = 0.9, .use_buffers = true}", 0.9)):
            text = MODEL.replace("nn::Linear fc{3, 2};", "nn::Linear fc{3, 2}; nn::BatchNorm1d bn{2}; dl::Buffer computed = dl::sin(dl::arange(3));").replace("return fc(x);", "return bn(fc(x + computed));")
            self.write("m.dl", text % options)
            self.dlcc("m.dl", "--dtype=f64")
            before = None
            for step in range(1, 5):
                self.dlrun("m.plan", "-q", "--steps", step, "--no-shuffle", "--save-final", "w.safetensors")
                now = self.load("w.safetensors")
                for name in ("bn.running_mean", "bn.running_var"):
                    kept = average if before else 0
                    expected = now["model." + name] * (1 - kept) + (before["ema." + name] * kept if before else 0)
                    np.testing.assert_allclose(now["ema." + name], expected, rtol=1e-12)
                self.assertEqual(int(now["ema.bn.num_batches_tracked"]), step)
                before = now

    def test_they_have_no_number_among_optimizers(self):
        self.regression_data()
        optimizer = "  dl::optim::SGD optimizer(both.model.parameters(), {.lr = 0.1});\n"
        average = "  dl::optim::swa_utils::AveragedModel averages(both.ema, both.model);\n"
        second = "  dl::optim::SGD other(both.model.parameters(), {.lr = 0.0625});\n"
        text = MODEL.replace("%s", "")
        for order in (average + optimizer + second, optimizer + average + second):
            self.assertIn(optimizer + average, text)
            self.write("m.dl", text.replace(optimizer + average, order).replace("optimizer.step();", "optimizer.step(); other.step();"))
            self.dlcc("m.dl")
            settings = json.loads(self.dlrun("info", "m.plan", "--json"))["settings"]
            self.assertEqual({one["name"]: one["value"] for one in settings}, {"optim.lr": 0.1, "optim1.lr": 0.0625})

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
