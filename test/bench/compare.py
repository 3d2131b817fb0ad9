#!/usr/bin/python3
"""The same work by PyTorch, JAX and this compiler, in turns on the same pinned cores.

    DL_PEER_PYTHON=/path/to/venv/bin/python test/bench/compare.py [--only steps|matmul|job] [--rounds 7] [--threads 1,2]

steps   whole training steps: PyTorch eager, torch.compile, both with channels_last, jax.jit, dlrun bench. After the timed
        steps all start again from the same weights and batch, without dropout, and must agree on the loss after 20
        steps, of ResNet-18 after 3. Models in bf16 are torch.autocast's there, and `of peak` is of f32's peak. The peak resident memory of each stands in a table of its own.
matmul  torch.mm against a product of two states in a plan, in the order and layout that the step has them, in 5 x ROUNDS
        rounds. Whoever shares a core takes up to a third of such loops, for seconds: `ratio` is the median of the rounds'
        ratios.
job     the whole of examples/mnist, compile included, against the same in PyTorch with its DataLoader, in 3 rounds, with the
        accuracies that both reach; and from exec to the end of the first step.

`ratio` is the best peer's time over ours. DL_PEER_PYTHON is a Python with torch (and jax); DL_DATA has real MNIST, else the
drawn one is taken. JSON on stdout; --readme FILE also writes the tables between that file's `compare` marks.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np

import machine
import matmul
from e2e import support
from numpy_twin import safetensors
from peer import Peer, script

STEPS = [("convnet", 4), ("convnet", 64), ("mlp", 64), ("transformer-256", 8), ("transformer-1024", 2),
         ("transformer-1024-checkpoint", 2), ("resnet18", 8), ("resnet18", 32), ("convnet-bf16", 64), ("mlp-bf16", 64), ("transformer-256-bf16", 8),
         ("resnet18-bf16", 8), ("resnet18-bf16", 32), ("lstm-128", 16), ("lstm-1024", 16)]
SHAPES = ["512x512x512", "1024x1024x1024", "64x128x784", "64x64x128", "2048x1152x384", "2048x384x1536", "100x65x37",
          "2048x1536x384", "2048x65x384", "2048x1024x256", "32x1024x256", "16384x64x576", "1024x512x4608"]
MODES = {"eager": "PyTorch eager", "channels_last": "channels_last", "compile": "torch.compile",
         "compile_channels_last": "compile, channels_last", "jit": "jax.jit"}
JOB_ROUNDS = 3


def length_of(model):
    """Characters in a sequence of a transformer or of an LSTM, else 0."""
    return int(model.split("-")[1]) if model.startswith(("transformer-", "lstm-")) else 0


def depth_of(model):
    """Blocks of a transformer; more of them where each is a checkpoint, whose values the backward computes again. An
    LSTM has one layer."""
    return 1 if model.startswith("lstm") else 6 if model.endswith("-checkpoint") else 2


def has_dropout(model):
    return model.startswith(("convnet", "mlp"))


def loss_steps(model, batch):
    """Batch statistics make of last bits more at each step, those of few images most: of 8 PyTorch's own two orders of
    memory are 3e-4 apart in the third step."""
    return (2 if batch < 32 else 3) if model.startswith("resnet18") else 20


def tolerance_of(model):
    """Relative, of losses. bf16 rounds by up to 2^-8, at other places than autocast does."""
    return 2**-8 if model.endswith("-bf16") else 1e-4


def draw(folder, model):
    """Weights for everybody; those of a transformer, of an LSTM and of ResNet-18 are its plan's."""
    if not has_dropout(model):
        machine.dltools.dlrun("plain.plan", "--steps", 0, "-q", "--save-final", "weights.safetensors", cwd=folder)
        np.savez(os.path.join(folder, "weights.npz"), **safetensors.load(os.path.join(folder, "weights.safetensors")))
        return
    random = np.random.default_rng(1)
    shapes = {"convnet": {"conv1": (10, 1, 5, 5), "conv2": (20, 10, 5, 5), "fc1": (50, 320), "fc2": (10, 50)},
              "mlp": {"fc1": (128, 784), "fc2": (64, 128), "fc3": (10, 64)}}[model.split("-")[0]]
    weights = {}
    for name, shape in shapes.items():
        bound = 1 / np.sqrt(np.prod(shape[1:]))
        weights[name + ".weight"] = random.uniform(-bound, bound, shape).astype(np.float32)
        weights[name + ".bias"] = random.uniform(-bound, bound, shape[:1]).astype(np.float32)
    np.savez(os.path.join(folder, "weights.npz"), **weights)
    safetensors.save(os.path.join(folder, "weights.safetensors"), weights)


