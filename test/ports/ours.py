"""A port through dlcc and dlrun."""

import os

import numpy as np

import dltools
from numpy_twin import safetensors

from .cases import STEPS


def write(port, folder, small=True):
    """The model and its data."""
    os.makedirs(folder, exist_ok=True)
    for name, array in port.arrays(small).items():
        np.save(os.path.join(folder, name), array)
    with open(os.path.join(folder, "model.dl"), "w", encoding="utf-8") as file:
        file.write(port.text("model.dl", small))


def compiled(port, folder, dtype, *settings):
    """A plan, and initial weights beside it."""
    plan = f"{dtype}{len(settings)}.plan"
    dltools.dlcc("model.dl", f"--dtype={dtype}", "--target-cpu=x86-64-v3", "-o", plan, *settings, cwd=folder)
    info = dltools.info(plan, cwd=folder)
    states = info["states"] + [state for each in info["plans"] for state in each.get("states", [])]  # of other ranks
    shapes = {state["name"]: state["shape"] for state in states if state["role"] == "parameter"}
    buffers = {state["name"]: np.full(state["shape"], state["name"].endswith("running_var"), np.float32)
               for state in states if state["role"] == "buffer" and not state["name"].endswith("num_batches_tracked")}
    safetensors.save(os.path.join(folder, "init.safetensors"), port.weights(shapes) | buffers)
    return plan


def train(port, folder, dtype, *settings):
    """The scalars of each step and of each evaluation by name, and the weights after the last step."""
    plan = compiled(port, folder, dtype, *settings)
    length = ("--epochs", port.epochs) if port.epochs else ("--steps", STEPS * max(1, port.turns), "--every", "eval=0")
    if port.valid and not port.epochs:
        length = ("--epochs", -(-STEPS // (port.batches + (port.rest > 0))))
    events = dltools.events(plan, *length, "--no-shuffle", "--init", "init.safetensors", "--threads", 2, "--every", "log=1",
                            "--save-final", "final.safetensors", *port.options, cwd=folder)
    curves = {}
    for event in events:
        if event["event"] == "step" and (port.epochs or port.turns or event["step"] <= STEPS):
            add(curves, event["name"] + "." if port.turns else "", event)
        elif event["event"] == "eval":
            add(curves, event["name"] + ".", event)
    return {name: np.array(curve) for name, curve in curves.items()}, safetensors.load(os.path.join(folder, "final.safetensors"))


def add(curves, prefix, event):
    for name, value in event.items():
        if name not in ("event", "step", "epoch", "name", "items", "seconds") and not name.startswith("lr"):
            curves.setdefault(prefix + name, []).append(float(value))
