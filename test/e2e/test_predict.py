"""dlrun predict: what p.predict() returns, for all items, in order."""

import os

import numpy as np

import dltools
from numpy_twin import safetensors
from . import support

TRAINING, USAGE, IO = 1, 2, 4

MODEL = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = 8, .shuffle = true%s});
  nn::Linear model{3, 2};
  nn::Dropout drop{0.5};
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::mse_loss(drop(model(b.data)), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
%s
}
"""

ONE = """  p.predict("out", data, [&](dl::Batch b) { return drop(model(b[0])); });"""
SEVERAL = """  p.predict("test", data, [&](dl::Batch b) -> dl::Metrics {
    auto out = model(b[0]);
    return {{"out", out}, {"class", out.argmax(1)}, {"large", out.gt(0.5)}};
  });"""


class Predict(support.ToolTest):
    ITEMS = 27

    def setUp(self):
        super().setUp()
        self.x, self.y = self.regression_data(self.ITEMS)

    def compiled(self, step=ONE, options=""):
        self.write("m.dl", MODEL % (options, step))
        self.dlcc("m.dl")
        self.dlrun("m.plan", "-q", "--steps", 3, "--every", "eval=0", "--save-final", "w.safetensors")
        weights = self.load("w.safetensors")
        return self.x @ weights["weight"].T + weights["bias"] if "weight" in weights else self.expected(weights)

    def expected(self, weights):
        (weight,) = [v for k, v in weights.items() if k.endswith("weight")]
        (bias,) = [v for k, v in weights.items() if k.endswith("bias")]
        return self.x @ weight.T + bias

    def fails(self, code, words, *arguments):
        return self.refuse(code, words, dltools.DLRUN, "predict", "m.plan", "--init", "w.safetensors", *arguments)

    def test_all_items_in_order(self):
        expected = self.compiled()
        for threads in (1, 3):
            self.dlrun("predict", "m.plan", "-q", "--init", "w.safetensors", "--out", "p.npy", "--threads", threads)
            found = np.load(self.path("p.npy"))
            self.assertEqual(found.dtype, np.float32)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        self.dlrun("predict", "m.plan", "-q", "--init", "w.safetensors")
        np.testing.assert_array_equal(self.load("m.predictions.safetensors")["out"], found)

    def test_a_dropped_last_batch_is_predicted_too(self):
        expected = self.compiled(options=", .drop_last = true")
        self.dlrun("predict", "m.plan", "-q", "--init", "w.safetensors", "--out", "p.npy")
        np.testing.assert_allclose(np.load(self.path("p.npy")), expected, rtol=1e-5, atol=1e-6)

    def test_without_labels_and_on_other_data(self):
        expected = self.compiled()
        os.remove(self.path("y.npy"))
        self.dlrun("predict", "m.plan", "-q", "--init", "w.safetensors", "--out", "p.npy")
        np.testing.assert_allclose(np.load(self.path("p.npy")), expected, rtol=1e-5, atol=1e-6)
        np.save(self.path("new.npy"), np.concatenate([self.x[:24], self.x[:24]]).astype(np.float64))
        result = dltools.call([dltools.DLRUN, "predict", "m.plan", "--init", "w.safetensors", "--data", "out=new.npy", "--out",
                               "q.npy", "-q"], self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("'new.npy' is f64, the model's data are f32", result.stderr)
        np.testing.assert_allclose(np.load(self.path("q.npy")), np.concatenate([expected[:24]] * 2), rtol=1e-5, atol=1e-6)

    def test_several_tensors(self):
        expected = self.compiled(SEVERAL)
        (event,) = [e for e in self.events("predict", "m.plan", "--init", "w.safetensors", "--out", "p.safetensors")
                    if e["event"] == "predict"]
        self.assertEqual(event, {"event": "predict", "name": "test", "items": self.ITEMS, "path": "p.safetensors"})
        found = self.load("p.safetensors")
        self.assertEqual(sorted(found), ["class", "large", "out"])
        np.testing.assert_array_equal(found["class"], expected.argmax(1))
        np.testing.assert_array_equal(found["large"], found["out"] > 0.5)
        self.fails(USAGE, "one tensor, there are 3", "--out", "p.npy")

    def test_the_folder_of_a_run(self):
        self.compiled()
        self.dlrun("m.plan", "-q", "--steps", 3, "--every", "eval=0", "--out", "run")
        self.dlrun("predict", "run", "-q", "--out", "a.npy")
        self.dlrun("predict", "m.plan", "-q", "--init", "w.safetensors", "--out", "b.npy")
        np.testing.assert_array_equal(np.load(self.path("a.npy")), np.load(self.path("b.npy")))

    def test_wrong_use(self):
        self.compiled()
        self.fails(USAGE, "neither in .safetensors nor in .npy", "--out", "p.txt")
        self.fails(USAGE, "these are the weights", "--out", "w.safetensors")
        self.fails(USAGE, "a file of the data", "--out", "x.npy")
        self.fails(IO, "nowhere", "--out", "nowhere/p.npy")
        self.refuse(USAGE, "with which weights", dltools.DLRUN, "predict", "m.plan")
        os.remove(self.path("x.npy"))
        self.fails(IO, "x.npy")
        self.write("none.dl", support.LINEAR)
        self.regression_data(self.ITEMS)
        self.dlcc("none.dl")
        self.refuse(USAGE, "has no p.predict()", dltools.DLRUN, "predict", "none.plan", "--init", "w.safetensors")

    def test_a_result_without_a_row_for_each_item(self):
        for step in ("""  p.predict("out", data, [&](dl::Batch b) { return model(b[0]).mean(); });""",
                     """  p.predict("out", data, [&](dl::Batch b) { return model(b[0]).sum(0); });"""):
            self.write("bad.dl", MODEL % ("", step))
            line = (MODEL % ("", step)).count("\n", 0, (MODEL % ("", step)).index("p.predict")) + 1
            self.refuse(1, [f"bad.dl:{line}:", "a row for each of the batch's 8 items"], dltools.DLCC, "bad.dl")

    def test_a_tensor_of_an_evaluation_is_not_dropped(self):
        step = """  p.eval("test", data, [&](dl::Batch b) -> dl::Metrics { return {{"out", model(b[0])}}; });"""
        self.write("e.dl", MODEL % ("", step))
        self.dlcc("e.dl")
        self.refuse(TRAINING, ["'test': 'out' is a tensor", "p.predict()"], dltools.DLRUN, "eval", "e.plan")
        self.refuse(TRAINING, ["'test': 'out' is a tensor"], dltools.DLRUN, "e.plan")


class AnyLength(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.regression_data(32)
        self.write("lin.dl", support.LINEAR.replace("p.train(", """p.eval("test", data, [&](dl::Batch b) -> dl::Metrics {
    return {{"loss", F::mse_loss(model(b.data), b.target)}};
  });
  p.train("""))
        self.dlcc("lin.dl")

    def steps(self, *arguments):
        return self.events("lin.plan", *arguments)[-1]["steps"]

    def test_more_and_fewer_items(self):
        self.assertEqual(self.steps(), 4)
        for items in (8, 24, 80):
            self.regression_data(items)
            self.assertEqual(self.steps(), items // 8)

    def test_a_rest_is_dropped_or_refused(self):
        self.regression_data(30)
        self.refuse(TRAINING, ["30 items end in a batch of 6", "compiled for 32 items", "--drop-last", "compile the model again"],
                    dltools.DLRUN, "lin.plan")
        self.assertEqual(self.steps("--drop-last", "--every", "eval=0"), 3)
        self.assertIn("eval", [event["event"] for event in self.events("eval", "lin.plan")])

    def test_dtypes_convert_with_a_note(self):
        x, y = np.load(self.path("x.npy")), np.load(self.path("y.npy"))
        plain = self.events("lin.plan", "--epochs", 2)
        np.save(self.path("x.npy"), x.astype(np.float64))
        np.save(self.path("y.npy"), y.astype(np.float64))
        result = dltools.call([dltools.DLRUN, "lin.plan", "--epochs", "2", "--save-final", "a.safetensors"], self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("'x.npy' is f64, the model's data are f32"), 1)  # of training and evaluation
        again = self.events("lin.plan", "--epochs", 2)
        self.assertEqual([e for e in plain if e["event"] == "eval"], [e for e in again if e["event"] == "eval"])

    def test_floats_of_16_bits(self):
        """A step gets them as f32, which holds each of them."""
        self.write("half.dl", support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"half.npy"}, {.batch_size = 256});
  p.predict("out", data, [&](dl::Batch b) { return b[0] + 0; });
}
""")
        half = np.arange(2**16, dtype=np.uint16).view(np.float16).reshape(-1, 4)
        np.save(self.path("half.npy"), half)
        for name, dtype in (("f32", np.float32), ("f64", np.float64)):
            self.dlcc("half.dl", f"--dtype={name}")
            result = dltools.call([dltools.DLRUN, "predict", "half.plan", "--out", "p.npy", "-q"], self.folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"'half.npy' is f16, the model's data are f32", result.stderr)
            np.testing.assert_array_equal(np.load(self.path("p.npy")), half.astype(dtype))

    def test_integers_of_all_widths(self):
        """A step gets them as i32, or as i64 where that could not hold them."""
        self.write("ids.dl", support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"ids.npy"}, {.batch_size = 2});
  p.predict("out", data, [&](dl::Batch b) { return b[0].to(dl::kFloat); });
}
""")
        for dtype, low, wide in (("i1", -100, "i32"), ("<i2", -30000, "i32"), ("<u2", 60000, "i32"), ("<u4", 4000000, "i64"), ("<u8", 70, "i64")):
            ids = (np.arange(12).reshape(4, 3) + low).astype(dtype)
            np.save(self.path("ids.npy"), ids)
            self.dlcc("ids.dl")
            result = dltools.call([dltools.DLRUN, "predict", "ids.plan", "--out", "p.npy", "-q"], self.folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"'ids.npy' is {ids.dtype.kind}{8 * ids.itemsize}, the model's data are {wide}", result.stderr)
            np.testing.assert_array_equal(np.load(self.path("p.npy")), ids.astype(np.float32))
        np.save(self.path("ids.npy"), np.full((4, 3), 2**63, np.uint64))
        self.refuse(TRAINING, ["item 0 has a value that is too large"], dltools.DLRUN, "predict", "ids.plan", "--out", "p.npy", "-q")

    def test_paths_are_those_of_the_model_first(self):
        os.mkdir(self.path("model"))
        os.mkdir(self.path("work"))
        for name in ("x.npy", "y.npy"):
            os.rename(self.path(name), self.path("model/" + name))
        self.write("model/lin.dl", support.LINEAR)
        dltools.dlcc("../model/lin.dl", "-o", "../model/lin.plan", cwd=self.path("work"))
        dltools.dlrun("../model/lin.plan", "-q", "--out", "run", "--steps", 2, cwd=self.path("work"))
        dltools.dlrun("resume", "work/run", "-q", "--steps", 3, cwd=self.folder)
        for name in ("x.npy", "y.npy"):
            os.rename(self.path("model/" + name), self.path("work/" + name))
        dltools.dlcc("../model/lin.dl", "-o", "../model/lin.plan", cwd=self.path("work"))
        dltools.dlrun("../model/lin.plan", "-q", cwd=self.path("work"))


class Integers(support.ToolTest):
    def test_made_up_labels_are_in_range_whatever_their_shape(self):
        x, y = self.classification_data()
        np.save(self.path("y.npy"), y.astype(np.uint8).reshape(-1, 1))
        self.write("net.dl", support.CONVNET.replace("b.target)", "b.target.view({-1}).to(dl::kInt64))"))
        self.dlcc("net.dl")
        self.assertEqual(self.events("bench", "net.plan", "--steps", 10)[-1]["steps"], 10)

    def test_labels_of_other_widths(self):
        x, y = self.classification_data()
        self.write("net.dl", support.CONVNET)
        self.dlcc("net.dl")
        plain = [e for e in self.events("net.plan", "--every", "log=1") if e["event"] == "step"]
        for dtype in (np.int32, np.uint8):
            np.save(self.path("y.npy"), y.astype(dtype))
            self.assertEqual(plain, [e for e in self.events("net.plan", "--every", "log=1") if e["event"] == "step"])
        np.save(self.path("y.npy"), y.astype(np.float32))
        self.refuse(TRAINING, ["y.npy", "f32", "i64"], dltools.DLRUN, "net.plan")

    def test_a_value_that_does_not_fit(self):
        x, y = self.classification_data()
        np.save(self.path("y.npy"), y.astype(np.uint8))
        self.write("net.dl", support.CONVNET.replace("b.target)", "b.target.to(dl::kInt64))"))
        self.dlcc("net.dl")
        y[37] = 300
        np.save(self.path("y.npy"), y)
        self.refuse(TRAINING, ["step 3", "item 37", "too large"], dltools.DLRUN, "net.plan")