def our_plans(folder, model, batch):
    random, length = np.random.default_rng(2), length_of(model)
    image = (3, 32, 32) if model.startswith("resnet18") else (1, 28, 28)
    x = np.eye(65)[random.integers(0, 65, (batch, length))] if length else random.standard_normal((batch, *image))
    np.save(os.path.join(folder, "x.npy"), x.astype(np.float32))
    np.save(os.path.join(folder, "y.npy"), random.integers(0, 65, (batch, length)) if length else random.integers(0, 10, batch))
    source = os.path.join(machine.HERE, "models", model.split("-")[0] + ".dl")
    settings = ["-D", f"batch_size={batch}"] + (["-D", f"length={length}", "-D", f"depth={depth_of(model)}"] if length else [])
    if model.endswith("-checkpoint"):
        settings.append("--recompute=blocks.*")
    if model.endswith("-bf16"):
        settings.append("--dtype=bf16")
    started = time.perf_counter()
    machine.dltools.dlcc(source, *settings, "-o", "ours.plan", cwd=folder)
    compile_s = time.perf_counter() - started
    plain = ["-D", "dropout=0"] if has_dropout(model) else []
    machine.dltools.dlcc(source, *settings, *plain, "-o", "plain.plan", cwd=folder)
    return compile_s


def our_loss(folder, model, batch, threads):
    command = [machine.dltools.DLRUN, "plain.plan", "--init", "weights.safetensors", "--data", ".", "--epochs", loss_steps(model, batch),
               "--threads", threads, "--json"]
    events = map(json.loads, machine.dltools.run(*machine.pinned(command, threads), cwd=folder).splitlines())
    return [e["loss"] for e in events if e["event"] == "step"][-1]


def check_losses(row, folder, peers):
    row["losses"] = {"ours": our_loss(folder, row["model"], row["batch"], row["threads"])}
    for peer in peers:
        row["losses"][peer.name] = peer.ask(f"loss {loss_steps(row['model'], row['batch'])}")["loss"]
    values = list(row["losses"].values())
    if not max(values) - min(values) <= tolerance_of(row["model"]) * max(values):
        raise SystemExit(f"the contenders disagree: {row['losses']}")


def resnet18_layers():
    """Multiplications of each convolution and of the last layer, for an image of 32 x 32."""
    layers, channels, side = [32 * 32 * 64 * 27], 64, 32
    for width in (64, 128, 256, 512):
        side //= 1 if width == 64 else 2
        layers += [side**2 * width * 9 * channels, *[side**2 * width * 9 * width] * 3]
        if width != channels:
            layers.append(side**2 * width * channels)
        channels = width
    return [*layers, 512 * 10]


def step_flops(model, batch):
    """What the step needs: the forward, the gradient of every weight and of every layer's input but the first one's. Not
    what kernels do, who may also multiply padding."""
    length = length_of(model)
    if model.startswith("lstm"):
        width, vocabulary = 128, 65
        return 2 * batch * length * (3 * (4 * width * (vocabulary + width) + width * vocabulary) - 4 * width * vocabulary)
    if length:
        width, depth, vocabulary = 384, depth_of(model), 65
        layers = depth * (12 * width * width + 2 * width * (length + 1) / 2) + 2 * vocabulary * width
        return 2 * batch * length * (3 * layers - vocabulary * width)
    layers = {"convnet": [24 * 24 * 10 * 25, 8 * 8 * 20 * 250, 320 * 50, 50 * 10],
              "mlp": [784 * 128, 128 * 64, 64 * 10], "resnet18": resnet18_layers()}[model.split("-")[0]]
    return 2 * batch * (3 * sum(layers) - layers[0])


