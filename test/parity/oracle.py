"""A case through PyTorch."""

import importlib.util

import numpy as np
import torch


def load_twin(case):
    spec = importlib.util.spec_from_file_location("twin_of_" + case.name.replace("/", "_"), case.twin())
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Twin()


def tensors_of(case, batch, dtype):
    tensors = [torch.from_numpy(np.ascontiguousarray(array)) for array in batch]
    if case.mnist:
        images, labels = tensors
        return [images.to(dtype).div(255).sub(0.1307).div(0.3081).unsqueeze(1), labels.long()]
    return [tensor.to(dtype) if tensor.is_floating_point() else tensor for tensor in tensors]


def train(case, dtype, autocast=False):
    """The scalars of each step by name, and the weights after the last; with products in bf16 if `autocast`."""
    torch.set_num_threads(1)
    twin = load_twin(case)
    twin.model.to(dtype)
    named = dict(twin.model.named_parameters())
    start = case.weights({name: list(parameter.shape) for name, parameter in named.items()})
    with torch.no_grad():
        for name, parameter in named.items():
            parameter.copy_(torch.from_numpy(start[name]))
    curves = {}
    for step, batch in case.batches():
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            scalars = getattr(twin, step)(*tensors_of(case, batch, dtype))
        for name, value in scalars.items():
            curves.setdefault(f"{step}.{name}" if case.turns else name, []).append(value.item())
    weights = {name: tensor.numpy() for name, tensor in twin.model.state_dict().items()}
    return {name: np.array(curve) for name, curve in curves.items()}, weights
