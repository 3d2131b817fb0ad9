"""test/bench/launches.py counts what it says: on stand-ins whose launches are known, and on the smallest example."""

import importlib.util
import json
import os
import sys
import unittest

import dltools
from e2e import support

BENCH = os.path.join(dltools.ROOT, "test", "bench")
TORCH = importlib.util.find_spec("torch")


def module(path):
    sys.path.insert(0, os.path.dirname(path))
    try:
        found = importlib.util.spec_from_file_location(os.path.basename(path).removesuffix(".py"), path)
        loaded = importlib.util.module_from_spec(found)
        found.loader.exec_module(loaded)
        return loaded
    finally:
        sys.path.remove(os.path.dirname(path))


@unittest.skipUnless(TORCH, "there is no PyTorch")
class Eager(unittest.TestCase):
    """PyTorch of any version: no model is compiled."""

    @classmethod
    def setUpClass(cls):
        cls.peer = module(os.path.join(BENCH, "peers", "torch_launches.py"))

    def counted(self, function):
        with self.peer.Eager() as count:
            function()
        return count

    def test_ops(self):
        """Views are free, what is broadcast is read once, what is changed is read and written."""
        torch = self.peer.torch
        a, b, row = torch.zeros(4, 3), torch.zeros(3, 2), torch.zeros(2)
        count = self.counted(lambda: torch.relu(a @ b).t().reshape(2, 4).detach())
        self.assertEqual((count.launches, count.bytes), (2, 48 + 24 + 32 + 2 * 32))
        count = self.counted(lambda: (a @ b).add_(row.expand(4, 2)))
        self.assertEqual((count.launches, count.bytes), (2, 48 + 24 + 32 + 2 * 32 + 8))
        self.assertEqual(count.ops, {"mm": 1, "add_": 1})
        self.assertEqual(self.counted(lambda: a.view(-1)[2:].unsqueeze(0)).launches, 0)

    def test_gradients_of_a_convolution(self):
        torch = self.peer.torch
        for wanted, grad in ((3, True), (2, False)):  # of the weight and the bias, and of the input
            x = torch.zeros(1, 2, 5, 5, requires_grad=grad)
            y = torch.nn.Conv2d(2, 3, 3)(x).sum()
            count = self.counted(y.backward)
            self.assertEqual(count.ops["convolution_backward"], wanted)

    @unittest.skipUnless(TORCH and hasattr(__import__("torch").overrides, "TorchFunctionMode"), "this PyTorch has no TorchFunctionMode")
    def test_dropout_is_one_op(self):
        """As on CUDA, and so is its gradient."""
        torch = self.peer.torch
        x = torch.ones(8, requires_grad=True)
        with self.peer.OwnDropout():
            count = self.counted(lambda: torch.nn.functional.dropout(x, 0.5).sum().backward())
        self.assertEqual(count.ops, {"native_dropout": 1, "sum": 1, "ones_like": 1, "native_dropout_backward": 1})
        self.assertEqual(self.counted(lambda: torch.nn.functional.dropout(x, 0.5)).ops["bernoulli_"], 1)

    def test_lists_of_tensors(self):
        """As MultiTensorApply.cuh cuts them."""
        count = self.peer.multi_tensor_launches
        chunk, chunks = self.peer.CHUNK, self.peer.CHUNKS
        for sizes, depth, wanted in (([], 1, 0), ([0, 0], 1, 0), ([10], 4, 1), ([10] * 110, 1, 1), ([10] * 111, 1, 2), ([10] * 36, 4, 1), ([10] * 37, 4, 2),
                                     ([chunk * chunks], 1, 1), ([chunk * chunks + 1], 1, 2), ([chunk * (chunks - 1), chunk + 1, 5], 1, 2)):
            self.assertEqual(count(sizes, depth), wanted, (len(sizes), depth))


class Ours(support.ToolTest):
    def test_commands(self):
        """Kernels, products of the library and copies; of the training step's first program alone."""
        launches = module(os.path.join(BENCH, "launches.py"))
        kernels = [{"bytes": 100, "scratch_bytes": 0}, {"bytes": 10, "scratch_bytes": 3}]
        commands = [{"kind": "launch", "kernel": 0}, {"kind": "multiply", "kernel": 1}, {"kind": "copy", "accesses": [{"bytes": 8}, {"bytes": 8}]}]
        steps = [{"training": False, "programs": [{"commands": commands * 3}]}, {"training": True, "programs": [{"commands": commands}, {"commands": commands * 2}]}]
        self.assertEqual(launches.count_commands({"kernels": kernels, "steps": steps}),
                         {"launches": 3, "bytes": 126, "scratch_bytes": 6, "kinds": {"launch": 1, "multiply": 1, "copy": 1}})

    def test_the_smallest_example(self):
        done = dltools.call([sys.executable, os.path.join(BENCH, "launches.py"), "--only", "linear"], cwd=self.folder,
                            env={"DL_PEER_PYTHON": sys.executable})
        self.assertEqual(done.returncode, 0, done.stderr)
        row, = json.loads(done.stdout)["rows"]
        plan = self.example_plan()
        self.assertEqual(row["ours"]["launches"], len(dltools.info(plan)["steps"][0]["programs"][0]["commands"]))
        if not TORCH:
            self.assertIsNone(row["eager"])
            return
        self.assertEqual(row["eager"]["ops"]["addmm"], 1)
        self.assertLess(row["ours"]["launches"], row["eager"]["launches"])
        self.assertLess(row["ours"]["bytes"], row["eager"]["bytes"])

    def example_plan(self):
        dltools.run(sys.executable, os.path.join(dltools.ROOT, "examples", "linear", "generate.py"), self.folder)
        plan = self.path("linear.plan")
        dltools.run(dltools.DLCC, support.example("linear"), "--target=cuda:source", "-o", plan, cwd=self.folder)
        return plan

    def test_an_unknown_model(self):
        done = dltools.call([sys.executable, os.path.join(BENCH, "launches.py"), "--only", "lenear"], cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("linear, two_parts", done.stderr)


if __name__ == "__main__":
    unittest.main()
