"""Products of matrices by cuBLASLt, in plans that dlcc makes, on the emulated device with an emulated library."""

import os
import re
import unittest

import numpy as np

import dltools
from cuda.test_trainings import OnBoth, SOURCE
from e2e import support

# So fast a library that all products are left to it.
MACHINE = "".join(f"product_{name}_flops = 1\n" for name in ("f32", "tf32", "bf16", "f64")) + "widens_in_readers = 1\n"

PRODUCTS = 3 * 5 - 2

# Linear layers, a batched product, a factor that is used transposed, a product whose operands are one, gradients of all.
MODEL = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Net : nn::Module {
  nn::Linear first{12, 16}, second{16, 10};
  dl::Parameter mixing = dl::randn({8, 8});

  dl::Tensor forward(dl::Tensor x) { // [B, 8, 12]
    auto hidden = F::gelu(first(x));
    auto scores = dl::matmul(hidden, hidden.transpose(1, 2)) * 0.1;
    hidden = hidden + dl::matmul(scores.softmax(-1), hidden) + dl::matmul(mixing, hidden);
    return second(hidden);
  }
};

void dl_main(dl::Program &p) {
  Net net;
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 8});
  dl::optim::AdamW optimizer(net.parameters(), {.lr = 1e-2});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::mse_loss(net(b[0]), b[1]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}, {"grad", net.mixing.grad()}};
  });
}
"""

IMAGES = """
#include <dl/dl.h>
namespace nn = dl::nn;

