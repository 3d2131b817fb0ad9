"""RandomResizedCrop, RandomRotation, RandomAffine, GaussianBlur and what applies others, beside torchvision's formulas in NumPy."""

import itertools

import numpy as np

from . import support

COUNT, HEIGHT, WIDTH = 40, 6, 7


def sampled(item, places, bilinear):
    """The item [C, H, W] at places [h, w, 2], x and y in pixels; 0 outside."""
    channels, height, width = item.shape

    def at(y, x):
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        return np.where(inside, item[:, np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)], 0)
    x, y = places[..., 0], places[..., 1]
    if not bilinear:
        return at(np.rint(y).astype(int), np.rint(x).astype(int))
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    u, v = x - left, y - top
    return (at(top, left) * (1 - u) * (1 - v) + at(top, left + 1) * u * (1 - v) + at(top + 1, left) * (1 - u) * v +
            at(top + 1, left + 1) * u * v)


def moved(item, matrix, bilinear=True):
    """The inverse of `matrix`, 2 x 3, around the middle, says where an output pixel comes from."""
    height, width = item.shape[1:]
    middle = np.array([(width - 1) / 2, (height - 1) / 2])
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    from_middle = np.stack([x, y], -1) - middle - matrix[:, 2]
    return sampled(item, from_middle @ np.linalg.inv(matrix[:, :2]).T + middle, bilinear)


def turn(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s], [s, c]])


def triangle(begin, length, size, out):
    """Rows: what each of `out` pixels is made of."""
    step = length / out
    centre = begin + (np.arange(out)[:, None] + 0.5) * step
    at = np.arange(size) + 0.5
    weights = np.clip(1 - np.abs(at - centre) / max(step, 1), 0, None) * ((at > begin) & (at < begin + length))
    return weights / weights.sum(1, keepdims=True)


def cropped(item, top, left, high, wide, height, width):
    return triangle(top, high, item.shape[1], height) @ item @ triangle(left, wide, item.shape[2], width).T


