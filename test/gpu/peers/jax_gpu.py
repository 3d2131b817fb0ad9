"""JAX's side of the measurements on a GPU: one jitted function makes the whole step. jax_gpu.py SPECIFICATION.json jit

The specification is that of torch_gpu.py. Images are NHWC and filters HWIO, as JAX's libraries have them. In bf16 weights are f32, and products,
what they read and what is computed on it in bf16, but norms, softmax and losses in f32: as PyTorch's autocast does it, and Flax with dtype=bfloat16.
"""

import json
import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

import serving  # noqa: E402
from numpy_twin import safetensors  # noqa: E402


NARROW = [jnp.float32]  # what products read; main() sets it


def narrow(x):
    return x.astype(NARROW[0])


def dropout(x, p, key, channels=False):
    if p == 0:
        return x
    shape = (x.shape[0], 1, 1, x.shape[3]) if channels else x.shape
    return jnp.where(jax.random.bernoulli(key, 1 - p, shape), x / (1 - p), 0)


def conv(w, name, x, stride=1, padding=0):
    y = lax.conv_general_dilated(narrow(x), narrow(w[name + ".weight"]), (stride, stride), [(padding, padding)] * 2,
                                 dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y + narrow(w[name + ".bias"]) if name + ".bias" in w else y


def linear(w, name, x):
    return narrow(x) @ narrow(w[name + ".weight"]).T + narrow(w[name + ".bias"])


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def nll(logits, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits.astype(jnp.float32)), y.reshape(-1, 1), axis=1))


def convnet(w, s, x, p, key):
    first, second = jax.random.split(key)
    x = jax.nn.relu(pool(conv(w, "conv1", x)))
    x = jax.nn.relu(pool(dropout(conv(w, "conv2", x), p, first, True)))
    x = jax.nn.relu(linear(w, "fc1", jnp.moveaxis(x, -1, 1).reshape(-1, 320)))
    return linear(w, "fc2", dropout(x, p, second)), s


def mlp(w, s, x, p, key):
    x = jax.nn.relu(linear(w, "fc1", x.reshape(-1, 784)))
    return linear(w, "fc3", jax.nn.relu(linear(w, "fc2", x))), s


def batch_norm(w, s, name, x):
    x = x.astype(jnp.float32)
    mean, var, count = x.mean((0, 1, 2)), x.var((0, 1, 2)), x.size // x.shape[-1]
    s[name + ".running_mean"] = 0.9 * s[name + ".running_mean"] + 0.1 * mean
    s[name + ".running_var"] = 0.9 * s[name + ".running_var"] + 0.1 * var * (count / (count - 1))
    return narrow((x - mean) * lax.rsqrt(var + 1e-5) * w[name + ".weight"] + w[name + ".bias"])


def resnet18(w, s, x, p, key):
    s = dict(s)
    x = jax.nn.relu(batch_norm(w, s, "bn1", conv(w, "conv1", x, 1, 1)))
    for layer in range(1, 5):
        for block in range(2):
            at, stride = f"layer{layer}.{block}.", 2 if layer > 1 and block == 0 else 1
            y = jax.nn.relu(batch_norm(w, s, at + "bn1", conv(w, at + "conv1", x, stride, 1)))
            y = batch_norm(w, s, at + "bn2", conv(w, at + "conv2", y, 1, 1))
            if at + "downsample.0.weight" in w:
                x = batch_norm(w, s, at + "downsample.1", conv(w, at + "downsample.0", x, stride, 0))
            x = jax.nn.relu(x + y)
    return linear(w, "fc", x.mean((1, 2))), s


def layer_norm(w, name, x):
    x = x - x.mean(-1, keepdims=True)
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w[name + ".weight"] + w[name + ".bias"]


