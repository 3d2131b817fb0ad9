"""PyTorch's side of the measurements on a GPU.

    torch_gpu.py SPECIFICATION.json MODE...

The specification: source and settings of the model, folder of x.npy and y.npy, weights (.safetensors), precision (f32,
tf32 or bf16, which is autocast), device. Modes:
  eager          as it is; the optimizer is the fused one
  channels_last  the same with NHWC
  graph          the whole step, optimizer included, is one CUDA graph
  compile        torch.compile(mode="max-autotune") of the model with its loss, whose CUDA graphs it makes itself
  compile_graph  compiled without graphs of its own, and then the whole step in one CUDA graph
"""

import contextlib
import json
import os
import sys

import numpy as np
import torch

import networks
import serving
from numpy_twin import safetensors


class Training:
    """A step of one mode, on weights that can be set back."""

    def __init__(self, spec, mode, dropout, stepped=lambda: None):
        self.device, self.weights = torch.device(spec["device"]), spec["arrays"]
        self.model, loss_of, optimizer = networks.make(spec["source"], spec["settings"], dropout)
        memory = torch.channels_last if mode == "channels_last" else torch.contiguous_format
        self.model = self.model.to(self.device, memory_format=memory)
        batch = [torch.from_numpy(array).to(self.device) for array in spec["batch"]]
        if mode == "channels_last":
            batch[0] = batch[0].contiguous(memory_format=memory)
        self.batch = batch if len(batch) > 1 else [batch[0], None]
        self.optimizer = optimizer(list(self.model.parameters()))

        def forward(x, y):
            return loss_of(self.model(x), y)

        self.forward, self.compiled, self.drops = forward, mode.startswith("compile"), dropout > 0
        # In a graph without the cache of weights that are cast, as PyTorch advises; each is read once, so it saves nothing here.
        self.mixed = lambda: autocast(spec["precision"], spec["device"], cached=not mode.endswith("graph"))
        if self.compiled:
            self.forward = torch.compile(forward, mode="max-autotune" if mode == "compile" else "max-autotune-no-cudagraphs")
        self.set_back()
        self.step = self.captured() if mode.endswith("graph") else self.plain
        self.step()
        stepped()
        for _ in range(4):
            self.step()

    def plain(self):
        if self.compiled and hasattr(torch.compiler, "cudagraph_mark_step_begin"):
            torch.compiler.cudagraph_mark_step_begin()
        self.optimizer.zero_grad(set_to_none=True)
        with self.mixed():
            loss = self.forward(*self.batch)
        loss.backward()
        self.optimizer.step()
        self.last = loss.detach()
        return self.last

    def captured(self):
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                self.plain()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=aside):
            self.last = self.plain()

        def step():
            graph.replay()
            return self.last
        return step

    def set_back(self):
        """Weights as given, slots of the optimizer as in the beginning; in place, for a graph knows their addresses."""
        with torch.no_grad():
            for name, tensor in self.model.state_dict().items():
                if not name.endswith("num_batches_tracked"):
                    tensor.copy_(torch.from_numpy(np.array(self.weights[name])))
            for slots in self.optimizer.state.values():
                for slot in slots.values():
                    if isinstance(slot, torch.Tensor):
                        slot.zero_()

    def loss(self, steps):
        if self.drops:
            return None
        self.set_back()
        for _ in range(steps):
            loss = self.step()
        return float(loss)


class Contender:
    """What is timed, and the same without dropout for the comparison of losses."""

    def __init__(self, spec, mode, stepped):
        self.timed = Training(spec, mode, spec["dropout"], stepped)
        self.step = self.timed.step
        self.again = (lambda: Training(spec, mode, 0.0)) if spec["dropout"] and not mode.startswith("compile") else None

    def loss(self, steps):
        return (self.again() if self.again else self.timed).loss(steps)


def set_precision(precision):
    allowed = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed
    torch.backends.cudnn.benchmark = True


def autocast(precision, device, cached=True):
    """Around forward and loss, not around backward; nothing at all where it is not asked for."""
    return torch.autocast(device, dtype=torch.bfloat16, cache_enabled=cached) if precision == "bf16" else contextlib.nullcontext()


def product_error(device, precision):
    """Of a product, relative to f64: tells which precision is at work."""
    a, b = (torch.from_numpy(np.random.RandomState(seed).standard_normal((512, 512))).to(device) for seed in (0, 1))
    exact = a @ b
    with autocast(precision, device):
        ours = a.float() @ b.float()
    return float((ours - exact).norm() / exact.norm())


def load(path):
    with open(path, encoding="utf-8") as file:
        spec = json.load(file)
    files = [os.path.join(spec["data"], name) for name in ("x.npy", "y.npy")]
    spec["batch"] = [np.load(file)[:spec["items"]] for file in files if os.path.exists(file)]
    spec["arrays"] = safetensors.load(spec["weights"])
    return spec


def waiter(device):
    return torch.cuda.synchronize if device == "cuda" else lambda: None


def main():
    spec, modes = load(sys.argv[1]), sys.argv[2:]
    torch.manual_seed(0)
    set_precision(spec["precision"])
    wait, first = waiter(spec["device"]), {}

    def stepped():
        wait()
        first.setdefault("first_step_ms", serving.since_start_ms())

    made = serving.prepare(modes, lambda mode: Contender(spec, mode, stepped))
    serving.serve(made, wait, version=torch.__version__, product_error=product_error(spec["device"], spec["precision"]), **first)


if __name__ == "__main__":
    main()
