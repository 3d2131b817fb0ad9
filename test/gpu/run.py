#!/usr/bin/python3
"""Runs the plans of test/gpu/prepare.sh on a GPU: right, and how fast beside others?

    test/gpu/run.sh FOLDER [--part smoke,correct,...] [--models NAME,...] [--peers eager,...] [--out FOLDER]

Every part has a limit in seconds (--limit bench=300 sets another); what does not end is killed, and the next one begins. Tables
come last, gpu.json and gpu.md have all of it. The exit code is 1 if anything was wrong.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import traceback

import bits
import cases
import checks
import programs
import roads
import session as sessions
import speed

# Name: (function, seconds); --total holds for all together.
PARTS = {
    "smoke": (checks.smoke, 45),
    "bits": (bits.check, 60),
    "correct": (checks.correct, 200),
    "sanitize": (checks.sanitize, 160),
    "roads": (roads.roads, 60),
    "ports": (checks.ports, 180),
    "programs": (programs.check, 120),
    "kernels": (checks.kernels, 180),
    "first_step": (speed.first_step, 45),
    "graph": (speed.graph, 45),
    "profile": (roads.profile, 80),
    "table": (speed.table, 370),
    "bench": (speed.bench, 550),
}
STANDARD = ("smoke", "bits", "correct", "roads", "sanitize", "first_step", "graph", "profile", "kernels", "table")


def arguments():
    names = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--part", type=names, default=STANDARD, help=f"of {', '.join(PARTS)}, or all (default: all but ports, programs and bench)")
    parser.add_argument("--models", type=names, help="only these cases")
    parser.add_argument("--precisions", type=names, default=list(cases.FAST), help="of bench, profile and table")
    parser.add_argument("--peers", type=names, default=list(speed.MODES), help=f"of {', '.join(speed.MODES)}; none: ours alone")
    parser.add_argument("--limit", type=names, default=[], help="PART=SECONDS,...")
    parser.add_argument("--total", type=float, default=560, help="seconds for all parts; those that are left get what is left")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4, help="of one measurement")
    parser.add_argument("--compile-seconds", type=float, default=120, help="that torch.compile may take for a group of models")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="of the contenders; cpu: to try this script")
    parser.add_argument("--python", default=os.environ.get("DL_PEER_PYTHON", sys.executable), help="with PyTorch and JAX")
    parser.add_argument("--out", default=os.environ.get("OUT") or ".")
    options = parser.parse_args()
    options.part = list(PARTS) if options.part == ["all"] else options.part
    unknown = set(options.part) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}")
    options.out = os.path.abspath(options.out)
    options.python = os.path.abspath(options.python) if os.path.exists(options.python) else options.python  # not its target: a venv's
    options.limits = {name: seconds for name, (_, seconds) in PARTS.items()} | {
        name: float(seconds) for name, seconds in (text.split("=") for text in options.limit)}
    return options


def summary(parts):
    """A table with one line for each part, and whether anything was wrong."""
    lines = []
    for name, part in parts.items():
        count = {status: sum(row.get("status") == status for row in part["rows"]) for status in (sessions.OK, sessions.FAIL, sessions.NONE)}
        lines.append([name, *count.values(), round(part["seconds"])])
    return sessions.table("**in all**", ["part", "right", "wrong", "not there", "seconds"], lines), any(line[2] for line in lines)


def do(name, session):
    """What a part found, and its table."""
    session.until = min(time.monotonic() + session.options.limits[name], session.end)
    started = time.monotonic()
    print(f"-- {name}", flush=True)
    try:
        result, columns, rows = PARTS[name][0](session)
    except Exception as error:  # a mistake of this script must not cost the other parts
        traceback.print_exc()
        result, columns, rows = {"rows": [{"status": sessions.FAIL}]}, ["what", ""], [[f"{type(error).__name__}: {error}", sessions.FAIL]]
    result["seconds"] = time.monotonic() - started
    text = sessions.table(f"**{name}** ({result['seconds']:.0f} s)" + (f": {result['note']}" if "note" in result else ""), columns, rows)
    why = [f"{row.get('case')} {row.get('precision') or row.get('variant') or ''}: {row.get('failure') or row.get('detail')}"
           for row in result["rows"] if row["status"] == sessions.FAIL]
    text += "".join(f"\n* {' '.join(line.split())[:600]}" for line in why[:20]) + ("\n" if why else "")
    print(text, flush=True)
    return result, text


def main():
    options = arguments()
    os.makedirs(options.out, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="dl-gpu-") as scratch:
        session = sessions.Session(options, scratch)
        session.end = time.monotonic() + options.total
        result, tables = {"machine": sessions.describe(session), "parts": {}}, []
        session.peaks = result["machine"].get("peak_tflops", {})
        print(json.dumps(result["machine"]), flush=True)
        for name in options.part:
            result["parts"][name], text = do(name, session)
            tables.append(text)
            with open(os.path.join(options.out, "gpu.json"), "w", encoding="utf-8") as file:
                json.dump(result, file, indent=1)
            with open(os.path.join(options.out, "gpu.md"), "w", encoding="utf-8") as file:
                file.write(json.dumps(result["machine"]) + "\n\n" + "\n".join(tables))
    text, bad = summary(result["parts"])
    print(text)
    with open(os.path.join(options.out, "gpu.md"), "a", encoding="utf-8") as file:
        file.write("\n" + text)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
