"""The examples compiled, each once for all tests."""

import atexit
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import dltools
from e2e import support

FOLDER = tempfile.mkdtemp(prefix="dl-schedule-")
OWNER = os.getpid()
atexit.register(lambda: os.getpid() == OWNER and shutil.rmtree(FOLDER, ignore_errors=True))


def models():
    """All .dl files of the examples."""
    return sorted(glob.glob(os.path.join(dltools.ROOT, "examples", "*", "*.dl")))


def data(model):
    """A folder with the data that the model's folder generates; without such a script an empty one."""
    source = os.path.dirname(model)
    folder = os.path.join(FOLDER, os.path.basename(source))
    if not os.path.isdir(folder):
        script = os.path.join(source, "generate.py")
        with open(model, encoding="utf-8") as file:
            generated = "data::MNIST" not in file.read() and os.path.exists(script)
        if generated:
            subprocess.run([sys.executable, script, folder], check=True)
        else:
            os.makedirs(folder)
    return folder


def data_of(model):
    """What --data names for a model."""
    with open(model, encoding="utf-8") as file:
        return support.fake_mnist() if "data::MNIST" in file.read() else data(model)


def plan(model, *options, name=""):
    """The path of the compiled plan; `name` tells plans with other options apart. Beside it lies NAME.json, the
    report."""
    folder = data(model)
    own = os.path.splitext(os.path.basename(model))[0]
    path = os.path.join(folder, own + name)
    if not os.path.exists(path + ".plan"):
        # Of one device: the edges and bytes of ranks are not those of their data alone, but of the order in which all communicate.
        one = ["--mesh=dp=1", "--microbatches=1"]
        dltools.dlcc(model, "-o", path + ".plan", f"--emit=report.json={path}.json", *one, *support.smaller(own), *options, cwd=folder)
    return path + ".plan"


def example(name):
    return os.path.join(dltools.ROOT, "examples", name)
