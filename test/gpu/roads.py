"""The roads that CPU plans can go, on the GPU: resumed from one device to the other, evaluated, traced, stopped by wrong data."""

import json
import os

import numpy as np

import cases
from checks import guarded, metric_excess, threads, train, weight_excesses
from session import FAIL, NONE, OK, Failed, Missing, run, safetensors

RESUMED = ["mnist", "transformer-small"]
STEPS = 30


def resume(session, case):
    """A run that begins on the CPU, goes on on the GPU and ends on the CPU, beside runs that stay there; bounds as in `correct`."""
    folder, final = (os.path.join(session.scratch, f"{case.name}.{kind}") for kind in ("run", "resumed"))
    start = ["--data", session.data(case), "--init", session.init(case), "--seed", 1, "--every", "log=1,eval=0", "--out", folder]
    session.dlrun(session.plan(case, "cpu-f32"), *start, "--steps", STEPS // 3, *threads("cpu"))
    events = session.dlrun("resume", folder, "--plan", session.plan(case, "gpu-f32"), "--steps", 2 * STEPS // 3)
    session.dlrun("resume", folder, "--plan", session.plan(case, "cpu-f32"), "--steps", STEPS, "--save-final", final, *threads("cpu"))
    right, own = (safetensors.load(train(session, case, variant, STEPS, ".whole")[1]) for variant in ("cpu-f64", "cpu-f32"))
    excess = weight_excesses("f32", STEPS, safetensors.load(final), right, own, {})
    worst, went = max(excess, key=excess.get), sum(event["event"] == "step" for event in events)
    return f"{worst}: {excess[worst]:.3g} of the bound, {went} steps between", excess[worst] <= 1 and went == STEPS // 3


def evaluate(session, case):
    """dlrun eval of the same weights."""
    found = {}
    for variant in ("cpu-f32", "cpu-f64", "gpu-f32"):
        events = session.dlrun("eval", session.plan(case, variant), "--data", session.data(case), "--init", session.init(case), *threads(variant))
        found[variant] = next(event for event in events if event["event"] == "eval")
    numbers = {name: [np.array([float(found[v][name])]) for v in ("gpu-f32", "cpu-f64", "cpu-f32")] for name in ("loss", "accuracy")}
    excess = max(metric_excess("f32", name, *values) for name, values in numbers.items())
    return f"loss {found['gpu-f32']['loss']}, accuracy {found['gpu-f32']['accuracy']}: {excess:.3g} of the bound", excess <= 1


def traced(session, case, variant, steps):
    """The launches of a run's trace, with what the trace says of each."""
    file = os.path.join(session.scratch, f"{case.name}.{variant}.trace.json")
    session.dlrun(session.plan(case, variant), "--data", session.data(case), "--steps", steps, "--every", "eval=0", "--trace", file)
    with open(file, encoding="utf-8") as text:
        events = json.load(text)["traceEvents"]
    os.remove(file)
    return [event for event in events if event["ph"] == "X" and "kernel" in event.get("args", {})]


def trace(session, case):
    """A trace that names every kernel of a step."""
    names = {event["args"]["kernel"] for event in traced(session, case, "gpu-f32", 5)}
    commands = session.info(session.plan(case, "gpu-f32"))["steps"][0]["programs"][0]["commands"]
    wanted = {command["name"] for command in commands if command["kind"] in ("launch", "multiply")}
    lost = sorted(wanted - names)
    return f"{len(wanted)} kernels" + (f", {len(lost)} not in the trace: {lost[0]}" if lost else ""), not lost


def profile(session):
    """Which kernels take a step's time, by the trace of twenty steps; of each the median, so the first steps do not count."""
    rows, options = [], session.options
    for case in cases.MEASURED:
        for precision in options.precisions:
            if options.models and case.name not in options.models:
                continue
            try:
                events = traced(session, case, f"gpu-{precision}", 20)
                rows += profiled(case, precision, events)
            except (Missing, Failed, KeyError, ValueError) as error:
                rows.append({"case": case.name, "precision": precision, "kernel": NONE, "status": NONE if isinstance(error, Missing) else FAIL,
                             "detail": f"{type(error).__name__}: {error}"})
    keys = ["case", "precision", "kernel", "times", "us", "percent", "gflops", "gb_s", "tiles", "detail"]
    return {"rows": rows}, ["model", "precision", "kernel", "times", "us in all", "%", "GFLOP/s", "GB/s", "", "where"], [
        [row.get(key) for key in keys] for row in rows if row.get("shown", True)]


def profiled(case, precision, events):
    kernels = {}
    for event in events:
        at = event["args"]
        one = kernels.setdefault(at["kernel"], {"commands": {}, "args": at, "cat": event.get("cat", "")})
        # Tiles of a command in one update are one launch, whoever computed them.
        runs = one["commands"].setdefault(at.get("command"), {})
        runs[at.get("update")] = runs.get(at.get("update"), 0) + event["dur"]
    rows = []
    for name, one in kernels.items():
        microseconds = sum(float(np.median(list(runs.values()))) for runs in one["commands"].values())
        times, at = len(one["commands"]), one["args"]
        rows.append({"case": case.name, "precision": precision, "status": OK, "kernel": name, "times": times, "us": microseconds, "strategy": one["cat"],
                     "gflops": 1e-3 * times * at.get("flops", 0) / max(microseconds, 1e-9), "gb_s": 1e-3 * times * at.get("bytes", 0) / max(microseconds, 1e-9),
                     "tiles": at.get("tiles", "").rpartition(" ")[2], "detail": os.path.basename(at.get("line", ""))})
    rows.sort(key=lambda row: -row["us"])
    whole = sum(row["us"] for row in rows)
    for place, row in enumerate(rows):
        row |= {"percent": 100 * row["us"] / whole, "shown": place < 12}
    return rows


def wrong_label(session, case):
    """A label that is no class stops both with the same words."""
    folder = os.path.join(session.scratch, "wrong")
    os.makedirs(folder)
    arrays = {file: make(np.random.RandomState(0), case.items) for file, make in case.tensors.items()}
    arrays["y.npy"][1] = 10
    for file, array in arrays.items():
        np.save(os.path.join(folder, file), array)
    said = []
    for variant in ("cpu-f32", "gpu-f32"):
        done = run([session.dlrun_path, session.plan(case, variant), "--data", folder, "--steps", "3", "--no-shuffle", "--quiet"], 30, session.scratch)
        said.append((done.returncode, done.stderr.strip().splitlines()[-1:]))
    return f"{said[1]}" + ("" if said[0] == said[1] else f", on the CPU {said[0]}"), said[0] == said[1] and said[0][0] == 1


def not_a_number(session, case):
    """What is not a number stops a run of the GPU as it stops one of the CPU."""
    codes = []
    for variant in ("cpu-f32", "gpu-f32"):
        done = run([session.dlrun_path, session.plan(case, variant), "--data", session.data(case), "--steps", "40", "--set", "optim.lr=1e30", "--halt-on",
                    "nan,inf", "--every", "eval=0", "--quiet"], 30, session.scratch)
        codes.append(done.returncode)
    return f"exit codes {codes[0]} and {codes[1]}", codes == [1, 1]


def roads(session):
    rows = []
    tasks = [("resume", resume, name) for name in RESUMED] + [
        ("eval", evaluate, "mnist"), ("trace", trace, "mnist"), ("wrong label", wrong_label, "convnet-4-plain"), ("halt-on", not_a_number, "mlp-64")]
    for what, task, name in tasks:
        if session.options.models and name not in session.options.models:
            continue

        def one(case, task=task, what=what):
            row = {"case": case.name, "what": what}
            try:
                row["detail"], good = task(session, case)
                return [row | {"status": OK if good else FAIL}]
            except (Missing, Failed) as error:
                return [row | {"status": NONE if isinstance(error, Missing) else FAIL, "detail": str(error)}]
        rows += guarded(one, cases.BY_NAME[name])
    return {"rows": rows}, ["road", "model", "", ""], [[r.get("what"), r["case"], r["status"], r["detail"]] for r in rows]
