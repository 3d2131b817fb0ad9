"""What the measurements share: the machine's name, its FMA peak, pinned runs of dlrun."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import dltools  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        lines = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return lines[0] if lines else "unknown"


def describe():
    with open("/proc/loadavg", encoding="utf-8") as file:
        load = float(file.read().split()[0])
    return {"cpu": cpu_model(), "cores": os.cpu_count(), "load_at_start": load}


def pinned(command, cores):
    """A command that runs on the first `cores` cores of those this process may use."""
    chosen = ",".join(map(str, sorted(os.sched_getaffinity(0))[:cores]))
    return ["taskset", "-c", chosen, *map(str, command)]


class Peak:
    """The FMA peak of one core in GFLOP/s, measured again each time it is asked for."""

    def __init__(self, folder):
        self.program = os.path.join(folder, "peak")
        compiler = "clang-22" if subprocess.run(["which", "clang-22"], capture_output=True).returncode == 0 else "clang"
        subprocess.run([compiler, "-O2", os.path.join(HERE, "peak.c"), "-o", self.program], check=True)

    def measure(self):
        result = subprocess.run(pinned([self.program], 1), capture_output=True, text=True)
        return max(json.loads(result.stdout).values())


def bench(plan, cores, *arguments, cwd=None, seconds=1.0):
    """One `dlrun bench` on pinned cores: its bench event."""
    command = pinned([dltools.DLRUN, "bench", plan, "--threads", cores, "--seconds", seconds, "--json", *arguments], cores)
    for line in dltools.run(*command, cwd=cwd).splitlines():
        event = json.loads(line)
        if event["event"] == "bench":
            return event
    raise RuntimeError("dlrun bench gave no bench event")


def median(values):
    return statistics.median(values)


def scratch():
    return tempfile.TemporaryDirectory(prefix="dl-bench-")


def table(title, columns, rows):
    """A table on stderr for people; the JSON on stdout is for machines."""
    cells = [[str(c) for c in columns]] + [[f"{c:.3g}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print(title, file=sys.stderr)
    for row in cells:
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths)), file=sys.stderr)
