"""How fast is it? Training steps, products and convolutions beside PyTorch and JAX, in turns.

Ours is `dlrun bench`: every step also copies its batch to the device and its metrics back. The others' batch lies on the device
and nobody fetches their loss, which favours them. All are timed without waiting for the device between steps.
"""

import json
import os
import statistics
import time

import cases
from session import FAIL, NONE, OK, Clocks, Contender, Failed, Missing

# Contenders that share a process; torch.compile has one of its own for each form, so that it can be given up alone.
PROCESSES = [("torch_gpu.py", ("eager", "channels_last", "graph")), ("torch_gpu.py", ("compile",)), ("torch_gpu.py", ("compile_graph",)),
             ("jax_gpu.py", ("jit",))]
MODES = {"eager": "eager", "channels_last": "NHWC", "graph": "eager, one graph", "compile": "max-autotune", "compile_graph": "compiled, one graph",
         "jit": "jax.jit"}
COMPILED = ("compile", "compile_graph", "jit")
# Models whose contenders are prepared at once: (cases, precisions).
GROUPS = [(["convnet-4", "convnet-64", "mlp-64", "mlp-256"], ["f32"]), (["resnet18-128"], cases.FAST), (["transformer-32"], cases.FAST),
          (["gpt2-8"], cases.FAST[1:])]
LOSS_STEPS = {"convnet": 20, "mlp": 20, "resnet18": 5, "transformer": 5, "gpt2": 2}
FIRST = ["linear", "mnist", "mnist_mlp", "convnet-64", "resnet18-128", "transformer-32"]


def family(case):
    return os.path.basename(case.source).removesuffix(".dl")


def modes_of(case, options):
    left_out = set() if family(case) in ("convnet", "resnet18") else {"channels_last"}
    if family(case) in ("resnet18", "transformer", "gpt2"):
        left_out.add("compile_graph")  # launches are no part of what counts there
    if family(case) == "gpt2":
        left_out.add("jit")  # jax_gpu.py has none
    return [mode for mode in options.peers if mode in MODES and mode not in left_out]


def specification(session, case, precision):
    file = os.path.join(session.scratch, f"{case.name}.{precision}.json")
    drops = family(case) == "convnet" and case.settings.get("dropout", 0.5) != 0
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"source": case.source, "settings": case.settings, "data": session.data(case), "items": case.batch, "weights": session.init(case),
                   "precision": precision, "device": session.options.device, "dropout": 0.5 if drops else 0.0}, out)
    return file


