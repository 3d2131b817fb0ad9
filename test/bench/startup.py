#!/usr/bin/python3
"""How long things take that a user waits for; each the median of several runs. JSON on stdout.

    test/bench/startup.py [--rounds 7]

  check        dlcc --check of each example (aim: 200 ms)
  compile      dlcc of the convolutional network, no cache (aim: 2 s on two cores)
  first_step   dlrun of it, from exec to the end of step 1, from plain files in the page cache (aim: 50 ms)
"""

import argparse
import json
import os
import subprocess
import sys
import time

import machine
from e2e import support


def seconds(command, cwd):
    """The time of a command, with an empty cache of compiled kernels."""
    with machine.scratch() as cache:
        started = time.perf_counter()
        subprocess.run([str(word) for word in command], cwd=cwd, check=True, capture_output=True,
                       env={**os.environ, "XDG_CACHE_HOME": cache})
        return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = range(parser.parse_args().rounds)
    tools, about, result = machine.dltools, machine.describe(), {}
    with machine.scratch() as folder:
        examples = os.path.join(tools.ROOT, "examples")
        for name in sorted(n for n in os.listdir(examples) if os.path.isdir(os.path.join(examples, n))):
            own, generator = os.path.join(folder, name), os.path.join(examples, name, "generate.py")
            os.mkdir(own)
            if os.path.exists(generator):
                tools.run(sys.executable, generator, own)
            times = [seconds([tools.DLCC, support.example(name), "--check"], own) for _ in rounds]
            result[f"check_{name}_ms"] = 1e3 * machine.median(times)
        compiled = [seconds([tools.DLCC, support.example("mnist"), "-o", "mnist.plan"], folder) for _ in rounds]
        result["compile_mnist_ms"] = 1e3 * machine.median(compiled)
        run = lambda: tools.events("mnist.plan", "--data", support.fake_mnist(), "--steps", 1, "--every", "eval=0", cwd=folder)[-1]["first_step_ms"]
        run()
        result["first_step_mnist_ms"] = machine.median([run() for _ in rounds])
    machine.table(f"waiting ({about['cpu']})", ["what", "ms"], [[k.removesuffix("_ms"), v] for k, v in result.items()])
    print(json.dumps({"bench": "startup", **about, **result}))


if __name__ == "__main__":
    main()
