#!/usr/bin/python3
"""Milliseconds a step of each port and of its twin in PyTorch, in turns on the same pinned cores.

    test/ports/bench.py [PORT...] [--threads 1,2] [--rounds 5] [--seconds 1] [--eager] [--cpu]

f32, the sizes that stand in the ports. PyTorch is that of this Python (DL_PEER_PYTHON names another one: Debian's multiplies
matrices with the reference BLAS, and 1.13 has no torch.compile), eager, and with its modules compiled (torch.compile), if it can
and unless --eager is said. What it compiles, it has compiled in a round before the first. `ratio` is the median of the rounds' ratios, the better of PyTorch's times over ours: more than 1 is faster. JSON on stdout;
--readme FILE also writes a table between that file's `bench` marks. --cpu: on a machine with other work, with one thread:
the processor time of a step instead of the wall clock's, which short steps get between the others' turns and long ones do not.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "bench")]

import machine  # noqa: E402
from ports import ours  # noqa: E402
from ports.cases import BY_NAME  # noqa: E402

PYTHON = os.environ.get("DL_PEER_PYTHON", sys.executable)
WARM_UP = 3


def child(name, threads, mode, clock):
    """Trains for as many seconds as each line of stdin says, and answers with the median time of a step."""
    from ports import twins
    torch = twins.torch
    torch.set_num_threads(threads)

    class Timed(twins.Run):
        until, began, times = -1.0, 0.0, []

        def model(self, module, name=None):
            module = super().model(module, name)
            if mode == "compile":
                module.compile()  # calls of it, whoever holds it
            return module

        def step_begins(self):
            now = clock()
            self.times += [now - self.began] if self.began else []
            if time.perf_counter() > self.until and len(self.times) >= WARM_UP:
                print(json.dumps({"median_ms": 1e3 * statistics.median(self.times), "torch": torch.__version__}), flush=True)
                line = sys.stdin.readline()
                if not line:
                    sys.exit()
                self.times, self.until = [], time.perf_counter() + float(line)
            self.began = clock()

        def log(self, step=None, **metrics):
            pass

        def evaluated(self, name, **metrics):
            self.began = 0.0  # what lies between was no step

    run = Timed(BY_NAME[name], torch.float32, small=False)
    run.epochs = 10 ** 9
    while True:  # main() may end by itself
        run.models = {}
        run.train()


class Peer:
    def __init__(self, name, threads, mode, cpu):
        command = machine.pinned([PYTHON, os.path.abspath(__file__), "--child", name, threads, mode,
                                  "process_time" if cpu else "perf_counter"], threads)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        self.version = self.answer()["torch"]
        self.measure(0)  # whatever it compiles for other sizes of a batch

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.end()
            raise RuntimeError(f"PyTorch ended with exit code {self.process.returncode}")
        return json.loads(line)

    def measure(self, seconds):
        print(seconds, file=self.process.stdin, flush=True)
        return self.answer()["median_ms"]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def processor_ms(folder, seconds):
    """Of a step on one thread: of so many steps more, the processor time more."""
    def used(steps):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        event = machine.bench("port.plan", 1, "--steps", steps, cwd=folder, seconds=60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, event["median_ms"]
    few = 5
    short, ms = used(few)
    many = few + max(5, int(1e3 * seconds / ms))
    return 1e3 * (used(many)[0] - short) / (many - few)


def compare(name, threads, options, folder):
    peers = {"eager": Peer(name, threads, "eager", options.cpu)}
    if not options.eager and int(peers["eager"].version.split(".")[0]) >= 2:
        try:
            peers["compile"] = Peer(name, threads, "compile", options.cpu)
        except RuntimeError:  # of one that it does not compile
            print(f"{name}: torch.compile fails", file=sys.stderr)
    mine, theirs = [], {mode: [] for mode in peers}
    for _ in range(options.rounds):
        if options.cpu:
            mine.append(processor_ms(folder, options.seconds))
        else:
            mine.append(machine.bench("port.plan", threads, cwd=folder, seconds=options.seconds)["median_ms"])
        for mode, peer in peers.items():
            theirs[mode].append(peer.measure(options.seconds))
    for peer in peers.values():
        peer.end()
    best = [min(times) for times in zip(*theirs.values())]
    return {"port": name, "threads": threads, "ours_ms": machine.median(mine),
            **{f"{mode}_ms": machine.median(times) for mode, times in theirs.items()},
            "ratio": machine.median(t / o for o, t in zip(mine, best)), "torch": peers["eager"].version}


def modes_of(rows):
    return [mode for mode in ("eager", "compile") if any(f"{mode}_ms" in row for row in rows)]


def write_readme(path, result):
    """One line a port, with one and with two threads beside each other."""
    rows, threads = result["rows"], sorted({row["threads"] for row in result["rows"]})
    modes = modes_of(rows)
    header = ["ms a step"] + [f"{who}, {n}" for n in threads for who in ["dlrun", *modes, "ratio"]]
    lines = [header, ["---"] + ["---:"] * (len(header) - 1)]
    for name in dict.fromkeys(row["port"] for row in rows):
        own = {row["threads"]: row for row in rows if row["port"] == name}
        lines.append([name] + [f"{own[n][key]:.3g}" if key in own[n] else "fails" for n in threads for key in ["ours_ms", *[m + "_ms" for m in modes], "ratio"]])
    about = (f"{result['date']}, {result['cpu']}, {result['cores']} cores, others at work on them (load {result['load_at_start']:.0f}); "
             f"PyTorch {rows[0]['torch']}; medians of {result['rounds']} rounds in turns{', processor time' if result['cpu_time'] else ''}.")
    table = about + "\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, after = text.split("<!-- bench -->")[0], text.split("<!-- /bench -->")[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}<!-- bench -->\n{table}\n<!-- /bench -->{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ports", nargs="*", default=[])
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--eager", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--readme")
    options = parser.parse_args()
    if options.cpu:
        options.threads = "1"
    rows = []
    for name in options.ports or BY_NAME:
        with machine.scratch() as folder:
            ours.write(BY_NAME[name], folder, small=False)
            machine.dltools.dlcc("model.dl", "-o", "port.plan", cwd=folder)
            for threads in map(int, options.threads.split(",")):
                rows.append(compare(name, threads, options, folder))
                row = rows[-1]
                times = ", ".join(f"{mode} {row[mode + '_ms']:.3g} ms" for mode in modes_of([row]))
                print(f"{name}, {threads}: {row['ours_ms']:.3g} ms, PyTorch {times}, {row['ratio']:.2f}", file=sys.stderr, flush=True)
    modes = modes_of(rows)
    machine.table("ports, ms a step", ["port", "threads", "dlrun", *(f"PyTorch {mode}" for mode in modes), "ratio to its best"],
                  [[r["port"], r["threads"], r["ours_ms"], *(r.get(mode + "_ms", "fails") for mode in modes), r["ratio"]] for r in rows])
    result = {**machine.describe(), "date": time.strftime("%Y-%m-%d"), "rounds": options.rounds, "cpu_time": options.cpu, "rows": rows}
    json.dump(result, sys.stdout, indent=1)
    print()
    if options.readme:
        write_readme(options.readme, result)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), sys.argv[4], getattr(time, sys.argv[5]))
    else:
        main()
