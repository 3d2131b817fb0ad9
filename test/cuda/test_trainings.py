"""Plans for CUDA, trained on the emulated device, beside plans for the CPU."""

import json
import os
import sys
import unittest

import numpy as np

import dltools
from e2e import support
from numpy_twin import safetensors

SOURCE = "--target=cuda:source"
# With options that leave an emulated device its patience.
ON_ONE_RANK = {"linear": [], "mnist": [], "mnist_mlp": [], "parallel_ops": ["-D", "batch_size=40"]}


class OnBoth(support.ToolTest):
    """Trains a model on the CPU, and on the emulated device in three orders of threads, blocks and commands."""

    def trained(self, plan, env, *options):
        """What the run leaves: bytes of weights and of metrics."""
        dltools.run(dltools.DLRUN, plan, "-q", "--save-final", "final.w", "--save-metrics", "final.m", *options,
                    cwd=self.folder, env=env)
        files = []
        for name in ("final.w", "final.m"):
            with open(self.path(name), "rb") as file:
                files.append(file.read())
        return files

    def on_device(self, plan, *options):
        """The same bytes in every order."""
        runs = {order: self.trained(plan, env, *options) for order, env in dltools.ORDERS.items()}
        for order, files in runs.items():
            self.assertEqual(files, runs["ascending"], f"{plan}: other bits with threads in {order} order")
        return runs["ascending"]

    def both(self, source, flags, *options):
        """Bytes from the CPU and from the device."""
        self.dlcc(source, *flags, "-o", "cpu.plan")
        self.dlcc(source, *flags, SOURCE, "-o", "cuda.plan")
        return self.trained("cpu.plan", None, *options), self.on_device("cuda.plan", *options)

    def tensors(self, content):
        with open(self.path("tensors"), "wb") as file:
            file.write(content)
        return safetensors.load(self.path("tensors"))

    def assert_close(self, cpu, cuda, bound):
        for wanted, got in ((self.tensors(a), self.tensors(b)) for a, b in zip(cpu, cuda)):
            self.assertEqual(wanted.keys(), got.keys())
            for name, want in wanted.items():
                scale = max(1, float(np.max(np.abs(want), initial=0)))
                worst = float(np.max(np.abs(np.asarray(got[name], np.float64) - want), initial=0)) / scale
                self.assertLessEqual(worst, bound, name)

    def example(self, name, flags, *options):
        with open(support.example(name), encoding="utf-8") as file:
            reads_mnist = "data::MNIST" in file.read()
        if reads_mnist:
            options = (*options, "--data", support.fake_mnist())
        else:
            dltools.run(sys.executable, os.path.join(dltools.ROOT, "examples", name, "generate.py"), self.folder)
        return self.both(support.example(name), flags, *options)


class Examples(OnBoth):
    def test_f64(self):
        for name, flags in ON_ONE_RANK.items():
            with self.subTest(name):
                self.assert_close(*self.example(name, ["--dtype=f64", *flags], "--steps", 8, "--every", "eval=0"), 1e-11)

    def test_f32(self):
        for name, flags in ON_ONE_RANK.items():
            with self.subTest(name):
                self.assert_close(*self.example(name, flags, "--steps", 8, "--every", "eval=0"), 2e-5)

    def test_linear_has_the_bits_of_a_cpu(self):
        """Products and sums of up to 16 numbers are in the order of the CPU's."""
        for flags in [], ["--dtype=f64"], ["-D", "batch_size=5"]:
            with self.subTest(flags=flags):
                cpu, cuda = self.example("linear", flags, "--steps", 200)
                self.assertEqual(cpu, cuda)
                # The weights alone would not tell in which order squares are added.
                cpu, cuda = (self.losses(plan, env) for plan, env in
                             (("cpu.plan", None), ("cuda.plan", dltools.ORDERS["random"])))
                self.assertEqual(len(cpu), 200)
                self.assertEqual(cpu, cuda)

    def losses(self, plan, env):
        lines = dltools.run(dltools.DLRUN, plan, "--json", "--steps", 200, "--every", "log=1", cwd=self.folder, env=env)
        return [event["loss"] for event in map(json.loads, lines.splitlines()) if event["event"] == "step"]


class Runs(OnBoth):
    def setUp(self):
        super().setUp()
        self.classification_data(items=70)
        self.write("net.dl", support.CONVNET)

    def test_accumulation_and_a_short_last_batch(self):
        self.assert_close(*self.both("net.dl", ["--accumulate=3"], "--epochs", 2), 2e-5)

    def test_a_resumed_run_has_the_bits_of_a_whole_one(self):
        self.dlcc("net.dl", SOURCE, "-o", "net.plan")
        whole = self.trained("net.plan", dltools.ORDERS["ascending"], "--steps", 12, "--out", "whole")
        self.dlrun("net.plan", "-q", "--steps", 5, "--out", "part", env=dltools.ORDERS["random"])
        dltools.run(dltools.DLRUN, "resume", "part", "-q", "--steps", 12, "--save-final", "final.w", cwd=self.folder,
                    env=dltools.ORDERS["descending"])
        with open(self.path("final.w"), "rb") as file:
            self.assertEqual(file.read(), whole[0])

    def test_races(self):
        """Every access to shared memory of a whole step."""
        self.dlcc("net.dl", SOURCE, "-o", "net.plan")
        env = dltools.emulated("eager", order="random", races=1, cxx="clang++-22")
        self.trained("net.plan", env, "--steps", 2)


