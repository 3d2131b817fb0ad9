"""A step with a chain of so many `exp`, and a backward that reads each of them: long_chain.py LENGTH."""

import sys

length = int(sys.argv[1])
rows, inner = "tensor<128x128xf32>", "tensor<128x64xf32>"
back = 'loc(fused<"backward exp">["m.dl"])'
print(f"graph.step @chain(%x: {inner} input 0, %w: {inner}) -> {rows} {{")
print(f'  %v0 = graph.matmul %x, %w {{spec = "mk,nk->mn"}} : ({inner}, {inner}) -> {rows}')
for i in range(length):
    print(f"  %v{i + 1} = graph.exp %v{i} : ({rows}) -> {rows}")
print(f'  %d{length} = graph.matmul %w, %x {{spec = "mk,nk->mn"}} : ({inner}, {inner}) -> {rows} {back}')
for i in reversed(range(length)):
    print(f"  %d{i} = graph.mul %d{i + 1}, %v{i + 1} : ({rows}, {rows}) -> {rows} {back}")
print(f"  graph.return %d0 : {rows}\n}}")
