"""SIGINT and SIGTERM end a run after the step it is in, with the weights written."""

import os
import signal
import subprocess
import time

import dltools
from . import support


class Signals(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.classification_data(items=256)
        self.write("net.dl", support.CONVNET)
        self.dlcc("net.dl")

    def stop_with(self, number):
        command = [dltools.DLRUN, "net.plan", "--epochs", "1000000", "--json", "--save-final", "out.safetensors"]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        for line in process.stdout:  # it is training when it reports a step
            if '"event":"step"' in line:
                break
        time.sleep(0.3)
        process.send_signal(number)
        out, _ = process.communicate(timeout=30)
        return process.returncode, out

    def test_sigint(self):
        code, out = self.stop_with(signal.SIGINT)
        self.assertEqual(code, 130)
        self.assertIn('"event":"end"', out)
        weights = self.load("out.safetensors")
        self.assertEqual(set(weights), {"conv.weight", "conv.bias", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"})

    def test_sigterm(self):
        code, _ = self.stop_with(signal.SIGTERM)
        self.assertEqual(code, 143)
        self.assertTrue(os.path.exists(self.path("out.safetensors")))

    def test_a_closed_pipe_is_no_crash(self):
        command = f"{dltools.DLRUN} net.plan --epochs 200 --json --every log=1 | head -n 1"
        result = subprocess.run(["bash", "-c", command + "; echo ${PIPESTATUS[0]}"], cwd=self.folder,
                                capture_output=True, text=True, timeout=60)
        # Done before it noticed, cannot write, or ended by SIGPIPE as any tool in a pipe.
        self.assertIn(int(result.stdout.split()[-1]), (0, 4, 141), result.stderr)
