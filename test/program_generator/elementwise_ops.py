"""Elementwise pieces of random programs. Each function proposes one statement or returns None."""

import numpy as np

from numpy_twin import elementwise as E, shaping as S

# What keeps an operand in the op's domain and away from poles: C++ text and twin.
PLAIN = ("{}", lambda x: x)
POSITIVE = ("({}.abs() + 0.5)", lambda x: E.add(E.abs_(x), 0.5))
ABOVE_MINUS_ONE = ("({}.abs() - 0.5)", lambda x: E.sub(E.abs_(x), 0.5))
SMALL = ("({} * 0.5)", lambda x: E.mul(x, 0.5))

# An op of one operand is one line here.
UNARY = {
    "neg": (E.neg, PLAIN), "abs": (E.abs_, PLAIN), "exp": (E.exp, SMALL), "log": (E.log, POSITIVE),
    "sqrt": (E.sqrt, POSITIVE), "rsqrt": (E.rsqrt, POSITIVE), "sin": (E.sin, PLAIN), "cos": (E.cos, PLAIN),
    "tanh": (E.tanh, PLAIN), "sigmoid": (E.sigmoid, PLAIN), "erf": (E.erf, PLAIN), "relu": (E.relu, PLAIN),
    "sign": (E.sign, PLAIN), "floor": (E.floor, PLAIN), "square": (lambda x: E.mul(x, x), PLAIN),
    "ceil": (E.ceil, PLAIN), "trunc": (E.trunc, PLAIN), "round": (E.round_, PLAIN), "frac": (E.frac, PLAIN), "expm1": (E.expm1, SMALL),
    "exp2": (E.exp2, PLAIN), "log2": (E.log2, POSITIVE), "log10": (E.log10, POSITIVE),
    "reciprocal": (lambda x: E.div(1.0, x), POSITIVE), "log1p": (E.log1p, ABOVE_MINUS_ONE),
}
# The same for functions of dl::F: twin, function, layer.
ACTIVATIONS = [
    (E.silu, "F::silu({})", "nn::SiLU {};"), (E.gelu, "F::gelu({})", "nn::GELU {};"),
    (E.gelu_tanh, 'F::gelu({}, {{.approximate = "tanh"}})', 'nn::GELU {}{{"tanh"}};'),
    (E.relu, "F::relu({})", "nn::ReLU {};"), (E.tanh, "F::tanh({})", "nn::Tanh {};"),
    (E.sigmoid, "F::sigmoid({})", "nn::Sigmoid {};"),
]
ARITHMETIC = {"+": E.add, "-": E.sub, "*": E.mul}
NAMED = {"add": E.add, "sub": E.sub, "mul": E.mul, "maximum": E.maximum, "minimum": E.minimum}
COMPARISONS = {
    "<": (np.less, "lt"), "<=": (np.less_equal, "le"), ">": (np.greater, "gt"), ">=": (np.greater_equal, "ge"),
    "==": (np.equal, "eq"), "!=": (np.not_equal, "ne"),
}


def number(rng):
    return round(float(rng.uniform(-1.5, 1.5)), 2) or 0.25


def unary(b):
    x, op = b.pick(), b.choose(sorted(UNARY))
    function, (text, domain) = UNARY[op]
    inner = text.format(x.name)
    spelling = f"{inner}.{op}()" if b.coin() else f"dl::{op}({inner})"
    if op == "neg" and b.coin():
        spelling = f"-{inner}"
    return b.propose(spelling, lambda env: function(domain(env[x.name])), x)


def activation_among(known):
    """Of rows of twin, function and layer."""
    def activation(b):
        x = b.pick()
        function, text, layer = b.choose(known)
        if b.coin(0.4):
            name = b.fresh("act")
            b.member(layer.format(name))
            text = name + "({})"
        return b.propose(text.format(x.name), lambda env: function(env[x.name]), x)
    return activation


activation = activation_among(ACTIVATIONS)


def clamp(b):
    x, low = b.pick(), number(b.rng)
    high = round(low + float(b.rng.uniform(0.2, 1.5)), 2)
    text, bounds = b.choose([
        ("{0}.clamp({1}, {2})", (low, high)), ("dl::clamp({0}, {1}, {2})", (low, high)),
        ("{0}.clip({1}, {2})", (low, high)), ("{0}.clamp_min({1})", (low, None)), ("dl::clamp_max({0}, {2})", (None, high)),
        ("{0}.clamp({{.min = {1}}})", (low, None)), ("{0}.clamp({{.max = {2}}})", (None, high))])
    return b.propose(text.format(x.name, low, high), lambda env: E.clamp(env[x.name], *bounds), x)


def binary(b):
    x = b.pick()
    y = b.partner(x)
    if b.coin():
        x, y = y, x
    if b.coin():
        op = b.choose(sorted(ARITHMETIC))
        return b.propose(f"{x.name} {op} {y.name}", lambda env: ARITHMETIC[op](env[x.name], env[y.name]), x, y)
    op = b.choose(sorted(NAMED))
    spelling = f"{x.name}.{op}({y.name})" if b.coin() else f"dl::{op}({x.name}, {y.name})"
    return b.propose(spelling, lambda env: NAMED[op](env[x.name], env[y.name]), x, y)


