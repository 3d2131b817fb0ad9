"""Chains whose columns stream, on the emulated device beside the CPU: columns that a mask hides are left out, in the backward, too."""

import json
import re
import unittest

import numpy as np

import dltools
from cuda.test_trainings import SOURCE, OnBoth
from e2e import support

NET = support.HEAD + """
struct Net : nn::Module {
  nn::Linear q{30, 40}, k{30, 40}, v{30, 40}, out{40, 30};

  dl::Tensor attend(dl::Tensor a, dl::Tensor b, dl::Tensor c, dl::Tensor unseen) {
    auto [sums, total] = dl::checkpoint([&] {
      auto scores = a.matmul(b.transpose(-2, -1)).masked_fill(unseen, -dl::inf) * 0.2;
      auto weights = (scores - scores.amax(-1, true).detach()).exp();
      return dl::Tensors<2>{weights.matmul(c), weights.sum(-1, true)};
    });
    return sums / total;
  }
  dl::Tensor forward(dl::Tensor x, dl::Tensor z) {
    auto split = [](dl::Tensor t) { return t.unflatten(-1, {2, -1}).transpose(1, 2); };
    auto a = split(q(x)), b = split(k(z)), c = split(v(z));
    auto i = dl::arange(x.size(1)).unsqueeze(1), j = dl::arange(z.size(1));
    dl::Tensor y = ATTENTION;
    return out(y.transpose(1, 2).flatten(2));
  }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "z.npy", "y.npy"}, {.batch_size = 2});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 20});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::mse_loss(net(b[0], b[1]), b[2]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""
# Products are fast beside memory: all that can stream does. Four processors have blocks of rows of 300.
MACHINE = ("processors = 4\nchain_rows = 32\nchain_scratch_bytes = 73728\nchain_least_bytes = 4096\nproduct_f32_flops = 4e13\n"
           "product_bf16_flops = 8e13\nbytes_per_second = 3e12\n")
CAUSAL = "F::scaled_dot_product_attention(a, b, c, {.is_causal = true})"
SOFTMAX = ("dl::checkpoint([&] { return (a.matmul(b.transpose(-2, -1)) * 0.2).masked_fill(i < j, -dl::inf).softmax(-1).matmul(c); })")
TRIL = "dl::checkpoint([&] { return (a.matmul(b.transpose(-2, -1)) * 0.002 * dl::ones({x.size(1), z.size(1)}).tril()).matmul(c); })"


class MaskedColumns(OnBoth):
    def check(self, attention, rows, columns, dtype="f32", bound=1e-6, net=NET, machine=MACHINE, width=30):
        """How many loops over columns begin late, and end early. Weights are averages over 1200 rows of gradients that each way to add
        up gives to 1e-7: bounds are of weights of up to 1, to which the gradients of a learning rate of 20 were added."""
        self.write("net.dl", net.replace("ATTENTION", attention))
        for name, length in {"x": rows, "z": columns, "y": rows}.items():
            np.save(self.path(f"{name}.npy"), np.random.RandomState(ord(name)).standard_normal((2, length, width)).astype(np.float32))
        self.write("small.machine", machine)
        flags = [f"--dtype={dtype}"]
        said = dltools.run(dltools.DLCC, "net.dl", SOURCE, *flags, "--machine=small.machine", "-o", "cuda.plan", "--emit=cu=net.cu", "--report=json",
                           cwd=self.folder)
        self.dlcc("net.dl", *flags, "-o", "cpu.plan")
        self.assert_close(self.trained("cpu.plan", None, "--steps", 1), self.on_device("cuda.plan", "--steps", 1), bound)
        with open(self.path("net.cu"), encoding="utf-8") as file:
            source = file.read()
        kernels = [kernel["strategy"] for kernel in json.loads(said)["kernels"]]
        return {"streamed": kernels.count("streamed chain of products"),
                "late": len(re.findall(r"block\d+First = blockOf", source)) + len(re.findall(r"block\d+First = min\(blockOf", source)),
                "early": len(re.findall(r"block\d+End = blockOf", source))}

    def test_causal_attention(self):
        """The forward is one block of 300 rows by itself; the backward's kernel over queries ends early, that over keys begins late."""
        for rows, columns in ((300, 300), (420, 300), (300, 420)):
            self.assertEqual(self.check(CAUSAL, rows, columns), {"streamed": 2, "late": 1, "early": 1}, (rows, columns))

    def test_causal_attention_in_bf16(self):
        """Weights differ by a rounding of their gradients to bf16, here and there."""
        self.assertEqual(self.check(CAUSAL, 300, 420, "bf16", 4e-6), {"streamed": 2, "late": 1, "early": 1})

    def test_bf16_in_shared_memory(self):
        """Tensor cores read what a block has made where it is. What comes from memory does so at once, for all sums of a product, without being in registers,
        and stays for all columns where they all read it. So do parts of rows, at odd places in registers."""
        net = NET.replace("{30, 40}", "{32, 64}").replace("{40, 30}", "{64, 32}").replace(".lr = 20", ".lr = 1")
        odd = net.replace("auto a = split(q(x)), b = split(k(z)), c = split(v(z));",
                          "auto w = dl::cat({k(z), v(z), k(z)}, -1), a = split(q(x)), b = split(w.narrow(-1, 3, 64)), c = split(w.narrow(-1, 64, 64));")
        for source, attention, rows, columns in ((net, CAUSAL, 128, 320), (net, "attend(a, b, c, i > j)", 256, 512), (odd, CAUSAL, 96, 300)):
            found = self.check(attention, rows, columns, "bf16", 2e-5, source, "widens_in_readers = 1\n" + MACHINE, 32)
            self.assertGreater(found["streamed"], 0)
            with open(self.path("net.cu"), encoding="utf-8") as file:
                text = file.read()
            kernels = [kernel for kernel in text.split("__global__")[1:] if "loadMatrices(" in kernel]
            self.assertTrue(any("copyLater(" in kernel for kernel in kernels))
            self.assertTrue(any(re.search(r"const unsigned short \*(rows|columns) = s\d", kernel) for kernel in kernels), "where it has been made")
            self.assertTrue(any(re.search(r"short \*(rows|columns) = reinterpret_cast", kernel) for kernel in kernels), "kept for all columns")

    def test_sliding_windows(self):
        """Two passes of the forward and one of each kernel of the backward, all of which have both bounds."""
        window = "attend(a, b, c, (i < j).logical_or(i - j > 70))"
        for columns in (300, 420):
            self.assertEqual(self.check(window, 300, columns), {"streamed": 3, "late": 4, "early": 4}, columns)

    def test_what_is_behind_alone(self):
        self.assertEqual(self.check("attend(a, b, c, i > j)", 300, 420), {"streamed": 2, "late": 1, "early": 1})

    def test_masks_of_attention(self):
        """A window that PyTorch's users pass as a mask of booleans, and a triangle as one of floats, of 300 columns of which the last rows see nothing."""
        window = "F::scaled_dot_product_attention(a, b, c, {.attn_mask = (j <= i).logical_and(i - j < 70)})"
        self.assertEqual(self.check(window, 300, 420), {"streamed": 2, "late": 2, "early": 2})
        ahead = "F::scaled_dot_product_attention(a, b, c, {.attn_mask = dl::where(j > i + 40, 0.0, -dl::inf)})"
        self.assertEqual(self.check(ahead, 420, 700), {"streamed": 3, "late": 3, "early": 1})
        self.check(ahead, 420, 300)

    def test_heads_that_share_keys(self):
        """Four heads of queries for two of keys and values, whose gradients sum over two dims; all lie one after the other in memory."""
        shared = "F::scaled_dot_product_attention(dl::cat({a, a * 0.5}, 1), b * 1, c * 1, {.is_causal = true, .enable_gqa = true}).narrow(1, 1, 2)"
        for rows, columns in ((300, 300), (300, 420)):
            self.assertEqual(self.check(shared, rows, columns), {"streamed": 2, "late": 1, "early": 1}, (rows, columns))

    def test_far_behind(self):
        self.check("attend(a, b, c, j > i + 100)", 300, 420)

    def test_softmax(self):
        """Divided before the product: 0 over a sum is 0."""
        found = self.check(SOFTMAX, 300, 420)
        self.assertGreater(found["late"], 0, found)

    def test_weights_of_zero(self):
        self.assertEqual(self.check(TRIL, 420, 300), {"streamed": 4, "late": 2, "early": 2})

    def test_places_in_bytes(self):
        """Places of 256 columns further on are equal: nothing is left out. (In a forward alone the mask is computed within the chain.)"""
        same = "(a.matmul(b.transpose(-2, -1)) * 0.3).masked_fill(i.to(dl::kUInt8) != j.to(dl::kUInt8), -dl::inf).exp().matmul(c).detach() * 0.1 + a"
        found = self.check(same, 300, 700)
        self.assertEqual((found["late"], found["early"]), (0, 0), found)
        self.assertGreater(found["streamed"], 0)

    def test_views_beside_scores(self):
        """Attributes of an expand or a slice say a shape, which is no longer that of what is transposed."""
        for bias in ("(i - j).to(dl::kFloat).abs().expand({2, 2, x.size(1), z.size(1)}) * -0.01", "wide.narrow(0, 0, x.size(1)).narrow(1, 0, z.size(1))"):
            self.check("[&] { auto wide = dl::arange(512).to(dl::kFloat).unsqueeze(1) * 1e-3 * dl::ones({512}); return dl::checkpoint([&] { return "
                       f"((a.matmul(b.transpose(-2, -1)) * 0.2 + {bias}).masked_fill(i < j, -dl::inf)).softmax(-1).matmul(c); }}); }}()", 300, 420)

    def test_both_factors_are_chains(self):
        """A product of two values of which each has rows that it sums: one of them is transposed."""
        self.check("[&] { auto t = a.narrow(-1, 0, 4).matmul(c.narrow(-1, 0, 4).narrow(2, 0, 40).transpose(-2, -1)).tanh(); "
                   "return a + t.transpose(-2, -1).matmul(t).sum(dl::Dims{-2, -1}, true) * 1e-4; }()", 300, 300)

    def test_masks_that_are_data(self):
        """Nothing is known of them."""
        found = self.check("attend(a, b, c, x.matmul(z.transpose(1, 2)).unsqueeze(1) > 15)", 300, 300)
        self.assertEqual((found["late"], found["early"]), (0, 0), found)


