"""What is compared: the ports, their data, their sizes in the tests and where speed is measured.

A port is a folder with model.dl and its twin model.py, which begin with the same constants. Tests replace some of them by
smaller ones in both. Data and initial weights come from NumPy's RandomState, whose streams never change, and are f32.
"""

import dataclasses
import os
import re
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 100


@dataclasses.dataclass
class Port:
    name: str
    tensors: dict  # .npy file: a function of (random state, items, constants)
    small: dict = dataclasses.field(default_factory=dict)  # constants in the tests
    batches: int = 25  # in an epoch
    rest: int = 0  # items of a last, short batch
    valid: dict = dataclasses.field(default_factory=dict)  # the same for the data of the evaluation
    mesh: bool = False  # also on --mesh dp=2
    turns: int = 0  # how many training steps take turns
    epochs: int = 0  # instead of STEPS: it ends by itself
    options: tuple = ()  # of dlrun
    salt: int = 0  # draws on which no rounding of f32 decides a maximum or a relu
    start: dict = dataclasses.field(default_factory=dict)  # pattern of names: (centre, width) of initial weights

    def path(self, name):
        return os.path.join(HERE, self.name, name)

    def curve(self):
        return os.path.join(HERE, "losses", self.name + ".json")

    def text(self, name, small=True):
        """model.dl or model.py, with the constants of the tests."""
        with open(self.path(name), encoding="utf-8") as file:
            text = file.read()
        for constant, value in self.small.items() if small else ():
            text, count = re.subn(rf"^((?:constexpr \w+ )?{constant} = )[^;\n]*", rf"\g<1>{value}", text, flags=re.M)
            if count != 1:
                raise ValueError(f"{self.name}/{name}: {count} constants {constant}")
        return text

    def constants(self, small=True):
        found = {}
        for line in self.text("model.py", small).splitlines():
            match = re.fullmatch(r"([A-Z_]+) = (.*)", line)
            if match:
                found[match[1]] = eval(match[2], {}, dict(found))  # pylint: disable=eval-used
        return found

    def random(self, what):
        return np.random.RandomState(zlib.crc32(f"{self.salt}{self.name}/{what}".encode()))

    def arrays(self, small=True):
        """The data sets: one array for each file."""
        constants = self.constants(small)
        items = constants["BATCH"] * self.batches + self.rest
        source = self.random("data")
        made = {name: make(source, items, constants) for name, make in self.tensors.items()}
        return made | {name: make(source, 200, constants) for name, make in self.valid.items()}

    def weights(self, shapes):
        """Initial weights by name, from shapes by name, such as PyTorch would draw, but no bias all zero."""
        made = {}
        for name, shape in shapes.items():
            bound = 1 / np.sqrt(np.prod(shape[1:])) if len(shape) > 1 else 0.05
            centre = 1.0 if len(shape) == 1 and name.endswith("weight") else 0.0
            for pattern, about in self.start.items():
                if re.search(pattern, name):
                    centre, bound = about
            made[name] = np.asarray(centre + self.random(name).uniform(-bound, bound, shape), np.float32)
        return made


def normal(*shape):
    return lambda source, items, c: source.standard_normal((items, *sized(shape, c))).astype(np.float32)


def uniform(*shape):
    return lambda source, items, c: source.uniform(0.02, 0.98, (items, *sized(shape, c))).astype(np.float32)


def zeros_and_ones(*shape):
    return lambda source, items, c: (source.uniform(0, 1, (items, *sized(shape, c))) < 0.4).astype(np.float32)


def integers(bound, *shape):
    return lambda source, items, c: source.randint(0, *sized((bound,), c), (items, *sized(shape, c))).astype(np.int64)