class Transforms(support.PictureTest):
    def setUp(self):
        super().setUp()
        self.x = np.random.default_rng(3).uniform(0.1, 1, (COUNT, 2, HEIGHT, WIDTH))
        np.save(self.path("x.npy"), self.x)

    def assert_close(self, got, want):
        np.testing.assert_allclose(got, np.array(want), rtol=0, atol=1e-12)

    def test_known_angles(self):
        soft, hard, filled, affine = self.computed(
            'T::RandomRotation({25, 25}, {.interpolation = "bilinear"})(x)', "T::RandomRotation({-40, -40})(x)",
            'T::RandomRotation({25, 25}, {.interpolation = "bilinear", .fill = 3})(x)',
            'T::RandomAffine({20, 20}, {.scale = {1.25, 1.25}, .shear = {15, 15}, .interpolation = "bilinear"})(x)')

        def whole(matrix):
            return np.concatenate([matrix, np.zeros((2, 1))], 1)
        # torchvision turns counterclockwise; its affine turns clockwise. (y grows downwards.)
        self.assert_close(soft, [moved(item, whole(turn(-25))) for item in self.x])
        self.assert_close(hard, [moved(item, whole(turn(40)), bilinear=False) for item in self.x])
        there = np.array([moved(np.ones_like(item), whole(turn(-25))) for item in self.x])
        self.assert_close(filled, soft + (1 - there) * 3)
        shear = np.array([[1, -np.tan(np.radians(15))], [0, 1]])
        self.assert_close(affine, [moved(item, whole(turn(20) @ shear * 1.25)) for item in self.x])

    def test_each_item_has_its_own(self):
        """Each is one of those that the ranges allow, and they differ."""
        turned, shifted = self.computed('T::RandomRotation(90, {.interpolation = "bilinear"})(x)', "T::RandomAffine(0, {.translate = {0.3, 0.2}})(x)")
        angles = np.linspace(-90, 90, 721)
        found = []
        for item, before in zip(turned, self.x):
            errors = [np.abs(moved(before, np.concatenate([turn(angle), np.zeros((2, 1))], 1)) - item).max() for angle in angles]
            found.append(angles[np.argmin(errors)])
            self.assertLess(min(errors), 0.02)
        self.assertTrue(min(found) < -60 and max(found) > 60 and len(set(found)) > 30, found)
        moves = []
        for item, before in zip(shifted, self.x):
            fits = [(dx, dy) for dx in range(-2, 3) for dy in range(-1, 2)
                    if np.array_equal(item, moved(before, np.array([[1, 0, dx], [0, 1, dy]]), bilinear=False))]
            self.assertEqual(len(fits), 1)
            moves += fits
        self.assertGreater(len(set(moves)), 10)
        self.assertEqual({dx for dx, _ in moves}, set(range(-2, 3)))

    def test_resized_crops(self):
        whole, some, wide = self.computed("T::RandomResizedCrop({6, 7}, {.scale = {1, 1}, .ratio = {7. / 6, 7. / 6}})(x)",
                                          "T::RandomResizedCrop({4, 5}, {.scale = {0.2, 0.8}})(x)",
                                          "T::RandomResizedCrop({4, 5}, {.scale = {0.9, 1}, .ratio = {3, 4}})(x)")
        self.assert_close(whole, self.x)
        boxes = [(top, left, high, wide) for high in range(1, HEIGHT + 1) for wide in range(1, WIDTH + 1)
                 for top, left in itertools.product(range(HEIGHT - high + 1), range(WIDTH - wide + 1))]
        found = []
        for item, before in zip(some, self.x):
            fits = [box for box in boxes if np.abs(cropped(before, *box, 4, 5) - item).max() < 1e-9]
            self.assertEqual(len(fits), 1, fits)
            found += fits
        self.assertGreater(len(set(found)), 20)
        for _, _, high, wide_ in found:
            # Rounded to whole pixels.
            self.assertTrue(0.2 * 42 - 4 < high * wide_ < 0.8 * 42 + 4, found)
            self.assertTrue(0.5 < wide_ / high < 1.9, found)
        # None fits in: the middle, as wide as the ratio allows.
        self.assert_close(wide, [cropped(item, 2, 0, 2, 7, 4, 5) for item in self.x])

    def test_blur(self):
        known, random = self.computed("T::GaussianBlur({3, 5}, {0.8, 0.8})(x)", "T::GaussianBlur(3, {0.3, 3})(x)")

        def kernel(taps, sigma):
            weights = np.exp(-0.5 * (np.arange(-(taps // 2), taps // 2 + 1) / sigma) ** 2)
            return weights / weights.sum()

        def blurred(item, high, wide, sigma):
            rows, columns = kernel(high, sigma), kernel(wide, sigma)
            padded = np.pad(item, ((0, 0), (high // 2,) * 2, (wide // 2,) * 2), mode="reflect")
            return sum(rows[i] * columns[j] * padded[:, i:i + HEIGHT, j:j + WIDTH] for i in range(high) for j in range(wide))
        self.assert_close(known, [blurred(item, 3, 5, 0.8) for item in self.x])
        sigmas, found = np.linspace(0.3, 3, 541), []
        for item, before in zip(random, self.x):
            errors = [np.abs(blurred(before, 3, 3, sigma) - item).max() for sigma in sigmas]
            self.assertLess(min(errors), 0.01)
            found.append(sigmas[np.argmin(errors)])
        self.assertTrue(min(found) < 0.9 and max(found) > 2.3 and len(set(found)) > 30, found)

    def test_chosen_items(self):
        solarized, inverted, applied, doubled, octets = self.computed(
            "T::RandomSolarize(0.5, 0.5)(x)", "T::RandomInvert()(x)", "T::RandomApply({T::GaussianBlur(3, {0.8, 0.8})}, 0.7)(x)",
            "T::RandomApply([](dl::Tensor one) { return one * 2; })(x)", "T::RandomInvert(1)((x * 255).to(dl::kUInt8)).to(dl::kFloat)", seed=1)
        always, = self.computed("T::GaussianBlur(3, {0.8, 0.8})(x)", seed=1)
        for got, other, low, high in ((solarized, np.where(self.x >= 0.5, 1 - self.x, self.x), 8, 32), (inverted, 1 - self.x, 8, 32),
                                      (applied, always, 16, 39), (doubled, self.x * 2, 8, 32)):
            changed = np.array([not np.array_equal(item, before) for item, before in zip(got, self.x)])
            self.assertTrue(low < changed.sum() < high, changed)
            self.assert_close(got[changed], other[changed])
        np.testing.assert_array_equal(octets, 255 - (self.x * 255).astype(np.uint8))

    def test_wrong_numbers(self):
        for wrong, says in (("T::RandomRotation(-5)(x)", "degrees from 5 to -5"), ("T::RandomRotation({3, 1})(x)", "degrees from 3 to 1"),
                            ('T::RandomRotation(5, {.interpolation = "bicubic"})(x)', '"nearest" and "bilinear" are known'),
                            ("T::RandomAffine(5, {.translate = {2, 0}})(x)", "translate 2 of the width"),
                            ("T::RandomAffine(5, {.scale = {2, 1}})(x)", "scale from 2 to 1"),
                            ("T::GaussianBlur(4)(x)", "odd numbers are wanted"), ("T::GaussianBlur(15)(x)", "a kernel of 15 x 15 for pictures of 6 x 7"),
                            ("T::RandomResizedCrop(4)((x * 255).to(dl::kUInt8))", "x.to(dl::kFloat) / 255"),
                            ("T::RandomApply(T::CenterCrop(4))(x)", "one that keeps the size is wanted"),
                            ("T::RandomSolarize(0.5, 2)(x)", "p = 2 is no probability")):
            self.assert_wrong(wrong, says)


if __name__ == "__main__":
    import unittest
    unittest.main()
