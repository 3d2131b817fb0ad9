"""On a terminal there is one line of progress, rewritten in place; in a file there are plain lines."""

import os
import pty
import subprocess

import dltools
from . import support


class Terminal(support.ToolTest):
    def test_one_line_is_rewritten(self):
        self.classification_data(items=256)
        self.write("net.dl", support.CONVNET)
        self.dlcc("net.dl")
        try:
            controller, terminal = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminal here: {error}")
        command = [dltools.DLRUN, "net.plan", "--epochs", "600"]
        process = subprocess.Popen(command, cwd=self.folder, stdout=terminal, stderr=terminal, env={**os.environ, "TERM": "xterm"})
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
        text = shown.decode()
        self.assertGreater(text.replace("\r\n", "\n").count("\r"), 1, text[-500:])
        self.assertLess(text.count("\n"), 40, "each report is a new line")
        for word in ("step", "loss", "items/s", "eta"):
            self.assertIn(word, text)
