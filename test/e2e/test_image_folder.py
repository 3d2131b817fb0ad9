"""ImageFolder: what a batch holds beside Pillow and torchvision's rules, which order and labels, what is refused."""

import math
import os
import shutil
import unittest

import numpy as np

import dltools
from numpy_twin import philox, safetensors
from . import support

try:
    from PIL import Image
except ImportError:
    Image = None

TRAINING, USAGE, IO = 1, 2, 4
STREAM = 0x696d616765730000
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]

MODEL = support.HEAD + """
namespace T = dl::transforms;
void dl_main(dl::Program &p) {
  auto train = dl::data::ImageFolder("train", {.transform = TRAIN, .batch_size = 4, .shuffle = true});
  auto seen = dl::data::ImageFolder("train", {.transform = TRAIN, .batch_size = 4});
  auto valid = dl::data::ImageFolder("valid", {.transform = VALID, .batch_size = 3});
  nn::Conv2d conv{3, 4, 5, {.stride = 3}}; // draws features, and is not trained
  nn::Linear fc{4, train.classes.size()}; conv.requires_grad_(false);
  dl::optim::SGD optimizer(fc.parameters(), {.lr = 0.1});
  auto net = [&](dl::Tensor x) { return fc(F::relu(conv(x)).mean({2, 3})); };
  p.train(train, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::cross_entropy(net(b.data), b.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}, {"seen", b.data.mean()}};
  });
  p.eval("valid", valid, [&](dl::Batch b) -> dl::Metrics { return {{"loss", F::cross_entropy(net(b.data), b.target)}}; });
  p.predict("seen", seen, [&](dl::Batch b) -> dl::Metrics { return {{"x", b.data}, {"y", b.target}}; });
  p.predict("all", valid, [&](dl::Batch b) -> dl::Metrics { return {{"x", b.data}, {"y", b.target}}; });
  p.predict("pictures", valid, [&](dl::Batch b) -> dl::Metrics { return {{"z", b.data}}; });
}
"""
VALID = "T::Compose({T::Resize(24), T::CenterCrop(20), T::ToTensor(), T::Normalize({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225})})"


def draw(rng, mode):
    height, width = rng.integers(21, 70, 2)
    smooth = np.add.outer(np.arange(height) * rng.uniform(0, 3), np.arange(width) * rng.uniform(0, 3))
    pixels = (smooth[..., None] + rng.integers(0, 90, (height, width, 3)) + rng.integers(0, 60, 3)).astype(np.uint8)
    return Image.fromarray(pixels).convert(mode)


def resize_shorter(image, size):
    """torchvision's Resize(size)."""
    width, height = image.size
    short, long = min(width, height), max(width, height)
    longer = int(size * long / short)
    return image.resize((size, longer) if width <= height else (longer, size), Image.BILINEAR)


def center_crop(image, size):
    """torchvision's CenterCrop(size) of a picture that is as large."""
    left, top = (int(round((extent - size) / 2.0)) for extent in image.size)
    return image.crop((left, top, left + size, top + size))


def random_words(seed, epoch, item, number, attempt):
    four = philox.philox([np.array([v], np.uint64) for v in (item, 0, epoch, attempt)],
                         ((seed ^ (STREAM + number)) & 0xFFFFFFFF, (STREAM + number) >> 32))
    return [int(word[0]) for word in four]


def random_resized_crop(image, size, scale, ratio, words):
    """torchvision's RandomResizedCrop, its random numbers those of `words(attempt)`."""
    width, height = image.size
    unit = lambda word: (word >> 8) / 2 ** 24
    for attempt in range(10):
        w = words(attempt)
        area = height * width * (scale[0] + (scale[1] - scale[0]) * unit(w[0]))
        shape = math.exp(math.log(ratio[0]) + (math.log(ratio[1]) - math.log(ratio[0])) * unit(w[1]))
        part = int(round(math.sqrt(area * shape))), int(round(math.sqrt(area / shape)))
        if 0 < part[0] <= width and 0 < part[1] <= height:
            top, left = w[2] * (height - part[1] + 1) >> 32, w[3] * (width - part[0] + 1) >> 32
            break
    else:
        part = [width, height]
        if width / height < min(ratio):
            part[1] = int(round(width / min(ratio)))
        elif width / height > max(ratio):
            part[0] = int(round(height * max(ratio)))
        top, left = (height - part[1]) // 2, (width - part[0]) // 2
    return image.crop((left, top, left + part[0], top + part[1])).resize((size, size), Image.BILINEAR)


def planes(image):
    return np.asarray(image).transpose(2, 0, 1)


