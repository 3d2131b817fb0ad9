"""Some of what altered_plans.py does in full."""

import os
import unittest

from e2e import support
from mpi import altered_plans


@unittest.skipUnless(os.path.exists(altered_plans.ALTER), "dl_alter was not built")
class Altered(support.ToolTest):
    def test_one_rank_that_does_something_else_is_refused(self):
        altered_plans.compile_plans(self.folder)
        self.assertTrue(altered_plans.of_one_rank(self.folder, 120, 7))


if __name__ == "__main__":
    unittest.main()
