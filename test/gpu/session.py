"""What the parts of the script share: the folder with the plans, dlrun, deadlines, tables."""

import ctypes
import glob
import gzip
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import cases

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from numpy_twin import safetensors  # noqa: E402,F401  for the parts

OK, FAIL, NONE = "ok", "FAIL", "-"

# Operations in f32, and in tf32 and bf16 with tensor cores, of an SM in a cycle, by compute capability.
PER_CYCLE = {(8, 0): (128, 1024, 2048), (8, 6): (256, 256, 512), (8, 9): (256, 256, 512), (9, 0): (256, 2048, 4096)}


class Missing(Exception):
    """There is no such plan; says why."""


class Failed(Exception):
    """A tool failed or took too long."""


class Session:
    def __init__(self, options, scratch):
        self.options, self.folder, self.scratch = options, os.path.abspath(options.folder), scratch
        with open(os.path.join(self.folder, "manifest.json"), encoding="utf-8") as file:
            self.manifest = json.load(file)
        self.dlrun_path = os.path.join(self.folder, "bin", "dlrun")
        os.chmod(self.dlrun_path, 0o755)
        self.mnist = unpacked(os.path.join(self.folder, "data", "mnist"), os.path.join(scratch, "mnist"))
        self.until, self.libraries = time.monotonic(), set()
        self.lock, self.locks = threading.Lock(), {}
        self.log = os.path.join(options.out, "contenders.log")

    def left(self):
        return self.until - time.monotonic()

    def plan(self, case, variant):
        entry = self.manifest["cases"].get(case.name)
        if not entry or variant not in entry["plans"]:
            raise Missing("not prepared")
        return self.file(entry["plans"][variant])

    def has(self, case):
        return case.name in self.manifest["cases"]

    def file(self, plan):
        """Of a plan in the manifest."""
        if "file" not in plan:
            why = (plan["error"].strip().splitlines() or [f"exit code {plan['code']}"])[0]
            raise Missing(f"refused: {why}") if plan["code"] == 3 else Failed(f"dlcc: {why}")
        return os.path.join(self.folder, plan["file"])

    def once(self, key, make):
        """make(), by the first thread that asks for `key`; the others wait for it."""
        with self.lock:
            lock = self.locks.setdefault(key, threading.Lock())
        with lock:
            make()

    def data(self, case):
        folder = os.path.join(self.scratch, "data", case.name)
        self.once(folder, lambda: case.make_data(folder, self.mnist))
        return case.make_data(folder, self.mnist)

    def init(self, case):
        """Initial weights, as the CPU's plan draws them."""
        file = os.path.join(self.scratch, case.name + ".init.safetensors")

        def make():
            if os.path.exists(file):
                return
            if case.port:
                safetensors.save(file, self.drawn(case))
            else:
                self.dlrun(self.plan(case, "cpu-f32"), "--data", self.data(case), "--steps", 0, "--seed", 1, "--save-final", file)
        self.once(file, make)
        return file

    def drawn(self, case):
        """A port's weights, chosen so that no rounding of f32 decides a maximum, and buffers as they begin."""
        info = self.info(self.plan(case, "cpu-f32"))
        shapes = {state["name"]: state["shape"] for state in info["states"] if state["role"] == "parameter"}
        buffers = {state["name"]: np.full(state["shape"], state["name"].endswith("running_var"), np.float32)
                   for state in info["states"] if state["role"] == "buffer" and not state["name"].endswith("num_batches_tracked")}
        return case.port.weights(shapes) | buffers

    def dlrun(self, *arguments, limit=60, before=()):
        """The events of a run, which must succeed."""
        command = [*before, self.dlrun_path, *map(str, arguments), "--json"]
        done = run(command, min(limit, max(1, self.left())), self.scratch)
        if done.returncode:
            raise Failed(f"exit code {done.returncode}: {last_lines(done.stderr or done.stdout)}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def info(self, plan):
        return json.loads(run([self.dlrun_path, "info", plan, "--json"], 30, self.scratch).stdout)

    def bench(self, plan, data, seconds):
        """{"median_ms", "mean_ms", ...} of dlrun bench."""
        events = self.dlrun("bench", plan, "--data", data, "--seconds", seconds, limit=60 + 3 * seconds)
        self.libraries |= {event["library"] for event in events if "library" in event}
        return next(e for e in events if e["event"] == "bench")

    def flops(self, plan):
        """Of the first program's kernels and products, and how many of them it has."""
        info = self.info(plan)
        commands = info["steps"][0]["programs"][0]["commands"]
        launches = [c for c in commands if c["kind"] in ("launch", "multiply")]
        return sum(info["kernels"][c["kernel"]]["flops"] for c in launches), len(launches)

    def products(self, plan):
        """How many commands of the first program are cuBLASLt's."""
        return sum(c["kind"] == "multiply" for c in self.info(plan)["steps"][0]["programs"][0]["commands"])


def unpacked(folder, target):
    """MNIST travels compressed; a run should not wait for that."""
    os.makedirs(target)
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        opened = gzip.open if name.endswith(".gz") else open
        with opened(os.path.join(folder, name), "rb") as file, open(os.path.join(target, name.removesuffix(".gz")), "wb") as out:
            out.write(file.read())
    return target


# Behind what the user has said, where toolkits and PyTorch's wheels have cuBLASLt. For dlrun alone: contenders bring their own.
CUBLASLT = ["/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib", *(os.path.join(folder, "nvidia", name, "lib") for folder in sys.path for name in ("cu13", "cublas"))]


def environment():
    folders = [folder for pattern in CUBLASLT for folder in sorted(glob.glob(pattern)) if glob.glob(os.path.join(folder, "libcublasLt.so.1[123]"))]
    known = os.environ.get("LD_LIBRARY_PATH")
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(([known] if known else []) + folders)} if folders else None


