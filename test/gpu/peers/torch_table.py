"""Products and convolutions in PyTorch: torch_table.py DEVICE SECONDS; each line of stdin is a row, {"settings": those of
models/products.dl or models/convolutions.dl, "precision": f32, tf32 or bf16}, and is answered with {"ms": of one operation}.

Several operations, each on operands of its own, are one CUDA graph. A product is c.addmm_(a, b), which reads and writes what ours
does. A convolution writes its result and does not add it to anything; it runs in NCHW and in NHWC, and the faster counts. In bf16 operands
are f32, which are cast in the step, as ours and as autocast casts weights; a product in bf16 is then added to c in f32.
"""

import json
import sys
import traceback

import torch
from torch.nn import functional as F

import serving
from torch_gpu import set_precision, waiter


def products(s, device, rounded):
    left, right, batch = s["kind"][0] == "T", s["kind"][1] == "T", s["batch"]
    m, n, k = s["m"], s["n"], s["k"]

    def factor(rows, columns, turned):
        shape = (columns, rows) if turned else (rows, columns)
        made = torch.randn(batch, *shape, device=device) if batch > 1 else torch.randn(*shape, device=device)
        return made.transpose(-2, -1) if turned else made

    c = torch.zeros(*((batch, m, n) if batch > 1 else (m, n)), device=device)
    pairs = [(factor(m, k, left), factor(k, n, right)) for _ in range(s["repeat"])]
    if rounded:
        return lambda: [c.add_(rounded(a) @ rounded(b), alpha=1e-6) for a, b in pairs]
    add = c.baddbmm_ if batch > 1 else c.addmm_
    return lambda: [add(a, b, alpha=1e-6) for a, b in pairs]


def convolutions(s, device, memory, rounded):
    edge = (s["size"] + 2 * s["padding"] - s["kernel"]) // s["stride"] + 1
    shapes = [(s["batch"], s["out"], edge, edge), (s["batch"], s["in"], s["size"], s["size"]), (s["out"], s["in"], s["kernel"], s["kernel"])]
    rounded = rounded or (lambda tensor: tensor)

    def operand(which, shape):
        made = torch.randn(*shape, device=device).contiguous(memory_format=memory)
        return rounded(made) if which == s["part"] else made  # in place of the result; only its shape is read, so it is cast beforehand
    sets = [[operand(which, shape) for which, shape in enumerate(shapes)] for _ in range(s["repeat"])]
    if s["part"] == 0:
        return lambda: [F.conv2d(rounded(x), rounded(w), stride=s["stride"], padding=s["padding"]) for _, x, w in sets]
    wanted = [s["part"] == 1, s["part"] == 2, False]
    both = lambda name: [s[name], s[name]]
    return lambda: [torch.ops.aten.convolution_backward(rounded(g), rounded(x), rounded(w), None, both("stride"), both("padding"), [1, 1], False,
                                                        [0, 0], 1, wanted) for g, x, w in sets]


def in_graph(operations):
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(2):
            operations()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=aside):
        held = operations()
    return graph.replay, held


def measure(row, device, seconds):
    set_precision(row["precision"])
    s, times, rounded = row["settings"], [], torch.Tensor.bfloat16 if row["precision"] == "bf16" else None
    forms = ([lambda: products(s, device, rounded)] if "kind" in s else
             [lambda memory=memory: convolutions(s, device, memory, rounded) for memory in (torch.contiguous_format, torch.channels_last)])
    for form in forms:
        operations = form()
        step, held = in_graph(operations) if device == "cuda" else (operations, None)
        times.append(serving.timed(step, waiter(device), seconds) / s["repeat"])
        del step, held, operations
        if device == "cuda":
            torch.cuda.empty_cache()
    return min(times)


def main():
    device, seconds = sys.argv[1], float(sys.argv[2])
    serving.say(prepared=True, version=torch.__version__)
    for line in sys.stdin:
        try:
            serving.say(ms=measure(json.loads(line), device, seconds))
        except Exception as error:  # whatever PyTorch throws: the other rows go on
            traceback.print_exc()
            serving.say(error=f"{type(error).__name__}: {str(error)[:300]}")


if __name__ == "__main__":
    with torch.no_grad():
        main()
