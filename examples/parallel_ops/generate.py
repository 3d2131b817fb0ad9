#!/usr/bin/env python3
"""Writes x.npy, a.npy and t.npy, each [1024,1024] float32: t = x / 50 + (a / 50, its columns turned by one) + noise.

    examples/parallel_ops/generate.py FOLDER

So y * lambda is the unit matrix over 50, and b a permutation over 50. Needs nothing but Python, and writes the same
bytes everywhere.
"""

import os
import random
import struct
import sys
from array import array

ITEMS, WIDTH = 1024, 1024


def write_npy(path, rows):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            values = array("f", row)
            if sys.byteorder == "big":
                values.byteswap()
            file.write(values.tobytes())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    source = random.Random(0)

    def rows(spread):  # of even distribution and the given standard deviation
        limit = spread * 3 ** 0.5
        return [[source.uniform(-limit, limit) for _ in range(WIDTH)] for _ in range(ITEMS)]

    x, a, noise = rows(10), rows(10), rows(0.01)
    t = [[(u + v) / 50 + w for u, v, w in zip(first, second[1:] + second[:1], third)]
         for first, second, third in zip(x, a, noise)]
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, values in (("x", x), ("a", a), ("t", t)):
        write_npy(os.path.join(sys.argv[1], name + ".npy"), values)


main()
