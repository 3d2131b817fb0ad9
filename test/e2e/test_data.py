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


# Predictions of the items themselves: what a part has, in its order.
PARTS = support.HEAD + """
void dl_main(dl::Program &p) {
  auto all = dl::data::TensorDataset({"x.npy"}, {.batch_size = 4, .shuffle = true});
  auto [train, val] = dl::data::random_split(all, {0.75, 0.25}, {.seed = p.arg("split", 42)});
  auto items = [&](dl::Batch b) { return b.data; };
  p.predict("kept", train, items);
  p.predict("val", dl::data::DataLoader(val, {.batch_size = 3}), items);
  p.predict("first", dl::data::Subset(all, dl::Slice(0, 5)), items);
  p.predict("last", dl::data::Subset(all, dl::Slice(-3)), items);
  p.predict("part", dl::data::Subset(dl::data::Subset(train, dl::Slice(1)), dl::Slice(2, 6)), items);
  p.predict("again", dl::data::random_split(train, {10, 7})[1], items);
}
"""


class Parts(support.ToolTest):
    def setUp(self):
        super().setUp()
        np.save(self.path("x.npy"), np.arange(22, dtype=np.float32))
        self.write("parts.dl", PARTS)

    def parts(self, *arguments):
        self.dlcc("parts.dl", *arguments)
        self.dlrun("predict", "parts.plan", "--out", "p.safetensors")
        return {name.split(".")[0]: values.tolist() for name, values in self.load("p.safetensors").items()}

    def test_a_split_has_each_item_once(self):
        parts = self.parts()
        self.assertEqual((len(parts["kept"]), len(parts["val"])), (17, 5))  # PyTorch's: 16.5 and 5.5, and one left over
        self.assertEqual(sorted(parts["kept"] + parts["val"]), list(range(22)))
        self.assertNotEqual(parts["kept"], sorted(parts["kept"]))
        others = self.parts("-D", "split=43")
        self.assertNotEqual(sorted(others["val"]), sorted(parts["val"]))

    def test_parts_of_parts(self):
        parts = self.parts()
        self.assertEqual(parts["first"], [0, 1, 2, 3, 4])
        self.assertEqual(parts["last"], [19, 20, 21])
        self.assertEqual(parts["part"], parts["kept"][3:7])
        self.assertEqual(len(parts["again"]), 7)
        self.assertLess(set(parts["again"]), set(parts["kept"]))

    def test_an_epoch_has_the_items_of_its_part_in_its_own_order(self):
        self.write("order.dl", ORDER.replace("p.train(data", "p.train(dl::data::random_split(data, {15, 7}, {.seed = 5})[1]"))
        self.dlcc("order.dl")
        epochs = []
        for steps in (1, 2):
            self.dlrun("order.plan", "-q", "--steps", steps, "--save-metrics", "m.safetensors")
            epochs.append(tuple(self.load("m.safetensors")["items"].tolist()))
        seen = set(epochs)
        self.assertEqual(len(seen), 2)
        self.assertEqual(len({tuple(sorted(items)) for items in seen}), 1)
        for options in (["--mesh=dp=2"], ["--mesh=dp=3"]):
            said = support.dltools.call([support.dltools.DLCC, "order.dl", "-o", "mesh.plan", *options], self.folder).stderr
            self.assertNotIn("divides nothing", said)
            self.dlrun("mesh.plan", "-q", "--steps", 2, "--save-metrics", "m.safetensors")
            self.assertEqual(tuple(self.load("m.safetensors")["items"].tolist()), epochs[1])
        self.assertEqual([len(set(items)) for items in seen], [7, 7])

    def test_files_of_another_length(self):
        """A slice takes longer ones, a split those that it has divided alone."""
        self.dlcc("parts.dl")
        os.mkdir(self.path("other"))
        np.save(self.path("other/x.npy"), np.arange(30, dtype=np.float32) + 100)
        said = self.refuse(1, ["30 items", "divides 22"], support.dltools.DLRUN, "predict", "parts.plan", "--data", "other")
        self.assertIn("'kept'", said)
        self.write("first.dl", PARTS.split("  p.predict(\"kept\"")[0] + PARTS[PARTS.index('  p.predict("first"'):PARTS.index('  p.predict("part"')] + "}\n")
        self.dlcc("first.dl")
        self.dlrun("predict", "first.plan", "--data", "other", "--out", "p.safetensors")
        self.assertEqual(self.load("p.safetensors")["first.first"].tolist(), [100, 101, 102, 103, 104])
        self.assertEqual(self.load("p.safetensors")["last.last"].tolist(), [119, 120, 121])

    def test_info_and_start_say_which_items(self):
        self.dlcc("parts.dl")
        said = self.dlrun("info", "parts.plan")
        self.assertIn("17 of 22 items, drawn with seed 42", said)
        self.assertIn("3 of 22 items, from item 19", said)


# Draws of 10 items; items 0, 4 and 9 have no weight.
DRAWS = ORDER.replace("p.train(data", '''p.train(dl::data::DataLoader(data, {.batch_size = options.batch_size, .sampler =
      dl::data::WeightedRandomSampler("w.npy", p.arg("draws", 4000))})''')
WEIGHTS = np.array([0, 1, 2, 3, 0, 1, 1, 1, 1, 0])


