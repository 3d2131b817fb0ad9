"""A contender in a process of its own, which speaks the protocol of peers/protocol.py."""

import json
import os
import subprocess
import sys

import machine

PYTHON = os.environ.get("DL_PEER_PYTHON", sys.executable)


def script(name, *arguments):
    """The command of a script in peers/."""
    return [PYTHON, os.path.join(machine.HERE, "peers", name), *map(str, arguments)]


class Peer:
    """Started once and asked again each round."""

    def __init__(self, name, threads, command):
        self.name = name
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(machine.pinned(command, threads), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=environment)
        self.times, self.rss_mb, self.version = [], 0, self.answer().get("ready")

    @staticmethod
    def present(peers):
        """Those that this machine has; the others are named."""
        for peer in peers:
            if not peer.version:
                print(f"{peer.name}: not on this machine", file=sys.stderr)
        return [peer for peer in peers if peer.version]

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        return {}

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def measure(self, seconds):
        said = self.ask(str(seconds))
        self.times.append(said["median_ms"])
        self.rss_mb = said["rss_mb"]

    def end(self):
        self.process.stdin.close()
        self.process.wait()
