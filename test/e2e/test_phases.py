"""--emit=mlir:PHASE: what stands in the file is the program after that phase, whole, and dl-opt goes on from there."""

import os
import re

import dltools
from . import support

DL_OPT = os.path.join(dltools.BIN, "dl-opt")
PHASES = ["import", "backward", "layout", "fuse", "schedule", "codegen", "emit"]

# The passes of a phase, where it has nothing but passes.
PASSES = {"backward": ["--backward"],
          "layout": ["--open-border", "--canonicalize", "--cse", "--assign-layouts", "--batch-innermost"],
          "fuse": ["--form-kernels"]}

# Patterns that the program has from a phase on, and those that it has up to one.
BEGIN = {"backward": [r"graph\.conv2d_weight_grad ", r"graph\.max_pool2d_grad ",
                      r'graph\.matmul .*spec = "an,ak->nk"'],
         "layout": [r"graph\.orders = \["],
         "fuse": [r"^    %\S+ = graph\.kernel .*name = "],
         "schedule": [r"^  plan\.plan ", r"plan\.buffer .* offset [1-9]", r"plan\.launch @\S+\(.*\) after\(%", r" serial ",
                      r"plan\.state "]}
END = {"import": [r"graph\.gradients ", r"graph\.sgd ", r"graph\.log_softmax ", r"graph\.nll_loss "],
       "layout": [r"^    %\S+ = graph\.conv2d ", r"^    %\S+ = graph\.sub "]}  # from then on inside of kernels


class Phases(support.ToolTest):
    def emit(self, name):
        """The text of every phase of an example."""
        kinds = ",".join(f"mlir:{phase}={phase}.mlir" for phase in PHASES)
        self.dlcc(support.example(name), "-o", "m.plan", "--emit=" + kinds)
        texts = {}
        for phase in PHASES:
            with open(self.path(phase + ".mlir"), encoding="utf-8") as file:
                texts[phase] = file.read()
        return texts

    def dl_opt(self, phase, *passes):
        return dltools.run(DL_OPT, self.path(phase + ".mlir"), *passes)

    def test_each_is_read_by_dl_opt(self):
        """And written the same; a text that is cut short is not read."""
        for name in ("mnist", "mnist_mlp"):
            for phase, text in self.emit(name).items():
                self.assertEqual(self.dl_opt(phase), text, f"{name} {phase}")
                self.write(phase + ".mlir", text[:len(text) // 2])
                self.assertRaises(dltools.ToolFailed, self.dl_opt, phase)

    def test_each_goes_on_where_the_one_before_ended(self):
        for name in ("mnist", "mnist_mlp"):
            texts = self.emit(name)
            for before, phase in zip(PHASES, PHASES[1:]):
                if phase in PASSES:
                    self.assertNotEqual(texts[before], texts[phase])
                    self.assertEqual(self.dl_opt(before, *PASSES[phase]), texts[phase], f"{name} {phase}")

    def test_what_each_brings(self):
        texts = self.emit("mnist")
        for phase, text in texts.items():
            for first, patterns in BEGIN.items():
                for pattern in patterns:
                    found = re.search(pattern, text, re.M) is not None
                    self.assertEqual(found, PHASES.index(phase) >= PHASES.index(first), f"{pattern} after {phase}")
            for last, patterns in END.items():
                for pattern in patterns:
                    found = re.search(pattern, text, re.M) is not None
                    self.assertEqual(found, PHASES.index(phase) <= PHASES.index(last), f"{pattern} after {phase}")

    def test_states_have_their_layout(self):
        """Of a weight that is read and written along the other dimension."""
        for phase, text in self.emit("mnist_mlp").items():
            (state,) = re.findall(r'^  graph\.state @"1\.weight" .*$', text, re.M)
            self.assertEqual("layout = array<i64: 1, 0>" in state, phase not in ("import", "backward"), phase)

    def test_they_can_be_verified(self):
        """By the passes that prove what must hold after a phase; a program of an earlier phase does not pass."""
        texts = self.emit("mnist")
        self.assertRaises(dltools.ToolFailed, self.dl_opt, "import", "--verify-backward")
        self.dl_opt("backward", "--verify-backward")
        self.dl_opt("schedule", "--verify-races")
        self.write("schedule.mlir", re.sub(r" after\([^)]*\)", "", texts["schedule"]))
        with self.assertRaisesRegex(dltools.ToolFailed, "are not ordered"):
            self.dl_opt("schedule", "--verify-races")

    def test_on_standard_output(self):
        """mlir alone is the import; --check stops after it."""
        texts = self.emit("mnist")
        self.assertEqual(self.dlcc(support.example("mnist"), "--check", "--emit=mlir"), texts["import"])
        self.assertEqual(self.dlcc(support.example("mnist"), "-o", "m.plan", "--emit=mlir:fuse"), texts["fuse"])

    def test_wrong_phase(self):
        self.refuse(2, ["--emit=mlir:fused", *PHASES], dltools.DLCC, support.example("mnist"), "--emit=mlir:fused")
