#!/usr/bin/python3
"""PyTorch's loss curves, kept so that parity is tested where there is no PyTorch.

    test/parity/curves.py [CASE...]      writes curves/CASE.json anew

A file has the loss of every step in f64, how far PyTorch's own f32 curve and that of its autocast
with bf16 are from it (root of the mean square; none where PyTorch refuses to), and the
size (2-norm) of every weight in the end.
"""

import json
import os
import sys

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from parity.cases import BY_NAME  # noqa: E402


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def norms(weights):
    return {name: float(np.sqrt(np.sum(np.square(array.astype(np.float64))))) for name, array in weights.items()}


def make(case):
    """The contents of a case's file, from PyTorch."""
    import torch

    from parity import oracle
    exact, weights = oracle.train(case, torch.float64)
    single, _ = oracle.train(case, torch.float32)
    try:
        mixed, _ = oracle.train(case, torch.float32, autocast=True)
    except RuntimeError:  # PyTorch has not the types for it: a cat, an assignment
        mixed = {}
    return {"torch": torch.__version__.split("+")[0],
            "f64": {name: curve.tolist() for name, curve in exact.items()},
            "f32_rms": {name: rms(single[name] - curve) for name, curve in exact.items()},
            "bf16_rms": {name: rms(curve - exact[name]) for name, curve in mixed.items()},
            "norms": norms(weights)}


def load(case):
    with open(case.curve(), encoding="utf-8") as file:
        return json.load(file)


def main(names):
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        sys.exit(f"no case is called {', '.join(unknown)}; there are {', '.join(BY_NAME)}")
    for name in names or BY_NAME:
        case = BY_NAME[name]
        made = make(case)
        os.makedirs(os.path.dirname(case.curve()), exist_ok=True)
        with open(case.curve(), "w", encoding="utf-8") as file:
            json.dump(made, file, indent=0)
            file.write("\n")
        print(name, {metric: (curve[0], curve[-1], made["f32_rms"][metric]) for metric, curve in made["f64"].items()}, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
