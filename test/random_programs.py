#!/usr/bin/python3
"""Random .dl programs through dlcc and dlrun, against the NumPy twin.

    test/random_programs.py --seed S --count N [--keep DIR] [--only PROGRAM] [--jobs N] [--f64-only] [--meshes] [--cuda]

Each program is compiled in f64 and in f32, and trained for a few steps from the
same weights and data. Loss, a tensor on the way, the gradients and the updated
weights are compared:

  f64   |ours - twin| <= 1e-10 * max(1, |twin|), element by element
  f32   per tensor, the largest distance to the f64 twin is at most 4 times that
        of the twin run in f32, plus a floor (see f32_allowance)
  isa   in f32 and bf16 the kernels for AVX2 and for AVX-512 give the same bits
  kept  in f32 and bf16 a plan whose backward makes nothing again gives the same bits
  bf16  all is finite; how near it comes is asked elsewhere (parity): a rounding
        to 8 bits moves numbers across the kinks of a program

With --meshes each program runs on a random mesh of 2 to 8 ranks, divided along dp (and rep), tp, pp and in micro-batches, with a
random stage of ZeRO; f64 only.

With --cuda each program is compiled for CUDA and runs on the emulated device: bits must be equal in three orders of
threads, blocks and independent commands. In half of them all products that can be are left to an emulated cuBLASLt.
With --meshes, too, all ranks run on one such device, in two orders.

Prints each failing program's number and file, and the last line counts.
"""

import argparse
import collections
import multiprocessing
import os
import random
import re
import shutil
import sys
import tempfile

import numpy as np

import dltools
from numpy_twin import safetensors
from program_generator import build as generator

ULP = 2.0 ** -23


def f32_runs(program):
    """The twin in f32: as it is, with sums made term by term, and six times with inputs moved by at most half an ulp."""
    runs = [program.run(np.float32), program.run(np.float32, sequential=True)]
    for draw in range(6):  # where terms nearly cancel, few of them hit the one rounding that shows
        runs.append(program.run(np.float32, np.random.default_rng([program.seed, draw])))
    return [{**metrics, **weights} for metrics, weights, _, _ in runs]


def f32_allowance(name, want, runs):
    """How far an f32 result may be from the f64 twin.

    NumPy-f32's own error is the largest over several runs, since one run may be right by luck: a scalar has a single
    error, which is zero as likely as one ulp. The moved inputs show what any f32 program must expect, whose first
    rounding moves its intermediate values as much. Sums made term by term are what a kernel does that keeps a whole
    sum in one register; NumPy's own order is better for many equal terms. The floor is 8 ulp of the tensor's largest
    element: the functions of the twin come from libm and are nearly correctly rounded, those of a kernel are allowed
    a few ulp each.
    """
    own = max(float(np.max(np.abs(np.asarray(run[name], np.float64) - want), initial=0)) for run in runs)
    return 4 * own + 8 * ULP * max(float(np.max(np.abs(want), initial=0)), 2.0 ** -20)


def compare_f64(name, got, want):
    if got.shape != want.shape:
        return f"{name}: shape {list(got.shape)}, the twin has {list(want.shape)}"
    error = np.abs(np.asarray(got, np.float64) - want) / np.maximum(1, np.abs(want))
    worst = float(np.max(error, initial=0)) if np.all(np.isfinite(got)) else np.inf
    return None if worst <= 1e-10 else f"{name}: f64 differs by {worst:.3g}"


def compare_f32(name, got, want, runs):
    worst = float(np.max(np.abs(np.asarray(got, np.float64) - want), initial=0)) if np.all(np.isfinite(got)) else np.inf
    allowed = f32_allowance(name, want, runs)
    return None if worst <= allowed else f"{name}: f32 differs by {worst:.3g}, NumPy-f32 allows {allowed:.3g}"


def not_finite(got):
    return [f"{name}: bf16 is not finite" for name, value in got.items() if not np.all(np.isfinite(value))]


