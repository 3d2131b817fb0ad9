#!/usr/bin/python3
"""Matrix products through a plan, on one pinned core, against the FMA peak measured in the same rounds.

    test/bench/matmul.py [--rounds 7] [--seconds 0.5] [--threads 1,2] [MxNxK...]

A program's training step is one product C = A B of two states that nothing updates, and an update of one number; the
whole step is timed, so whatever packing the kernel does is in the figure. `best` is the percentage of the fastest tenth of
all steps: on a shared machine others take part of a core for seconds. NT: B is stored [N, K], TN: A is stored
[K, M]. `kept` tells whether the compiler stores A or B in an order other than the model's (then their packing is done
once, when the weights are loaded). With several threads the percentage is of that many cores, and `speedup` is against
one thread. JSON on stdout.
"""

import argparse
import json
import os

import numpy as np

import machine

SHAPES = ["512x512x512", "1024x1024x1024", "64x128x784"]

MODEL = """#include <dl/dl.h>
struct Product : dl::nn::Module {
  dl::Parameter a = dl::randn(%(a)s), b = dl::randn(%(b)s), w = dl::ones({1});
  dl::Tensor c;
  dl::Tensor forward(dl::Tensor x) {
    c = dl::matmul(a%(ta)s, b%(tb)s);
    return (w * x).sum();
  }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x.npy"}, {.batch_size = 1});
  Product m;
  dl::optim::SGD optimizer({m.w}, {.lr = 0.0});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = m(b[0]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}, {"c", m.c}};
  });
}
"""


def model(m, n, k, kind):
    ta, tb = kind[0] == "T", kind[1] == "T"
    a, b = (k, m) if ta else (m, k), (n, k) if tb else (k, n)
    return MODEL % {"a": "{%d, %d}" % a, "b": "{%d, %d}" % b, "ta": ".t()" if ta else "", "tb": ".t()" if tb else ""}


def write_model(folder, m, n, k, kind):
    name = f"{kind}-{m}x{n}x{k}"
    with open(os.path.join(folder, name + ".dl"), "w", encoding="utf-8") as file:
        file.write(model(m, n, k, kind))
    machine.dltools.dlcc(name + ".dl", "-o", name + ".plan", cwd=folder)
    states = machine.dltools.info(name + ".plan", cwd=folder)["states"]
    kept = [s["name"] for s in states if s["name"] in "ab" and "row" not in s["layout_text"]]
    return {"kind": kind, "M": m, "N": n, "K": k, "plan": name + ".plan", "kept": kept}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shapes", nargs="*", default=SHAPES)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    about = machine.describe()
    threads = [n for n in map(int, options.threads.split(",")) if n <= len(os.sched_getaffinity(0))]
    with machine.scratch() as folder:
        np.save(os.path.join(folder, "x.npy"), np.ones((8, 1), np.float32))
        peak = machine.Peak(folder)
        plans = [write_model(folder, *map(int, shape.split("x")), kind) for shape in options.shapes for kind in ("NN", "NT", "TN")]
        cases = [{**plan, "threads": n, "ms": [], "percent": [], "best": []} for n in threads for plan in plans]
        peaks = []
        for _ in range(options.rounds):
            for case in cases:
                peaks.append(peak.measure())
                event = machine.bench(case["plan"], case["threads"], cwd=folder, seconds=options.seconds)
                case["ms"].append(event["median_ms"])
                gflops = 2e-6 * case["M"] * case["N"] * case["K"] / event["median_ms"]
                case["percent"].append(100 * gflops / (peaks[-1] * case["threads"]))
                case["best"].append(event["median_ms"] / event["p10_ms"] * case["percent"][-1])
    report(cases, about, options.rounds, machine.median(peaks))


def report(cases, about, rounds, peak):
    rows, alone = [], {}
    for case in cases:
        case["ms"], case["percent"] = machine.median(case["ms"]), machine.median(case["percent"])
        case["best"] = max(case["best"])
        case["gflops"] = 2e-6 * case["M"] * case["N"] * case["K"] / case["ms"]
        plan = case.pop("plan")
        if case["threads"] == 1:
            alone[plan] = case["ms"]
        case["speedup"] = alone[plan] / case["ms"] if plan in alone else None
        rows.append([f"{case['M']}x{case['N']}x{case['K']}", case["kind"], case["threads"], case["ms"], case["gflops"],
                     case["percent"], case["best"], case["speedup"] or "-", ",".join(case["kept"]) or "-"])
    machine.table(f"matmul, FMA peak {peak:.1f} GFLOP/s a core ({about['cpu']})",
                  ["MxNxK", "kind", "threads", "ms", "GFLOP/s", "% of peak", "best", "speedup", "kept"], rows)
    print(json.dumps({"bench": "matmul", **about, "rounds": rounds, "peak_gflops": peak, "cases": cases}))


if __name__ == "__main__":
    main()