def transformer(settings):
    heads, depth = settings["heads"], settings["depth"]

    def attention(w, at, x):
        n, length, width = x.shape
        q, k, v = (part.reshape(n, length, heads, width // heads) for part in jnp.split(linear(w, at + "qkv", x), 3, axis=-1))
        return linear(w, at + "out", jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(n, length, width))

    def forward(w, s, x, p, key):
        x = linear(w, "embed", x) + w["position"]
        for i in range(depth):
            at = f"blocks.{i}."
            x = x + attention(w, at + "attention.", layer_norm(w, at + "norm1", x))
            y = jax.nn.gelu(linear(w, at + "fc1", layer_norm(w, at + "norm2", x)), approximate=False)
            x = x + linear(w, at + "fc2", y)
        y = linear(w, "head", layer_norm(w, "norm", x))
        return y.reshape(-1, y.shape[-1]), s
    return forward


def sgd(lr, momentum=0.9, decay=0.0):
    def update(w, g, slots):
        m = jax.tree.map(lambda m, g, w: momentum * m + g + decay * w, slots["m"], g, w)
        return jax.tree.map(lambda w, m: w - lr * m, w, m), {"m": m}
    return update, lambda w: {"m": jax.tree.map(jnp.zeros_like, w)}


def adamw(lr, decay=0.01):
    def update(w, g, slots):
        t = slots["t"] + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, slots["m"], g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, slots["v"], g)
        scale, root = lr / (1 - 0.9 ** t), jnp.sqrt(1 - 0.999 ** t)
        w = jax.tree.map(lambda w, m, v: w * (1 - lr * decay) - scale * m / (jnp.sqrt(v) / root + 1e-8), w, m, v)
        return w, {"m": m, "v": v, "t": t}
    return update, lambda w: {"m": jax.tree.map(jnp.zeros_like, w), "v": jax.tree.map(jnp.zeros_like, w), "t": jnp.zeros(())}


def networks(spec):
    name = os.path.basename(spec["source"]).removesuffix(".dl")
    return {"convnet": lambda: (convnet, sgd(0.001)), "mlp": lambda: (mlp, sgd(0.001)),
            "resnet18": lambda: (resnet18, sgd(0.003, decay=5e-4)),
            "transformer": lambda: (transformer(spec["settings"]), adamw(3e-4))}[name]()


class Training:
    def __init__(self, spec, p):
        network, (update, self.slots) = networks(spec)
        x, y = spec["batch"]
        x, y = jnp.asarray(np.moveaxis(x, 1, -1) if x.ndim == 4 else x), jnp.asarray(y, jnp.int32)
        self.arrays = {name: np.moveaxis(a, (0, 1), (3, 2)) if a.ndim == 4 else a for name, a in spec["arrays"].items()}

        def loss(w, s, x, y, key):
            out, s = network(w, s, x, p, key)
            return nll(out, y), s

        def step(w, s, slots, key, x, y):
            key, used = jax.random.split(key)
            (value, s), g = jax.value_and_grad(loss, has_aux=True)(w, s, x, y, used)
            w, slots = update(w, g, slots)
            return w, s, slots, key, value

        self.jitted, self.batch = jax.jit(step, donate_argnums=(0, 1, 2, 3)), (x, y)
        self.set_back()

    def set_back(self):
        kept = {name: jnp.array(a) for name, a in self.arrays.items() if not name.endswith("num_batches_tracked")}
        state = {name: a for name, a in kept.items() if "running_" in name}
        w = {name: a for name, a in kept.items() if name not in state}
        self.state = [w, state, self.slots(w), jax.random.key(0)]

    def step(self):
        *self.state, self.value = self.jitted(*self.state, *self.batch)

    def wait(self):
        self.value.block_until_ready()


class Contender:
    def __init__(self, spec, stepped):
        self.spec, self.timed = spec, Training(spec, spec["dropout"])
        self.step = self.timed.step
        self.step()
        self.timed.wait()
        stepped()

    def loss(self, steps):
        plain = Training(self.spec, 0.0)
        for _ in range(steps):
            plain.step()
        return float(plain.value)


def product_error():
    a, b = (np.random.RandomState(seed).standard_normal((512, 512)) for seed in (0, 1))
    exact = a @ b
    ours = np.asarray(jnp.matmul(*(narrow(jnp.asarray(one, jnp.float32)) for one in (a, b))), np.float64)
    return float(np.linalg.norm(ours - exact) / np.linalg.norm(exact))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        spec = json.load(file)
    if spec["precision"] == "f32":  # otherwise GPUs multiply in tf32
        jax.config.update("jax_default_matmul_precision", "highest")
    if spec["precision"] == "bf16":
        NARROW[0] = jnp.bfloat16
    if (jax.default_backend() == "cpu") != (spec["device"] == "cpu"):
        return serving.say(missing="jit", why=f"jax runs on {jax.default_backend()}")
    spec["batch"] = [np.load(os.path.join(spec["data"], name))[:spec["items"]] for name in ("x.npy", "y.npy")]
    spec["arrays"] = safetensors.load(spec["weights"])
    first = {}
    made = serving.prepare(["jit"], lambda _: Contender(spec, lambda: first.update(first_step_ms=serving.since_start_ms())))
    serving.serve(made, lambda: made["jit"].timed.wait(), version=jax.__version__, product_error=product_error(), **first)


if __name__ == "__main__":
    main()
