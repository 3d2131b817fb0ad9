"""A function of a chain of so many `exp`, and one of as many `sum` and `sub`: long_chain.py LENGTH."""

import sys

length = int(sys.argv[1])
tensor = "tensor<8x4xf32>"
print(f"graph.step @elementwise(%v0: {tensor}) -> {tensor} {{")
for i in range(length):
    print(f"  %v{i + 1} = graph.exp %v{i} : ({tensor}) -> {tensor}")
print(f"  graph.return %v{length} : {tensor}\n}}")
print(f"graph.step @sums(%v0: {tensor}) -> {tensor} {{")
for i in range(length):
    print(f"  %s{i} = graph.sum %v{i} {{dims = array<i64: 0, 1>}} : ({tensor}) -> tensor<f32>")
    print(f"  %v{i + 1} = graph.sub %v{i}, %s{i} : ({tensor}, tensor<f32>) -> {tensor}")
print(f"  graph.return %v{length} : {tensor}\n}}")
