"""Windows of one long row of tokens: what they hold, of every kind of file, and what is refused."""

import os

import numpy as np

import dltools
from . import support

TRAINING, USAGE, IO = 1, 2, 4

WINDOWS = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TokenDataset("%s", {.length = %d%s});
  p.predict("out", data, [&](dl::Batch b) -> dl::Metrics { return {{"x", b.data}, {"y", b.target}}; });
}
"""
# Of a data set.
LANGUAGE = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::%s;
  nn::Embedding table{64, 24};
  nn::Linear head{24, 64};
  dl::optim::SGD optimizer({table.weight, head.weight, head.bias}, {.lr = 0.5});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(head(table(b[0])).flatten(0, 1), b[1].flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


def llmc(tokens, magic=20240520, version=1, dtype=np.uint16, count=None):
    """As github.com/karpathy/llm.c writes them."""
    header = np.zeros(256, np.uint32)
    header[:3] = magic, version, len(tokens) if count is None else count
    return header.tobytes() + tokens.astype(dtype).tobytes()


def windows(tokens, length, stride=None):
    starts = range(0, len(tokens) - length, stride or length)
    return (np.array([tokens[s + shift:s + shift + length] for s in starts], np.int64) for shift in (0, 1))


class Tokens(support.ToolTest):
    def bytes(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def found(self, name, length, options="", *run):
        self.write("net.dl", WINDOWS % (name, length, options))
        self.dlcc("net.dl")
        self.dlrun("predict", "net.plan", "-q", "--out", "out.safetensors", *run)
        found = self.load("out.safetensors")
        return found["x"], found["y"]

    def is_windows(self, name, tokens, length, options="", stride=None, *run):
        for got, want in zip(self.found(name, length, options, *run), windows(tokens, length, stride)):
            self.assertEqual(got.dtype, np.int64)
            np.testing.assert_array_equal(got, want)

    def test_kinds_of_files(self):
        tokens = np.random.default_rng(0).integers(0, 256, 1003)
        self.bytes("t.txt", tokens.astype(np.uint8).tobytes())
        self.is_windows("t.txt", tokens, 16, ", .batch_size = 5")
        for dtype in np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64:
            np.save(self.path("t.npy"), tokens.astype(dtype))
            self.is_windows("t.npy", tokens, 16, ", .batch_size = 5")
        tokens = np.random.default_rng(0).integers(0, 65536, 1003)
        self.bytes("nano.bin", tokens.astype(np.uint16).tobytes())
        self.is_windows("nano.bin", tokens, 17)
        self.bytes("llmc.bin", llmc(tokens))
        self.is_windows("llmc.bin", tokens, 17, ", .batch_size = 64")
        tokens = np.random.default_rng(0).integers(0, 128256, 1003)
        self.bytes("llama.bin", llmc(tokens, 20240801, 7, np.uint32))
        self.is_windows("llama.bin", tokens, 17, ", .batch_size = 8")

    def test_windows_that_overlap_or_leave_some_out(self):
        tokens = np.random.default_rng(0).integers(0, 256, 200)
        self.bytes("t.txt", tokens.astype(np.uint8).tobytes())
        for length, stride in (16, 1), (16, 5), (16, 40), (199, 1), (1, 1):
            self.is_windows("t.txt", tokens, length, f", .stride = {stride}, .batch_size = 7", stride)
            self.is_windows("t.txt", tokens, length, f", .stride = {stride}, .batch_size = 7", stride, "--threads", 2)
        self.is_windows("t.txt", tokens[:17], 16, "", None, "--data", self.saved("other.txt", tokens[:17]))

    def saved(self, name, tokens):
        self.bytes(name, tokens.astype(np.uint8).tobytes())
        return name

    def test_a_large_file_is_read_where_windows_are(self):
        """From 256 MB on rows are read and not mapped; zeros take no room on a disk."""
        apart, count = 1 << 22, 1 << 27
        with open(self.path("t.bin"), "wb") as file:
            file.truncate(2 * count)
            for start in range(0, count, apart):
                file.seek(2 * start)
                file.write(np.arange(start // apart, start // apart + 9, dtype=np.uint16).tobytes())
        x, y = self.found("t.bin", 8, f", .stride = {apart}, .batch_size = 4")
        np.testing.assert_array_equal(x, np.arange(32)[:, None] + np.arange(8))
        np.testing.assert_array_equal(y, x + 1)

    def test_trains_as_arrays_of_windows_do(self):
        """Same order of items, shuffled, short batches too; on ranks, and with micro-batches."""
        tokens = np.random.default_rng(1).integers(0, 64, 1000)
        self.bytes("t.bin", tokens.astype(np.uint16).tobytes())
        x, y = windows(tokens, 10, 4)
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), y)
        trained = {}
        for name, dataset in (("tokens", 'TokenDataset("t.bin", {.length = 10, .stride = 4, .batch_size = 32, .shuffle = true})'),
                              ("arrays", 'TensorDataset({"x.npy", "y.npy"}, {.batch_size = 32, .shuffle = true})')):
            self.write("net.dl", LANGUAGE % dataset)
            for options in (), ("--mesh=dp=2",), ("--mesh=dp=2", "--microbatches=2"):
                self.dlcc("net.dl", *options)
                self.dlrun("net.plan", "-q", "--epochs", 2, "--save-final", "w.safetensors")
                with open(self.path("w.safetensors"), "rb") as file:
                    trained.setdefault(options, []).append(file.read())
        for options, (tokens, arrays) in trained.items():
            self.assertEqual(tokens, arrays, options)

    def refused(self, name, words, length=16, options="", code=TRAINING):
        self.write("net.dl", WINDOWS % (name, length, options))
        self.refuse(code, ["net.dl:6"] + words if code == TRAINING else words, dltools.DLCC, "net.dl")

    def test_wrong_files_and_numbers(self):
        self.refused("t.txt", ["cannot read t.txt"], code=IO)
        os.mkdir(self.path("folder"))
        self.refused("folder", ["cannot read folder: not a regular file"], code=IO)
        self.bytes("t.txt", bytes(16))
        self.refused("t.txt", ["t.txt holds 16 tokens; length = 16 and one more, the last target, are wanted"])
        self.refused("t.txt", ["t.txt holds 16 tokens"], 2**63 - 1)
        os.mkfifo(self.path("pipe"))
        self.refused("pipe", ["cannot read pipe: not a regular file"], code=IO)
        self.bytes("cut.bin", llmc(np.zeros(10), count=2**31 + 1))
        self.refused("cut.bin", ["cut.bin: 20 bytes behind its header, 2147483649 tokens need 4294967298"])
        self.refused("t.txt", ["length = 0"], 0)
        self.refused("t.txt", ["stride = -1"], 4, ", .stride = -1")
        self.bytes("odd.bin", bytes(101))
        self.refused("odd.bin", ["odd.bin: 101 bytes are no tokens of 16 bits"])
        np.save(self.path("t.npy"), np.zeros((100, 2), np.int64))
        self.refused("t.npy", ["t.npy: the array has 2 dimensions; tokens are one row"])
        np.save(self.path("t.npy"), np.zeros(100, np.float32))
        self.refused("t.npy", ["t.npy: tokens are integers"])

    def test_wrong_files_of_a_run(self):
        self.bytes("t.bin", bytes(200))
        self.write("net.dl", WINDOWS % ("t.bin", 16, ""))
        self.dlcc("net.dl")

        def refused(name, content, words, code=TRAINING):
            if content is not None:
                self.bytes(name, content)
            self.refuse(code, words, dltools.DLRUN, "predict", "net.plan", "--data", name, "--out", "o.npy")

        refused("gone.bin", None, ["gone.bin"], IO)
        refused("a,b", None, ["2 files, the data set has 1"], USAGE)
        os.mkfifo(self.path("pipe"))
        refused("pipe", None, ["pipe"], IO)
        refused("many.bin", llmc(np.zeros(10), count=2**31 + 1), ["20 bytes behind its header, 2147483649 tokens of u16 need 4294967298"])
        np.save(self.path("bool.npy"), np.zeros(100, bool))
        refused("bool.npy", None, ["bool.npy", "it holds bool, and tokens are integers"])
        self.bytes("x,y.bin", np.zeros(100, np.uint16).tobytes())
        self.dlrun("predict", "net.plan", "-q", "--data", "x,y.bin", "--out", "o.safetensors")
        refused("odd.bin", bytes(101), ["odd.bin", "101 bytes are no tokens"])
        refused("short.bin", bytes(32), ["short.bin", "16 tokens; 16 and the one behind them are wanted"])
        refused("cut.bin", llmc(np.zeros(100), count=200), ["cut.bin", "200 bytes behind its header, 200 tokens of u16 need 400"])
        np.save(self.path("f.npy"), np.zeros(100, np.float32))
        refused("f.npy", None, ["f.npy", "it holds f32, and tokens are integers"])
        np.save(self.path("m.npy"), np.zeros((20, 5), np.int32))
        refused("m.npy", None, ["m.npy", "tokens are one row"])

    def test_a_token_that_the_table_has_not(self):
        self.bytes("t.bin", np.full(100, 99, np.uint16).tobytes())
        self.write("net.dl", LANGUAGE % 'TokenDataset("t.bin", {.length = 10, .batch_size = 4})')
        self.dlcc("net.dl")
        self.refuse(TRAINING, ["net.dl:11"], dltools.DLRUN, "net.plan", "--steps", 2)


if __name__ == "__main__":
    support.unittest.main()
