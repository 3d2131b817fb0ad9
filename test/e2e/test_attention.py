"""Attention over long rows: scores stay in a cache, and the backward computes them again."""

import json
import re

import numpy as np

import dltools
from . import support

# Attention as the library has it, and written out.
MODEL = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

dl::Tensor written_out(dl::Tensor q, dl::Tensor k, dl::Tensor v, dl::Tensor seen) {
  auto scores = q.matmul(k.transpose(-2, -1)) / dl::sqrt(dl::Scalar(q.size(-1)));
  return scores.masked_fill(seen.logical_not(), -__builtin_inf()).softmax(-1).matmul(v);
}

struct Net : nn::Module {
  nn::Embedding wte{64, 32}, wpe{%(length)d, 32};
  nn::Linear qkv{32, 96}, proj{32, 64};
  bool plain;
  Net(bool plain) : plain(plain) {}
  dl::Tensor forward(dl::Tensor x) {
    auto heads = [](dl::Tensor t) { return t.unflatten(-1, {4, 8}).transpose(1, 2); };
    auto y = wte(x) + wpe(dl::arange(x.size(1)));
    auto [q, k, v] = qkv(y).chunk<3>(3, -1);
    dl::i64 length = x.size(1);
    auto seen = %(seen)s;
    auto at = plain ? written_out(heads(q), heads(k), heads(v), seen)
                    : F::scaled_dot_product_attention(heads(q), heads(k), heads(v), {%(options)s});
    return proj(y + at.transpose(1, 2).flatten(2));
  }
};

