"""Language models on a mesh: tensor, sequence and context parallelism, and dims that were several ones."""

import json
import re

import numpy as np

from . import support

# With divided layers: what stands between blocks, the loss, and more layers to divide.
MODEL = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Block : nn::Module {
  nn::LayerNorm ln_1{32}, ln_2{32};
  nn::Linear q{32, 32}, k{32, 32}, v{32, 32}, proj{32, 32}, up{32, 128}, down{128, 32};
  dl::Tensor forward(dl::Tensor x) {
    auto heads = [](dl::Tensor t) { return t.unflatten(-1, {4, 8}).transpose(1, 2); };
    auto y = ln_1(x);
    y = F::scaled_dot_product_attention(heads(q(y)), heads(k(y)), heads(v(y)), {.is_causal = true});
    x = (x + F::dropout(proj(y.transpose(1, 2).flatten(2)), 0.1))%(between)s;
    return (x + down(F::gelu(up(ln_2(x)))))%(between)s;
  }
};
struct Net : nn::Module {
  nn::Embedding wte{%(words)s, 32};
  nn::Sequential h{Block{}, Block{}, Block{}, Block{}};
  nn::Linear head{32, %(words)s};
  dl::Tensor forward(dl::Tensor x) { return head(h(wte(x)%(between)s)); }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TokenDataset("text.txt", {.length = 16, .batch_size = %(batch)s});
  Net net;
  dl::optim::AdamW optimizer(net.parameters(), {.lr = 0.01});
  dl::parallel::pipeline(net, "pp", "h.*");
  dl::parallel::tensor(net, {{"h.*.q", "colwise", "tp"}, {"h.*.k", "colwise", "tp"}, {"h.*.v", "colwise", "tp"}, {"h.*.proj", "rowwise", "tp"},
                             {"h.*.up", "colwise", "tp"}, {"h.*.down", "rowwise", "tp"}%(tensor)s});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(%(loss)s);
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""

# Top-2 of four experts, each with room for all tokens.
EXPERTS = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Net : nn::Module {
  nn::Embedding wte{96, 32};
  nn::Linear router{32, 4}, head{32, 96};
  dl::Parameter up = dl::randn({4, 32, 48}) * 0.1, down = dl::randn({4, 48, 32}) * 0.1;
  dl::Tensor forward(dl::Tensor x) {
    auto t = wte(x).flatten(0, 1);
    auto n = t.size(0);
    auto [scores, chosen] = router(t).topk(2, -1);
    auto flat = chosen.flatten(), hot = F::one_hot(flat, 4);
    auto place = flat * n + (hot.cumsum(0) * hot).sum(-1) - 1;
    auto sent = dl::zeros({4 * n, 32}).index_copy(0, place, t.index_select(0, dl::arange(n).repeat_interleave(2))).view({4, n, 32})%s;
    auto made = dl::matmul(F::gelu(dl::matmul(sent, up)), down).view({4 * n, 32});
    auto back = made.index_select(0, place) * F::softmax(scores, -1).flatten().unsqueeze(1);
    return head(t + back.view({n, 2, 32}).sum(1));
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TokenDataset("text.txt", {.length = 32, .batch_size = 8});
  Net net;
  dl::optim::AdamW optimizer(net.parameters(), {.lr = 0.01});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(b.data), b.target.flatten());
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""

ROTATED = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Net : nn::Module {
  nn::Embedding tok{61, 64};
  nn::Linear q{64, 64, {.bias = false}}, k{64, 64, {.bias = false}}, v{64, 64, {.bias = false}}, o{64, 64, {.bias = false}}, out{64, 61};
  dl::Tensor forward(dl::Tensor t) {
    auto heads = [](dl::Tensor x) { return x.unflatten(-1, {4, 16}).transpose(1, 2); };
    auto x = tok(t).shard({"dp", "cp", nullptr});
    auto a = dl::outer(dl::arange(t.size(1)).to(dl::kFloat), dl::exp(dl::arange(16) * -0.5));
    auto K = heads(k(x));
    K = %s;
    auto y = F::scaled_dot_product_attention(heads(q(x)), K, heads(v(x)));
    return out((x + o(y.transpose(1, 2).flatten(2))).shard({"dp", "cp", nullptr}));
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TokenDataset("rows.txt", {.length = 384, .batch_size = 2});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.01});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(net(b.data).flatten(0, 1), b.target.flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""

TRANSPOSED = "net(b.data).transpose(1, 2), b.target"
FLAT = "net(b.data).view({-1, %d}), b.target.view({-1})"


class LanguageMesh(support.ToolTest):
    def setUp(self):
        super().setUp()
        with open(self.path("text.txt"), "wb") as file:
            file.write(np.random.default_rng(0).integers(0, 64, 8 * 16 * 7 + 1).astype(np.uint8).tobytes())

    def write_model(self, between="", loss=TRANSPOSED, words=64, batch=8, tensor=""):
        self.write("net.dl", MODEL % {"between": between, "loss": loss % words if "%" in loss else loss, "words": words, "batch": batch, "tensor": tensor})

    def train(self, *options):
        """The weights after six steps."""
        self.dlcc("net.dl", "--dtype=f64", "-o", "net.plan", *options)
        self.dlrun("net.plan", "--steps", "6", "--threads", "2", "--save-final", "w.safetensors", "-q")
        return self.load("w.safetensors")

    def check(self, expected, *options):
        for name, value in self.train(*options).items():
            np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=f"{options} {name}")

    def moved(self, axis, *options):
        """Bytes that rank 0 sends along an axis in a training step."""
        said = self.dlcc("net.dl", *options, "--report", "-o", "net.plan")
        number, unit = re.search(rf"along {axis}: \d+ exchanges, rank 0 sends ([\d.]+) (B|kB|MB)", said).groups()
        return float(number) * {"B": 1, "kB": 1e3, "MB": 1e6}[unit]

    def test_micro_batches_save_memory(self):
        """Many small kernels, which could be fused across micro-batches."""
        self.write_model()
        found = {}
        for micros in 1, 8:
            report = json.loads(self.dlcc("net.dl", f"--microbatches={micros}", "--report=json", "-o", "net.plan"))
            found[micros] = report["steps"][0]["programs"][0]["temporary_bytes"]
        self.assertLess(found[8], 0.5 * found[1], found)

    def test_sequence_and_context_parallelism(self):
        """Rows between blocks divided along tp, as Megatron's sequence parallelism has them: a product whose weight is divided gathers
        them, and one that leaves partial sums scatters these, bias and residual connection behind it. So no more moves than without."""
        self.write_model()
        expected = self.train()
        moved = {}
        for name, axis, meshes in (("plain", None, ["tp=2", "tp=4"]), ("sequence", "tp", ["tp=2", "tp=4", "dp=2,tp=2", "pp=2,tp=2", "tp=3"]),
                                   ("context", "cp", ["cp=2", "cp=4", "cp=2,tp=2", "dp=2,cp=2"])):
            self.write_model(f'.shard({{"dp", "{axis}", nullptr}})' if axis else "")
            for mesh in meshes:
                options = [f"--mesh={mesh}", *(["--microbatches=2", "--zero=1"] if "dp" in mesh or "pp" in mesh else [])]
                self.check(expected, *options)
                if mesh in ("tp=2", "tp=4"):
                    moved[name, mesh] = self.moved("tp", *options)
        for mesh in "tp=2", "tp=4":
            self.assertLess(moved["sequence", mesh], 1.2 * moved["plain", mesh], moved)

    def test_gradients_of_keys_come_back_in_parts(self):
        """Rows along cp: keys and values are gathered, keys once more for the backward, and the sums of both gradients are scattered, rotated
        or not. Weights are summed in whole."""
        batch, rows, width, ranks = 2, 384, 64, 4
        for rotated in "K", "dl::cat({-K.narrow(-1, 8, 8), K.narrow(-1, 0, 8)}, -1) * dl::sin(a) + K * dl::cos(a)":
            self.write("net.dl", ROTATED % rotated)
            self.write("rows.txt", "a" * 1000)
            part = 4 * batch * rows * width * (ranks - 1) // ranks
            weights = 4 * (4 * width * width + 2 * 61 * width + 61) * 2 * (ranks - 1) // ranks
            self.assertLess(self.moved("cp", f"--mesh=cp={ranks}"), 1.02 * (5 * part + weights), rotated)

    def test_dims_that_were_several(self):
        """[B*T, V] is divided as [B, T, V] was, so that a loss of flat rows moves no more than one of a sequence."""
        self.write_model()
        expected = self.train()
        context = '.shard({"dp", "cp", nullptr})'
        for mesh in "cp=2", "dp=2,cp=2", "dp=3,cp=2", "cp=3", "cp=2,pp=2":
            options = [f"--mesh={mesh}", *(["--microbatches=2"] if "pp" in mesh or mesh == "dp=2,cp=2" else [])]
            moved = []
            for loss in TRANSPOSED, FLAT:
                self.write_model(context, loss)
                self.check(expected, *options)
                moved.append(self.moved("cp", *options))
            self.assertLess(moved[1], 1.02 * moved[0] + 64, mesh)

    def test_a_batch_that_does_not_divide(self):
        """Of 7 windows of 16 rows two ranks have 4 and 3, and their 64 and 48 rows are no halves of 112: nothing is gathered for that."""
        self.write_model(loss=FLAT, batch=7)
        expected = self.train()
        for options in ["--mesh=dp=2"], ["--mesh=dp=3"], ["--mesh=dp=2,tp=2"], ["--mesh=dp=2", "--zero=3"]:
            self.check(expected, *options)
        uneven = self.moved("dp", "--mesh=dp=2")
        self.write_model(loss=FLAT, batch=8)
        self.assertLess(uneven, 1.02 * self.moved("dp", "--mesh=dp=2"))

    def test_draws_on_flat_rows(self):
        """Who draws has to know where its part begins: flat rows that are no block are gathered for that, and come out the same."""
        self.write_model('.shard({"dp", "cp", nullptr})', "F::dropout(net(b.data).view({-1, 64}), 0.5), b.target.view({-1})")
        expected = self.train()
        for options in ["--mesh=dp=2,cp=2"], ["--mesh=dp=4,cp=2"], ["--mesh=dp=2,cp=2", "--microbatches=2"]:
            self.check(expected, *options)
        # Along dp they are blocks, and stay so.
        gathered = [line for line in self.dlcc("net.dl", "--mesh=dp=4,cp=2", "--report", "-o", "net.plan").splitlines() if "over dp:" in line and "[128,64]" in line]
        self.assertEqual(gathered, [])

    def test_heads_that_do_not_divide(self):
        """Results are those of one device, and who wrote it is told that ranks compute the same: once, for all blocks."""
        self.write_model()
        expected = self.train()
        for mesh, words in ("tp=3", "f32 [8,16,32] lies in parts along 'tp', and 4 of f32 [8,16,4,8] does not divide among 3 ranks: each gets all of it, and computes the same; a multiple of 3 would stay in parts"), ("tp=4", ""), ("dp=2,tp=2", ""):
            said = support.dltools.call([support.dltools.DLCC, "net.dl", f"--mesh={mesh}", "-o", "net.plan"], self.folder).stderr
            self.assertEqual(said.count("warning"), 1 if words else 0, said)
            self.assertRegex(said, r"net\.dl:10:\d+: warning: .*" + re.escape(words) if words else "^$")
        self.check(expected, "--mesh=tp=3")

    def test_experts_of_all_tokens(self):
        """Tokens of all items are put where their expert's are: the ranks compute the same, and say so, until the experts are divided."""
        for divided, words in ("", "the ranks along 'dp' compute this product alike, f32 [4,256,48], and with it 80 % of"), ('.shard({"dp", nullptr, nullptr})', ""):
            self.write("net.dl", EXPERTS % divided)
            expected = self.train()
            said = support.dltools.call([support.dltools.DLCC, "net.dl", "--mesh=dp=2", "-o", "net.plan"], self.folder).stderr
            self.assertEqual(said.count("warning"), 1 if words else 0, said)
            self.assertIn(words, said)
            self.check(expected, "--mesh=dp=2")

    def test_a_divided_table(self):
        """Megatron's VocabParallelEmbedding: each rank looks up what its rows have, and parts are added up, if the table is larger than that;
        a head that is divided, too, leaves parts of the loss."""
        divided = ', {"wte", "colwise", "tp"}, {"head", "colwise", "tp"}'
        for words, meshes in (64, ["tp=2", "tp=3"]), (2048, ["tp=2", "tp=4", "dp=2,tp=2", "tp=2,pp=2", "tp=3"]):
            self.write_model(words=words)
            expected = self.train()
            self.write_model(words=words, tensor=divided)
            for mesh in meshes:
                self.check(expected, f"--mesh={mesh}", *(["--microbatches=2", "--zero=1"] if "pp" in mesh else []))
        # 128 rows of 32 numbers, not 2048: a sum over two ranks moves each row once.
        self.write_model(words=2048)
        plain = self.moved("tp", "--mesh=tp=2")
        self.write_model(words=2048, tensor=divided)
        self.assertLess(self.moved("tp", "--mesh=tp=2") - plain, 3.5 * 128 * 32 * 4)
        said = self.dlcc("net.dl", "--mesh=tp=2", "--report", "-o", "net.plan")
        self.assertRegex(said, r"65\.54 kB in 4  h\.\*\.proj/all_to_all  net\.dl:\d")  # of four blocks, 16 kB each
        self.assertIn("target out of range [0, 64), item 7 of the batch", self.wrong_token())

    def test_a_large_batch_of_a_divided_table(self):
        """What is looked up is divided along dp, too: of 48 windows 6 are a rank's, whose rows are fewer than those of the table."""
        divided = ', {"wte", "colwise", "tp"}'
        self.write_model(words=700, batch=48)
        plain = self.moved("tp", "--mesh=dp=8,tp=2")
        self.write_model(words=700, batch=48, tensor=divided)
        self.assertLess(self.moved("tp", "--mesh=dp=8,tp=2") - plain, 1.5 * 6 * 16 * 32 * 4)

    def test_parts_that_micro_batches_make(self):
        """What all micro-batches have, each makes its own part of; they differ where it is padded."""
        self.write("net.dl", support.HEAD + """
struct Net : nn::Module {
  nn::Embedding emb{300, 8};
  dl::Tensor forward(dl::Tensor x) { return emb(x) * 0.5 + F::pad(emb.weight.narrow(0, 0, 5).unsqueeze(1), {0, 0, 0, 0, 0, 1}) * 0.25; }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TokenDataset("text.txt", {.length = 8, .batch_size = 6, .drop_last = true});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b.data).sin().square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
""")
        expected = self.train()
        for options in ["--microbatches=2"], ["--microbatches=3"], ["--mesh=dp=2"], ["--mesh=dp=3", "--microbatches=2"], ["--mesh=dp=2", "--microbatches=3", "--zero=1"]:
            self.check(expected, *options)

    def wrong_token(self):
        """What a run says of a token that is in no part of a table."""
        with open(self.path("text.txt"), "wb") as file:
            file.write(bytes([1] * (8 * 16 * 3)) + b"\xff" + bytes([1] * 200))
        self.write_model(words=64, loss=FLAT, tensor=', {"wte", "colwise", "tp"}')
        self.dlcc("net.dl", "-o", "net.plan", "--mesh=tp=2")
        said = support.dltools.call([support.dltools.DLRUN, "net.plan", "--epochs", "1"], self.folder)
        self.assertEqual(said.returncode, 1, said.stderr)
        return said.stderr


if __name__ == "__main__":
    support.unittest.main()
