"""Large values between products, logits above all, are computed in chunks of their rows."""

import json
import re

import numpy as np

from . import support

MODEL = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Net : nn::Module {
  nn::Embedding wte{250, 16};
  nn::Linear fc{16, 48}, proj{48, 16}, head{16, 250, {.bias = false}};
  nn::LayerNorm ln{16};
  Net(bool tied) {
    if (tied)
      head.weight = wte.weight;
  }
  dl::Tensor forward(dl::Tensor x) {
    auto y = wte(x);
    return head(ln(y + proj(F::gelu(fc(y)))));
  }
};

void dl_main(dl::Program &p) {
  auto tied = p.arg("tied", 0, "1: one table");
  auto loss = p.arg("loss", 0, "which");
  auto data = dl::data::TokenDataset("text.txt", {.length = 24, .batch_size = 8, .shuffle = true});
  Net net(tied);
  dl::optim::AdamW optimizer(net.parameters(), {.lr = 0.01});
  auto loss_of = [&](dl::Batch b) -> dl::Tensor {
    auto target = b.target.flatten();
    if (loss == 1) // rows that do not count, and some weight for all classes
      return F::cross_entropy(net(b.data).flatten(0, 1), dl::where(target.lt(30), -1, target), {.ignore_index = -1, .label_smoothing = 0.1});
    auto logits = net(b.data);
    auto all = F::cross_entropy(logits.flatten(0, 1), target);
    if (loss == 2) // a term beside it, and a mask of a dropout
      all = all + 1e-2 * F::dropout(logits, 0.5).logsumexp(-1).square().mean();
    if (loss == 3) // a total over all rows, and what goes on with it
      all = all + logits.mean().square();
    return all;
  };
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = loss_of(b);
    optimizer.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(net.parameters(), 1.0);
    optimizer.step();
    return {{"loss", loss}};
  });
  p.eval("again", data, [&](dl::Batch b) -> dl::Metrics {
    auto hits = net(b.data).argmax(-1).eq(b.target).to(dl::kFloat).mean();
    return {{"loss", loss_of(b)}, {"hits", hits}};
  });
}
"""


class Chunks(support.ToolTest):
    def setUp(self):
        super().setUp()
        with open(self.path("text.txt"), "wb") as file:
            file.write(np.random.default_rng(0).integers(0, 250, 24 * 45 + 1).astype(np.uint8).tobytes())
        self.write("model.dl", MODEL)
        self.write("whole.machine", "chunk_least_bytes = 0\n")
        self.write("chunks.machine", "chunk_least_bytes = 100000\nchunk_bytes = 20000\nchunk_rows = 6\n")

    def weights(self, machine, *options, run=(), steps=11, dtype="f64"):
        report = self.dlcc("model.dl", f"--machine={machine}.machine", f"--dtype={dtype}", "-o", "net.plan", "--report", *options)
        self.chunks = [int(count) for count in re.findall(r"are computed in (\d+) chunks", report)]
        self.dlrun("net.plan", "--steps", steps, "--save-final", "w.safetensors", *run)
        return self.load("w.safetensors")

    def assert_close(self, found, wanted):
        self.assertEqual(set(found), set(wanted))
        for name, value in wanted.items():
            # f64: sums over rows are made of partial sums. Adam divides by what may be small.
            np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-11, err_msg=name)

    def test_the_same_weights(self):
        for options in ([], ["-D", "tied=1"], ["-D", "loss=1"], ["-D", "loss=2"], ["--accumulate=2"], ["--microbatches=2"]):
            with self.subTest(options=options):
                wanted = self.weights("whole", *options)
                self.assertEqual(self.chunks, [])
                self.assert_close(self.weights("chunks", *options), wanted)
                self.assertTrue(self.chunks)

    def test_what_needs_a_total_is_whole(self):
        wanted = self.weights("whole", "-D", "loss=3")
        self.assert_close(self.weights("chunks", "-D", "loss=3"), wanted)
        report = self.dlcc("model.dl", "-D", "loss=3", "--machine=chunks.machine", "--dtype=f64", "-o", "net.plan", "--report")
        self.assertIn("are computed as a whole: a total over all rows is needed to go on", report)

    def test_on_ranks(self):
        wanted = self.weights("whole")
        self.write("chunks.machine", "chunk_least_bytes = 1000\nchunk_bytes = 1000\nchunk_rows = 6\n")
        for mesh in (["--mesh=dp=2"], ["--mesh=dp=2,pp=2", "--microbatches=2"], ["--mesh=dp=3", "--zero=3"]):
            with self.subTest(mesh=mesh):
                self.assert_close(self.weights("chunks", *mesh), wanted)
                self.assertTrue(self.chunks)

    def test_the_same_bits(self):
        """For any number of threads and any stage of ZeRO."""
        wanted = self.weights("chunks", run=["--threads", 1])
        for name, value in self.weights("chunks", run=["--threads", 2]).items():
            np.testing.assert_array_equal(value, wanted[name], err_msg=name)
        self.write("chunks.machine", "chunk_least_bytes = 1000\nchunk_bytes = 1000\nchunk_rows = 6\n")
        wanted = self.weights("chunks", "--mesh=dp=2")
        for stage in 1, 2, 3:
            for name, value in self.weights("chunks", "--mesh=dp=2", f"--zero={stage}").items():
                np.testing.assert_array_equal(value, wanted[name], err_msg=f"{name}, stage {stage}")
            self.assertTrue(self.chunks)

    def test_evaluation(self):
        self.weights("whole")
        found = []
        for machine in "whole", "chunks":
            self.dlcc("model.dl", f"--machine={machine}.machine", "--dtype=f64", "-o", "net.plan")
            (event,) = [e for e in self.events("eval", "net.plan", "--init", "w.safetensors") if e["event"] == "eval"]
            found.append(event)
        whole, chunks = found
        self.assertEqual(chunks["hits"], whole["hits"])
        self.assertAlmostEqual(chunks["loss"], whole["loss"], delta=1e-12 * whole["loss"])

    def test_memory(self):
        """Logits of 128 MiB: of them, their softmax and their gradient a part is there at a time."""
        self.write("model.dl", MODEL.replace("250", "16384").replace(".length = 24, .batch_size = 8", ".length = 128, .batch_size = 16"))
        with open(self.path("text.txt"), "wb") as file:
            file.write(bytes(range(200)) * 32)
        whole, chunks = self.temporaries("--machine=whole.machine"), self.temporaries()
        self.assertLess(chunks, 0.45 * whole)

    def temporaries(self, *options):
        return json.loads(self.dlcc("model.dl", *options, "-o", "net.plan", "--report=json"))["memory"]["temporaries"]

    def test_memory_of_few_long_items(self):
        """Two items of 1100 tokens: each is cut into pieces of its own."""
        self.write("model.dl", MODEL.replace("250", "16384").replace(".length = 24, .batch_size = 8", ".length = 1100, .batch_size = 2"))
        with open(self.path("text.txt"), "wb") as file:
            file.write(bytes(range(200)) * 32)
        self.assertLess(self.temporaries(), 0.45 * self.temporaries("--machine=whole.machine"))

    def test_predictions_share_memory(self):
        """Logits of a prediction are read before anything else runs: training has their bytes."""
        needed = []
        for more in "", 'p.predict("next", data, [&](dl::Batch b) -> dl::Metrics { auto l = net(b.data); return {{"logits", l}, {"p", l.softmax(-1)}}; });':
            self.write("model.dl", MODEL[:MODEL.rindex("}")] + more + "}\n")
            self.dlcc("model.dl", "--dtype=f64", "-o", "net.plan")
            needed.append(self.info("net.plan")["plans"][0]["arena_bytes"] if "plans" in self.info("net.plan") else self.info("net.plan")["arena_bytes"])
        self.assertLess(needed[1], needed[0] + 2 * 8 * 24 * 250 * 8)
        self.dlrun("net.plan", "--steps", 3, "-q", "--save-final", "w.safetensors")
        self.dlrun("predict", "net.plan", "--init", "w.safetensors", "--out", "out.safetensors")
        out = self.load("out.safetensors")
        shifted = np.exp(out["logits"] - out["logits"].max(-1, keepdims=True))
        np.testing.assert_allclose(out["p"], shifted / shifted.sum(-1, keepdims=True), rtol=1e-12)
        self.assertEqual(out["logits"].shape, (45, 24, 250))
