"""Which items a batch holds: order, shuffling, the last short batch, evaluations."""

import os

import numpy as np

from . import support

# Returns the items of the last batch; nothing is learnt.
ORDER = support.HEAD + """
void dl_main(dl::Program &p) {
  auto options = dl::data::TensorDatasetOptions{.batch_size = p.arg("batch_size", 10), .shuffle = true,
                                                .drop_last = p.arg("drop_last", false)};
  auto data = dl::data::TensorDataset({"x.npy"}, options);
  auto test = dl::data::TensorDataset({"x.npy"}, {.batch_size = 4});
  nn::Linear one{1, 1};
  dl::optim::SGD optimizer(one.parameters(), {.lr = 0.0});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = one(b.data.unsqueeze(1)).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}, {"items", b.data}};
  });
  p.eval("test", test, [&](dl::Batch b) -> dl::Metrics {
    return {{"mean", b.data.mean()}, {"largest", b.data.max()}};
  });
}
"""


class Order(support.ToolTest):
    def setUp(self):
        super().setUp()
        np.save(self.path("x.npy"), np.arange(10, dtype=np.float32))
        self.write("order.dl", ORDER)

    def items(self, *arguments, plan="order.plan"):
        self.dlrun(plan, "-q", "--save-metrics", "m.safetensors", *arguments)
        return self.load("m.safetensors")["items"].tolist()

    def test_shuffle_is_a_permutation_fixed_by_seed_and_epoch(self):
        self.dlcc("order.dl")
        seen = {}
        for seed in (0, 1):
            for steps in (1, 2):  # one step is one epoch
                seen[seed, steps] = self.items("--steps", steps, "--seed", seed)
                self.assertEqual(sorted(seen[seed, steps]), list(range(10)))
        self.assertEqual(len({tuple(order) for order in seen.values()}), 4)
        self.assertEqual(self.items("--steps", 2, "--seed", 1), seen[1, 2])

    def test_no_shuffle_is_file_order(self):
        self.dlcc("order.dl", "-D", "batch_size=4")
        self.assertEqual(self.items("--steps", 2, "--no-shuffle"), [4, 5, 6, 7])
        self.assertEqual(self.items("--steps", 4, "--no-shuffle"), [0, 1, 2, 3])

    def test_the_last_batch_is_short(self):
        self.dlcc("order.dl", "-D", "batch_size=4")
        self.assertEqual(self.items("--steps", 3, "--no-shuffle"), [8, 9])
        self.assertEqual(self.events("order.plan", "--epochs", 2)[-1]["steps"], 6)

    def test_the_last_batch_is_dropped(self):
        self.dlcc("order.dl", "-D", "batch_size=4", "-D", "drop_last=true")
        self.assertEqual(self.items("--steps", 3, "--no-shuffle"), [0, 1, 2, 3])
        self.assertEqual(self.events("order.plan", "--epochs", 2)[-1]["steps"], 4)

    def test_a_batch_larger_than_the_data(self):
        self.dlcc("order.dl", "-D", "batch_size=64")
        self.assertEqual(self.items("--steps", 2, "--no-shuffle"), list(range(10)))

    def test_an_evaluation_is_a_mean_over_items(self):
        """Batches of 4, 4 and 2: the mean of x counts each item once, the mean of maxima each batch by its size."""
        self.dlcc("order.dl")
        (event,) = [e for e in self.events("eval", "order.plan") if e["event"] == "eval"]
        self.assertAlmostEqual(event["mean"], 4.5, places=6)
        self.assertAlmostEqual(event["largest"], (4 * 3 + 4 * 7 + 2 * 9) / 10, places=6)

    def test_data_from_another_folder(self):
        self.dlcc("order.dl")
        os.mkdir(self.path("elsewhere"))
        np.save(self.path("elsewhere/x.npy"), np.arange(10, dtype=np.float32) + 100)
        for given in ("elsewhere", "train=elsewhere", "elsewhere/x.npy"):
            self.assertEqual(min(self.items("--steps", 1, "--data", given)), 100)
        self.assertEqual(min(self.items("--steps", 1, "--data", "test=elsewhere")), 0)


class Running(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.regression_data()
        self.write("lin.dl", support.LINEAR)

    def test_halt_on_nan(self):
        self.write("lin.dl", support.LINEAR.replace("lr = 0.1", "lr = 1e30"))
        self.dlcc("lin.dl")
        said = self.refuse(1, ["--halt-on", "loss"], support.dltools.DLRUN, "lin.plan", "--epochs", "50", "--halt-on",
                           "nan,inf", "--save-final", "out.safetensors")
        self.assertIn("step", said)
        last = self.events("lin.plan", "--epochs", 50, "--every", "log=1")[-2]
        self.assertIn(last["loss"], ("nan", "inf", "-inf"))

    def test_evaluation_every_n_steps(self):
        self.write("lin.dl", support.LINEAR.rstrip().rstrip("}") + """
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics { return {{"loss", F::mse_loss(model(b.data), b.target)}}; });
}
""")
        self.dlcc("lin.dl")
        steps = lambda *a: [e["step"] for e in self.events("lin.plan", "--epochs", 2, *a) if e["event"] == "eval"]
        self.assertEqual(steps(), [4, 8])
        self.assertEqual(steps("--every", "eval=3"), [3, 6])
        self.assertEqual(steps("--every", "eval=0"), [])

    def test_floats_read_back_equal(self):
        """Metrics in JSON are the shortest that read back equal in their own dtype."""
        self.dlcc("lin.dl")
        events = self.events("lin.plan", "--steps", 1, "--every", "log=1", "--save-metrics", "m.safetensors")
        self.assertEqual(np.float32(events[1]["loss"]), self.load("m.safetensors")["loss"])
        self.dlcc("lin.dl", "--dtype=f64")
        events = self.events("lin.plan", "--steps", 1, "--every", "log=1", "--save-metrics", "m.safetensors")
        self.assertEqual(events[1]["loss"], float(self.load("m.safetensors")["loss"]))
