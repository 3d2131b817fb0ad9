"""IR that is as deep as it is long: deep_chain.py KIND LENGTH.

kernels: a product whose kernel waits for a chain of so many others.
views: a value seen in another shape again and again.
reads: a computed value that is read through views of it, one on the other.
images: what a convolution makes, seen through as many views before it and behind it.
squares: a setting times itself, and that times itself, which has 2^LENGTH paths.
shifts: a value plus what lies beside it, and that plus what lies beside it: 2^LENGTH reads, if all were one kernel.
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
elif kind == "reads":
    shapes = ["tensor<8x2xf32>", "tensor<2x8xf32>"]
    print(f"graph.step @reads(%x: {shapes[0]}) -> {shapes[0]} {{\n  %v0 = graph.exp %x : ({shapes[0]}) -> {shapes[0]}")
    for i in range(2 * length):
        print(f"  %v{i + 1} = graph.transpose %v{i} {{permutation = array<i64: 1, 0>}} : ({shapes[i % 2]}) -> {shapes[1 - i % 2]}")
    print(f"  %last = graph.exp %v{2 * length} : ({shapes[0]}) -> {shapes[0]}")
    print(f"  graph.return %last : {shapes[0]}\n}}")
elif kind == "images":
    image, kernel = "tensor<16x2x3x3xf32>", "tensor<2x2x1x1xf32>"
    print(f"graph.step @images(%x: {image}, %w: {kernel}) -> {image} {{\n  %v0 = graph.exp %x : ({image}) -> {image}")
    def views(first):
        for i in range(first, first + length):
            print(f"  %v{i + 1} = graph.transpose %v{i} {{permutation = array<i64: 0, 1, 3, 2>}} : ({image}) -> {image}")
    views(0)
    print(f"  %v{length + 1} = graph.conv2d %v{length}, %w {{stride = array<i64: 1, 1>, padding = array<i64: 0, 0>}} : ({image}, {kernel}) -> {image}")
    print(f"  %y = graph.relu %v{length + 1} : ({image}) -> {image}")
    print(f"  %v{length + 2} = graph.exp %v{length + 1} : ({image}) -> {image}")
    views(length + 2)
    print(f"  %u = graph.tanh %v{2 * length + 2} : ({image}) -> {image}")
    print(f"  %last = graph.add %u, %y : ({image}, {image}) -> {image}")
    print(f"  graph.return %last : {image}\n}}")
elif kind == "shifts":
    t, part = "tensor<4x16xf32>", "tensor<4x15xf32>"
    print(f"graph.step @shifts(%v0: {t}) -> {t} {{")
    for i in range(length):
        print(f"  %s{i} = graph.slice %v{i} {{offsets = array<i64: 0, 1>, sizes = array<i64: 4, 15>, strides = array<i64: 1, 1>}} : ({t}) -> {part}")
        print(f"  %p{i} = graph.pad %s{i} {{high = array<i64: 0, 1>, interior = array<i64: 0, 0>, low = array<i64: 0, 0>, value = 0.0 : f64}} : ({part}) -> {t}")
        print(f"  %v{i + 1} = graph.add %v{i}, %p{i} : ({t}, {t}) -> {t}")
    print(f"  graph.return %v{length} : {t}\n}}")
elif kind == "squares":
    print(f"graph.step @squares(%s: tensor<9xi64> scalars, %x: {t}) -> {t} {{")
    print("  %v0 = graph.read_setting %s {position = 8 : i64} : (tensor<9xi64>) -> tensor<f64>")
    for i in range(length):
        print(f"  %v{i + 1} = graph.mul %v{i}, %v{i} : (tensor<f64>, tensor<f64>) -> tensor<f64>")
    print(f"  %c = graph.cast %v{length} {{to = f32}} : (tensor<f64>) -> tensor<f32>")
    print(f"  %last = graph.mul %x, %c : ({t}, tensor<f32>) -> {t}")
    print(f"  graph.return %last : {t}\n}}")
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