class Measured:
    """One model in one precision: ours and its contenders."""

    def __init__(self, session, case, precision):
        self.session, self.case, self.precision = session, case, precision
        self.peers, self.modes, self.why, self.facts, self.times = [], {}, {}, {}, {}
        self.launches, self.flops, self.clocks, self.failure = None, None, {}, None

    def start(self):
        specification_file = specification(self.session, self.case, self.precision)
        chosen = modes_of(self.case, self.session.options)
        threads = "4" if len(GROUPS[0][0]) > 1 else "8"
        for script, modes in PROCESSES:
            modes = [mode for mode in modes if mode in chosen]
            if modes:
                name = f"{self.case.name} {self.precision} {' '.join(modes)}"
                self.peers.append((modes, Contender(self.session, name, script, specification_file, *modes,
                                                    environment={"TORCHINDUCTOR_COMPILE_THREADS": threads})))

    def wait(self, until):
        for modes, peer in self.peers:
            facts, ready, missing = peer.prepared(until)
            for mode in modes:
                if mode in ready:
                    self.modes[mode] = peer
                    self.facts[mode] = {key: facts[key] for key in ("version", "product_error") if key in facts} | {"prepare_s": ready[mode]}
                else:
                    self.why[mode] = missing.get(mode, facts.get("why", "not ready"))

    def round(self):
        session, case = self.session, self.case
        if not self.failure:
            try:
                event = session.bench(session.plan(case, f"gpu-{self.precision}"), session.data(case), session.options.seconds)
                self.times.setdefault("ours", []).append(event["median_ms"])
                self.times.setdefault("ours_mean", []).append(1e3 * case.batch / event["items_per_s"])
                for road in case.roads:
                    event = session.bench(session.plan(case, f"gpu-{self.precision}-{road}"), session.data(case), session.options.seconds)
                    self.times.setdefault(road, []).append(event["median_ms"])
            except (Missing, Failed) as error:
                self.failure = str(error)  # the others are measured nevertheless
        for mode, peer in list(self.modes.items()):
            said = peer.ask(f"time {mode} {session.options.seconds}", 30 + 10 * session.options.seconds)
            if "median_ms" in said:
                self.times.setdefault(mode, []).append(said["median_ms"])
            else:
                self.why[mode] = said.get("error", "no time")
                del self.modes[mode]

    def losses(self):
        """After some steps from the same weights on the same batch without dropout."""
        plain = cases.BY_NAME.get(self.case.name + "-plain", self.case)
        steps, found = LOSS_STEPS[family(self.case)], {}
        try:
            events = self.session.dlrun(self.session.plan(plain, f"gpu-{self.precision}"), "--data", self.session.data(self.case), "--init",
                                        self.session.init(self.case), "--steps", steps, "--no-shuffle", "--every", "log=1,eval=0")
            found["ours"] = [event["loss"] for event in events if event["event"] == "step"][-1]
        except (Missing, Failed) as error:
            found["why"] = str(error)
        for mode, peer in self.modes.items():
            said = peer.ask(f"loss {mode} {steps}", 60)
            if said.get("loss") is not None:
                found[mode] = said["loss"]
        return found

    def row(self, losses):
        medians = {name: statistics.median(times) for name, times in self.times.items()}
        ours, others = medians.get("ours"), {m: medians[m] for m in MODES if m in medians}
        compiled = [medians[m] for m in COMPILED if m in medians]
        numbers = [value for value in losses.values() if isinstance(value, float)]
        agree = max(numbers) - min(numbers) <= (1e-3 if self.precision == "f32" else 3e-2) * max(map(abs, numbers)) if len(numbers) > 1 else None
        row = {"case": self.case.name, "precision": self.precision, "status": FAIL if agree is False or ours is None else OK, "ours_ms": ours,
               "ours_mean_ms": medians.get("ours_mean"), **{f"{road}_ms": medians.get(road) for road in ("own", "apart")}, "peers_ms": others, "spread": {n: [min(t), max(t)] for n, t in self.times.items()},
               "losses": losses, "agree": agree, "why": self.why, "facts": self.facts, "launches": self.launches, "clocks": self.clocks}
        if ours:
            row |= {"of_eager": medians["eager"] / ours if "eager" in medians else None, "of_compiled": min(compiled) / ours if compiled else None,
                    "of_best": min(others.values()) / ours if others else None,
                    "tflops": self.flops / ours * 1e-9 if self.flops else None}
            peak = self.session.peaks.get(self.precision)
            row["of_peak"] = 100 * row["tflops"] / peak if peak and row["tflops"] else None
        return row

    def end(self):
        for _, peer in self.peers:
            peer.end()


def measure_group(session, measured):
    """Rows of models whose contenders get ready together."""
    options, rows = session.options, []
    until = min(time.monotonic() + options.compile_seconds, session.until - (75 if len(measured) == 3 else 50))  # what is left is for measuring
    for one in measured:
        one.start()
    for one in measured:
        one.wait(until)
    for place, one in enumerate(measured):
        try:
            one.flops = session.flops(session.plan(one.case, "cpu-f32"))[0]  # what the model needs, counted the same way for all
            one.launches = session.flops(session.plan(one.case, f"gpu-{one.precision}"))[1]
        except (Missing, Failed):
            pass  # the first round tells
        with Clocks() as clocks:
            for turn in range(options.rounds):
                if session.left() > 5 + 10 * (len(measured) - 1 - place) or turn == 0:  # the others want a round, too
                    one.round()
        one.clocks = clocks.facts()
        failure = one.failure
        rows.append(one.row(one.losses()) | ({"status": FAIL, "failure": failure} if failure else {}))
        print(f"   {one.case.name} {one.precision}: {json.dumps({n: round(statistics.median(t), 4) for n, t in one.times.items()})}"
              f" {failure or ''} {json.dumps(one.why) if one.why else ''}", flush=True)
        one.end()
    return rows


