"""Mixed precision, dlcc --dtype=bf16: what is rounded, and what must not be. How near it comes to f64: parity.test_parity."""

import numpy as np

import dltools
from . import support

HEAD = """
#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;
"""


class Bf16(support.ToolTest):
    def setUp(self):
        super().setUp()
        source = np.random.RandomState(5)
        np.save(self.path("x.npy"), source.standard_normal((64, 16)).astype(np.float32))
        np.save(self.path("y.npy"), source.standard_normal((64, 16)).astype(np.float32))

    def train(self, members, step, *options, name="net", dtype="bf16", steps=8, lr="1e-3", before=""):
        """Weights, and the metrics of the last step."""
        self.write(f"{name}.dl", HEAD + f"""
struct Net : nn::Module {{
{members}
}};
void dl_main(dl::Program &p) {{
  Net net;
  {before}
  auto data = dl::data::TensorDataset({{"x.npy", "y.npy"}}, {{.batch_size = 16}});
  dl::optim::SGD optimizer(net.parameters(), {{.lr = {lr}}});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {{
    auto x = b[0], y = b[1];
{step}
  }});
}}
""")
        self.dlcc(f"{name}.dl", f"--dtype={dtype}", "-o", f"{name}.plan", *options)
        self.dlrun(f"{name}.plan", "-q", "--no-shuffle", "--steps", steps, "--save-final", "final.w", "--save-metrics", "final.m")
        return [{key: np.array(value) for key, value in self.load(file).items()} for file in ("final.w", "final.m")[:2 if steps else 1]]

    def assert_same(self, one, other):
        self.assertEqual(one.keys(), other.keys())
        for key in one:
            self.assertEqual(one[key].tobytes(), other[key].tobytes(), key)

    UPDATE = "    optimizer.zero_grad();\n    loss.backward();\n    optimizer.step();\n"

    def test_weights_are_f32_whoever_reads_them(self):
        """Also where a product reads the new ones in the same step, and where something else changes them before."""
        members = "  nn::Linear fc{16, 16};\n  dl::Tensor forward(dl::Tensor x) { return fc(x); }"
        loss = "    auto loss = F::mse_loss(net(x), y);\n" + self.UPDATE
        plain, _ = self.train(members, loss + '    return {{"loss", loss}};')
        again, _ = self.train(members, loss + '    return {{"loss", loss}, {"after", F::mse_loss(net(x), y)}};')
        self.assert_same(plain, again)
        decayed, _ = self.train(members, "    net.fc.weight.mul_(0.999);\n" + loss + '    return {{"loss", loss}};')
        for name, weight in [*plain.items(), *decayed.items()]:
            self.assertTrue(np.any(weight.view(np.uint32) & 0xFFFF), f"{name} has bits of bf16 alone")

    def test_states_are_f32(self):
        """An average that moves by less than bf16 can tell."""
        members = "  nn::Linear fc{16, 16};\n  dl::Buffer mean = dl::ones({16});\n"
        step = """    net.mean = net.mean * 0.9999 + x.mean(0) * 0.0001;
    auto loss = F::mse_loss(net.fc(x * net.mean) + dl::matmul(net.mean.view({1, 16}), net.fc.weight), y);
""" + self.UPDATE + '    return {{"loss", loss}};'
        mixed, _ = self.train(members, step)
        single, _ = self.train(members, step, dtype="f32")
        np.testing.assert_allclose(mixed["mean"], single["mean"], atol=1e-6)

    def test_fourier_transforms_are_f32(self):
        """And their gradients, sums of several of them, and what is moved among pixels: the bits are those of f32."""
        members = "  dl::Parameter a = dl::randn({16}), k = dl::randn({1, 1, 4, 4});"
        step = """    auto spectrum = dl::fft::rfft(x) * dl::fft::rfft(net.a);
    auto image = dl::transforms::RandomResizedCrop(4)(x.reshape({16, 1, 4, 4}));
    auto loss = F::mse_loss(dl::fft::irfft(spectrum + dl::fft::rfft(net.a * net.a), 16), y) + (image * net.k).sum(1).pow(2).mean();
""" + self.UPDATE + '    return {{"loss", loss}};'
        self.assert_same(*(self.train(members, step, dtype=dtype)[0] for dtype in ("bf16", "f32")))

    def test_initial_values(self):
        """They are computed by products here, and the same."""
        members = "  dl::Parameter a = dl::randn({16, 16}), b;\n  nn::Linear fc{16, 16};\n  Net() { b = dl::matmul(a, a.t()); }"
        step = "    auto loss = F::mse_loss(dl::matmul(net.fc(x), net.a + net.b), y);\n" + self.UPDATE + '    return {{"loss", loss}};'
        self.assert_same(*(self.train(members, step, dtype=dtype, steps=0)[0] for dtype in ("bf16", "f32")))

    def test_small_steps_of_a_residual_connection(self):
        members = "  nn::Linear fc{16, 16};\n"
        step = """    auto h = x;
    for (int i = 0; i < 40; ++i)
      h = h + 0.001 * dl::tanh(net.fc(h));
    auto loss = (h - x).square().mean();
""" + self.UPDATE + '    return {{"loss", loss}};'
        mixed, single = (float(self.train(members, step, dtype=dtype)[1]["loss"]) for dtype in ("bf16", "f32"))
        self.assertLess(abs(mixed - single), 0.01 * single)

    def test_gradient_of_a_maximum(self):
        """Of what a product reads, too: which elements are equal to the maximum is asked of the same numbers."""
        members = "  nn::Linear a{16, 16}, b{16, 16};\n"
        step = """    auto h = F::sigmoid(net.a(x));
    auto loss = 0 * F::mse_loss(net.b(h), y) + h.amax(1).mean() + h.max();
""" + self.UPDATE + '    return {{"loss", loss}, {"slope", net.a.weight.grad()}, {"equal", h.eq(h.amax(-1, true)).to(dl::kFloat).sum(-1).mean()}};'
        mixed, single = (self.train(members, step, dtype=dtype)[1] for dtype in ("bf16", "f32"))
        self.assertEqual(float(mixed["equal"]), 1)
        norm = np.linalg.norm(single["slope"])
        self.assertLess(np.linalg.norm(mixed["slope"] - single["slope"]), 0.02 * norm)

    def test_masks_of_the_largest(self):
        members = "  nn::Linear a{16, 16}, b{16, 16};\n"
        step = """    auto h = F::sigmoid(net.a(x));
    auto kept = h.ge(h.topk(4, -1).values.narrow(-1, 3, 1)).to(dl::kFloat);
    auto loss = F::mse_loss(net.b(h * kept) + net.b(h), y);
""" + self.UPDATE + '    return {{"loss", loss}, {"count", kept.sum(-1).mean()}};'
        self.assertEqual(float(self.train(members, step)[1]["count"]), 4)

    def test_a_long_chain_of_choices_is_compiled(self):
        members = "  nn::Linear a{16, 16, {.bias = false}}, b{16, 16};\n"
        step = """    auto h = net.a(x);
    for (int i = 0; i < 60; ++i)
      h = dl::where(y > 0.01 * i, h, -h);
    auto loss = F::mse_loss(net.b(h), y);
""" + self.UPDATE + '    return {{"loss", loss}};'
        self.assertTrue(np.isfinite(self.train(members, step)[1]["loss"]))

    def test_other_shapes_of_a_gradient_of_a_pool(self):
        """It moves what is bf16, and is a sum by its name."""
        members = "  nn::Linear a{16, 16}, b{4, 16};\n"
        step = """    auto h = F::avg_pool2d(net.a(x).view({-1, 1, 4, 4}), {4, 1});
    auto loss = F::mse_loss(net.b(h.view({-1, 4})), y);
""" + self.UPDATE + '    return {{"loss", loss}};'
        mixed, single = (float(self.train(members, step, dtype=dtype)[1]["loss"]) for dtype in ("bf16", "f32"))
        self.assertLess(abs(mixed - single), 0.01 * single)

    def test_modules_in_f32(self):
        """Without any product in bf16 all bits are those of f32."""
        members = "  nn::Linear a{16, 16}, b{16, 16};\n"
        step = "    auto loss = F::mse_loss(net.b(F::relu(net.a(x))), y);\n" + self.UPDATE + '    return {{"loss", loss}};'
        single, mixed = self.train(members, step, dtype="f32")[0], self.train(members, step)[0]
        self.assert_same(single, self.train(members, step, "--f32=a,b")[0])
        half = self.train(members, step, "--f32=b")[0]
        self.assertFalse(any(np.array_equal(half["b.weight"], other["b.weight"]) for other in (single, mixed)))
        self.refuse(1, ["--f32=c: no product is in such a module; some are in a, b"], dltools.DLCC, "net.dl", "--dtype=bf16", "--f32=c")
        self.refuse(2, ["--f32: all products are f32; add --dtype=bf16"], dltools.DLCC, "net.dl", "--f32=a")

    def train_with(self, isa, threads=2):
        self.dlrun("net.plan", "-q", "--no-shuffle", "--steps", 8, "--save-final", "other.w", f"--isa={isa}", "--threads", threads)
        return {key: np.array(value) for key, value in self.load("other.w").items()}

    def same_in_each_image(self, members, step, tiles=False):
        """All levels give the same bits, but for AMX, which adds up in another order: the same for any number of threads."""
        self.train(members, step)
        levels = {"v3", "v4", "v4+avx512bf16"} | ({"v4+amxbf16"} if tiles else set())
        images = {image["features"].removeprefix("x86-64-"): image["supported"] for image in self.info("net.plan")["images"]}
        self.assertEqual(set(images), levels)
        least = self.train_with("v3")
        for level, supported in images.items():
            if not supported:
                self.refuse(5, [f"no kernels for --isa={level}"], dltools.DLRUN, "net.plan", f"--isa={level}")
            elif level != "v4+amxbf16":
                self.assert_same(least, self.train_with(level))
            else:
                ours = self.train_with(level)
                self.assert_same(ours, self.train_with(level, threads=1))
                self.assertFalse(all(np.array_equal(value, least[name]) for name, value in ours.items()))
                for name, value in ours.items():  # sums of other last bits are rounded to neighbours
                    self.assertLess(np.abs(value - least[name]).max(), 2**-8 * np.abs(value).max(), name)
        if tiles:
            self.dlcc("net.dl", "--dtype=bf16", "-o", "net.plan", "--target-cpu=sapphirerapids", "--emit=kernels.so=tiles.so")
            self.assertIn("tdpbf16ps", dltools.run("objdump", "-d", self.path("tiles.so")))
        self.dlcc("net.dl", "--dtype=bf16", "-o", "net.plan", "--target-cpu=znver4", "--emit=kernels.so=pairs.so")
        self.assertIn("vdpbf16ps", dltools.run("objdump", "-d", self.path("pairs.so")))

    def test_order_of_sums_on_tiles(self):
        """AMX adds up 32 k at a time: those of even k in a chain that begins at zero, those of odd k in another one."""
        source = np.random.RandomState(6)
        def draw(*shape):  # eight bits each, of several magnitudes
            return (source.randint(-255, 256, shape) * 2.0 ** source.randint(-6, 7, shape)).astype(np.float32)

        x, y = draw(80, 264), draw(80, 250)
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), y)
        self.write("order.dl", HEAD + """
void dl_main(dl::Program &p) {
  nn::Parameter w = dl::zeros({264, 250});
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 80});
  dl::optim::SGD optimizer({w}, {.lr = 1, .maximize = true});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = (dl::matmul(b[0], w) * b[1]).sum();
""" + self.UPDATE + """    return {{"loss", loss}};
  });
}
""")
        self.dlcc("order.dl", "--dtype=bf16", "-o", "order.plan")
        images = {image["features"]: image["supported"] for image in self.info("order.plan")["images"]}
        if not images["x86-64-v4+amxbf16"]:
            self.skipTest("the processor has no AMX")
        self.dlrun("order.plan", "-q", "--steps", 1, "--save-final", "final.w")
        multiply_add = lambda k, total: (np.outer(x[k], y[k]).astype(np.float64) + total).astype(np.float32)  # exact before it is rounded
        want = np.zeros((264, 250), np.float32)
        for first in range(0, 80, 32):
            chains = [np.zeros_like(want), np.zeros_like(want)]
            for k in range(first, min(first + 32, 80)):
                chains[k % 2] = multiply_add(k, chains[k % 2])
            want = want + (chains[0] + chains[1])
        got = np.array(self.load("final.w")["w"])
        self.assertEqual(got.tobytes(), want.tobytes())
        plain = np.zeros_like(want)
        for k in range(80):
            plain = multiply_add(k, plain)
        self.assertNotEqual(plain.tobytes(), want.tobytes())

    def test_products_of_pairs(self):
        """Where the processor has an instruction for them large products use it, and give the same bits."""
        self.same_in_each_image("  nn::Linear a{16, 320}, b{320, 192}, c{192, 16};\n", """    auto h = F::gelu(net.b(net.a(x.repeat({24, 1}))));
    auto loss = F::mse_loss(net.c(h), y.repeat({24, 1}));
""" + self.UPDATE + '    return {{"loss", loss}};', tiles=True)
        for dtype, cpu in (("f32", "znver4"), ("bf16", "skylake-avx512")):
            self.dlcc("net.dl", f"--dtype={dtype}", "-o", "net.plan", f"--target-cpu={cpu}")
            self.assertEqual([image["features"] for image in self.info("net.plan")["images"]], ["x86-64-v4"])

    def test_convolutions_of_pairs(self):
        """Of 64 images, whose rows of gradients become pairs block by block, the last one smaller, and of 48, where they do not."""
        for images in 64, 48:
            self.same_in_each_image("  nn::Conv2d a{1, 9, 3, {.padding = 1}}, b{9, 20, {2, 3}, {.padding = {0, 1}}};\n", f"""
    auto h = F::gelu(net.a(x.view({{16, 1, 4, 4}}).repeat({{{images // 16}, 1, 3, 2}})));
    auto loss = net.b(h).square().mean();
""" + self.UPDATE + '    return {{"loss", loss}};')
