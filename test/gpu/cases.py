"""What runs on the GPU: models, their data, how they are compiled, and shapes of products and convolutions.

Data are made where they are needed, when models are compiled and again on the machine with the GPU, from NumPy's RandomState,
whose streams never change, or by the examples' own generators; only MNIST is carried.
"""

import dataclasses
import os
import subprocess
import sys
import zlib

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = "test/bench/models/"
# Plans in which products are all of our own; of products alone, in which all that can be are cuBLASLt's; and of attention, in which
# a chain of products is a kernel for each of them.
ROADS = ("own", "library", "apart")
# Of plans for the GPU. bf16 is mixed precision, as autocast. Those for the CPU are in f32 and f64, and in bf16 to say what that may cost.
PRECISIONS = ("f32", "tf32", "bf16", "f64")
FAST = PRECISIONS[:3]  # of what is only measured


def normal(*shape):
    return lambda source, items: source.standard_normal((items, *shape)).astype(np.float32)


def integers(bound, *shape):
    return lambda source, items: source.randint(0, bound, (items, *shape)).astype(np.int64)


def one_hot(length, width):
    return lambda source, items: np.eye(width, dtype=np.float32)[source.randint(0, width, (items, length))]


def constant(value, *shape):
    return lambda source, items: np.full((items, *shape), value, np.float32)