def train(plan, folder, tag, program, *more, env=None):
    """Runs the plan and returns its metrics and weights by name."""
    paths = [f"{tag}.metrics.safetensors", f"{tag}.final.safetensors"]
    dltools.dlrun(plan, "--steps", program.steps, "--no-shuffle", "--seed", program.seed, "-q", "--threads", 2,
                  "--init", "weights.safetensors", "--save-metrics", paths[0], "--save-final", paths[1], *more, cwd=folder, env=env)
    metrics, weights = (safetensors.load(os.path.join(folder, path)) for path in paths)
    return {**metrics, **weights}


def write_files(program, folder):
    source = os.path.join(folder, "program.dl")
    with open(source, "w", encoding="utf-8") as file:
        file.write(program.text("data"))
    for value, array in program.inputs:
        np.save(os.path.join(folder, f"data.{value.name}.npy"), array)
    safetensors.save(os.path.join(folder, "weights.safetensors"),
                     {name: array for name, (_, array) in program.weights.items()} |
                     {name: np.zeros_like(program.weights[weight][1]) for name, (weight, _) in program.kept.items()})


MESHES = ["dp=2", "dp=3", "dp=4", "dp=6", "dp=8", "pp=2", "pp=3", "dp=2,pp=2", "pp=2,dp=3", "dp=4,pp=2", "tp=2", "tp=3",
          "dp=2,tp=2", "tp=2,dp=3", "dp=2,tp=4", "pp=2,tp=2", "dp=2,pp=2,tp=2",
          "rep=2,dp=2", "dp=2,rep=3", "rep=2,dp=2,tp=2", "pp=2,rep=2,dp=2"]


def random_schedule(program, shape, source):
    schedules = ["gpipe", "1f1b", "zb-h1"]
    ranks = int((re.search(r"pp=(\d)", shape) or "11")[1])
    on_each = len({name.rpartition(".")[0] or name for name in program.weights}) // ranks  # each stage has a module
    schedule = source.choice(schedules + ["zb-v", "interleaved"] * (3 if on_each >= 2 else 0))
    more = [f"--stages-per-rank={source.randint(2, min(on_each, 3))}"] if schedule == "interleaved" else []
    return [f"--schedule={schedule}", *more]


def random_mesh(program):
    """Options of dlcc. What they say beside the model goes into the program."""
    source = random.Random(program.seed)
    shape = source.choice(MESHES)
    options = [f"--mesh={shape}", f"--zero={source.randrange(4)}"]
    if program.accumulate == 1 and source.random() < 0.5:
        options += [f"--microbatches={source.choice([2, 4])}", *random_schedule(program, shape, source)]
    program.is_hybrid = "rep" in shape
    if "tp" in shape:
        modules = sorted({name.rpartition(".")[0] for name in program.weights} - {""})
        program.placements = {module: source.choice(["colwise", "rowwise"])
                              for module in source.sample(modules, source.randint(0, len(modules)))}
    axes = [axis for axis in re.findall(r"(\w+)=", shape) if axis != "pp"]
    for statement in program.statements:
        if statement.dims and source.random() < 0.2:
            statement.shards = source.sample(axes + [None] * len(statement.dims), len(statement.dims))
    return options


def options_of(program):
    """Values of these programs are small, and would all be kept for the backward."""
    return ["program.dl", f"--accumulate={program.accumulate}", "--keep-below=1"]


CHUNKS = "chunk_least_bytes = 1\nchunk_bytes = 64\nchunk_rows = 2\n"


def machine_of(name, folder, text):
    if not text:
        return []
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
    return [f"--machine={name}"]


def library_options(program, folder):
    """Half of the programs for GPUs leave all products that can be to the emulated library, and compute in chunks."""
    if program.seed % 2 == 0:
        return []
    # For a half of these the library has too few blocks: it computes parts of sums.
    processors = f"processors = {132 if program.seed // 2 % 2 else 1}\n"
    return machine_of("library.machine", folder, CHUNKS + "widens_in_readers = 1\n" + processors +
                      "".join(f"product_{dtype}_flops = 1\n" for dtype in ("f32", "bf16", "f64")))


