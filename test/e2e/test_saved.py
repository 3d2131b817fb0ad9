"""What the backward makes again has the bits of what it would have kept."""

import json
import os
import sys

import numpy as np

import dltools
from . import support

TRANSFORMER = os.path.join(dltools.ROOT, "test", "bench", "models", "transformer.dl")

UPDATED = """
#include <dl/dl.h>
struct Net : dl::nn::Module {
  dl::Parameter w = dl::randn({300, 260}), u = dl::randn({260, 300}), v = dl::randn({64, 300}), e = dl::randn({300, 260});
  Net() { e.requires_grad_(false); }
  dl::Tensor forward() { return v.matmul(w * (e * 0.5)).sin().matmul(u).sin().mean(); }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 4});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    auto loss = net() + 0 * b.data.sum();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class Saved(support.ToolTest):
    def weights(self, plan, *options):
        self.dlrun(plan, "--steps", 8, "-q", "--save-final", "w.safetensors", *options)
        with open(self.path("w.safetensors"), "rb") as file:
            return file.read()

    def compare(self, source, options, data=()):
        """The report of the plan that makes values again; its weights are those of a plan that keeps all."""
        report = json.loads(self.dlcc(source, *options, "--report=json", "-o", "again.plan"))
        kept = json.loads(self.dlcc(source, *options, "--keep-all", "--report=json", "-o", "kept.plan"))
        self.assertFalse([p for step in kept["steps"] for p in step["programs"] if p["made_again"]["values"]])
        for threads in 1, 2:
            self.assertEqual(self.weights("again.plan", "--threads", threads, *data),
                             self.weights("kept.plan", "--threads", threads, *data), source)
        return report, kept

    def test_examples(self):
        """All of them, with small values made again too."""
        folder = os.path.join(dltools.ROOT, "examples")
        repeated = 0
        for name in sorted(n for n in os.listdir(folder) if os.path.isfile(support.example(n))):
            data = []
            with open(support.example(name), encoding="utf-8") as file:
                text = file.read()
            script = os.path.join(folder, name, "generate.py")
            if "data::MNIST" in text:
                data = ["--data", support.fake_mnist()]
            elif os.path.exists(script):
                dltools.run(sys.executable, script, self.folder)
            report, _ = self.compare(support.example(name), ["--keep-below=1", *support.smaller(name)], data)
            repeated += sum(p["made_again"]["values"] for step in report["steps"] for p in step["programs"])
        self.assertGreater(repeated, 0)

    def text_data(self, batch, length):
        text = np.random.default_rng(2).integers(0, 65, (batch, length + 1))
        np.save(self.path("x.npy"), np.eye(65, dtype=np.float32)[text[:, :-1]])
        np.save(self.path("y.npy"), text[:, 1:].astype(np.int64))

    def test_transformer(self):
        """A block keeps the operand of its GELU instead of four values made from it, and x - mean of a norm, not its result."""
        self.text_data(2, 64)
        options = ["-D", "batch_size=2", "-D", "length=64", "-D", "width=192", "-D", "heads=3", "-D", "depth=4"]
        report, kept = self.compare(TRANSFORMER, options)
        ((program,),), ((other,),) = ([step["programs"] for step in r["steps"]] for r in (report, kept))
        self.assertLess(program["temporary_bytes"], 0.6 * other["temporary_bytes"])
        self.assertEqual(program["commands"], other["commands"])
        alive = [item["name"] for item in program["peak"]["alive"] if item["name"].startswith("blocks.1")]
        self.assertEqual(sum("[2,64,768]" in name for name in alive), 1, alive)
        text = self.dlcc(TRANSFORMER, *options, "--report")
        self.assertRegex(text, r"\n  made again in the backward: \d+ values, \d+\.\d+ MB not kept, \d+ elements computed twice\n")
        self.assertRegex(text, r"blocks\.0 .*: mul: made again in the backward, for a product, beside mul, instead of 393216 bytes kept\n")
        self.assertRegex(text, r"blocks\.0\.fc1 .*: add: 393216 bytes kept for the backward, others are made from them\n")

    def test_an_update_waits_for_readers(self):
        """The product for w's gradient would store the new w in its epilogue. Beside it w * e is made again, from the old one."""
        np.save(self.path("x.npy"), np.ones((4, 3), np.float32))
        np.save(self.path("y.npy"), np.zeros((4, 1), np.int64))
        self.write("net.dl", UPDATED)
        report, _ = self.compare("net.dl", [])
        ((program,),) = [step["programs"] for step in report["steps"]]
        self.assertGreater(program["made_again"]["values"], 0)

    def test_on_ranks(self):
        """Each class of ranks chooses for itself."""
        self.text_data(4, 64)
        options = ["-D", "batch_size=4", "-D", "length=64", "-D", "width=192", "-D", "heads=3", "-D", "depth=2"]
        for mesh in ["--mesh=dp=2"], ["--mesh=pp=2", "--microbatches=2"]:
            self.compare(TRANSFORMER, [*options, *mesh])