def compare_step(folder, model, batch, threads, rounds, seconds, peak):
    row = {"model": model, "batch": batch, "threads": threads, "compile_s": our_plans(folder, model, batch)}
    draw(folder, model)
    modes = [mode for mode in MODES if model.startswith(("convnet", "resnet18")) or not mode.endswith("channels_last")]
    if not has_dropout(model) or model.endswith("-bf16"):
        modes.remove("jit")  # jax_peer.py has none
    scripts = {"jit": "jax_peer.py"}
    peers = Peer.present([Peer(mode, threads, script(scripts.get(mode, "torch_peer.py"), model, batch, threads, mode, folder))
                          for mode in modes])
    ours, rss = [], []
    for _ in range(rounds):
        event = machine.bench("ours.plan", threads, cwd=folder, seconds=seconds)
        ours.append(event["median_ms"])
        rss.append(event["peak_rss_bytes"] * 1e-6)
        for peer in peers:
            peer.measure(seconds)
    check_losses(row, folder, peers)
    for peer in peers:
        peer.end()
    flops = step_flops(model, batch)
    row["ours_ms"] = machine.median(ours)
    row["peers_ms"] = {p.name: machine.median(p.times) for p in peers}
    row["rss_mb"] = {"ours": max(rss), **{p.name: p.rss_mb for p in peers}}
    row["versions"] = {p.name: p.version for p in peers}
    row["best"] = min(row["peers_ms"], key=row["peers_ms"].get)
    row["ratio"] = row["peers_ms"][row["best"]] / row["ours_ms"]
    row["of_peak"] = flops / (row["ours_ms"] * 1e6) / (peak.measure() * threads)
    return row


def steps(options, folder, peak):
    rows = [compare_step(folder, model, batch, threads, options.rounds, options.seconds, peak)
            for threads in options.threads for model, batch in STEPS if options.models in model]
    machine.table("training steps, ms", ["model", "batch", "threads", "ours", *MODES, "ratio", "of peak"],
                  [[r["model"], r["batch"], r["threads"], r["ours_ms"], *[r["peers_ms"].get(n, "-") for n in MODES], r["ratio"],
                    r["of_peak"]] for r in rows])
    machine.table("peak resident memory, MB", ["model", "batch", "threads", "ours", *MODES],
                  [[r["model"], r["batch"], r["threads"], *memory(r, ["ours", *MODES])] for r in rows])
    return rows


def memory(row, names):
    return [round(row["rss_mb"][n]) if n in row["rss_mb"] else "-" for n in names]


def matmuls(options, folder, peak):
    np.save(os.path.join(folder, "x.npy"), np.ones((8, 1), np.float32))
    peer, rows = Peer("torch.mm", 1, script("torch_mm.py", 1)), []
    for shape in SHAPES:
        m, n, k = map(int, shape.split("x"))
        for kind in ("NN", "NT", "TN"):
            plan = matmul.write_model(folder, m, n, k, kind)["plan"]
            ours, theirs, peaks = [], [], []
            for _ in range(5 * options.rounds):
                ours.append(machine.bench(plan, 1, cwd=folder, seconds=options.seconds / 10)["median_ms"])
                theirs.append(peer.ask(f"{m} {n} {k} {kind} {options.seconds / 10}")["median_ms"])
                peaks.append(peak.measure())
            row = {"shape": shape, "kind": kind, "ours_ms": machine.median(ours), "torch_ms": machine.median(theirs)}
            gflops = 2e-6 * m * n * k / machine.median(peaks)
            # Of each round, for the machine changes between them.
            row["ratio"] = machine.median(t / o for o, t in zip(ours, theirs))
            row["of_peak"] = gflops / row["ours_ms"]
            row["torch_of_peak"] = gflops / row["torch_ms"]
            rows.append(row)
    peer.end()
    machine.table("matrix products, one core", ["MxNxK", "kind", "ours ms", "torch.mm ms", "ratio", "of peak", "torch's"],
                  [list(r.values()) for r in rows])
    return rows


def timed(command, **options):
    """Seconds of a command from exec to its end, and what it printed."""
    started = time.perf_counter()
    done = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **options)
    return time.perf_counter() - started, done.stdout


def first_step(options, threads, folder, data, peer, environment):
    command = machine.pinned([machine.dltools.DLRUN, "job.plan", "--data", data, "--threads", threads, "--steps", 1, "--every", "eval=0"], threads)
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(timed(command, cwd=folder)[0])
        theirs.append(timed(machine.pinned([*peer, 0, threads], threads), env=environment)[0])
    return machine.median(ours), machine.median(theirs)