def words(bound, length):
    """Sentences that end before the row does; the rest of it is 0."""
    def make(source, items, c):
        bound_, length_ = sized((bound, length), c)
        tokens = source.randint(1, bound_, (items, length_)).astype(np.int64)
        tokens[np.arange(length_) >= source.randint(length_ // 2, length_ + 1, (items, 1))] = 0
        return tokens
    return make


def sized(shape, constants):
    return tuple(constants[size] if isinstance(size, str) else size for size in shape)


IMAGES = {"images.npy": normal(1, 28, 28), "labels.npy": integers(10)}
COLOURED = {"images.npy": normal(3, 32, 32), "labels.npy": integers(10)}

PORTS = [
    Port("mlp", IMAGES, {"HIDDEN": 64}, mesh=True),
    Port("lenet", IMAGES, {"BATCH": 32}, batches=19, rest=5,
         valid={"test_images.npy": normal(1, 28, 28), "test_labels.npy": integers(10)}),
    Port("vae", {"images.npy": uniform(1, 28, 28), "eps.npy": normal("LATENT")}, {"BATCH": 32, "HIDDEN": 64}),
    Port("dcgan", {"images.npy": normal(3, 32, 32), "noise.npy": normal("NZ", 1, 1)},
         {"BATCH": 8, "NZ": 12, "NGF": 6, "NDF": 6}, turns=2, salt=1),
    Port("siamese", {"a.npy": normal(1, 28, 28), "b.npy": normal(1, 28, 28), "differ.npy": zeros_and_ones()}, {"BATCH": 8}, salt=1),
    Port("super_resolution", {"small.npy": uniform(1, 24, 24), "large.npy": uniform(1, 72, 72)}, {"BATCH": 2}),
    Port("resnet18", COLOURED, {"BATCH": 8, "WIDTH": 8}, mesh=True, salt=16),
    Port("nanogpt", {"x.npy": integers("VOCAB", "BLOCK_SIZE"), "y.npy": integers("VOCAB", "BLOCK_SIZE")},
         {"BATCH": 4, "BLOCK_SIZE": 32, "N_LAYER": 2, "N_EMBD": 48}, mesh=True),
    Port("vit", COLOURED, {"BATCH": 8, "PATCH": 8, "DIM": 32, "DEPTH": 2}),
    Port("matrix_factorisation",
         {"user.npy": integers("USERS"), "item.npy": integers("ITEMS"), "rating.npy": normal()}, {"USERS": 200, "ITEMS": 300}),
    Port("unet", {"images.npy": normal(3, 32, 32), "masks.npy": zeros_and_ones(1, 32, 32)}, {"WIDTH": 6}, salt=2),
    Port("logistic_l1", {"x.npy": normal("FEATURES"), "y.npy": zeros_and_ones()}, batches=4, epochs=60,
         valid={"valid_x.npy": normal("FEATURES"), "valid_y.npy": zeros_and_ones()},
         options=("--stop-when", "valid.loss not better in 3"), mesh=True),
    Port("distillation", IMAGES, {"BATCH": 32}),
    Port("neural_ode", {"y0.npy": normal(2), "path.npy": normal(11, 2)}),
    Port("simclr", {"view1.npy": normal(3, 32, 32), "view2.npy": normal(3, 32, 32)}, {"BATCH": 8}, salt=1),
    Port("skip_gram", {"word.npy": integers("VOCAB"), "near.npy": integers("VOCAB"), "negative.npy": integers("VOCAB", "NEGATIVES")},
         {"VOCAB": 300, "DIM": 20}),
    Port("autoencoder", {"images.npy": uniform(1, 28, 28)}, {"BATCH": 8}),
    Port("transformer_classifier", {"tokens.npy": words("VOCAB", "LENGTH"), "labels.npy": integers(4)},
         {"BATCH": 8, "VOCAB": 200, "LENGTH": 16, "DIM": 32}, mesh=True),
    Port("text_cnn", {"tokens.npy": words("VOCAB", 32), "labels.npy": integers(2)},
         {"BATCH": 16, "VOCAB": 300, "DIM": 20, "FILTERS": 12}),
    Port("ddpm", {"images.npy": normal(1, 28, 28), "t.npy": integers("T"), "noise.npy": normal(1, 28, 28)},
         {"BATCH": 4, "WIDTH": 16, "TIME": 16}),
    Port("mamba", {"x.npy": integers("VOCAB", "LENGTH"), "y.npy": integers("VOCAB", "LENGTH")},
         {"BATCH": 4, "LENGTH": 24, "DIM": 16, "INNER": 32, "STATE": 4, "RANK": 2}, mesh=True,
         start={"A_log": (0.5, 0.7), r"\.D$": (1.0, 0.1)}),
    Port("fno", {"a.npy": normal("SIZE", "SIZE"), "u.npy": normal("SIZE", "SIZE")}, {"BATCH": 4, "SIZE": 16, "WIDTH": 8, "MODES": 4, "LAYERS": 2}, mesh=True,
         start={"weights": (0.0, 0.1)}),
]
BY_NAME = {port.name: port for port in PORTS}
