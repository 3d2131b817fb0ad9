"""The scripts for machines with a GPU, on one without: CPU plans and small shell scripts stand in. Mistakes are planted."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import dltools
from e2e import support

HERE = os.path.join(dltools.ROOT, "test", "gpu")
CASES = ["linear", "convnet-4", "convnet-4-plain", "chain-300", "product-NN-100x65x37", "conv-weight-64x10x12-20k5s1"]
STAND_INS = {
    "nvidia-smi": """case "$*" in *clocks.max*) echo "A GPU, 1.0, 1000, 2000, 3000, 700, 40" ;; *) echo "1980, 300.5, 41" ;; esac""",
    "compute-sanitizer": """while [ "$1" != -- ] && [ "${1##*/}" != dlrun ]; do shift; done; "$@" || exit; echo '= ERROR SUMMARY: 0 errors'""",
}


class Scripts(support.ToolTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = tempfile.mkdtemp(prefix="dl-gpu-")
        done = dltools.call([os.path.join(HERE, "prepare.sh"), cls.shared, "--target", "cpu", "--only", ",".join(CASES)])
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.shared)

    def run_parts(self, parts, *options, folder=None, environment=None):
        """(exit code, gpu.json, what it printed)."""
        tools = os.path.join(self.folder, "tools")
        os.makedirs(tools, exist_ok=True)
        for name, text in STAND_INS.items():
            with open(os.path.join(tools, name), "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o755)) as file:
                file.write("#!/bin/sh\n" + text + "\n")
        done = subprocess.run([os.path.join(HERE, "run.sh"), folder or self.shared, "--part", parts, "--models", ",".join(CASES), "--device", "cpu",
                               "--rounds", "1", "--seconds", "0.02", "--out", self.folder, *options], capture_output=True, text=True,
                              env={**os.environ, "PATH": tools + os.pathsep + os.environ["PATH"], **(environment or {})})
        with open(os.path.join(self.folder, "gpu.json"), encoding="utf-8") as file:
            return done.returncode, json.load(file), done.stdout + done.stderr

    def statuses(self, said, part):
        return {row["status"] for row in said["parts"][part]["rows"]}

    def test_checks(self):
        parts = "smoke,correct,roads,sanitize,kernels"
        code, said, text = self.run_parts(parts)
        self.assertEqual(code, 0, text)
        for part in parts.split(","):
            self.assertEqual(self.statuses(said, part), {"ok"}, text)
        self.assertEqual(said["machine"]["gpu"]["clocks.max.sm"], "2000")

    def test_figures(self):
        code, said, text = self.run_parts("first_step,graph,profile,table,bench", "--peers", "eager,compile,jit")
        self.assertEqual(code, 0, text)
        self.assertTrue(all(row["ours_ms"] > 0 for part in ("first_step", "table", "bench") for row in said["parts"][part]["rows"]), text)
        rows = said["parts"]["table"]["rows"]
        self.assertEqual({row["precision"] for row in rows}, {"f32", "tf32", "bf16"})
        self.assertEqual(len({bool(row["torch_ms"]) for row in rows}), 1, f"PyTorch has all of them, or is not there: {text}")
        row = said["parts"]["bench"]["rows"][0]
        self.assertEqual({*row["peers_ms"], *row["why"]}, {"eager", "compile", "jit"}, "each contender has a time or a reason")
        for mode in row["peers_ms"]:
            self.assertTrue(row["agree"], row["losses"])
            self.assertLess(row["facts"][mode]["product_error"], 1e-5)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "there is no PyTorch")
    def test_autocast(self):
        """The contender in bf16 rounds its products, and goes where our plan goes."""
        data, weights, specification = (os.path.join(self.folder, name) for name in ("data", "weights.safetensors", "specification.json"))
        os.makedirs(data)
        source = np.random.RandomState(0)
        np.save(os.path.join(data, "x.npy"), source.standard_normal((4, 1, 28, 28)).astype(np.float32))
        np.save(os.path.join(data, "y.npy"), source.randint(0, 10, 4))
        plan = os.path.join(self.shared, "plans", "convnet-4-plain.gpu-%s.plan")
        dltools.dlrun(plan % "f32", "--data", data, "--steps", "0", "--seed", "1", "--save-final", weights)
        with open(specification, "w", encoding="utf-8") as file:
            json.dump({"source": "test/bench/models/convnet.dl", "settings": {"batch_size": 4, "dropout": 0}, "data": data, "items": 4,
                       "weights": weights, "precision": "bf16", "device": "cpu", "dropout": 0.0}, file)
        done = subprocess.run([sys.executable, os.path.join(HERE, "peers", "torch_gpu.py"), specification, "eager"], input="loss eager 20\n",
                              capture_output=True, text=True)
        said = {name: value for line in done.stdout.splitlines() for name, value in json.loads(line).items()}
        self.assertIn("loss", said, done.stdout + done.stderr)
        self.assertTrue(1e-3 < said["product_error"] < 5e-3, said)
        last = {}
        for precision in ("f32", "bf16"):
            events = dltools.events(plan % precision, "--data", data, "--init", weights, "--steps", "20", "--no-shuffle", "--every", "log=1,eval=0")
            last[precision] = [event["loss"] for event in events if event["event"] == "step"][-1]
        self.assertNotEqual(last["f32"], last["bf16"])
        self.assertLess(abs(said["loss"] / last["bf16"] - 1), 0.02, last)

    def test_bits(self):
        if not os.path.isdir(dltools.EMULATED):
            self.skipTest("there is no emulated GPU")
        folder = os.path.join(self.folder, "bits")
        done = dltools.call([os.path.join(HERE, "prepare.sh"), folder, "--groups", "bits", "--target", "cpu"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        code, said, text = self.run_parts("bits", folder=folder, environment=dltools.emulated())
        self.assertEqual((code, self.statuses(said, "bits")), (0, {"ok"}), text)

        path = os.path.join(folder, "bits", "device.cu")
        with open(path, encoding="utf-8") as file:
            device = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(device.replace("0x1.55557ap-1f", "0x1.55559ap-1f"))  # a coefficient of log, by 2^-19
        code, said, text = self.run_parts("bits", folder=folder, environment=dltools.emulated())
        self.assertEqual(code, 1, text)
        self.assertEqual([row["function"] for row in said["parts"]["bits"]["rows"] if row["status"] == "FAIL"], ["log_f32"])

    @unittest.skipUnless(os.path.isdir(dltools.EMULATED), "there is no emulated GPU")
    def test_emulated(self):
        """Real plans for GPUs, in f32, tf32, bf16 and f64, beside those for the CPU."""
        folder, models = os.path.join(self.folder, "emulated-plans"), CASES + ["transformer-small", "gpt2-small"]
        done = dltools.call([os.path.join(HERE, "prepare.sh"), folder, "--target", "cuda:source", "--only", ",".join(models)])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        parts = "smoke,correct,roads,kernels,profile,first_step,graph,table"
        code, said, text = self.run_parts(parts, "--peers", "none", "--models", ",".join(models), folder=folder,
                                          environment=dltools.emulated())
        self.assertEqual(code, 0, text)
        for part in parts.split(","):
            self.assertEqual(self.statuses(said, part), {"ok"}, text)
        errors = {row["variant"]: row["error"] for row in said["parts"]["kernels"]["rows"]}
        self.assertLess(errors["gpu-f32"], 1e-5)
        self.assertGreater(errors["gpu-tf32"], 1e-5, "tf32 rounds its operands")
        self.assertGreater(errors["gpu-bf16"], 1e-3, "bf16 rounds them more, and the result")
        compared = {(row["case"], row["precision"]) for row in said["parts"]["correct"]["rows"]}
        self.assertLess({(case, "bf16") for case in ("linear", "convnet-4", "transformer-small", "gpt2-small")}, compared)
        for road in ("own", "library"):
            self.assertLess(errors[f"gpu-f32-{road}"], 1e-5)
        products = [row for row in said["parts"]["table"]["rows"] if row["case"].startswith("product")]
        self.assertEqual({row["by"] for row in products}, {"own"}, "it is small")
        self.assertTrue(products and all(row[f"{road}_ms"] > 0 for row in products for road in ("ours", "own", "library")), text)
        self.assertIn("products by cuBLASLt 13.1.0", said["parts"]["table"]["note"])

    def changed(self, case, *options, precision="f32"):
        """A copy of the folder in which a plan of the GPU is that of another model; of that copy, if there is one."""
        folder = os.path.join(self.folder, "changed")
        if not os.path.isdir(folder):
            shutil.copytree(self.shared, folder)
        source = {"linear": "examples/linear/linear.dl", "product-NN-100x65x37": "test/gpu/models/products.dl"}[case]
        data = os.path.join(self.folder, "data")
        dltools.run(sys.executable, os.path.join(dltools.ROOT, "examples", "linear", "generate.py"), data)
        dltools.dlcc(os.path.join(dltools.ROOT, source), *options, "-o", os.path.join(folder, "plans", f"{case}.gpu-{precision}.plan"), cwd=data)
        return folder

    def test_another_learning_rate_is_found(self):
        self.changed("linear", "-D", "lr=0.12", "--dtype=bf16", precision="bf16")  # what bf16 costs is more than a thousandth
        code, said, text = self.run_parts("correct", folder=self.changed("linear", "-D", "lr=0.1001"))
        self.assertEqual(code, 1, text)
        wrong = [(row["case"], row["precision"]) for row in said["parts"]["correct"]["rows"] if row["status"] == "FAIL"]
        self.assertEqual(wrong, [("linear", "f32"), ("linear", "bf16")])

    def test_a_wrong_product_is_found(self):
        options = [word for name, value in {"m": 100, "n": 65, "k": 36, "repeat": 16}.items() for word in ("-D", f"{name}={value}")]
        code, said, text = self.run_parts("kernels", folder=self.changed("product-NN-100x65x37", *options))
        self.assertEqual(code, 1, text)
        wrong = [(row["case"], row["variant"]) for row in said["parts"]["kernels"]["rows"] if row["status"] == "FAIL"]
        self.assertEqual(wrong, [("product-NN-100x65x37", "gpu-f32")])

    def test_what_cannot_run_is_a_line(self):
        folder = os.path.join(self.folder, "changed")
        shutil.copytree(self.shared, folder)
        with open(os.path.join(folder, "plans", "linear.gpu-f32.plan"), "wb") as file:
            file.write(b"no plan")
        code, said, text = self.run_parts("smoke,correct", folder=folder)
        self.assertEqual(code, 1, text)
        self.assertEqual(self.statuses(said, "smoke"), {"FAIL"})
        self.assertIn("exit code 5", text)
        self.assertIn("ok", self.statuses(said, "correct"))


if __name__ == "__main__":
    unittest.main()