def job(options, folder, peak):
    data = os.path.join(os.environ["DL_DATA"], "mnist") if "DL_DATA" in os.environ else support.fake_mnist()
    peer = script("torch_mnist.py", data)
    rows = []
    for threads in options.threads:
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        compiler = machine.pinned([machine.dltools.DLCC, support.example("mnist"), "-o", "job.plan"], threads)
        train = [machine.dltools.DLRUN, "job.plan", "--data", data, "--threads", threads, "--epochs", 2, "--json"]
        compiles, ours, theirs = [], [], []
        for turn in range(JOB_ROUNDS):
            fresh = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, f"cache-{threads}-{turn}")}
            compiles.append(timed(compiler, cwd=folder, env=fresh)[0])
            seconds, said = timed(machine.pinned(train, threads), cwd=folder)
            ours.append(compiles[-1] + seconds)
            accuracy = [e["accuracy"] for e in map(json.loads, said.splitlines()) if "accuracy" in e][-1]
            seconds, said = timed(machine.pinned([*peer, 2, threads], threads), env=environment)
            theirs.append(seconds)
            their_accuracy = float(said.split()[-1])
            if abs(accuracy - their_accuracy) > 0.01:
                raise SystemExit(f"the contenders disagree: accuracy {accuracy} and {their_accuracy}")
        pairs = {"job": (machine.median(ours), machine.median(theirs)),
                 "first step": first_step(options, threads, folder, data, peer, environment)}
        rows += [{"threads": threads, "what": what, "ours": mine, "torch": other, "ratio": other / mine}
                 for what, (mine, other) in pairs.items()]
        rows.append({"threads": threads, "what": "dlcc", "ours": machine.median(compiles), "torch": "-", "ratio": "-"})
        rows.append({"threads": threads, "what": "test accuracy", "ours": accuracy, "torch": their_accuracy, "ratio": "-"})
    machine.table("examples/mnist from start to end, seconds", ["threads", "what", "ours", "torch", "ratio"],
                  [list(r.values()) for r in rows])
    return rows


def markdown(result):
    """The tables of README.md."""
    def rows(header, lines):
        cells = [header, ["---"] + ["---:"] * (len(header) - 1)]
        cells += [[f"{c:.3g}" if isinstance(c, float) else str(c) for c in line] for line in lines]
        return "\n".join("| " + " | ".join(line) + " |" for line in cells)

    versions = result["steps"][0]["versions"]
    about = (f"{result['date']}, {result['cpu']}, {result['cores']} cores, FMA peak {result['peak_gflops']:.0f} GFLOP/s a core; "
             f"medians of {result['rounds']} rounds in turns.")
    return "\n\n".join([
        f"{about} PyTorch {versions.get('eager', '-')}, JAX {versions.get('jit', '-')}.",
        rows(["ms a step, batch, threads", "dlrun", *MODES.values(), "best peer / dlrun", "of peak"],
             [[f"{r['model']} {r['batch']}, {r['threads']}", r["ours_ms"], *[r["peers_ms"].get(n, "-") for n in MODES],
               r["ratio"], r["of_peak"]] for r in result["steps"]]),
        rows(["peak memory in MB, batch, threads", "dlrun", *MODES.values()],
             [[f"{r['model']} {r['batch']}, {r['threads']}", *memory(r, ["ours", *MODES])] for r in result["steps"]]),
        rows(["examples/mnist, seconds, threads", "dlcc + dlrun", "PyTorch", "ratio"],
             [[f"{r['what']}, {r['threads']}", r["ours"], r["torch"], r["ratio"]] for r in result["job"]]),
        rows(["MxNxK on one core, ms", "kind", "dlrun", "torch.mm", "ratio", "of peak"],
             [[r["shape"], r["kind"], r["ours_ms"], r["torch_ms"], r["ratio"], r["of_peak"]] for r in result["matmul"]])])


def write_readme(path, result):
    begin, end = "<!-- compare -->", "<!-- /compare -->"
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(begin)
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + begin + "\n" + markdown(result) + "\n" + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["steps", "matmul", "job"])
    parser.add_argument("--models", default="", metavar="PART", help="just steps of models whose names have this in them")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    parser.add_argument("--readme")
    options = parser.parse_args()
    if options.readme and (options.only or options.models):
        parser.error("--readme writes all tables anew; leave --only and --models out")
    options.threads = [n for n in options.threads if n <= len(os.sched_getaffinity(0))]
    result = {"bench": "compare", **machine.describe(), "date": time.strftime("%Y-%m-%d"), "rounds": options.rounds}
    with machine.scratch() as folder:
        peak = machine.Peak(folder)
        result["peak_gflops"] = peak.measure()
        for name, measure in (("steps", steps), ("matmul", matmuls), ("job", job)):
            if options.only in (None, name):
                result[name] = measure(options, folder, peak)
    print(json.dumps(result))
    if options.readme:
        write_readme(options.readme, result)


if __name__ == "__main__":
    main()
