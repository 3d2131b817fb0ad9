"""Whole models against the NumPy twin, and training that must not depend on how it is cut."""

import numpy as np

import dltools
from numpy_twin import contractions as C, elementwise as E, losses as L, safetensors, shaping as S
from numpy_twin.autodiff import Tape, backward, gradient_of
from numpy_twin.optimizers import SGD
from . import support

PRIMES = support.HEAD + """
struct Eye : nn::Module {
  nn::Conv2d lens{3, 7, {3, 5}, {.stride = {1, 2}, .padding = {2, 1}}};
  nn::Conv2d film{7, 13, 3};
  dl::Tensor forward(dl::Tensor x) {
    x = F::max_pool2d(F::relu(lens(x)), 2);
    return F::max_pool2d(F::relu(film(x)), {3, 1});
  }
};

struct Creature : nn::Module {
  Eye left_eye;
  nn::Sequential brain{nn::Flatten{}, nn::Linear{%d, 31}, nn::ReLU{}, nn::Linear{31, 11}};
  dl::Tensor forward(dl::Tensor x) { return brain(left_eye(x)); }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 7});
  Creature pet;
  dl::optim::SGD teacher(pet.parameters(), {.lr = 0.03, .momentum = 0.7, .weight_decay = 0.01});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto out = pet(b.data);
    auto loss = F::cross_entropy(out, b.target);
    teacher.zero_grad();
    loss.backward();
    teacher.step();
    return {{"loss", loss}, {"out", out}, {"slope", pet.left_eye.lens.weight.grad()}};
  });
}
"""


def creature(env, x):
    x = C.conv2d(x, env["left_eye.lens.weight"], env["left_eye.lens.bias"], (1, 2), (2, 1))
    x = C.max_pool2d(E.relu(x), (2, 2))
    x = C.conv2d(x, env["left_eye.film.weight"], env["left_eye.film.bias"])
    x = C.max_pool2d(E.relu(x), (3, 1))
    x = S.reshape(x, (x.shape[0], -1))
    x = E.relu(C.linear(x, env["brain.1.weight"], env["brain.1.bias"]))
    return C.linear(x, env["brain.3.weight"], env["brain.3.bias"])


class PrimeModel(support.ToolTest):
    """Odd extents everywhere, other names, batch 7 with a short last batch: nothing depends on the examples."""

    SHAPES = {"left_eye.lens.weight": (7, 3, 3, 5), "left_eye.lens.bias": (7,), "left_eye.film.weight": (13, 7, 3, 3),
              "left_eye.film.bias": (13,), "brain.1.weight": (31, 78), "brain.1.bias": (31,),
              "brain.3.weight": (11, 31), "brain.3.bias": (11,)}

    def test_against_the_twin(self):
        rng = np.random.default_rng(11)
        x, y = rng.normal(size=(17, 3, 23, 17)).astype(np.float32), rng.integers(0, 11, 17)
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), y)
        weights = {n: (rng.normal(size=s) * 0.3).astype(np.float32) for n, s in self.SHAPES.items()}
        safetensors.save(self.path("w.safetensors"), weights)
        tape = Tape()
        features = C.max_pool2d(C.conv2d(C.max_pool2d(C.conv2d(
            tape.var(x), tape.var(weights["left_eye.lens.weight"]), None, (1, 2), (2, 1)), (2, 2)),
            tape.var(weights["left_eye.film.weight"])), (3, 1))
        self.assertEqual(int(np.prod(features.shape[1:])), 78)
        self.write("pet.dl", PRIMES % 78)
        self.dlcc("pet.dl", "--dtype=f64")
        self.dlrun("pet.plan", "--epochs", 2, "--no-shuffle", "--init", "w.safetensors", "--save-final", "f.safetensors",
                   "--save-metrics", "m.safetensors", "-q")
        want, metrics = self.twin(weights, x, y)
        got = self.load("f.safetensors")
        self.assertEqual(set(got), set(want))
        for name, value in want.items():
            np.testing.assert_allclose(got[name], value, rtol=1e-10, atol=1e-10, err_msg=name)
        for name, value in metrics.items():
            np.testing.assert_allclose(self.load("m.safetensors")[name], value, rtol=1e-10, atol=1e-10, err_msg=name)

    def twin(self, weights, x, y):
        weights = {n: w.astype(np.float64) for n, w in weights.items()}
        optimizer = SGD(lr=0.03, momentum=0.7, weight_decay=0.01)
        for first in [0, 7, 14] * 2:
            tape = Tape()
            env = {n: tape.var(w) for n, w in weights.items()}
            out = creature(env, tape.var(x[first:first + 7]))
            loss = L.cross_entropy(out, tape.var(y[first:first + 7]))
            backward(loss)
            gradients = {n: gradient_of(v) for n, v in env.items()}
            optimizer.step(weights, gradients)
        return weights, {"loss": loss.value, "out": out.value, "slope": gradients["left_eye.lens.weight"]}