def bench(session):
    rows, options = [], session.options
    for names, precisions in GROUPS:
        names = [name for name in names if not options.models or name in options.models]
        names = [name for name in names if name != cases.GPT2.name or session.has(cases.GPT2)]
        measured = [Measured(session, cases.BY_NAME[name], precision) for name in names for precision in precisions if precision in options.precisions]
        try:
            if measured:
                rows += measure_group(session, measured)
        finally:
            for one in measured:
                one.end()
    note = ("ms a step; then a contender's time over ours (more than 1: ours is faster), compiled ones being max-autotune, its form in one graph, and JAX; "
            "ours in % of the peak")
    columns = ["model", "precision", "ours", "without cuBLASLt", "without chains", *MODES.values(), "of eager", "of best compiled", "of best", "% of peak", "losses", ""]
    return {"rows": rows, "note": note}, columns, [
        [r["case"], r["precision"], r["ours_ms"], r.get("own_ms"), r.get("apart_ms"), *[r["peers_ms"].get(mode) for mode in MODES], r.get("of_eager"), r.get("of_compiled"), r.get("of_best"),
         r.get("of_peak"), {True: "agree", False: "DIFFER", None: NONE}[r["agree"]],
         r.get("failure") or "; ".join(f"{mode}: {why}" for mode, why in r["why"].items())] for r in rows]


def first_step(session):
    """From exec to the end of the first step, as dlrun tells it and by the wall clock of the whole process."""
    rows = []
    for name in FIRST:
        case = cases.BY_NAME[name]
        if session.options.models and name not in session.options.models:
            continue
        row = {"case": name, "status": OK, "detail": ""}
        try:
            plan, inside, outside = session.plan(case, "gpu-f32"), [], []
            data = session.data(case)
            for _ in range(session.options.rounds):
                started = time.monotonic()
                event = session.dlrun(plan, "--data", data, "--steps", 1, "--every", "eval=0", limit=20)[-1]
                outside.append(1e3 * (time.monotonic() - started))
                inside.append(event["first_step_ms"])
            row |= {"ours_ms": statistics.median(inside), "first_ms": inside[0], "process_ms": statistics.median(outside)}
        except (Missing, Failed) as error:
            row |= {"status": NONE if isinstance(error, Missing) else FAIL, "detail": str(error)}
        rows.append(row)
    for row in rows:
        case = cases.BY_NAME[row["case"]]
        if "ours_ms" in row and case.name == "convnet-64":
            for script, mode in (("torch_gpu.py", "eager"), ("jax_gpu.py", "jit")):
                if mode in session.options.peers:
                    peer = Contender(session, f"first step {mode}", script, specification(session, case, "f32"), mode)
                    row[mode] = peer.prepared(min(time.monotonic() + 40, session.until))[0].get("first_step_ms")
                    peer.end()
    return {"rows": rows}, ["model", "ours, ms", "the first run's", "whole process", "PyTorch eager", "jax.jit", ""], [
        [r["case"], r.get("ours_ms"), r.get("first_ms"), r.get("process_ms"), r.get("eager"), r.get("jit"), r["detail"]] for r in rows]


