"""Evaluations and predictions of any number of items: what full batches leave over runs item by item."""

import numpy as np

import dltools
from . import support

TRAINING = 1

MODEL = support.HEAD + """
struct Net : nn::Module {
  nn::Linear first{6, 5};
  nn::BatchNorm1d norm{5};
  nn::Linear last{5, 3};
  dl::Tensor forward(dl::Tensor x) { return last(F::relu(norm(first(x)))); }
};

void dl_main(dl::Program &p) {
  auto train = dl::data::TensorDataset({"train.npy"}, {.batch_size = 4});
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 4});
  Net model;
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  p.train(train, [&](dl::Batch b) {
    auto loss = model(b.data).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  });
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    auto out = model(b.data);
    auto rows = static_cast<double>(b.data.size(0));
    auto ones = b.target.eq(1).to(dl::kFloat);
    return {{"loss", F::cross_entropy(out, b.target)}, // item 9 is ignored
            {"accuracy", out.argmax(1).eq(b.target).mean()},
            {"rms", out.square().mean().sqrt()},
            {"total", out.abs().sum()},
            {"row", out.sum() / rows},
            {"largest", out.amax({0, 1})},
            {"of_ones", (ones * out.sum(1)).sum() / (ones.sum() + 1)},
            {"count", dl::ones_like(out).sum()}};
  });
  p.predict("class", data, [&](dl::Batch b) { return model(b.data).argmax(1); });
}
"""

MIXED = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 4});
  nn::Linear model{6, 3};
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    auto x = model(b.data);
    return {{"loss", %s}};
  });
}
"""


class Items(support.ToolTest):
    weights = ()

    def data(self, items):
        rng = np.random.default_rng(5)
        x = rng.standard_normal((20, 6)).astype(np.float32)
        y = np.arange(20, dtype=np.int64) % 3
        y[9] = -100
        np.save(self.path("x.npy"), x[:items])
        np.save(self.path("y.npy"), y[:items])

    def evaluated(self, plan):
        (event,) = [e for e in self.events("eval", plan, *self.weights) if e["event"] == "eval"]
        return {name: value for name, value in event.items() if name not in ("event", "name", "step", "epoch")}

    def check(self, *options):
        """As plans that were compiled for these data, with a program for the last batch."""
        self.data(8)
        np.save(self.path("train.npy"), np.load(self.path("x.npy")))
        self.write("m.dl", MODEL)
        self.dlcc("m.dl", *options, "-o", "any.plan")
        self.dlrun("any.plan", "-q", "--epochs", 3, "--every", "eval=0", "--save-final", "w.safetensors")
        self.weights = ("--init", "w.safetensors")
        for items in (8, 11, 3, 13):
            self.data(items)
            self.dlcc("m.dl", "-o", "own.plan")
            found, wanted = self.evaluated("any.plan"), self.evaluated("own.plan")
            self.assertEqual(len(found), 8)
            for name, value in wanted.items():
                self.assertAlmostEqual(found[name], value, delta=2e-6 * max(1, abs(value)), msg=f"{name}, {items} items")
            for plan in ("any", "own"):
                self.dlrun("predict", plan + ".plan", "-q", *self.weights, "--out", plan + ".npy")
            classes = np.load(self.path("any.npy"))
            self.assertEqual(classes.shape, (items,))
            np.testing.assert_array_equal(classes, np.load(self.path("own.npy")))

    def test_any_number_is_as_a_plan_of_its_own(self):
        self.check()

    def test_on_a_mesh(self):
        self.check("--mesh", "dp=2")

    def test_where_items_meet_they_are_refused(self):
        for loss, word in (("(x - x.mean(dl::Dims{0}, true)).square().mean()", "`sub`"),
                           ("F::cross_entropy(dl::matmul(x, x.t()), dl::arange(b.data.size(0)))", "`matmul`"),
                           ("(x * dl::arange(b.data.size(0)).unsqueeze(1)).sum()", "places")):
            self.data(8)
            self.write("m.dl", MIXED % loss)
            self.dlcc("m.dl")
            self.assertEqual(len(self.evaluated("m.plan")), 1)
            self.data(11)
            self.refuse(TRAINING, ["11 items end in a batch of 3", "cannot run one by one", word, "m.dl:10:"],
                        dltools.DLRUN, "eval", "m.plan")

    def test_a_model_of_one_size_of_batch(self):
        self.data(8)
        self.write("m.dl", MIXED % "x.view({4, 3}).sum()")
        self.dlcc("m.dl")
        self.data(9)
        self.refuse(TRAINING, ["takes no batch of another size than 4"], dltools.DLRUN, "eval", "m.plan")

    def test_a_wrong_label_is_named(self):
        self.data(8)
        np.save(self.path("train.npy"), np.load(self.path("x.npy")))
        self.write("m.dl", MODEL)
        self.dlcc("m.dl")
        self.data(11)
        y = np.load(self.path("y.npy"))
        y[10] = 3
        np.save(self.path("y.npy"), y)
        self.refuse(TRAINING, ["'test', item 10", "m.dl:"], dltools.DLRUN, "eval", "m.plan")
