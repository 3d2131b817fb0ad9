#!/usr/bin/env python3
"""What a second thread brings where independent kernels are all there is to share.

    parallel.py [--seconds S] [--rounds N]

Compiles examples/parallel_ops with one tile a kernel, and its twin, in which one product needs the other; then measures
steps with one and with two threads in turn. Also a step that is too small to share (examples/linear): a second thread
must cost it nothing. Prints JSON, and a table on stderr.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import dltools  # noqa: E402


def median_ms(plan, threads, seconds):
    (event,) = [e for e in dltools.events("bench", plan, "--threads", threads, "--seconds", seconds) if e["event"] == "bench"]
    return event["median_ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    cases = [("parallel_ops", "parallel_ops", "--tiles=1"), ("parallel_ops", "chained", "--tiles=1"),
             ("linear", "linear", None)]
    rows = []
    with tempfile.TemporaryDirectory(prefix="dl-bench-") as folder:
        for example, name, option in cases:
            source, data = os.path.join(dltools.ROOT, "examples", example), os.path.join(folder, example)
            if not os.path.isdir(data):
                subprocess.run([sys.executable, os.path.join(source, "generate.py"), data], check=True)
            plan = os.path.join(folder, name + ".plan")
            dltools.dlcc(os.path.join(source, name + ".dl"), "-o", plan, *([option] if option else []), cwd=data)
            times = {1: [], 2: []}
            for _ in range(arguments.rounds):
                for threads, list_ in times.items():
                    list_.append(median_ms(plan, threads, arguments.seconds))
            one, two = statistics.median(times[1]), statistics.median(times[2])
            rows.append({"model": name, "options": option or "", "ms_1_thread": one, "ms_2_threads": two, "ratio": one / two})
            print(f"{name:14} {option or '':10} 1 thread {one:8.3f} ms   2 threads {two:8.3f} ms   ratio {one / two:.2f}",
                  file=sys.stderr)
    print(json.dumps(rows))


main()
