"""dlrun --detect-anomaly: the kernel in which NaN begin. What --halt-on leaves behind."""

import os
import re
import unittest

import numpy as np

import dltools
from . import support

MODEL = support.HEAD + """
struct Net : nn::Module {
  nn::Linear first{3, 4}, last{4, 2};
  dl::Tensor forward(dl::Tensor x) {
    x = F::relu(first(x));
    x = %s;
    return last(x);
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 8});
  Net model;
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.01});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::mse_loss(model(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}, {"slope", model.first.weight.grad()}};
  });
  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics { return {{"loss", F::mse_loss(model(b.data), b.target)}}; });
}
"""
LINE = 9  # of %s


class Anomaly(support.ToolTest):
    def compiled(self, expression, *options):
        x, _ = self.regression_data()
        self.write("m.dl", MODEL % expression)
        self.dlcc("m.dl", "-fno-fuse", *options)
        return x

    def anomaly(self, *options, env=None):
        return self.refuse(1, "NaN begins in ", dltools.DLRUN, *(options or ("m.plan",)), "--detect-anomaly", env=env)

    def test_the_op_is_named(self):
        for dtype in ("f32", "f64", "bf16"):
            self.compiled("x - (x.sum() - x.sum()).log() * 0 + (x.sum() * 0 - 1).log()", "--dtype=" + dtype)
            said = self.anomaly()
            self.assertRegex(said, rf"step 1: NaN begins in kernel '\w+' \(.*\bm\.dl:{LINE}:")
            self.assertIn("log", said)
            self.assertNotIn("matmul", said.split(";")[0])
            self.refuse(1, "'test', batch 1: NaN begins in ", dltools.DLRUN, "eval", "m.plan", "--detect-anomaly")

    def test_a_slope_is_found_in_its_backward(self):
        self.compiled("(x * 0).sqrt()")  # 0 x inf
        self.assertIn(f"m.dl:{LINE}:", self.anomaly())

    def test_the_batch_has_them(self):
        x = self.compiled("x * 2")
        x[17, 1] = np.nan
        np.save(self.path("x.npy"), x)
        self.assertRegex(self.anomaly(), r"step 3: NaN begins in .*, which reads them in 'batch\[0\]'")

    def test_nothing_is_wrong(self):
        """NaN that are dropped are nobody's concern, and the bits are those of other runs."""
        self.compiled("dl::where(x > 0.1, (x - 0.1).log().detach(), x)", "--mesh", "dp=2")
        self.dlrun("m.plan", "--save-final", "a.safetensors", "-q", "--epochs", 2)
        self.dlrun("m.plan", "--save-final", "b.safetensors", "-q", "--epochs", 2, "--detect-anomaly")
        with open(self.path("a.safetensors"), "rb") as a, open(self.path("b.safetensors"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_those_that_are_dropped_are_not_named(self):
        self.compiled("dl::where(x > 0.1, (x - 0.1).log().detach(), x) + (x * 0).sqrt()")
        said = self.anomaly()
        self.assertIn("mul", said)
        self.assertNotIn("log", said)

    def test_a_rank_has_them(self):
        self.compiled("(x * 0).sqrt()", "--mesh", "dp=2")
        said = self.anomaly()
        kernels = re.findall("kernel '\\w+'", said)
        self.assertEqual(len(kernels), len(set(kernels)), "both ranks say it")

    def test_gpus_have_it_not_yet(self):
        self.compiled("x * 2", "--target=cuda:source")
        self.refuse(3, "--detect-anomaly: not on GPUs", dltools.DLRUN, "m.plan", "--detect-anomaly", env=dltools.emulated())

    def test_metrics_of_the_step_that_halts(self):
        x = self.compiled("x * 2")
        x[17, 1] = np.nan
        np.save(self.path("x.npy"), x)
        said = dltools.call([dltools.DLRUN, "m.plan", "--halt-on", "nan", "--save-metrics", "m.safetensors", "--save-final", "w.safetensors"], self.folder)
        self.assertEqual(said.returncode, 1)
        self.assertIn("step 3: loss is nan", said.stderr)
        metrics = self.load("m.safetensors")
        self.assertTrue(np.isnan(metrics["loss"]))
        self.assertEqual(metrics["slope"].shape, (4, 3))
        self.assertFalse(os.path.exists(self.path("w.safetensors")), "weights of a failed run")
        os.remove(self.path("m.safetensors"))
        self.regression_data()
        said = dltools.call([dltools.DLRUN, "m.plan", "--every", "eval=1", "--halt-on", "test.loss>-1", "--save-metrics", "m.safetensors"], self.folder)
        self.assertEqual(said.returncode, 1)
        self.assertIn("step 1: test.loss is", said.stderr)
        self.assertTrue(np.isfinite(self.load("m.safetensors")["loss"]), "of the step before the evaluation")

    def test_a_limit_keeps_what_was_trained(self):
        """A number beyond a limit is an end, and may be a good one: the run is that of one which ends there by itself."""
        self.compiled("x * 2")
        for name, limit, step in (("loss", "loss>0", 1), ("test", "test.loss>0", 4)):
            said = dltools.call([dltools.DLRUN, "m.plan", "-q", "--epochs", "2", "--halt-on", limit, "--out", name, "--save-final", name + ".safetensors"],
                                self.folder)
            self.assertEqual(said.returncode, 1, said.stderr)
            self.assertIn(f"dlrun resume {name}' goes on", said.stderr)
            self.dlrun("m.plan", "-q", "--steps", str(step), "--save-final", "w.safetensors")
            for key, value in self.load("w.safetensors").items():
                np.testing.assert_array_equal(self.load(name + ".safetensors")[key], value, key)
            self.assertEqual(os.listdir(self.path(name, "checkpoints")), [f"step-{step:08}.safetensors"])
            if step > 1:  # the one before may be better: no number of them to keep takes it
                dltools.call([dltools.DLRUN, "m.plan", "-q", "--halt-on", limit, "--out", "kept", "--every", "ckpt=1", "--keep", "1"], self.folder)
                self.assertEqual(sorted(os.listdir(self.path("kept/checkpoints"))), [f"step-{step - 1:08}.safetensors", f"step-{step:08}.safetensors"])
            said = dltools.call([dltools.DLRUN, "resume", name, "-q", "--save-final", "a.safetensors"], self.folder)
            self.assertIn(f"step {2 * step}: ", said.stderr)  # where the same limit is looked at next
            self.dlrun("m.plan", "-q", "--steps", str(2 * step), "--save-final", "b.safetensors")
            for key, value in self.load("b.safetensors").items():
                np.testing.assert_array_equal(self.load("a.safetensors")[key], value, key)


if __name__ == "__main__":
    unittest.main()