if __name__ == "__main__":
    unittest.main()


# The scores are made again by another kernel than the forward's, which adds in another order.
COMPARED = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 5});
  auto largest = p.arg("largest", false);
  dl::Parameter k = dl::randn({5, 300, 1024}), v = dl::randn({5, 300, 8}), q = dl::randn({5, 424, 1024});
  dl::optim::SGD optimizer({q, k, v}, {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto o = dl::checkpoint([&] {
      auto s = q.matmul(k.transpose(-2, -1)) * 0.125;
      if (largest)
        return (s - s.amax({-1}, true)).exp().matmul(v);
      return s.masked_fill(s < s.topk(5, -1).values.amin({-1}, true), 0).softmax(-1).matmul(v);
    });
    auto loss = o.square().mean() * b[0].mean();
    optimizer.zero_grad();
    loss.backward();
    auto slope = q.grad().norm();
    optimizer.step();
    return {{"loss", loss}, {"slope", slope}};
  });
}
"""


LONG = support.HEAD + """
struct Net : nn::Module {
  dl::i64 heads = 2;
  nn::Linear qkv{30, 120}, out{40, 30};

  dl::Tensor forward(dl::Tensor x, dl::Tensor bias) {
    auto [q, k, v] = qkv(x).chunk<3>(3, -1);
    auto split = [&](dl::Tensor t) { return t.unflatten(-1, {heads, -1}).transpose(1, 2); };
    auto causal = F::scaled_dot_product_attention(split(q), split(k), split(v), {.dropout_p = 0.1, .is_causal = true});
    auto biased = F::scaled_dot_product_attention(split(k), split(q), split(v), {.attn_mask = bias});
    return out((causal + biased).transpose(1, 2).flatten(2));
  }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 1});
  Net net;
  dl::Parameter bias = dl::zeros({850, 850});
  dl::optim::SGD optimizer({net.parameters(), {bias}}, {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::mse_loss(net(b[0], bias), b[1]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class LongRows(OnBoth):
    def test_attention_whose_columns_stream(self):
        """Rows of 850 scores, which no block of columns divides. Each way to add them up is f32's: a gradient is 850 products, and differs by
        sqrt(850) ULP of the largest, 3.5e-6."""
        self.write("net.dl", LONG)
        for name in "xy":
            np.save(self.path(f"{name}.npy"), np.random.RandomState(ord(name)).standard_normal((1, 850, 30)).astype(np.float32))
        self.write("small.machine", "processors = 4\nchain_rows = 32\nchain_scratch_bytes = 73728\nchain_least_bytes = 4096\n"
                   "product_f32_flops = 4e13\nbytes_per_second = 3e12\n")
        said = dltools.run(dltools.DLCC, "net.dl", SOURCE, "--machine=small.machine", "-o", "cuda.plan", "--report=json", cwd=self.folder)
        strategies = [kernel["strategy"] for kernel in json.loads(said)["kernels"]]
        self.assertGreaterEqual(strategies.count("streamed chain of products"), 3, strategies)
        self.dlcc("net.dl", "-o", "cpu.plan")
        self.assert_close(self.trained("cpu.plan", None, "--steps", 1), self.on_device("cuda.plan", "--steps", 1), 3.5e-6)


class Checkpoints(support.ToolTest):
    def test_what_is_compared_with_values_that_are_made_again(self):
        """The gradient of a maximum, and a mask: slopes that were 7 % and 1 % off. A score is 1024 products of 80 in all,
        and differs by sqrt(1024) ULP of that, 1.5e-4, where it is added up in another order; so does the logarithm of its exponential."""
        np.save(self.path("x.npy"), np.ones((5, 1), np.float32))
        self.write("m.dl", COMPARED)
        for largest in ("true", "false"):
            slopes = {}
            for target, env in ((["--target=cuda:source", "--report"], dltools.emulated()), ([], None)):
                said = dltools.run(dltools.DLCC, "m.dl", "-D", f"largest={largest}", *target, *([] if env else dltools.kernels_of_here()), cwd=self.folder)
                self.assertEqual("chain of products" in said, env is not None)
                events = [json.loads(line) for line in dltools.run(dltools.DLRUN, "m.plan", "--json", "--steps", "1", cwd=self.folder, env=env).splitlines()]
                slopes[env is None] = [e["slope"] for e in events if e["event"] == "step"][0]
            self.assertLess(abs(slopes[False] / slopes[True] - 1), 1.5e-4, slopes)
