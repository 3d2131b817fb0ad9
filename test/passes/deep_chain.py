"""IR that is as deep as it is long: deep_chain.py KIND LENGTH.

kernels: a product whose kernel waits for a chain of so many others.
views: a value seen in another shape again and again.
update: what an update needs from before the gradients.
"""

import sys

kind, length = sys.argv[1], int(sys.argv[2])
t = "tensor<4x4xf32>"
if kind == "kernels":
    print(f"graph.step @kernels(%v0: {t}, %w: {t}) -> {t} {{")
    print(f"  %first = graph.matmul %w, %w {{spec = \"mk,kn->mn\"}} : ({t}, {t}) -> {t}")
    for i in range(length):
        print(f"  %v{i + 1} = graph.matmul %v{i}, %w {{spec = \"mk,kn->mn\"}} : ({t}, {t}) -> {t}")
    print(f"  %last = graph.add %first, %v{length} : ({t}, {t}) -> {t}")
    print(f"  graph.return %last : {t}\n}}")
elif kind == "views":
    print(f"graph.step @views(%v0: tensor<8x2xf32>) -> tensor<8x2xf32> {{")
    for i in range(0, 2 * length, 2):
        print(f"  %v{i + 1} = graph.reshape %v{i} {{shape = array<i64: 16>}} : (tensor<8x2xf32>) -> tensor<16xf32>")
        print(f"  %v{i + 2} = graph.reshape %v{i + 1} {{shape = array<i64: 8, 2>}} : (tensor<16xf32>) -> tensor<8x2xf32>")
    print(f"  %last = graph.exp %v{2 * length} : (tensor<8x2xf32>) -> tensor<8x2xf32>")
    print(f"  graph.return %last : tensor<8x2xf32>\n}}")
else:
    print('graph.program "net.dl" dtype f32 accumulate 4')
    print(f'graph.state @w {{type = {t}, role = "parameter"}}')
    print(f"graph.step @train(%s: tensor<8xi64> scalars, %v0: {t} state @w) -> ({t} state @w) of \"train\" training batch 4 {{")
    for i in range(length):
        print(f"  %v{i + 1} = graph.exp %v{i} : ({t}) -> {t}")
    print(f"  %loss = graph.sum %v0 {{dims = array<i64: 0, 1>}} : ({t}) -> tensor<f32>")
    print(f"  %g = graph.gradients %loss, %v0 : (tensor<f32>, {t}) -> {t}")
    print(f"  %h = graph.mul %g, %v{length} : ({t}, {t}) -> {t}")
    print(f"  graph.return %h : {t}\n}}")
