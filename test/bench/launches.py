#!/usr/bin/python3
"""Launches of a training step on a GPU, and the bytes they read and write, beside PyTorch's: counted from plans and graphs, without a GPU.

    DL_PEER_PYTHON=/path/to/venv/bin/python test/bench/launches.py [--only NAME,...]

ours      the commands of the train step's program for full batches in a plan for CUDA (`dlrun info --json`): kernels, products left to
          cuBLASLt, and copies. Bytes are what the plan says that a launch reads and writes, each element once. What blocks leave in scratch
          memory for the last of them, who reads it, stands in a column of its own, and not in the ratio: of libraries it is not known.
eager     ops that PyTorch dispatches in a step that would be launches on CUDA; the optimizer is the fused one. Bytes are those of each op's
          operands and results.
inductor  what Inductor's scheduler launches for the step's forward, backward and optimizer, of which the one with fewer launches is taken,
          compiled or fused eagerly. Bytes are the scheduler's own count.

How the others are counted stands in peers/torch_launches.py and peers/inductor.py. Where it is not sure what a GPU would do, the count is
the lower one for them: an op is one launch, though some are two or three; cuDNN's workspaces and conversions of layouts are not counted. On the
other hand max-autotune may join products with what is computed on them, which only a GPU can find to be faster. Nobody's copies of the
batch to the GPU and of the loss back are counted. Ours decodes MNIST's pixels and checks labels in the step, the others are given ready
images. Models for a mesh are counted on one device, from the same text without its mesh. Launches and bytes are no times.

DL_PEER_PYTHON is a Python with PyTorch 2; with an older one Inductor's columns are empty. JSON on stdout, a table on stderr;
--readme FILE also writes the table between that file's `launches` marks.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time

import machine

sys.path.insert(0, os.path.join(os.path.dirname(machine.HERE), "gpu"))
from cases import BY_NAME  # noqa: E402

PYTHON = os.environ.get("DL_PEER_PYTHON", sys.executable)
PEER = os.path.join(machine.HERE, "peers", "torch_launches.py")


def rows_of(*shapes):
    """Of a batch: float32 unless the shape is followed by another type."""
    return [shape if isinstance(shape[0], tuple) else (shape, "float32") for shape in shapes]


def parity(name, *shapes, **arguments):
    return {"parity": "examples/" + name, "arguments": arguments, "batch": rows_of(*shapes)}


def network(source, dropout, *shapes, **settings):
    return {"source": source, "settings": settings, "dropout": dropout, "batch": rows_of(*shapes)}


def labels(*shape):
    return (shape, "int64")


# Ours, as test/gpu has it, and the same network of test/parity or test/gpu/peers in PyTorch.
MODELS = {
    "linear": ("linear", parity("linear", (16, 10), (16, 1))),
    "two_parts": ("two_parts", parity("two_parts", (16, 10), (16, 1))),
    "mlp_mesh": ("mlp_mesh", parity("mlp_mesh", (48, 10), (48, 1))),
    "parallel_ops": ("parallel_ops", parity("parallel_ops", *[(256, 1024)] * 3, width=1024)),
    "chained": ("chained", parity("chained", *[(256, 1024)] * 3, width=1024)),
    "mnist_mlp": ("mnist_mlp", parity("mnist_mlp", (64, 1, 28, 28), labels(64))),
    "mnist": ("mnist", network("convnet", 0.5, (4, 1, 28, 28), labels(4))),
    "gpt": ("gpt", parity("gpt", labels(16, 64), labels(16, 64), length=64, depth=4, heads=4, width=128, dropout=0.1, plain=True)),
    "convnet 64": ("convnet-64", network("convnet", 0.5, (64, 1, 28, 28), labels(64))),
    "mlp 64": ("mlp-64", network("mlp", 0.0, (64, 1, 28, 28), labels(64))),
    "resnet18 128": ("resnet18-128", network("resnet18", 0.0, (128, 3, 32, 32), labels(128), width=64)),
    "transformer 32": ("transformer-32", network("transformer", 0.0, (32, 256, 65), labels(32, 256), width=384, heads=6, length=256, depth=6)),
}


def without_mesh(text):
    return re.sub(r"^ *dl::(Mesh|parallel::).*\n", "", text, flags=re.M)


def plain(text):
    """Without clipping and schedules, which cut PyTorch's step into more graphs than are counted."""
    return re.sub(r"^.*(clip_grad_norm_|lr_scheduler::|scheduler\.step).*\n", "", text, flags=re.M)


