#!/usr/bin/python3
"""This build against another one, in pairs: did anything get slower, or larger?

    test/bench/pairs.py OTHER_BIN [--rounds 60] [--only steps|matmul|compile] [--threads 1,2]

OTHER_BIN is the folder with another build's dlcc and dlrun, of the commit before a change, say. Each side compiles the models
with its own dlcc and runs its own plans. In each round both run once, the order turned from round to round; `ratio` is the
median of the rounds' ratios of this build's time to the other's, `low` and `high` are the 95 % interval of that median
(order statistics; no assumption about the noise). `slower` stands where `low` > 1.03: the interval has nothing below.

steps    training steps of the bench models and of the examples; a command of a serial list
matmul   products of two states on one core
compile  seconds of dlcc with an empty kernel cache, and bytes of the plan

JSON on stdout.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import time

import numpy as np

import compare
import machine
import matmul

STEPS = [("convnet", 4), ("convnet", 64), ("mlp", 64), ("transformer", 2)]
TOO_SLOW = 1.03
CHAIN = """#include <dl/dl.h>
namespace nn = dl::nn;
struct Net : nn::Module {
  nn::ModuleList layers;
  Net() {
    for (int i = 0; i < %d; ++i)
      layers.push_back(nn::Linear{16, 16});
  }
  dl::Tensor forward(dl::Tensor x) {
    for (auto &layer : layers)
      x = x + layer(x);
    return x.mean();
  }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"chain.npy"}, {.batch_size = 4});
  Net net;
  dl::optim::SGD optimizer(net.parameters(), {.lr = 0.01});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = net(b[0]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class Side:
    """One build's tools; they run in a folder of their own, where the data lie."""

    def __init__(self, name, tools, folder):
        self.name, self.folder = name, os.path.join(folder, name)
        self.dlcc, self.dlrun = os.path.join(tools, "dlcc"), os.path.join(tools, "dlrun")
        os.makedirs(self.folder)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def compile(self, source, plan, *options, data=""):
        """Seconds of dlcc with an empty kernel cache, and bytes of the plan; `data` is a folder of ours."""
        cache, plan = self.path("cache"), self.path(plan)
        shutil.rmtree(cache, ignore_errors=True)
        started = time.perf_counter()
        subprocess.run([self.dlcc, source, "-o", plan, *options], cwd=self.path(data), check=True,
                       env={**os.environ, "XDG_CACHE_HOME": cache})
        return time.perf_counter() - started, os.path.getsize(plan)

    def step_ms(self, plan, threads, seconds):
        command = [self.dlrun, "bench", plan, "--threads", threads, "--seconds", seconds, "--json"]
        said = machine.dltools.run(*machine.pinned(command, threads), cwd=self.folder)
        (event,) = [e for e in map(json.loads, said.splitlines()) if e["event"] == "bench"]
        return event["median_ms"]


def interval(values):
    """The median, and the order statistics that hold the true one with at least 95 %."""
    values, count = sorted(values), len(values)
    below, reach = -1, 0.0
    while below + 1 < count // 2 and reach + math.comb(count, below + 1) / 2**count <= 0.025:
        below += 1
        reach += math.comb(count, below) / 2**count
    below = max(below, 0)
    return machine.median(values), values[below], values[count - 1 - below]


def paired(what, sides, rounds, measure):
    """`measure(side)` gives seconds or milliseconds; ratios are this build's over the other's."""
    times = {side.name: [] for side in sides}
    for turn in range(rounds):
        for side in sides if turn % 2 else reversed(sides):
            times[side.name].append(measure(side))
    ratio, low, high = interval([new / old for new, old in zip(times["this"], times["other"])])
    row = {"what": what, "this": machine.median(times["this"]), "other": machine.median(times["other"]), "ratio": ratio, "low": low,
           "high": high, "slower": low > TOO_SLOW}
    print(f"  {what}: {ratio:.3f} ({low:.3f} to {high:.3f})", file=sys.stderr)
    return row


def make_data(sides):
    random = np.random.default_rng(2)
    text = random.integers(0, 65, (2, 257))
    arrays = {"chain.npy": random.standard_normal((4, 16)).astype(np.float32), "x.npy": np.full((8, 1), 0.5, np.float32)}
    for side in sides:
        for name, array in arrays.items():
            np.save(side.path(name), array)
        for model, batch in STEPS:
            sub = side.path(f"{model}-{batch}")
            os.makedirs(sub)
            if model == "transformer":
                x, y = np.eye(65, dtype=np.float32)[text[:, :-1]], text[:, 1:].astype(np.int64)
            else:
                x = np.ones((batch, 1, 28, 28), np.float32) * random.standard_normal((1, 1, 28, 28)).astype(np.float32)
                y = np.arange(batch, dtype=np.int64) % 10
            np.save(os.path.join(sub, "x.npy"), x)
            np.save(os.path.join(sub, "y.npy"), y)


def bench_model(name):
    return os.path.join(machine.HERE, "models", name + ".dl")


def steps(options, sides):
    rows = []
    for model, batch in STEPS:
        for side in sides:
            side.compile(bench_model(model), f"{model}-{batch}.plan", "-D", f"batch_size={batch}", data=f"{model}-{batch}")
        for threads in options.threads:
            rounds = options.rounds if model != "transformer" else max(7, options.rounds // 4)
            rows.append(paired(f"{model} {batch}, {threads} threads, ms", sides, rounds,
                               lambda side: side.step_ms(f"{model}-{batch}.plan", threads, options.seconds)))
    return rows + [commands(options, sides)]


def commands(options, sides):
    """Nanoseconds of a command: the difference of a long and a short list of them."""
    for side in sides:
        for count in (400, 1600):
            side.compile(bench_model("commands"), f"{count}.plan", "-D", f"products={count}")
    return paired("a command of a serial list, ns", sides, options.rounds, lambda side: (
        side.step_ms("1600.plan", 1, options.seconds) - side.step_ms("400.plan", 1, options.seconds)) * 1e6 / 1200)


def matmuls(options, sides):
    rows = []
    for shape in compare.SHAPES:
        m, n, k = map(int, shape.split("x"))
        for kind in ("NN", "NT", "TN"):
            for side in sides:
                source = side.path("product.dl")
                with open(source, "w", encoding="utf-8") as file:
                    file.write(matmul.model(m, n, k, kind))
                side.compile(source, "product.plan")
            rows.append(paired(f"{shape} {kind}, ms", sides, options.rounds,
                               lambda side: side.step_ms("product.plan", 1, options.seconds / 3)))
    return rows


def compiles(options, sides):
    rows = []
    cases = [("mnist", os.path.join(machine.dltools.ROOT, "examples", "mnist", "mnist.dl"), "", 1),
             ("transformer", bench_model("transformer"), "transformer-2", 4)]
    for layers in (100, 1000):
        path = sides[0].path(f"chain{layers}.dl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CHAIN % layers)
        cases.append((f"{layers} residual layers", path, "", 12))
    for name, source, data, fewer in cases:
        sizes = {}

        def measure(side):
            seconds, sizes[side.name] = side.compile(source, "compiled.plan", data=data)
            return seconds
        row = paired(f"dlcc {name}, s", sides, max(5, options.rounds // 4 // fewer), measure)
        rows += [row, {"what": f"plan of {name}, bytes", **sizes, "ratio": sizes["this"] / sizes["other"]}]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", metavar="OTHER_BIN")
    parser.add_argument("--only", choices=["steps", "matmul", "compile"])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    options = parser.parse_args()
    for tool in ("dlcc", "dlrun"):
        if not os.path.exists(os.path.join(options.other, tool)):
            parser.error(f"there is no {tool} in {options.other}")
    options.threads = [n for n in options.threads if n <= len(os.sched_getaffinity(0))]
    rows = []
    with machine.scratch() as folder:
        sides = [Side("this", machine.dltools.BIN, folder), Side("other", os.path.abspath(options.other), folder)]
        make_data(sides)
        for name, measure in (("steps", steps), ("matmul", matmuls), ("compile", compiles)):
            if options.only in (None, name):
                rows += measure(options, sides)
    columns = ["what", "this", "other", "ratio", "low", "high", "slower"]
    machine.table("this build beside the other", columns, [[row.get(c, "-") for c in columns] for row in rows])
    print(json.dumps({"bench": "pairs", **machine.describe(), "rounds": options.rounds, "rows": rows}))


if __name__ == "__main__":
    main()
