"""Pools of volumes and InstanceNorm, values and gradients, beside plain NumPy."""

import itertools

import numpy as np

from numpy_twin import safetensors
from . import support

MODEL = support.HEAD + """
struct Net : nn::Module {
  dl::Parameter x = dl::zeros({2, 3, 5, 6, 7});
  %s
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"c.npy"}, {.batch_size = 1});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.0});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto y = %s;
    auto loss = (y * b.data.view(y.sizes())).sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"y", y}, {"dx", net.x.grad()}};
  });
}
"""

SHAPE = (2, 3, 5, 6, 7)


def outputs(size, kernel, stride, pad, dilation, ceil):
    """PyTorch's: the last window begins inside of the input or of the padding before it."""
    reach = size + 2 * pad - dilation * (kernel - 1) - 1
    count = (-(-reach // stride) if ceil else reach // stride) + 1
    return count - 1 if ceil and (count - 1) * stride >= size + pad else count


def windows(kernel, stride, pad, dilation, ceil):
    """For each output the indices of its elements, and what include_pad counts."""
    found = []
    for size, k, s, p, d in zip(SHAPE[2:], kernel, stride, pad, dilation):
        dim = []
        for o in range(outputs(size, k, s, p, d, ceil)):
            begin = o * s - p
            counted = min(begin + k, size + p) - begin
            dim.append(([begin + i * d for i in range(k) if 0 <= begin + i * d < size], counted))
        found.append(dim)
    return found


class Volumes(support.ToolTest):
    def run_model(self, member, call, y_shape):
        rng = np.random.default_rng(1)
        x = rng.standard_normal(SHAPE)
        c = rng.standard_normal(y_shape)
        np.save(self.path("c.npy"), c.reshape((1, -1)))
        self.write("m.dl", MODEL % (member, call))
        self.dlcc("m.dl", "--dtype=f64")
        self.dlrun("m.plan", "-q", "--steps", 0, "--save-final", "start.safetensors")
        weights = self.load("start.safetensors")
        weights["x"] = x
        safetensors.save(self.path("w.safetensors"), weights)
        self.dlrun("m.plan", "-q", "--steps", 1, "--init", "w.safetensors", "--save-metrics", "metrics.safetensors")
        metrics = self.load("metrics.safetensors")
        return x, c, metrics["y"], metrics["dx"]

    def pool(self, member, pick, kernel, stride, pad=(0, 0, 0), dilation=(1, 1, 1), ceil=False):
        dims = windows(kernel, stride, pad, dilation, ceil)
        shape = SHAPE[:2] + tuple(len(dim) for dim in dims)
        x, c, found, gradient = self.run_model(member, "net.pool(net.x)", shape)
        y, dx = np.zeros(shape), np.zeros(SHAPE)
        for at in itertools.product(*(range(n) for n in shape)):
            sides = [dim[o] for dim, o in zip(dims, at[2:])]
            elements = list(itertools.product(*(side[0] for side in sides)))
            for share, element in pick([x[at[:2] + e] for e in elements], elements, sides):
                y[at] += share * x[at[:2] + element]
                dx[at[:2] + element] += share * c[at]
        np.testing.assert_allclose(found, y, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(gradient, dx, rtol=1e-12, atol=1e-13)

    @staticmethod
    def largest(values, elements, _):
        return [(1.0, elements[int(np.argmax(values))])]

    def test_max(self):
        self.pool("nn::MaxPool3d pool{2};", self.largest, (2, 2, 2), (2, 2, 2))
        self.pool("nn::MaxPool3d pool{{3, 2, 2}, {.stride = {2, 1, 3}, .padding = {1, 1, 0}}};",
                  self.largest, (3, 2, 2), (2, 1, 3), (1, 1, 0))
        self.pool("nn::MaxPool3d pool{{2, 3, 2}, {1, 2, 2}, {1, 0, 1}, {2, 2, 1}, false, true};",
                  self.largest, (2, 3, 2), (1, 2, 2), (1, 0, 1), (2, 2, 1), True)

    def test_average(self):
        def all_of(divisor):
            return lambda values, elements, sides: [(1 / divisor(len(values), sides), e) for e in elements]
        counted = all_of(lambda _, sides: np.prod([side[1] for side in sides]))
        self.pool("nn::AvgPool3d pool{{2, 3, 2}};", counted, (2, 3, 2), (2, 3, 2))
        self.pool("nn::AvgPool3d pool{{3, 2, 3}, {.stride = 2, .padding = {1, 1, 1}, .ceil_mode = true}};",
                  counted, (3, 2, 3), (2, 2, 2), (1, 1, 1), ceil=True)
        self.pool("nn::AvgPool3d pool{3, {.stride = 2, .padding = 1, .count_include_pad = false}};",
                  all_of(lambda n, _: n), (3, 3, 3), (2, 2, 2), (1, 1, 1))
        self.pool("nn::AvgPool3d pool{2, {.divisor_override = 5}};", all_of(lambda *_: 5), (2, 2, 2), (2, 2, 2))

    def test_batch_norm(self):
        for rank, view in ((5, "net.x"), (3, "net.x.view({2, 3, 210})")):
            shape = SHAPE if rank == 5 else (2, 3, 210)
            x, c, found, gradient = self.run_model(f"nn::BatchNorm{rank - 2}d norm{{3, 1e-3}};", f"net.norm({view})", shape)
            rows, weight = (v.reshape(2, 3, 210).transpose(1, 0, 2).reshape(3, -1) for v in (x, c))
            mean, var = rows.mean(1, keepdims=True), rows.var(1, keepdims=True)
            scale = 1 / np.sqrt(var + 1e-3)
            y = (rows - mean) * scale
            dx = scale * (weight - weight.mean(1, keepdims=True) - y * (weight * y).mean(1, keepdims=True))
            for got, want in ((found, y), (gradient, dx)):
                got = got.reshape(2, 3, 210).transpose(1, 0, 2).reshape(3, -1)
                np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)
            self.dlrun("m.plan", "-q", "--steps", 1, "--init", "w.safetensors", "--save-final", "after.safetensors")
            after = self.load("after.safetensors")
            np.testing.assert_allclose(after["norm.running_mean"], 0.1 * mean[:, 0], rtol=1e-12)
            np.testing.assert_allclose(after["norm.running_var"], 0.9 + 0.1 * var[:, 0] * 420 / 419, rtol=1e-12)

    def test_instance_norm(self):
        for rank, view in ((5, "net.x"), (4, "net.x.view({2, 3, 5, 42})"), (3, "net.x.view({2, 3, 210})")):
            name = f"nn::InstanceNorm{rank - 2}d"
            shape = SHAPE if rank == 5 else (2, 3, 5, 42) if rank == 4 else (2, 3, 210)
            x, c, found, gradient = self.run_model(name + " norm{3, {.affine = true}};", f"net.norm({view})", shape)
            rows, weight = x.reshape(6, -1), c.reshape(6, -1)
            mean, scale = rows.mean(1, keepdims=True), 1 / np.sqrt(rows.var(1, keepdims=True) + 1e-5)
            y = (rows - mean) * scale
            dx = scale * (weight - weight.mean(1, keepdims=True) - y * (weight * y).mean(1, keepdims=True))
            np.testing.assert_allclose(found.reshape(6, -1), y, rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(gradient.reshape(6, -1), dx, rtol=1e-9, atol=1e-11)