def normalized(pixels):
    shape = lambda values: np.array(values).reshape(1, 3, 1, 1)
    return (np.stack(pixels) / 255.0 - shape(MEAN)) / shape(STD)


@unittest.skipUnless(Image, "Pillow (python3-pil), the oracle of pictures, is not there")
class ImageFolder(support.ToolTest):
    NAMES = ("cat", "dog", "eel")

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(7)
        for folder, count in (("train", 5), ("valid", 4)):
            for name in self.NAMES:
                os.makedirs(self.path(folder, name, "more"))
                for i in range(count):
                    mode = ("RGB", "L", "RGB", "RGBA", "P")[i]
                    where = (folder, name, "more") if i == 1 else (folder, name)
                    ending = "jpg" if mode == "RGB" else "png"
                    draw(rng, mode).save(self.path(*where, f"{i * 7 % 5}.{ending}"), quality=90)
        self.write("train/cat/notes.txt", "not a picture")

    def files(self, folder):
        """As torchvision lists them: classes, then folders, then files."""
        found = []
        for label, name in enumerate(sorted(self.NAMES)):
            for root, _, names in sorted(os.walk(self.path(folder, name))):
                found += [(os.path.join(root, one), label) for one in sorted(names) if one.endswith(("jpg", "png"))]
        return found

    def compiled(self, train="T::RandomResizedCrop(20)", valid=VALID):
        self.write("net.dl", MODEL.replace("TRAIN", train).replace("VALID", valid))
        self.dlcc("net.dl", "-o", "net.plan")
        if not os.path.exists(self.path("w.safetensors")):
            self.dlrun("net.plan", "--steps", "0", "--save-final", "w.safetensors")

    PREDICT = ("predict", "net.plan", "-q", "--init", "w.safetensors", "--out", "p.safetensors")

    def predicted(self, name, *options):
        self.dlrun(*self.PREDICT, *options)
        return safetensors.load(self.path("p.safetensors"))[name]

    def opened(self, folder):
        return [Image.open(path).convert("RGB") for path, _ in self.files(folder)]

    def test_resized_and_cropped(self):
        self.compiled(valid="T::Compose({T::Resize(24), T::CenterCrop(20)})")
        expected = np.stack([planes(center_crop(resize_shorter(image, 24), 20)) for image in self.opened("valid")])
        np.testing.assert_array_equal(np.round(self.predicted("all.x") * 255), expected)
        np.testing.assert_array_equal(self.predicted("all.y"), [label for _, label in self.files("valid")])
        self.compiled(valid="T::Resize({20, 31})")
        expected = np.stack([planes(image.resize((31, 20), Image.BILINEAR)) for image in self.opened("valid")])
        np.testing.assert_array_equal(np.round(self.predicted("all.x") * 255), expected)

    def test_functions_and_transforms_of_transforms_in_the_list(self):
        self.compiled(valid="T::Compose({T::Resize({20, 20}), T::RandomAffine(0, {.scale = {1, 1}}), T::RandomApply({T::RandomInvert(1)}, 1), "
                            "[](dl::Tensor x) { return x * 3; }})")
        expected = np.stack([planes(image.resize((20, 20), Image.BILINEAR)) for image in self.opened("valid")])
        np.testing.assert_allclose(self.predicted("all.x"), 3 - expected / 255.0 * 3, rtol=0, atol=2e-6)

    def test_what_follows_in_the_list(self):
        self.compiled()
        expected = normalized([planes(center_crop(resize_shorter(image, 24), 20)) for image in self.opened("valid")])
        np.testing.assert_allclose(self.predicted("all.x"), expected, rtol=0, atol=2e-6)

    def test_graph_transforms(self):
        self.compiled(valid="T::Compose({T::Resize({20, 20}), T::RandomHorizontalFlip(1), T::Grayscale(3), T::Normalize({0.5}, {0.25})})")
        images = np.stack([planes(image.resize((20, 20), Image.BILINEAR)) for image in self.opened("valid")])[..., ::-1] / 255.0
        gray = np.einsum("nchw,c->nhw", images, [0.2989, 0.587, 0.114])[:, None]
        np.testing.assert_allclose(self.predicted("all.x"), np.broadcast_to((gray - 0.5) / 0.25, images.shape), rtol=0, atol=2e-6)

    def test_color_transforms_in_the_list(self):
        self.compiled(valid="T::Compose({T::Resize({20, 20}), T::RandomGrayscale(1), T::ColorJitter({.brightness = {1.25, 1.25}, .contrast = {0.5, 0.5}, "
                            ".saturation = {3, 3}, .hue = {0.25, 0.25}}), T::RandomErasing(1, {.scale = {0.25, 0.25}, .ratio = {1, 1}, .value = -2})})")
        images = np.stack([planes(image.resize((20, 20), Image.BILINEAR)) for image in self.opened("valid")]) / 255.0
        gray = np.minimum(1.25 * np.einsum("nchw,c->nhw", images, [0.2989, 0.587, 0.114])[:, None], 1)
        mean = (gray * 0.9999).mean((1, 2, 3), keepdims=True)  # the weights' sum
        expected = np.broadcast_to(np.clip(0.5 * gray + 0.5 * mean, 0, 1), images.shape)
        got = self.predicted("all.x")
        erased = (got == -2).all(1, keepdims=True)
        self.assertEqual(erased.sum(), 100 * len(got))
        # Hue and saturation of grays are nothing, up to the same 1e-4.
        np.testing.assert_allclose(got, np.where(erased, -2, expected), rtol=0, atol=3e-4)

    def test_a_smaller_picture_has_a_black_border(self):
        self.compiled(valid="T::CenterCrop({80, 90})")
        x = np.round(self.predicted("all.x") * 255)
        for got, image in zip(x, self.opened("valid")):
            left, top = (90 - image.width) // 2, (80 - image.height) // 2
            expected = np.zeros((3, 80, 90))
            expected[:, top:top + image.height, left:left + image.width] = planes(image)
            np.testing.assert_array_equal(got, expected)

    def test_random_parts(self):
        for name, scale, ratio in (("", (0.08, 1.0), (3 / 4, 4 / 3)), (", {.scale = {0.9, 1}, .ratio = {4, 5}}", (0.9, 1.0), (4, 5))):
            self.compiled(train=f"T::RandomResizedCrop(20{name})")
            for seed in (0, 11):
                expected = [planes(random_resized_crop(image, 20, scale, ratio, lambda t: random_words(seed, 0, i, 0, t)))
                            for i, image in enumerate(self.opened("train"))]
                np.testing.assert_array_equal(np.round(self.predicted("seen.x", "--seed", seed) * 255), np.stack(expected))
        self.compiled(train="T::Compose({T::Resize(21), T::RandomCrop(20)})")
        expected = []
        for i, image in enumerate(self.opened("train")):
            image, words = resize_shorter(image, 21), random_words(0, 0, i, 1, 0)
            top, left = words[2] * (image.height - 19) >> 32, words[3] * (image.width - 19) >> 32
            expected.append(planes(image.crop((left, top, left + 20, top + 20))))
        np.testing.assert_array_equal(np.round(self.predicted("seen.x") * 255), np.stack(expected))

    def losses(self, *options):
        return [event["loss"] for event in dltools.events(*options, cwd=self.folder) if event["event"] == "step"]

    def test_each_epoch_has_parts_of_its_own_whoever_reads(self):
        self.compiled()
        steps = [event for event in dltools.events("net.plan", "--epochs", "3", "--every", "log=1", "--seed", "9", cwd=self.folder) if event["event"] == "step"]
        images = self.opened("train")
        for epoch in range(3):
            parts = [planes(random_resized_crop(image, 20, (0.08, 1.0), (3 / 4, 4 / 3), lambda t: random_words(9, epoch, i, 0, t))) for i, image in enumerate(images)]
            seen = sum(step["seen"] * items for step, items in zip(steps[epoch * 4:], (4, 4, 4, 3))) / len(images)
            self.assertAlmostEqual(seen, np.stack(parts).mean() / 255, delta=1e-6)
        whole = self.losses("net.plan", "--epochs", "4", "--every", "log=1", "--threads", "1", "--out", "run")
        self.assertEqual(len(whole), 16)
        self.assertEqual(whole, self.losses("net.plan", "--epochs", "4", "--every", "log=1", "--threads", "2"))
        self.dlrun("net.plan", "--steps", "7", "--out", "half")
        self.dlrun("resume", "half", "--epochs", "4", "--save-final", "resumed.safetensors")
        self.dlrun("net.plan", "--epochs", "4", "--save-final", "whole.safetensors")
        # One reader, for one core.
        dltools.run("taskset", "-c", str(min(os.sched_getaffinity(0))), dltools.DLRUN, "net.plan", "--epochs", "4", "--save-final", "one.safetensors",
                    cwd=self.folder, env=dltools.emulated() if dltools.ON_CUDA else None)
        with open(self.path("one.safetensors"), "rb") as a, open(self.path("whole.safetensors"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        with open(self.path("resumed.safetensors"), "rb") as a, open(self.path("whole.safetensors"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_ranks_read_their_own(self):
        losses = []
        for mesh in ("", '  dl::Mesh mesh{{"dp", 2}};\n  dl::parallel::zero(optimizer, "dp", 2);\n'):
            self.write("net.dl", MODEL.replace("TRAIN", "T::RandomResizedCrop(20)").replace("VALID", VALID).replace("  auto net", mesh + "  auto net"))
            self.dlcc("net.dl", "-o", "net.plan", "--dtype=f64")
            losses.append(self.losses("net.plan", "--epochs", "2", "--every", "log=1"))
        np.testing.assert_allclose(losses[1], losses[0], rtol=1e-12, atol=0)

    def test_pictures_without_folders(self):
        """Where nobody reads labels any folder will do."""
        self.compiled()
        os.makedirs(self.path("flat"))
        for i, (path, _) in enumerate(self.files("valid")[:5]):
            shutil.copy(path, self.path("flat", f"{9 - i}{os.path.splitext(path)[1]}"))
        got = self.predicted("pictures.z", "--data", "pictures=flat")
        expected = normalized([planes(center_crop(resize_shorter(image, 24), 20)) for image in self.opened("valid")[:5]])
        np.testing.assert_allclose(got, expected[::-1], rtol=0, atol=2e-6)

    def test_labels_are_those_of_the_plan(self):
        self.compiled()
        shutil.copytree(self.path("valid", "eel"), self.path("other", "eel"))
        np.testing.assert_array_equal(self.predicted("all.y", "--data", "all=other"), [2] * 4)
        os.rename(self.path("other", "eel"), self.path("other", "fox"))
        self.refuses(TRAINING, "'other/fox': the model knows no class 'fox'; its 3 classes are cat, dog, eel",
                     *self.PREDICT, "--data", "all=other")
        shutil.rmtree(self.path("other", "fox"))
        self.refuses(TRAINING, "'other' holds no pictures in folders of their classes", "eval", "net.plan", "--init", "w.safetensors", "--data", "other")
        self.refuses(IO, "--data valid=nowhere: no such folder", "eval", "net.plan", "--init", "w.safetensors", "--data", "nowhere")
        os.rename(self.path("valid"), self.path("moved"))
        self.refuses(IO, "no folder 'valid', with the pictures of 'valid'; --data valid=FOLDER names another one", "eval", "net.plan", "--init", "w.safetensors")

    def test_every_step_over_a_folder_has_the_same_items(self):
        """Pictures beside the folders of classes are none, also where nobody reads labels."""
        self.compiled()
        before = self.predicted("pictures.z")
        shutil.copy(self.files("valid")[0][0], self.path("valid", "aaa.jpg"))
        np.testing.assert_array_equal(self.predicted("pictures.z"), before)
        np.testing.assert_array_equal(self.predicted("pictures.z"), self.predicted("all.x"))

    def test_classes_that_are_gone_are_told(self):
        self.compiled()
        shutil.rmtree(self.path("train", "dog"))
        result = dltools.call([dltools.DLRUN, "net.plan", "-q", "--drop-last"], cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("'train' has no picture of 1 of the 3 classes: dog", result.stderr)

    def test_labels_that_would_differ_are_told(self):
        shutil.rmtree(self.path("valid", "cat"))
        self.write("net.dl", MODEL.replace("TRAIN", VALID).replace("VALID", VALID))
        result = dltools.call([dltools.DLCC, "--check", "net.dl"], cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("net.dl:9:16: warning: valid has no folder 'cat', which train has: their labels differ", result.stderr)
        os.makedirs(self.path("valid", "cat"))
        self.write("net.dl", MODEL.replace("TRAIN", VALID).replace("VALID", VALID).replace(".batch_size = 3", ".batch_size = 3, .allow_empty = true"))
        self.assertEqual(dltools.call([dltools.DLCC, "--check", "net.dl"], cwd=self.folder).stderr, "")

    def test_plans_tell_classes_and_transforms(self):
        self.compiled()
        data = dltools.info("net.plan", cwd=self.folder)["datasets"]
        self.assertEqual([one["classes"] for one in data], [list(self.NAMES)] * 3)
        self.assertEqual(next(one for one in data if one["items"] == 12)["transforms"], [{"kind": "resize", "height": 24, "width": 0, "numbers": []}, {"kind": "centercrop", "height": 20, "width": 20, "numbers": []}])
        said = self.dlrun("info", "net.plan")
        self.assertIn("classes of 'train': cat, dog, eel", said)

    def refuses(self, code, message, *arguments):
        result = dltools.call([dltools.DLRUN, *arguments], cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(message, result.stderr)

    def test_a_damaged_picture_is_named(self):
        self.compiled()
        path, _ = self.files("valid")[0]
        with open(path, "rb") as file:
            contents = file.read()
        with open(path, "wb") as file:
            file.write(contents[:len(contents) // 2])
        self.refuses(TRAINING, os.path.relpath(path, self.folder), "eval", "net.plan", "--init", "w.safetensors")
        with open(path, "wb") as file:
            file.write(b"GIF89a and so on")
        self.refuses(TRAINING, "GIF", "eval", "net.plan", "--init", "w.safetensors")
        self.compiled(valid="T::Compose({T::Resize(24), T::RandomCrop(20), T::CenterCrop(20)})", train="T::RandomCrop({21, 65})")
        self.refuses(TRAINING, "which RandomCrop is to take", "net.plan")

    def test_a_damaged_picture_takes_no_weights(self):
        """A run with a folder keeps what it has when a picture cannot be read, and goes on once it can."""
        self.compiled()
        self.dlrun("net.plan", "-q", "--epochs", 3, "--out", "whole", "--every", "ckpt=12", "--save-final", "whole.safetensors")
        for folder, ended in (("train", "step "), ("valid", "valid")):
            path = self.files(folder)[-1][0]
            with open(path, "rb") as file:
                contents = file.read()
            with open(path, "wb") as file:
                file.write(contents[:200])
            result = dltools.call([dltools.DLRUN, "net.plan", "-q", "--epochs", 3, "--out", "run-" + folder, "--every", "ckpt=0,eval=5"], cwd=self.folder)
            self.assertEqual(result.returncode, TRAINING, result.stderr)
            self.assertIn("ends early; what was trained until then is kept, and 'dlrun resume run-" + folder + "' goes on from there", result.stderr)
            with open(path, "wb") as file:
                file.write(contents)
            self.dlrun("resume", "run-" + folder, "-q", "--save-final", "resumed.safetensors")
            with open(self.path("resumed.safetensors"), "rb") as a, open(self.path("whole.safetensors"), "rb") as b:
                self.assertEqual(a.read(), b.read(), folder)

    def test_what_dlcc_refuses(self):
        def refused(message, code=TRAINING, **transforms):
            self.write("net.dl", MODEL.replace("TRAIN", transforms.get("train", VALID)).replace("VALID", VALID))
            result = dltools.call([dltools.DLCC, "--check", "net.dl"], cwd=self.folder)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(message, result.stderr)
            self.assertIn("net.dl:7:", result.stderr)

        self.write("train/cat/9.webp", "")
        refused("train/cat/9.webp: pictures of this format are not read; JPEG, PNG, PPM and PGM are")
        os.remove(self.path("train/cat/9.webp"))
        refused("pictures have sizes of their own", train="{}")
        refused("behind Resize(20) the longer edges of pictures still differ", train="T::Resize(20)")
        for wrong in ("T::Resize({65536, 3})", "T::Resize(2000000000)", "T::RandomResizedCrop(100000)", "T::CenterCrop(65535)"):
            refused("at most 65535 a side and 268435456 in all are made", train=f"{{{wrong}, T::CenterCrop(20)}}")
        refused("RandomCrop of 30 x 30: the pictures have 20 x 20 before it", train="T::Compose({T::Resize({20, 20}), T::RandomCrop(30)})")
        for scale in ("1e-7, 1", "1, 1 / 0.0", "1, 1e300"):
            refused("numbers from 1e-6 to 1e6", train=f"T::RandomResizedCrop(20, {{.scale = {{{scale}}}}})")
        self.compiled(train="T::Compose({T::Resize({24, 24}), T::RandomCrop(20)})")
        refused("RandomCrop: .transform knows no padding", train="T::RandomCrop(20, {.padding = 4})")
        os.makedirs(self.path("train/a\tb"))
        refused("has a control character in its name")
        os.rmdir(self.path("train/a\tb"))
        os.symlink(".", self.path("train/cat/loop"))
        refused("does a link lead back?")
        os.remove(self.path("train/cat/loop"))
        refused("Resize stands behind RandomHorizontalFlip", train="T::Compose({T::RandomHorizontalFlip(), T::Resize({20, 20})})")
        os.makedirs(self.path("train/fox"))
        refused("train/fox holds no picture")
        os.rename(self.path("train"), self.path("there"))
        refused("cannot read train: No such file or directory", code=IO)
        os.makedirs(self.path("train"))
        shutil.copy(self.path("there/cat/0.jpg"), self.path("train/0.jpg"))
        refused("train holds pictures, but no folders; the pictures of each class are wanted in one of their own: train/cat/1.jpg")
