#!/usr/bin/env python3
"""What a second thread brings where independent kernels are all there is to share.

    test/bench/parallel.py [--seconds 1] [--rounds 9]

parallel_ops  with one tile a kernel: threads can only take a whole product each (goal: 1.6 times as fast)
chained       its twin, in which one product needs the other: there is nothing to gain, and little may be lost
linear        a step that is too small to share: a second thread must cost it nothing

All runs have the same two cores, with one thread as well: so the thread that gathers batches takes from neither. In each
round every model runs with one and with two threads, the order turned from round to round; `ratio` is the median of the
rounds' ratios, for whoever shares a core does so for seconds. Prints JSON, and a table on stderr.
"""

import argparse
import json
import os
import subprocess
import sys

import machine

# A goal allows for what timing alone makes of two equal runs.
CASES = [("parallel_ops", "parallel_ops", ["--tiles=1"], 1.6), ("parallel_ops", "chained", ["--tiles=1"], 0.95),
         ("linear", "linear", [], 0.97)]
CORES = 2


def compile_example(folder, example, name, options):
    source, data = os.path.join(machine.dltools.ROOT, "examples", example), os.path.join(folder, example)
    if not os.path.isdir(data):
        subprocess.run([sys.executable, os.path.join(source, "generate.py"), data], check=True)
    plan = os.path.join(folder, name + ".plan")
    machine.dltools.dlcc(os.path.join(source, name + ".dl"), "-o", plan, *options, cwd=data)
    return plan


def median_ms(plan, threads, seconds):
    command = machine.pinned([machine.dltools.DLRUN, "bench", plan, "--threads", threads, "--seconds", seconds, "--json"],
                             CORES)
    (event,) = [e for e in map(json.loads, machine.dltools.run(*command).splitlines()) if e["event"] == "bench"]
    return event["median_ms"]


def measure(plans, rounds, seconds):
    """{name: {threads: a time of each round}}"""
    times = {name: {1: [], 2: []} for name in plans}
    for round_ in range(rounds):
        for name, plan in plans.items():
            for threads in (1, 2) if round_ % 2 == 0 else (2, 1):
                times[name][threads].append(median_ms(plan, threads, seconds))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    if len(os.sched_getaffinity(0)) < CORES:
        sys.exit(f"this needs {CORES} cores")
    about = machine.describe()
    with machine.scratch() as folder:
        plans = {name: compile_example(folder, example, name, options) for example, name, options, _ in CASES}
        times = measure(plans, arguments.rounds, arguments.seconds)
    rows = []
    for _, name, options, goal in CASES:
        ratios = [one / two for one, two in zip(times[name][1], times[name][2])]
        rows.append({"model": name, "options": " ".join(options), "ms_1_thread": machine.median(times[name][1]),
                     "ms_2_threads": machine.median(times[name][2]), "ratio": machine.median(ratios), "least": min(ratios),
                     "most": max(ratios), "goal": goal, "reached": machine.median(ratios) >= goal})
    machine.table(f"a second thread ({about['cpu']}, medians of {arguments.rounds} rounds)",
                  ["model", "options", "ms, 1 thread", "ms, 2 threads", "ratio", "least", "most", "goal", "reached"],
                  [[*list(row.values())[:-1], "yes" if row["reached"] else "NO"] for row in rows])
    print(json.dumps({"bench": "parallel", **about, "rounds": arguments.rounds, "rows": rows}))


if __name__ == "__main__":
    main()
