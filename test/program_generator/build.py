"""Puts random programs together.

Every proposed statement is evaluated at once on the twin, for the batch size of
the program and for one more: the first tells whether its values are sane, both
together tell which extents follow the batch.
"""

import numpy as np

from numpy_twin import contractions as C, elementwise as E, losses as L, shaping as S
from numpy_twin.autodiff import Tape, topological

from . import choosing_ops, elementwise_ops, layer_ops, network_ops, shape_ops
from .program import Dim, Program, Statement, Value, brace

OPS = elementwise_ops.OPS + shape_ops.OPS + network_ops.OPS + choosing_ops.OPS + layer_ops.OPS
MARGIN = 2e-4  # closest to a kink, in f64; f32 rounding stays well below
LARGEST = 300.0
ELEMENTS = {False: 12000, True: 150000}  # of a tensor, by Builder.big


class Builder:
    def __init__(self, seed):
        self.rng = np.random.default_rng([seed, 20])
        self.program = Program(seed)
        self.pool, self.counter = [], 0
        self.big = self.coin(0.08)  # large enough for blocked loops, packed operands and several tiles
        self.draft = None  # what a proposal adds besides its statement

    # Choices.
    def coin(self, chance=0.5):
        return self.rng.random() < chance

    def number(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def width(self):
        """An extent: mostly small, now and then past one or several vector registers."""
        if self.big and self.coin(0.5):
            return self.choose([96, 130, 200, 257, 300])
        return self.choose([17, 19, 31, 32, 37, 64, 67]) if self.coin(0.12) else self.number(1, 8)

    def choose(self, items):
        return items[int(self.rng.integers(len(items)))]

    def fresh(self, stem):
        self.counter += 1
        return f"{stem}{self.counter}"

    def pick(self, fits=None, min_rank=0):
        """A tensor of the pool, rather a young and unused one."""
        fitting = [v for v in self.pool if v.rank >= min_rank and (fits is None or fits(v))]
        if not fitting:
            return None
        weights = np.array([(3.0 if v.uses == 0 else 1.0) * (1 + i) for i, v in enumerate(fitting)])
        return fitting[int(self.rng.choice(len(fitting), p=weights / weights.sum()))]

    def partner(self, x):
        """A tensor that broadcasts with x: of the pool, or a new parameter."""
        def fits(v):
            return all(a == c or a.one or c.one for a, c in zip(reversed(v.dims), reversed(x.dims)))
        if self.coin(0.5):
            y = self.pick(fits)
            if y is not None:
                return y
        dims = [Dim(1) if d.batch or self.coin(0.25) else d for d in x.dims]
        return self.parameter(dims[self.number(0, len(dims)):] if self.coin(0.4) else dims, 1.0)

    def broadcast(self, *values):
        """Whether all these tensors broadcast together."""
        full = {}
        for value in values:
            for i, dim in enumerate(reversed(value.dims)):
                if not dim.one and full.setdefault(i, dim) != dim:
                    return False
        return True

    # What a proposal may add.
    def member(self, line):
        self.draft["members"].append(line)

    def struct(self, text):
        self.draft["structs"].append(text)

    def layer_weight(self, name, shape, scale=0.6, access=None):
        self.draft["weights"][name] = (access or name, (self.rng.normal(size=shape) * scale).astype(np.float32))
        return name

    def parameter(self, dims, scale):
        reuse = [v for v in self.pool if v.kind == "parameter" and v.dims == list(dims)]
        if reuse and self.coin(0.5):
            return self.choose(reuse)
        name = self.fresh("w")
        initial = self.choose(["dl::zeros({})", "dl::ones({})", "dl::randn({})", "dl::full({}, 0.5)"])
        self.member(f"dl::Parameter {name} = {initial.format(brace(dims))};")
        self.layer_weight(name, [d.count for d in dims], scale)
        value = Value(name, dims, "parameter")
        self.draft["values"].append(value)
        return value

    def propose(self, text, run, *operands):
        return text, run, operands

    # Trying a proposal.
    def begin(self):
        program = self.program
        self.tapes, self.envs = [], []
        for extra in (0, 1):
            tape = Tape(seed=program.seed)
            rows = slice(0, program.batch + extra)
            env = {v.name: tape.var(array[rows]) for v, array in program.inputs}
            env["B"] = program.batch + extra
            self.tapes.append(tape)
            self.envs.append(env)

    def new_draft(self):
        self.draft = {"members": [], "structs": [], "weights": {}, "values": []}

    def attempt(self, function):
        """True if the proposal of `function` became part of the program."""
        self.new_draft()
        proposal = function(self)
        if proposal is None:
            return None
        text, run, operands = proposal
        for env, tape in zip(self.envs, self.tapes):
            for name, (_, array) in self.draft["weights"].items():
                env[name] = tape.var(array)
        tape = self.tapes[0]
        before = tape.margin, tape.largest
        with np.errstate(all="ignore"):
            results = [run(env) for env in self.envs]
        dims = self.dims_of(*results)
        sane = np.all(np.isfinite(results[0].value)) and tape.margin > MARGIN and tape.largest < LARGEST
        if dims is None or not sane or results[0].value.size > ELEMENTS[self.big] or not results[0].parents:
            tape.margin, tape.largest = before
            return None
        name = self.fresh("t")
        for env, result in zip(self.envs, results):
            env[name] = result
        self.commit(Statement(name, text, run, dims))
        for operand in operands:
            operand.uses += 1
        value = Value(name, dims)
        self.pool.append(value)
        return value

    def commit(self, statement):
        self.program.statements.append(statement)
        self.program.members += self.draft["members"]
        self.program.structs += self.draft["structs"]
        self.program.weights.update(self.draft["weights"])
        self.pool += self.draft["values"]

    def dims_of(self, first, second):
        if first.value.ndim != second.value.ndim or first.value.ndim > 5:
            return None
        dims = []
        for a, c in zip(first.shape, second.shape):
            growth = c - a
            if growth and growth * self.program.batch != a:
                return None
            dims.append(Dim(growth, True) if growth else Dim(a))
        return dims


def add_input(b, shape, kind, array):
    name = b.fresh("x")
    b.program.inputs.append((Value(name, [Dim(1, True)] + [Dim(n) for n in shape], kind), array))
    if kind == "float":
        b.pool.append(b.program.inputs[-1][0])


def add_inputs(b):
    program = b.program
    program.batch = b.number(9, 40) if b.big else b.number(1, 7)
    program.accumulate = b.number(2, 3) if b.coin(0.15) else 1
    whole = b.number(1, 2) if program.accumulate == 1 else b.number(2, 5)
    rest = b.number(0, program.batch - 1) if b.coin() else 0
    program.items = program.batch * whole + rest
    program.updates = 2 if b.coin(0.15) else 1
    program.drop_last = rest > 0 and b.coin(0.2)
    program.steps = b.number(1, -(-(whole + (rest > 0)) // program.accumulate))
    rows = program.items + 1  # one more than the program has: the second trial batch needs it
    for _ in range(b.number(1, 2)):
        shape = b.choose([
            lambda: (b.choose([300, 513, 784]) if b.big else b.choose([3, 5, 6, 7, 11, 13, 29, 64]),),
            lambda: (b.number(1, 4), b.number(4, 12), b.choose([4, 5, 7, 8, 9, 11, 16, 19, 23])),
            lambda: (b.number(2, 5), b.choose([3, 4, 7, 17]))])()
        add_input(b, shape, "float", b.rng.normal(size=(rows, *shape)).astype(np.float32))
    program.classes = b.number(2, 7)
    labels = b.rng.integers(0, program.classes, rows)
    program.ignored = b.choose([-100, -100, 1])
    if program.ignored == -100 and b.coin(0.3):
        labels[::3] = -100
        labels[0] = -100 if program.batch > 1 else labels[0]
    add_input(b, (), "labels", labels.astype(b.choose([np.int64, np.int32])))


def matrix_of(b, x, columns):
    """x as [B, columns] through a linear map, or None."""
    if not x.dims or not x.dims[0].batch or any(d.batch for d in x.dims[1:]):
        return None
    features = int(np.prod([d.count for d in x.dims[1:]], dtype=np.int64)) * x.dims[0].count
    name = b.fresh("head")
    b.member(f"nn::Linear {name}{{{features}, {columns}}};")
    weight, bias = b.layer_weight(f"{name}.weight", (columns, features), 1 / np.sqrt(features)), \
        b.layer_weight(f"{name}.bias", (columns,))
    return b.propose(f"{name}({x.name}.view({{B, {features}}}))", lambda env: C.linear(
        S.reshape(env[x.name], (env["B"], features)), env[weight], env[bias]), x)


def classification(b):
    x = b.pick(lambda v: v.rank and v.dims[0].batch and not any(d.batch for d in v.dims[1:]))
    logits = b.attempt(lambda b: matrix_of(b, x, b.program.classes)) if x else None
    if logits is None:
        return None
    target, ignored = b.program.inputs[-1][0].name, b.program.ignored
    options = [] if ignored == -100 else [f".ignore_index = {ignored}"]
    reduction = b.choose(["mean", "sum", "none"])
    options += [] if reduction == "mean" else [f'.reduction = "{reduction}"']
    tail = f", {{{', '.join(options)}}}" if options else ""
    end, finish = (".mean()", S.mean) if reduction == "none" else ("", lambda y: y)
    whole = b.coin()
    twin = L.cross_entropy if whole else lambda x, *rest: L.nll_loss(L.log_softmax(x, 1), *rest)
    first = logits.name if whole else f"F::log_softmax({logits.name}, 1)"

    def propose(b):
        if b.coin(0.3):
            name = b.fresh("criterion")
            b.member(f"nn::{'CrossEntropyLoss' if whole else 'NLLLoss'} {name}{{{tail[2:]}}};")
            text = f"{name}({first}, {target})"
        else:
            text = f"F::{'cross_entropy' if whole else 'nll_loss'}({first}, {target}{tail})"
        return b.propose(text + end, lambda env: finish(twin(env[logits.name], env[target], ignored, reduction)), logits)
    return b.attempt(propose)


def regression(b):
    x = b.pick()
    same = [v for v in b.pool if v is not x and v.dims == x.dims]
    if not same:
        return None
    y = b.choose(same)
    return b.attempt(lambda b: layer_ops.pair_loss(b, x, y))


def plus_mean(loss, value, scale):
    """A proposal: the loss so far, if any, plus a share of the mean of a value."""
    part = lambda env: E.mul(S.mean(env[value.name]), scale)
    text = f"{value.name}.mean() * {scale}"
    if loss is None:
        return lambda b: b.propose(text, part, value)
    return lambda b: b.propose(f"{loss.name} + {text}", lambda env: E.add(env[loss.name], part(env)), loss, value)


def finish(b):
    """A scalar loss that everything unused flows into."""
    loss = None
    for maker in b.rng.permutation([classification, regression]):
        loss = loss or maker(b)
    inputs = [v for v, _ in b.program.inputs]
    for value in [v for v in b.pool if v is not loss and not v.uses and v not in inputs]:
        loss = b.attempt(plus_mean(loss, value, b.number(1, 8) / 8))
        if loss is None:
            return False
    return loss is not None and loss.rank == 0 and every_weight_learns(b, loss) and set_loss(b, loss)


def every_weight_learns(b, loss):
    """PyTorch gives no gradient at all to a parameter that the loss only compares or detaches."""
    env = b.envs[0]
    reached = {id(var) for var in topological(env[loss.name])}
    weights = b.program.weights
    return bool(weights) and all(id(env[name]) in reached for name in weights)


def set_loss(b, loss):
    b.program.loss = loss.name
    b.program.watched = b.choose([s.names for s in b.program.statements])
    program = b.program
    program.optimizer = b.choose(["SGD", "SGD", "Adam", "AdamW"])
    program.options = {"lr": b.choose([0.01, 0.05])} | (sgd_options if program.optimizer == "SGD" else adam_options)(b)
    if b.coin(0.4):
        program.options["weight_decay"] = 0.02
    if b.coin(0.1):
        program.options["maximize"] = True
    if b.coin(0.3):
        add_groups(b)
    return True


def sgd_options(b):
    momentum = b.choose([0.0, 0.5, 0.9])
    if momentum and b.coin(0.3):
        return {"momentum": momentum} | ({"nesterov": True} if b.coin() else {"dampening": 0.25})
    return {"momentum": momentum}


def adam_options(b):
    """With an eps that rounding errors do not reach: Adam makes a step of size lr from a gradient of any size."""
    options = {"eps": b.choose([1e-3, 1e-2])}
    if b.coin():
        options["betas"] = b.choose([(0.5, 0.999), (0.8, 0.9), (0.0, 0.99)])
    return options | ({"amsgrad": True} if b.coin(0.25) else {})


def add_groups(b):
    """Each weight goes to one of two groups, the second with options of its own."""
    program = b.program
    second = [name for name in program.weights if b.coin()]
    first = [name for name in program.weights if name not in second]
    own = {"lr": 0.02} | ({"weight_decay": 0.1} if b.coin() else {})
    program.groups = [(names, options) for names, options in ((first, {}), (second, own)) if names]


def keep_weights(program):
    """States that keep a weight of before or after the update, drawn apart from all else."""
    rng = np.random.default_rng([program.seed, 21])
    for name in program.weights:
        if rng.random() < 0.15:
            program.kept[f"kept{len(program.kept)}"] = name, ("before", "within", "after")[int(rng.integers(3))]


def build(seed):
    """A program of 2 to 8 ops and a loss, far from kinks in all its steps; None if this seed gives none."""
    b = Builder(seed)
    add_inputs(b)
    b.begin()
    functions, weights = zip(*OPS)
    chances = np.array(weights) / sum(weights)
    wanted, made = b.number(2, 8), 0
    for _ in range(80):
        if made == wanted:
            break
        made += b.attempt(functions[int(b.rng.choice(len(functions), p=chances))]) is not None
    if made < 2 or not finish(b):
        return None
    program = b.program
    program.inputs = [(v, array[:program.items]) for v, array in program.inputs]
    keep_weights(program)
    with np.errstate(all="raise", under="ignore"):
        try:
            _, _, margin, largest = program.run(np.float64)
        except FloatingPointError:
            return None
    return program if margin > MARGIN and largest < 3 * LARGEST else None


def numbers(seed, count):
    """The numbers of `count` programs: build(number) makes each of them."""
    number = seed * 1000003
    while count:
        if build(number):
            yield number
            count -= 1
        number += 1
