"""What parameters and buffers begin with where it is computed, or set in parts."""

import numpy as np

from . import support

MODEL = support.HEAD + """
using dl::None, dl::Slice;

struct Net : nn::Module {
  nn::Linear fc{6, 8};
  nn::Linear plain{6, 8};
  nn::Embedding embedding{5, 6};
  dl::Parameter decay = dl::log(dl::arange(1, 9) * 0.5);
  dl::Parameter table = dl::tensor({{1.5, -2.0, 3.0}, {4.0, 5.0, 6.0}});
  dl::Parameter spectrum = dl::linspace(0, 1, 7);
  dl::Parameter encoding;
  dl::Buffer queue = dl::zeros({4, 3}, dl::kInt64);
  dl::Buffer mask = dl::zeros({5}, dl::kBool);
  nn::Linear copy{6, 8};
  dl::Parameter separate, filled = dl::zeros({2});

  Net() {
    auto at = dl::arange(4).unsqueeze(1), rate = dl::exp(dl::arange(0, 6, 2) * -0.5);
    auto made = dl::zeros({4, 6});
    made[Slice(), Slice(0, None, 2)] = dl::sin(at * rate);
    made[Slice(), Slice(1, None, 2)] = dl::cos(at * rate);
    encoding = dl::Parameter(made);
    encoding.requires_grad_(false);
    fc.weight.data()[1].zero_();
    fc.weight.data()[Slice(), Slice(2, None, 2)] = dl::arange(8).view({8, 1});
    fc.weight.data().t()[0][7] = -3;
    fc.bias.data().narrow(0, 2, 4).fill_(1);
    fc.bias.data()[3] = 0.25;
    embedding.weight.data() *= 0.5;
    embedding.weight.data()[-1].copy_(dl::tensor({1, 2, 3, 4, 5, 6}));
    queue.copy_(dl::arange(12).view({4, 3}) * 1000000007);
    mask.copy_(dl::arange(5) > 2);
    copy.weight.data().copy_(fc.weight); // the values so far
    separate = dl::Parameter(fc.bias.clone());
    separate.data()[0] = 9;
    filled.fill_(dl::tensor(2.5));
    fc.weight.data() /= 2;
    fc.weight.data() += 1;
  }
  dl::Tensor forward(dl::Tensor x) {
    return fc(x) * decay + plain(x) + copy(x) + table.sum() + spectrum.sum() + embedding(dl::tensor({0})).sum() + encoding.sum() + separate + filled.sum();
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 4});
  Net net;
  dl::optim::Adam optimizer(net.parameters());
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b.data).pow(2).mean();
    net.queue[0] = net.queue[1];
    net.mask[0] = true;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""

class Beginning(support.ToolTest):
    """What states of a model begin with."""

    def start(self, model, name, *options, seed=1):
        np.save(self.path("x.npy"), np.arange(24, dtype=np.float32).reshape(4, 6) / 24)
        self.write("m.dl", model)
        self.dlcc("m.dl", "-o", f"{name}.plan", *options)
        self.dlrun(f"{name}.plan", "-q", "--steps", 0, "--seed", seed, "--save-final", f"{name}.safetensors", "--out", name)
        return self.load(f"{name}.safetensors")


class InitialValues(Beginning):
    def test_values(self):
        for dtype, exact in (("f32", 1e-7), ("f64", 1e-15)):
            with self.subTest(dtype=dtype):
                found = self.start(MODEL, dtype, f"--dtype={dtype}")
                np.testing.assert_allclose(found["decay"], np.log(np.arange(1, 9) * 0.5), rtol=exact, atol=exact)
                np.testing.assert_array_equal(found["table"], [[1.5, -2, 3], [4, 5, 6]])
                np.testing.assert_allclose(found["spectrum"], np.linspace(0, 1, 7), rtol=exact)
                at, rate = np.arange(4)[:, None], np.exp(np.arange(0, 6, 2) * -0.5)
                np.testing.assert_allclose(found["encoding"][:, 0::2], np.sin(at * rate), rtol=exact, atol=exact)
                np.testing.assert_allclose(found["encoding"][:, 1::2], np.cos(at * rate), rtol=exact)
                np.testing.assert_array_equal(found["queue"], np.arange(12).reshape(4, 3) * 1000000007)
                np.testing.assert_array_equal(found["mask"], np.arange(5) > 2)
                # fc and copy drew the same numbers, of which parts were set.
                copy, fc = found["copy.weight"], found["fc.weight"]
                np.testing.assert_array_equal(copy[:, 2::2], np.repeat(np.arange(8), 2).reshape(8, 2))
                np.testing.assert_array_equal(copy[1, [0, 1, 3, 5]], 0)
                self.assertEqual(copy[7, 0], -3)
                drawn = np.delete(copy[:, [0, 1, 3, 5]].ravel(), [4, 5, 6, 7, 28])
                self.assertEqual(np.unique(drawn).size, 27)
                self.assertLess(np.abs(drawn).max(), 1 / np.sqrt(6))
                np.testing.assert_allclose(fc, copy / 2 + 1, rtol=1e-6)
                np.testing.assert_array_equal(found["fc.bias"][2:6], [1, 0.25, 1, 1])
                self.assertEqual(np.unique(found["fc.bias"][[0, 1, 6, 7]]).size, 4)
                self.assertEqual(found["separate"][0], 9)
                np.testing.assert_array_equal(found["separate"][1:], found["fc.bias"][1:])
                np.testing.assert_array_equal(found["filled"], 2.5)
                np.testing.assert_array_equal(found["embedding.weight"][-1], [1, 2, 3, 4, 5, 6])
                self.assertLess(0.4, found["embedding.weight"][:-1].std() * 1.2)
                self.assertLess(found["embedding.weight"][:-1].std(), 0.8)

    def test_parts_of_ranks(self):
        """Ranks that have parts of a state begin with the same bits."""
        alone = self.start(MODEL, "one", "--dtype=f64")
        for options in (["--mesh", "dp=2", "--zero=3"], ["--mesh", "dp=3", "--zero=3"], ["--mesh", "dp=2"]):
            with self.subTest(options=options):
                together = self.start(MODEL, "mesh" + options[1][-1] + str(len(options)), "--dtype=f64", *options)
                self.assertEqual(alone.keys(), together.keys())
                for name, values in alone.items():
                    self.assertEqual(values.tobytes(), together[name].tobytes(), name)


PARTS = support.HEAD + """
using dl::None, dl::Slice;

