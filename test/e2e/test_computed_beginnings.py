"""States that begin with values computed of random numbers and of other states."""

import dltools
import numpy as np

from e2e import support
from e2e.test_initial_values import Beginning

MODEL = support.HEAD + """
#include <cmath>
using dl::None, dl::Slice;

struct Net : nn::Module {
  nn::Linear fc{6, 8}, tied{6, 8};
  nn::Parameter g = fc.weight.norm(2, 1, true);                          // weight normalisation
  nn::Parameter unit = F::normalize(dl::randn({8, 6}), {.dim = 1});      // prototypes on a sphere
  nn::Parameter step, mirrored, opposite, original, shared, skew = dl::zeros({6, 6}), begun, later, shifted = dl::empty({6, 6}), parts = dl::randn({4, 6});
  nn::Buffer projection = dl::randn({6, 4}).abs() + 1;
  nn::Buffer drop = (dl::rand({64}) < 0.5).to(dl::kFloat);

  Net() {
    // The steps of a state space model: log-uniform, through the inverse of softplus.
    auto dt = dl::exp(dl::rand({8}) * (std::log(0.1) - std::log(0.001)) + std::log(0.001)).clamp_min(1e-4);
    step = nn::Parameter(dt + dl::log(-dl::expm1(-dt)));
    auto half = dl::randn({3, 6});
    mirrored = nn::Parameter(dl::cat({half, -half}, 0));
    // The same random numbers, with and without a computation.
    auto r = dl::randn({5}) * 2;
    original = nn::Parameter(r);
    opposite = nn::Parameter(-r);
    auto s = dl::rand({5});
    shared = nn::Parameter(s * 4);
    later = nn::Parameter(s.sqrt());
    auto a = dl::randn({6, 6});
    skew.data().copy_(a - a.t());
    skew.data()[0].zero_();
    skew.data()[Slice(), 0] += 1;
    nn::init::normal_(skew.data()[Slice(4, 6)], 3, 0.1);
    // What was computed of a weight stays when the weight changes.
    begun = nn::Parameter(tied.weight.data()[Slice(0, 2)].exp());
    tied.weight.data() *= 2;
    tied.weight.data()[3].fill_(7);
    nn::init::orthogonal_(shifted).add_(dl::eye(6) * 10);
    parts.data()[1].copy_(parts.data()[0] * 2);
    parts.data()[2].copy_(-parts.data()[1]);
    dl::Parameter scratch = dl::rand({6}); // of no module
    parts.data()[3] = scratch.data().clamp(0.5, 1);
  }
  dl::Tensor forward(dl::Tensor x) {
    auto all = mirrored.sum() + opposite.sum() + original.sum() + shared.sum() + skew.sum() + begun.sum() + later.sum() + shifted.sum() + parts.sum();
    return fc(x) * g.squeeze(1) + tied(x) + x.matmul(unit.t()) + step + all + projection.sum() + drop.sum();
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 4});
  Net net;
  Net ema;
  dl::optim::swa_utils::AveragedModel average(ema, net);
  dl::optim::Adam optimizer(net.parameters());
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b.data).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    average.update_parameters();
    return {{"loss", loss}};
  });
}
"""

