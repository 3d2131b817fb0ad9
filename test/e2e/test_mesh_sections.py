"""Fused projections on a mesh: of queries, keys and values that one weight makes, of gates and of halves each rank has its part of each."""

import os
import random
import re

import numpy as np

from . import support

MODEL = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Block : nn::Module {
  nn::LayerNorm ln{32};
  %(members)s
  dl::Tensor attend(dl::Tensor q, dl::Tensor k, dl::Tensor v) {
    auto heads = [](dl::Tensor t) { return t.unflatten(-1, {4, 8}).transpose(1, 2); };
    return F::scaled_dot_product_attention(heads(q), heads(k), heads(v), {.is_causal = true}).transpose(1, 2).flatten(2);
  }
  dl::Tensor forward(dl::Tensor x) {
    auto y = ln(x);
    %(forward)s
  }
};
struct Net : nn::Module {
  nn::Embedding wte{64, 32};
  nn::Sequential h{Block{}, Block{}};
  nn::Linear head{32, 64};
  dl::Tensor forward(dl::Tensor x) { return head(h(wte(x))); }
};
"""
REST = """
void dl_main(dl::Program &p) {
  auto data = dl::data::TokenDataset("text.txt", {.length = 16, .batch_size = 8});
  Net net;
  dl::optim::AdamW optimizer(net.parameters(), {.lr = 0.01});
  dl::parallel::pipeline(net, "pp", "h.*");
  dl::parallel::tensor(net, {{"h.*.%(fused)s", "colwise", "tp"}%(others)s});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net(b.data).transpose(1, 2), b.target);
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""

FUSED = "nn::Linear c_attn{32, 96}, proj{32, 32};"
APART = {
    "fused": "q", "others": ', {"h.*.k", "colwise", "tp"}, {"h.*.v", "colwise", "tp"}, {"h.*.proj", "rowwise", "tp"}',
    "members": "nn::Linear q{32, 32}, k{32, 32}, v{32, 32}, proj{32, 32};", "forward": "return x + proj(attend(q(y), k(y), v(y)));",
}
PROJECTED = {"fused": "c_attn", "others": ', {"h.*.proj", "rowwise", "tp"}', "members": FUSED}
ATTENTIONS = {
    "chunk": PROJECTED | {"forward": "auto qkv = c_attn(y).chunk(3, -1); return x + proj(attend(qkv[0], qkv[1], qkv[2]));"},
    "split": PROJECTED | {"forward": "auto qkv = c_attn(y).split(32, -1); return x + proj(attend(qkv[0], qkv[1], qkv[2]));"},
    "narrow": PROJECTED | {"forward": "auto a = c_attn(y); return x + proj(attend(a.narrow(2, 0, 32), a.narrow(2, 32, 32), a.narrow(2, 64, 32)));"},
    "view": PROJECTED | {"forward": """auto qkv = c_attn(y).view({y.size(0), y.size(1), 3, 4, 8}).permute({2, 0, 3, 1, 4});
    return x + proj(F::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], {.is_causal = true}).transpose(1, 2).flatten(2));"""},
    "nested": PROJECTED | {"forward": "auto a = c_attn(y).split({32, 64}, -1); auto kv = a[1].chunk(2, -1); return x + proj(attend(a[0], kv[0], kv[1]));"},
    "module": {"fused": "attn", "others": ', {"h.*.attn.out_proj", "rowwise", "tp"}', "members": "nn::MultiheadAttention attn{32, 4, {.batch_first = true}};",
               "forward": "return x + attn(y, y, y, {.need_weights = false, .is_causal = true}).output;"},
}
HALVES = {"fused": "up", "others": ', {"h.*.down", "rowwise", "tp"}', "members": "nn::Linear up{32, 128}, down{64, 32};",
          "forward": "return x + down(F::glu(up(y)));"}
GATES = {"fused": "lstm", "others": ', {"h.*.down", "rowwise", "tp"}', "members": "nn::LSTM lstm{32, 64, {.batch_first = true}}; nn::Linear down{64, 32};",
         "forward": "return x + down(lstm(y).output);"}
