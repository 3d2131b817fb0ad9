"""Random crops and flips of pictures: every item its own, each place as likely as the others."""

import numpy as np

import dltools
from . import support

ITEMS, SIDE = 4800, 5

MODEL = support.HEAD + """
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 96});
  auto made = [&](dl::Tensor x) { %s };
  nn::Linear unused{1, 1};
  dl::optim::SGD optimizer(unused.parameters(), {.lr = 0.1});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = unused(made(b.data).mean().view({1, 1})).sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
  p.predict("out", data, [&](dl::Batch b) -> dl::Metrics { return {{"x", made(b.data)}}; });
}
"""
CROP = "dl::transforms::RandomCrop crop{%s, {.padding = %d, .fill = -1}}; return crop(x);"


class Transforms(support.ToolTest):
    def setUp(self):
        super().setUp()
        # An element says where it stood, its channel and its item.
        self.pictures = np.arange(ITEMS * 2 * SIDE * SIDE, dtype=np.float32).reshape(ITEMS, 2, SIDE, SIDE)
        np.save(self.path("x.npy"), self.pictures)

    def made(self, body, *options, seed=0):
        self.write("net.dl", MODEL % body)
        self.dlcc("net.dl", *options, "-o", "net.plan")
        self.dlrun("net.plan", "-q", "--steps", 1, "--save-final", "w.safetensors")
        self.dlrun("predict", "net.plan", "-q", "--seed", seed, "--init", "w.safetensors", "--out", "x.safetensors")
        return self.load("x.safetensors")["x"]

    def counts(self, got, candidates):
        """How often each candidate, a list of pictures for all items, is the item's."""
        matches = np.array([np.all(got == candidate, axis=(1, 2, 3)) for candidate in candidates])
        np.testing.assert_array_equal(matches.sum(axis=0), 1)  # each item is one of them, in all its channels
        return matches.sum(axis=1)

    def assert_even(self, counts):
        """Within 5 standard deviations of equal shares."""
        share = 1 / len(counts)
        self.assertLess(np.max(np.abs(counts - ITEMS * share)), 5 * np.sqrt(ITEMS * share * (1 - share)), counts)

    def test_crops(self):
        padded = np.pad(self.pictures, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-1)
        candidates = [padded[:, :, top:top + 4, left:left + 5] for top in range(4) for left in range(3)]
        self.assert_even(self.counts(self.made(CROP % ("{4, 5}", 1)), candidates))

    def test_of_the_pictures_own_size(self):
        np.testing.assert_array_equal(self.made(CROP % (SIDE, 0)), self.pictures)

    def test_flips(self):
        for name, axis in (("Horizontal", 3), ("Vertical", 2)):
            flipped = np.flip(self.pictures, axis)
            counts = self.counts(self.made(f"dl::transforms::Random{name}Flip flip; return flip(x);"), [self.pictures, flipped])
            self.assert_even(counts)
            always = self.made(f"dl::transforms::Random{name}Flip flip{{1}}; return flip(x);")
            np.testing.assert_array_equal(always, flipped)
        kept, flipped = self.counts(self.made("dl::transforms::RandomHorizontalFlip flip{0.25}; return flip(x);"),
                                    [self.pictures, np.flip(self.pictures, 3)])
        self.assertLess(abs(flipped - ITEMS / 4), 5 * np.sqrt(ITEMS * 3 / 16))

    def test_center_crop(self):
        got = self.made("dl::transforms::CenterCrop crop{{2, 3}}; return crop(x);")
        np.testing.assert_array_equal(got, self.pictures[:, :, 2:4, 1:4])

    def test_center_crop_of_even_sizes(self):
        """torchvision rounds half a row to the nearest even one: of 1 to 0, of 3 to 2."""
        for size, begin in ((4, 0), (3, 1), (2, 2), (1, 2)):
            got = self.made(f"dl::transforms::CenterCrop crop{{{size}}}; return crop(x);")
            np.testing.assert_array_equal(got, self.pictures[:, :, begin:begin + size, begin:begin + size])

    def test_a_border_for_each_channel(self):
        padded = np.concatenate([np.pad(self.pictures[:, c:c + 1], ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=fill)
                                 for c, fill in enumerate((-2, 0.5))], axis=1)
        candidates = [padded[:, :, top:top + SIDE, left:left + SIDE] for top in range(3) for left in range(3)]
        got = self.made("dl::transforms::RandomCrop crop{5, {.padding = 1, .fill = {-2, 0.5}}}; return crop(x);")
        self.assert_even(self.counts(got, candidates))

    def test_ranks_draw_as_one_device_does(self):
        both = (CROP % (4, 1)).replace("return", "dl::transforms::RandomHorizontalFlip flip; return flip(").replace("crop(x);", "crop(x));")
        one = self.made(both)
        np.testing.assert_array_equal(self.made(both, "--mesh=dp=2"), one)
        self.assertFalse(np.array_equal(self.made(both, seed=1), one))

    def test_errors(self):
        for code, body, words in (
                (1, "dl::transforms::RandomCrop crop{8}; return crop(x);", "RandomCrop: 8 x 8 of pictures of 5 x 5"),
                (1, "dl::transforms::RandomCrop crop{{0, 2}}; return crop(x);", "RandomCrop: size [0,2]: one number or a height and a width"),
                (1, "dl::transforms::RandomHorizontalFlip flip{2}; return flip(x);", "p = 2 is no probability"),
                (1, "dl::transforms::CenterCrop crop{2}; return crop(x.flatten(1));", "pictures [N, C, H, W] are wanted"),
                (1, "dl::transforms::RandomCrop crop{4, {.padding = 1, .fill = {1, 2, 3}}}; return crop(x);",
                 "fill: 3 numbers for 2 channels; one is wanted"),
                (1, "dl::transforms::RandomCrop crop{4, {.padding = 1, .fill = 0.5}}; return crop(x.to(dl::kUInt8)).to(dl::kFloat);",
                 "fill: 0.5 is no integer"),
                (1, "dl::transforms::RandomCrop crop{4, {.padding = 1, .fill = -1}}; return crop(x.to(dl::kUInt8)).to(dl::kFloat);",
                 "fill: -1 is no byte"),
                (1, "dl::transforms::Resize resize{4}; return resize(x);", "F::interpolate"),
                (3, "dl::transforms::RandomPerspective bend; return bend(x);", "RandomPerspective: not in this version")):
            self.write("net.dl", MODEL % body)
            result = dltools.call([dltools.DLCC, "net.dl", "--check"], self.folder)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(words, result.stderr)
            self.assertIn("net.dl:", result.stderr)


if __name__ == "__main__":
    import unittest
    unittest.main()
