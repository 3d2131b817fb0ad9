#!/usr/bin/env python3
"""Kills and stops random ranks at random moments, and launches on two pretended hosts.

    test/mpi/strike.py [--kills 100] [--stops 20] [--launches 20] [--ranks 4] [--seed S]

Each time the exit code, the culprit with its step, the time, and what is left behind are compared.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import numpy as np  # noqa: E402

import dltools  # noqa: E402
from mpi import launch  # noqa: E402


def prepare(folder):
    rng = np.random.default_rng(0)
    np.save(os.path.join(folder, "x.npy"), rng.normal(size=(64, 1, 12, 12)).astype(np.float32))
    np.save(os.path.join(folder, "y.npy"), rng.integers(0, 5, 64))
    with open(os.path.join(folder, "m.dl"), "w", encoding="utf-8") as file:
        file.write(launch.MODEL)


def strikes(kind, count, plan, ranks, limit, rng, *options, env=None):
    good, slowest = 0, 0
    for number in range(count):
        wrong, seconds = launch.strike(plan, ranks, kind, rng, *options, env=env)
        slowest = max(slowest, seconds)
        if seconds > limit:
            wrong.append(f"took {seconds:.2f} s")
        good += not wrong
        for text in wrong:
            print(f"{kind} {number}: {text}")
    print(f"{kind}: {good} of {count} right, slowest {slowest:.2f} s", flush=True)
    return good == count


def launches(count, folder):
    """8 ranks on two hosts."""
    plan, env = launch.make_plan(folder, 8), launch.environment(os.path.join(folder, "hosts"))
    good, began = 0, time.monotonic()
    for number in range(count):
        left = launch.Leftovers(folder)
        result = dltools.call([dltools.DLRUN, "-np", "8", "-H", "ha:4,hb:4", plan, "--epochs", "1", "-q", "--threads", "1"], folder, env)
        wrong = left.found()
        if result.returncode or result.stderr or wrong:
            print(f"launch {number}: exit code {result.returncode}, {result.stderr[-400:]!r}, {wrong}")
        else:
            good += 1
    print(f"launches: {good} of {count} right, {(time.monotonic() - began) / max(count, 1):.2f} s each", flush=True)
    return good == count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, count in (("kills", 100), ("stops", 20), ("launches", 20), ("ranks", 4), ("seed", 0)):
        parser.add_argument("--" + name, type=int, default=count)
    options = parser.parse_args()
    if launch.missing():
        sys.exit(launch.missing())
    folder = tempfile.mkdtemp(prefix="dl-strike-")
    try:
        prepare(folder)
        plan, rng = launch.make_plan(folder, options.ranks), random.Random(options.seed)
        good = strikes("kill", options.kills, plan, options.ranks, 3, rng)
        good &= strikes("stop", options.stops, plan, options.ranks, 13.5, rng)
        good &= launches(options.launches, folder)
    finally:
        shutil.rmtree(folder)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
