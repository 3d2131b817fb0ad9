"""On a terminal there is one line of progress, rewritten in place; in a file there are plain lines."""

import os
import pty
import subprocess
import time

import dltools
from . import support


class Terminal(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.classification_data(items=256)
        self.write("net.dl", support.CONVNET)
        self.dlcc("net.dl")

    def shown(self, *arguments):
        """What a terminal gets, and how many seconds the process was there."""
        try:
            controller, terminal = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminal here: {error}")
        started = time.monotonic()
        process = subprocess.Popen([dltools.DLRUN, "net.plan", *map(str, arguments)], cwd=self.folder, stdout=terminal,
                                   stderr=terminal, env={**os.environ, "TERM": "xterm"})
        os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            shown += part
        os.close(controller)
        self.assertEqual(process.wait(), 0)
        return shown.decode(), time.monotonic() - started

    def test_streams_that_are_closed_are_no_files_of_the_run(self):
        shell = '"$0" net.plan --epochs 2 --out run >&- 2>&- <&-'
        subprocess.run(["sh", "-c", shell, dltools.DLRUN], cwd=self.folder, check=True)
        with open(self.path("run/train.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline().split(",")[0], "step")

    def test_one_line_is_rewritten(self):
        text, _ = self.shown("--epochs", 600)
        self.assertGreater(text.replace("\r\n", "\n").count("\r"), 1, text[-500:])
        self.assertLess(text.count("\n"), 40, "each report is a new line")
        for word in ("step", "loss", "items/s", "eta"):
            self.assertIn(word, text)

    def test_ten_times_a_second_at_most(self):
        """Besides the first step and the last, also where each step is to be reported."""
        epochs = self.epochs_of_a_second()
        for options in ((), ("--every", "log=1")):
            text, seconds = self.shown("--epochs", epochs, *options)
            redraws = text.count("\rstep ")
            print(f"[{redraws} redraws and {16 * epochs} steps in {seconds:.1f} s] ", end="", flush=True)
            self.assertGreater(16 * epochs, 100 * seconds, "too slow to tell")
            self.assertLessEqual(redraws, 10 * seconds + 2)
            self.assertGreaterEqual(redraws, min(5, 2 * seconds), "it stands still")
        # The control: JSON has no such limit.
        text, seconds = self.shown("--epochs", epochs, "--json", "--every", "log=1")
        self.assertEqual(text.count('"event":"step"'), 16 * epochs)
        self.assertGreater(16 * epochs, 10 * seconds + 2)

    def epochs_of_a_second(self):
        """So many that a run takes about a second on any machine."""
        for epochs in (500, 5000):
            started = time.monotonic()
            self.dlrun("net.plan", "--epochs", epochs, "-q")
            seconds = time.monotonic() - started
            if seconds > 0.2:
                break
        return int(epochs / seconds)
