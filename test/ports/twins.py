"""A port's twin through PyTorch: what main(run) of its model.py may ask for."""

import types

import numpy as np
import torch

from .cases import STEPS

torch.set_num_threads(1)


class Enough(Exception):
    """All steps are done."""


class Data:
    """A data set as its loader gives it: batches in order, epoch after epoch."""

    def __init__(self, run, arrays, batch_size, training):
        self.run, self.batch_size, self.training = run, batch_size, training
        self.tensors = [torch.from_numpy(array) for array in arrays]
        self.tensors = [t.to(run.dtype) if t.is_floating_point() else t for t in self.tensors]

    def __iter__(self):
        for first in range(0, len(self.tensors[0]), self.batch_size):
            if self.training:
                self.run.step_begins()
            yield [tensor[first:first + self.batch_size] for tensor in self.tensors]


class Run:
    """One training. `steps`: it ends after so many, whatever main() does."""

    epochs = 1000

    def __init__(self, port, dtype, steps=STEPS, small=True):
        self.port, self.dtype, self.steps, self.small = port, dtype, steps, small
        self.arrays = port.arrays(small)
        if port.epochs:
            self.epochs, self.steps = port.epochs, 10 ** 9
        self.curves, self.evaluations, self.models, self.begun = {}, {}, {}, 0

    def data(self, *names, batch_size, training=True):
        return Data(self, [self.arrays[name] for name in names], batch_size, training)

    def model(self, module, name=None):
        """The module with the port's initial weights. The names of a second one begin with its own where they are taken."""
        module.to(self.dtype)
        state = dict(module.named_parameters())
        taken = set(self.names())
        prefix = name + "." if taken & set(module.state_dict()) else ""
        start = self.port.weights({prefix + key: list(value.shape) for key, value in state.items()})
        with torch.no_grad():
            for key, value in state.items():
                value.copy_(torch.from_numpy(start[prefix + key]))
        self.models[prefix] = module
        return module

    def names(self):
        return {prefix + key: value for prefix, module in self.models.items() for key, value in module.state_dict().items()}

    def step_begins(self):
        if self.begun == self.steps:
            raise Enough
        self.begun += 1

    def log(self, step=None, **metrics):
        """What a step returns; of several training steps each says its name."""
        for name, value in metrics.items():
            self.curves.setdefault(f"{step}.{name}" if step else name, []).append(value.detach())

    def evaluated(self, name, **metrics):
        for metric, value in metrics.items():
            self.evaluations.setdefault(f"{name}.{metric}", []).append(value)

    def train(self):
        torch.set_default_dtype(self.dtype)
        module = types.ModuleType(self.port.name)
        try:
            exec(compile(self.port.text("model.py", self.small), self.port.path("model.py"), "exec"), module.__dict__)
            module.main(self)
        except Enough:
            pass
        finally:
            torch.set_default_dtype(torch.float32)
        return self


def train(port, dtype):
    """The scalars of each step and of each evaluation by name, and the weights after the last step."""
    run = Run(port, dtype).train()
    curves = {name: [value.item() for value in values] for name, values in run.curves.items()}
    weights = {name: tensor.numpy() for name, tensor in run.names().items()}
    return {name: np.array(curve) for name, curve in (curves | run.evaluations).items()}, weights


def make(port):
    """What is kept of a port: its losses in f64, how far those in f32 are from them, the sizes of its weights."""
    exact, weights = train(port, torch.float64)
    single, _ = train(port, torch.float32)
    return {"torch": torch.__version__.split("+")[0],
            "f64": {name: curve.tolist() for name, curve in exact.items()},
            "f32_rms": {name: float(np.sqrt(np.mean(np.square(single[name][:len(curve)] - curve[:len(single[name])]))))
                        for name, curve in exact.items()},
            "norms": {name: float(np.linalg.norm(array.astype(np.float64))) for name, array in weights.items()}}
