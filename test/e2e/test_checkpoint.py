"""Activation checkpointing: less memory, the same numbers."""

import json
import os

import numpy as np

import dltools
from . import support

TRANSFORMER = os.path.join(dltools.ROOT, "test", "bench", "models", "transformer.dl")
SIZES = ["-D", "batch_size=16", "-D", "length=64", "-D", "width=192", "-D", "heads=3", "-D", "depth=4"]

MLP = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Block : nn::Module {
  nn::Linear fc1{64, 256}, fc2{256, 64};
  nn::Dropout drop{0.3};
  nn::BatchNorm1d norm{256};
  dl::Tensor forward(dl::Tensor x) { return x + fc2(drop(F::gelu(norm(fc1(x))))); }
};

struct Net : nn::Module {
  nn::ModuleList blocks;
  Net() {
    for (int i = 0; i < 6; ++i)
      blocks.push_back(Block{});
  }
  dl::Tensor forward(dl::Tensor x, bool again) {
    for (auto &block : blocks)
      x = again ? dl::checkpoint(block, x) : block(x);
    return x;
  }
};

void dl_main(dl::Program &p) {
  Net net;
  auto again = p.arg("again", false, "whether blocks are checkpoints");
  auto nested = p.arg("nested", false, "whether two of them are one");
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 128});
  dl::optim::Adam optimizer(net.parameters(), {.lr = 1e-2});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto y = nested ? dl::checkpoint([&](dl::Tensor x) { return net(x, true) * 2.0; }, b[0]) : net(b[0], again) * 2.0;
    auto loss = F::mse_loss(y, b[0].sin());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


CELL = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Cell : nn::Module {
  nn::Linear in{64, 256}, out{256, 64};
  dl::Tensor forward(dl::Tensor x) { return out(F::gelu(in(x)).tanh()); }
};

struct Net : nn::Module {
  Cell cell;
  dl::Tensor forward(dl::Tensor x) {
    for (int i = 0; i < 8; ++i)
      x = cell(x);
    return x;
  }
};

void dl_main(dl::Program &p) {
  Net net;
  auto twice = p.arg("twice", false, "two updates in a step");
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 128});
  dl::optim::SGD optimizer(net.parameters(), {.lr = 1e-2});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    dl::Tensor loss;
    for (int i = 0; i < (twice ? 2 : 1); ++i) {
      loss = F::mse_loss(net(b[0]), b[0].sin() * (i + 1.0));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    return {{"loss", loss}};
  });
}
"""


class Checkpoint(support.ToolTest):
    def trained(self, source, *options, run=()):
        """Weights, and the bytes of the temporaries of a step."""
        report = json.loads(self.dlcc(source, *options, "--report=json", "-o", "net.plan"))
        self.dlrun("net.plan", "--steps", 6, "-q", "--save-final", "w.safetensors", *run)
        with open(self.path("w.safetensors"), "rb") as file:
            return file.read(), report["steps"][0]["programs"][0]["temporary_bytes"]

    def text_data(self):
        text = np.random.default_rng(2).integers(0, 65, (32, 65))
        np.save(self.path("x.npy"), np.eye(65, dtype=np.float32)[text[:, :-1]])
        np.save(self.path("y.npy"), text[:, 1:].astype(np.int64))

    def test_modules_of_a_transformer(self):
        """On one device, with threads, and on meshes, where each rank computes its own part again."""
        self.text_data()
        for mesh, most in (([], 0.7), (["--mesh=dp=2"], 0.65), (["--mesh=dp=2", "--zero=3"], 0.5), (["--accumulate=2"], 0.7),
                           (["--mesh=pp=2", "--microbatches=2", "--schedule=zb-h1"], 0.85)):
            with self.subTest(mesh=mesh):
                kept, all_bytes = self.trained(TRANSFORMER, *SIZES, *mesh)
                again, bytes = self.trained(TRANSFORMER, *SIZES, *mesh, "--recompute=blocks.*")
                self.assertEqual(kept, again)
                self.assertLess(bytes, most * all_bytes)
                if not mesh:
                    for threads in 1, 2:
                        self.assertEqual(self.trained(TRANSFORMER, *SIZES, "--recompute=blocks.*", run=["--threads", threads])[0], kept)

    def test_the_function(self):
        """With dropout, whose masks are the same again, and statistics of a batch, which are updated once."""
        np.save(self.path("x.npy"), np.random.default_rng(3).normal(size=(256, 64)).astype(np.float32))
        self.write("net.dl", MLP)
        kept, all_bytes = self.trained("net.dl")
        again, bytes = self.trained("net.dl", "-D", "again=true")
        self.assertEqual(kept, again)
        self.assertLess(bytes, 0.6 * all_bytes)
        named, named_bytes = self.trained("net.dl", "--recompute=blocks.*")
        self.assertEqual((again, bytes), (named, named_bytes))
        # The whole is one: nothing is kept, and then all of it is there at once.
        self.assertEqual(kept, self.trained("net.dl", "-D", "nested=true")[0])

    def test_each_call_is_one(self):
        """Of a cell that is called again and again, and of a network that is trained twice in a step, with an update between."""
        np.save(self.path("x.npy"), np.random.default_rng(3).normal(size=(256, 64)).astype(np.float32))
        self.write("net.dl", CELL)
        for twice in "false", "true":
            with self.subTest(twice=twice):
                kept, all_bytes = self.trained("net.dl", "-D", f"twice={twice}")
                again, bytes = self.trained("net.dl", "-D", f"twice={twice}", "--recompute=cell")
                self.assertEqual(kept, again)
                self.assertLess(bytes, 0.7 * all_bytes)

    def test_what_is_said(self):
        np.save(self.path("x.npy"), np.zeros((256, 64), np.float32))
        self.write("net.dl", MLP)
        said = self.dlcc("net.dl", "-D", "again=true", "--report", "-o", "net.plan")
        self.assertRegex(said, r"blocks\.5\.fc1 net\.dl:\d+:\d+: checkpoint: \d+ ops are computed again in the backward, instead of \d+ bytes kept")
        self.write("call.dl", MLP.replace("dl::checkpoint(block, x)", "dl::checkpoint(block)"))
        line = 1 + MLP[:MLP.index("dl::checkpoint(block, x)")].count("\n")
        result = dltools.call([dltools.DLCC, "call.dl", "--check"], cwd=self.folder)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, rf"call\.dl:{line}:\d+: error: no matching function for call to 'checkpoint'")
        for pattern, hint in (("block.*", "did you mean 'blocks.*'?"), ("blocks", "did you mean 'blocks.*'?"), ("decoder", "the first is 'blocks.0'")):
            result = dltools.call([dltools.DLCC, "net.dl", f"--recompute={pattern}", "-o", "wrong.plan"], cwd=self.folder)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"error: --recompute={pattern}: no training step calls such a module; {hint}", result.stderr)
            self.assertFalse(os.path.exists(self.path("wrong.plan")))