@dataclasses.dataclass
class Case:
    name: str
    source: str  # from the root of the repository
    settings: dict = dataclasses.field(default_factory=dict)  # -D
    tensors: dict = dataclasses.field(default_factory=dict)  # .npy file: a function of (random state, items)
    items: int = 0
    data: str = ""  # instead: "mnist" or the example whose generate.py makes them
    steps: int = 20  # in the comparison with the CPU
    precisions: tuple = PRECISIONS
    batch: int = 0
    group: str = "models"
    roads: tuple = ()  # of ROADS, besides the plan in which each product goes where it is expected to be faster
    port: object = None  # of test/ports: its text, data and weights

    def model(self, folder):
        """The .dl; a port's is written into `folder`, with the constants of its test."""
        if not self.port:
            return os.path.join(ROOT, self.source)
        path = os.path.join(folder, "model.dl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.port.text("model.dl"))
        return path

    def make_data(self, folder, mnist=None):
        """Makes the data in `folder`; what --data of dlrun says."""
        if self.data == "mnist":
            return mnist
        if not os.path.isdir(folder):
            os.makedirs(folder)
            if self.data:
                # A text that both machines have, whatever else they have.
                texts = os.path.join(folder, "texts", "tinyshakespeare")
                os.makedirs(texts)
                letters = np.random.RandomState(1).choice(list("abcdefghij KLMNOP.,\n"), 200_000)
                with open(os.path.join(texts, "input.txt"), "w", encoding="utf-8") as file:
                    file.write("".join(letters))
                environment = {**os.environ, "DL_DATA": os.path.dirname(texts)}
                subprocess.run([sys.executable, os.path.join(ROOT, "examples", self.data, "generate.py"), folder], check=True, env=environment)
            source = np.random.RandomState(zlib.crc32(self.name.encode()))
            arrays = self.port.arrays() if self.port else {file: make(source, self.items) for file, make in self.tensors.items()}
            for file, array in arrays.items():
                if file.endswith(".bin"):
                    array.tofile(os.path.join(folder, file))
                else:
                    np.save(os.path.join(folder, file), array)
        return folder

    def defines(self):
        return [word for name, value in self.settings.items() for word in ("-D", f"{name}={value}")]


def example(name, data, steps, source=None, **options):
    return Case(name, f"examples/{source or name}/{name}.dl", data=data, steps=steps, group="examples", **options)


def digits(name, batch, steps, dropout=True, **options):
    """Without dropout, losses can be compared with those of others, who draw other masks."""
    return Case(f"{name}-{batch}" + ("" if dropout else "-plain"), MODELS + name + ".dl",
                {"batch_size": batch} | ({} if dropout else {"dropout": 0}),
                {"x.npy": normal(1, 28, 28), "y.npy": integers(10)}, batch, steps=steps, batch=batch, **options)


def resnet(name, batch, width, **options):
    return Case(name, MODELS + "resnet18.dl", {"batch_size": batch, "width": width},
                {"x.npy": normal(3, 32, 32), "y.npy": integers(10)}, batch, batch=batch, **options)


def transformer(name, batch, width, heads, length, depth, **options):
    return Case(name, MODELS + "transformer.dl",
                {"batch_size": batch, "width": width, "heads": heads, "length": length, "depth": depth},
                {"x.npy": one_hot(length, 65), "y.npy": integers(65, length)}, batch, batch=batch, **options)


def gpt2(name, batch, length, steps, group, precisions, **sizes):
    """Of one batch; x.npy and y.npy have it for others."""
    def tokens(source, items):
        del source, items  # all files have the same ones
        return np.random.RandomState(7).randint(0, sizes.get("vocab_size", 50257), batch * length + 1)

    def windows(begin):
        return lambda *_: tokens(*_)[begin:begin + batch * length].reshape(batch, length).astype(np.int64)

    def file(*_):
        return tokens(*_).astype(np.uint16)

    plain = {"lr": 1e-4, "warmup": 0, "steps": 0, "weight_decay": 0, "beta2": 0.999, "clip": 0}
    return Case(name, "examples/gpt2/gpt2.dl", {"batch_size": batch, "length": length, **plain, **sizes},
                {"train.bin": file, "val.bin": file, "x.npy": windows(0), "y.npy": windows(1)}, batch, batch=batch, steps=steps, group=group,
                precisions=precisions)


EXAMPLES = [
    example("linear", "linear", 200),
    example("mnist", "mnist", 100),
    example("mnist_mlp", "mnist", 100),
    example("gpt", "gpt", 20),
    example("parallel_ops", "parallel_ops", 8),
    example("chained", "parallel_ops", 8, source="parallel_ops"),
    example("two_parts", "two_parts", 100, precisions=("f32", "f64")),
    example("mlp_mesh", "mlp_mesh", 20, precisions=("f32", "f64")),
]

# What is compared with the CPU and measured beside others.
MEASURED = [
    digits("convnet", 4, 40),
    digits("convnet", 64, 20),
    digits("mlp", 64, 40),
    digits("mlp", 256, 20),
    resnet("resnet18-128", 128, 64, steps=3),
    transformer("transformer-32", 32, 384, 6, 256, 6, steps=3, roads=("own", "apart")),
]

PLAIN = [digits("convnet", batch, 20, dropout=False, precisions=FAST, group="plain") for batch in (4, 64)]

# The same networks, small enough for compute-sanitizer.
SMALL = [
    resnet("resnet18-small", 4, 16, steps=4, group="small"),
    transformer("transformer-small", 2, 48, 2, 24, 1, steps=4, group="small", roads=("apart",)),
    gpt2("gpt2-small", 2, 40, 4, "small", PRECISIONS, n_layer=2, n_head=2, n_embd=48, vocab_size=300),
]

# 124M parameters: half a minute for each plan, and minutes for its CPU.
GPT2 = gpt2("gpt2-8", 8, 1024, 2, "gpt2", FAST)

CHAIN = Case("chain-300", MODELS + "commands.dl", {"products": 300}, {"x.npy": constant(0.5, 1)}, 8, precisions=("f32", "f64"), steps=4,
             group="chain", batch=1)

def ported():
    """The programs of test/ports, small."""
    sys.path.insert(0, os.path.join(ROOT, "test"))
    from ports import cases as ports
    return [Case(f"port-{port.name}", port.path("model.dl"), steps=20, precisions=("f32", "f64"), group="ports", port=port) for port in ports.PORTS]


ALL = EXAMPLES + MEASURED + PLAIN + SMALL + [CHAIN, GPT2]
BY_NAME = {case.name: case for case in ALL}

# (M, N, K, kind, batch): large squares, then those of the transformer, of attention and of the perceptron.
PRODUCTS = [
    (512, 512, 512, "NN", 1), (1024, 1024, 1024, "NN", 1), (2048, 2048, 2048, "NN", 1), (4096, 4096, 4096, "NN", 1),
    (4096, 4096, 4096, "NT", 1), (4096, 4096, 4096, "TN", 1),
    (8192, 1152, 384, "NT", 1), (8192, 384, 384, "NT", 1), (8192, 1536, 384, "NT", 1), (8192, 384, 1536, "NT", 1),
    (8192, 384, 1536, "NN", 1), (384, 1536, 8192, "TN", 1), (1536, 384, 8192, "TN", 1), (65, 384, 8192, "TN", 1),
    (8192, 65, 384, "NT", 1),
    (256, 256, 64, "NT", 192), (256, 64, 256, "NN", 192), (256, 64, 256, "TN", 192),
    (64, 128, 784, "NT", 1), (256, 128, 784, "NT", 1), (128, 784, 256, "TN", 1), (100, 65, 37, "NN", 1),
]

# (images, channels, channels of the result, size, kernel, stride, padding): ResNet-18's, then the small network's.
CONVOLUTIONS = [
    (128, 3, 64, 32, 3, 1, 1), (128, 64, 64, 32, 3, 1, 1), (128, 64, 128, 32, 3, 2, 1), (128, 128, 128, 16, 3, 1, 1),
    (128, 256, 256, 8, 3, 1, 1), (128, 512, 512, 4, 3, 1, 1), (128, 64, 128, 32, 1, 2, 0),
    (64, 1, 10, 28, 5, 1, 0), (64, 10, 20, 12, 5, 1, 0),
]
PARTS = ("forward", "input", "weight")
ONE = {"x.npy": constant(1, 1)}  # the batch of a step that only multiplies


def repeats(flops):
    """Of so many in a step: enough that its launch does not count, few where one takes long."""
    return int(np.clip(2e10 / flops, 2, 16))


def product_case(m, n, k, kind, batch):
    flops = 2 * m * n * k * batch
    name = f"product-{kind}-{m}x{n}x{k}" + (f"x{batch}" if batch > 1 else "")
    return Case(name, "test/gpu/models/products.dl", {"m": m, "n": n, "k": k, "kind": kind, "batch": batch, "repeat": repeats(flops)},
                ONE, 8, precisions=FAST, group="table", roads=("own", "library")), flops


def convolution_case(images, channels, results, size, kernel, stride, padding, part):
    edge = (size + 2 * padding - kernel) // stride + 1
    flops = 2 * images * results * edge * edge * channels * kernel * kernel
    name = f"conv-{PARTS[part]}-{images}x{channels}x{size}-{results}k{kernel}s{stride}"
    settings = {"batch": images, "in": channels, "out": results, "size": size, "kernel": kernel, "stride": stride, "padding": padding,
                "part": part, "repeat": repeats(flops)}
    return Case(name, "test/gpu/models/convolutions.dl", settings, ONE, 8, precisions=FAST, group="table"), flops


def table_cases():
    """(case, FLOPs of one) of each row."""
    rows = [product_case(*row) for row in PRODUCTS]
    return rows + [convolution_case(*row, part) for row in CONVOLUTIONS for part in range(3) if row[1] > 3 or part != 1]
