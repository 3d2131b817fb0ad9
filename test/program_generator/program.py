"""A random program: what it consists of, its C++ text, and its run on the twin."""

import numpy as np

from numpy_twin.autodiff import Tape, backward, gradient_of
from numpy_twin.optimizers import SGD, Adam


class Dim:
    """An extent: a number, or a multiple of the batch size (which differs in the last, short batch)."""

    def __init__(self, count, batch=False):
        self.count, self.batch = count, batch

    def __eq__(self, other):
        return (self.count, self.batch) == (other.count, other.batch)

    def __hash__(self):
        return hash((self.count, self.batch))

    @property
    def one(self):
        return self.count == 1 and not self.batch

    def text(self):
        if not self.batch:
            return str(self.count)
        return "B" if self.count == 1 else f"{self.count} * B"

    def extent(self, batch):
        return self.count * batch if self.batch else self.count


def product(dims):
    """The product of dims as one Dim; None where the batch would be squared."""
    dims = list(dims)
    if sum(d.batch for d in dims) > 1:
        return None
    return Dim(int(np.prod([d.count for d in dims], dtype=np.int64)), any(d.batch for d in dims))


def brace(dims):
    return "{" + ", ".join(d.text() for d in dims) + "}"


class Value:
    """A tensor of the program: its C++ name and its shape."""

    def __init__(self, name, dims, kind="float"):
        self.name, self.dims, self.kind, self.uses = name, list(dims), kind, 0

    @property
    def rank(self):
        return len(self.dims)


class Statement:
    """`names` = text; `run` maps the environment to a Var, or a tuple of them for several names.

    shards: an axis of the mesh for each dim of the one that is named, or None.
    """

    def __init__(self, names, text, run, dims=None):
        self.names, self.text, self.run, self.dims, self.shards = names, text, run, dims, None

    def line(self):
        left = self.names if isinstance(self.names, str) else f"[{', '.join(self.names)}]"
        axes = ", ".join(f'"{axis}"' if axis else "nullptr" for axis in self.shards or ())
        shard = f" = dl::Tensor({self.text}).shard({{{axes}}})" if self.shards else f" = {self.text}"
        return f"    auto {left}{shard};"


OPTIMIZERS = {"SGD": SGD, "Adam": Adam, "AdamW": lambda **options: Adam(decoupled=True, **{"weight_decay": 0.01} | options)}
ORDER = ["params", "lr", "betas", "eps", "momentum", "dampening", "weight_decay", "nesterov", "amsgrad", "maximize"]


def designated(options):
    """Options as designated initialisers of C++, in the order of the members."""
    def text(value):
        return "{" + ", ".join(map(str, value)) + "}" if isinstance(value, tuple) else str(value).lower()
    return ", ".join(f".{name} = {text(value)}" for name, value in sorted(options.items(), key=lambda item: ORDER.index(item[0])))


