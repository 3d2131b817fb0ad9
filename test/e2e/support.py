"""What the tests share: a folder of their own, small models, data sets."""

import gzip
import os
import shutil
import struct
import tempfile
import unittest

import numpy as np

import dltools
from numpy_twin import safetensors

HEAD = "#include <dl/dl.h>\nnamespace nn = dl::nn;\nnamespace F = dl::F;\n"

# A classifier with a convolution; %s are options of the data set and of the optimizer.
CONVNET = HEAD + """
struct Net : nn::Module {
  nn::Conv2d conv{1, 6, 3};
  nn::Linear fc1{150, 20};
  nn::Linear fc2{20, 5};
  dl::Tensor forward(dl::Tensor x) {
    x = F::max_pool2d(F::relu(conv(x)), 2);
    return fc2(F::relu(fc1(x.view({-1, 150}))));
  }
};

void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = p.arg("batch_size", 16)});
  Net model;
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.05, .momentum = 0.9});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(model(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""

LINEAR = HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy", "y.npy"}, {.batch_size = p.arg("batch_size", 8)});
  nn::Linear model{3, 2};
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::mse_loss(model(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class ToolTest(unittest.TestCase):
    """A test with a folder that is the working directory of the tools it calls."""

    EVERY_PROCESSOR = False  # plans are looked at, with the kernels that this machine cannot run

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="dl-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def dlcc(self, *arguments, **options):
        return dltools.dlcc(*arguments, cwd=self.folder, every_processor=self.EVERY_PROCESSOR, **options)

    def dlrun(self, *arguments, **options):
        return dltools.dlrun(*arguments, cwd=self.folder, **options)

    def events(self, *arguments, **options):
        return dltools.events(*arguments, cwd=self.folder, **options)

    def info(self, plan):
        return dltools.info(plan, cwd=self.folder)

    def load(self, name):
        return safetensors.load(self.path(name))

    def refuse(self, code, words, tool, *arguments, env=None):
        """The tool must end with the code and say all the words; returns what it said."""
        before = self.listing()
        result = dltools.call([tool, *arguments], self.folder, env)
        said = result.stderr + result.stdout
        self.assertEqual(result.returncode, code, said)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, said)
        self.assertEqual(before, self.listing(), "a refused run wrote something")
        return said

    def listing(self):
        return {name: os.stat(self.path(name)).st_size for name in sorted(os.listdir(self.folder))}

    # Data.
    def classification_data(self, items=64, seed=0, shape=(1, 12, 12), classes=5):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(items, *shape)).astype(np.float32), rng.integers(0, classes, items)
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), y)
        return x, y

    def regression_data(self, items=32, seed=0):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(items, 3)).astype(np.float32)
        y = (x @ rng.normal(size=(3, 2)) + 0.5).astype(np.float32)
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), y)
        return x, y


def write_idx(path, array):
    """An IDX file of bytes; compressed where the name ends in .gz."""
    data = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()
    with (gzip.open(path, "wb", 1) if path.endswith(".gz") else open(path, "wb")) as file:
        file.write(data)


def fake_mnist():
    """A folder with files of MNIST's format and size, made once for all tests: easy classes, quick to make."""
    folder = os.path.join(dltools.ROOT, "build", "test-data", "mnist")
    if not os.path.isdir(folder):
        part = folder + f".part{os.getpid()}"
        os.makedirs(part)
        rng = np.random.default_rng(7)
        shapes = rng.integers(0, 160, (10, 28, 28), dtype=np.uint8)
        for prefix, items in (("train", 60000), ("t10k", 10000)):
            labels = rng.integers(0, 10, items, dtype=np.uint8)
            images = shapes[labels] + rng.integers(0, 96, (items, 28, 28), dtype=np.uint8)
            write_idx(os.path.join(part, f"{prefix}-images-idx3-ubyte"), images)
            write_idx(os.path.join(part, f"{prefix}-labels-idx1-ubyte"), labels)
        os.rename(part, folder)
    return folder


def real_mnist():
    """The folder of the real files, or None."""
    folder = os.path.join(os.environ.get("DL_DATA", ""), "mnist")
    return folder if os.environ.get("DL_DATA") and os.path.isdir(folder) else None


def example(name):
    return os.path.join(dltools.ROOT, "examples", name, name + ".dl")


def smaller(name):
    """Options of dlcc for an example that would train for minutes."""
    sizes = {"gpt2": {"n_layer": 2, "n_embd": 64, "n_head": 2, "length": 32, "vocab_size": 256}}
    return [word for key, value in sizes.get(name, {}).items() for word in ("-D", f"{key}={value}")]


class PictureTest(ToolTest):
    """What transforms make of the pictures x of x.npy, in f64."""

    MODEL = HEAD + """
namespace T = dl::transforms;
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 5});
  dl::Parameter w = dl::zeros({1});
  p.predict("out", data, [&](dl::Batch b) -> dl::Metrics { auto x = b.data; return {
RETURNS,
    {"w", x.sum({1, 2, 3}) + w}
  }; });
}
"""

    def computed(self, *returned, seed=0):
        self.write("t.dl", self.MODEL.replace("RETURNS", ",\n".join(f'    {{"o{i}", {one}}}' for i, one in enumerate(returned))))
        self.dlcc("t.dl", "-o", "t.plan", "--dtype=f64")
        safetensors.save(self.path("w.safetensors"), {"w": np.zeros(1)})
        self.dlrun("predict", "t.plan", "-q", "--init", "w.safetensors", "--out", "o.safetensors", "--seed", seed)
        found = safetensors.load(self.path("o.safetensors"))
        return [found[f"o{i}"] for i in range(len(returned))]

    def assert_wrong(self, expression, says):
        """dlcc refuses it, at its line."""
        self.write("t.dl", self.MODEL.replace("RETURNS", f'{{"o", {expression}}}'))
        result = dltools.call([dltools.DLCC, "--check", "t.dl"], cwd=self.folder)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(says, result.stderr)
        self.assertIn("t.dl:9:", result.stderr)