struct Net : nn::Module {
  nn::Linear gates{6, 24}, qkv{6, 24}, before{6, 24}, twice{6, 24}, plain{6, 24};
  nn::Conv2d conv{4, 4, 3};
  nn::Embedding table{8, 6};
  dl::Parameter rows = dl::randn({4, 6}), negated, reflected = dl::zeros({24, 6}), bounded = dl::zeros({50}), unbounded = dl::zeros({50});

  Net() {
    for (auto gate : gates.weight.data().chunk(4)) nn::init::orthogonal_(gate);
    nn::init::zeros_(gates.bias);
    nn::init::uniform_(gates.bias.data().narrow(0, 6, 6), 2, 3);
    gates.bias.data()[Slice(12, 18)].normal_(5, 0.01);
    nn::init::ones_(gates.bias.data()[Slice(18, 20)]);
    nn::init::xavier_uniform_(qkv.weight.data()[Slice(0, 8)], 4.0);
    nn::init::trunc_normal_(qkv.weight.data()[Slice(8, 16), Slice(None, None, 2)], {.std = 0.02, .a = -0.03, .b = 0.03});
    qkv.weight.data()[3].zero_();
    qkv.bias.data().view({3, 8}).t()[0].fill_(7);
    before.weight.data().copy_(qkv.weight);
    twice.weight.data().copy_(qkv.weight * 2);
    qkv.weight.data()[Slice(0, 16)] *= 0.5;
    qkv.weight.data()[Slice(20, 24)] += 1;
    nn::init::dirac_(conv.weight.data()[Slice(0, 2)]);
    nn::init::orthogonal_(conv.weight.data()[Slice(2, 4)].view({2, 36}));
    table.weight.data()[Slice(0, 2)].copy_(dl::randn({2, 6}) * 0.001 + 4);
    table.weight.data()[Slice(2, None, 2)] = dl::rand({3, 6});
    auto made = dl::empty({24, 6});
    nn::init::xavier_normal_(made);
    nn::init::uniform_(plain.weight, -1, 1).mul_(0.5).add_(3);
    negated = dl::Parameter(-qkv.bias);
    reflected.data().copy_(1 - before.weight);
    nn::init::trunc_normal_(bounded, {.mean = 1, .std = 2, .a = 0, .b = 4});
    unbounded.data().copy_(bounded * -3);
    nn::init::kaiming_normal_(rows.data().view({2, 12}));
    rows.data().normal_();
    nn::init::eye_(rows.data()[Slice(), Slice(1, 5)]);
  }
  dl::Tensor forward(dl::Tensor x) {
    return gates(x) + qkv(x) + before(x) + twice(x) + plain(x) + (conv.weight.sum() + table.weight.sum() + rows.sum()) +
           negated.sum() + reflected.sum() + bounded.sum() + unbounded.sum();
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 4});
  Net net;
  dl::optim::Adam optimizer(net.parameters());
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b.data).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class PartsAtRandom(Beginning):
    def test_values(self):
        found = self.start(PARTS, "one", "--dtype=f64")
        chunks = found["gates.weight"].reshape(4, 6, 6)
        for chunk in chunks:
            np.testing.assert_allclose(chunk @ chunk.T, np.eye(6), atol=1e-14)
        self.assertEqual(np.unique(chunks).size, 144)
        bias = found["gates.bias"]
        np.testing.assert_array_equal(bias[[0, 1, 2, 3, 4, 5, 18, 19, 20, 21, 22, 23]], [0] * 6 + [1, 1, 0, 0, 0, 0])
        self.assertTrue(np.all((bias[6:12] >= 2) & (bias[6:12] < 3)))
        self.assertTrue(np.all(np.abs(bias[12:18] - 5) < 0.06))
        self.assertEqual(np.unique(bias[6:18]).size, 12)
        qkv, before = found["qkv.weight"], found["before.weight"]
        bound = 4 * np.sqrt(6 / 14)
        self.assertLess(np.abs(before[:8]).max(), bound)
        self.assertGreater(np.abs(before[:8]).max(), 1 / np.sqrt(6))
        self.assertLess(np.abs(before[8:16, ::2]).max(), 0.03)
        self.assertGreater(np.abs(before[8:16, 1::2]).max(), 0.1)
        np.testing.assert_array_equal(before[3], 0)
        np.testing.assert_array_equal(found["twice.weight"], before * 2)
        np.testing.assert_allclose(qkv[:16], before[:16] * 0.5, rtol=1e-15)
        np.testing.assert_array_equal(qkv[16:20], before[16:20])
        np.testing.assert_allclose(qkv[20:], before[20:] + 1, rtol=1e-15)
        np.testing.assert_array_equal(found["qkv.bias"][::8], 7)
        self.assertEqual(np.unique(found["qkv.bias"]).size, 22)
        conv = found["conv.weight"]
        dirac = np.zeros((2, 4, 3, 3))
        dirac[[0, 1], [0, 1], 1, 1] = 1
        np.testing.assert_array_equal(conv[:2], dirac)
        rows = conv[2:].reshape(2, 36)
        np.testing.assert_allclose(rows @ rows.T, np.eye(2), atol=1e-14)
        table = found["table.weight"]
        self.assertLess(np.abs(table[:2] - 4).max(), 0.006)
        self.assertEqual(np.unique(table[:2]).size, 12)
        drawn = table[2::2]
        self.assertTrue(np.all((drawn >= 0) & (drawn < 1)))
        self.assertTrue(np.all(np.abs(found["plain.weight"] - 3) <= 0.5))
        np.testing.assert_array_equal(found["negated"], -found["qkv.bias"])
        np.testing.assert_allclose(found["reflected"], 1 - found["before.weight"], rtol=1e-15, atol=1e-15)
        np.testing.assert_allclose(found["unbounded"], found["bounded"] * -3, rtol=1e-14)
        self.assertTrue(np.all((found["bounded"] >= 0) & (found["bounded"] <= 4)))
        np.testing.assert_array_equal(found["rows"][:, 1:5], np.eye(4))
        self.assertEqual(np.unique(found["rows"][:, [0, 5]]).size, 8)

    def test_parts_of_ranks(self):
        alone = self.start(PARTS, "one", "--dtype=f64")
        for number, options in enumerate((["--mesh", "dp=2", "--zero=3"], ["--mesh", "dp=3", "--zero=3"], ["--mesh", "pp=2"])):
            with self.subTest(options=options):
                together = self.start(PARTS, f"mesh{number}", "--dtype=f64", *options)
                self.assertEqual(alone.keys(), together.keys())
                for name, values in alone.items():
                    self.assertEqual(values.tobytes(), together[name].tobytes(), name)

    def test_seeds(self):
        one, other = self.start(PARTS, "one", "--dtype=f64"), self.start(PARTS, "two", "--dtype=f64", seed=2)
        for name in ("gates.weight", "table.weight", "rows"):
            self.assertFalse(np.array_equal(one[name], other[name]), name)
        np.testing.assert_array_equal(one["qkv.weight"][3], other["qkv.weight"][3])
