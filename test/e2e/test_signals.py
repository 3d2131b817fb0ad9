"""SIGINT, SIGTERM and SIGHUP end a run after the step it is in, with the weights written."""

import os
import shutil
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
        # (Whoever runs the tests by nohup has it ignored.)
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
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

    def test_sighup(self):
        code, _ = self.stop_with(signal.SIGHUP)
        self.assertEqual(code, 129)
        self.assertTrue(os.path.exists(self.path("out.safetensors")))

    def test_nohup(self):
        command = f"nohup {dltools.DLRUN} net.plan --epochs 1000000 --out run"
        process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        for line in process.stdout:
            if line.startswith("step"):
                break
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        self.assertEqual(process.wait(timeout=30), 75)

    def test_nobody_reads_any_more(self):
        """`dlrun ... 2>&1 | tee log`: Ctrl-C ends tee first."""
        for arguments in ([], ["--json"]):
            process = subprocess.Popen([dltools.DLRUN, "net.plan", "--epochs", "1000000", "--out", "run", "--save-final",
                                        "out.safetensors", *arguments],
                                       cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for line in process.stdout:
                if line.startswith("step") or '"event":"step"' in line:
                    break
            process.stdout.close()
            time.sleep(0.3)  # several lines
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=30), 130)
            self.assertTrue(os.path.exists(self.path("out.safetensors")))
            self.assertEqual(len(os.listdir(self.path("run/checkpoints"))), 1)
            os.remove(self.path("out.safetensors"))
            shutil.rmtree(self.path("run"))

    def test_a_closed_pipe_is_told_at_the_end(self):
        command = f"{dltools.DLRUN} net.plan --epochs 200 --json --every log=1 --save-final out.safetensors | head -n 1"
        result = subprocess.run(["bash", "-c", command + "; echo ${PIPESTATUS[0]}"], cwd=self.folder,
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(int(result.stdout.split()[-1]), 4, result.stderr)
        self.assertIn("cannot write to the output: Broken pipe", result.stderr)
        self.assertTrue(os.path.exists(self.path("out.safetensors")))
