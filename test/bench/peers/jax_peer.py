"""JAX's side of compare.py: one jitted function makes the whole step. jax_peer.py MODEL BATCH THREADS jit FOLDER

Images are NHWC, which XLA's convolutions for CPUs take about 5 % faster than NCHW.
"""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

import protocol  # noqa: E402


def dropout(x, p, key, channels):
    if p == 0:
        return x
    shape = (x.shape[0], 1, 1, x.shape[3]) if channels else x.shape
    return jnp.where(jax.random.bernoulli(key, 1 - p, shape), x / (1 - p), 0)


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def conv(w, name, x):
    y = lax.conv_general_dilated(x, w[name + ".weight"], (1, 1), "VALID", dimension_numbers=("NHWC", "OIHW", "NHWC"))
    return y + w[name + ".bias"]


def linear(w, name, x):
    return x @ w[name + ".weight"].T + w[name + ".bias"]


def convnet(w, x, p, key):
    first, second = jax.random.split(key)
    x = jnp.moveaxis(x, 1, -1)
    x = jax.nn.relu(pool(conv(w, "conv1", x)))
    x = jax.nn.relu(pool(dropout(conv(w, "conv2", x), p, first, True)))
    x = jax.nn.relu(linear(w, "fc1", jnp.moveaxis(x, -1, 1).reshape(-1, 320)))
    return jax.nn.log_softmax(linear(w, "fc2", dropout(x, p, second, False)))


def mlp(w, x, p, key):
    x = jax.nn.relu(linear(w, "fc1", x.reshape(-1, 784)))
    return jax.nn.log_softmax(linear(w, "fc3", jax.nn.relu(linear(w, "fc2", x))))


def main():
    model, batch, folder = {"convnet": convnet, "mlp": mlp}[sys.argv[1]], int(sys.argv[2]), sys.argv[5]
    weights, x, y = protocol.load(folder, batch)
    x, y = jnp.asarray(x), jnp.asarray(y)

    def make_step(p):
        def loss(w, key):
            return -jnp.mean(jnp.take_along_axis(model(w, x, p, key), y[:, None], axis=1))

        def update(w, m, key):
            key, used = jax.random.split(key)
            value, g = jax.value_and_grad(loss)(w, used)
            m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
            return jax.tree.map(lambda w, m: w - 0.001 * m, w, m), m, key, value

        jitted = jax.jit(update, donate_argnums=(0, 1, 2))
        w = {name: jnp.array(array) for name, array in weights.items()}
        state = [w, jax.tree.map(jnp.zeros_like, w), jax.random.key(0)]

        def step():
            *state[:], value = jitted(*state)
            return value

        return step

    protocol.serve(jax.__version__, make_step, lambda loss: loss.block_until_ready(), 0.5)


if __name__ == "__main__":
    main()