def graph(session):
    """A step of 300 products of 2 x 2 matrices: what one more kernel in a graph costs."""
    case, options = cases.CHAIN, session.options
    one, row = Measured(session, case, "f32"), {"case": case.name, "status": OK, "detail": ""}
    try:
        plan = session.plan(case, "gpu-f32")
        row["launches"] = session.flops(plan)[1]
        options_peers, options.peers = options.peers, [mode for mode in options.peers if mode in ("eager", "graph")]
        one.start()
        options.peers = options_peers
        one.wait(min(time.monotonic() + 40, session.until))
        for _ in range(min(3, options.rounds)):
            one.round()
        if one.failure:
            row |= {"status": FAIL, "failure": one.failure}
        row |= {name: statistics.median(times) for name, times in one.times.items()}
        row["detail"] = "; ".join(f"{mode}: {why}" for mode, why in one.why.items())
    except (Missing, Failed) as error:
        row |= {"status": NONE if isinstance(error, Missing) else FAIL, "detail": str(error)}
    finally:
        one.end()
    each = 1e3 * row["ours"] / row["launches"] if "ours" in row else None
    return {"rows": [row]}, ["step", "kernels", "ours, ms", "us a kernel", "PyTorch eager", "its graph", ""], [
        [case.name, row.get("launches"), row.get("ours"), each, row.get("eager"), row.get("graph"), row["detail"]]]


def table(session):
    rows, options = [], session.options
    peer, version = None, None
    if any(mode != "jit" for mode in options.peers if mode in MODES):
        peer = Contender(session, "table", "torch_table.py", options.device, min(0.1, options.seconds))
        version, _, _ = peer.prepared(time.monotonic() + 60)
    with Clocks() as clocks:
        for case, flops in cases.table_cases():
            if options.models and case.name not in options.models:
                continue
            for precision in options.precisions:
                rows.append(table_row(session, case, flops, precision, peer))
    if peer:
        peer.end()
    note = f"one operation; products by {', '.join(sorted(session.libraries)) or 'no library'}; clocks and power while it ran {json.dumps(clocks.facts())}, peaks {json.dumps(session.peaks)} TFLOP/s"
    return {"rows": rows, "note": note, "peer": version}, ["operation", "precision", "ours, us", "by", "own kernel, us", "cuBLASLt, us", "torch, us", "ratio", "GFLOP/s", "torch's", "% of peak",
                                                           "torch's", ""], [
        [r["case"], r["precision"], microseconds(r, "ours_ms"), r.get("by"), *[microseconds(r, f"{k}_ms") for k in (*cases.ROADS, "torch")], r.get("ratio"), r.get("gflops"),
         r.get("torch_gflops"), r.get("of_peak"), r.get("torch_of_peak"), r["detail"]] for r in rows]


def microseconds(row, key):
    return 1e3 * row[key] if row.get(key) else None


def table_row(session, case, flops, precision, peer):
    row, peak = {"case": case.name, "precision": precision, "status": OK, "detail": "", "flops": flops}, session.peaks.get(precision)
    if session.left() < 3:
        return row | {"status": FAIL, "detail": "no time left for it"}
    try:
        for road in ("", *case.roads):
            plan = session.plan(case, f"gpu-{precision}-{road}" if road else f"gpu-{precision}")
            if road != "library" or session.products(plan):
                event = session.bench(plan, session.data(case), min(0.25, session.options.seconds))
                row[f"{road or 'ours'}_ms"] = event["median_ms"] / case.settings["repeat"]
            if not road:
                row["by"] = "cuBLASLt" if session.products(plan) else "own"
    except (Missing, Failed) as error:
        row |= {"status": NONE if isinstance(error, Missing) else FAIL, "detail": str(error)}
    if peer:
        said = peer.ask(json.dumps({"settings": case.settings, "precision": precision}), 30)
        row["torch_ms"] = said.get("ms")
        row["detail"] += "" if row["torch_ms"] else " PyTorch: " + said.get("error", "no time")
    for name, key, of_peak in (("ours_ms", "gflops", "of_peak"), ("torch_ms", "torch_gflops", "torch_of_peak")):
        if row.get(name):
            row[key] = flops / row[name] * 1e-6
            row[of_peak] = 0.1 * row[key] / peak if peak else None
    if row.get("ours_ms") and row.get("torch_ms"):
        row["ratio"] = row["torch_ms"] / row["ours_ms"]
    return row