def run(command, limit, folder):
    """Runs a command; one that is not done in time is killed with all that it started."""
    with subprocess.Popen(command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", start_new_session=True) as process:
        try:
            out, error = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failed(f"not done within {limit:.0f} s: {' '.join(os.path.basename(w) for w in command[:4])}") from None
    return subprocess.CompletedProcess(command, process.returncode, out, error)


def last_lines(text, lines=4):
    return " | ".join(text.strip().splitlines()[-lines:])[:600]


class Contender:
    """A process that answers each line with a JSON object; see peers/serving.py."""

    def __init__(self, session, name, script, *arguments, environment=None):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers", script)
        self.name, self.log = name, open(session.log, "a", encoding="utf-8")
        print(f"== {name}", file=self.log, flush=True)
        self.process = subprocess.Popen([session.options.python, path, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, start_new_session=True, cwd=session.scratch,
                                        env={**os.environ, "PYTHONWARNINGS": "ignore", "DL_STARTED": str(time.monotonic()), **(environment or {})})
        self.answers = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.answers.put(json.loads(line))
        self.answers.put({"error": f"ended; see {os.path.basename(self.log.name)}"})

    def answer(self, limit):
        try:
            return self.answers.get(timeout=max(0.1, limit))
        except queue.Empty:
            self.end()
            return {"error": f"no answer within {limit:.0f} s"}

    def ask(self, line, limit):
        if self.process.poll() is not None:
            return {"error": "ended"}
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except OSError as error:
            return {"error": str(error)}
        return self.answer(limit)

    def prepared(self, until):
        """(facts, {mode that is ready: seconds}, {mode that is not: why})."""
        facts, ready, missing = {}, {}, {}
        while True:
            said = self.answer(until - time.monotonic())
            if "ready" in said:
                ready[said["ready"]] = said["seconds"]
            elif "missing" in said:
                missing[said["missing"]] = said["why"]
            elif "prepared" in said:
                return said, ready, missing
            else:
                facts["why"] = said.get("error", "nonsense")
                return facts, {}, missing

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()


def query(fields):
    """What nvidia-smi says of the first GPU, by field."""
    try:
        done = run(["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits", "--id=0"], 20, None)
    except (OSError, Failed) as error:
        return {"error": str(error)}
    values = [value.strip() for value in done.stdout.strip().split(",")]
    return dict(zip(fields, values)) if len(values) == len(fields) else {"error": last_lines(done.stdout + done.stderr)}


def driver_facts():
    """Version of the driver's interface, SMs and compute capability, without any library but the driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        value, device = ctypes.c_int(), ctypes.c_int()
        facts = {"init": driver.cuInit(0)}
        if facts["init"] or driver.cuDeviceGet(ctypes.byref(device), 0):
            return facts
        driver.cuDriverGetVersion(ctypes.byref(value))
        facts["cuda"] = value.value
        for name, attribute in (("sms", 16), ("major", 75), ("minor", 76), ("l2_bytes", 38), ("clock_khz", 13)):
            driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
            facts[name] = value.value
        return facts
    except OSError as error:
        return {"error": str(error)}


def describe(session):
    fields = ["name", "driver_version", "memory.total", "clocks.max.sm", "clocks.max.mem", "power.limit", "temperature.gpu"]
    facts = {"gpu": query(fields), "driver": driver_facts(), "cores": os.cpu_count(), "commit": session.manifest["commit"],
             "target": session.manifest["target"], "date": time.strftime("%Y-%m-%d %H:%M")}
    driver = facts["driver"]
    rates = PER_CYCLE.get((driver.get("major"), driver.get("minor")))
    clock = facts["gpu"].get("clocks.max.sm")
    mhz = float(clock) if clock and clock.replace(".", "").isdigit() else driver.get("clock_khz", 0) / 1e3
    if rates and mhz:  # of this many operations a second the tables give percentages
        facts["peak_tflops"] = {name: rate * driver["sms"] * mhz * 1e-6 for name, rate in zip(cases.FAST, rates)}
    return facts


class Clocks:
    """Clock and power of the GPU while something runs, twice a second."""

    def __enter__(self):
        self.lines = []
        try:
            self.process = subprocess.Popen(["nvidia-smi", "--query-gpu=clocks.sm,power.draw,temperature.gpu", "--format=csv,noheader,nounits",
                                             "--id=0", "--loop-ms=500"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            self.process = None
            return self
        threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True).start()
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
            self.process.wait()

    def facts(self):
        rows = []
        for line in list(self.lines):
            try:
                rows.append([float(value) for value in line.split(",")])
            except ValueError:
                continue
        names = ("sm_mhz", "watts", "celsius")
        return {name: [min(column), max(column)] for name, column in zip(names, zip(*rows))}


def cell(value):
    if value is None:
        return NONE
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    text = " ".join(str(value).split())
    return text if len(text) <= 120 else text[:117] + "..."


def table(title, columns, rows):
    """Markdown that is readable as it is."""
    lines = [[cell(value) for value in row] for row in [columns, *rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    text = ["| " + " | ".join(value.ljust(w) if i == 0 else value.rjust(w) for i, (value, w) in enumerate(zip(line, widths))) + " |"
            for line in lines]
    text.insert(1, "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|")
    return f"{title}\n\n" + "\n".join(text) + "\n"
