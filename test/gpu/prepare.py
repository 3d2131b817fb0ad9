#!/usr/bin/python3
"""Compiles the plans that test/gpu/run.sh runs on a machine with a GPU, and puts them, dlrun and MNIST into one folder.

    test/gpu/prepare.sh FOLDER [--target cuda:sm_90] [--groups examples,models,...] [--only CASE,...] [--jobs N]

Each model is compiled for the CPU in f32, f64 and bf16, and for the GPU in f32, tf32, bf16 and f64; products, and the transformer, also without
cuBLASLt, the transformer without chains of products, and
products with cuBLASLt wherever it can be. `--target cpu` lets CPU plans stand in
for those of the GPU, so that every part of the script can be run without one. A model that dlcc refuses (exit code 3) is
listed with its reason; any other failure of dlcc ends with exit code 1, when all others are there. What an earlier call made
is made again only for the cases that this call names. manifest.json lists everything.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import bits
import cases
import programs

BIN = os.environ.get("DL_BIN", os.path.join(cases.ROOT, "build", "release", "bin"))
STANDARD = ("bits", "examples", "models", "plain", "small", "chain", "table")
GROUPS = (*STANDARD, "ports", "programs", "gpt2")
LARGEST_MB = 55  # more than this does not travel everywhere


def wanted(options):
    every = cases.ALL + [case for case, _ in cases.table_cases()] + cases.ported()
    if options.only:
        unknown = set(options.only) - {case.name for case in every}
        if unknown:
            sys.exit(f"there is no case {', '.join(sorted(unknown))}")
        return [case for case in every if case.name in options.only]
    return [case for case in every if case.group in options.groups]


def machines(scratch):
    """By road, a description of the GPU: on which kernels of ours for products take for ever, and on which products are no chains."""
    model = os.path.join(cases.ROOT, "test", "gpu", "models", "products.dl")
    np.save(os.path.join(scratch, "x.npy"), np.ones((8, 1), np.float32))
    text = subprocess.run([os.path.join(BIN, "dlcc"), model, "--target=cuda:source", "--machine=h100", "--emit=machine", "-o", "x.plan"], cwd=scratch,
                          check=True, capture_output=True, text=True).stdout
    paths = {}
    for road, key, value in (("library", "product_", 1), ("apart", "chain_scratch_bytes", 0)):
        lines = [f"{line.split('=')[0]}= {value}" if line.startswith(key) else line for line in text.splitlines()]
        if lines == text.splitlines():
            sys.exit(f"dlcc --emit=machine names no {key}")
        paths[road] = os.path.join(scratch, f"{road}.machine")
        with open(paths[road], "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    return paths


def variants(case, target, described):
    """(name of the plan, options of dlcc) of each plan of a case."""
    precisions = case.precisions
    # bf16 only where there is a curve in f64 from which its distance is measured.
    dtypes = [dtype for dtype in ("f32", "f64", "bf16") if dtype in precisions and (dtype != "bf16" or "f64" in precisions)]
    found = [(f"cpu-{dtype}", [f"--dtype={dtype}", "--target-cpu=x86-64-v3"]) for dtype in dtypes]
    stand_in = target == "cpu"
    own = ["--target-cpu=x86-64-v3"] if stand_in else [f"--target={target}"]
    for precision in precisions:
        more = {"f32": [], "tf32": [] if stand_in else ["--tf32"], "bf16": ["--dtype=bf16"], "f64": ["--dtype=f64"]}[precision]
        found.append((f"gpu-{precision}", own + more))
        for road in case.roads if precision in cases.FAST else ():  # in f64 none is measured
            choice = ["--own-kernels"] if road == "own" else [f"--machine={described[road]}"]
            found.append((f"gpu-{precision}-{road}", own + more + ([] if stand_in else choice)))
    return found


def compile_plan(file, folder, words, cwd):
    """What the manifest says of one plan."""
    target = os.path.join(folder, file)
    started = time.perf_counter()
    done = subprocess.run([os.path.join(BIN, "dlcc"), *words, "-o", target], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        if os.path.exists(target):
            os.remove(target)
        return {"code": done.returncode, "error": done.stderr.strip()[-600:]}
    return {"file": file, "bytes": os.path.getsize(target), "compile_s": round(time.perf_counter() - started, 2)}


def prepare(case, options, folder, scratch, mnist, described):
    data = case.make_data(os.path.join(scratch, case.name), mnist)
    words = [case.model(data), *case.defines(), f"--threads={max(1, os.cpu_count() // options.jobs)}"]
    plans = {variant: compile_plan(f"plans/{case.name}.{variant}.plan", folder, words + more, data)
             for variant, more in variants(case, options.target, described)}
    return {"group": case.group, "plans": plans}


def say(name, entry):
    words = []
    for variant, plan in entry["plans"].items():
        words.append(f"{variant} {plan['bytes'] / 1e3:.0f} kB" if "file" in plan else f"{variant} REFUSED" if plan["code"] == 3 else
                     f"{variant} FAILED: {plan['error']}")
    print(f"{name}: {', '.join(words)}", flush=True)


def commit():
    def git(*words):
        return subprocess.run(["git", *words], cwd=cases.ROOT, capture_output=True, text=True).stdout.strip()
    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")


def carry_mnist(folder):
    """The four files, compressed as they are where the user has them, else drawn ones."""
    target = os.path.join(folder, "data", "mnist")
    if os.path.isdir(target):
        return target
    users = os.path.join(os.environ.get("DL_DATA", "/nowhere"), "mnist")
    if os.path.isdir(users):
        shutil.copytree(users, target)
        os.chmod(target, 0o755)
    else:
        generator = os.path.join(cases.ROOT, "examples", "mnist", "generate.py")
        subprocess.run([sys.executable, generator, target], check=True)
        for name in os.listdir(target):
            subprocess.run(["gzip", "-9", os.path.join(target, name)], check=True)
    return target


def total_mb(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--target", default="cuda:sm_90")
    parser.add_argument("--groups", type=lambda text: text.split(","), default=STANDARD, help=f"of {', '.join(GROUPS)}; default: all but the last two")
    parser.add_argument("--programs", type=int, default=30, help="random programs of the group `programs`")
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    for part in ("plans", "bin"):
        os.makedirs(os.path.join(folder, part), exist_ok=True)
    shutil.copy(os.path.join(BIN, "dlrun"), os.path.join(folder, "bin", "dlrun"))
    manifest, path = {"cases": {}}, os.path.join(folder, "manifest.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
    manifest |= {"commit": commit(), "target": options.target, "date": time.strftime("%Y-%m-%d")}
    chosen = wanted(options)
    mnist = carry_mnist(folder) if any(case.data == "mnist" for case in chosen) else None
    with tempfile.TemporaryDirectory(prefix="dl-gpu-") as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        described = machines(scratch)
        for case, entry in zip(chosen, pool.map(lambda case: prepare(case, options, folder, scratch, mnist, described), chosen)):
            manifest["cases"][case.name] = entry
            say(case.name, entry)
    if "programs" in options.groups and not options.only:
        manifest["programs"] = programs.prepare(folder, options, compile_plan)
    if "bits" in options.groups and not options.only:
        manifest["bits"] = bits.prepare(folder, options.target, BIN)
        print(f"bits: {manifest['bits'].get('error', 'compiled')}", flush=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
    plans = [plan for entry in [*manifest["cases"].values(), *manifest.get("programs", {}).values()] for plan in entry["plans"].values()]
    refused = sum(plan.get("code") == 3 for plan in plans)
    failed = sum(plan.get("code", 3) != 3 for plan in plans)
    print(f"{len(plans) - refused - failed} plans, {refused} refused, {failed} failed; {total_mb(folder):.1f} MB in {folder}"
          + (f", more than {LARGEST_MB}: prepare groups in folders of their own" if total_mb(folder) > LARGEST_MB else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
