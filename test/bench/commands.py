#!/usr/bin/python3
"""What a command of a serial list costs: steps of 400 and of 1600 products of 2x2 matrices, in turns on one pinned core. The
difference of their times over the difference of their commands is the time of one, with its kernel in it.

    test/bench/commands.py [--rounds 7]          (aim: 20 ns)

JSON on stdout.
"""

import argparse
import json
import os

import numpy as np

import machine

PRODUCTS = (400, 1600)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    source = os.path.join(machine.HERE, "models", "commands.dl")
    with machine.scratch() as folder:
        np.save(os.path.join(folder, "x.npy"), np.full((8, 1), 0.5, np.float32))
        commands, times = [], []
        for count in PRODUCTS:
            machine.dltools.dlcc(source, "-D", f"products={count}", "-o", f"{count}.plan", cwd=folder)
            program = machine.dltools.info(f"{count}.plan", cwd=folder)["steps"][0]["programs"][0]
            commands.append(len(program["commands"]))
        for _ in range(rounds):
            few, many = (machine.bench(f"{count}.plan", 1, cwd=folder, seconds=0.2)["median_ms"] for count in PRODUCTS)
            times.append((many - few) * 1e6 / (commands[1] - commands[0]))
    result = {"commands": commands, "ns_a_command": machine.median(times), "aim_ns": 20}
    machine.table("a command of a serial list", list(result), [list(result.values())])
    print(json.dumps({"bench": "commands", **machine.describe(), **result}))


if __name__ == "__main__":
    main()
