"""Is it right? Plans for the GPU against those for the CPU, and under compute-sanitizer.

Bounds of `correct`, for metrics of every step and for all weights after the last:

f64   |GPU - CPU| <= 1e-10 max(1, |CPU|), element by element: only the order of sums differs. Weights 1e-9: where a gradient is zero but
      for rounding, as of a bias before a batch norm, Adam divides that by next to nothing.
f32   The CPU's plan in f64 tells what is right, the CPU's in f32 what f32 may cost. A tensor's (or a metric's) largest distance
      from f64 may be 32 times that of the CPU in f32 (a relu or a maximum that is decided otherwise some steps earlier grows that
      much in the small networks with batch norm: 12 times was seen), plus a floor: 16 ulp of the largest value for metrics; 4 (1 + sqrt(steps)) ulp
      for weights, whose every update rounds once.
tf32  Operands of products are rounded to 11 bits, by up to 2^-11 each. Metrics of the first five steps may differ by 1 % of
      max(1, |f64|), later ones drift apart in small networks with batch norm, evaluations by 5 %; the way that the weights went, all
      together, by 40 % (Adam makes updates of full size from gradients of any size, so of rounding errors, too).
bf16  Products round what they read and give to 8 bits, so by up to 2^-8, at the same places on both. The CPU's plan in bf16 tells what that may
      cost: a curve's distance from f64 (root of the mean square over the steps) may be 4 times the CPU's. That is not 1, since sums in another
      order are now and then rounded the other way, and from there on the two go ways of their own, each as far off; it is not 32 as in f32,
      since it is no single largest distance. The way of all weights together alike. The floor is what f32 costs, 64 ulp of the curve; of an
      evaluation, a single number that may have come out right by luck, 2^-8 of it.
An accuracy may differ by 5 items in 10,000, whose two best classes are equal up to rounding.

Beside it: the initial weights that the GPU's plan draws are the CPU's bytes, and a second run on the GPU gives the bytes of the first.
"""

import concurrent.futures
import os

import numpy as np

import cases
from session import FAIL, NONE, OK, Failed, Missing, last_lines, run, safetensors

ULP = 2.0 ** -23
SMOKE = [("linear", 20), ("mnist", 50)]
SANITIZED = [("linear", 5), ("mnist_mlp", 2), ("mnist", 2), ("convnet-64", 1), ("resnet18-small", 1), ("transformer-small", 1),
             ("product-NN-100x65x37", 1), ("product-TN-65x384x8192", 1), ("conv-weight-64x10x12-20k5s1", 1)]
TOOLS = {"gpu-f32": ("memcheck", "racecheck", "synccheck"), "gpu-tf32": ("memcheck", "racecheck"), "gpu-bf16": ("memcheck", "racecheck")}
PARALLEL = 4


def train(session, case, variant, steps, tag="", limit=60):
    """Metrics by name, an array over the steps, and the file with the weights after the last."""
    final = os.path.join(session.scratch, f"{case.name}.{variant}{tag}.safetensors")
    events = session.dlrun(session.plan(case, variant), "--data", session.data(case), "--init", session.init(case), "--seed", 1, "--steps", steps,
                           "--every", f"log=1,eval={steps if case.data == 'mnist' else 0}", "--save-final", final, *threads(variant),
                           *(["--no-shuffle"] if case.port else []), limit=limit)
    curves = {}
    for event in events:
        if event["event"] in ("step", "eval"):
            for name, value in event.items():
                if name not in ("event", "step", "epoch", "name", "items", "seconds", "eval_seconds") and not name.startswith("lr"):
                    key = f"eval.{name}" if event["event"] == "eval" else f"{event['name']}.{name}" if case.port and case.port.turns else name
                    curves.setdefault(key, []).append(float("nan") if value is None else float(value))
    return {name: np.array(curve) for name, curve in curves.items()}, final


