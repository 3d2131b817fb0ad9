"""--report tells what was decided and why, at the lines of the model; without it nothing is said."""

import json
import re

import dltools
from e2e.support import CONVNET, ToolTest


class ReportTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.classification_data()
        self.write("net.dl", CONVNET)

    def test_decisions(self):
        decisions = self.dlcc("net.dl", "--report").split("\ndecisions:\n")[1].split("\n\n")[0].splitlines()
        lines = CONVNET.splitlines()

        def said(text, code):
            """The model's line of a decision is the one with that code."""
            found = [re.search(r"net\.dl:(\d+):\d+: ", line) for line in decisions if re.search(text, line)]
            self.assertTrue(found, f"nothing about {text} in\n" + "\n".join(decisions))
            self.assertTrue(all(found), decisions)
            self.assertIn(code, {lines[int(match[1]) - 1].strip() for match in found})

        said("conv .*: add: fused with conv2d: ", "x = F::max_pool2d(F::relu(conv(x)), 2);")
        said("fc2 .*: matmul: not fused with ", "return fc2(F::relu(fc1(x.view({-1, 150}))));")
        said("fc1.weight: stored ", "nn::Linear fc1{150, 20};")
        said("on one thread: ", "return fc2(F::relu(fc1(x.view({-1, 150}))));")
        said("fc1.weight: written in place", "return fc2(F::relu(fc1(x.view({-1, 150}))));")
        self.assertEqual(len(decisions), len(set(decisions)))

    def test_decisions_for_programs(self):
        report = json.loads(self.dlcc("net.dl", "--report=json"))
        self.assertEqual({frozenset(decision) for decision in report["decisions"]}, {frozenset(["location", "text"])})
        self.assertGreater(len(report["decisions"]), 20)

    def test_times(self):
        """What commands are expected to take follows from the machine that is described."""
        def seconds(*options):
            report = json.loads(self.dlcc("net.dl", "--report=json", *options))
            return sum(program["seconds"] for step in report["steps"] for program in step["programs"])

        self.write("slow.machine", "flops_per_second = 6e9\nbytes_per_second = 1.2e9\nserial_seconds = 2e-4\n")
        self.assertAlmostEqual(seconds("--machine=slow.machine") / seconds(), 10, delta=1e-6)
        self.assertRegex(self.dlcc("net.dl", "--report"), r"step train, .* moved, about \d+\.\d+ ms on one core")

    def test_ranks(self):
        """Figures are of one class of ranks, and say so."""
        self.assertNotIn("mesh", self.dlcc("net.dl", "--report").split("\n")[1])
        for mesh, count, whose, ranks in (("dp=2", 2, "each", [0, 1]), ("dp=2,pp=2", 4, "rank 0 and 1 with parts of the same sizes, "
                                          "others differ", [0, 2]), ("pp=3", 3, "rank 0, others differ", [0])):
            self.assertEqual(self.dlcc("net.dl", f"--mesh={mesh}", "--report").split("\n")[1],
                             f"mesh {mesh}: {count} ranks; memory, steps and kernels are those of {whose}")
            report = json.loads(self.dlcc("net.dl", f"--mesh={mesh}", "--report=json"))
            self.assertEqual((",".join(f"{axis['name']}={axis['size']}" for axis in report["mesh"]), report["ranks"]), (mesh, ranks))

    def test_silent(self):
        result = dltools.call([dltools.DLCC, "net.dl", "--emit=graph.svg,memory.svg"], self.folder)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
