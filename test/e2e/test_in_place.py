"""Ops in place: views that follow, states and gradients that change in parts."""

import numpy as np

import dltools
from . import support

PARTS = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 4});
  p.predict("out", data, [&](dl::Batch b) -> dl::Metrics {
    auto x = b.data;
    %s
    return {{"x", x}, {"y", y.reshape({x.size(0), -1})}};
  });
}
"""


STATES = support.HEAD + """
using dl::None, dl::Slice;

struct Net : nn::Module {
  dl::Parameter w = dl::ones({3, 3});
  dl::Buffer memory = dl::zeros({3});
  dl::Buffer table = dl::zeros({2, 3});
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 4});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), 0.1);
  auto &w = net.w;
  auto &memory = net.memory;
  auto &table = net.table;
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto first = (w * dl::arange(9).view({3, 3})).sum() + 0 * b.data.sum(), second = w.pow(2).sum() * 0.5;
    %s
  });
}
"""

C = np.arange(9.0).reshape(3, 3)
ONE = np.ones((3, 3))


class InPlace(support.ToolTest):
    def run_parts(self, text):
        np.save(self.path("x.npy"), np.arange(24, dtype=np.float32).reshape(4, 6))
        self.write("parts.dl", PARTS % text)
        self.dlcc("parts.dl", "--dtype=f64")
        self.dlrun("predict", "parts.plan", "-q", "--out", "out.safetensors")
        found = self.load("out.safetensors")
        return found["x"], found["y"]

    def test_views_follow(self):
        """What NumPy's views do."""
        given = np.arange(24.0).reshape(4, 6)
        cases = {
            "auto y = x.view({4, 2, 3}); x[1] = 0;": lambda x: (x.__setitem__(1, 0), x.reshape(4, 2, 3))[1],
            "auto y = x.view({4, 2, 3}); y.select(1, 0).add_(100);": lambda x: (x.reshape(4, 2, 3)[:, 0].__iadd__(100), x.reshape(4, 2, 3))[1],
            "auto y = x; y += 1;": lambda x: x.__iadd__(1),
            "auto y = x.clone(); y += 1;": lambda x: x + 1,
            "auto y = x.transpose(0, 1).contiguous(); y += 1;": lambda x: x.T + 1,
            "auto y = x.t().reshape({24}); y += 1;": lambda x: x.T.ravel() + 1,
            "auto y = x.slice(1, 0, 3).flatten(); x += 1;": lambda x: (x[:, :3].flatten(), x.__iadd__(1))[0],
            "auto y = x.repeat({1, 1}); y += 1;": lambda x: x + 1,
            "auto y = x.repeat({2, 1}); y[0] += 1;": lambda x: np.vstack([x[:1] + 1, x[1:], x]),
            "auto y = x.repeat_interleave(1, 0); y += 1;": lambda x: x + 1,
            "auto y = x.view({4, 6, 1}).expand({4, 6, 2}).reshape({4, 12}); y += 1;": lambda x: np.repeat(x, 2, 1) + 1,
            "auto y = x[dl::tensor({0, 2})]; y += 1;": lambda x: x[[0, 2]] + 1,
            "auto y = dl::zeros({6, 4}); for (int i = 0; i < 6; ++i) y[i] = i == 3 ? y[1] * 2 : x.select(1, i);":
                lambda x: np.vstack([x.T[:3], x.T[1:2] * 2, x.T[4:]]),
            "auto y = x; y.index_put_({x > 3}, dl::tensor({2.5}));": lambda x: (x.__setitem__(x > 3, 2.5), x)[1],
            "auto y = x.contiguous(); y[0][0] = 5;": lambda x: (x.__setitem__((0, 0), 5), x)[1],
            "auto y = x.transpose(0, 1)[2].unsqueeze(1); y.mul_(2); x[0] = x[3];":
                lambda x: (x[:, 2].__imul__(2), x.__setitem__(0, x[3].copy()), x[:, 2:3])[2],
            "auto y = x.slice(1, 1, 6, 2); auto z = y.narrow(1, 1, 2); z.fill_(-1); y[2] = dl::tensor({7, 8, 9});":
                lambda x: (x[:, 3::2].__setitem__(slice(None), -1), x[2, 1::2].__setitem__(slice(None), [7, 8, 9]), x[:, 1::2])[2],
            "auto y = x[1]; y = x[2]; y = y * 2; x[0] = 1; y = y.view({1, 6}).expand({4, 6});":  # the name is another tensor's
                lambda x: (x[0].__setitem__(slice(None), 1), np.tile(x[2] * 2, (4, 1)))[1],
            "auto y = x.slice_scatter(dl::zeros({4, 2}), 1, 0, 4, 2).select_scatter(dl::ones({6}), 0, -1);":
                lambda x: np.vstack([np.where(np.isin(np.arange(6), [0, 2]), 0, x)[:3], np.ones((1, 6))]),
            "auto y = x.index_copy(1, dl::tensor({4, 0}), dl::ones({4, 2})).index_fill(0, dl::tensor({2}), 9);":
                lambda x: np.where(np.arange(4)[:, None] == 2, 9, np.where(np.isin(np.arange(6), [0, 4]), 1, x)),
            "auto y = x.index_put({dl::Slice(1, 3), dl::tensor({5, 1})}, dl::tensor({0.5, 0.25})); x.index_put_({x > 20}, 0);":
                lambda x: (lambda y: (y[1:3].__setitem__((slice(None), [5, 1]), [0.5, 0.25]), x.__setitem__(x > 20, 0), y)[2])(x.copy()),
            "auto y = x.index_put({dl::tensor({0, 0, 3}), dl::tensor({1, 1, 2})}, 1.0, true); x[dl::None].squeeze(0)[2].neg_();":
                lambda x: (lambda y: (np.add.at(y, ([0, 0, 3], [1, 1, 2]), 1), x[2].__imul__(-1), y)[2])(x.copy()),
        }
        for text, expected in cases.items():
            with self.subTest(text=text):
                x = given.copy()
                y = expected(x)
                found_x, found_y = self.run_parts(text)
                np.testing.assert_array_equal(found_x, x)
                np.testing.assert_array_equal(found_y.ravel(), y.ravel())

    def test_an_index_twice(self):
        """The last one stays, as in NumPy."""
        given = np.arange(24, dtype=np.float32).reshape(4, 6)
        np.save(self.path("x.npy"), given)
        for text in ("x.index_put_({dl::tensor({2, 0, 2})}, x.slice(0, 0, 3) * 2.0)", "x.index_copy_(0, dl::tensor({2, 0, 2}), x.slice(0, 0, 3) * 2.0)",
                     "x.scatter_(0, dl::tensor({2, 0, 2}).unsqueeze(1).expand({3, 6}), x * 2.0)"):
            with self.subTest(text=text):
                x = given.copy()
                x[[2, 0, 2]] = given[:3] * 2
                np.testing.assert_array_equal(self.run_parts(f"auto y = x * 1; {text};")[0], x)
        x = given.copy()
        x[0, 1], x[1, 3], x[1, 0] = given[0, 2], given[1, 0], given[1, 2]
        text = "auto y = x * 1; x.scatter_(1, dl::tensor({1, 1, 1, 3, 3, 0}).reshape({2, 3}), dl::cat({x[0].slice(0, 0, 3), x[1].slice(0, 1, 2), x[1].slice(0, 0, 1), x[1].slice(0, 2, 3)}).reshape({2, 3}));"
        np.testing.assert_array_equal(self.run_parts(text)[0], x)

    def states(self, text):
        np.save(self.path("x.npy"), np.ones((4, 2), np.float32))
        self.write("states.dl", STATES % text)
        self.dlcc("states.dl", "--dtype=f64")
        self.dlrun("states.plan", "-q", "--steps", 1, "--save-final", "states.safetensors")
        return self.load("states.safetensors")

    def test_states_and_gradients(self):
        step = "optimizer.zero_grad(); first.backward(); %s optimizer.step(); %s return {{\"loss\", first}};"
        moved = ONE - 0.1 * C
        half = moved.copy()
        half[0] *= 0.5
        rows = C.copy()
        rows[1] = 7
        cases = {
            # All of a buffer, in every way.
            step % ("", "memory[Slice()] = 5;"): {"memory": [5, 5, 5]},
            step % ("", "memory[dl::Ellipsis] = 5; memory.view({3})[0] = 4;"): {"memory": [4, 5, 5]},
            step % ("", "memory.index_put_({dl::tensor({1})}, 7.0);"): {"memory": [0, 7, 0]},
            step % ("", "memory.contiguous().add_(1); memory.flatten().add_(1); memory.narrow(0, 0, 3).add_(1);"): {"memory": [3, 3, 3]},
            step % ("", "auto m = memory.to(dl::kFloat); memory += 1; m[2] = 4;"): {"memory": [1, 1, 4]},
            step % ("", "table.view({3, 2}).t()[1] = dl::tensor({1, 2, 3}); memory.copy_(table[0]);"):
                {"table": [[0, 1, 0], [2, 0, 3]], "memory": [0, 1, 0]},
            step % ("", "auto q = table.t().contiguous(); q += 1; auto r = table.repeat({1, 1}); r += 1; memory += q[0][0] + r[0][0];"):
                {"table": np.zeros((2, 3)), "memory": [2, 2, 2]},
            # Views that are older than an update.
            step % ("auto row = w.data()[0]; auto old = w.clone();", "row.mul_(0.5); memory.copy_(old[2]);"): {"w": half, "memory": [1, 1, 1]},
            step % ("auto d = w.data();", "d.mul_(2); d.add_(1);"): {"w": 2 * moved + 1},
            step % ("auto d = w.detach();", "memory.copy_(d[0]);"): {"memory": moved[0]},
            step % ("", "w[0] *= 0.5; dl::Tensor t = w; t.view({-1})[0] = 0.5;"): {"w": half},
            # Gradients.
            step % ("auto g = w.grad(); g[1] = 7;", ""): {"w": ONE - 0.1 * rows},
            step % ("auto g = w.grad(); second.backward(); g.mul_(0.5);", ""): {"w": ONE - 0.05 * (C + 1)},
            step % ("auto g = w.grad(); optimizer.zero_grad(); second.backward(); w.grad().add_(g); g.mul_(100);", ""): {"w": ONE - 0.1 * (C + 1)},
            step % ("auto g = w.grad(); auto row = g[1]; nn::utils::clip_grad_value_(net.parameters(), 3.0); row.fill_(7); g.t()[0] = 0;", ""):
                {"w": ONE - 0.1 * np.where([[0, 1, 1]] * 3, np.where([[0], [1], [0]], 7, np.minimum(C, 3)), 0)},
            # Gradients of what was changed through a view.
            "auto h = w * 1; auto v = h[0]; v += 1; auto q = h.pow(3).sum() + v.pow(2).sum(); auto g = dl::autograd::grad(q, h)[0];"
            + step % ("", "memory.copy_(g[0]); table[0] = g[1];"): {"memory": [16, 16, 16], "table": [[3, 3, 3], [0, 0, 0]]},
            "auto h = w * 2; auto v = h.t(); auto g = dl::autograd::grad(v.t().pow(2).sum() + h.sum(), v)[0];"
            + step % ("", "memory.copy_(g[0]);"): {"memory": [4, 4, 4]},
        }
        for text, expected in cases.items():
            with self.subTest(text=text):
                found = self.states(text)
                for name, values in expected.items():
                    np.testing.assert_allclose(found[name], values, rtol=1e-13, atol=1e-15)
