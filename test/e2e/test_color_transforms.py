"""ColorJitter, grayscales and RandomErasing beside torchvision's formulas, written again in NumPy."""

import colorsys

import numpy as np

from . import support

COUNT, HEIGHT, WIDTH = 40, 16, 24


def gray(x):
    return np.einsum("nchw,c->nhw", x, [0.2989, 0.587, 0.114])[:, None]


def blend(x, other, factor):
    return np.clip(x * factor + other * (1 - factor), 0, 1)


def turned(x, by):
    out = np.empty_like(x)
    for n, i, j in np.ndindex(x.shape[0], *x.shape[2:]):
        h, s, v = colorsys.rgb_to_hsv(*x[n, :, i, j])
        out[n, :, i, j] = colorsys.hsv_to_rgb((h + by) % 1, s, v)
    return out


class Transforms(support.PictureTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(3)
        self.x = np.clip(rng.uniform(-0.1, 1.1, (COUNT, 3, HEIGHT, WIDTH)), 0, 1)
        self.x[0, :, 0] = 0.5  # gray
        self.x[1, 0, 0] = self.x[1, 1, 0]  # two colours alike
        np.save(self.path("x.npy"), self.x)

    def test_known_factors(self):
        jitter = "T::ColorJitter({%s})(b.data)"
        got = self.computed(jitter % ".brightness = {1.3, 1.3}", jitter % ".contrast = {0.4, 0.4}", jitter % ".saturation = {2.5, 2.5}",
                            jitter % ".hue = {0.4, 0.4}", jitter % ".hue = {-0.3, -0.3}", jitter % ".contrast = {0.5, 0.5}, .saturation = {0, 0}",
                            "T::Grayscale()(b.data)", "T::Grayscale(3)(b.data)", jitter % "")
        x, each = self.x, (1, 2, 3)
        half = blend(x, gray(x).mean(each, keepdims=True), 0.5)
        expected = [np.clip(x * 1.3, 0, 1), blend(x, gray(x).mean(each, keepdims=True), 0.4), blend(x, gray(x), 2.5), turned(x, 0.4), turned(x, -0.3),
                    blend(half, gray(half), 0), gray(x), np.broadcast_to(gray(x), x.shape), x]
        for one, other in zip(got, expected):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)

    def test_each_item_has_its_own(self):
        brightness, grays, both = self.computed("T::ColorJitter({.brightness = 0.4})(b.data * 0.5)", "T::RandomGrayscale(0.5)(b.data)",
                                                "T::ColorJitter({.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1})(b.data)")
        factors = (brightness / np.where(self.x == 0, 1, self.x * 0.5)).reshape(COUNT, -1).max(1)
        np.testing.assert_allclose(brightness, self.x * 0.5 * factors.reshape(-1, 1, 1, 1), rtol=0, atol=1e-12)
        self.assertEqual(len(set(np.round(factors, 9))), COUNT)
        self.assertTrue((factors >= 0.6).all() and (factors <= 1.4).all())
        self.assertTrue(factors.min() < 0.75 and factors.max() > 1.25, factors)
        is_gray = np.array([np.allclose(item, item[:1]) for item in grays])
        self.assertTrue(8 < is_gray.sum() < 32, is_gray)
        np.testing.assert_array_equal(grays[~is_gray], self.x[~is_gray])
        self.assertTrue((both >= 0).all() and (both <= 1).all())

    def test_erasing(self):
        some, all_of, shaped = self.computed("T::RandomErasing()(b.data)", "T::RandomErasing(1, {.value = 7})(b.data)",
                                             "T::RandomErasing(1, {.scale = {0.25, 0.25}, .ratio = {0.375, 0.375}, .value = -1})(b.data)", seed=5)
        unchanged = [np.array_equal(item, before) for item, before in zip(some, self.x)]
        self.assertTrue(8 < sum(unchanged) < 32, unchanged)
        places = set()
        for item, before in zip(all_of, self.x):
            erased = (item == 7).all(0)
            np.testing.assert_array_equal(item[:, ~erased], before[:, ~erased])
            rows, columns = np.flatnonzero(erased.any(1)), np.flatnonzero(erased.any(0))
            self.assertEqual(erased.sum(), (rows[-1] - rows[0] + 1) * (columns[-1] - columns[0] + 1))
            self.assertLessEqual(erased.mean(), 0.4)
            places.add((rows[0], columns[0]))
        self.assertGreater(len(places), 20)
        # A quarter of 16 x 24 pixels, 0.375 as high as wide: 6 x 16.
        for item in shaped:
            erased = (item == -1).all(0)
            self.assertEqual((erased.any(1).sum(), erased.any(0).sum(), erased.sum()), (6, 16, 96))

    def test_wrong_numbers(self):
        for wrong, says in (("T::ColorJitter({.brightness = -1})", "brightness = -1; at least 0"), ("T::ColorJitter({.hue = 0.6})", "hue = 0.6; at least 0 and at most 0.5"),
                            ("T::ColorJitter({.contrast = {2, 1}})", "contrast from 2 to 1"), ("T::RandomErasing(2)", "p = 2 is no probability"),
                            ("T::RandomErasing(1, {.scale = {0, 1}})", "scale from 0 to 1"), ("T::RandomGrayscale(-1)", "p = -1 is no probability"),
                            ("T::Grayscale(2)", "Grayscale: 2 channels"), ("T::Normalize({0.5, 0.5}, {1.0, 1.0})", "2 means for the 3 channels"),
                            ("T::Normalize({0.5}, {0.0})", "the standard deviation of channel 0 is 0"), ("T::Normalize({0.5}, {0.0 / 0})", "the standard deviation of channel 0 is"), ("T::Resize(20)", "pictures have sizes of their own")):
            self.assert_wrong(f"{wrong}(b.data)", says)
