#!/usr/bin/env python3
"""Writes 60,000 + 10,000 small images of digits in MNIST's format, for machines without the real files.

    examples/mnist/generate.py FOLDER

Each digit is drawn with a soft pen along hand-made strokes that are bent, slanted, scaled and moved at random,
then loses some pixels and gains specks. Needs nothing but Python, and writes the same bytes everywhere.
"""

import math
import os
import random
import struct
import sys

SIDE = 28
USES = 5  # images made from one drawing, each moved and spoilt in its own way

# Strokes of each digit in a box from (0, 0) at the top left to (1, 1). An arc is (cx, cy, rx, ry, from, to) in
# degrees, clockwise from the right; a line is (x0, y0, x1, y1).
STROKES = {
    0: [(0.5, 0.5, 0.38, 0.5, 0, 360)],
    1: [(0.3, 0.2, 0.55, 0.0), (0.55, 0.0, 0.55, 1.0)],
    2: [(0.5, 0.28, 0.36, 0.28, 180, 385), (0.82, 0.42, 0.12, 1.0), (0.12, 1.0, 0.9, 1.0)],
    3: [(0.45, 0.26, 0.35, 0.26, 200, 450), (0.45, 0.75, 0.38, 0.25, 270, 510)],
    4: [(0.6, 0.0, 0.1, 0.65), (0.1, 0.65, 0.92, 0.65), (0.68, 0.3, 0.68, 1.0)],
    5: [(0.85, 0.0, 0.25, 0.0), (0.25, 0.0, 0.2, 0.45), (0.46, 0.68, 0.36, 0.32, 235, 500)],
    6: [(0.7, 0.0, 0.2, 0.55), (0.48, 0.72, 0.32, 0.28, 0, 360)],
    7: [(0.1, 0.0, 0.9, 0.0), (0.9, 0.0, 0.38, 1.0)],
    8: [(0.5, 0.25, 0.29, 0.25, 0, 360), (0.5, 0.75, 0.36, 0.25, 0, 360)],
    9: [(0.5, 0.3, 0.32, 0.3, 0, 360), (0.82, 0.3, 0.65, 1.0)],
}


def points(digit):
    """The digit's strokes as points, about 0.04 apart."""
    for stroke in STROKES[digit]:
        if len(stroke) == 4:
            x0, y0, x1, y1 = stroke
            steps = max(2, int(math.hypot(x1 - x0, y1 - y0) / 0.04))
            for i in range(steps + 1):
                yield x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps
        else:
            cx, cy, rx, ry, begin, end = stroke
            steps = max(4, int(math.radians(end - begin) * max(rx, ry) / 0.04))
            for i in range(steps + 1):
                angle = math.radians(begin + (end - begin) * i / steps)
                yield cx + rx * math.cos(angle), cy + ry * math.sin(angle)


OUTLINES = {digit: list(points(digit)) for digit in STROKES}


def between(rng, low, high):
    return low + (high - low) * rng.random()


def draw(rng, digit):
    """One drawing as 28 x 28 bytes."""
    height, width = between(rng, 15, 21), between(rng, 10, 17)
    angle, slant = between(rng, -0.35, 0.35), between(rng, -0.3, 0.3)
    wave, phase = between(rng, 0, 0.13), between(rng, 0, 6.3)
    radius, ink = between(rng, 0.75, 1.7), between(rng, 150, 255)
    cos, sin = math.cos(angle), math.sin(angle)
    image = [0.0] * (SIDE * SIDE)
    for px, py in OUTLINES[digit]:
        x = (px - 0.5 + wave * math.sin(4 * py + phase) - slant * (py - 0.5)) * width
        y = (py - 0.5 + wave * math.cos(4 * px + phase)) * height
        x, y = 14 + cos * x - sin * y, 14 + sin * x + cos * y
        for row in range(max(0, math.ceil(y - 2)), min(SIDE, int(y + 2) + 1)):
            for column in range(max(0, math.ceil(x - 2)), min(SIDE, int(x + 2) + 1)):
                value = (radius + 0.5 - math.hypot(row - y, column - x)) * ink
                at = row * SIDE + column
                if value > image[at]:
                    image[at] = value
    return bytes(min(255, int(value)) for value in image)


def moved(image, right, down):
    """The image shifted by whole pixels; what leaves it is lost."""
    rows = [image[r * SIDE:(r + 1) * SIDE] for r in range(SIDE)]
    if right >= 0:
        rows = [bytes(right) + row[:SIDE - right] for row in rows]
    else:
        rows = [row[-right:] + bytes(-right) for row in rows]
    empty = [bytes(SIDE)] * abs(down)
    rows = empty + rows[:SIDE - down] if down >= 0 else rows[-down:] + empty
    return b"".join(rows)


def masks(rng, count, chance, blot):
    """Masks of a whole image as integers: bytes of 255 with a chance, then in places `blot` pixels wide."""
    result = []
    for _ in range(count):
        mask = bytearray(255 if rng.random() < chance else 0 for _ in range(SIDE * SIDE))
        row, column = int(rng.random() * (SIDE - blot)), int(rng.random() * (SIDE - blot))
        for r in range(row, row + blot):
            mask[r * SIDE + column:r * SIDE + column + blot] = b"\xff" * blot
        result.append(int.from_bytes(mask, "big"))
    return result


def write_split(folder, prefix, count, seed):
    rng = random.Random(seed)
    holes, specks = masks(rng, 64, 0.05, 5), masks(rng, 64, 0.015, 0)
    greys = [int.from_bytes(rng.randbytes(SIDE * SIDE), "big") for _ in range(64)]
    pick = lambda items: items[int(rng.random() * len(items))]
    pictures, labels = [], []
    for _ in range(count // USES):
        digit = int(rng.random() * 10)
        drawing = draw(rng, digit)
        for _ in range(USES):
            image = moved(drawing, int(rng.random() * 7) - 3, int(rng.random() * 7) - 3)
            bits = int.from_bytes(image, "big") & ~pick(holes) | pick(specks) & pick(greys)
            pictures.append(bits.to_bytes(SIDE * SIDE, "big"))
            labels.append(digit)
    order = sorted(range(count), key=[rng.random() for _ in range(count)].__getitem__)
    with open(os.path.join(folder, prefix + "-images-idx3-ubyte"), "wb") as file:
        file.write(struct.pack(">4I", 0x803, count, SIDE, SIDE) + b"".join(pictures[i] for i in order))
    with open(os.path.join(folder, prefix + "-labels-idx1-ubyte"), "wb") as file:
        file.write(struct.pack(">2I", 0x801, count) + bytes(labels[i] for i in order))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    write_split(sys.argv[1], "train", 60000, 1)
    write_split(sys.argv[1], "t10k", 10000, 2)


if __name__ == "__main__":
    main()
