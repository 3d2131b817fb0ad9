#!/usr/bin/env python3
"""Writes point.npy [1024,2], float32, and arm.npy [1024], int64: points of two spirals, for dlrun --data FOLDER.

    examples/spirals/generate.py FOLDER

main.cpp draws its own. Needs nothing but Python, and writes the same bytes everywhere.
"""

import math
import os
import random
import struct
import sys

ITEMS = 1024  # full batches of 64


def write_npy(path, descr, shape, code, values):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%d%s" % (len(values), code), *values))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    source = random.Random(1)
    points, arms = [], []
    for _ in range(ITEMS):
        arm, radius = source.randrange(2), source.uniform(0.1, 1)
        angle = 9 * radius + math.pi * arm
        points += [radius * math.cos(angle) + source.gauss(0, 0.02), radius * math.sin(angle) + source.gauss(0, 0.02)]
        arms.append(arm)
    os.makedirs(sys.argv[1], exist_ok=True)
    write_npy(os.path.join(sys.argv[1], "point.npy"), "<f4", (ITEMS, 2), "f", points)
    write_npy(os.path.join(sys.argv[1], "arm.npy"), "<i8", (ITEMS,), "q", arms)


main()
