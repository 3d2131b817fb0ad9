"""Random programs, those of test/random_programs.py, with the twin's answers: compiled and computed in one place, run in another."""

import concurrent.futures
import dataclasses
import itertools
import os
import sys

import numpy as np

import cases

SEED = 1


def prepare(folder, options, compile_plan):
    """The manifest's part. With each program travel its data, its weights, what the twin gives in f64 and what f32 may cost."""
    os.environ.setdefault("DL_TEST_CACHE", os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")))
    sys.path.insert(0, os.path.join(cases.ROOT, "test"))
    import random_programs
    from numpy_twin import safetensors
    from program_generator import build as generator

    def one(number):
        program, at = generator.build(number), os.path.join("programs", str(number))
        target = os.path.join(folder, at)
        os.makedirs(target, exist_ok=True)
        random_programs.write_files(program, target)
        metrics, weights, _, _ = program.run(np.float64)
        want = {name: np.asarray(value, np.float64) for name, value in {**metrics, **weights}.items()}
        safetensors.save(os.path.join(target, "want.safetensors"), want)
        runs = random_programs.f32_runs(program)
        allowed = {name: random_programs.f32_allowance(name, value, runs) for name, value in want.items()}
        device = ["--target-cpu=x86-64-v3"] if options.target == "cpu" else [f"--target={options.target}"]
        plans = {f"gpu-{dtype}": compile_plan(os.path.join(at, dtype + ".plan"), folder,
                                              random_programs.options_of(program) + device + [f"--dtype={dtype}"], target) for dtype in ("f32", "f64")}
        print(f"program {number}: {', '.join(plan.get('error', 'compiled') for plan in plans.values())}", flush=True)
        return number, {"plans": plans, "steps": program.steps, "seed": program.seed, "allowed": allowed}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return {str(number): entry for number, entry in pool.map(one, itertools.islice(generator.numbers(SEED, options.programs), options.programs))}


@dataclasses.dataclass
class Program:
    number: str
    entry: dict

    @property
    def name(self):
        return f"program-{self.number}"


def check_one(session, program):
    from checks import exceeds
    from session import FAIL, NONE, OK, Failed, Missing, safetensors
    rows, at = [], os.path.join(session.folder, "programs", program.number)
    want = safetensors.load(os.path.join(at, "want.safetensors"))
    for precision in ("f32", "f64"):
        row = {"case": program.name, "precision": precision, "detail": ""}
        rows.append(row)
        files = [os.path.join(session.scratch, f"{program.name}.{precision}.{kind}") for kind in ("metrics", "final")]
        try:
            session.dlrun(session.file(program.entry["plans"][f"gpu-{precision}"]), "--data", at, "--steps", program.entry["steps"], "--no-shuffle", "--seed",
                          program.entry["seed"], "--init", os.path.join(at, "weights.safetensors"), "--save-metrics", files[0], "--save-final", files[1])
        except (Missing, Failed) as error:
            row |= {"status": NONE if isinstance(error, Missing) else FAIL, "detail": str(error)}
            continue
        got = safetensors.load(files[0]) | safetensors.load(files[1])
        excess = {}
        for name, right in want.items():
            if name not in got or got[name].shape != right.shape:
                excess[name] = float("inf")
                continue
            distance = np.abs(np.asarray(got[name], np.float64) - right)
            allowed = 1e-10 * np.maximum(1, np.abs(right)) if precision == "f64" else program.entry["allowed"][name]
            excess[name] = exceeds(distance, allowed)
        worst = max(excess, key=excess.get)
        good = excess[worst] <= 1
        row |= {"status": OK if good else FAIL, "worst": excess[worst], "detail": "" if good else f"{worst}: {excess[worst]:.3g} times the bound"}
    return rows


def check(session):
    from checks import over
    from session import OK
    chosen = [Program(number, entry) for number, entry in session.manifest.get("programs", {}).items()]
    rows = over(session, lambda program: check_one(session, program), chosen)
    right = {precision: [r["worst"] for r in rows if r["status"] == OK and r["precision"] == precision] for precision in ("f32", "f64")}
    return {"rows": rows}, ["program", "precision", "", "of the bound", ""], [
        *[[r["case"], r.get("precision"), r["status"], r.get("worst"), r["detail"]] for r in rows if r["status"] != OK],
        *[[f"{len(worst)} others, the worst", precision, OK, max(worst, default=None), ""] for precision, worst in right.items()]]