class Program:
    def __init__(self, seed):
        self.seed = seed
        self.structs = []  # C++ definitions before the model
        self.members = []  # C++ members of the model
        self.weights = {}  # name in safetensors: (C++ access from the model, f32 array)
        self.kept = {}  # name of a buffer: (the weight that it keeps, as it is before, within or after the update)
        self.inputs = []  # (Value, array of all items)
        self.statements = []
        self.loss = ""
        self.watched = ""  # one more tensor that is returned as a metric
        self.batch = self.items = self.steps = self.accumulate = 1
        self.drop_last = False
        self.updates = 1  # calls of optimizer.step() after one backward()
        self.optimizer, self.options = "SGD", {}
        self.placements = {}  # module: how its parameters are divided along "tp"
        self.is_hybrid = False  # batches are divided along "rep" and "dp"
        self.groups = []  # (names of weights, their options); without any, all weights are one group

    def text(self, tag):
        names = [value.name for value, _ in self.inputs]
        files = ", ".join(f'"{tag}.{name}.npy"' for name in names)
        options = f".batch_size = {self.batch}" + (", .drop_last = true" if self.drop_last else "")
        lines = [f"// Program {self.seed}.", "#include <dl/dl.h>", "", "namespace nn = dl::nn;", "namespace F = dl::F;", ""]
        for struct in self.structs:
            lines += [struct, ""]
        lines += ["struct Model : nn::Module {"] + ["  " + member for member in self.members]
        lines += [f"  dl::Buffer {name} = dl::zeros({{{', '.join(map(str, self.weights[weight][1].shape))}}});"
                  for name, (weight, _) in self.kept.items()]
        lines += ["  dl::Tensor watched;", "", "  dl::Tensor forward(" + ", ".join(f"dl::Tensor {n}" for n in names) + ") {",
                  f"    auto B = {names[0]}.size(0);"]
        lines += [statement.line() for statement in self.statements]
        lines += [f"    watched = {self.watched}.clone();", f"    return {self.loss};", "  }", "};", "",
                  "void dl_main(dl::Program &p) {",
                  f"  auto data = dl::data::TensorDataset({{{files}}}, {{{options}}});",
                  "  Model model;", *self.placements_text(), f"  dl::optim::{self.optimizer} optimizer({self.parameters_text()}, {{{designated(self.options)}}});",
                  "  p.train(data, [&](dl::Batch b) -> dl::Metrics {", *self.keeping("before"),
                  "    auto loss = " + self.call(", ".join(f"b[{i}]" for i in range(len(names)))) + ";",
                  "    optimizer.zero_grad();", "    loss.backward();", *self.keeping("within"), *["    optimizer.step();"] * self.updates, *self.keeping("after"),
                  '    dl::Metrics metrics{{"loss", loss}, {"watched", model.watched}};']
        lines += [f'    metrics.add("grad.{name}", {self.path(name)}.grad());' for name in self.weights]
        return "\n".join(lines + ["    return metrics;", "  });", "}", ""])

    def keeping(self, time):
        return [f"    model.{name} = {self.path(weight)}.detach();" for name, (weight, when) in self.kept.items() if when == time]

    def call(self, arguments):
        """A third of the programs compute all of the forward again in the backward."""
        return f"dl::checkpoint(model, {arguments})" if self.seed % 3 == 1 else f"model({arguments})"

    def placements_text(self):
        entries = ", ".join(f'{{"{module}", "{style}", "tp"}}' for module, style in self.placements.items())
        data = ['  dl::parallel::data(model, {"rep", "dp"});'] if self.is_hybrid else []
        return data + ([f"  dl::parallel::tensor(model, {{{entries}}});"] if entries else [])

    def path(self, name):
        """A weight in C++. In a list of modules "$" stands for the model: the member has a type only after a cast."""
        access = self.weights[name][0]
        return access.replace("$", "model") if "$" in access else f"model.{access}"

    def parameters_text(self):
        if not self.groups:
            return "model.parameters()"
        groups = []
        for names, options in self.groups:
            params = ", ".join(map(self.path, names))
            groups.append("{" + designated({"params": (params,), **options}) + "}")
        return "{" + ", ".join(groups) + "}"

    def optimizers(self):
        """The twin's optimizer of each group: (names of weights, optimizer)."""
        make = OPTIMIZERS[self.optimizer]
        groups = self.groups or [(list(self.weights), {})]
        return [(names, make(**{**self.options, **options})) for names, options in groups]

    def micro_batches(self, step):
        """The items of a step's micro-batches, in file order, epoch after epoch; the last group of one may be short."""
        whole, rest = divmod(self.items, self.batch)
        count = whole + (1 if rest and not self.drop_last else 0)
        steps = -(-count // self.accumulate)
        first = step % steps * self.accumulate
        return [slice(i * self.batch, min((i + 1) * self.batch, self.items))
                for i in range(first, min(first + self.accumulate, count))]

    def evaluate(self, tape, weights, items, statements=None):
        """The environment after the statements: name to Var."""
        env = {value.name: tape.var(array[items]) for value, array in self.inputs}
        for name, (access, _) in self.weights.items():
            env[name] = tape.var(weights[name])
        env["B"] = items.stop - items.start
        for statement in self.statements if statements is None else statements:
            results = statement.run(env)
            if isinstance(statement.names, str):
                env[statement.names] = results
            else:
                env.update(zip(statement.names, results))
        return env

    def run(self, dtype, jitter=None, sequential=False):
        """Trains on the twin. Returns the tensors dlrun is asked for, and the tapes' closeness to kinks and size.

        jitter: a random generator that moves each input by up to one rounding of f32.
        sequential: sums are made term by term."""
        shake = (lambda a: a * (1 + jitter.uniform(-1, 1, a.shape) * 2.0 ** -24)) if jitter else (lambda a: a)
        weights = {name: np.asarray(shake(array.astype(np.float64)), dtype) for name, (_, array) in self.weights.items()}
        kept = self.inputs
        self.inputs = [(v, shake(a.astype(np.float64)) if a.dtype.kind == "f" else a) for v, a in kept]
        optimizers = self.optimizers()
        margin, largest = np.inf, 0.0
        for step in range(self.steps):
            group, sums = self.micro_batches(step), {}
            for micro, items in enumerate(group):
                tape = Tape(dtype, seed=self.seed, step=step, micro=micro, sequential=sequential)
                env = self.evaluate(tape, weights, items)
                backward(env[self.loss])
                gradients = {name: gradient_of(env[name]) for name in weights}
                margin, largest = min(margin, tape.margin), max([largest, tape.largest] + [
                    float(np.max(np.abs(g), initial=0)) for g in gradients.values()])
                share = tape.dtype.type(items.stop - items.start)
                sums = {name: g * share + sums.get(name, 0) for name, g in gradients.items()}
            if len(group) > 1:  # the mean over all items of the group
                total = tape.dtype.type(group[-1].stop - group[0].start)
                gradients = {name: np.asarray(g / total, dtype) for name, g in sums.items()}
            old = dict(weights)
            for names, optimizer in optimizers:
                group = {name: weights[name] for name in names}
                for _ in range(self.updates):
                    optimizer.step(group, gradients)
                weights.update(group)
        self.inputs = kept
        states = {name: (weights if when == "after" else old)[weight] for name, (weight, when) in self.kept.items()}
        return self.metrics(env, gradients), weights | states, margin, largest

    def metrics(self, env, gradients):
        """What the step returns. With several micro-batches only the weights are compared: what dlrun keeps of the
        metrics of each is the last one's."""
        if self.accumulate > 1:
            return {}
        metrics = {"loss": env[self.loss].value, "watched": env[self.watched].value}
        return metrics | {"grad." + name: g for name, g in gradients.items()}