class Draws(support.ToolTest):
    def setUp(self):
        super().setUp()
        np.save(self.path("x.npy"), np.arange(10, dtype=np.float32))
        np.save(self.path("w.npy"), WEIGHTS.astype(np.float64))
        self.write("draws.dl", DRAWS)

    def draws(self, *arguments, plan="draws.plan"):
        self.dlrun(plan, "-q", "--save-metrics", "m.safetensors", *arguments)
        return self.load("m.safetensors")["items"]

    def test_items_are_drawn_as_often_as_their_weights_say(self):
        self.dlcc("draws.dl", "-D", "batch_size=4000")
        seen = {}
        for seed in (0, 1):
            for steps in (1, 2):  # one step is one epoch
                seen[seed, steps] = items = self.draws("--steps", steps, "--seed", seed)
                wanted = WEIGHTS / WEIGHTS.sum()
                counts = np.bincount(items.astype(int), minlength=10)
                # Binomial: 5 standard deviations, which one of 28 counts in 60,000 of such tests exceeds.
                bound = 5 * np.sqrt(4000 * wanted * (1 - wanted))
                self.assertTrue((np.abs(counts - 4000 * wanted) <= bound).all(), counts)
        self.assertEqual(len({items.tobytes() for items in seen.values()}), 4)
        self.assertTrue((self.draws("--steps", 2, "--seed", 1) == seen[1, 2]).all())
        for dtype in (np.float16, np.float32):
            np.save(self.path("w.npy"), WEIGHTS.astype(dtype))
            self.assertTrue((self.draws("--steps", 2, "--seed", 1) == seen[1, 2]).all())

    def test_an_epoch_is_so_many_draws(self):
        self.dlcc("draws.dl", "-D", "draws=23")
        self.assertEqual(self.events("draws.plan", "--epochs", 2)[-1]["steps"], 6)
        self.assertEqual(len(self.draws("--steps", 3)), 3)
        self.assertIn("23 draws by w.npy of 10 items", self.dlrun("info", "draws.plan"))

    def test_ranks_and_resumed_runs_draw_the_same(self):
        self.dlcc("draws.dl", "-D", "draws=35")
        items = self.draws("--steps", 6)
        for mesh in ("dp=2", "dp=3"):
            self.dlcc("draws.dl", "-D", "draws=35", f"--mesh={mesh}", "-o", "mesh.plan")
            self.assertEqual(self.draws("--steps", 6, plan="mesh.plan").tolist(), items.tolist())
        self.dlrun("draws.plan", "-q", "--steps", 4, "--out", "run")
        self.dlrun("resume", "run", "-q", "--steps", 6, "--save-metrics", "m.safetensors")
        self.assertEqual(self.load("m.safetensors")["items"].tolist(), items.tolist())
        np.save(self.path("w.npy"), WEIGHTS[::-1].astype(np.float64))
        said = support.dltools.call([support.dltools.DLRUN, "resume", "run", "-q", "--steps", 7], self.folder)
        self.assertIn("other items", said.stdout + said.stderr)

    def test_weights_of_a_part(self):
        self.write("draws.dl", DRAWS.replace("DataLoader(data,", "DataLoader(dl::data::Subset(data, dl::Slice(6)),"))
        np.save(self.path("w.npy"), np.array([0, 1, 1, 0], np.float32))
        self.dlcc("draws.dl", "-D", "draws=10")
        self.assertEqual(set(self.draws("--steps", 2).tolist()), {7, 8})

    def test_weights_beside_other_data(self):
        self.dlcc("draws.dl", "-D", "draws=10")
        os.mkdir(self.path("other"))
        np.save(self.path("other/x.npy"), np.arange(3, dtype=np.float32) + 100)
        self.refuse(1, ["10 weights", "3 items"], support.dltools.DLRUN, "draws.plan", "--data", "other")
        np.save(self.path("other/w.npy"), np.array([0, 5, 0], np.float32))
        self.assertEqual(set(self.draws("--steps", 1, "--data", "other").tolist()), {101})

    def test_wrong_weights(self):
        self.dlcc("draws.dl")
        for weights, says in ((-WEIGHTS, "the weight of item 1 is -1"), (0 * WEIGHTS, "add up to 0"), (WEIGHTS * np.nan, "the weight of item 0 is"),
                              (WEIGHTS[:9], "9 weights"), (WEIGHTS.reshape(2, 5), "[2,5]")):
            np.save(self.path("w.npy"), np.asarray(weights, np.float64))
            self.refuse(1, [says, "w.npy"], support.dltools.DLRUN, "draws.plan")

    def test_weights_are_a_file_of_the_data(self):
        said = self.dlcc("draws.dl", "--emit=deps=draws.d")
        with open(self.path("draws.d"), encoding="utf-8") as file:
            self.assertIn("w.npy", file.read().split(), said)
        self.refuse(2, ["would replace", "w.npy, a file of the data"], support.dltools.DLCC, "draws.dl", "-o", "w.npy")
        os.symlink("w.npy", self.path("w.safetensors"))
        self.refuse(2, ["w.safetensors: this is a file of the data"], support.dltools.DLRUN, "draws.plan", "--save-final", "w.safetensors")

    def test_wrong_samplers(self):
        for change, says, code in ((("batch_size, .sampler", "batch_size, .shuffle = true, .sampler"), "exclude each other", 1),
                                   (('4000))', '4000), false)'), "without replacement", 1), (('"w.npy"', '"v.npy"'), "v.npy", 4),
                                   (('"draws", 4000', '"draws", 0'), "num_samples = 0", 1), (('"w.npy"', '"x2.npy"'), "of one dimension", 1),
                                   (('"w.npy"', '"nine.npy"'), "holds 9 weights, the data set has 10 items", 1)):
            np.save(self.path("x2.npy"), np.ones((10, 1), np.float32))
            np.save(self.path("nine.npy"), np.ones(9, np.float32))
            self.assertIn(change[0], DRAWS)
            self.write("wrong.dl", DRAWS.replace(*change))
            self.refuse(code, ["wrong.dl:", says], support.dltools.DLCC, "--check", "wrong.dl")


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