def threads(variant):
    """The CPU's plans share the cores; those of the GPU take what is standard."""
    return ["--threads", max(1, os.cpu_count() // PARALLEL)] if variant.startswith("cpu") else []


def exceeds(distance, allowed):
    """By which factor; more than 1 is wrong, and so is what is not a number."""
    factors = np.asarray(distance / np.maximum(allowed, 1e-300))
    return float(np.max(np.where(np.isnan(factors), np.inf, factors), initial=0))


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def metric_excess(precision, name, mine, right, own):
    """`own`: what the CPU has, in bf16 for bf16, else in f32."""
    if mine.shape != right.shape:
        return float("inf")
    size = np.abs(right)
    slack = 5e-4 if "accuracy" in name else 0.0
    distance = np.abs(mine - right)
    if precision == "f64":
        return exceeds(distance, 1e-10 * np.maximum(1, size) + slack)
    if precision == "tf32":
        return exceeds(distance[:5], (0.05 if name.startswith("eval.") else 0.01) * np.maximum(1, size[:5]))
    if precision == "bf16":
        return exceeds(rms(distance), 4 * rms(own - right) + (2.0 ** -8 if name.startswith("eval.") else 64 * ULP) * rms(size) + slack)
    return exceeds(np.max(distance), 32 * np.max(np.abs(own - right)) + 16 * ULP * max(np.max(size), 2.0 ** -20) + slack)


def weight_excesses(precision, steps, mine, right, own, init):
    """By tensor; in tf32 and bf16 of all floats together."""
    if precision in ("tf32", "bf16"):
        floats = [name for name in right if right[name].dtype.kind == "f"]

        def far(these, from_those):
            return np.sqrt(sum(float(np.sum((these[n].astype(float) - from_those[n]) ** 2)) for n in floats if n in from_those))
        if precision == "tf32":
            return {"all": exceeds(far(mine, right), 0.4 * far(right, init))}
        size = np.sqrt(sum(float(np.sum(np.square(right[n], dtype=float))) for n in floats))
        return {"all": exceeds(far(mine, right), 4 * far(own, right) + 64 * ULP * size)}
    found = {}
    for name, want in right.items():
        distance, size = np.abs(mine[name].astype(float) - want), np.abs(want.astype(float))
        if precision == "f64" or want.dtype.kind != "f":
            found[name] = exceeds(distance, 1e-9 * np.maximum(1, size))
        else:
            allowed = 32 * np.max(np.abs(own[name].astype(float) - want), initial=0) + 4 * (1 + np.sqrt(steps)) * ULP * np.max(size, initial=2.0 ** -20)
            found[name] = exceeds(np.max(distance, initial=0), allowed)
    return found


def judge(session, case, precision, runs):
    """The row of one plan; `runs`: (metrics, file of weights) by variant."""
    curves, file = runs[f"gpu-{precision}"]
    right, right_file = runs["cpu-f64"] if "cpu-f64" in runs else runs["cpu-f32"]
    own, own_file = runs["cpu-bf16" if precision == "bf16" else "cpu-f32"]
    metrics = {name: metric_excess(precision, name, curves.get(name, np.empty(0)), curve, own[name]) for name, curve in right.items()}
    mine, want = safetensors.load(file), safetensors.load(right_file)
    if set(mine) != set(want) or any(mine[name].shape != want[name].shape for name in want):
        return {"status": FAIL, "detail": "other tensors in the weights"}
    weights = weight_excesses(precision, case.steps, mine, want, safetensors.load(own_file), safetensors.load(session.init(case)))
    worst_metric, worst = max(metrics, key=metrics.get), max(weights, key=weights.get)
    good = metrics[worst_metric] <= 1 and weights[worst] <= 1
    main = "loss" if "loss" in right else next(iter(right))
    return {"status": OK if good else FAIL, "metrics": metrics[worst_metric], "weights": weights[worst],
            "first": float(curves[main][0]), "last": float(curves[main][-1]), "last_right": float(right[main][-1]),
            "detail": "" if good else f"beyond the bound: {worst_metric} {metrics[worst_metric]:.3g} times, {worst} {weights[worst]:.3g} times"}


def same_bytes(first, second):
    with open(first, "rb") as a, open(second, "rb") as b:
        return a.read() == b.read()


def twice(session, case, first):
    """A second run on the GPU, and the initial weights that its plan draws."""
    found = {"again": same_bytes(first, train(session, case, "gpu-f32", case.steps, ".again")[1]), "drawn": True}
    if case.port:  # its weights are others
        return found
    plan, drawn = session.plan(case, "gpu-f32"), os.path.join(session.scratch, case.name + ".drawn.safetensors")
    session.dlrun(plan, "--data", session.data(case), "--steps", 0, "--seed", 1, "--save-final", drawn)
    found["drawn"] = same_bytes(session.init(case), drawn)
    os.remove(drawn)
    return found


def correct_case(session, case):
    rows, runs = [], {}
    try:
        for variant in ("cpu-f32", "cpu-f64"):
            runs[variant] = train(session, case, variant, case.steps, limit=120)
    except (Missing, Failed) as error:
        return [{"case": case.name, "precision": "cpu", "status": NONE if isinstance(error, Missing) else FAIL, "detail": str(error)}]
    for precision in case.precisions:
        row = {"case": case.name, "precision": precision}
        try:
            if precision == "bf16":
                runs["cpu-bf16"] = train(session, case, "cpu-bf16", case.steps, limit=120)
            runs[f"gpu-{precision}"] = train(session, case, f"gpu-{precision}", case.steps)
            row |= judge(session, case, precision, runs)
            if precision == "f32":
                row |= twice(session, case, runs["gpu-f32"][1])
                if not (row["again"] and row["drawn"]):
                    row |= {"status": FAIL, "detail": (row["detail"] + " other bytes the second time" * (not row["again"])
                                                       + " other initial weights" * (not row["drawn"])).strip()}
        except (Missing, Failed) as error:
            row |= {"status": NONE if isinstance(error, Missing) else FAIL, "detail": str(error)}
        rows.append(row)
    for _, file in runs.values():
        os.remove(file)
    return rows


def guarded(work, case):
    """A mistake in this script must not end the others' work."""
    try:
        return work(case)
    except Exception as error:
        return [{"case": case.name, "status": FAIL, "detail": f"{type(error).__name__}: {error}"}]


def over(session, work, chosen, jobs=PARALLEL):
    """The rows of all cases, some at once; those that have no time left are said to be missing."""
    def one(case):
        if session.left() < 2:
            return [{"case": case.name, "status": FAIL, "detail": "no time left for it"}]
        return guarded(work, case)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [row for rows in pool.map(one, chosen) for row in rows]


def chosen(session, every):
    return [case for case in every if not session.options.models or case.name in session.options.models]


def ports(session):
    return correct(session, cases.ported())


def correct(session, every=tuple(cases.EXAMPLES + cases.SMALL + [cases.CHAIN] + cases.MEASURED)):
    rows = over(session, lambda case: correct_case(session, case), chosen(session, every))
    return {"rows": rows}, ["model", "precision", "", "metrics", "weights", "first loss", "last", "in f64", ""], [
        [r["case"], r.get("precision"), r["status"], r.get("metrics"), r.get("weights"), r.get("first"), r.get("last"), r.get("last_right"), r["detail"]]
        for r in rows]


def smoke(session):
    rows, steps_of = [], dict(SMOKE)
    for case in chosen(session, [cases.BY_NAME[name] for name in steps_of]):
        name, steps, row = case.name, steps_of[case.name], {"case": case.name}
        try:
            curves, _ = train(session, case, "gpu-f32", steps, ".smoke", limit=30)
            losses = curves["loss"]
            good = np.all(np.isfinite(losses)) and len(losses) == steps
            row |= {"status": OK if good else FAIL, "first": float(losses[0]), "last": float(losses[-1]), "detail": ""}
        except (Missing, Failed) as error:
            row |= {"status": FAIL, "detail": str(error)}
        rows.append(row)
    return {"rows": rows}, ["model", "", "first loss", "last", ""], [
        [r["case"], r["status"], r.get("first"), r.get("last"), r["detail"]] for r in rows]


def sanitized(session, case, steps, variant):
    plan, rows = session.plan(case, variant), []
    for tool in TOOLS[variant]:
        row = {"case": case.name, "variant": variant, "tool": tool}
        rows.append(row)
        try:
            done = run(["compute-sanitizer", "--tool", tool, "--error-exitcode", "86", "--print-limit", "5", session.dlrun_path, plan,
                        "--data", session.data(case), "--steps", str(steps), "--every", "eval=0", "--quiet"], min(90, max(1, session.left())), session.scratch)
            text = done.stdout + done.stderr
            said = [line.strip("= ") for line in text.splitlines() if "SUMMARY" in line]
            row["status"] = OK if done.returncode == 0 and said else FAIL
            row["detail"] = said[-1] if said else f"exit code {done.returncode}: {last_lines(text)}"
            if row["status"] == FAIL:
                row["output"] = text[:4000]
        except (OSError, Failed) as error:
            row |= {"status": FAIL, "detail": str(error)}
    return rows


def sanitize(session):
    every = cases.BY_NAME | {case.name: case for case, _ in cases.table_cases()}
    steps = dict(SANITIZED)

    def work(case):
        rows = []
        for variant in TOOLS:
            try:
                rows += sanitized(session, case, steps[case.name], variant)
            except Missing as error:
                rows.append({"case": case.name, "variant": variant, "tool": NONE, "status": NONE, "detail": str(error)})
        return rows
    rows = over(session, work, chosen(session, [every[name] for name in steps]))
    return {"rows": rows}, ["model", "plan", "tool", "", ""], [
        [r["case"], r.get("variant"), r.get("tool"), r["status"], r["detail"]] for r in rows]


# Relative to the CPU's in f32. In bf16 both operands and the result are rounded, each by 1.7e-3 in the mean: 2.9e-3 together.
KERNEL_BOUNDS = {"f32": 2e-5, "tf32": 2e-3, "bf16": 5e-3}


def kernel_case(session, case):
    """Products and convolutions of the table: what two steps leave in the one state that they change, beside the CPU."""
    rows, state, results = [], "c" if "kind" in case.settings else "state", {}
    for variant in ("cpu-f32", *(f"gpu-{precision}{road}" for precision in KERNEL_BOUNDS for road in ("", *(f"-{road}" for road in case.roads)))):
        final = os.path.join(session.scratch, f"{case.name}.{variant}.safetensors")
        try:
            session.dlrun(session.plan(case, variant), "--data", session.data(case), "--steps", 2, "--seed", 1, "--every", "eval=0",
                          "--save-final", final, *threads(variant))
            results[variant] = np.array(safetensors.load(final)[state], np.float64)
            os.remove(final)
        except (Missing, Failed) as error:
            rows.append({"case": case.name, "variant": variant, "status": NONE if isinstance(error, Missing) else FAIL, "detail": str(error)})
            continue
        if variant != "cpu-f32" and "cpu-f32" in results:
            right = results["cpu-f32"]
            error = float(np.linalg.norm(results[variant] - right) / np.linalg.norm(right))
            good = error <= KERNEL_BOUNDS[variant.split("-")[1]]
            rows.append({"case": case.name, "variant": variant, "status": OK if good else FAIL, "error": error,
                         "detail": "" if good else f"a relative error of {error:.2g}"})
    return rows


def kernels(session):
    rows = over(session, lambda case: kernel_case(session, case), chosen(session, [case for case, _ in cases.table_cases()]))
    bad = [r for r in rows if r["status"] != OK]
    variants = sorted({row["variant"] for row in rows if "error" in row})
    worst = {v: max(r["error"] for r in rows if r.get("variant") == v and "error" in r) for v in variants}
    return {"rows": rows, "worst": worst}, ["kernel", "plan", "", "error", ""], [
        *[[r["case"], r.get("variant"), r["status"], r.get("error"), r["detail"]] for r in bad],
        *[[f"{sum(r['status'] == OK for r in rows)} others, the worst", v, OK, e, ""] for v, e in worst.items()]]