def count_commands(info):
    """Of the program for full batches of the first step that trains; of the first class of ranks."""
    step = next(step for step in info["steps"] if step["training"])
    count = {"launches": 0, "bytes": 0, "scratch_bytes": 0, "kinds": {}}
    for command in step["programs"][0]["commands"]:
        count["launches"] += 1
        count["kinds"][command["kind"]] = count["kinds"].get(command["kind"], 0) + 1
        if "kernel" in command:
            kernel = info["kernels"][command["kernel"]]
            count["bytes"] += kernel["bytes"]
            count["scratch_bytes"] += 2 * kernel["scratch_bytes"]
        else:
            count["bytes"] += sum(access["bytes"] for access in command["accesses"])
    return count


def ours(case, folder):
    """Kernels are not compiled: the commands are those of any architecture."""
    os.makedirs(folder)
    with open(case.model(folder), encoding="utf-8") as file:
        text = plain(without_mesh(file.read()))
    case.make_data(os.path.join(folder, "data"))
    data = os.path.join(folder, "data")
    with open(os.path.join(data if os.path.isdir(data) else folder, "model.dl"), "w", encoding="utf-8") as file:
        file.write(text)
    plan = os.path.join(folder, "model.plan")
    machine.dltools.run(machine.dltools.DLCC, file.name, *case.defines(), "--target=cuda:source", "-o", plan, cwd=os.path.dirname(file.name))
    info = machine.dltools.info(plan)
    if len(info["plans"]) > 1:
        raise SystemExit(f"{case.source}: the text names a mesh in other words")
    return count_commands(info)


def theirs(specs, folder):
    """By name; empty where that Python has no PyTorch."""
    path = os.path.join(folder, "specs.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(specs, file)
    done = subprocess.run([PYTHON, PEER, path], capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    found = {row["name"]: row for row in map(json.loads, filter(lambda line: line.startswith("{"), done.stdout.splitlines()))}
    if done.returncode:
        print(f"PyTorch: {(done.stderr.strip().splitlines() or ['?'])[-1]}", file=sys.stderr)
    return found


def with_fewer_launches(inductor, eager):
    """Inductor's step with its own optimizer or with PyTorch's fused one."""
    optimizer = inductor["parts"]["optimizer"]
    if eager["optimizer"]["launches"] >= optimizer["launches"]:
        return inductor
    return {**inductor, **{key: inductor[key] - optimizer[key] + eager["optimizer"][key] for key in ("launches", "bytes")}}


def measure(names):
    rows = []
    with machine.scratch() as folder:
        peers = theirs({name: MODELS[name][1] for name in names}, folder)
        for number, name in enumerate(names):
            peer = peers.get(name, {})
            row = {"model": name, "ours": ours(BY_NAME[MODELS[name][0]], os.path.join(folder, str(number)))}
            row |= {"eager": peer.get("eager"), "inductor": peer.get("inductor"), "version": peer.get("version")}
            if row["inductor"]:
                row["inductor"] = with_fewer_launches(row["inductor"], row["eager"])
            best = {key: min(row[who][key] for who in ("eager", "inductor") if row[who]) for key in ("launches", "bytes") if row["eager"]}
            row["ratio"] = {key: value / row["ours"][key] for key, value in best.items()}
            rows.append(row)
    return rows


def cells(row, scale=1e-6):
    who = [row["ours"], row["eager"], row["inductor"]]
    return [row["model"], *[count["launches"] if count else "-" for count in who], row["ratio"].get("launches", "-"),
            *[count["bytes"] * scale if count else "-" for count in who], row["ratio"].get("bytes", "-"), row["ours"]["scratch_bytes"] * scale]


COLUMNS = ["model", "ours", "eager", "inductor", "ratio", "ours MB", "eager MB", "inductor MB", "ratio of MB", "ours, scratch MB"]


def commit():
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=machine.dltools.ROOT, capture_output=True, text=True).stdout.strip()


def write_readme(path, result):
    def text(cell):
        return f"{cell:.3g}" if isinstance(cell, float) else str(cell)

    lines = [COLUMNS, ["---"] + ["---:"] * (len(COLUMNS) - 1), *[map(text, cells(row)) for row in result["rows"]]]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    begin, end = "<!-- launches -->", "<!-- /launches -->"
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(begin)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}\n{result['date']}, {result['commit']}, PyTorch {result['rows'][0]['version']}.\n\n{table}\n{end}{rest.split(end)[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(MODELS))
    parser.add_argument("--readme")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in MODELS]:
        parser.error(f"no model is called {', '.join(unknown)}; there are {', '.join(MODELS)}")
    result = {"bench": "launches", "date": time.strftime("%Y-%m-%d"), "commit": commit(), "rows": measure(options.only)}
    machine.table("a training step: launches and MB, ratio: the best of the others over ours", COLUMNS, [cells(row) for row in result["rows"]])
    print(json.dumps(result))
    if options.readme:
        write_readme(options.readme, result)


if __name__ == "__main__":
    main()
