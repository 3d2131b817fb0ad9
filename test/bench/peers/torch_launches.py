"""PyTorch's side of launches.py. torch_launches.py SPECIFICATIONS.json

For each model two counts, of launches and of the bytes that they read and write:

eager     the ops that a training step dispatches (Eager)
inductor  what Inductor's scheduler makes of the graphs of that step (inductor.py); null where this PyTorch is too old
"""

import importlib.util
import inspect
import json
import os
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

TEST = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TEST, "gpu", "peers"), TEST]

from torch.utils import _pytree as pytree  # noqa: E402

# Of ops without an alias in their schema: those that launch nothing, by the name without its overload.
FREE = {"_unsafe_view", "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "device", "is_same_size", "sym_size",
        "sym_stride", "sym_numel", "set_", "_record_function_enter", "_record_function_enter_new", "_record_function_exit"}
# What an op is given for its shape alone, by position.
UNREAD = {"max_pool2d_with_indices_backward": (1,), "nll_loss_backward": (1,), "ones_like": (0,), "zeros_like": (0,), "full_like": (0,),
          "rand_like": (0,), "zero_": (0,), "fill_": (0,), "copy_": (0,), "bernoulli_": (0,)}
# Which lists an op on lists changes, if not the first alone.
WRITTEN = {"_fused_sgd_": (0, 2), "_fused_adam_": (0, 2, 3), "_fused_adamw_": (0, 2, 3)}
ON_LISTS = ("_foreach_", "_fused_")
# MultiTensorApply.cuh: elements of a chunk, chunks of a launch, and tensors of a launch by the number of lists.
CHUNK, CHUNKS, TENSORS = 65536, 320, (110, 64, 48, 36, 30)


def multi_tensor_launches(sizes, depth):
    """Of an op on `depth` lists of tensors of these numbers of elements."""
    launches, tensors, chunks = 0, 0, 0
    for size in filter(None, sizes):
        tensors += 1
        left = -(-size // CHUNK)
        while left:
            chunks += 1
            left -= 1
            if chunks == CHUNKS or tensors == TENSORS[depth - 1] and left == 0:
                launches, chunks, tensors = launches + 1, 0, int(left > 0)
    return launches + (chunks > 0)


def bytes_of(tensor):
    """Of all that can be reached by it: a broadcast one has no more than what lies in memory."""
    elements = 1
    for size, stride in zip(tensor.shape, tensor.stride()):
        elements *= size if stride or not size else 1
    return elements * tensor.element_size()


def tensors_of(tree):
    return [leaf for leaf in pytree.tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor)]


def is_view(function):
    returns = function._schema.returns
    return bool(returns) and all(r.alias_info is not None and not r.alias_info.is_write for r in returns)


class Eager(TorchDispatchMode):
    """Counts ops that would be launches on CUDA. Each counts as one, though some are more there (a pool's gradient clears its result
    first): the truth is not below. Of a convolution's gradients each is a call of cuDNN's of its own, that of the bias a sum. Ops on
    lists of tensors, as optimizers have them, count as multi_tensor_apply cuts them."""

    def __init__(self):
        super().__init__()
        self.launches, self.bytes, self.ops = 0, 0, {}
        self.optimizer = {"launches": 0, "bytes": 0}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = function._schema.name.split("::")[-1]
        if name not in FREE and not is_view(function):
            self.add(name, args, kwargs, result)
        return result

    def add(self, name, args, kwargs, result):
        launches = self.launches_of(name, args)
        read = [argument for place, argument in enumerate(args) if place not in UNREAD.get(name, ())]
        written = [args[place] for place in WRITTEN.get(name, (0,))] if result is None else result
        moved = sum(map(bytes_of, tensors_of((read, kwargs or {})) + tensors_of(written)))
        self.launches += launches
        self.bytes += moved
        self.ops[name] = self.ops.get(name, 0) + launches
        if name.startswith(ON_LISTS):
            self.optimizer = {"launches": self.optimizer["launches"] + launches, "bytes": self.optimizer["bytes"] + moved}

    def launches_of(self, name, args):
        if name == "convolution_backward":
            return sum(args[-1])
        if name.startswith(ON_LISTS):
            lists = [argument for argument in args if isinstance(argument, (list, tuple)) and argument and isinstance(argument[0], torch.Tensor)]
            return multi_tensor_launches([tensor.numel() for tensor in lists[0]], min(len(lists), 4))  # a fifth has numbers of steps
        return 1


def fused(optimizer, **form):
    """The same optimizer in a form with as few launches as there is."""
    known = {name: value for name, value in optimizer.defaults.items() if name not in ("foreach", "fused", "capturable", "decoupled_weight_decay")}
    for form in ([form] if form else [{"fused": True}, {"foreach": True}, {}]):
        try:
            return type(optimizer)(optimizer.param_groups[0]["params"], **known, **form)
        except (TypeError, RuntimeError):
            continue
    raise SystemExit("no optimizer")


class OwnDropout(torch.overrides.TorchFunctionMode if hasattr(torch.overrides, "TorchFunctionMode") else object):
    """CUDA's dropout is one op, the CPU's are three."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.nn.functional.dropout:
            given = inspect.signature(function).bind(*args, **(kwargs or {}))
            given.apply_defaults()
            x, p, training, _ = given.args
            return torch.native_dropout(x, p, training)[0]
        return function(*args, **(kwargs or {}))


class Twin:
    """A training step: of a model of test/parity, or of one of test/gpu/peers/networks.py."""

    def __init__(self, spec, **form):
        self.batch = [torch.zeros(shape, dtype=getattr(torch, dtype)) for shape, dtype in spec["batch"]]
        if "parity" in spec:
            path = os.path.join(TEST, "parity", "models", spec["parity"] + ".py")
            found = importlib.util.spec_from_file_location("twin", path)
            module = importlib.util.module_from_spec(found)
            found.loader.exec_module(module)
            twin = module.Twin(**spec["arguments"])
            twin.optimizer = fused(twin.optimizer, **form)
            self.step = twin.step
            return
        import networks
        model, loss_of, make_optimizer = networks.make(spec["source"], spec["settings"], spec["dropout"])
        optimizer = fused(make_optimizer(list(model.parameters())), **form)

        def step(x, y):
            loss = loss_of(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            return loss

        self.step = step


def eager(spec):
    twin = Twin(spec)
    twin.step(*twin.batch)  # the first step makes the optimizer's slots
    with Eager() as counted, OwnDropout():
        twin.step(*twin.batch)
    return {"launches": counted.launches, "bytes": counted.bytes, "ops": counted.ops, "optimizer": counted.optimizer}


def compiled(spec):
    if int(torch.__version__.split(".")[0]) < 2:
        return None
    import inductor
    return inductor.count(lambda **form: Twin(spec, **form))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        specs = json.load(file)
    for name, spec in specs.items():
        print(json.dumps({"name": name, "version": torch.__version__, "eager": eager(spec), "inductor": compiled(spec)}), flush=True)


if __name__ == "__main__":
    main()
