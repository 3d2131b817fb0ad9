#!/usr/bin/env python3
"""Many devices: speed beside PyTorch's DDP and beside ourselves, memory of ZeRO, overlap and bubbles on a slow link.

    test/bench/ranks.py [--rounds 5] [--seconds 1] [--only ddp,threads,weak,overlap,bubble,states,rss]

ddp      mnist and mnist_mlp, global batch 64, dp=2 as two processes with a thread each, beside DDP over gloo on the same
         cores (goal: 6 times as fast)
threads  the same beside one process with two threads, batch 256 (goal: at least 0.9 times as fast)
weak     a wide MLP at dp=2, twice the batch, beside two independent processes (goal: 95 % of their speed), once with ZeRO 1;
         and what of it ranks lose that only wait for each other
overlap  dp=2 on a sleeping link: 1 - (T - T without communication) / min(T of communication, T of backward) (goal: 80 %)
bubble   each schedule at pp=2 as two processes: idle share by their traces beside that of the plan's timeline (goal: within 10 %)
states   parameters, slots and gradients (which --accumulate keeps) of a rank for ZeRO 0 to 3 at dp=4, beside the formula
rss      peak memory of rank 0 of four processes, an Adam MLP of 8 equal layers and 200 MB, ZeRO 0 and 3, beside DDP and FSDP

Contenders take turns in each round, on two cores; ratios are medians of the rounds' ratios. Prints JSON, and tables on stderr.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

import machine

sys.path.insert(0, machine.HERE)
TORCH = os.path.join(machine.HERE, "peers", "torch_ranks.py")
PYTHON = os.environ.get("DL_PEER_PYTHON", "/usr/bin/python3")
dltools = machine.dltools
ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
WIDE = """#include <dl/dl.h>
namespace nn = dl::nn;
namespace F = dl::F;
struct Layer : nn::Module {
  nn::Linear fc{@W@, @W@};
  dl::Tensor forward(dl::Tensor x) { return F::relu(fc(x)); }
};
struct Net : nn::Module {
  nn::Sequential h{@L@};
  dl::Tensor forward(dl::Tensor x) { return h(x); }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::TensorDataset({"x@W@.npy", "y@W@.npy"}, {.batch_size = p.arg("batch_size", 64), .drop_last = true});
  Net model;
  dl::optim::Adam optimizer(model.parameters(), {.lr = 0.0001});
  p.train(data, [&](dl::Batch b) -> dl::Metrics {
    auto loss = F::mse_loss(model(b[0]), b[1]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return {{"loss", loss}};
  });
}
"""


class Bench:
    def __init__(self, folder, rounds, seconds):
        self.folder, self.rounds, self.seconds = folder, rounds, seconds
        self.rows = []

    def example(self, name, tag, *options):
        plan = os.path.join(self.folder, f"{name}-{tag}.plan")
        dltools.dlcc(os.path.join(dltools.ROOT, "examples", name, name + ".dl"), "-o", plan, *options, cwd=self.folder)
        return plan

    def wide(self, width, layers, tag, *options):
        import numpy as np
        source = os.path.join(self.folder, f"wide{width}x{layers}.dl")
        with open(source, "w", encoding="utf-8") as file:
            file.write(WIDE.replace("@W@", str(width)).replace("@L@", ", ".join(["Layer{}"] * layers)))
        for name in "xy":
            path = os.path.join(self.folder, f"{name}{width}.npy")
            if not os.path.exists(path):
                np.save(path, np.random.default_rng(0).normal(size=(4096, width)).astype(np.float32))
        plan = os.path.join(self.folder, f"wide{width}x{layers}-{tag}.plan")
        dltools.dlcc(source, "-o", plan, *options, cwd=self.folder)
        return plan

    def dlrun(self, plan, *options, cores=2):
        """The bench event."""
        command = machine.pinned([dltools.DLRUN, "bench", plan, "--seconds", self.seconds, "--json", *options], cores)
        text = dltools.run(*command, cwd=self.folder, env=ENV)
        return next(event for event in map(json.loads, text.splitlines()) if event["event"] == "bench")

    def processes(self, plan, ranks, *options):
        return self.dlrun(plan, "-np", ranks, "--threads", "1", *options)

    def torch(self, model, batch, ranks, style="ddp"):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        runs = [subprocess.Popen(machine.pinned([PYTHON, TORCH, style, rank, ranks, port, 1, model, batch, self.seconds], 2),
                                 stdout=subprocess.PIPE, text=True) for rank in range(ranks)]
        texts = [run.communicate(timeout=280)[0] for run in runs]
        return json.loads(texts[0])

    def beside(self, what, ours, theirs, goal):
        """Both are functions that give milliseconds; their order turns."""
        pairs = []
        for round_ in range(self.rounds):
            if round_ % 2 == 0:
                own = ours()
                pairs.append((own, theirs()))
            else:
                other = theirs()
                pairs.append((ours(), other))
        ratios = sorted(other / own for own, other in pairs)
        ratio = machine.median(ratios)
        best = min(p[1] for p in pairs) / min(p[0] for p in pairs)
        self.add(what, ours_ms=machine.median([p[0] for p in pairs]), theirs_ms=machine.median([p[1] for p in pairs]),
                 ratio=ratio, best=best, least=ratios[0], most=ratios[-1], goal=goal, reached=ratio >= goal)

    def add(self, what, **row):
        self.rows.append({"what": what, **row})
        print("  " + what + ": " + ", ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()),
              file=sys.stderr, flush=True)


def ddp(bench):
    for name in ("mnist", "mnist_mlp"):
        plan = bench.example(name, "ddp", "--mesh", "dp=2", "-D", "batch_size=64")
        bench.beside(f"{name} dp=2 beside DDP", lambda: bench.processes(plan, 2)["median_ms"],
                     lambda: bench.torch(name, 64, 2)["median_ms"], 6.0)


def threads(bench):
    for name in ("mnist", "mnist_mlp"):
        many = bench.example(name, "many", "--mesh", "dp=2", "-D", "batch_size=256")
        one = bench.example(name, "one", "-D", "batch_size=256")
        bench.beside(f"{name} dp=2 beside two threads", lambda: bench.processes(many, 2)["median_ms"],
                     lambda: bench.dlrun(one, "--threads", "2")["median_ms"], 0.9)


def step_times(trace):
    """Milliseconds from one step's beginning to the next one's."""
    with open(trace, encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X" and "tiles" not in e["args"]]
    begins = sorted(event["ts"] for event in events)
    return [(end - begin) / 1e3 for begin, end in zip(begins[5:], begins[6:])]


def weak(bench):
    """What ranks exchange does not depend on the batch, so the larger one shows what grows with the work. Ranks wait for each other at
    each step: on cores whose speed varies that alone takes time, as much as the slower one of two independent steps is behind the mean."""
    for batch, options in ((128, ()), (512, ()), (2048, ()), (2048, ("--zero=1",))):
        one = bench.wide(512, 4, f"one{batch}", "-D", f"batch_size={batch}")
        two = bench.wide(512, 4, f"two{batch}", "-D", f"batch_size={2 * batch}", "--mesh", "dp=2", *options)
        waiting = []

        def independent():
            traces = [os.path.join(bench.folder, f"alone{number}.json") for number in range(2)]
            found = []
            runs = [threading.Thread(target=lambda trace=trace: found.append(bench.dlrun(one, "--threads", "1", "--trace", trace)["median_ms"]))
                    for trace in traces]
            for run in runs:
                run.start()
            for run in runs:
                run.join()
            times = [step_times(trace) for trace in traces]
            mean = sum(map(sum, times)) / sum(map(len, times))
            slower = [max(pair) for pair in zip(*times)]
            waiting.append(mean / (sum(slower) / len(slower)))
            return sum(found) / 2

        what = " ".join([f"weak scaling of a wide MLP, {batch} a rank", *options])
        bench.beside(what, lambda: bench.processes(two, 2)["median_ms"], independent, 0.95)
        bench.add(f"{what}: if ranks did nothing but wait for each other", ratio=machine.median(waiting), least=min(waiting), most=max(waiting))


def overlap(bench):
    """The time without communication is that of a link without latency; that of communication comes from the link's speed."""
    plan = bench.wide(512, 4, "link", "-D", "batch_size=256", "--mesh", "dp=2")
    free, values = bench.dlrun(plan, "--threads", "2"), []
    backward = free["median_ms"] * 2 / 3
    for _ in range(bench.rounds):
        own = bench.dlrun(plan, "--threads", "2")
        # As fast as the exchange of all bytes takes half of the backward.
        bandwidth = own["comm_bytes"] / (backward * 0.5e-3)
        slow = bench.dlrun(plan, "--threads", "2", "--link", f"latency=20us,bandwidth={bandwidth / 1e9:.4f}GB/s")
        alone = own["comm_bytes"] / bandwidth * 1e3
        values.append(1 - (slow["median_ms"] - own["median_ms"]) / min(alone, backward))
    share = machine.median(values)
    bench.add("overlap on a link", share=share, least=min(values), most=max(values), goal=0.8, reached=share >= 0.8)


def idle_share(trace):
    """Of two ranks with a thread each: what no command takes of the time from one step's beginning on rank 0 to the next one's; and
    what of it would be left if the rank whose commands took longer in that step never waited."""
    with open(trace, encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X" and e["tid"] == 0]
    busy, begin = {}, {}
    for event in events:
        run = event["args"]["run"]
        busy.setdefault(run, [0, 0])[event["pid"] - 1] += event["dur"]
        if event["pid"] == 1:
            begin[run] = min(begin.get(run, event["ts"]), event["ts"])
    runs = [run for run in sorted(begin)[5:] if run + 1 in begin]
    period = {run: begin[run + 1] - begin[run] for run in runs}
    return (machine.median([1 - sum(busy[run]) / (2 * period[run]) for run in runs]),
            machine.median([(max(busy[run]) - min(busy[run])) / (2 * period[run]) for run in runs]))


def bubble(bench):
    """As two processes with a core each, by their trace, beside the figure that the plan's timeline prints. Fewer micro-batches
    idle more, and what cores that are never equally fast add to it is the same."""
    cases = [(schedule, number) for number in (1, 2) for schedule in ("gpipe", "1f1b")]
    cases += [(schedule, 4) for schedule in ("gpipe", "1f1b", "interleaved", "zb-h1", "zb-v")]
    for schedule, number in cases:
        tag = f"{schedule}-{number}"
        picture, trace = (os.path.join(bench.folder, tag + ending) for ending in (".svg", ".json"))
        plan = bench.wide(512, 8, tag, "-D", f"batch_size={64 * number}", "--mesh", "pp=2", f"--microbatches={number}",
                          f"--schedule={schedule}", f"--emit=timeline.svg={picture}")
        with open(picture, encoding="utf-8") as file:
            predicted = float(re.search(r"step after step: .*, idle ([\d.]+) %", file.read())[1]) / 100
        shares, uneven = [], []
        for _ in range(bench.rounds):
            bench.processes(plan, 2, "--steps", "100", "--trace", trace)
            share, of_cores = idle_share(trace)
            shares.append(share)
            uneven.append(of_cores)
        share = machine.median(shares)
        bench.add(f"bubble of {schedule}, {number} micro-batches", share=share, predicted=predicted, least=min(shares), most=max(shares),
                  uneven=machine.median(uneven), reached=abs(share - predicted) <= 0.1 * predicted)


def states(bench):
    """Elements of Adam's MLP: parameters P, slots 2 P and gradients P; the formula divides what the stage divides by 4."""
    width, layers, ranks = 512, 8, 4
    parameters = layers * (width * width + width) * 4
    for stage in range(4):
        plan = bench.wide(width, layers, f"zero{stage}", "-D", "batch_size=64", "--mesh", f"dp={ranks}", f"--zero={stage}", "--accumulate=4")
        info = json.loads(dltools.run(dltools.DLRUN, "info", plan, "--json", cwd=bench.folder))
        parts = [ranks if stage >= least else 1 for least in (3, 1, 2)]  # the stage from which each is divided
        expected = parameters / parts[0] + 2 * parameters / parts[1] + parameters / parts[2]
        found = max(sum(plan["state_bytes"].values()) for plan in info["plans"])
        bench.add(f"states of a rank, ZeRO {stage}", bytes=found, formula=expected, ratio=found / expected,
                  reached=abs(found / expected - 1) <= 0.01)


def rss(bench):
    """200 MB of parameters: 8 layers of 2560 x 2560."""
    width, layers = 2560, 8
    found = {}
    for stage in (0, 3):
        plan = bench.wide(width, layers, f"rss{stage}", "-D", "batch_size=16", "--mesh", "dp=4", f"--zero={stage}")
        found[stage] = bench.dlrun(plan, "-np", 4, "--threads", "1", "--seconds", "0.2")["peak_rss_bytes"] / 1e6
    ddp, fsdp = (bench.torch(f"wide:{width}:{layers}", 16, 4, style) for style in ("ddp", "fsdp"))
    saved = 1 - found[3] / found[0]
    bench.add("peak memory of a rank in MB", zero0=found[0], zero3=found[3], ddp=ddp["rss_mb"], fsdp=fsdp["rss_mb"],
              torch_before=ddp["rss_before_mb"], saved=saved, goal=0.6, reached=saved >= 0.6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--only", default="ddp,threads,weak,overlap,bubble,states,rss")
    arguments = parser.parse_args()
    about = machine.describe()
    began = time.monotonic()
    with machine.scratch() as folder:
        bench = Bench(folder, arguments.rounds, arguments.seconds)
        for name in arguments.only.split(","):
            {"ddp": ddp, "threads": threads, "weak": weak, "overlap": overlap, "bubble": bubble, "states": states, "rss": rss}[name](bench)
    print(json.dumps({"bench": "ranks", **about, "rounds": arguments.rounds, "seconds": time.monotonic() - began, "rows": bench.rows}))


if __name__ == "__main__":
    main()
