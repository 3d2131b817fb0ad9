"""FashionMNIST, KMNIST, CIFAR10 and CIFAR100: what a batch holds, where the files are looked for, what is refused."""

import os

import numpy as np

import dltools
from . import support

TRAINING, IO = 1, 4

MODEL = support.HEAD + """
void dl_main(dl::Program &p) {
  auto train = dl::data::NAME("data", {.batch_size = 4, .shuffle = true});
  auto test = dl::data::NAME("data", {.train = false, .batch_size = 3});
  nn::Linear model{PIXELS, 10};
  dl::optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  p.train(train, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(model(b.data.flatten(1)), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
  p.predict("all", train, [&](dl::Batch b) -> dl::Metrics { return {{"x", b.data}, {"y", b.target}}; });
  p.predict("others", test, [&](dl::Batch b) -> dl::Metrics { return {{"x", b.data}, {"y", b.target}}; });
}
"""
# What torchvision's users write: transforms.Normalize(mean, std).
FASHION = ("FashionMNIST", (1, 28, 28), [0.2860], [0.3530])
KANA = ("KMNIST", (1, 28, 28), [0.1918], [0.3483])
CIFAR100 = ("CIFAR100", (3, 32, 32), [0.5071, 0.4865, 0.4409], [0.2673, 0.2564, 0.2762])
CIFAR = ("CIFAR10", (3, 32, 32), [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616])


def items(shape, count, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (count, *shape), dtype=np.uint8), rng.integers(0, 10, count, dtype=np.uint8)


class PictureDatasets(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.elsewhere = {"DL_DATA": self.path("nowhere")}

    def compiled(self, dataset):
        name, shape, _, _ = dataset
        self.write("net.dl", MODEL.replace("NAME", name).replace("PIXELS", str(np.prod(shape))))
        self.dlcc("net.dl", "-o", "net.plan")

    def fashion(self, folder):
        os.makedirs(self.path(folder))
        kept = {}
        for seed, (split, prefix, count) in enumerate((("train", "train", 12), ("test", "t10k", 6))):
            images, labels = kept[split] = items((1, 28, 28), count, seed)
            support.write_idx(self.path(folder, f"{prefix}-images-idx3-ubyte"), images[:, 0])
            support.write_idx(self.path(folder, f"{prefix}-labels-idx1-ubyte"), labels)
        return kept

    def cifar(self, folder):
        """Five files of different lengths, and one for tests."""
        os.makedirs(self.path(folder))
        kept = {}
        for seed, (split, files) in enumerate((("train", [(f"data_batch_{part + 1}.bin", count) for part, count in enumerate((2, 2, 3, 4, 5))]),
                                               ("test", [("test_batch.bin", 6)]))):
            images, labels = kept[split] = items((3, 32, 32), sum(count for _, count in files), seed)
            records = np.concatenate([labels[:, None], images.reshape(len(labels), -1)], axis=1)
            begin = 0
            for name, count in files:
                records[begin:begin + count].tofile(self.path(folder, name))
                begin += count
        return kept

    def cifar100(self, folder):
        """Records have a coarse label, then a fine one."""
        os.makedirs(self.path(folder))
        kept = {}
        for seed, (split, count) in enumerate((("train", 12), ("test", 6))):
            images, labels = kept[split] = items((3, 32, 32), count, seed)
            coarse = np.full_like(labels, 99)
            np.concatenate([coarse[:, None], labels[:, None], images.reshape(count, -1)], axis=1).tofile(self.path(folder, split + ".bin"))
        return kept

    def check(self, dataset, kept, env=None):
        _, shape, mean, deviation = dataset
        mean, deviation = (np.reshape(values, (-1, 1, 1)) for values in (mean, deviation))
        self.dlrun("net.plan", "-q", "--steps", 4, "--save-final", "w.safetensors", env=env)
        self.dlrun("predict", "net.plan", "-q", "--init", "w.safetensors", "--out", "items.safetensors", env=env)
        found = self.load("items.safetensors")
        for split, step in (("train", "all"), ("test", "others")):
            images, labels = kept[split]
            x, y = (found[f"{step}.{name}"] for name in "xy")
            self.assertEqual(x.shape, (len(labels), *shape))
            np.testing.assert_allclose(x, (images / 255 - mean) / deviation, rtol=0, atol=2e-6)
            np.testing.assert_array_equal(y, labels)

    def test_fashion_mnist(self):
        self.compiled(FASHION)
        self.check(FASHION, self.fashion("data"), self.elsewhere)

    def test_kmnist(self):
        self.compiled(KANA)
        self.check(KANA, self.fashion("all/kmnist"), {"DL_DATA": self.path("all")})

    def test_cifar100(self):
        self.compiled(CIFAR100)
        self.refused(IO, "no CIFAR100 files for 'train': looked in", "for train.bin;", "a folder that holds cifar-100-binary/")
        self.check(CIFAR100, self.cifar100("data"), self.elsewhere)
        os.truncate(self.path("data", "train.bin"), 6000)
        self.refused(TRAINING, "data/train.bin' is no file of CIFAR-100's binary version: its 6000 bytes are not records of 3074")

    def test_cifar10(self):
        self.compiled(CIFAR)
        self.check(CIFAR, self.cifar("data"), self.elsewhere)

    def test_folders_of_dl_data(self):
        self.compiled(CIFAR)
        self.check(CIFAR, self.cifar("all/cifar-10-batches-bin"), {"DL_DATA": self.path("all")})
        self.compiled(FASHION)
        self.check(FASHION, self.fashion("all/fashion-mnist"), {"DL_DATA": self.path("all")})

    def refused(self, code, *words):
        result = dltools.call([dltools.DLRUN, "net.plan", "--steps", 1], self.folder, self.elsewhere)
        self.assertEqual(result.returncode, code, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_errors(self):
        self.compiled(CIFAR)
        self.refused(IO, "no CIFAR10 files for 'train': looked in", "data_batch_4.bin and data_batch_5.bin;", "--data train=FOLDER",
                     "set DL_DATA to a folder that holds cifar-10-batches-bin/")
        self.cifar("data")
        os.truncate(self.path("data", "data_batch_2.bin"), 6000)
        self.refused(TRAINING, "data/data_batch_2.bin' is no file of CIFAR-10's binary version: its 6000 bytes are not records of 3073")
        os.remove(self.path("data", "data_batch_2.bin"))
        self.refused(IO, "data' has no data_batch_2.bin")
        self.compiled(FASHION)
        self.refused(IO, "no FashionMNIST files for 'train': looked in", "train-images-idx3-ubyte[.gz]", "holds fashion-mnist/")


if __name__ == "__main__":
    import unittest
    unittest.main()