void dl_main(dl::Program &p) {
  auto plain = p.arg("plain", 0, "1: written out");
  auto data = dl::data::TokenDataset("text.txt", {.length = %(length)d, .batch_size = 2});
  Net net(plain);
  dl::optim::SGD optimizer(net.parameters(), {.lr = 1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(b.data).flatten(0, 1), b.target.flatten());
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""
CAUSAL = {"options": ".is_causal = true", "seen": "dl::arange(length).unsqueeze(1).ge(dl::arange(length))"}
# Each row sees itself, and every third of the others.
MASKED = {"options": ".attn_mask = seen", "seen": "(dl::arange(length).unsqueeze(1) - dl::arange(length)).remainder(3).eq(0)"}


# Rows that may attend to nothing: the third one by a mask of booleans and by one of floats, all of the second item by padding.
EMPTY = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Net : nn::Module {
  nn::Linear q{8, 8};
  nn::MultiheadAttention attention{8, 2, {.batch_first = true}};
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "padding.npy"}, {.batch_size = 3});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto x = b[0], padding = b[1].ne(0);
    auto row = dl::arange(5).unsqueeze(1);
    auto seen = row.ge(dl::arange(5)).logical_and(row.ne(2));
    auto h = net.q(x).view({3, 5, 2, 4}).transpose(1, 2);
    auto flags = F::scaled_dot_product_attention(h, h, h, {.attn_mask = seen});
    auto added = F::scaled_dot_product_attention(h, h, h, {.attn_mask = dl::where(seen, 0.0, -dl::inf)});
    auto items = F::scaled_dot_product_attention(h, h, h, {.attn_mask = padding.logical_not().view({3, 1, 1, 5})});
    auto layer = net.attention(x, x, x, {.key_padding_mask = padding, .need_weights = false}).output;
    optimizer.zero_grad();
    auto loss = (flags + added).pow(2).sum() + items.pow(2).sum() + layer.pow(2).sum();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}, {"h", h}, {"flags", flags}, {"added", added}, {"items", items}, {"layer", layer}, {"grad", net.q.weight.grad()}};
  });
}
"""


def attend(h, seen):
    """Of h with itself; rows that see nothing are 0."""
    scores = np.where(seen, h @ h.swapaxes(-1, -2) / np.sqrt(h.shape[-1]), -np.inf)
    maximum = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(maximum), 0, maximum))
    return weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300) @ h


# A layer that PyTorch's users take, with a mask for all items and one for each.
LAYER = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Net : nn::Module {
  nn::Embedding wte{64, 32};
  nn::MultiheadAttention at{32, 4, {.batch_first = true}};
  nn::Linear proj{32, 64};
  dl::Tensor forward(dl::Tensor x, bool need_weights) {
    auto y = wte(x);
    auto near = (dl::arange(x.size(1)).unsqueeze(1) - dl::arange(x.size(1))).abs() > 200;
    return proj(y + at(y, y, y, {.key_padding_mask = x.lt(9), .need_weights = need_weights, .attn_mask = near}).output);
  }
};

void dl_main(dl::Program &p) {
  auto weights = p.arg("weights", 0, "1: need_weights");
  auto data = dl::data::TokenDataset("text.txt", {.length = 800, .batch_size = 2});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(b.data, weights).flatten(0, 1), b.target.flatten());
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class Attention(support.ToolTest):
    def test_rows_that_see_nothing(self):
        """They give zeros, as PyTorch's do since 2.5, and no NaN to any weight."""
        random = np.random.RandomState(3)
        np.save(self.path("x.npy"), random.standard_normal((3, 5, 8)).astype(np.float32))
        padding = np.array([[0] * 5, [1] * 5, [0, 0, 0, 1, 1]])
        np.save(self.path("padding.npy"), padding)
        self.write("net.dl", EMPTY)
        self.dlcc("net.dl", "--dtype=f64", "-o", "net.plan")
        self.dlrun("net.plan", "-q", "--no-shuffle", "--steps", 1, "--save-metrics", "m.safetensors", "--save-final", "w.safetensors")
        got = self.load("m.safetensors")
        row = np.arange(5)[:, None]
        seen = (row >= np.arange(5)) & (row != 2)
        for name, mask in (("flags", seen), ("added", seen), ("items", padding.reshape(3, 1, 1, 5) == 0)):
            np.testing.assert_allclose(got[name], attend(got["h"], mask), atol=1e-14, err_msg=name)
        self.assertFalse(got["flags"][:, :, 2].any() or got["items"][1].any())
        bias = self.load("w.safetensors")["attention.out_proj.bias"]
        self.assertTrue(np.isfinite(bias).all() and np.isfinite(got["grad"]).all() and got["grad"].any())
        np.testing.assert_array_equal(got["layer"][1], np.broadcast_to(got["layer"][1][0], (5, 8)))

    def model_text(self, length):
        with open(self.path("text.txt"), "wb") as file:
            file.write(np.random.default_rng(0).integers(0, 64, 4 * length + 1).astype(np.uint8).tobytes())

    def model(self, length, **how):
        self.model_text(length)
        self.write("net.dl", MODEL % {"length": length, **how})

    def weights(self, *options, run=()):
        self.dlcc("net.dl", "--dtype=f64", "-o", "net.plan", *options)
        self.dlrun("net.plan", "--steps", 4, "-q", "--save-final", "w.safetensors", *run)
        return self.load("w.safetensors")

    def assert_close(self, found, wanted):
        self.assertEqual(sorted(found), sorted(wanted))
        for name, value in wanted.items():
            np.testing.assert_allclose(found[name], value, rtol=0, atol=1e-10 * max(1, np.abs(value).max()), err_msg=name)

    def test_equals_what_is_written_out(self):
        """Blocks of rows, the last one shorter, and all rows at once."""
        for length, how in (600, CAUSAL), (530, MASKED):
            self.model(length, **how)
            chained, plain = self.weights(), self.weights("-D", "plain=1")
            self.assert_close(chained, plain)
            self.assertGreater(max(np.abs(plain[n]).max() for n in plain), 0)

    def scores_in_memory(self, *options):
        report = json.loads(self.dlcc("net.dl", "-o", "net.plan", "--report=json", *options))
        ((program,),) = [step["programs"] for step in report["steps"]]
        return [k["name"] for k in program["peak"]["alive"] if re.search(r"\[2,4,\d+,(800|\d{4})\]", k["name"])]

    def test_a_layer_with_masks(self):
        """The same whether or not it gives its weights, and without them no scores are in memory."""
        self.model_text(800)
        self.write("net.dl", LAYER)
        self.assert_close(self.weights(), self.weights("-D", "weights=1"))
        self.assertFalse(self.scores_in_memory())
        self.assertTrue(self.scores_in_memory("-D", "weights=1"))

    def test_what_does_not_fit(self):
        """No block of rows hides it."""
        for how, length in ((CAUSAL, 600), (MASKED, 530)):
            model = MODEL.replace("heads(k(y))", "heads(k)").replace("heads(v), {", "dl::cat({heads(v), heads(v)}, -2), {")
            self.write("net.dl", model % {"length": length, **how})
            self.model_text(length)
            self.refuse(1, ["net.dl:", f"{length} columns", f"{2 * length} rows"], dltools.DLCC, "net.dl", "--check")

    def test_the_same_bits(self):
        """On any number of threads, and whether or not scores go to memory."""
        self.model(600, **CAUSAL)
        wanted = self.weights(run=["--threads", 1])
        self.write("apart.machine", "chain_scratch_bytes = 0\n")
        for found in (self.weights(run=["--threads", 2]), self.weights("--machine=apart.machine", run=["--threads", 2])):
            for name, value in wanted.items():
                np.testing.assert_array_equal(found[name], value, err_msg=name)

    def test_on_ranks(self):
        self.model(600, **CAUSAL)
        self.assert_close(self.weights("--mesh=dp=2"), self.weights())

    def test_along_context(self):
        """Long rows are exchanged as short ones are, but once more for the scores that are made again."""
        exchanges = {}
        for length in 64, 1024:
            self.model_text(length)
            how = {"length": length, "options": ".scale = 0.3", "seen": "dl::arange(length)"}
            self.write("net.dl", MODEL.replace("wpe(dl::arange(x.size(1)))", 'wpe(dl::arange(x.size(1)))).shard({"dp", "cp", nullptr})')
                       .replace("auto y = wte", "auto y = (wte") % how)
            text = self.dlcc("net.dl", "--mesh=cp=4", "-o", "net.plan", "--report")
            exchanges[length] = int(re.search(r"along cp: (\d+) exchanges", text)[1])
        self.assertGreater(exchanges[64], 2)
        self.assertLessEqual(exchanges[1024], exchanges[64] + 1)

    def test_scores_are_never_in_memory(self):
        """Twice as long: what is kept doubles, and scores would be four times as many."""
        bytes_of = {}
        for length in 1024, 2048:
            self.model(length, **CAUSAL)
            report = json.loads(self.dlcc("net.dl", "-o", "net.plan", "--report=json"))
            ((program,),) = [step["programs"] for step in report["steps"]]
            bytes_of[length] = program["temporary_bytes"]
            self.assertFalse([k["name"] for k in program["peak"]["alive"] if re.search(r"\[2,4,128,\d{4}\]", k["name"])])
        self.assertLess(bytes_of[2048], 2.6 * bytes_of[1024])
        self.assertLess(bytes_of[2048], 0.5 * 4 * 2 * 4 * 2048 * 2048)
