#!/usr/bin/env python3
"""Lets a trained GPT go on with a text, byte by byte.

    examples/gpt/sample.py build/examples/gpt.plan WEIGHTS [--text "ROMEO:"] [--bytes 200] [--temperature 0.8] [--seed 0]

WEIGHTS are those of dlrun --save-final or the folder of a run. Needs NumPy; each byte is one `dlrun predict`.
"""

import argparse
import codecs
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

DLRUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "release", "bin", "dlrun")


def run(*arguments):
    done = subprocess.run([DLRUN, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit("\n" + done.stderr.strip())
    return done.stdout


def window_length(plan):
    """Of the model: an item has one byte more, the last target."""
    (data,) = {data["components"][0]["shape"][0] for data in json.loads(run("info", plan, "--json"))["datasets"]}
    return data - 1


def probabilities(plan, weights, text, folder):
    """Of the byte behind each byte of a window."""
    window = os.path.join(folder, "window.txt")
    with open(window, "wb") as file:
        file.write(text)
    out = os.path.join(folder, "next.npy")
    run("predict", plan, "--init", weights, "--data", window, "--out", out, "-q", "--threads", "1")
    return np.load(out)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plan")
    parser.add_argument("weights")
    parser.add_argument("--text", default="\n")
    parser.add_argument("--bytes", type=int, default=200)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.temperature <= 0:
        parser.error("--temperature: a number above 0 is wanted")
    length = window_length(options.plan)
    random = np.random.default_rng(options.seed)
    characters = codecs.getincrementaldecoder("utf-8")("replace")
    text = options.text.encode() or b"\n"
    sys.stdout.write(text.decode(errors="replace"))
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.bytes):
            seen = text[-length:]
            window = seen.ljust(length + 1, b" ")  # and a target, which is not used
            chances = probabilities(options.plan, options.weights, window, folder)[len(seen) - 1].astype(np.float64)
            chances = chances ** (1 / options.temperature)
            byte = bytes([random.choice(256, p=chances / chances.sum())])
            text += byte
            sys.stdout.write(characters.decode(byte))
            sys.stdout.flush()
    print()


if __name__ == "__main__":
    main()
