"""What dlrun does with a plan for GPUs: what it calls in a step, what it says when something is missing or fails. On the emulated device."""

import collections
import glob
import json
import os
import random
import shutil
import unittest

import numpy as np

import dltools
from . import support


@unittest.skipUnless(os.path.isdir(dltools.EMULATED), "there is no emulated GPU")
class CudaDevice(support.ToolTest):
    def setUp(self):
        super().setUp()
        self.classification_data(items=70)  # the last batch of an epoch is a short one
        self.write("net.dl", support.CONVNET)
        self.dlcc("net.dl", "--target=cuda:source", "-o", "gpu.plan")

    def train(self, *options, **settings):
        return self.dlrun("gpu.plan", *options, env=dltools.emulated(**settings))

    def same_weights(self, a, b):
        """Up to the last bits: sums are taken in another order."""
        one, other = self.load(a), self.load(b)
        self.assertEqual(one.keys(), other.keys())
        for name in one:
            np.testing.assert_allclose(one[name], other[name], rtol=1e-4, atol=1e-5, err_msg=name)

    def test_trains_as_the_cpu(self):
        self.dlcc("net.dl", "-o", "cpu.plan")
        self.dlrun("cpu.plan", "--steps", 12, "-q", "--save-final", "cpu.safetensors")
        for mode in ("eager", "lazy"):
            self.train("--steps", 12, "-q", "--save-final", f"{mode}.safetensors", mode=mode)
            self.same_weights("cpu.safetensors", f"{mode}.safetensors")

    def test_any_order_of_its_commands(self):
        self.train("--steps", 6, "-q", "--save-final", "graph.safetensors")
        self.train("--steps", 6, "-q", "--save-final", "any.safetensors", "--poison", "--order", "random:3")
        with open(self.path("graph.safetensors"), "rb") as graph, open(self.path("any.safetensors"), "rb") as other:
            self.assertEqual(graph.read(), other.read())

    def test_accumulates(self):
        self.dlcc("net.dl", "--target=cuda:source", "--accumulate=3", "-o", "gpu.plan")
        self.dlcc("net.dl", "--accumulate=3", "-o", "cpu.plan")
        self.dlrun("cpu.plan", "--steps", 5, "-q", "--save-final", "cpu.safetensors")
        self.train("--steps", 5, "-q", "--save-final", "gpu.safetensors")
        self.same_weights("cpu.safetensors", "gpu.safetensors")

    def calls(self, steps):
        self.train("--steps", steps, "-q", calls=self.path("calls"))
        with open(self.path("calls"), encoding="utf-8") as file:
            return {name: int(count) for name, count in map(str.split, file)}

    def test_calls_of_a_step(self):
        """A launch and an event each, and the wait for it; all else is done before the first one."""
        few, many = self.calls(10), self.calls(30)
        self.assertEqual({name: many[name] - few.get(name, 0) for name in many if many[name] != few.get(name, 0) and name != "kernel"},
                         {"cuGraphLaunch": 20, "cuEventRecord": 20, "cuEventSynchronize": 20})
        self.assertEqual(many["cuMemAlloc_v2"], 1)

    def test_info(self):
        self.assertRegex(self.dlrun("info", "gpu.plan"), r"kernels +\d+ for CUDA source, [\d.]+ kB")
        info = self.info("gpu.plan")
        for kernel in info["kernels"]:
            self.assertEqual(kernel["target"], "cuda")
            self.assertGreater(kernel["threads"], 0)
            self.assertIn("shared_bytes", kernel)
        self.assertEqual({buffer["memory"] for buffer in info["buffers"]}, {"device"})

    def test_bench(self):
        result = json.loads(self.dlrun("bench", "gpu.plan", "--steps", 20, "--json", env=dltools.emulated()).splitlines()[-1])
        self.assertEqual(result["event"], "bench")
        self.assertEqual(result["steps"], 20)
        self.assertEqual(result["allocations"], 0)

    def test_trace_names_each_kernel(self):
        self.train("--steps", 3, "-q", "--trace", "trace.json")
        with open(self.path("trace.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        commands = [event for event in events if event["ph"] == "X" and "kernel" in event["args"]]
        kernels = {kernel["name"] for kernel in self.info("gpu.plan")["kernels"]}
        self.assertEqual({event["args"]["run"] for event in commands}, {1, 2, 3})
        self.assertLessEqual({event["args"]["kernel"] for event in commands} - {"copy"}, kernels)
        self.assertTrue(any("net.dl:" in event["args"].get("line", "") for event in commands))

    def test_goes_on_where_the_cpu_was(self):
        """And the CPU where the GPU was."""
        self.dlcc("net.dl", "-o", "cpu.plan")
        self.dlrun("cpu.plan", "--steps", 12, "-q", "--save-final", "whole.safetensors")
        self.dlrun("cpu.plan", "--steps", 4, "-q", "--out", "run", "--every", "ckpt=4")
        self.dlrun("resume", "run", "--plan", "gpu.plan", "--steps", 8, "-q", env=dltools.emulated())
        self.dlrun("resume", "run", "--plan", "cpu.plan", "--steps", 12, "-q", "--save-final", "parts.safetensors")
        self.same_weights("whole.safetensors", "parts.safetensors")

    def test_without_a_driver(self):
        said = self.refuse(3, ["the plan is for CUDA", "libcuda.so.1"], dltools.DLRUN, "gpu.plan", "--steps", "1",
                           env={"LD_LIBRARY_PATH": self.folder})
        self.assertEqual(len(said.strip().splitlines()), 1, said)

    def test_memory_is_taken_before_the_first_step(self):
        self.refuse(3, ["the plan needs", "of memory on emulated device, which has"], dltools.DLRUN, "gpu.plan", "--steps", "1",
                    env=dltools.emulated(memory=4096))

    def test_a_lost_device(self):
        """Ends with 6, the last checkpoint is there, and another run goes on from it."""
        kernels = 10 * len(self.info("gpu.plan")["steps"][0]["programs"][0]["commands"])
        said = dltools.call([dltools.DLRUN, "gpu.plan", "--steps", "40", "-q", "--out", "run", "--every", "ckpt=2"], self.folder,
                            dltools.emulated(fail=f"kernel:{kernels}=719"))
        self.assertEqual(said.returncode, 6, said.stderr)
        self.assertIn("step 'train' (batch) on emulated device", said.stderr)
        self.assertIn("unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)", said.stderr)
        self.dlrun("resume", "run", "-q", "--save-final", "parts.safetensors", env=dltools.emulated())
        self.train("--steps", 40, "-q", "--save-final", "whole.safetensors")
        with open(self.path("whole.safetensors"), "rb") as whole, open(self.path("parts.safetensors"), "rb") as parts:
            self.assertEqual(whole.read(), parts.read())

    def test_a_traced_run_names_the_kernel_that_fails(self):
        said = dltools.call([dltools.DLRUN, "gpu.plan", "--steps", "4", "-q", "--trace", "trace.json"], self.folder, dltools.emulated(fail="kernel:3=700"))
        self.assertEqual(said.returncode, 6, said.stderr)
        self.assertRegex(said.stderr, r"CUDA: kernel '\w+' \(.* at net\.dl:\d+:\d+.*\): an illegal memory access")

    def test_every_call_may_fail(self):
        """200 errors of the driver, each said with the exit code of its kind; what was saved before is whole, and goes on."""
        calls = self.calls(12)
        random_ = random.Random(7)
        self.train("--steps", 12, "-q", "--save-final", "whole.safetensors")
        codes, resumed = collections.Counter(), 0
        for case in range(200):
            name = random_.choice(sorted(calls))
            error = random_.choice([1, 2, 100, 201, 214, 700, 719, 999])
            call = random_.randint(1, calls[name])
            fail = f"{name}:{call}={error}"
            with self.subTest(fail):
                shutil.rmtree(self.path("run"), ignore_errors=True)
                result = dltools.call([dltools.DLRUN, "gpu.plan", "--steps", "12", "-q", "--out", "run", "--every", "ckpt=3", "--save-final", "final.safetensors"],
                                      self.folder, dltools.emulated(fail=fail), timeout=60)
                codes[result.returncode] += 1
                if result.returncode == 0:  # as the device goes, nobody asks any more
                    last = name == "cuStreamSynchronize" and call == calls[name]
                    self.assertTrue(last or any(part in name for part in ("Destroy", "Free", "Unload", "Release")))
                    continue
                self.assertIn(result.returncode, (3, 5, 6, 70), result.stderr)
                self.assertIn("CUDA", result.stderr)
                if glob.glob(self.path("run/checkpoints/*.safetensors")) and case % 4 == 0:
                    resumed += 1
                    self.dlrun("resume", "run", "-q", "--save-final", "final.safetensors", env=dltools.emulated())
                    self.assertEqual(self.bytes("final.safetensors"), self.bytes("whole.safetensors"))
        self.assertGreater(codes[6], 30)
        self.assertGreater(resumed, 3)

    def bytes(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


if __name__ == "__main__":
    unittest.main()
