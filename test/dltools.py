"""Where the tools are, and how tests call them."""

import atexit
import json
import os
import re
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get("DL_BIN", os.path.join(ROOT, "build", "release", "bin"))
EMULATED = os.path.join(os.path.dirname(BIN), "emulated")
DLCC, DLRUN = os.path.join(BIN, "dlcc"), os.environ.get("DL_DLRUN", os.path.join(BIN, "dlrun"))


# dlcc keeps compiled kernels in the user's cache folder. Tests begin with an empty one of their own, so that no object of
# an older compiler can stand in for what they test.
if "DL_TEST_CACHE" not in os.environ:
    os.environ["DL_TEST_CACHE"] = tempfile.mkdtemp(prefix="dl-cache-")
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(os.environ["DL_TEST_CACHE"], ignore_errors=True))
os.environ["XDG_CACHE_HOME"] = os.environ["DL_TEST_CACHE"]


class ToolFailed(Exception):
    def __init__(self, command, result):
        text = " ".join(command)
        super().__init__(f"{text}\n  exit code {result.returncode}\n{result.stderr.strip()[-4000:]}")
        self.code = result.returncode


def call(command, cwd=None, env=None, timeout=300):
    """Runs a command and returns what it did, whatever its exit code."""
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **env} if env else None)


def run(*command, cwd=None, env=None, timeout=300):
    """Runs a command that must succeed and returns its stdout."""
    result = call(command, cwd, env, timeout)
    if result.returncode:
        raise ToolFailed([str(part) for part in command], result)
    return result.stdout


def emulated(mode="lazy", **settings):
    """The environment in which dlrun finds the emulated CUDA driver; see test/device/Driver.h and KernelImage.h."""
    named = {f"DLEMU_{name.upper()}": str(value) for name, value in settings.items()}
    cache = os.path.join(os.environ["DL_TEST_CACHE"], "emulated")
    return {"LD_LIBRARY_PATH": EMULATED, "DLEMU_CACHE": cache, "DLEMU_MODE": mode, **named}


# Threads and blocks in orders that must give the same bits.
ORDERS = {"ascending": emulated("eager", order="ascending"), "descending": emulated("eager", order="descending"),
          "random": emulated("lazy", order="random")}


# Whatever a test compiles and runs by the functions below is for this target.
ON_CUDA = os.environ.get("DL_TARGET") == "cuda"


def dlcc(*arguments, every_processor=False, **options):
    """A plan that is to run here, unless `every_processor` says that it is looked at."""
    if not every_processor and not any(str(argument).startswith(("--target", "--check")) for argument in arguments):
        arguments = (*arguments, *kernels_of_here())
    if ON_CUDA:
        arguments = [argument for argument in arguments if not str(argument).startswith("--target")] + ["--target=cuda:source"]
    return run(DLCC, *arguments, **options)


def dlrun(*arguments, env=None, **options):
    return run(DLRUN, *arguments, env=emulated() if ON_CUDA and env is None else env, **options)


def events(*arguments, **options):
    """What `dlrun ... --json` reports."""
    events = [json.loads(line) for line in dlrun(*arguments, "--json", **options).splitlines()]
    for event in events:
        if event["event"] in ("step", "eval"):  # all else is the same in each run
            assert event.pop("seconds") > 0
            event.pop("eval_seconds", None)
    return events


def without_times(event):
    """A line of `dlrun ... --json`, as it is in each run."""
    return re.sub(r'"(eval_)?seconds":[^,}]+,', "", event)


def info(plan, **options):
    return json.loads(dlrun("info", plan, "--json", **options))


def has_avx512():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return "avx512vl" in file.read()


def kernels_of_here():
    """Options of dlcc without kernels that this machine cannot run: those for AVX-512 take two thirds of its time."""
    return [] if has_avx512() else ["--target-cpu=x86-64-v3"]
