#!/usr/bin/python3
"""Whole training steps against PyTorch eager: same model, same threads on the same pinned cores, in turns.

    test/bench/step.py [--rounds 7] [--seconds 1] [--threads 1,2]

PyTorch comes from the Python named in DL_TORCH_PYTHON, else from this one; without torch only our times are printed.
Both sides get their batch ready-made. JSON on stdout.
"""

import argparse
import json
import os
import subprocess
import sys

import machine

CASES = [("mnist", 4), ("mnist", 64), ("mnist_mlp", 64)]


def torch_python():
    for python in (os.environ.get("DL_TORCH_PYTHON"), sys.executable):
        if python and subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
            return python
    print("no torch here: set DL_TORCH_PYTHON to a Python that has it for the comparison", file=sys.stderr)
    return None


def torch_step(python, model, batch, threads, seconds):
    script = os.path.join(machine.HERE, "torch_step.py")
    command = machine.pinned([python, script, model, batch, threads, seconds], threads)
    return json.loads(machine.dltools.run(*command).splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    about, python, results, version = machine.describe(), torch_python(), [], None
    with machine.scratch() as folder:
        for model, batch in CASES:
            source = os.path.join(machine.dltools.ROOT, "examples", model, model + ".dl")
            machine.dltools.dlcc(source, "-D", f"batch_size={batch}", "-o", f"{model}{batch}.plan", cwd=folder)
        for threads in map(int, options.threads.split(",")):
            if threads > len(os.sched_getaffinity(0)):
                print(f"{threads} threads: this machine has fewer cores, left out", file=sys.stderr)
                continue
            for model, batch in CASES:
                ours, theirs = [], []
                for _ in range(options.rounds):
                    ours.append(machine.bench(f"{model}{batch}.plan", threads, cwd=folder, seconds=options.seconds)["median_ms"])
                    if python:
                        peer = torch_step(python, model, batch, threads, options.seconds)
                        theirs.append(peer["median_ms"])
                        version = peer["torch"]
                row = {"model": model, "batch": batch, "threads": threads, "ours_ms": machine.median(ours)}
                if theirs:
                    row["torch_ms"] = machine.median(theirs)
                    row["ratio"] = row["torch_ms"] / row["ours_ms"]
                results.append(row)
    machine.table(f"training steps ({about['cpu']}; PyTorch {version or 'not here'})",
                  ["model", "batch", "threads", "ours ms", "eager ms", "ratio"],
                  [[r["model"], r["batch"], r["threads"], r["ours_ms"], r.get("torch_ms", "-"), r.get("ratio", "-")] for r in results])
    print(json.dumps({"bench": "step", **about, "torch": version, "rounds": options.rounds, "cases": results}))


if __name__ == "__main__":
    main()
