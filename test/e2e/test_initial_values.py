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

class InitialValues(support.ToolTest):
    def start(self, name, *options):
        np.save(self.path("x.npy"), np.arange(24, dtype=np.float32).reshape(4, 6) / 24)
        self.write("m.dl", MODEL)
        self.dlcc("m.dl", "-o", f"{name}.plan", *options)
        self.dlrun(f"{name}.plan", "-q", "--steps", 0, "--save-final", f"{name}.safetensors", "--out", name)
        return self.load(f"{name}.safetensors")

    def test_values(self):
        for dtype, exact in (("f32", 1e-7), ("f64", 1e-15)):
            with self.subTest(dtype=dtype):
                found = self.start(dtype, f"--dtype={dtype}")
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
        alone = self.start("one", "--dtype=f64")
        for options in (["--mesh", "dp=2", "--zero=3"], ["--mesh", "dp=3", "--zero=3"], ["--mesh", "dp=2"]):
            with self.subTest(options=options):
                together = self.start("mesh" + options[1][-1] + str(len(options)), "--dtype=f64", *options)
                self.assertEqual(alone.keys(), together.keys())
                for name, values in alone.items():
                    self.assertEqual(values.tobytes(), together[name].tobytes(), name)