def with_number(b):
    x, c = b.pick(), number(b.rng)
    op = b.choose(["+", "-", "*", "maximum", "minimum"])
    left = b.coin()
    if op in ARITHMETIC:
        spelling = f"{c} {op} {x.name}" if left else f"{x.name} {op} {c}"
        return b.propose(spelling, lambda env: ARITHMETIC[op](*(c, env[x.name]) if left else (env[x.name], c)), x)
    return b.propose(f"dl::{op}({x.name}, {c})", lambda env: NAMED[op](env[x.name], c), x)


def divide(b):
    x = b.pick()
    y = b.partner(x)
    text, domain = POSITIVE
    if b.coin(0.3):
        c = abs(number(b.rng)) + 0.5
        return b.propose(f"{c} / {text.format(x.name)}", lambda env: E.div(c, domain(env[x.name])), x)
    return b.propose(f"{x.name} / {text.format(y.name)}", lambda env: E.div(env[x.name], domain(env[y.name])), x, y)


def power(b):
    x = b.pick()
    text, domain = POSITIVE
    if b.coin(0.3):
        whole = b.number(2, 3)
        return b.propose(f"{x.name}.pow({whole})", lambda env: E.pow_(env[x.name], float(whole)), x)
    if b.coin(0.2):
        c = abs(number(b.rng)) + 0.5
        return b.propose(f"dl::pow({c}, {x.name})", lambda env: E.pow_(c, env[x.name]), x)
    if b.coin():
        c = abs(number(b.rng)) + 0.5
        return b.propose(f"{text.format(x.name)}.pow({c})", lambda env: E.pow_(domain(env[x.name]), c), x)
    y = b.partner(x)
    return b.propose(f"dl::pow({text.format(x.name)}, {y.name})",
                     lambda env: E.pow_(domain(env[x.name]), env[y.name]), x, y)


def condition(b, x):
    """A comparison of x with a number or a partner: text, twin function, operands."""
    op = b.choose(["<", "<=", ">", ">="] if b.coin(0.8) else ["==", "!="])
    function, method = COMPARISONS[op]
    if b.coin():
        c = number(b.rng)
        text = f"({x.name} {op} {c})" if b.coin() else f"{x.name}.{method}({c})"
        return text, lambda env: E.compare(env[x.name], c, function), [x]
    y = b.partner(x)
    text = f"({x.name} {op} {y.name})" if b.coin() else f"{x.name}.{method}({y.name})"
    return text, lambda env: E.compare(env[x.name], env[y.name], function), [x, y]


def select(b):
    x = b.pick()
    text, test, operands = condition(b, x)
    if b.coin(0.3):
        more, second, others = condition(b, x)
        word, logic = ("logical_and", np.logical_and) if b.coin() else ("logical_or", np.logical_or)
        first = test
        text, test = f"dl::{word}({text}, {more})", lambda env: E.logical(logic, first(env), second(env))
        operands = operands + others
    if b.coin(0.2):
        straight = test
        text, test = b.choose([f"!{text}", f"{text}.logical_not()"]), lambda env: E.logical(np.logical_not, straight(env))
    y, c = b.partner(x), number(b.rng)
    if not b.broadcast(y, *operands):
        return None  # both fit x, where it has an extent of 1, and not each other
    if b.coin(0.3):
        spelling = b.choose([f"dl::where({text}, {x.name}, {c})", f"{x.name}.where({text}, {c})",
                             f"{x.name}.masked_fill(!{text}, {c})"])
        return b.propose(spelling, lambda env: E.where(test(env), env[x.name], c), *operands)
    return b.propose(f"dl::where({text}, {y.name}, {x.name})",
                     lambda env: E.where(test(env), env[y.name], env[x.name]), y, *operands)


def mask(b):
    """A comparison turned into numbers."""
    x = b.pick()
    text, test, operands = condition(b, x)
    if b.coin(0.3):
        return b.propose(f"{text}.mean() * {x.name}",
                         lambda env: E.mul(S.mean(E.cast_float(test(env))), env[x.name]), *operands)
    return b.propose(f"{text}.to(dl::kFloat) * {x.name}",
                     lambda env: E.mul(E.cast_float(test(env)), env[x.name]), *operands)


def whole_numbers(b):
    """Through integers and back: no gradient on the way."""
    x = b.pick()
    return b.propose(f"({x.name} * 3.7).to(dl::kInt64).to(dl::kFloat) * {x.name}",
                     lambda env: E.mul(E.cast_float(E.cast_int(E.mul(env[x.name], 3.7))), env[x.name]), x)


def detach(b):
    x = b.pick()
    return b.propose(f"{x.name}.detach() * {x.name}",
                     lambda env: E.mul(env[x.name].tape.var(env[x.name].value), env[x.name]), x)


OPS = [(unary, 6), (activation, 2), (clamp, 1), (binary, 5), (with_number, 2), (divide, 2), (power, 2), (select, 2), (mask, 1), (whole_numbers, 0.5),
       (detach, 0.5)]
