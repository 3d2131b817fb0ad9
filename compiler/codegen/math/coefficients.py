#!/usr/bin/env python3
"""Prints the coefficient tables of this folder: minimax polynomials by Remez' algorithm.

Needs mpmath. Every table comes with the largest weighted error of the polynomial before
its coefficients were rounded, as a power of two.
"""
from mpmath import atanh, cos, erf, erfc, exp, log, lu_solve, matrix, mp, mpf, pi, sin, sqrt

mp.prec = 200


def solve(f, weight, points, degree):
    """Coefficients whose weighted error alternates with equal size at the points."""
    n = degree + 2
    system, values = matrix(n, n), matrix(n, 1)
    for row, x in enumerate(points):
        for column in range(degree + 1):
            system[row, column] = x**column
        system[row, degree + 1] = (-1) ** row / weight(x)
        values[row] = f(x)
    solution = lu_solve(system, values)
    return [solution[i] for i in range(degree + 1)]


def extrema(errors, count):
    """Indices of the largest error of each run of one sign, `count` of them."""
    runs = []
    for i, error in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > count:
        runs = runs[1:] if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else runs[:-1]
    return runs


def remez(f, weight, low, high, degree, grid=600):
    """The polynomial with the smallest max |weight (p - f)| over [low, high]."""
    low, high = mpf(low), mpf(high)
    n = degree + 2
    place = lambda t: (low + high) / 2 - (high - low) / 2 * cos(pi * t)
    points = [place((2 * i + mpf(1)) / (2 * n)) for i in range(n)]
    samples = [place(mpf(i) / grid) for i in range(grid + 1)]
    wanted = [(f(x), weight(x)) for x in samples]
    best = None
    for _ in range(20):
        polynomial = solve(f, weight, points, degree)
        errors = [w * (mp.polyval(polynomial[::-1], x) - y)
                  for x, (y, w) in zip(samples, wanted)]
        worst = max(map(abs, errors))
        if best is None or worst < best[0]:
            best = worst, polynomial
        indices = extrema(errors, n)
        if len(indices) < n:
            break
        points = [samples[i] for i in indices]
    return best


def rounded(x, bits):
    """x to the nearest number of `bits` bits, as a C++ literal."""
    with mp.workprec(bits):
        x = +mpf(x)
    return float(x).hex().replace("0000000p", "p").replace(".0p", "p")


def table(name, f, weight, low, high, float_degree, double_degree):
    for kind, degree, bits in (("Float", float_degree, 24), ("Double", double_degree, 53)):
        if degree is None:
            continue
        end = high[kind] if isinstance(high, dict) else high
        error, polynomial = remez(f, weight, low, end, degree)
        print(f"// error 2^{mp.nstr(log(error, 2), 4)}")
        print(f"constexpr double {name}{kind}[] = {{")
        print("    " + ", ".join(rounded(c, bits) for c in polynomial) + "};")


def at_zero(f, limit, size):
    """f with its limit where the formula would cancel."""
    return lambda x: f(x) if abs(x) > size else limit


def split(name, value, *widths):
    """A constant as a sum of numbers with so many bits."""
    for i, width in enumerate(widths):
        literal = rounded(value, width)
        print(f"constexpr double {name}{i} = {literal};")
        value -= mpf(float.fromhex(literal))


def main():
    tiny = mpf(10) ** -18
    half_ln2 = log(2) / 2 * mpf("1.0001")
    # e^r - 1 = r + r^2 Q(r); the weight is for an error relative to r.
    table("expQ", at_zero(lambda r: (exp(r) - 1 - r) / r**2, mpf(1) / 2, tiny),
          lambda r: max(abs(r), tiny), -half_ln2, half_ln2, 4, 9)

    # 2 atanh(s) = 2 s + s z R(z) with z = s^2; |s| < 0.1716 for x in [sqrt(1/2), sqrt(2)].
    largest = mpf("0.02944")
    series = lambda z: (atanh(sqrt(z)) / sqrt(z) - 1) / z
    table("logR", at_zero(lambda z: 2 * series(z), mpf(2) / 3, tiny),
          lambda z: max(z / 2, tiny), 0, largest, 2, 6)
    # atanh(s) = s (1 + z / 3 + z^2 Q(z)).
    table("powQ", at_zero(lambda z: (series(z) - mpf(1) / 3) / z, mpf(1) / 5, tiny),
          lambda z: max(z**2, tiny**2), 0, largest, None, 7)

    # sin r = r + r z S(z), cos r = 1 - z / 2 + z^2 C(z).
    largest = (pi / 4 * mpf("1.001")) ** 2
    table("sinS", at_zero(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, -mpf(1) / 6, tiny),
          lambda z: max(z, tiny), 0, largest, 2, 5)
    table("cosC", at_zero(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, mpf(1) / 24, tiny),
          lambda z: max(z**2, tiny**2), 0, largest, 2, 5)

    # erf x = 1 - e^-y, y = x (slope + x Q(x)); an error of y counts as it moves erf x.
    slope = 2 / sqrt(pi)
    table("erfQ", at_zero(lambda x: (-log(erfc(x)) / x - slope) / x, 2 / pi, tiny),
          lambda x: erfc(x) * x**2 / erf(x) if x > tiny else tiny,
          0, {"Float": 4, "Double": 6}, 7, 23)

    split("ln2Float", log(2), 16, 24)
    split("ln2Double", log(2), 42, 53)
    split("halfPi", pi / 2, 30, 53, 53)
    split("third", mpf(1) / 3, 53, 53)
    split("erfSlopeFloat", 2 / sqrt(pi), 24, 24)
    split("erfSlopeDouble", 2 / sqrt(pi), 53, 53)
    print(f"log2e {rounded(1 / log(2), 53)}, 2/pi {rounded(2 / pi, 53)}")


if __name__ == "__main__":
    main()
