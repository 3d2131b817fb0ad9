"""Adafactor against its published formula in NumPy, which agrees with PyTorch 2.15 to 1e-14: on one device and on meshes; what is kept and refused."""

import glob
import shutil

import numpy as np

from . import support

NET = support.HEAD + """
struct Net : nn::Module {
  dl::Parameter vector = dl::randn({10}), matrix = dl::randn({6, 10}), cube = dl::randn({2, 3, 4});
  dl::Tensor forward(dl::Tensor x) {
    return (x * vector).cos().sum() + x.matmul(matrix.t()).sin().sum() + (cube * x.narrow(1, 0, 4).mean(0)).sin().sum();
  }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 6});
  Net net;
  dl::optim::Adafactor optimizer(%s);
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b[0]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""
STEPS = 6


def gradients(weights, x):
    mean = x[:, :4].mean(0)
    return {"vector": -(np.sin(x * weights["vector"]) * x).sum(0), "matrix": np.cos(x @ weights["matrix"].T).T @ x,
            "cube": np.cos(weights["cube"] * mean) * mean}


def expected(start, batches, lr=1e-2, beta2_decay=-0.8, eps=(2.0 ** -23, 1e-3), d=1.0, weight_decay=0, sign=1):
    """The weights after the batches, and what is kept."""
    def rms(x):
        return np.sqrt((x ** 2).mean())

    weights = {name: start[name].astype(np.float64) for name in ("vector", "matrix", "cube")}
    kept = {}
    for step, x in enumerate(batches, 1):
        share = step ** beta2_decay
        for name, gradient in gradients(weights, x).items():
            gradient, weight = sign * gradient, weights[name]

            def averaged(slot, value):
                kept[f"optim.{name}.{slot}"] = kept.get(f"optim.{name}.{slot}", 0) * (1 - share) + share * value
                return kept[f"optim.{name}.{slot}"]

            rate = max(eps[1], rms(weight)) * min(lr, step ** -0.5)
            if gradient.ndim > 1:
                row = averaged("row_var", (gradient ** 2).mean(-1, keepdims=True))
                column = averaged("col_var", (gradient ** 2).mean(-2, keepdims=True))
                squares = row * column / np.maximum(row.mean(-2, keepdims=True), eps[0])
            else:
                squares = averaged("variance", gradient ** 2)
            update = gradient / np.sqrt(np.maximum(squares, eps[0] ** 2))
            weights[name] = weight * (1 - lr * weight_decay) - rate / max(1, rms(update) / d) * update
    return weights | kept


class Adafactor(support.ToolTest):
    def setUp(self):
        super().setUp()
        x = np.random.default_rng(3).normal(size=(6 * STEPS, 10)).astype(np.float32)
        np.save(self.path("x.npy"), x)
        self.batches = x.astype(np.float64).reshape(STEPS, 6, 10)

    def check(self, arguments, *options, **known):
        self.write("net.dl", NET % arguments)
        self.dlcc("net.dl", "--dtype=f64", "-o", "net.plan", *options)
        self.dlrun("net.plan", "--steps", "0", "--save-final", "start.safetensors", "-q")
        shutil.rmtree(self.path("run"), ignore_errors=True)
        self.dlrun("net.plan", "--steps", str(STEPS), "--out", "run", "--every", f"ckpt={STEPS}", "-q")
        (checkpoint,) = glob.glob(self.path("run/**/*.safetensors"), recursive=True)
        trained, wanted = self.load(checkpoint), expected(self.load("start.safetensors"), self.batches, **known)
        self.assertLessEqual(set(wanted), set(trained))
        for name, value in wanted.items():
            self.assertEqual(trained[name].shape, value.shape, name)
            np.testing.assert_allclose(trained[name], value, rtol=1e-10, atol=1e-12, err_msg=f"{arguments} {options} {name}")

    def test_published_formula(self):
        self.check("net.parameters()")
        self.check("net.parameters(), {.lr = 0.3, .beta2_decay = -0.5, .eps = {1e-30, 0.1}, .d = 1.5, .weight_decay = 0.1, .maximize = true}",
                   lr=0.3, beta2_decay=-0.5, eps=(1e-30, 0.1), d=1.5, weight_decay=0.1, sign=-1)

    def test_on_meshes(self):
        for options in ["--mesh=dp=2"], ["--mesh=dp=2", "--zero=1"], ["--mesh=dp=3", "--zero=3"], ["--mesh=dp=2", "--zero=2", "--microbatches=3"]:
            self.check("net.parameters(), {.lr = 0.02}", *options, lr=0.02)
        self.check('net.parameters(), {.lr = 0.02});\n  dl::parallel::tensor(net, {{"matrix", "colwise", "tp"}}', "--mesh=dp=2,tp=2", lr=0.02)

    def test_wrong_options(self):
        for options, words in (".d = 0.5", "d is 0.5"), (".beta2_decay = 0.8", "beta2_decay is 0.8"), (".lr = -1", "lr"), (".eps = {-1, 0}", "eps.first"):
            self.write("net.dl", NET % f"net.parameters(), {{{options}}}")
            self.refuse(1, ["net.dl:", f"Adafactor: {words}"], support.dltools.DLCC, "net.dl", "-o", "net.plan")


if __name__ == "__main__":
    support.unittest.main()
