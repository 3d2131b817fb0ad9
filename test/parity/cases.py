"""What is compared: models, the data of their batches, the weights they start from.

Everything random comes from NumPy's RandomState, whose streams never change, and is f32, so that both sides start from
the same numbers in f32 and in f64.
"""

import dataclasses
import os
import re
import zlib

import numpy as np

import dltools

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 200


@dataclasses.dataclass
class Case:
    name: str
    source: str  # the .dl, from the root of the repository
    batch: int
    items: int
    tensors: dict  # .npy file: a function of (random state, items)
    mnist: bool = False
    drop_last: bool = False
    replace: tuple = ()  # (text, instead) in the .dl: dropout off, narrower
    settings: tuple = ()  # of dlcc
    turns: tuple = ()  # several training steps: (name, updates) in the order of --alternate
    salt: int = 0  # see README.md: draws on which no rounding of f32 decides a maximum or a relu

    def twin(self):
        return os.path.join(HERE, "models", self.name + ".py")

    def curve(self):
        return os.path.join(HERE, "curves", self.name + ".json")

    def text(self):
        with open(os.path.join(dltools.ROOT, self.source), encoding="utf-8") as file:
            text = file.read()
        for old, new in self.replace:
            if text.count(old) != 1:
                raise ValueError(f"{self.source}: {text.count(old)} times {old!r}, expected once")
            text = text.replace(old, new)
        return text

    def arrays(self):
        """The data set: one array for each tensor of a batch."""
        source = np.random.RandomState(zlib.crc32(f"{self.salt}{self.name}".encode()))
        return {name: make(source, self.items) for name, make in self.tensors.items()}

    def batches(self):
        """STEPS pairs of a training step's name and its next batch, a list of tensors: epoch after epoch in the order of
        the items; the last of one may be short. Each training step has a place of its own in the data."""
        arrays = list(self.arrays().values())
        whole, rest = divmod(self.items, self.batch)
        names = [name for name, updates in self.turns or [("step", 1)] for _ in range(updates)]
        done = dict.fromkeys(names, 0)
        for step in range(STEPS):
            name = names[step % len(names)]
            first = done[name] % (whole + (rest > 0 and not self.drop_last)) * self.batch
            done[name] += 1
            yield name, [array[first:min(first + self.batch, self.items)] for array in arrays]

    def weights(self, shapes):
        """Initial weights by name, from shapes by name: uniform as PyTorch's layers would be, but never all equal."""
        made = {}
        for name, shape in shapes.items():
            source = np.random.RandomState(zlib.crc32(f"{self.salt}{self.name}/{name}".encode()))
            bound = 1 / np.sqrt(np.prod(shape[1:])) if len(shape) > 1 else 0.3
            centre = 1.0 if re.search(r"norm\.weight$|gain$|temperature$|lambda$", name) else 0.0
            made[name] = np.asarray(centre + source.uniform(-bound, bound, shape), np.float32)
        return made


def normal(*shape):
    return lambda source, items: source.standard_normal((items, *shape)).astype(np.float32)


def labels(classes):
    return lambda source, items: source.randint(0, classes, items).astype(np.int64)


def tokens(length):
    return lambda source, items: source.randint(0, 256, (items, length)).astype(np.int64)


def pixels(source, items):
    """A grey patch somewhere on a black ground, for the first items; the others are black."""
    images = np.zeros((items, 28, 28), np.uint8)
    for image in images[:STEPS * 64]:
        y, x = source.randint(0, 19, 2)
        image[y:y + 9, x:x + 9] = source.randint(1, 256, (9, 9))
    return images


def digits(source, items):
    return source.randint(0, 10, items).astype(np.uint8)


def model(name, batch, items, salt=0, turns=(), **tensors):
    files = {f"{key}.npy": make for key, make in tensors.items()}
    return Case(name, f"test/parity/models/{name}.dl", batch, items, files, turns=turns, salt=salt)


def example(name, batch, items, tensors, folder=None, **options):
    return Case(f"examples/{name}", f"examples/{folder or name}/{name}.dl", batch, items, tensors, **options)


