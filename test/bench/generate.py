#!/usr/bin/python3
"""GPT-2 (124M) goes on with three tokens on a CPU, one at a time, by dlrun generate and by PyTorch with its keys and values kept.

    DL_PEER_PYTHON=/path/to/venv/bin/python test/bench/generate.py [--tokens 200] [--rounds 3] [--threads 1,2] [--dtype bf16]

All have the weights that examples/gpt2 draws and take the likeliest token, and must write the same ones; not so in bf16, where PyTorch's
numbers are all bf16 and ours between the products f32. JSON on stdout.
"""

import argparse
import json
import os
import sys
import time

import numpy as np

import machine
from numpy_twin import safetensors
from peer import script

PROMPT = "15496,11,314"
MODES = {"eager": "PyTorch eager", "compile": "torch.compile"}


def prepare(folder, dtype):
    np.arange(1026, dtype=np.uint16).tofile(os.path.join(folder, "train.bin"))
    np.arange(1026, dtype=np.uint16).tofile(os.path.join(folder, "val.bin"))
    source = os.path.join(machine.dltools.ROOT, "examples", "gpt2", "gpt2.dl")
    machine.dltools.dlcc(source, "-D", "batch_size=1", f"--dtype={dtype}", "-o", "gpt2.plan", cwd=folder)
    machine.dltools.dlrun("gpt2.plan", "--steps", 0, "-q", "--save-final", "weights.safetensors", cwd=folder)
    np.savez(os.path.join(folder, "weights.npz"), **safetensors.load(os.path.join(folder, "weights.safetensors")))


def ours(folder, threads, count):
    command = [machine.dltools.DLRUN, "generate", "gpt2.plan", "--init", "weights.safetensors", "--tokens", PROMPT, "--temperature", 0,
               "--max-new-tokens", count, "--threads", threads, "--json"]
    sample, end = map(json.loads, machine.dltools.run(*machine.pinned(command, threads), cwd=folder).splitlines())
    return {"tokens": sample["tokens"], "a_second": count / end["generate_seconds"], "seconds": end["seconds"]}


def theirs(folder, threads, mode, count, dtype):
    command = script("generate_peer.py", folder, threads, mode, count, dtype)
    return json.loads(machine.dltools.run(*machine.pinned(command, threads), cwd=folder, timeout=600).splitlines()[-1])


def compare(folder, threads, rounds, count, dtype):
    found = {name: [] for name in ("ours", *MODES)}
    for _ in range(rounds):
        found["ours"].append(ours(folder, threads, count))
        for mode in MODES:
            found[mode].append(theirs(folder, threads, mode, count, dtype))
    if dtype == "f32" and len({tuple(run["tokens"]) for runs in found.values() for run in runs}) != 1:
        raise SystemExit(f"the contenders write other tokens: {found}")
    rates = {name: machine.median([run["a_second"] for run in runs]) for name, runs in found.items()}
    return {"threads": threads, "tokens_a_second": rates, "ratio": rates["ours"] / max(rates[mode] for mode in MODES),
            "ours_s_from_exec": machine.median([run["seconds"] for run in found["ours"]]), "torch": found["eager"][0]["version"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=200, help="that each contender writes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    options = parser.parse_args()
    with machine.scratch() as folder:
        prepare(folder, options.dtype)
        rows = [compare(folder, threads, options.rounds, options.tokens, options.dtype) for threads in options.threads]
        result = {"bench": "generate", **machine.describe(), "date": time.strftime("%Y-%m-%d"), "tokens": options.tokens, "dtype": options.dtype, "runs": rows}
    machine.table("GPT-2 124M, tokens a second", ["threads", "ours", *MODES.values(), "ours / best peer"],
                  [[row["threads"], *row["tokens_a_second"].values(), row["ratio"]] for row in rows])
    print(json.dumps(result))


if __name__ == "__main__":
    sys.exit(main())
