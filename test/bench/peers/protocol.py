"""How compare.py talks to a contender: the process prepares itself and says {"ready": version}; for each line
`SECONDS` it times steps for that long and answers {"median_ms": ..., "rss_mb": ...}; for `loss N` it makes N steps without dropout from the
given weights and answers {"loss": ...}. The memory is the process's peak up to there, as `dlrun bench` tells it.

A contender is two functions: make_step(weights, x, y, dropout) -> step, where step() makes one whole training step and
returns its loss as something float() takes; finish(loss) waits for it.
"""

import json
import statistics
import sys
import time

import numpy as np


def load(folder, batch):
    arrays = np.load(f"{folder}/weights.npz")
    x, y = np.load(f"{folder}/x.npy")[:batch], np.load(f"{folder}/y.npy")[:batch]
    return {name: arrays[name] for name in arrays.files}, x, y


def say(**event):
    print(json.dumps(event), flush=True)


def peak_rss_mb():
    """In MB; getrusage would count what the parent used before exec."""
    with open("/proc/self/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) * 1024e-6 for line in file if line.startswith("VmHWM:"))


def serve(version, make_step, finish, dropout):
    step = make_step(dropout)
    began, steps = time.perf_counter(), 0
    while steps < 3 or (steps < 20 and time.perf_counter() - began < 3):
        finish(step())
        steps += 1
    say(ready=version)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "loss":
            plain = make_step(0.0)
            for _ in range(int(words[1])):
                loss = plain()
            finish(loss)
            say(loss=float(loss))
            continue
        times, end = [], time.perf_counter() + float(words[0])
        while time.perf_counter() < end:
            started = time.perf_counter()
            finish(step())
            times.append((time.perf_counter() - started) * 1e3)
        say(median_ms=statistics.median(times), rss_mb=peak_rss_mb())