LONG = support.HEAD + """
struct Net : nn::Module {
  nn::Linear qkv{1024, 3072}, out{1024, 1024};
  dl::Tensor forward(dl::Tensor x) {
    auto heads = [](dl::Tensor t) { return t.unflatten(-1, {-1, 64}).transpose(1, 2); };
    auto [q, k, v] = qkv(x).chunk<3>(3, -1);
    auto a = heads(q), b = heads(k), c = heads(v);
    auto i = dl::arange(4096).unsqueeze(1), j = dl::arange(4096);
    auto attend = [&](dl::Tensor q, dl::Tensor k) { return F::scaled_dot_product_attention(q, k, c, {.is_causal = true}); };
    dl::Tensor y = ATTENTION;
    return out(y.transpose(1, 2).flatten(2));
  }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 1});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b[0].unsqueeze(1).expand({1, 4096, 1024})).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class LongRows(support.ToolTest):
    def test_no_scores_are_in_memory(self):
        """Of one sequence, whose heads a library could take; with what is added to it; of queries that are keys; written out. A step's
        memory, with some 40 values of [1,4096,1024], is less than that of one set of scores."""
        np.save(self.path("x.npy"), np.zeros((1, 1024), np.float32))
        for attention in ("attend(a, b)", "attend(a, b) + c", "attend(a, a)", "attend(a, b) + attend(a * 2, b)", SOFTMAX,
                          "F::scaled_dot_product_attention(a, b, c, {.attn_mask = (j <= i).logical_and(i - j < 1000)})"):
            self.write("net.dl", LONG.replace("ATTENTION", attention))
            for flags, size in ((["--dtype=bf16"], 2), (["--tf32"], 4)):
                with self.subTest(attention=attention, flags=flags):
                    said = dltools.run(dltools.DLCC, "net.dl", SOURCE, "--machine=h100", *flags, "-o", "net.plan", "--report=json", cwd=self.folder)
                    self.assertLess(json.loads(said)["memory"]["arena_bytes"], 0.3 * 16 * 4096 * 4096 * size)


if __name__ == "__main__":
    unittest.main()
