"""A case through dlcc and dlrun."""

import os
import struct

import numpy as np

import dltools
from numpy_twin import safetensors

from .cases import STEPS


def write_idx(path, array, whole):
    """An IDX file of `whole` items; those behind the array's are zeros."""
    with open(path, "wb") as file:
        file.write(struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", whole, *array.shape[1:]))
        file.write(array.tobytes())
        file.truncate(4 + 4 * array.ndim + whole * int(np.prod(array.shape[1:])))


def write_data(case, folder):
    """The data set and the model's text."""
    arrays = case.arrays()
    if case.mnist:
        used = min(case.items, STEPS * case.batch)
        os.makedirs(os.path.join(folder, "data"))
        for part, items in (("train", 60000), ("t10k", 10000)):
            for name, array in zip(("images-idx3-ubyte", "labels-idx1-ubyte"), arrays.values()):
                write_idx(os.path.join(folder, "data", f"{part}-{name}"), array[:used], items)
    else:
        for name, array in arrays.items():
            np.save(os.path.join(folder, name), array)
    with open(os.path.join(folder, "model.dl"), "w", encoding="utf-8") as file:
        file.write(case.text())


def shapes_of(plan, folder, role="parameter"):
    info = dltools.info(plan, cwd=folder)
    states = info["states"] + [state for each in info["plans"] for state in each.get("states", [])]  # of other ranks
    return {state["name"]: state["shape"] for state in states if state["role"] == role}


def buffers(plan, folder):
    """Running statistics as PyTorch begins them; --init wants them with the weights."""
    shapes = shapes_of(plan, folder, "buffer")
    return {name: np.full(shape, name.endswith(("running_var", "._u", "._v")), np.float32)
            for name, shape in shapes.items() if not name.endswith("num_batches_tracked")}


def train(case, folder, dtype, *settings, cpu="x86-64-v3", count=STEPS):
    """The scalars of each step by name, and the weights after the last. `settings` go to dlcc."""
    plan, final = f"{dtype}.plan", f"{dtype}.safetensors"
    dltools.dlcc("model.dl", f"--dtype={dtype}", f"--target-cpu={cpu}", "-o", plan, *case.settings, *settings, cwd=folder)
    safetensors.save(os.path.join(folder, "init.safetensors"), case.weights(shapes_of(plan, folder)) | buffers(plan, folder))
    data = ["--data", "train=data", "--data", "test=data"] if case.mnist else []
    if case.turns:
        data += ["--alternate", ",".join(f"{name}:{updates}" for name, updates in case.turns)]
    events = dltools.events(plan, "--steps", count, "--no-shuffle", "--init", "init.safetensors", "--threads", 2,
                            "--every", "log=1,eval=0", "--save-final", final, *data, cwd=folder)
    steps = [event for event in events if event["event"] == "step"]
    curves = {}
    for event in steps:
        prefix = event["name"] + "." if case.turns else ""
        for name in event:
            if name not in ("event", "name", "step", "epoch"):
                curves.setdefault(prefix + name, []).append(float(event[name]))
    curves = {name: np.array(curve) for name, curve in curves.items()}
    return curves, safetensors.load(os.path.join(folder, final))
