"""Data in several files: a name with a '*' stands for all that are like it, one behind the other."""

import os

import numpy as np

import dltools
from . import support
from .test_tokens import IO, LANGUAGE, TRAINING, USAGE, WINDOWS, llmc, windows

ARRAYS = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"%s", "%s"}, {.batch_size = 4, .shuffle = true});
  nn::Linear net{3, 2};
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(net(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class Shards(support.ToolTest):
    def trained(self, text, *options, data=()):
        self.write("net.dl", text)
        self.dlcc("net.dl", *options)
        self.dlrun("net.plan", "-q", "--epochs", 3, "--save-final", "w.safetensors", *data)
        with open(self.path("w.safetensors"), "rb") as file:
            return file.read()

    def test_arrays(self):
        """As one file of all: bytes of the weights are the same, on two ranks, of a part of the items, and from another folder."""
        rng = np.random.default_rng(0)
        x, y = rng.normal(size=(23, 3)).astype(np.float32), rng.integers(0, 2, 23)
        for folder in ".", "other":
            os.makedirs(self.path(folder), exist_ok=True)
            for name, values in ("x", x), ("y", y):
                for shard, rows in enumerate(np.split(values[::-1] if folder == "other" else values, [5, 6, 15])):
                    np.save(self.path(f"{folder}/{name}-{shard:02}.npy"), rows)
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), y)
        np.save(self.path(".x-00.npy"), x)  # which no '*' stands for
        os.makedirs(self.path("x-folder.npy"))
        for options in (), ("--mesh=dp=2",):
            self.assertEqual(self.trained(ARRAYS % ("x-*.npy", "y-??.npy"), *options), self.trained(ARRAYS % ("x.npy", "y.npy"), *options))
        one = self.trained(ARRAYS % ("x-*.npy", "y-*.npy"))
        elsewhere = self.trained(ARRAYS % ("x-*.npy", "y-*.npy"), data=("--data", "other"))
        self.assertNotEqual(elsewhere, one)
        self.assertEqual(elsewhere, self.trained(ARRAYS % ("x-*.npy", "y-*.npy"), data=("--data", "other/x-*.npy,other/y-*.npy")))
        self.assertIn("x-*.npy (4 files)", dltools.call([dltools.DLRUN, "net.plan", "--steps", "1"], self.folder).stderr)
        # More of them than when the plan was made.
        np.save(self.path("x-99.npy"), x)
        np.save(self.path("y-99.npy"), y)
        np.save(self.path("x.npy"), np.concatenate([x, x]))
        np.save(self.path("y.npy"), np.concatenate([y, y]))
        self.dlrun("net.plan", "-q", "--epochs", 3, "--save-final", "more.safetensors", "--drop-last")
        self.write("net.dl", ARRAYS % ("x.npy", "y.npy"))
        self.dlcc("net.dl")
        self.dlrun("net.plan", "-q", "--epochs", 3, "--save-final", "one.safetensors", "--drop-last")
        np.testing.assert_equal(self.load("more.safetensors"), self.load("one.safetensors"))

    def test_tokens(self):
        """No window is of two files, and one that is too short for any has none. Sums of files, in the order of their names."""
        rng = np.random.default_rng(0)
        shards = {"b_1.bin": rng.integers(0, 64, 100), "b_10.bin": rng.integers(0, 64, 57), "b_2.bin": rng.integers(0, 64, 3), "b_3.bin": rng.integers(0, 64, 41)}
        for name, tokens in shards.items():
            with open(self.path(name), "wb") as file:
                file.write(llmc(tokens))
        self.write("net.dl", WINDOWS % ("b_*.bin", 16, ", .stride = 7, .batch_size = 4"))
        self.dlcc("net.dl")
        self.dlrun("predict", "net.plan", "-q", "--out", "out.safetensors")
        found = self.load("out.safetensors")
        wanted = [list(windows(tokens, 16, 7)) for tokens in shards.values() if len(tokens) > 16]
        for at, name in enumerate("xy"):
            np.testing.assert_array_equal(found[name], np.concatenate([of_file[at] for of_file in wanted]))
        x, y = (np.concatenate([of_file[at] for of_file in wanted]) for at in (0, 1))
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), y)
        tokens = LANGUAGE % 'TokenDataset("b_*.bin", {.length = 16, .stride = 7, .batch_size = 4, .shuffle = true})'
        arrays = LANGUAGE % 'TensorDataset({"x.npy", "y.npy"}, {.batch_size = 4, .shuffle = true})'
        self.assertEqual(self.trained(tokens), self.trained(arrays))

    def test_large_ones_are_read(self):
        """From 256 MB of all files on."""
        apart, count = 1 << 21, 1 << 26
        for shard in range(3):
            with open(self.path(f"t{shard}.bin"), "wb") as file:
                file.truncate(2 * count)
                for start in range(0, count, apart):
                    file.seek(2 * start)
                    file.write(np.arange(start // apart, start // apart + 9, dtype=np.uint16).tobytes())
        self.write("net.dl", WINDOWS % ("t?.bin", 8, f", .stride = {apart}, .batch_size = 4"))
        self.dlcc("net.dl")
        self.dlrun("predict", "net.plan", "-q", "--out", "out.safetensors")
        np.testing.assert_array_equal(self.load("out.safetensors")["x"], np.tile(np.arange(32)[:, None] + np.arange(8), (3, 1)))

    def refused(self, text, words, code=TRAINING):
        self.write("net.dl", text)
        self.refuse(code, words, dltools.DLCC, "net.dl")

    def test_what_does_not_fit(self):
        self.refused(WINDOWS % ("b_*.bin", 16, ""), ["cannot read b_*.bin: no file is like it"], IO)
        np.save(self.path("x-0.npy"), np.zeros((5, 3), np.float32))
        np.save(self.path("x-1.npy"), np.zeros((5, 4), np.float32))
        np.save(self.path("y.npy"), np.zeros(10, np.int64))
        self.refused(ARRAYS % ("x-*.npy", "y.npy"), ["net.dl:6", "x-1.npy: its items are not like those of the files before it, in dtype or shape"])
        np.save(self.path("x-1.npy"), np.zeros((4, 3), np.float32))
        self.refused(ARRAYS % ("x-*.npy", "y.npy"), ["net.dl:6", "y.npy holds 10 items, x-*.npy holds 9"])
        np.save(self.path("x-1.npy"), np.zeros((5, 3), np.float32))
        self.write("net.dl", ARRAYS % ("x-*.npy", "y.npy"))
        self.dlcc("net.dl")
        np.save(self.path("x-1.npy"), np.zeros((5, 3), np.float64))
        self.refuse(TRAINING, ["'x-1.npy' holds f64, 'x-0.npy' before it f32"], dltools.DLRUN, "net.plan")
        self.refuse(USAGE, ["--data train=./x-*.npy: 1 files, the data set has 2"], dltools.DLRUN, "net.plan", "--data", "./x-*.npy")
        for name in "x-0.npy", "x-1.npy":
            os.remove(self.path(name))
        self.refuse(IO, ["no file is like 'x-*.npy'; --data says where the data are"], dltools.DLRUN, "net.plan")
        for name, items in ("x-0", 4), ("x-1", 6), ("y-0", 6), ("y-1", 4):
            np.save(self.path(name + ".npy"), np.zeros((items, 3), np.float32) if name[0] == "x" else np.zeros(items, np.int64))
        self.write("net.dl", ARRAYS % ("x-*.npy", "y-*.npy"))
        self.dlcc("net.dl")
        self.refuse(TRAINING, ["'y-0.npy' has 6 items, the file beside it 4"], dltools.DLRUN, "net.plan")
        for name, dtype in ("t0.npy", np.int32), ("t1.npy", np.uint8):
            np.save(self.path(name), np.zeros(100, dtype))
        self.refused(WINDOWS % ("t*.npy", 16, ""), ["t1.npy: its tokens are of another width than those of the files before it"])
        with open(self.path("s.bin"), "wb") as file:
            file.write(llmc(np.zeros(16)))
        self.refused(WINDOWS % ("*.bin", 16, ""), ["*.bin holds 16 tokens; length = 16 and one more"])
