#!/usr/bin/python3
"""GPT-2 (124M) on a CPU, as llm.c's train_gpt2.c trains it: batches of 4 times 64 tokens, by llm.c, PyTorch and dlrun in turns.

    DL_PEER_PYTHON=/path/to/venv/bin/python test/bench/gpt2.py [--llmc FOLDER] [--rounds 3] [--threads 1,2]

All start from the weights that examples/gpt2 draws, on the same batch, and must agree on the loss after 10 steps. FOLDER is a
checkout of llm.c; its step is compiled as its Makefile does it, by gcc, with OpenMP. PyTorch has the fused AdamW. JSON on stdout.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np

import machine
from numpy_twin import safetensors
from peer import Peer, script

BATCH, LENGTH, VOCABULARY, DEPTH, HEADS, WIDTH, POSITIONS = 4, 64, 50257, 12, 12, 768, 1024
LOSS_STEPS = 10
MODES = {"llmc": "llm.c", "eager": "PyTorch eager", "compile": "torch.compile"}
SETTINGS = {"length": LENGTH, "lr": 1e-4, "warmup": 0, "steps": 0, "weight_decay": 0, "beta2": 0.999, "clip": 0}
# As llm.c's checkpoints have them; those of each layer lie together. Its matrices are (out, in), GPT-2's (in, out).
LAYER_WEIGHTS = ["ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias", "attn.c_proj.weight", "attn.c_proj.bias",
                 "ln_2.weight", "ln_2.bias", "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight", "mlp.c_proj.bias"]


def llmc_weights(folder, weights):
    padded = -(-VOCABULARY // 128) * 128
    header = np.zeros(256, np.int32)
    header[:8] = 20240326, 3, POSITIONS, VOCABULARY, DEPTH, HEADS, WIDTH, padded
    with open(os.path.join(folder, "llmc.bin"), "wb") as file:
        file.write(header.tobytes())
        file.write(np.pad(weights["wte.weight"], ((0, padded - VOCABULARY), (0, 0))).tobytes())
        file.write(weights["wpe.weight"].tobytes())
        for name in LAYER_WEIGHTS:
            for layer in range(DEPTH):
                file.write(weights[f"h.{layer}.{name}"].T.tobytes())  # (of vectors nothing is turned)
        file.write(weights["ln_f.weight"].tobytes() + weights["ln_f.bias"].tobytes())


def prepare(folder):
    """Plans, weights and the batch, for everybody; seconds that dlcc took."""
    tokens = np.random.default_rng(2).integers(0, VOCABULARY, BATCH * LENGTH + 1)
    header = np.zeros(256, np.int32)
    header[:3] = 20240520, 1, len(tokens)
    for name in ("train.bin", "val.bin"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(header.tobytes() + tokens.astype(np.uint16).tobytes())
    x, y = (part.reshape(BATCH, LENGTH) for part in (tokens[:-1], tokens[1:]))
    np.save(os.path.join(folder, "x.npy"), x)
    np.save(os.path.join(folder, "y.npy"), y)
    with open(os.path.join(folder, "llmc.batch"), "wb") as file:
        file.write(np.array([BATCH, LENGTH], np.int32).tobytes() + x.astype(np.int32).tobytes() + y.astype(np.int32).tobytes())
    source = os.path.join(machine.dltools.ROOT, "examples", "gpt2", "gpt2.dl")
    settings = [word for name, value in SETTINGS.items() for word in ("-D", f"{name}={value}")]
    seconds = {}
    for dtype in ("f32", "bf16"):
        started = time.perf_counter()
        machine.dltools.dlcc(source, *settings, f"--dtype={dtype}", "-o", f"{dtype}.plan", cwd=folder)
        seconds[dtype] = time.perf_counter() - started
    machine.dltools.dlrun("f32.plan", "--steps", 0, "-q", "--save-final", "weights.safetensors", cwd=folder)
    weights = safetensors.load(os.path.join(folder, "weights.safetensors"))
    np.savez(os.path.join(folder, "weights.npz"), **weights)
    llmc_weights(folder, weights)
    return seconds


def build_llmc(checkout, folder):
    program = os.path.join(folder, "llmc_peer")
    subprocess.run(["gcc", "-Ofast", "-fno-finite-math-only", "-march=native", "-fopenmp", "-I", checkout, "-o", program,
                    os.path.join(machine.HERE, "peers", "llmc_peer.c"), "-lm"], check=True)
    return [program, folder]


def our_loss(folder, plan, threads):
    command = [machine.dltools.DLRUN, plan, "--init", "weights.safetensors", "--epochs", LOSS_STEPS, "--threads", threads,
               "--every", "eval=0", "--json"]
    events = map(json.loads, machine.dltools.run(*machine.pinned(command, threads), cwd=folder).splitlines())
    return [event["loss"] for event in events if event["event"] == "step"][-1]


def compare(folder, dtype, threads, rounds, seconds, llmc, peak):
    commands = {mode: script("torch_peer.py", "gpt2" if dtype == "f32" else "gpt2-bf16", BATCH, threads, mode, folder)
                for mode in ("eager", "compile")}
    if llmc and dtype == "f32":
        commands["llmc"] = llmc
    peers = Peer.present([Peer(mode, threads, command) for mode, command in commands.items()])
    ours, plan = [], f"{dtype}.plan"
    for _ in range(rounds):
        event = machine.bench(plan, threads, "--init", "weights.safetensors", cwd=folder, seconds=seconds)
        ours.append(event["median_ms"])
        for peer in peers:
            peer.measure(seconds)
    losses = {"ours": our_loss(folder, plan, threads)} | {peer.name: peer.ask(f"loss {LOSS_STEPS}")["loss"] for peer in peers}
    for peer in peers:
        peer.end()
    if not max(losses.values()) - min(losses.values()) <= (1e-4 if dtype == "f32" else 2**-8) * max(losses.values()):
        raise SystemExit(f"the contenders disagree: {losses}")
    mine, theirs = machine.median(ours), {peer.name: machine.median(peer.times) for peer in peers}
    matrices = DEPTH * (12 * WIDTH * WIDTH + WIDTH * (LENGTH + 1)) + VOCABULARY * WIDTH
    gflops = 6e-6 * BATCH * LENGTH * matrices / mine
    return {"dtype": dtype, "threads": threads, "ours_ms": mine, "peers_ms": theirs, "losses": losses,
            "ratio": min(theirs.values()) / mine if theirs else None, "of_peak": gflops / (peak.measure() * threads),
            "rss_mb": {"ours": event["peak_rss_bytes"] * 1e-6} | {peer.name: peer.rss_mb for peer in peers},
            "versions": {peer.name: peer.version for peer in peers}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--llmc", metavar="FOLDER", help="a checkout of llm.c")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5, help="of each contender in a round")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    options = parser.parse_args()
    if options.llmc and not os.path.isfile(os.path.join(options.llmc, "train_gpt2.c")):
        parser.error(f"--llmc: there is no train_gpt2.c in {options.llmc}")
    with machine.scratch() as folder:
        peak = machine.Peak(folder)
        result = {"bench": "gpt2", **machine.describe(), "date": time.strftime("%Y-%m-%d"), "peak_gflops": peak.measure(),
                  "compile_s": prepare(folder)}
        llmc = build_llmc(os.path.abspath(options.llmc), folder) if options.llmc else None
        result["steps"] = [compare(folder, dtype, threads, options.rounds, options.seconds, llmc, peak)
                           for dtype in ("f32", "bf16") for threads in options.threads]
    machine.table("GPT-2 124M, ms a step", ["dtype", "threads", "ours", *MODES.values(), "best peer / ours", "of peak"],
                  [[row["dtype"], row["threads"], row["ours_ms"], *[row["peers_ms"].get(mode, "-") for mode in MODES],
                    row["ratio"] or "-", row["of_peak"]] for row in result["steps"]])
    machine.table("peak memory, MB", ["dtype", "threads", "ours", *MODES.values()],
                  [[row["dtype"], row["threads"], *[row["rss_mb"].get(name, "-") for name in ("ours", *MODES)]] for row in result["steps"]])
    print(json.dumps(result))


if __name__ == "__main__":
    sys.exit(main())
