#!/usr/bin/python3
"""Ports beside PyTorch: some of the tests, or what they compare with.

    test/ports/run.py [PORT...]             the tests of these ports
    test/ports/run.py --write [PORT...]     losses/PORT.json anew, from PyTorch
"""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from ports.cases import BY_NAME  # noqa: E402


def write(names):
    from ports import twins
    for name in names or BY_NAME:
        port = BY_NAME[name]
        made = twins.make(port)
        os.makedirs(os.path.dirname(port.curve()), exist_ok=True)
        with open(port.curve(), "w", encoding="utf-8") as file:
            json.dump(made, file, indent=0)
            file.write("\n")
        print(name, {metric: (curve[0], curve[-1], made["f32_rms"][metric]) for metric, curve in made["f64"].items()}, flush=True)


def main(words):
    names = [word for word in words if word != "--write"]
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        sys.exit(f"no port is called {', '.join(unknown)}; there are {', '.join(BY_NAME)}")
    if "--write" in words:
        return write(names)
    chosen = [f"ports.test_ports.Ports.test_{name}" for name in names or BY_NAME]
    result = unittest.TextTestRunner(verbosity=1).run(unittest.defaultTestLoader.loadTestsFromNames(chosen))
    return sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main(sys.argv[1:])