# The middle two of four quarters, and what is put together in the backward of a product with all of them.
QUARTERS = {"fused": "up", "others": ', {"h.*.down", "rowwise", "tp"}', "members": "nn::Linear up{32, 128}, down{64, 32};",
            "forward": "auto u = up(y); auto m = u.narrow(2, 32, 64); auto e = dl::cat({u.narrow(2, 0, 32), u.narrow(2, 96, 32)}, 2);\n"
                       "    return x + down(m * F::silu(e));"}


class MeshSections(support.ToolTest):
    def setUp(self):
        super().setUp()
        with open(self.path("text.txt"), "wb") as file:
            file.write(np.random.default_rng(0).integers(0, 64, 8 * 16 * 7 + 1).astype(np.uint8).tobytes())

    def build(self, parts, *options, warning="^$", rest=REST):
        self.write("net.dl", (MODEL + rest) % parts)
        run = support.dltools.call([support.dltools.DLCC, "net.dl", "--dtype=f64", "--report", "-o", "net.plan", *options], self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, warning, options)
        return run.stdout

    def train(self, *options):
        self.dlrun("net.plan", "--steps", "6", "--threads", "2", "--save-final", "w.safetensors", "-q", *options)
        return self.load("w.safetensors")

    def check(self, expected, *options):
        for name, value in self.train(*options).items():
            np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-10, err_msg=name)

    def sections(self):
        """Of the parameters that are divided."""
        return {state["name"]: state["split"][0]["sections"] for state in self.info("net.plan")["states"] if state["split"] and state["role"] == "parameter"}

    @staticmethod
    def numbers(said):
        """Of a step of rank 0: bytes along tp, and FLOP."""
        moved = re.search(r"along tp: \d+ exchanges, rank 0 sends ([\d.]+) (B|kB|MB)", said)
        return float(moved[1]) * {"B": 1, "kB": 1e3, "MB": 1e6}[moved[2]], MeshSections.flop(said)

    @staticmethod
    def flop(said):
        work = re.search(r"step train, batch of 8: .*? ([\d.]+) (k|M)FLOP", said)
        return float(work[1]) * {"k": 1e3, "M": 1e6}[work[2]]

    def test_attentions(self):
        """However the three are told apart, ranks compute and send what they do with a layer for each."""
        moved, work = self.numbers(self.build(APART, "--mesh=tp=2"))
        for name, parts in ATTENTIONS.items():
            with self.subTest(name):
                self.build(parts, "--microbatches=2")
                expected = self.train()
                for options in (["--mesh=tp=2"], ["--mesh=tp=4"], ["--mesh=dp=2,tp=2", "--zero=1"], ["--mesh=dp=2,tp=2", "--zero=3"],
                                ["--mesh=tp=2,pp=2", "--microbatches=2"], ["--mesh=tp=2", "--microbatches=2"]):
                    said = self.build(parts, *options)
                    self.check(expected)
                    self.assertEqual(sorted(set(self.sections().values())), [1, 3], options)
                    if options == ["--mesh=tp=2"]:
                        found = self.numbers(said)
                        self.assertLessEqual(found[0], 1.01 * moved, name)
                        self.assertLessEqual(found[1], 1.02 * work, name)
                self.assertLessEqual(self.flop(self.build(parts, "--mesh=dp=2")), 1.02 * self.flop(self.build(APART, "--mesh=dp=2")), name)

    def test_what_says_nothing_of_them(self):
        """An evaluation that looks at a few elements leaves training as it is, and so does a draw, which knows its place in parts."""
        moved, _ = self.numbers(self.build(APART, "--mesh=tp=2"))
        looks = REST.replace("p.train(", "p.eval(\"some\", data, [&](dl::Batch b) -> dl::Metrics { return {{\"w\", net.h[0].parameters()[2].narrow(0, 1, 2).mean()}}; });\n  p.train(")
        for name, forward, rest in ("chunk", "c_attn(y)", looks), ("dropout", "F::dropout(c_attn(y), 0.25)", REST):
            parts = PROJECTED | {"forward": f"auto qkv = {forward}.chunk(3, -1); return x + proj(attend(qkv[0], qkv[1], qkv[2]));"}
            self.build(parts, rest=rest)
            expected = self.train()
            for mesh in "tp=2", "tp=4", "dp=2,tp=2":
                said = self.build(parts, f"--mesh={mesh}", rest=rest)
                self.check(expected)
                self.assertEqual(set(self.sections().values()), {1, 3})
                if mesh == "tp=2":
                    self.assertLessEqual(self.numbers(said)[0], 1.01 * moved, name)

    def test_side_by_side(self):
        """Attention and MLP of one block add up once, whatever stands between them: as many exchanges as that of a layer, forward and backward."""
        parts = APART | {"members": "nn::Linear q{32, 32}, k{32, 32}, v{32, 32}, proj{32, 32}, up{32, 64}, down{64, 32}; "
                                    "nn::Linear bare{32, 32, {.bias = false}}, bare_down{64, 32, {.bias = false}};",
                         "others": APART["others"] + "".join(f', {{"h.*.{name}", "{style}", "tp"}}' for name, style in (
                             ("up", "colwise"), ("down", "rowwise"), ("bare", "rowwise"), ("bare_down", "rowwise")))}
        a, m = "attend(q(y), k(y), v(y))", "F::gelu(up(y))"
        for forward in (f"x + proj({a}) + down({m})", f"x + (proj({a}) + down({m}))", f"proj({a}) + x + down({m})", f"x + bare({a}) + bare_down({m})",
                        f"bare_down({m}) + (x + proj({a}))", f"(x + down({m})) + (y + proj({a}))"):
            with self.subTest(forward=forward):
                self.build(parts | {"forward": f"return {forward};"}, warning=".*")
                expected = self.train()
                for options in ["--mesh=tp=2"], ["--mesh=dp=2,tp=2"], ["--mesh=tp=2,pp=2", "--microbatches=2"], ["--mesh=tp=2", "--microbatches=2"]:
                    said = self.build(parts | {"forward": f"return {forward};"}, *options, warning=".*")
                    self.check(expected)
                    if options == ["--mesh=tp=2"]:
                        self.assertIn("along tp: 4 exchanges", said)

    @staticmethod
    def random_forward(source):
        """Of 64 features, taken apart and put together at random: slices, some with steps and odd ends, views, cats and draws; and how many there are in the end."""
        lines, values = [f"auto v0 = {source.choice(['up(y)', 'F::gelu(up(y))', 'F::dropout(up(y), 0.25)'])};"], [("v0", 64)]

        def new(text, width):
            lines.append(f"auto v{len(values)} = {text};")
            values.append((f"v{len(values)}", width))
        for _ in range(source.randint(3, 8)):
            (value, width), (other, more) = source.choice(values), source.choice(values)
            parts = source.choice([n for n in (2, 4, 8, 1) if width % n == 0 and width >= n])
            at, step = source.randrange(parts), source.choice([s for s in (1, 4, 8, 16) if s <= width])
            start = source.randrange(width // step)
            length = source.randint(1, width // step - start) * step
            kind = source.randrange(7)
            if kind == 0 and parts > 1:
                new(f"{value}.chunk({parts}, -1)[{at}]", width // parts)
            elif kind == 1:
                new(f"{value}.narrow(-1, {start * step}, {length})", length)
            elif kind == 2 and width + more <= 160:
                new(f"dl::cat({{{value}, {other}}}, -1)", width + more)
            elif kind == 3 and parts > 1:
                new(f"{value}.unflatten(-1, {{{parts}, {width // parts}}}).select(2, {at})", width // parts)
            elif kind == 4 and width % 2 == 0:
                new(f"{value}.index({{dl::Ellipsis, dl::Slice({source.randrange(2)}, dl::None, 2)}})", width // 2)
            elif kind == 5 and width == more:
                new(f"{value} * dl::sigmoid({other})", width)
            elif kind == 6:
                new(f"F::dropout({value}.roll({start}, -1), 0.25)", width)
        return " ".join(lines), *values[-1]

    def test_random_ways_to_take_apart(self):
        for seed in range(8):
            source = random.Random(seed)
            lines, value, width = self.random_forward(source)
            parts = {"fused": "up", "others": ', {"h.*.down", "rowwise", "tp"}', "members": f"nn::Linear up{{32, 64}}, down{{{width}, 32}};",
                     "forward": f"{lines} return x + down({value});"}
            with self.subTest(seed=seed, forward=lines):
                self.build(parts, warning=".*")
                expected = self.train()
                for mesh in source.sample([["tp=2"], ["tp=4"], ["tp=3"], ["dp=2,tp=2", "--zero=3"], ["tp=2,pp=2", "--microbatches=2"]], 2):
                    self.build(parts, "--mesh=" + mesh[0], *mesh[1:], warning=".*")
                    self.check(expected)

    def test_heads_that_do_not_divide(self):
        said = r"net\.dl:\d+:\d+: warning: f64 \[8,16,96\] lies in parts along 'tp', and 4 in each of 3 of f64 \[8,16,[^\n]* does not divide among 8 ranks"
        for name in "chunk", "view":
            self.build(ATTENTIONS[name])
            expected = self.train()
            self.build(ATTENTIONS[name], "--mesh=tp=8", warning=said)
            self.check(expected)

    def test_weights_go_from_mesh_to_mesh(self):
        weights = {}
        for mesh in "tp=1", "tp=2", "tp=4":
            self.build(ATTENTIONS["module"], f"--mesh={mesh}")
            if mesh == "tp=2":
                weights = self.train()
                os.rename(self.path("w.safetensors"), self.path("begin.safetensors"))
        later = []
        for mesh in "tp=1", "tp=2", "tp=4":
            self.build(ATTENTIONS["module"], f"--mesh={mesh}")
            later.append(self.train("--init", "begin.safetensors"))
            self.dlrun("net.plan", "-q", "--steps", "0", "--init", "begin.safetensors", "--save-final", "same.safetensors")
            for name, value in self.load("same.safetensors").items():
                np.testing.assert_array_equal(value, weights[name], err_msg=name)
        for name, value in later[0].items():
            np.testing.assert_allclose(later[1][name], value, rtol=1e-10, atol=1e-10, err_msg=name)
            np.testing.assert_allclose(later[2][name], value, rtol=1e-10, atol=1e-10, err_msg=name)

    def test_heads_in_groups(self):
        """Of unequal parts sections are what all are multiples of; results are those of one device."""
        parts = PROJECTED | {"members": "nn::Linear c_attn{32, 64}, proj{32, 32};", "forward": """auto qkv = c_attn(y).split({32, 16, 16}, -1);
    auto heads = [](dl::Tensor t, int n) { return t.unflatten(-1, {n, 8}).transpose(1, 2); };
    return x + proj(F::scaled_dot_product_attention(heads(qkv[0], 4), heads(qkv[1], 2), heads(qkv[2], 2),
                                                    {.is_causal = true, .enable_gqa = true}).transpose(1, 2).flatten(2));"""}
        self.build(parts)
        expected = self.train()
        self.build(parts, "--mesh=tp=2")
        self.check(expected)
        self.assertEqual(set(self.sections().values()), {1, 4})

    def test_sections_that_do_not_divide(self):
        """They stay in blocks, of which all ranks get all; who wrote it is told, once for all blocks."""
        parts = {"fused": "c", "others": ', {"h.*.proj", "rowwise", "tp"}', "members": "nn::Linear c{32, 30}, proj{15, 32};", "forward": "return x + proj(F::glu(c(y)));"}
        self.build(parts)
        expected = self.train()
        said = r"\Anet\.dl:15:\d+: warning: f64 \[8,16,30\] lies in parts along 'tp', and 15 of f64 \[8,16,15\] does not divide among 2 ranks: each gets all of it, " \
            r"and computes the same; a multiple of 2 would stay in parts\n(?!.*warning)"
        self.build(parts, "--mesh=tp=2", warning=said)
        self.check(expected)
        self.assertEqual(set(self.sections().values()), {1})

    def test_halves_gates_and_quarters(self):
        for name, parts, sections in ("halves", HALVES, {1, 2}), ("gates", GATES, {1, 4}), ("quarters", QUARTERS, {2, 4}):
            with self.subTest(name):
                alone = self.build(parts)
                expected = self.train()
                whole = float(re.search(r"step train, batch of 8: .*? ([\d.]+) MFLOP", alone)[1]) * 1e6
                for options in ["--mesh=tp=2"], ["--mesh=tp=4"], ["--mesh=dp=2,tp=2", "--zero=2"]:
                    said = self.build(parts, *options)
                    self.check(expected)
                    self.assertEqual(set(self.sections().values()), sections, options)
                    if options == ["--mesh=tp=2"]:
                        self.assertLess(self.numbers(said)[1], 0.75 * whole)
