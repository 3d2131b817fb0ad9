"""What Inductor would launch on an H100 for a training step, on a machine without a GPU.

torch.compile traces the step on the CPU as it would anywhere: Dynamo, AOTAutograd with Inductor's decompositions, its passes on the
joint graph, the partition into forward and backward. Each graph is then said to be on "cuda:0", whose properties are an H100's,
lowered by Inductor's own rules for Triton and given to its scheduler, which fuses. No kernel is generated, none run: the
traced graphs themselves are run by the CPU so that the step goes on.

A node of the scheduler is a launch: a fused kernel, or a call of a library or of an ATen op. Gradients of a convolution that one node
stands for are a call each. A node for many tensors at once, as optimizers have them, is as many kernels as its arguments need. Bytes are
the scheduler's own count of what a node reads and writes. The gradient that backward() begins with is filled in eagerly: a launch.
"""

import contextlib
import copy
import types
from unittest import mock

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.device_interface import CudaInterface
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._inductor import config, scheduler
from torch._inductor.compile_fx import _recursive_joint_graph_passes, view_to_reshape
from torch._inductor.debug import DebugContext
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes.post_grad import post_grad_passes
from torch._inductor.graph import GraphLowering
from torch._inductor.virtualized import V
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

H100 = types.SimpleNamespace(
    name="NVIDIA H100", major=9, minor=0, multi_processor_count=132, total_memory=80 << 30, warp_size=32, max_threads_per_block=1024,
    max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536, L2_cache_size=50 << 20, shared_memory_per_block=49152,
    shared_memory_per_block_optin=232448, shared_memory_per_multiprocessor=233472, gcnArchName="")
CUDA = torch.device("cuda", 0)


@contextlib.contextmanager
def pretended_h100():
    with contextlib.ExitStack() as stack:
        def say(owner, name, what):
            stack.enter_context(mock.patch.object(owner, name, what))

        for owner in (torch.cuda, CudaInterface, CudaInterface.Worker):
            say(owner, "get_device_properties", staticmethod(lambda *_: H100) if owner is not torch.cuda else lambda *_: H100)
        say(scheduler, "has_triton", lambda: True)
        say(torch.cuda, "is_available", lambda: True)
        say(torch.cuda, "current_device", lambda: 0)
        say(torch.cuda, "device_count", lambda: 1)
        say(torch.cuda, "get_device_capability", lambda *_: (9, 0))
        yield


def on_cuda(tree):
    return torch.utils._pytree.tree_map(lambda leaf: CUDA if isinstance(leaf, torch.device) else leaf, tree)


def kept(traced, inputs):
    """A graph on "cuda:0" and what its inputs look like; it is looked at when nothing is traced any more."""
    graph = copy.deepcopy(traced.graph)
    for node in graph.nodes:
        node.args, node.kwargs = on_cuda((node.args, node.kwargs))
    looks = [(tuple(t.shape), t.stride(), t.dtype) if isinstance(t, torch.Tensor) else t for t in inputs]
    return torch.fx.GraphModule(traced, graph), looks


def scheduled(module, looks):
    """The scheduler's nodes for a graph: (kind, launches, bytes) each."""
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    with fake:
        placed = [torch.empty_strided(*look[:2], dtype=look[2], device=CUDA) if isinstance(look, tuple) else look for look in looks]
    FakeTensorProp(module, fake).propagate_dont_convert_inputs(*placed)
    with pretended_h100(), V.set_fake_mode(fake), DebugContext():
        view_to_reshape(module)
        post_grad_passes(module, False)
        lowering = GraphLowering(module, example_inputs=placed)
        with V.set_graph_handler(lowering), V.set_extern_kernel_nodes([]):
            lowering.run(*placed)
            lowering._update_scheduler()
            return [(kind_of(node), launches_of(node), node.get_read_write_buffers_sizes()) for node in lowering.scheduler.nodes]


def kind_of(node):
    if isinstance(node, scheduler.ExternKernelSchedulerNode):
        return str(getattr(node.node, "python_kernel_name", None) or type(node.node).__name__)
    return "fused" if isinstance(node, scheduler.FusedSchedulerNode) else type(node).__name__


def launches_of(node):
    if isinstance(node, scheduler.NopKernelSchedulerNode):
        return 0
    if isinstance(node, scheduler.ExternKernelSchedulerNode):
        if type(node.node).__name__ == "MultiOutput":
            return 0
        if "convolution_backward" in kind_of(node):
            return sum(type(user.node.node).__name__ == "MultiOutput" for output in node.get_outputs() for user in output.users)
        return 1
    if isinstance(node, scheduler.ForeachKernelSchedulerNode):
        arguments = sum(len(each.read_writes.reads | each.read_writes.writes) for each in node.get_subkernel_nodes())
        return -(-arguments // getattr(config, "combo_kernel_max_num_args", 250))
    return 1


def rule(table):
    """Masks are drawn as on a GPU, whose numbers a kernel makes for itself."""
    def bernoulli(x, p=0.5, generator=None):
        return (torch.rand_like(x, dtype=torch.float32) < p).to(x.dtype)

    return {**table, torch.ops.aten.bernoulli.p: bernoulli}


def trace(make, **form):
    """The graphs of one step, after one that is not compiled."""
    graphs = []

    def compiler(graph, inputs):
        graphs.append(kept(graph, inputs))
        return make_boxed_func(graph.forward)

    def partition(joint, inputs, **options):
        with V.set_fake_mode(torch._guards.detect_fake_mode(inputs)):
            _recursive_joint_graph_passes(joint)
        return min_cut_rematerialization_partition(joint, inputs, compiler="inductor", **options)

    twin = make(**form)
    twin.step(*twin.batch)
    torch._dynamo.reset()
    backend = aot_autograd(fw_compiler=compiler, bw_compiler=compiler, inference_compiler=compiler, partition_fn=partition,
                           decompositions=rule(select_decomp_table()))
    torch.compile(twin.step, backend=backend)(*twin.batch)
    return [scheduled(*graph) for graph in graphs]


def count(make):
    """Of a training step whose optimizer is compiled, too."""
    graphs = trace(make, foreach=True)
    assert len(graphs) == 3, f"{len(graphs)} graphs; forward, backward and optimizer were expected"
    parts = {name: {"launches": sum(launches for _, launches, _ in nodes), "bytes": sum(moved for _, _, moved in nodes)}
             for name, nodes in zip(("forward", "backward", "optimizer"), graphs)}
    kinds = {}
    for nodes in graphs:
        for kind, launches, _ in nodes:
            kinds[kind] = kinds.get(kind, 0) + launches
    root = {"launches": 1, "bytes": 4}
    total = {key: sum(part[key] for part in [root, *parts.values()]) for key in ("launches", "bytes")}
    return {**total, "parts": parts, "ops": {kind: n for kind, n in kinds.items() if n}}
