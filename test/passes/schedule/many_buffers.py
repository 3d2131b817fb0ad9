#!/usr/bin/env python3
"""many_buffers.py COUNT: a plan with a chain of so many temporaries, each made of the one before it."""

import sys

count = int(sys.argv[1])
print('plan.plan "m" f32 arena 0 parameters 0 machine "" {')
for i in range(count):
    print(f'%b{i} = plan.buffer "b{i}" arena bytes 64')
print('plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0')
print('plan.kernel @move "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] flops 0 bytes 0')
print('plan.step "train" training dataset 0 accumulate 1 {\nplan.program full batch 1 {\nplan.launch @make(%b0) serial')
for i in range(1, count):
    print(f"plan.launch @move(%b{i - 1}, %b{i}) serial")
print("}\n}\n}")