SMALL = support.HEAD + """
using dl::None, dl::Slice;
struct Net : nn::Module {
  nn::Linear fc{6, 6};
  %(members)s
  Net() { %(constructor)s }
  dl::Tensor forward(dl::Tensor x) { return %(uses)s; }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 4});
  Net net;
  %(outside)s
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b.data).pow(2);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class Computed(Beginning):
    def test_values(self):
        for dtype, near in (("f32", 1e-6), ("f64", 1e-14)):
            with self.subTest(dtype=dtype):
                found = self.start(MODEL, dtype, f"--dtype={dtype}")
                np.testing.assert_allclose(found["g"][:, 0], np.linalg.norm(found["fc.weight"], axis=1), rtol=near)
                np.testing.assert_allclose(np.linalg.norm(found["unit"], axis=1), 1, rtol=near)
                self.assertEqual(np.unique(found["unit"]).size, 48)
                steps = np.log1p(np.exp(found["step"].astype(np.float64)))
                self.assertTrue(np.all((steps > 0.000999) & (steps < 0.1001)), steps)
                self.assertLess(steps.min(), 0.02)
                np.testing.assert_array_equal(found["mirrored"][3:], -found["mirrored"][:3])
                np.testing.assert_array_equal(found["opposite"], -found["original"])
                self.assertGreater(np.unique(found["original"]).size, 4)
                np.testing.assert_allclose(found["later"], np.sqrt(found["shared"] / 4), rtol=near)
                skew = found["skew"]
                np.testing.assert_array_equal(skew[0], [1, 0, 0, 0, 0, 0])
                inner = skew[1:4, 1:4]
                np.testing.assert_array_equal(inner, -inner.T)
                self.assertLess(np.abs(skew[4:] - 3).max(), 0.6)
                self.assertEqual(np.unique(skew[4:]).size, 12)
                tied = found["tied.weight"]
                np.testing.assert_allclose(found["begun"], np.exp(tied[:2] / 2), rtol=near)
                np.testing.assert_array_equal(tied[3], 7)
                self.assertLess(np.abs(tied[[0, 1, 2, 4]]).max(), 2 / np.sqrt(6))
                self.assertGreater(np.abs(tied[[0, 1, 2, 4]]).max(), 1 / np.sqrt(6))
                turned = found["shifted"] - 10 * np.eye(6)
                np.testing.assert_allclose(turned @ turned.T, np.eye(6), atol=20 * near)
                parts = found["parts"]
                np.testing.assert_array_equal(parts[1:3], [2 * parts[0], -2 * parts[0]])
                self.assertTrue(np.all((parts[3] >= 0.5) & (parts[3] <= 1)))
                self.assertTrue(np.all(found["projection"] >= 1))
                self.assertEqual(set(found["drop"]), {0, 1})
                for name in ("g", "unit", "skew", "tied.weight", "original"):
                    np.testing.assert_array_equal(found[f"ema.{name}"], found[name])

    def test_seeds(self):
        one, other = (self.start(MODEL, f"seed{seed}", "--dtype=f64", seed=seed) for seed in (1, 2))
        for name in ("g", "unit", "step", "mirrored", "skew", "begun", "drop"):
            self.assertFalse(np.array_equal(one[name], other[name]), name)

    def test_other_plans(self):
        """The same values on any mesh, the same bits with dead bytes poisoned."""
        alone = self.start(MODEL, "one", "--dtype=f64")
        for number, options in enumerate((["--mesh", "dp=2", "--zero=3"], ["--mesh", "dp=3", "--zero=3"], ["--mesh", "dp=2,pp=2", "--zero=1"],
                                          ["--accumulate=2"])):
            with self.subTest(options=options):
                together = self.start(MODEL, f"mesh{number}", "--dtype=f64", *options)
                self.assertEqual(alone.keys(), together.keys())
                for name, values in alone.items(): # a sum has the order of the layout
                    np.testing.assert_allclose(values, together[name], rtol=1e-14, atol=1e-15, err_msg=name)
        self.dlrun("one.plan", "-q", "--steps", 0, "--seed", 1, "--poison", "--save-final", "poisoned.safetensors", "--out", "poisoned")
        poisoned = self.load("poisoned.safetensors")
        for name, values in alone.items():
            self.assertEqual(values.tobytes(), poisoned[name].tobytes(), name)

    def begins(self, members, constructor="", uses="fc(x).sum()", outside=""):
        """What the members of a model begin with, f64."""
        self.number = getattr(self, "number", 0) + 1
        return self.start(SMALL % {"members": members, "constructor": constructor, "uses": uses, "outside": outside}, f"small{self.number}", "--dtype=f64")

    def test_numbers_of_one_tensor(self):
        """They are the same wherever they go, in any order of what is done with them; and others after each nn::init."""
        found = self.begins("nn::Parameter a, b, c, d, e, f, g = dl::zeros({3, 5}), h;", """
            auto r = dl::randn({5}); a = nn::Parameter(r); auto look = a.data()[0]; a.data()[0].fill_(1); auto copy = a.clone();
            b = nn::Parameter(r.exp()); c = nn::Parameter(copy); d = nn::Parameter(-r);
            auto t = dl::empty({5}); nn::init::normal_(t); e = nn::Parameter(t.exp()); f = nn::Parameter(t);
            g.data()[0].copy_(r); g.data()[1].copy_(-r); g.data()[2].copy_(t * 2);
            nn::init::normal_(t); h = nn::Parameter(t);""")
        r = np.log(found["b"])
        np.testing.assert_allclose(found["d"], -r, rtol=1e-13)
        np.testing.assert_array_equal(found["a"], [1, *-found["d"][1:]])
        np.testing.assert_array_equal(found["c"], found["a"])
        np.testing.assert_allclose(found["e"], np.exp(found["f"]), rtol=1e-14)
        np.testing.assert_array_equal(found["g"], [-found["d"], found["d"], 2 * found["f"]])
        self.assertEqual(np.unique([found["d"], found["f"], found["h"]]).size, 15)

    def test_initialised_again(self):
        """What was taken before stays, and the numbers are others."""
        found = self.begins("nn::Linear target{6, 6}, before{6, 6}; nn::Parameter w0, n, a = dl::zeros({6, 6}), snap, row;", """
            target.load_state_dict(fc.state_dict()); snap = nn::Parameter(fc.weight.norm()); w0 = nn::Parameter(fc.weight.clone());
            row = nn::Parameter(fc.weight.detach()[1].clone());
            nn::init::kaiming_uniform_(fc.weight); nn::init::orthogonal_(a); n = nn::Parameter(a.clone()); nn::init::orthogonal_(a);
            auto old = before.weight.clone(); before.weight.data()[0].zero_(); before.weight.data().add_(old);""",
            uses="(fc(x) + target(x) + before(x)).sum()")
        self.assertEqual(np.intersect1d(found["fc.weight"], found["w0"]).size, 0)
        np.testing.assert_array_equal(found["w0"], found["target.weight"])
        np.testing.assert_array_equal(found["row"], found["w0"][1])
        np.testing.assert_allclose(found["snap"], np.linalg.norm(found["w0"]), rtol=1e-14)
        self.assertGreater(np.abs(found["a"] - found["n"]).max(), 0.1)
        self.assertLess(np.abs(found["before.weight"][0]).max(), 1 / np.sqrt(6))
        self.assertGreater(np.abs(found["before.weight"][1:]).max(), 1 / np.sqrt(6))

    def test_what_is_no_part_of_the_model(self):
        """Parameters and modules that only help."""
        found = self.begins("nn::Parameter g, w = dl::zeros({6, 6}), own; nn::Buffer probe = dl::zeros({6}), y, kept;", """
            nn::Linear helper{6, 6}; w.data().copy_(helper.weight); g = nn::Parameter(helper.weight.norm());
            y = helper(dl::ones({4, 6})).mean(0); dl::Parameter s = dl::empty({6, 6}); nn::init::orthogonal_(s);
            own = nn::Parameter(s.clone()); kept = s.matmul(s.t());""", outside="nn::Linear other{6, 6}; net.probe.copy_(other(dl::randn({8, 6})).mean(0));")
        self.assertEqual(sorted(found), ["fc.bias", "fc.weight", "g", "kept", "own", "probe", "w", "y"])
        np.testing.assert_allclose(found["g"], np.linalg.norm(found["w"]), rtol=1e-14)
        np.testing.assert_allclose(found["kept"], np.eye(6), atol=1e-14)
        np.testing.assert_allclose(found["own"] @ found["own"].T, np.eye(6), atol=1e-14)
        self.assertGreater(np.abs(found["y"]).min(), 0)

    def test_modules_run_as_in_training(self):
        """As new ones of PyTorch's do: batch norms normalise by the batch and see it, dropout drops, until eval()."""
        found = self.begins("nn::BatchNorm1d bn{6}, other{6}; nn::Dropout drop{0.5}; nn::Buffer probe = dl::randn({16, 6}), y, dropped, same;", """
            y = bn(probe); dropped = drop(dl::ones({400})); other.eval(); same = other(probe);""", uses="(bn(fc(x)) + other(x)).sum()")
        probe = found["probe"]
        np.testing.assert_allclose(found["y"], (probe - probe.mean(0)) / np.sqrt(probe.var(0) + 1e-5), rtol=1e-10)
        np.testing.assert_allclose(found["bn.running_mean"], 0.1 * probe.mean(0), rtol=1e-10)
        np.testing.assert_allclose(found["bn.running_var"], 0.9 + 0.1 * probe.var(0, ddof=1), rtol=1e-10)
        self.assertEqual(found["bn.num_batches_tracked"], 1)
        self.assertEqual(set(found["dropped"]), {0, 2})
        np.testing.assert_allclose(found["same"], probe, rtol=1e-4)
        np.testing.assert_array_equal(found["other.running_mean"], 0)

    def test_buffers(self):
        """Changed in place and copied; a Buffer that is made of a Parameter is one of its own."""
        found = self.begins("nn::Buffer b = dl::randn({6, 6}), b0, half, of_weight; nn::Parameter a = dl::zeros({4, 6}), again;", """
            b0 = b.clone(); b.mul_(2); b[0].zero_(); b[1].add_(b[2]); b += 1; half = b[Slice(0, 3)].clone(); of_weight = fc.weight;
            again = nn::Parameter(b); a.data()[0].normal_(5, 0.1); nn::init::orthogonal_(a.data()[Slice(1, 3)]); a.data()[3].uniform_(2, 3);
            fc.weight.data().mul_(2);""")
        expected = found["b0"] * 2
        expected[0] = 0
        expected[1] += expected[2]
        np.testing.assert_allclose(found["b"], expected + 1, rtol=1e-13, atol=1e-14)
        np.testing.assert_array_equal(found["half"], found["b"][:3])
        np.testing.assert_array_equal(found["again"], found["b"])
        np.testing.assert_allclose(found["of_weight"] * 2, found["fc.weight"], rtol=1e-15)
        np.testing.assert_allclose(found["a"][1:3] @ found["a"][1:3].T, np.eye(2), atol=1e-14)

    def test_rows_one_by_one(self):
        found = self.begins("nn::Parameter a = dl::randn({64, 3}).exp(), b = dl::zeros({64, 3}), c = dl::randn({4, 3}).exp(), even;", """
            b.data().copy_(a); for (int i = 0; i < 64; ++i) a.data()[i] *= i;
            c.data()[Slice(0, 2)] *= 2; even = nn::Parameter(c.data()[Slice(0, 4, 2)].clone());""")
        np.testing.assert_array_equal(found["even"], found["c"][::2])
        np.testing.assert_allclose(found["a"], found["b"] * np.arange(64)[:, None], rtol=1e-15)

    def test_unrelated_edits(self):
        """Random numbers depend on the name of what begins with them."""
        edited = MODEL.replace("nn::Linear fc", "nn::Parameter before = dl::randn({6}).softmax(0); nn::Linear fc")
        edited = edited.replace("fc(x) * g", "before + fc(x).narrow(1, 0, 6)").replace("squeeze(1)", "sum()")
        edited = edited.replace("before + fc(x).narrow(1, 0, 6).sum()", "before.sum() + fc(x) * g.sum()")
        one, other = self.start(MODEL, "one", "--dtype=f64"), self.start(edited, "edited", "--dtype=f64")
        for name, values in one.items():
            if not name.startswith("ema."): # other layouts add up in another order: a few 1.1e-16 of sums of six
                np.testing.assert_allclose(values, other[name], rtol=1e-14, atol=1e-15, err_msg=name)

    def test_weights_that_are_given(self):
        """A file's values are what counts, and a run that goes on has its own."""
        one = self.start(MODEL, "one")
        self.dlrun("one.plan", "-q", "--steps", 3, "--seed", 1, "--save-final", "three.safetensors")
        self.dlrun("one.plan", "-q", "--steps", 0, "--seed", 5, "--init", "three.safetensors", "--save-final", "again.safetensors")
        three, again = self.load("three.safetensors"), self.load("again.safetensors")
        self.assertFalse(np.array_equal(one["unit"], three["unit"]))
        for name, values in three.items():
            np.testing.assert_array_equal(values, again[name], name)
        self.dlrun("one.plan", "-q", "--steps", 2, "--seed", 1, "--out", "run", "--every", "ckpt=1")
        self.dlrun("resume", "run", "-q", "--steps", 3, "--save-final", "resumed.safetensors")
        for name, values in self.load("resumed.safetensors").items():
            np.testing.assert_array_equal(values, three[name], name)

    def test_what_is_shown(self):
        self.start(MODEL, "one")
        text = self.dlrun("info", "one.plan")
        self.assertRegex(text, r"\n  unit +Parameter +f32 \[8,6\] +computed ")
        self.assertRegex(text, r"\n  fc.bias +Parameter +f32 \[8\] +uniform ")
        self.assertIn("\n  initial values\n", text)
        self.assertRegex(self.dlcc("m.dl", "--report", "-o", "r.plan"), r"\ninitial values: \d+ kernels")
        self.dlrun("one.plan", "-q", "--steps", 1, "--trace", "trace.json")
        with open(self.path("trace.json")) as file:
            self.assertIn('"train, initial values"', file.read())

    def test_indices_are_checked(self):
        """An index that random numbers give may be wrong: the run does not begin."""
        table = MODEL.replace("nn::Buffer drop = (dl::rand({64}) < 0.5).to(dl::kFloat)",
                              "nn::Buffer drop = dl::arange(8).to(dl::kFloat)[dl::randint(100, 120, {64})]")
        self.assertNotEqual(table, MODEL)
        np.save(self.path("x.npy"), np.zeros((4, 6), np.float32))
        self.write("t.dl", table)
        self.dlcc("t.dl", "-o", "t.plan")
        self.refuse(1, "index out of range [-8, 8) (index_check at t.dl:14:", dltools.DLRUN, "t.plan", "-q", "--steps", 1)
