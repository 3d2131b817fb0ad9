"""Muon against its published formula in NumPy, which agrees with PyTorch 2.15 to 1e-14 if that iterates in f64: on one device and on meshes; what it refuses."""

import numpy as np

from . import support

NET = support.HEAD + """
struct Net : nn::Module {
  dl::Parameter wide = dl::randn({6, 10}), tall = dl::randn({12, 4});
  dl::Tensor forward(dl::Tensor x) { return x.matmul(wide.t()).sin().sum() + x.narrow(1, 0, 4).matmul(tall.t()).cos().sum(); }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 8});
  Net net;
  dl::optim::Muon optimizer(%s);
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b[0]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""
STEPS = 5


def orthogonalized(matrix, a, b, c, steps):
    x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / max(np.linalg.norm(x), 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x


def expected(start, batches, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, coefficients=(3.4445, -4.775, 2.0315), steps=5,
             ratio=lambda rows, columns: max(1, rows / columns) ** 0.5):
    """The weights after the batches."""
    weights = {name: start[name].astype(np.float64) for name in ("wide", "tall")}
    buffers = {name: 0 for name in weights}
    for x in batches:
        gradients = {"wide": np.cos(x @ weights["wide"].T).T @ x, "tall": -np.sin(x[:, :4] @ weights["tall"].T).T @ x[:, :4]}
        for name, gradient in gradients.items():
            buffers[name] = momentum * buffers[name] + (1 - momentum) * gradient
            update = (1 - momentum) * gradient + momentum * buffers[name] if nesterov else buffers[name]
            update = orthogonalized(update, *coefficients, steps)
            weights[name] = weights[name] * (1 - lr * weight_decay) - lr * ratio(*weights[name].shape) * update
    return weights


class Muon(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.x = np.random.default_rng(3).normal(size=(8 * STEPS, 10)).astype(np.float32)
        np.save(self.path("x.npy"), self.x)
        self.batches = self.x.astype(np.float64).reshape(STEPS, 8, 10)

    def train(self, *options):
        self.dlcc("net.dl", "--dtype=f64", "-o", "net.plan", *options)
        self.dlrun("net.plan", "--steps", "0", "--save-final", "start.safetensors", "-q")
        self.dlrun("net.plan", "--steps", str(STEPS), "--save-final", "w.safetensors", "-q")
        return self.load("start.safetensors"), self.load("w.safetensors")

    def check(self, arguments, *options, **known):
        self.write("net.dl", NET % arguments)
        start, trained = self.train(*options)
        for name, value in expected(start, self.batches, **known).items():
            np.testing.assert_allclose(trained[name], value, rtol=1e-10, atol=1e-10, err_msg=f"{arguments} {options} {name}")

    def test_published_formula(self):
        self.check("net.parameters()")
        self.check("net.parameters(), {.lr = 0.02, .weight_decay = 0, .momentum = 0.8, .nesterov = false, .ns_steps = 3}",
                   lr=0.02, weight_decay=0, momentum=0.8, nesterov=False, steps=3)
        self.check('net.parameters(), {.lr = 0.01, .ns_coefficients = {2, -1.5, 0.5}, .adjust_lr_fn = "match_rms_adamw"}',
                   lr=0.01, coefficients=(2, -1.5, 0.5), ratio=lambda rows, columns: 0.2 * max(rows, columns) ** 0.5)
        self.check('{{.params = {net.wide, net.tall}, .adjust_lr_fn = "spectral_unclamped"}}, {.lr = 0.02}', lr=0.02,
                   ratio=lambda rows, columns: (rows / columns) ** 0.5)

    def test_on_meshes(self):
        for options in ["--mesh=dp=2"], ["--mesh=dp=2", "--zero=1"], ["--mesh=dp=3", "--zero=3"], ["--mesh=dp=2", "--zero=2", "--microbatches=2"]:
            self.check("net.parameters(), {.lr = 0.02}", *options, lr=0.02)
        self.check('net.parameters(), {.lr = 0.02});\n  dl::parallel::tensor(net, {{"wide", "colwise", "tp"}, {"tall", "rowwise", "tp"}}', "--mesh=dp=2,tp=2", lr=0.02)

    def test_what_is_no_matrix(self):
        self.write("net.dl", NET.replace("tall = dl::randn({12, 4})", "tall = dl::randn({12, 2, 2})").replace("tall.t()", "tall.view({12, 4}).t()") % "net.parameters()")
        self.refuse(1, ["net.dl:", "Muon: a parameter is [12,2,2]; Muon is for matrices, give others to AdamW"], support.dltools.DLCC, "net.dl", "-o", "net.plan")
        for options, words in (".ns_steps = 100", "ns_steps is 100"), ('.adjust_lr_fn = "rms"', 'adjust_lr_fn is "rms"'), (".lr = -1", "lr"):
            self.write("net.dl", NET % f"net.parameters(), {{{options}}}")
            self.refuse(1, ["net.dl:", f"Muon: {words}"], support.dltools.DLCC, "net.dl", "-o", "net.plan")


if __name__ == "__main__":
    support.unittest.main()
