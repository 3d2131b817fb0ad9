"""torch.mm for compare.py: torch_mm.py THREADS; for each line `M N K KIND SECONDS` answers {"median_ms": ...}."""

import statistics
import sys
import time

import torch

import protocol

torch.set_num_threads(int(sys.argv[1]))
protocol.say(ready=torch.__version__)
for line in sys.stdin:
    m, n, k, kind, seconds = line.split()
    m, n, k = int(m), int(n), int(k)
    a = torch.randn(k, m).t() if kind[0] == "T" else torch.randn(m, k)
    b = torch.randn(n, k).t() if kind[1] == "T" else torch.randn(k, n)
    c, times = torch.empty(m, n), []
    for _ in range(3):
        torch.mm(a, b, out=c)
    end = time.perf_counter() + float(seconds)
    while time.perf_counter() < end:
        started = time.perf_counter()
        torch.mm(a, b, out=c)
        times.append((time.perf_counter() - started) * 1e3)
    protocol.say(median_ms=statistics.median(times))
