"""The description of the machine decides how a plan computes, never what."""

import numpy as np

from e2e.support import CONVNET, ToolTest

# Nothing is like this: everything is cut, blocked and packed, or nothing is.
SMALL = """
name = a machine of no size
l1_bytes = 1024
tile_flops = 1
max_tiles = 7
tile_scratch_bytes = 1
max_scratch_tiles = 7
max_kernel_ops = 3
max_waiting_ops = 0
min_fused_rows = 1
far_step_bytes = 1
panel_depth = 8
blocked_result = 1
block_row_bytes = 512
min_block_rows = 1
max_block_rows = 3
max_narrow_bytes = 1
dot_block_bytes = 1
serial_seconds = 1e-9
"""
LARGE = """
name = a machine without limits
l1_bytes = 1000000000
tile_flops = 1000000000
tile_scratch_bytes = 1000000000
min_fused_rows = 1000000
panel_depth = 100000
blocked_result = 1000000000
block_row_bytes = 1000000
max_narrow_bytes = 1000000000
dot_block_bytes = 1000000
serial_seconds = 1e3
"""


class MachineTest(ToolTest):
    def test_the_same_training(self):
        self.classification_data()
        self.write("net.dl", CONVNET)
        weights = {}
        for name, text in [("usual", "# nothing\n"), ("small", SMALL), ("large", LARGE)]:
            self.write(name + ".machine", text)
            self.dlcc("net.dl", "--dtype=f64", f"--machine={name}.machine", "-o", name + ".plan")
            self.dlrun(name + ".plan", "--epochs", "2", "--threads", "2", "--save-final", name + ".safetensors")
            weights[name] = self.load(name + ".safetensors")
        tiles = {name: [kernel["tiles"] for kernel in self.info(name + ".plan")["kernels"]] for name in weights}
        self.assertEqual(max(tiles["large"]), 1)
        self.assertIn(max(tiles["small"]), range(4, 8))
        for name in ("small", "large"):
            for key, expected in weights["usual"].items():
                np.testing.assert_allclose(weights[name][key], expected, rtol=0, atol=1e-12, err_msg=f"{name} {key}")


if __name__ == "__main__":
    import unittest
    unittest.main()
