#!/usr/bin/env python3
"""Writes x.npy [1000,10] and y.npy [1000,1], float32: y is linear in x, with a little noise.

    examples/two_parts/generate.py FOLDER

Needs nothing but Python, and writes the same bytes everywhere.
"""

import os
import random
import struct
import sys

ITEMS, FEATURES = 1000, 10


def write_npy(path, rows):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            file.write(struct.pack("<%df" % len(row), *row))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    source = random.Random(0)
    weights = [source.uniform(-1, 1) for _ in range(FEATURES)]
    x = [[source.gauss(0, 1) for _ in range(FEATURES)] for _ in range(ITEMS)]
    y = [[sum(a * w for a, w in zip(row, weights)) + 0.5 + source.gauss(0, 0.01)] for row in x]
    os.makedirs(sys.argv[1], exist_ok=True)
    write_npy(os.path.join(sys.argv[1], "x.npy"), x)
    write_npy(os.path.join(sys.argv[1], "y.npy"), y)


main()
