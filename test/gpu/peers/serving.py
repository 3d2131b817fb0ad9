"""How the script talks to a contender, a process of its own.

It prepares its modes, one after the other, and says {"ready": MODE} or {"missing": MODE, "why": ...} of each, then
{"prepared": true, ...}. A line `time MODE SECONDS` is answered with {"median_ms": ...} of a step; `loss MODE N` with the loss
of the last of N steps from the given weights, without dropout, or with null where the mode cannot leave that out.

Steps are timed as a training loop runs them: one after the other without waiting; only after a burst of about BURST seconds
is the device waited for. Batches lie on the device already, and no loss is fetched.
"""

import json
import os
import statistics
import sys
import time
import traceback

BURST = 0.02
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # frameworks talk on standard output, too


def say(**event):
    print(json.dumps(event), file=ANSWERS, flush=True)


def since_start_ms():
    """Since whoever started this process set the clock's time in its environment."""
    started = os.environ.get("DL_STARTED")
    return 1e3 * (time.monotonic() - float(started)) if started else None


def timed(step, wait, seconds):
    """The median time of a step in ms, over bursts."""
    def burst(count):
        started = time.perf_counter()
        for _ in range(count):
            step()
        wait()
        return (time.perf_counter() - started) / count
    burst(3)
    one = burst(5)
    count = max(1, int(BURST / one))
    end, times = time.perf_counter() + seconds, []
    burst(count)
    while not times or time.perf_counter() < end:
        times.append(burst(count))
    return 1e3 * statistics.median(times)


def prepare(modes, make):
    """{mode: what make(mode) gives}; one that fails says why."""
    made = {}
    for mode in modes:
        started = time.perf_counter()
        try:
            made[mode] = make(mode)
            say(ready=mode, seconds=time.perf_counter() - started)
        except Exception as error:  # whatever a framework throws: the others go on
            traceback.print_exc()
            say(missing=mode, why=f"{type(error).__name__}: {str(error)[:300]}")
    return made


def serve(made, wait, **facts):
    """`made`: by mode, an object with step() and loss(n)."""
    say(prepared=True, **facts)
    for line in sys.stdin:
        what, mode, number = line.split()
        try:
            if what == "time":
                say(median_ms=timed(made[mode].step, wait, float(number)))
            else:
                say(loss=made[mode].loss(int(number)))
        except Exception as error:
            traceback.print_exc()
            say(error=f"{type(error).__name__}: {str(error)[:300]}")