def chain_options(program, folder):
    """Of programs for CPUs half make a chain of all products that can be one, however small; of these and of others
    half compute everything between products in chunks of two rows or more."""
    kinds = [("chain_least_bytes = 0\nmin_fused_rows = 1\n", program.seed % 2), (CHUNKS, program.seed // 2 % 2)]
    return machine_of("chains.machine", folder, "".join(text for text, wanted in kinds if wanted))


def check_mesh(program, folder, cuda):
    """The same on the ranks of a mesh; with `cuda` on the emulated device, which has them all."""
    options = random_mesh(program)
    options += ["--target=cuda:source", *library_options(program, folder)] if cuda else chain_options(program, folder)
    write_files(program, folder)
    metrics, weights, _, _ = program.run(np.float64)
    want = {name: np.asarray(value, np.float64) for name, value in {**metrics, **weights}.items()}
    result = dltools.call([dltools.DLCC, *options_of(program), "--dtype=f64", "-o", "f64.plan", *options], cwd=folder)
    if result.returncode == 1 and re.search("pipeline: |micro-batches", result.stderr):  # too few modules, or items
        options = [option for option in options if not option.startswith(("--mesh", "--micro"))] + ["--mesh=dp=2"]
        result = dltools.call([dltools.DLCC, *options_of(program), "--dtype=f64", "-o", "f64.plan", *options], cwd=folder)
    if result.returncode:
        return [" ".join(options), *result.stderr.splitlines()]
    orders = [dltools.ORDERS[order] for order in ("ascending", "random")] if cuda else [None]
    got, *others = [train("f64.plan", folder, "f64", program, env=env) for env in orders]
    wrong = [f"{name}: dlrun did not return it" for name in want if name not in got]
    wrong += [f"{name}: other bits in another order" for other in others for name in got if got[name].tobytes() != other[name].tobytes()]
    wrong = wrong or list(filter(None, (compare_f64(name, got[name], value) for name, value in want.items())))
    return [" ".join(options), *wrong] if wrong else []


def check(program, folder, f64_only):
    """What is wrong with the program's results, as lines."""
    write_files(program, folder)
    metrics, weights, _, _ = program.run(np.float64)
    want = {name: np.asarray(value, np.float64) for name, value in {**metrics, **weights}.items()}
    compiled = [*options_of(program), *chain_options(program, folder)]
    here = dltools.kernels_of_here()
    dltools.dlcc(*compiled, *here, "--dtype=f64", "-o", "f64.plan", cwd=folder)
    got = train("f64.plan", folder, "f64", program)
    wrong = [f"{name}: dlrun did not return it" for name in want if name not in got]
    if wrong:
        return wrong
    wrong += filter(None, (compare_f64(name, got[name], value) for name, value in want.items()))
    if f64_only:
        return wrong
    runs = f32_runs(program)
    for dtype in ("f32", "bf16"):
        dltools.dlcc(*compiled, *here, f"--dtype={dtype}", "-o", f"{dtype}.plan", cwd=folder)
        got = train(f"{dtype}.plan", folder, f"{dtype}.v3", program, "--isa=v3")
        dltools.dlcc(*compiled, f"--dtype={dtype}", "--target-cpu=x86-64-v3", "--keep-all", "-o", "kept.plan", cwd=folder)
        kept = train("kept.plan", folder, "kept", program, "--isa=v3")
        wrong += [f"{name}: {dtype}, other bits with --keep-all" for name in got if got[name].tobytes() != kept[name].tobytes()]
        if dtype == "f32":
            wrong += filter(None, (compare_f32(name, got[name], value, runs) for name, value in want.items()))
        else:
            wrong += not_finite(got)
        if dltools.has_avx512():
            wide = train(f"{dtype}.plan", folder, f"{dtype}.v4", program, "--isa=v4")
            wrong += [f"{name}: AVX2 and AVX-512 differ in {dtype}" for name in got if got[name].tobytes() != wide[name].tobytes()]
    return wrong


def check_cuda(program, folder):
    """The same by kernels for GPUs, on the emulated device."""
    write_files(program, folder)
    metrics, weights, _, _ = program.run(np.float64)
    want = {name: np.asarray(value, np.float64) for name, value in {**metrics, **weights}.items()}
    wrong, options = [], [*options_of(program), *library_options(program, folder)]
    for dtype in ("f64", "f32", "bf16"):
        dltools.dlcc(*options, "--target=cuda:source", f"--dtype={dtype}", "-o", f"{dtype}.plan", cwd=folder)
        runs = {order: train(f"{dtype}.plan", folder, f"{dtype}.{order}", program, env=env)
                for order, env in dltools.ORDERS.items()}
        got = runs["ascending"]
        missing = [f"{name}: dlrun did not return it" for name in want if name not in got]
        if missing:
            return missing
        wrong += [f"{name}: {dtype}, other bits with threads in {order} order" for order, other in runs.items()
                  for name in got if got[name].tobytes() != other[name].tobytes()]
        if dtype == "f64":
            wrong += filter(None, (compare_f64(name, got[name], value) for name, value in want.items()))
        elif dtype == "bf16":
            wrong += not_finite(got)
        else:
            own = f32_runs(program)
            wrong += filter(None, (compare_f32(name, got[name], value, own) for name, value in want.items()))
    return wrong


def work(task):
    """One program in a process of the pool: (number, lines of what is wrong, ops it used)."""
    number, keep, f64_only, meshes, cuda = task
    program = generator.build(number)
    folder = os.path.join(keep, str(number)) if keep else tempfile.mkdtemp(prefix="dl-program-")
    os.makedirs(folder, exist_ok=True)
    try:
        if meshes:
            wrong = check_mesh(program, folder, cuda)
        else:
            wrong = check_cuda(program, folder) if cuda else check(program, folder, f64_only)
    except dltools.ToolFailed as error:
        wrong = ([" ".join(random_mesh(program))] if meshes else []) + str(error).splitlines()
    except Exception as error:  # a bug of this script must not hide the other programs
        wrong = [f"{type(error).__name__}: {error}"]
    if wrong and not keep:
        kept = os.path.join(tempfile.gettempdir(), f"dl-failed-{number}")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.move(folder, kept)
        folder = kept
    elif not keep:
        shutil.rmtree(folder)
    body = "\n".join(statement.text for statement in program.statements) + "\n".join(program.members)
    words = set(re.findall(r"(?:\.|dl::|F::|nn::)([A-Za-z]\w*)[({ ]", body))
    return number, wrong, folder, words | {"(accumulate)"} if program.accumulate > 1 else words


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--keep", metavar="DIR", help="leave all files of all programs here")
    parser.add_argument("--only", type=int, metavar="PROGRAM", help="just the program of this number")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--f64-only", action="store_true")
    parser.add_argument("--meshes", action="store_true")
    parser.add_argument("--cuda", action="store_true")
    options = parser.parse_args()
    if not options.cuda and not dltools.has_avx512():
        print("note: this machine has no AVX-512, its kernels are not compared with those for AVX2")
    numbers = [options.only] if options.only is not None else generator.numbers(options.seed, options.count)
    failed, seen = 0, collections.Counter()
    with multiprocessing.Pool(options.jobs) as pool:
        tasks = ((number, options.keep, options.f64_only, options.meshes, options.cuda) for number in numbers)
        for number, wrong, folder, words in pool.imap_unordered(work, tasks):
            seen.update(words)
            if wrong:
                failed += 1
                print(f"FAILED program {number} (--only {number}), {folder}/program.dl")
                print("\n".join("    " + line for line in wrong[:20]), flush=True)
    print("programs that use each op:", ", ".join(f"{word} {count}" for word, count in sorted(seen.items())))
    total = 1 if options.only is not None else options.count
    print(f"random programs: {total - failed} of {total} agree with the twin")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