CASES = [
    example("linear", 16, 1000, {"x.npy": normal(10), "y.npy": normal(1)}),
    example("spirals", 64, 1000, {"point.npy": normal(2), "arm.npy": labels(2)}, replace=((", {.batch_size = batch_size}", ", {.items = 1000, .batch_size = batch_size}"),)),
    example("two_parts", 16, 1000, {"x.npy": normal(10), "y.npy": normal(1)}),
    example("mlp_mesh", 48, 1000, {"x.npy": normal(10), "y.npy": normal(1)}),
    example("gpt", 8, 60, {"x.npy": tokens(9), "y.npy": tokens(9)},
            replace=(('TokenDataset("train.txt", {.length = config.length, ', 'TensorDataset({"x.npy", "y.npy"}, {'),
                     ('TokenDataset("valid.txt", {.length = config.length, ', 'TensorDataset({"x.npy", "y.npy"}, {')),
            settings=tuple(word for name, value in (("batch_size", 8), ("length", 9), ("depth", 2), ("heads", 2), ("width", 16), ("dropout", 0))
                           for word in ("-D", f"{name}={value}"))),
    example("gpt2", 6, 50, {"x.npy": tokens(9), "y.npy": tokens(9)},
            replace=(('TokenDataset("train.bin", {.length = length, ', 'TensorDataset({"x.npy", "y.npy"}, {'),
                     ('TokenDataset("val.bin", {.length = length, ', 'TensorDataset({"x.npy", "y.npy"}, {')), drop_last=True,
            settings=tuple(word for name, value in (("batch_size", 6), ("length", 9), ("vocab_size", 256), ("n_layer", 2), ("n_head", 2),
                                                    ("n_embd", 16), ("warmup", 50), ("steps", 300)) for word in ("-D", f"{name}={value}"))),
    example("mnist", 4, 60000, {"images": pixels, "labels": digits}, mnist=True,
            replace=(("nn::Dropout2d conv2_drop;", "nn::Dropout2d conv2_drop{0};"), ("F::dropout(x)", "F::dropout(x, 0)")), salt=1),
    example("mnist_mlp", 64, 60000, {"images": pixels, "labels": digits}, mnist=True, salt=1),
    example("parallel_ops", 32, 648, {"x.npy": normal(192), "a.npy": normal(192), "t.npy": normal(192)}, drop_last=True,
            replace=(("Sum model{1024};", "Sum model{192};"),), settings=("-D", "batch_size=32", "-D", "lr=1")),
    example("chained", 32, 200, {"x.npy": normal(192), "a.npy": normal(192), "t.npy": normal(192)}, folder="parallel_ops",
            replace=(("Chain model{1024};", "Chain model{192};"), (", .drop_last = true", "")),
            settings=("-D", "batch_size=32", "-D", "lr=1")),
    model("mlp_adamw", 16, 150, x=normal(12), labels=labels(5)),
    model("conv_nesterov", 8, 60, x=normal(3, 13, 12), labels=labels(7)),
    model("gan", 16, 100, real=normal(8), z=normal(5)),
    model("turns", 16, 100, turns=(("disc", 3), ("gen", 2)), real=normal(8), z=normal(5)),
    model("tied_autoencoder", 12, 90, x=normal(14)),
    model("frozen_backbone", 10, 75, x=normal(2, 8, 8), labels=labels(4), y=normal(3)),
    model("energy", 20, 130, x=normal(6), y=normal(1)),
    model("attention", 12, 100, salt=1, x=normal(7, 5), labels=labels(4)),
    model("multihead", 9, 60, x=normal(5, 12), other=normal(7, 10), labels=labels(4)),
    model("translation", 10, 80, salt=1, x=normal(6, 5), y=normal(5, 4)),
    model("by_hand", 10, 85, salt=1, x=normal(6), y=normal(3)),
    model("in_place", 10, 85, x=normal(6), y=normal(3)),
    model("first_order", 10, 75, x=normal(6), labels=labels(3)),
    model("penalties", 8, 64, salt=2, real=normal(2, 6, 6), fake=normal(2, 6, 6), x=normal(6), labels=labels(3)),
    model("functions", 8, 64, x=normal(6), labels=labels(3), domains=labels(2)),
    model("bounded", 10, 70, salt=1, x=tokens(6), labels=labels(3)),
    model("recurrent", 11, 90, salt=2, x=normal(12, 5), labels=labels(3)),
    model("packed", 11, 90, x=normal(9, 5), ends=labels(9), labels=labels(3)),
    model("parametrized", 8, 60, x=normal(4, 7), labels=labels(3)),
    model("updated", 9, 60, x=normal(8), y=normal(4)),
    model("normalized", 9, 60, salt=53, x=normal(3, 9, 8), labels=labels(4)),
    model("segments", 6, 40, x=normal(3, 12, 10), y=normal(12, 10)),
]
BY_NAME = {case.name: case for case in CASES}