void dl_main(dl::Program &p) {
  nn::Conv2d first{16, 48, 3, {.padding = 1}}, second{48, 48, 3, {.padding = 1}};
  auto data = dl::data::TensorDataset("x.npy", {.batch_size = 16});
  dl::optim::SGD optimizer({first.parameters(), second.parameters()}, {.lr = 1e-3});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto x = first(b[0]);
    auto loss = (dl::einsum("bchw,dchw->bd", x, second(x)) * 0.1).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


# No extent is a multiple of anything: hidden numbers, a vocabulary that both embeds and predicts.
ODD = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;

struct Net : nn::Module {
  nn::Embedding wte{29, 11};
  nn::Linear up{11, 15}, down{15, 11};

  dl::Tensor forward(dl::Tensor tokens) { // [B, T]
    auto x = wte(tokens);
    x = x + down(F::gelu(up(x)));
    return F::linear(x, wte.weight);
  }
};

void dl_main(dl::Program &p) {
  Net net;
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 6});
  dl::optim::AdamW optimizer(net.parameters(), {.lr = 1e-2});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(net(b[0]).flatten(0, 1), b[1].flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""

# Logits are made 16 rows at a time; tensor cores are so slow that zeros cost nothing beside them.
CHUNKS = MACHINE + """
serial_seconds = 1e-12
library_bf16_flops = 1e6
library_tf32_flops = 1e6
chunk_least_bytes = 1000
chunk_bytes = 2000
chunk_rows = 16
"""


class Products(OnBoth):
    def setUp(self):
        super().setUp()
        source = np.random.RandomState(3)
        np.save(self.path("x.npy"), source.standard_normal((28, 8, 12)).astype(np.float32))
        np.save(self.path("y.npy"), source.standard_normal((28, 8, 10)).astype(np.float32))
        self.write("net.dl", MODEL)
        self.write("all.machine", MACHINE)

    def plan(self, name, *options):
        self.dlcc("net.dl", SOURCE, "--machine=all.machine", *options, "-o", name)
        return name

    def commands(self, plan):
        """Of the first program, by kind."""
        info = dltools.info(self.path(plan))
        commands = info["steps"][0]["programs"][0]["commands"]
        return {kind: [c for c in commands if c["kind"] == kind] for kind in ("launch", "multiply")}

    def close(self, flags, bound):
        self.dlcc("net.dl", *[flag for flag in flags if flag != "--tf32"], "-o", "cpu.plan")
        cpu = self.trained("cpu.plan", None, "--epochs", 3)
        cuda = self.on_device(self.plan("cuda.plan", *flags), "--epochs", 3)
        self.assert_close(cpu, cuda, bound)

    def test_beside_the_cpu(self):
        """In three orders of all that may be in another order, with the same bits."""
        self.close([], 2e-5)
        self.close(["--dtype=f64"], 1e-12)
        self.close(["--tf32"], 3e-2)
        self.close(["--dtype=bf16"], 3e-2)

    def test_all_are_the_library_s(self):
        commands = self.commands(self.plan("net.plan"))
        # Five, and of each two gradients, but for the first one's input, and for a sum over batches that do not lie one behind the other.
        self.assertEqual(len(commands["multiply"]), PRODUCTS)
        shapes = {(c["batch"], c["m"], c["n"], c["k"]) for c in commands["multiply"]}
        self.assertIn((1, 64, 16, 12), shapes, "a linear layer's rows are those of the whole batch")
        self.assertIn((8, 8, 8, 16), shapes)
        self.assertEqual({c["arithmetic"] for c in commands["multiply"]}, {"f32"})
        self.assertEqual({c["arithmetic"] for c in self.commands(self.plan("tf32.plan", "--tf32"))["multiply"]}, {"tf32"})

    def test_bf16(self):
        """Results that are rounded are so by the library, without what is added to them; gradients of parameters are f32 (one of the three
        is no call)."""
        commands = self.commands(self.plan("net.plan", "--dtype=bf16"))
        self.assertEqual(len(commands["multiply"]), PRODUCTS)
        found = [c["arithmetic"] for c in commands["multiply"]]
        self.assertEqual((found.count("bf16"), found.count("bf16 to f32")), (PRODUCTS - 2, 2))
        self.assertFalse(any(c["arithmetic"] == "bf16" and ("bias" in c or len(c["matrices"]) > 3) for c in commands["multiply"]))

    def test_what_is_added_is_a_part_of_the_call(self):
        """Biases of linear layers, what a residual connection adds, gradients that meet; no bias in f64, which the library does not know."""
        def added(*options):
            products = self.commands(self.plan("net.plan", *options))["multiply"]
            return [("bias" in c, len(c["matrices"]) > 3) for c in products]
        f32 = added()
        self.assertEqual(f32.count((True, False)), 2)
        self.assertEqual(f32.count((False, True)), 5)
        f64 = added("--dtype=f64")
        self.assertEqual((f64.count((False, True)), f64.count((False, False))), (5, PRODUCTS - 5))

    def test_parts_of_sums(self):
        """Where there are more processors than blocks, sums of gradients of weights over the batch are added up in parts, by a kernel."""
        self.write("all.machine", MACHINE + "processors = 132\n")
        commands = self.commands(self.plan("net.plan"))
        shapes = [(c["batch"], c["m"], c["n"], c["k"]) for c in commands["multiply"]]
        self.assertIn((8, 16, 12, 8), shapes, "of 8 sequences")
        self.assertEqual(len(shapes), PRODUCTS)
        self.test_beside_the_cpu()

    def test_parts_of_images(self):
        """What convolutions store pixel by pixel is summed whole: its channels are no neighbours."""
        np.save(self.path("x.npy"), np.random.RandomState(4).standard_normal((16, 16, 8, 8)).astype(np.float32))
        self.write("net.dl", IMAGES)
        self.write("all.machine", MACHINE + "processors = 132\n")
        self.close([], 2e-5)

    def odd(self):
        source = np.random.RandomState(3)
        for name in ("x.npy", "y.npy"):
            np.save(self.path(name), source.randint(0, 29, (20, 8)))
        self.write("net.dl", ODD)
        self.write("all.machine", CHUNKS)

    def test_odd_extents(self):
        """On tensor cores all rows begin at multiples of 16 bytes: there are zeros behind what products read."""
        self.odd()
        self.close(["--tf32"], 3e-2)
        self.close(["--dtype=bf16"], 3e-2)
        for options, together in (["--tf32"], {"tf32": (4, 4)}), (["--dtype=bf16"], {"bf16": (8, 8), "bf16 to f32": (8, 4)}):
            commands = self.commands(self.plan("net.plan", *options))["multiply"]
            self.assertEqual(len(commands), 15, "of two layers three each, of the logits three for each of three chunks")
            for command in commands:
                operand, result = together[command["arithmetic"]]
                for matrix, multiple in zip(command["matrices"], (operand, operand, result, result)):
                    self.assertEqual((matrix["stride"] % multiple, matrix["offset"] % multiple), (0, 0), command)
            added = [c for c in commands if len(c["matrices"]) > 3]
            self.assertGreaterEqual(len(added), 1, "gradients of the vocabulary are added up by calls, zeros with them")

    def test_parts_of_an_operand(self):
        """A chunk of rows is read where it is: nothing is copied for the library, and each has its call."""
        self.odd()
        self.close([], 2e-5)
        self.close(["--dtype=f64"], 1e-12)
        commands = self.commands(self.plan("net.plan"))["multiply"]
        self.assertEqual(len(commands), 15)
        offsets = {matrix["offset"] for command in commands for matrix in command["matrices"]}
        self.assertEqual(offsets, {0, 16 * 11, 32 * 11})

    def test_calls(self):
        """As many as there are products: once before all are captured, and once for each graph."""
        plan, calls = self.plan("net.plan"), self.path("calls")
        self.trained(plan, dltools.emulated("eager", calls=calls), "--steps", 3)
        with open(calls, encoding="utf-8") as file:
            counts = dict(line.split() for line in file)
        called, programs = int(counts["cublasLtMatmul"]), 2
        self.assertEqual(called % (programs * PRODUCTS), 0)
        self.assertGreater(called, programs * PRODUCTS)
        self.assertLess(int(counts["cublasLtMatmulAlgoGetHeuristic"]), programs * PRODUCTS, "equal products are one question")

    def test_own_kernels(self):
        self.assertEqual(self.commands(self.plan("own.plan", "--own-kernels"))["multiply"], [])
        own = self.trained("own.plan", dltools.ORDERS["ascending"], "--steps", 5)
        fallback = self.trained(self.plan("net.plan"), dltools.ORDERS["ascending"], "--steps", 5, "--own-kernels")
        library = self.trained("net.plan", dltools.ORDERS["ascending"], "--steps", 5)
        self.assertNotEqual(library, fallback, "the library adds in another order")
        self.assert_close(own, fallback, 2e-5)
        self.assert_close(own, library, 2e-5)

    def test_without_the_library(self):
        """A folder with the driver alone: the kernels are run, and that is said once."""
        os.makedirs(self.path("driver"))
        os.symlink(os.path.join(dltools.EMULATED, "libcuda.so.1"), self.path("driver/libcuda.so.1"))
        env = {**dltools.ORDERS["ascending"], "LD_LIBRARY_PATH": self.path("driver")}
        plan = self.plan("net.plan")
        wanted = self.trained(plan, dltools.ORDERS["ascending"], "--steps", 5, "--own-kernels")
        self.assertEqual(self.trained(plan, env, "--steps", 5), wanted)
        done = dltools.call([dltools.DLRUN, plan, "--steps", 5], cwd=self.folder, env=env)
        said = re.findall("dlrun: warning: products run on the plan's own kernels, and not on cuBLASLt: (.*)", done.stderr)
        self.assertEqual(len(said), 1, done.stderr)
        for version in (13, 12, 11):
            self.assertIn(f"libcublasLt.so.{version}", said[0])

    def test_a_refused_call(self):
        """Of one product, when it is called for the first time: its kernel is run, and that is said once."""
        plan = self.plan("net.plan")
        library = self.trained(plan, dltools.ORDERS["ascending"], "--steps", 5)
        env = {**dltools.ORDERS["ascending"], "DLEMU_FAIL": "cublasLtMatmul:2=7"}
        self.assert_close(library, self.trained(plan, env, "--steps", 5), 2e-5)
        done = dltools.call([dltools.DLRUN, plan, "--steps", 5], cwd=self.folder, env=env)
        said = re.findall("dlrun: warning: some products run on the plan's own kernels: (.*)", done.stderr)
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], r"kernel 'matmul.*net\.dl:\d+:\d+.*cuBLASLt 13\.1\.0: .*--own-kernels leaves the library out")

    def test_resumed(self):
        """With the library's own bits; with another one, or none, the break is said."""
        def resumed(*options):
            done = dltools.call([dltools.DLRUN, "resume", "run", "-q", *options], cwd=self.folder, env=dltools.ORDERS["descending"])
            self.assertEqual(done.returncode, 0, done.stderr)
            return re.findall("warning: products of the run were computed by (.*?):", done.stderr)

        whole = self.trained(self.plan("net.plan"), dltools.ORDERS["ascending"], "--steps", 8)
        self.trained("net.plan", dltools.ORDERS["ascending"], "--steps", 4, "--out", "run")
        self.assertEqual(resumed("--steps=8", "--save-final=final.w"), [])
        with open(self.path("final.w"), "rb") as file:
            self.assertEqual(file.read(), whole[0])
        self.assertEqual(resumed("--steps=10", "--own-kernels"), ["cuBLASLt 13.1.0, and are by the plan's own kernels from here on"])
        self.assertEqual(resumed("--steps=12", "--own-kernels"), [])
        self.assertEqual(resumed("--steps=14"), ["the plan's own kernels, and are by cuBLASLt 13.1.0 from here on"])

    def test_it_is_said(self):
        events = dltools.events(self.plan("net.plan"), "--steps", 1, cwd=self.folder, env=dltools.ORDERS["ascending"])
        self.assertEqual(events[0]["library"], "cuBLASLt 13.1.0")
        report = self.dlcc("net.dl", SOURCE, "--machine=all.machine", "--report", "-o", "net.plan")
        self.assertIn("matmul: by cuBLASLt: it takes", report)

    def test_wrong_use(self):
        done = dltools.call([dltools.DLCC, "net.dl", "--own-kernels", "-o", "net.plan"], cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--own-kernels: plans for CPUs call no library; add --target=cuda", done.stderr)


if __name__ == "__main__":
    unittest.main()
