"""An axis that divides another dim from one op on: tokens go to experts and back, rows of a sequence become heads. Each rank sends what another one needs, no more."""

import re

import numpy as np

from . import support

EXPERTS = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

// Each token goes to one expert, which takes up to `capacity` of each group's (Fedus et al., "Switch Transformers", 2021).
struct Experts : nn::Module {
  dl::Parameter up = dl::randn({4, 32, 64}) * 0.1, down = dl::randn({4, 64, 32}) * 0.1;
  dl::Tensor forward(dl::Tensor x) { return F::gelu(x.matmul(up)).matmul(down); } // [experts, tokens, width]
};
struct Switch : nn::Module {
  static constexpr int experts = 4, groups = 4, capacity = 16;
  nn::Linear gate{32, experts, {.bias = false}};
  Experts mlp;
  dl::Tensor forward(dl::Tensor tokens) {
    auto x = tokens.reshape({groups, -1, 32});
    auto [weight, expert] = gate(x).softmax(-1).max(-1); // [G, T]
    auto chosen = F::one_hot(expert, experts).to(dl::kFloat);
    auto place = (chosen.cumsum(1) * chosen).sum(-1) - 1; // how many of the expert's come before
    auto slot = F::one_hot(place.clamp(0, capacity - 1).to(dl::kInt64), capacity).to(dl::kFloat);
    auto fits = place.lt(capacity).to(dl::kFloat);
    auto dispatch = dl::einsum("gte,gtc->gtec", chosen * fits.unsqueeze(-1), slot);
    auto sent = dl::einsum("gtec,gtm->egcm", dispatch, x)%(there)s;
    auto y = mlp(sent.flatten(1, 2)).unflatten(1, {groups, capacity})%(back)s;
    return dl::einsum("gtec,egcm->gtm", dispatch * weight.unsqueeze(-1).unsqueeze(-1), y).reshape(tokens.sizes());
  }
};
struct Net : nn::Module {
  nn::Embedding wte{64, 32};
  nn::LayerNorm ln{32};
  Switch moe;
  nn::Linear head{32, 64};
  dl::Tensor forward(dl::Tensor t) { auto x = wte(t); return head(x + moe(ln(x))); }
};
"""

ROWS = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Net : nn::Module {
  nn::Embedding wte{64, 32};
  nn::Linear q{32, 32}, k{32, 32}, v{32, 32}, proj{32, 32}, head{32, 64};
  dl::Tensor forward(dl::Tensor t) {
    auto x = wte(t).shard({"dp", "cp", nullptr});
    auto heads = [](dl::Tensor part) { return part.unflatten(-1, {4, 8})%(there)s.transpose(1, 2); };
    auto y = F::scaled_dot_product_attention(heads(q(x)), heads(k(x)), heads(v(x)), {.is_causal = true});
    return head(x + proj(y.transpose(1, 2)%(back)s.flatten(2)));
  }
};
"""