class Accumulate(support.ToolTest):
    """--accumulate=4 at batch 16 is batch 64, also where the last group is short."""

    def final(self, name, *arguments):
        self.dlcc("net.dl", "--dtype=f64", "-o", name + ".plan", *arguments)
        events = self.events(name + ".plan", "--epochs", 2, "--no-shuffle", "--seed", 5, "--every", "log=1",
                             "--save-final", name + ".safetensors")
        steps = [e["step"] for e in events if e["event"] == "step"]
        return self.load(name + ".safetensors"), steps

    def check(self, items):
        self.classification_data(items)
        self.write("net.dl", support.CONVNET)
        whole, steps = self.final("whole", "-D", "batch_size=64")
        parts, micro_steps = self.final("parts", "-D", "batch_size=16", "--accumulate=4")
        self.assertEqual(steps, micro_steps, "a step counts updates, not micro-batches")
        for name, value in whole.items():
            np.testing.assert_allclose(parts[name], value, rtol=1e-12, atol=1e-12, err_msg=name)
        once, _ = self.final("once", "-D", "batch_size=16")
        self.assertGreater(max(np.abs(once[n] - whole[n]).max() for n in whole), 1e-6, "the control agrees as well")

    def test_whole_groups(self):
        self.check(192)

    def test_short_last_group(self):
        self.check(64 + 16 + 9)


class Initial(support.ToolTest):
    """PyTorch's initial distributions, reproducible by seed."""

    def test_linear_and_conv(self):
        self.classification_data()
        self.write("net.dl", support.CONVNET.replace("lr = 0.05", "lr = 0.0").replace("fc1{150, 20}", "fc1{150, 2000}")
                   .replace("fc2{20,", "fc2{2000,"))
        self.dlcc("net.dl")
        for seed in (0, 1, 0):
            self.dlrun("net.plan", "--steps", 1, "--seed", seed, "-q", "--save-final", f"s{seed}.safetensors")
        first, second = self.load("s0.safetensors"), self.load("s1.safetensors")
        self.assertFalse(np.array_equal(first["fc1.weight"], second["fc1.weight"]))
        bound = 1 / np.sqrt(150)
        for name in ("fc1.weight", "fc1.bias"):
            value = first[name].astype(np.float64)
            self.assertLessEqual(np.abs(value).max(), bound * (1 + 1e-6))
            self.assertAlmostEqual(value.std() / bound, 1 / np.sqrt(3), delta=0.03)
            self.assertAlmostEqual(value.mean() / bound, 0, delta=0.05)
        self.assertLessEqual(np.abs(first["conv.weight"]).max(), 1 / 3 * (1 + 1e-6))

    def test_a_round_trip_keeps_the_bits(self):
        self.classification_data()
        self.write("net.dl", support.CONVNET.replace("lr = 0.05", "lr = 0.0"))
        self.dlcc("net.dl")
        self.dlrun("net.plan", "--steps", 1, "--seed", 9, "-q", "--save-final", "a.safetensors")
        self.dlrun("net.plan", "--steps", 1, "-q", "--init", "a.safetensors", "--save-final", "b.safetensors")
        a, b = self.load("a.safetensors"), self.load("b.safetensors")
        for name in a:
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)


class NoKernels(support.ToolTest):
    def test_steps_that_only_return_parameters(self):
        self.regression_data()
        self.write("net.dl", support.HEAD + """
struct Scale : nn::Module {
  dl::Parameter scale = dl::ones({});
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 5});
  Scale model;
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics { return {{"x", model.scale}}; });
}
""")
        self.dlcc("net.dl", "--emit=memory.svg")
        self.assertEqual(self.info("net.plan")["images"], [])
        self.assertEqual(self.events("eval", "net.plan")[1]["event"], "eval")
        self.refuse(2, "the steps need no kernels", dltools.DLCC, "net.dl", "--emit=kernels.so", "-o", "net.plan")