REST = """
void dl_main(dl::Program &p) {
  auto data = dl::data::TokenDataset("text.txt", {.length = 16, .batch_size = 8});
  Net net;
  dl::optim::AdamW optimizer(net.parameters(), {.lr = 0.01});
  %(mesh)s
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(b.data).transpose(1, 2), b.target);
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""
COLWISE = 'dl::parallel::tensor(net, {{"moe.mlp", "colwise", "%s"}});'


class MeshExchanges(support.ToolTest):
    def setUp(self):
        super().setUp()
        with open(self.path("text.txt"), "wb") as file:
            file.write(np.random.default_rng(0).integers(0, 64, 8 * 16 * 7 + 1).astype(np.uint8).tobytes())

    def train(self, text, *options):
        """The report, and the weights after six steps."""
        self.write("net.dl", text)
        said = self.dlcc("net.dl", "--dtype=f64", "--report", "-o", "net.plan", *options)
        self.dlrun("net.plan", "--steps", "6", "-q", "--save-final", "w.safetensors")
        return said, self.load("w.safetensors")

    def check(self, expected, text, *options):
        said, found = self.train(text, *options)
        for name, value in found.items():
            np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=f"{options} {name}")
        return said

    @staticmethod
    def exchanged(said, axis):
        """Bytes that rank 0 sends, of activations that are exchanged or gathered for the lines of the model."""
        number, unit = re.search(rf"along {axis}: \d+ exchanges, rank 0 sends ([\d.]+) (B|kB|MB)", said).groups()
        return float(number) * {"B": 1, "kB": 1e3, "MB": 1e6}[unit]

    def test_experts(self):
        def model(axis, there=True, mesh=True):
            parts = {"there": f'.shard({{"{axis}", nullptr, nullptr, nullptr}})', "back": f'.shard({{nullptr, "{axis}", nullptr, nullptr}})'}
            parts = parts if there else {"there": "", "back": ""}
            return EXPERTS % parts + REST % {"mesh": COLWISE % axis if mesh else ""}
        _, expected = self.train(model("dp", there=False, mesh=False))
        for sizes, axis, more in (("dp=2", "dp", []), ("dp=4", "dp", []), ("dp=2", "dp", ["--zero=3"]), ("dp=2,ep=2", "ep", []), ("dp=2", "dp", ["--microbatches=2"]),
                                  ("dp=3", "dp", [])):
            said = self.check(expected, model(axis), f"--mesh={sizes}", *more)
            if sizes == "dp=4":
                # [4 experts, 4 groups, 16, 32] of 8 bytes: of a rank's fourth three of four parts go to others, there and back, forward and backward.
                pairs = re.findall(r"([\d.]+) kB in (\d)  [^\n]*moe/all_to_all|([\d.]+) kB in \d  [^\n]*moe/bucket", said)
                self.assertNotIn("moe/all_gather", said)
                self.assertTrue(pairs, said)
                each = 4 * 4 * 16 * 32 * 8 / 4 * 3 / 4
                whole = self.exchanged(said, "dp")
                without = self.exchanged(self.train(model("dp", there=False, mesh=False), "--mesh=dp=4")[0], "dp")
                weights = 2 * 4 * 32 * 64 * 8 * 2 * 3 / 4 # whose gradients are added up and gathered where each rank has all
                self.assertAlmostEqual(whole, without - weights + 4 * each, delta=0.02 * whole)

    def test_rows_become_heads(self):
        """DeepSpeed's Ulysses: a rank sends its rows of the other ranks' heads, instead of all keys and values to everybody."""
        along = {"there": '.shard({"dp", nullptr, "cp", nullptr})', "back": '.shard({"dp", "cp", nullptr, nullptr})'}
        _, expected = self.train(ROWS % {"there": "", "back": ""} + REST % {"mesh": ""})
        for sizes in "cp=2", "cp=4", "dp=2,cp=2", "cp=3":
            exchanged, gathered = (self.exchanged(self.check(expected, ROWS % parts + REST % {"mesh": ""}, f"--mesh={sizes}"), "cp")
                                   for parts in (along, {"there": "", "back": ""}))
            if sizes == "cp=4":
                # A fourth of [8, 16, 32]: keys and values to three others and their gradients back, or three of four parts of four tensors, twice.
                part = 8 * 16 * 32 * 8 / 4
                self.assertAlmostEqual(gathered - exchanged, (2 * 3 + 2 * 3 - 2 * 4 * 3 / 4) * part, delta=0.05 * gathered)

    def test_ranks_that_have_nothing(self):
        """Of a dim of one element all is on the first ranks along an axis; the others take part in the exchanges along another one as those do."""
        text = support.HEAD + """
struct Net : nn::Module {
  nn::Embedding wte{64, 32};
  nn::Linear head{32, 64};
  dl::Tensor forward(dl::Tensor t) {
    auto x = wte(t).unsqueeze(2).shard({"tp", nullptr, "dp", nullptr});
    return head(dl::tanh(x).shard({nullptr, "tp", nullptr, "dp"}).squeeze(2));
  }
};
""" + REST % {"mesh": ""}
        _, expected = self.train(text)
        for sizes in "dp=2,tp=2", "tp=2,dp=2", "dp=4,tp=2", "dp=2,tp=4":
            self.check(expected, text, f"--mesh={sizes}")
